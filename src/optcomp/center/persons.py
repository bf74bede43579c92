"""Who may do what: the one place where roles are checked.

A person acts as `Person`, whom a token named, or by a name, on the machine itself.  Role and suspension are read again
in the transaction of the change: whoever was suspended a moment ago changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Row, select

from optcomp.center.refusals import Forbidden, NotFound, Suspended
from optcomp.center.tables import PEOPLE

ALLOWED = {
    "manage people": ("owner",),
    "change budgets": ("owner",),
    "see budgets": ("owner", "auditor"),
    "ask": ("analyst",),
}
"""For each kind of act the roles that may do it."""


@dataclass(frozen=True)
class Person:
    """Somebody who is known to the centre."""

    id: int
    name: str
    role: str
    suspended: bool
    scope: tuple[str, ...] | None = None
    """Names of the accounts of the ledger that the token is for; None is all."""

    @property
    def limited(self) -> bool:
        """Whether the token is for some accounts only."""
        return self.scope is not None

    def sees(self, account: str) -> bool:
        """Whether the token is for an account of this name."""
        return self.scope is None or account in self.scope

    def covers(self, scope: Sequence[str] | None) -> bool:
        """Whether the token is for every account that one with this scope is for."""
        return self.scope is None or (scope is not None and set(scope) <= set(self.scope))

    def check(self, act: str) -> None:
        """Refuses what the role does not allow, and then whoever is suspended."""
        if self.role not in ALLOWED[act]:
            raise Forbidden(self.role, act)
        if self.suspended:
            raise Suspended(f"{self.role} {self.name!r}")


By = Person | str
"""Who acts: by a token, or by name on the machine itself."""


def person_named(connection: Connection, name: str) -> Person:
    """The person of this name."""
    found = connection.execute(select(PEOPLE).where(PEOPLE.c.name == name)).one_or_none()
    if found is None:
        raise NotFound("person", name)
    return person_of(found)


def person_of(row: Row[tuple[object, ...]], scope: tuple[str, ...] | None = None) -> Person:
    """A person as a row of the table."""
    return Person(int(row.id), str(row.name), str(row.role), bool(row.suspended), scope)


def read_scope(text: str | None) -> tuple[str, ...] | None:
    """The names of the accounts that a token is for, as they are kept; None is all."""
    return None if text is None else tuple(json.loads(text))


def acting(connection: Connection, by: By, act: str) -> Person:
    """Whoever acts, as the database knows them now; refused if they may not."""
    person = person_named(connection, by if isinstance(by, str) else by.name)
    person.check(act)
    return Person(person.id, person.name, person.role, person.suspended, None if isinstance(by, str) else by.scope)
