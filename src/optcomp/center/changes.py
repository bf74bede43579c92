"""Every change, with who made it; and changes that wait for a second owner.

A change is noted in the transaction that makes it: there is none without its note.  Where two persons are wanted,
what changes a budget is kept as a proposal until another owner confirms it.  A confirmation that is interrupted may be
given again: all that it does costs nothing the second time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from optcomp.center.persons import By, Person, acting
from optcomp.center.reach import reach_of
from optcomp.center.refusals import Conflict, NotFound
from optcomp.center.store import Store, now, written
from optcomp.center.tables import ACTIVE, CHANGES, OWNER_JOBS, PROPOSALS


@dataclass(frozen=True)
class Change:
    """Something that was changed."""

    id: int
    at: float
    who: str
    what: str
    detail: dict[str, Any]
    second: str | None
    """The owner who confirmed it, where two are wanted."""

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class Waiting:
    """A change that waits for a second owner, or has been confirmed."""

    id: int
    at: float
    who: str
    kind: str
    detail: dict[str, Any]
    state: str
    second: str | None

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class Acting:
    """Who makes a change: one owner, or one and the other who confirmed it."""

    by: str
    second: str | None = None
    proposal: int | None = None


class Changes:
    """What was changed, and what waits."""

    def __init__(self, store: Store, job: int | None = None) -> None:
        """`job` is the number of the owner's job that makes the next change, and is done with it."""
        self._store, self._job = store, job

    def note(self, connection: Connection, who: str | Acting, what: str, detail: Mapping[str, Any]) -> None:
        """Note a change in the transaction that makes it."""
        acts = who if isinstance(who, Acting) else Acting(who)
        values = {"at": now(connection), "who": acts.by, "what": what, "detail": written(dict(detail))}
        connection.execute(insert(CHANGES).values(**values, second=acts.second))
        if acts.proposal is not None:
            connection.execute(update(PROPOSALS).where(PROPOSALS.c.id == acts.proposal).values(state="done"))
        if self._job is not None:
            mine = OWNER_JOBS.c.id == self._job, OWNER_JOBS.c.state.in_(ACTIVE)
            done = connection.execute(update(OWNER_JOBS).where(*mine).values(ended=values["at"]))
            if done.rowcount != 1:  # whoever ended it has removed its files, or is about to
                raise Conflict(f"job {self._job}", "was ended meanwhile; nothing was registered")

    def record(self, who: str | Acting, what: str, detail: Mapping[str, Any]) -> None:
        """Note what changes nothing and is worth knowing all the same, such as an export."""
        with self._store.write() as connection:
            self.note(connection, who, what, detail)

    def all(self, *, after: int = 0, most: int | None = None, viewer: Person | None = None) -> list[Change]:
        """Changes after one of this number, the oldest first; those that concern the accounts of a viewer's token."""
        wanted = select(CHANGES).where(CHANGES.c.id > after).order_by(CHANGES.c.id)
        with self._store.read() as connection:
            reach = reach_of(connection, viewer)
            rows = connection.execute(wanted.limit(most) if reach is None else wanted)
            found = (Change(row.id, row.at, row.who, row.what, json.loads(row.detail), row.second) for row in rows)
            seen = (each for each in found if reach is None or reach.has(each.what, each.detail))
            return list(islice(seen, most))

    def last(self) -> int:
        """The number of the newest one; 0 if there is none."""
        with self._store.read() as connection:
            return int(connection.scalar(select(func.max(CHANGES.c.id))) or 0)

    def ask(self, kind: str, detail: Mapping[str, Any], by: By) -> int:
        """Keep a change until another owner confirms it; its number."""
        with self._store.write() as connection:
            person = acting(connection, by, "change budgets")
            values = {"at": now(connection), "who": person.name, "kind": kind, "detail": written(dict(detail))}
            made = insert(PROPOSALS).values(**values, state="waiting").returning(PROPOSALS.c.id)
            return int(connection.execute(made).scalar_one())

    def confirm(self, number: int, by: By) -> Waiting:
        """Another owner agrees; what was asked for may be done now (`Catalogue.confirm` does it)."""
        with self._store.write() as connection:
            person = acting(connection, by, "change budgets")
            found = connection.execute(select(PROPOSALS).where(PROPOSALS.c.id == number)).one_or_none()
            reach = reach_of(connection, person)
            if found is None or (reach is not None and not reach.has(found.kind, json.loads(found.detail))):
                raise NotFound("confirmation", number)
            if found.state == "done":
                raise Conflict(f"number {number}", "was carried out before")
            if found.who == person.name:
                raise Conflict(f"number {number}", "must be confirmed by another owner than the one who asked")
            acting(connection, found.who, "change budgets")  # whoever asked must be an owner still
            if found.state == "waiting":
                changed = update(PROPOSALS).where(PROPOSALS.c.id == number)
                connection.execute(changed.values(state="confirmed", second=person.name))
            found = connection.execute(select(PROPOSALS).where(PROPOSALS.c.id == number)).one()
        return _waiting(found)

    def kind(self, number: int) -> str | None:
        """What kind of change a number stands for; None if there is none."""
        with self._store.read() as connection:
            return connection.scalar(select(PROPOSALS.c.kind).where(PROPOSALS.c.id == number))

    def waiting(self, viewer: Person | None = None) -> list[Waiting]:
        """What is not done yet, the oldest first; what concerns the accounts of a viewer's token."""
        open_ones = select(PROPOSALS).where(PROPOSALS.c.state != "done").order_by(PROPOSALS.c.id)
        with self._store.read() as connection:
            reach, found = reach_of(connection, viewer), map(_waiting, connection.execute(open_ones))
            return [each for each in found if reach is None or reach.has(each.kind, each.detail)]


def _waiting(row: Row[Any]) -> Waiting:
    return Waiting(row.id, row.at, row.who, row.kind, json.loads(row.detail), row.state, row.second)
