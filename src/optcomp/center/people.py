"""People, their roles, and the tokens by which they are known.

A token is shown once and kept as its SHA-256: 256 random bits need no slow hash, and looking a hash up tells nothing
about others.  Expiry and limits are counted in the database, by its clock.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from optcomp.center.changes import Acting, Changes
from optcomp.center.persons import By, Person, acting, person_named, person_of, read_scope
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
    by: str | None
    """Who made it."""
    second: str | None
    """The owner who confirmed it, where two are wanted."""

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self)) | {"scope": None if self.scope is None else list(self.scope)}

    def told(self, person: Person) -> dict[str, Any]:
        """The same for whom it names: of its accounts those that the token of theirs is for."""
        scope = person.scope if self.scope is None else [each for each in self.scope if person.sees(each)]
        shown = None if scope is None else list(scope)
        return self.document() | {"scope": shown, "more": not person.covers(self.scope)}


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
            person = self._acting_on_all(connection, by)
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
        """Suspend somebody, at once; or let them go on, for which a second owner may be wanted.

        Where two persons are wanted, suspending an owner needs a second one too: else one of two could shut the other
        out.  On the machine itself both are done at once.
        """
        with self._store.write() as connection:
            person = self._acting_on_all(connection, by)
            found = person_named(connection, name)
            if on and found.id == person.id:
                raise Conflict(f"{name!r}", "cannot suspend themselves: another owner must be left")
            at_once = isinstance(by, str) if found.role == "owner" else on
            if at_once or found.suspended == on or not self._store.settings.two_persons:
                return self._suspend(connection, found, on, Acting(person.name))
        kind = "suspend owner" if on else "lift suspension"
        raise NeedsSecond(self._changes.ask(kind, {"name": name}, person), kind)

    def suspend_confirmed(self, name: str, on: bool, acts: Acting) -> None:
        """Suspend somebody, or let them go on, as two owners agreed."""
        with self._store.write() as connection:
            self._suspend(connection, person_named(connection, name), on, acts)

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

    def _acting_on_all(self, connection: Connection, by: By | None) -> Person:
        """Whoever changes people, who belong to no account."""
        person = self._acting(connection, by)
        if person.limited:
            raise Forbidden(person.role, "change people by a token that is limited to some accounts")
        return person

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

        Where two persons are wanted, a token for somebody else needs a second owner, who is shown it; and nobody makes
        one of another owner.  On the machine itself both are done at once.  A token that is limited to some accounts
        makes none that is good for others.
        """
        names = _scope(scope)
        detail = {"person": name, "days": _days(days), "scope": names}
        with self._store.write() as connection:
            person = self._acting(connection, by)
            if not person.covers(names):
                raise Forbidden(person.role, "make a token for accounts that their own is not for")
            found = person_named(connection, name)
            if found.id == person.id or isinstance(by, str) or not self._store.settings.two_persons:
                return self._token(connection, found, detail, Acting(person.name))
            if found.role == "owner":
                raise Forbidden(person.role, "make a token of another owner, where two persons are wanted")
        raise NeedsSecond(self._changes.ask("make token", detail, person), "make token")

    def token_confirmed(self, detail: Mapping[str, Any], acts: Acting) -> dict[str, Any]:
        """The token that another owner confirmed, for whoever confirmed it to hand over."""
        with self._store.write() as connection:
            found = person_named(connection, detail["person"])
            return {"person": found.name, "token": self._token(connection, found, detail, acts)}

    def _token(self, connection: Connection, found: Person, detail: Mapping[str, Any], acts: Acting) -> str:
        token, made, names = f"oc_{secrets.token_urlsafe(32)}", now(connection), detail["scope"]
        values = {"person": found.id, "hash": token_hash(token), "scope": None if names is None else written(names)}
        values |= {"made": made, "expires": made + detail["days"] * _DAY, "revoked": False}
        values |= {"made_by": acts.by, "second": acts.second}
        number = connection.execute(insert(TOKENS).values(**values).returning(TOKENS.c.id)).scalar_one()
        self._changes.note(connection, acts, "token made", {**detail, "token": number})
        return token

    def revoke(self, token_id: int, *, by: By) -> None:
        """End a token."""
        with self._store.write() as connection:
            person = self._acting(connection, by)
            found = connection.execute(select(TOKENS.c.scope).where(TOKENS.c.id == token_id)).one_or_none()
            if found is None or not person.covers(read_scope(found.scope)):
                raise NotFound("token", token_id)
            connection.execute(update(TOKENS).where(TOKENS.c.id == token_id).values(revoked=True))
            self._changes.note(connection, person.name, "token revoked", {"token": token_id})

    def tokens(self, name: str) -> list[TokenView]:
        """The tokens of somebody, without what opens anything."""
        with self._store.read() as connection:
            person, at = person_named(connection, name), now(connection)
            mine = select(TOKENS).where(TOKENS.c.person == person.id).order_by(TOKENS.c.id)
            return [
                TokenView(
                    row.id,
                    read_scope(row.scope),
                    row.made,
                    row.expires,
                    bool(row.revoked),
                    row.expires <= at,
                    row.made_by,
                    row.second,
                )
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

    def count(self, subject: str, limit: int, amount: int = 1) -> None:
        """So many more of a subject in this minute; `TooMany` if that is more than the limit."""
        found, at = self._counted(subject, amount)
        if found > limit:
            raise TooMany(_left(at))

    def count_more(self, subject: str, amount: int) -> None:
        """So many more of a subject in this minute."""
        self._counted(subject, amount)

    def _counted(self, subject: str, amount: int) -> tuple[int, float]:
        """How many that makes, and when it was counted."""
        with self._store.write_lightly() as connection:
            at = now(connection)
            minute = int(at // 60)
            kind = sqlite_insert if connection.dialect.name == "sqlite" else postgres_insert
            first = kind(COUNTERS).values(subject=subject, minute=minute, count=amount)
            more = first.on_conflict_do_update(
                index_elements=[COUNTERS.c.subject, COUNTERS.c.minute], set_={"count": COUNTERS.c.count + amount}
            )
            found = int(connection.execute(more.returning(COUNTERS.c.count)).scalar_one())
            if found == amount:
                connection.execute(delete(COUNTERS).where(COUNTERS.c.minute <= minute - _KEPT))
        return found, at

    def check_count(self, subject: str, limit: int, words: str | None = None) -> None:
        """`TooMany` if a subject has reached the limit in this minute; nothing is counted."""
        with self._store.read() as connection:
            at = now(connection)
            mine = COUNTERS.c.subject == subject, COUNTERS.c.minute == int(at // 60)
            found = connection.scalar(select(COUNTERS.c.count).where(*mine)) or 0
        if found >= limit:
            raise TooMany(_left(at), words)


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


def _days(days: float) -> float:
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 < days <= _LONGEST:
        raise InvalidInput("days", days, f"must be a number of days above 0, at most {_LONGEST}")
    return float(days)


def _scope(scope: Sequence[str] | None) -> list[str] | None:
    if scope is None:
        return None
    if isinstance(scope, str) or not all(isinstance(each, str) for each in scope):
        raise InvalidInput("scope", scope, "must be names of accounts, or None for all")
    return sorted(set(scope))
