"""What of the log, and of what waits, concerns the accounts that a token is limited to.

A change names an account, or something that belongs to one: a data set, a seat, a wish, a token.  What names none of
these, such as a change of people, belongs to no account.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from optcomp.center.persons import Person, read_scope
from optcomp.center.tables import DATASETS, SEATS, TOKENS, WISHES

_OF_PEOPLE = frozenset({"add owner", "suspend owner", "lift suspension"})
"""Kinds of changes whose `name` is that of a person."""


@dataclass(frozen=True)
class Reach:
    """What belongs to the accounts of a token."""

    person: Person
    within: Mapping[str, frozenset[Any]]
    """For each entry of a detail, the values that belong to these accounts."""

    def has(self, kind: str, detail: Mapping[str, Any]) -> bool:
        """Whether a change belongs to these accounts."""
        if kind in _OF_PEOPLE:
            return False
        for name, values in self.within.items():
            if name in detail:
                return detail[name] in values
        return "scope" in detail and self.person.covers(detail["scope"])


def reach_of(connection: Connection, person: Person | None) -> Reach | None:
    """What a limited token reaches; None for one without limits."""
    if person is None or person.scope is None:
        return None
    mine = SEATS.c.account.in_(person.scope)
    tokens = select(TOKENS.c.id, TOKENS.c.scope).where(TOKENS.c.scope.is_not(None))
    within: dict[str, frozenset[Any]] = {
        "account": frozenset(person.scope),
        "token": frozenset(row.id for row in connection.execute(tokens) if person.covers(read_scope(row.scope))),
        "seat": frozenset(connection.scalars(select(SEATS.c.id).where(mine))),
        "wish": frozenset(connection.scalars(select(WISHES.c.id).join(SEATS, SEATS.c.id == WISHES.c.seat).where(mine))),
        "name": frozenset(connection.scalars(select(DATASETS.c.name).where(DATASETS.c.account.in_(person.scope)))),
    }
    return Reach(person, within)
