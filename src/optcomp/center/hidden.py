"""Sources that a token does not reach, because it is limited to accounts, and data sets of others are made of them.

A file belongs to no account until a data set is registered from it.  From then on its rows are behind the budget of
that account, and a token that is not for the account neither finds the file nor reads it anew under another budget.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from optcomp.center.changes import Change, Changes
from optcomp.center.persons import Person
from optcomp.center.settings import Settings, shown_address
from optcomp.center.sources import files_below
from optcomp.errors import InvalidInput
from optcomp.statistics import named_ledger

_REGISTERING = ("registered", "renewed")
"""Changes that say from what a data set was made."""


@dataclass(frozen=True)
class Hidden:
    """What a limited token does not reach."""

    person: Person
    files: frozenset[str]
    """With all links followed."""
    tables: frozenset[tuple[str, str | None]]
    """Tables of databases, by the shown address."""

    def has_file(self, path: Path) -> bool:
        """Whether a file is one of them."""
        return os.path.realpath(path) in self.files

    def has_snapshot(self, path: Path) -> bool:
        """Whether a snapshot is debited from an account that the token is not for."""
        named = named_ledger(path)
        return named is not None and not self.person.sees(named[1])

    def has_table(self, address: str, table: str | None) -> bool:
        """Whether a table of a database is one of them."""
        return (shown_address(address), table) in self.tables


def hidden_from(changes: Changes, settings: Settings, person: Person) -> Hidden | None:
    """What a person's token does not reach; None if it has no limits."""
    if not person.limited:
        return None
    mine = changes.all(viewer=person)
    known = {each.id for each in mine}
    theirs = [each for each in changes.all() if each.id not in known]
    files = _files(settings, theirs) - _files(settings, mine)
    return Hidden(person, files, _tables(theirs) - _tables(mine))


def _files(settings: Settings, changes: Sequence[Change]) -> frozenset[str]:
    found: set[str] = set()
    for source, _ in _made_from(changes):
        if "://" not in source:
            with suppress(InvalidInput):  # it is gone
                found |= {os.path.realpath(path) for path in files_below(settings, source)}
    return frozenset(found)


def _tables(changes: Sequence[Change]) -> frozenset[tuple[str, str | None]]:
    return frozenset((source, table) for source, table in _made_from(changes) if "://" in source)


def _made_from(changes: Sequence[Change]) -> Iterator[tuple[str, str | None]]:
    for each in changes:
        if each.what in _REGISTERING and "source" in each.detail:
            yield each.detail["source"], each.detail["table"]
