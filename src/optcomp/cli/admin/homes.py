"""The home of a centre, opened; and who acts: what the commands share.

Whoever may read the home may change everything in it.  So these commands ask for no token, and note the owner whom
--by names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optcomp.cli.failures import Complaint
from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import console, print_json, say

if TYPE_CHECKING:
    from optcomp.center import Catalogue, Changes, People, Settings
    from optcomp.ledger import Ledger

Home = Annotated[Path, typer.Argument(metavar="HOME", help="The home of the centre: a folder.", show_default=False)]
Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The name of the data set.", show_default=False)]
By = Annotated[
    str | None,
    typer.Option(metavar="OWNER", help="Which owner does this; needed if there are several.", show_default=False),
]


@dataclass(frozen=True)
class Centre:
    """A home, opened."""

    settings: Settings
    ledger: Ledger
    people: People
    catalogue: Catalogue
    changes: Changes

    def acting(self, by: str | None) -> str:
        """The owner who acts."""
        if by is not None:
            return by
        owners = [person.name for person in self.people.all() if person.role == "owner" and not person.suspended]
        if len(owners) != 1:
            raise Complaint(f"--by: name the owner who does this; there are {len(owners)}")
        return owners[0]


@contextmanager
def opened(home: Path) -> Iterator[Centre]:
    """Everything in a home."""
    from optcomp.center import Catalogue, Changes, People, Settings, Store
    from optcomp.ledger import Ledger

    settings = Settings.read(home)
    with (
        Store(settings, create=False) as store,
        Ledger(settings.ledger, **settings.beside_ledger, create=False) as ledger,
    ):
        yield Centre(settings, ledger, People(store), Catalogue(store, ledger), Changes(store))


def carried(
    as_json: bool, act: Callable[[], Mapping[str, Any]], words: Callable[[Mapping[str, Any]], str], home: Path
) -> None:
    """Do something and tell it; what waits for a second owner is told as that."""
    from optcomp.center import NeedsSecond

    try:
        found = act()
    except NeedsSecond as error:
        if as_json:
            print_json({"waits": error.confirmation, "kind": error.kind})
        else:
            say(f"Nothing is changed yet: another owner must confirm number {error.confirmation}:")
            say(f"optcomp admin confirm {home} {error.confirmation} --by OWNER")
        return
    if as_json:
        print_json(found)
    else:
        say(words(found))


def print_rows(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table with a line for each row."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.ROUNDED)
    for name in names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(writable(str(cell))) for cell in row))
    console().print(table)


def moment(at: float) -> str:
    """A time of the database, for people."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
