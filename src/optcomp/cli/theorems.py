"""The command `theorems`: what each says, when it may be used, where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

import optcomp as oc
from optcomp.cli import options
from optcomp.cli.writing.printing import print_json


def complete_theorem(incomplete: str) -> list[str]:
    """Theorem ids for shell completion."""
    return options.starting([record.id for record in oc.known_theorems()], incomplete)


_Id = Annotated[
    str | None,
    typer.Argument(metavar="ID", help="Explain this theorem, e.g. MV18-1.5.", autocompletion=complete_theorem),
]


def theorems(id: _Id = None, as_json: options.PlainJson = False) -> None:
    """The theorems behind the answers: what each says, when it may be used, where it comes from.

    optcomp theorems MV18-1.5
    """
    from dataclasses import asdict

    from optcomp.cli.writing.answer_tables import show_theorem, show_theorems

    records = oc.known_theorems() if id is None else (oc.theorem(spelled(id)),)
    if as_json:
        views = [asdict(record) for record in records]
        print_json({"theorems": views} if id is None else views[0])
    elif id is None:
        show_theorems(records)
    else:
        show_theorem(records[0])


def spelled(id: str) -> str:
    """The id or alias that differs from this at most in case; the text itself where there is none."""
    return next((name for name in _names() if name.casefold() == id.strip().casefold()), id)


def _names() -> Iterator[str]:
    for record in oc.known_theorems():
        yield from (record.id, *record.aliases)
