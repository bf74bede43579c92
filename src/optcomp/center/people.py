"""People, their roles, and the tokens by which they are known.

A token is shown once and kept as its SHA-256: 256 random bits need no slow hash, and looking a hash up tells nothing
about others.  Expiry and limits are counted in the database, by its clock.
"""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from optcomp.center.changes import Acting, Changes
from optcomp.center.persons import By, Person, acting, person_named, person_of
from optcomp.center.refusals import Conflict, Forbidden, NeedsSecond, NotFound, NotKnown, TooMany
from optcomp.center.store import Store, now, written
from optcomp.center.tables import COUNTERS, PEOPLE, ROLES, TOKENS
from optcomp.errors import InvalidInput

_TOKEN = re.compile(r"oc_[A-Za-z0-9_-]{43}")
"""What a token looks like: 32 random bytes."""
_DAY = 86_400
"""Seconds."""
_LONGEST = 3650
"""Days of a token."""
_KEPT = 2
"""Minutes after which a counter is dropped."""


@dataclass(frozen=True)
class TokenView:
    """A token without what opens anything."""

    id: int
    scope: tuple[str, ...] | None
    made: float
    expires: float
    revoked: bool
    expired: bool

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self)) | {"scope": None if self.scope is None else list(self.scope)}


class People:
    """Everybody who is known to a centre."""

    def __init__(self, store: Store) -> None:
        self._store, self._changes = store, Changes(store)

    def add(self, name: str, role: str, *, by: By | None) -> None:
        """Somebody new; the first one of a centre is an owner, whoever adds them.

        Where two persons are wanted, a new owner needs a second one: else one owner could be both.
        """
        check_name(name)
        if role not in ROLES:
            raise InvalidInput("role", role, f"must be one of {', '.join(ROLES)}")
        with self._store.write() as connection:
            if not connection.scalar(select(func.count()).select_from(PEOPLE)):
                if role != "owner":
                    raise InvalidInput("role", role, "the first person of a centre is an owner")
                return self._add(connection, name, role, Acting(name))
            person = self._acting(connection, by)
            self._check_new(connection, name)
            if role != "owner" or not self._store.settings.two_persons:
                return self._add(connection, name, role, Acting(person.name))
        raise NeedsSecond(self._changes.ask("add owner", {"name": name}, person), "add owner")

    def add_confirmed(self, name: str, acts: Acting) -> None:
        """An owner whom another one confirmed."""
        with self._store.write() as connection:
            self._check_new(connection, name)
            self._add(connection, name, "owner", acts)

    def suspend(self, name: str, on: bool, *, by: By) -> None:
        """Suspend somebody, at once; or let them go on, for which a second owner may be wanted."""
        with self._store.write() as connection:
            person = self._acting(connection, by)
            found = person_named(connection, name)
            if on and found.id == person.id:
                raise Conflict(f"{name!r}", "cannot suspend themselves: another owner must be left")
            if on or not found.suspended or not self._store.settings.two_persons:
                return self._suspend(connection, found, on, Acting(person.name))
        raise NeedsSecond(self._changes.ask("lift suspension", {"name": name}, person), "lift suspension")

    def lift_confirmed(self, name: str, acts: Acting) -> None:
        """End a suspension that another owner confirmed to be over."""
        with self._store.write() as connection:
            self._suspend(connection, person_named(connection, name), False, acts)

    def _suspend(self, connection: Connection, found: Person, on: bool, acts: Acting) -> None:
        connection.execute(update(PEOPLE).where(PEOPLE.c.id == found.id).values(suspended=on))
        self._changes.note(connection, acts, "suspended" if on else "suspension lifted", {"person": found.name})

    def _add(self, connection: Connection, name: str, role: str, acts: Acting) -> None:
        connection.execute(insert(PEOPLE).values(name=name, role=role, suspended=False))
        self._changes.note(connection, acts, "added", {"person": name, "role": role})

    def _check_new(self, connection: Connection, name: str) -> None:
        if connection.scalar(select(PEOPLE.c.id).where(PEOPLE.c.name == name)) is not None:
            raise Conflict(f"a person {name!r}", "is there already")

    def _acting(self, connection: Connection, by: By | None) -> Person:
        if by is None:
            raise InvalidInput("by", by, "must be an owner")
        return acting(connection, by, "manage people")

    def all(self) -> list[Person]:
        """Everybody, in the order in which they came."""
        with self._store.read() as connection:
            return [person_of(row) for row in connection.execute(select(PEOPLE).order_by(PEOPLE.c.id))]

    def person(self, name: str) -> Person:
        """The person of this name."""
        with self._store.read() as connection:
            return person_named(connection, name)

    def token(self, name: str, *, days: float = 90, scope: Sequence[str] | None = None, by: By) -> str:
        """A new token for somebody, which is shown here and never again.

        Where two persons are wanted, an owner makes no token for another owner; that is done on the machine itself.  A
        token that is limited to some data sets makes none that is good for others.
        """
        seconds, names = _seconds(days), _scope(scope)
        token = f"oc_{secrets.token_urlsafe(32)}"
        with self._store.write() as connection:
            person, found = self._acting(connection, by), person_named(connection, name)
            alone = found.role != "owner" or found.id == person.id or isinstance(by, str)
            if not alone and self._store.settings.two_persons:
                raise Forbidden(person.role, "make a token of another owner, where two persons are wanted")
            if not _within(names, person.scope):
                raise Forbidden(person.role, "make a token for data sets that their own is not for")
            made = now(connection)
            values = {"person": found.id, "hash": token_hash(token), "scope": None if names is None else written(names)}
            row = insert(TOKENS).values(**values, made=made, expires=made + seconds, revoked=False)
            number = connection.execute(row.returning(TOKENS.c.id)).scalar_one()
            detail = {"person": name, "token": number, "days": float(days), "scope": names}
            self._changes.note(connection, person.name, "token made", detail)
        return token

    def revoke(self, token_id: int, *, by: By) -> None:
        """End a token."""
        with self._store.write() as connection:
            person = self._acting(connection, by)
            changed = connection.execute(update(TOKENS).where(TOKENS.c.id == token_id).values(revoked=True))
            if not changed.rowcount:
                raise NotFound("token", token_id)
            self._changes.note(connection, person.name, "token revoked", {"token": token_id})

    def tokens(self, name: str) -> list[TokenView]:
        """The tokens of somebody, without what opens anything."""
        with self._store.read() as connection:
            person, at = person_named(connection, name), now(connection)
            mine = select(TOKENS).where(TOKENS.c.person == person.id).order_by(TOKENS.c.id)
            return [
                TokenView(row.id, read_scope(row.scope), row.made, row.expires, bool(row.revoked), row.expires <= at)
                for row in connection.execute(mine)
            ]

    def who(self, token: str) -> Person:
        """Whose token this is; `NotKnown` if it is none, has expired or was revoked.

        Somebody who is suspended is told to be so, and may do nothing: see `Person.check`.
        """
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise NotKnown
        wanted = select(PEOPLE, TOKENS.c.scope, TOKENS.c.expires).join(TOKENS, TOKENS.c.person == PEOPLE.c.id)
        with self._store.read() as connection:
            found = connection.execute(
                wanted.where(TOKENS.c.hash == token_hash(token), TOKENS.c.revoked.is_(False))
            ).one_or_none()
            if found is None or found.expires <= now(connection):
                raise NotKnown
        return person_of(found, read_scope(found.scope))

    def count(self, subject: str, limit: int) -> None:
        """One more of a subject in this minute; `TooMany` if that is more than the limit."""
        with self._store.write_lightly() as connection:
            at = now(connection)
            minute = int(at // 60)
            kind = sqlite_insert if connection.dialect.name == "sqlite" else postgres_insert
            first = kind(COUNTERS).values(subject=subject, minute=minute, count=1)
            more = first.on_conflict_do_update(
                index_elements=[COUNTERS.c.subject, COUNTERS.c.minute], set_={"count": COUNTERS.c.count + 1}
            )
            found = int(connection.execute(more.returning(COUNTERS.c.count)).scalar_one())
            if found == 1:
                connection.execute(delete(COUNTERS).where(COUNTERS.c.minute <= minute - _KEPT))
        if found > limit:
            raise TooMany(_left(at))

    def check_count(self, subject: str, limit: int) -> None:
        """`TooMany` if a subject has reached the limit in this minute; nothing is counted."""
        with self._store.read() as connection:
            at = now(connection)
            mine = COUNTERS.c.subject == subject, COUNTERS.c.minute == int(at // 60)
            found = connection.scalar(select(COUNTERS.c.count).where(*mine)) or 0
        if found >= limit:
            raise TooMany(_left(at))


def check_name(name: object, argument: str = "name") -> None:
    """A name that people can read and that fits on a line."""
    if not isinstance(name, str) or not name or len(name) > 200 or not name.isprintable() or name != name.strip():
        problem = "must be text that can be printed, from 1 to 200 characters, with no blank at either end"
        raise InvalidInput(argument, name, problem)


def token_hash(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode()).hexdigest()


def _left(at: float) -> float:
    """Seconds until the next minute, at least one."""
    return float(max(1, math.ceil(60 - at % 60)))


def _seconds(days: float) -> float:
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 < days <= _LONGEST:
        raise InvalidInput("days", days, f"must be a number of days above 0, at most {_LONGEST}")
    return float(days) * _DAY


def _scope(scope: Sequence[str] | None) -> list[str] | None:
    if scope is None:
        return None
    if isinstance(scope, str) or not all(isinstance(each, str) for each in scope):
        raise InvalidInput("scope", scope, "must be names of data sets, or None for all")
    return sorted(set(scope))


def _within(names: Sequence[str] | None, scope: Sequence[str] | None) -> bool:
    """Whether a token for these data sets is good for no more than one with this scope."""
    return scope is None or (names is not None and set(names) <= set(scope))


def read_scope(text: str | None) -> tuple[str, ...] | None:
    """The names of data sets that a token is good for; None is all."""
    return None if text is None else tuple(json.loads(text))
