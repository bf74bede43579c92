"""Jobs of owners about sources, as rows of the centre's database: every worker of every server sees them.

    waiting → running → done | failed | cancelled | interrupted

A worker that has a job renews its lease.  When the lease runs out, the worker is gone: the job is interrupted, by
whoever looks next, and nothing that it was to register is there.  A job that registers has its end from the transaction
that registers, and is done then whatever becomes of its process; one that was ended before cannot register any more
(`Changes.note`).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, case, delete, func, insert, select, update

from optcomp.center.persons import Person, read_scope
from optcomp.center.refusals import NotFound
from optcomp.center.sources import written_source
from optcomp.center.store import Store, now, written
from optcomp.center.tables import ACTIVE, OWNER_JOBS, PEOPLE

LEASE = 30.0
"""Seconds after which the worker of a job is gone if it has not said that it goes on."""
_KEPT = 7 * 86400.0
"""Seconds after its end from which on a job is forgotten, with its result."""
_LISTED = 100
"""Jobs in a list, the newest first; older ones are found by number."""
_NAMED = ("name", "source", "table", "confirmation", "draft")
"""Arguments that say what a job is about."""
_INTERRUPTED = {"error": "conflict", "message": "The server ended meanwhile. Nothing was registered; start it again."}
"""The error of a job whose worker is gone."""

Document = Mapping[str, Any]
"""Plain JSON."""


@dataclass(frozen=True)
class OwnerJob:
    """A job as it stands."""

    id: int
    kind: str
    person: int
    who: str
    scope: tuple[str, ...] | None
    """Accounts of the token that asked; None is all."""
    account: str | None
    detail: dict[str, Any]
    state: str
    step: str | None
    share: float | None
    """Of the step, between 0 and 1, where that is known."""
    asked: float
    began: float | None
    ended: float | None
    result: dict[str, Any] | None
    error: dict[str, Any] | None

    @property
    def active(self) -> bool:
        """Whether it has not ended."""
        return self.state in ACTIVE

    @property
    def about(self) -> str:
        """What it is about, in words; no cells."""
        if "confirmation" in self.detail:
            return f"confirmation {self.detail['confirmation']}"
        named = [self.detail[each] for each in ("name", "source", "table") if self.detail.get(each)]
        return ", ".join(map(str, named))

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        hidden = {"person", "scope", "detail"}
        told = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in hidden}
        return told | {"about": self.about}

    def as_seen_by(self, viewer: Person) -> OwnerJob | None:
        """Return the job as a person may see it, or None. Only the owner who asked sees the numbers of a check."""
        if not self.seen_by(viewer):
            return None
        return self if self.kind != "check" or self.person == viewer.id else replace(self, result=None)

    def seen_by(self, viewer: Person) -> bool:
        """Whether a person sees it: a token that is limited to accounts sees theirs, and what tokens like it asked."""
        if viewer.scope is None or self.account is not None:
            return self.account is None or viewer.sees(self.account)
        return self.person == viewer.id and viewer.covers(self.scope)


class OwnerJobs:
    """The rows."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(
        self, kind: str, person: Person, detail: Mapping[str, Any], *, account: str | None, key: str | None
    ) -> tuple[int, bool]:
        """The number of a new job, or of one with this key that has not ended; and whether it is new."""
        with self._store.write_lightly() as connection:
            at = now(connection)
            connection.execute(delete(OWNER_JOBS).where(OWNER_JOBS.c.ended < at - _KEPT))
            same = and_(OWNER_JOBS.c.key == key, OWNER_JOBS.c.state.in_(ACTIVE), OWNER_JOBS.c.lease >= at)
            known = None if key is None else connection.scalar(select(OWNER_JOBS.c.id).where(same))
            if known is not None:
                return int(known), False
            about = {"kind": kind, "person": person.id, "account": account, "detail": written(dict(detail)), "key": key}
            about |= {"scope": None if person.scope is None else written(list(person.scope))}
            about |= {"mark": secrets.token_hex(8), "state": "waiting", "stop": False, "lease": at + LEASE, "asked": at}
            row = insert(OWNER_JOBS).values(**about).returning(OWNER_JOBS.c.id)
            return int(connection.execute(row).scalar_one()), True

    def begin(self, number: int) -> None:
        """A process has it now."""
        with self._store.write_lightly() as connection:
            at = now(connection)
            self._change(connection, number, state="running", began=at, lease=at + LEASE)

    def report(self, number: int, step: str, share: float | None) -> None:
        """How far it has come."""
        with self._store.write_lightly() as connection:
            self._change(connection, number, step=step, share=share)

    def end(self, number: int, state: str, *, result: Document | None = None, error: Document | None = None) -> str:
        """End a job that has not ended; the state that it has then: one that has registered is done, whatever came."""
        texts = [None if each is None else written(each) for each in (result, error)]
        with self._store.write_lightly() as connection:
            values = {"result": texts[0], "error": _unless_registered(texts[1]), "step": None, "share": None}
            ended = func.coalesce(OWNER_JOBS.c.ended, now(connection))
            self._change(connection, number, **values, state=_unless_registered(state, "done"), ended=ended)
            return str(connection.scalar(select(OWNER_JOBS.c.state).where(OWNER_JOBS.c.id == number)))

    def renew(self, numbers: Collection[int]) -> None:
        """The worker that has these jobs goes on."""
        with self._store.write_lightly() as connection:
            mine = and_(OWNER_JOBS.c.id.in_(numbers), OWNER_JOBS.c.state.in_(ACTIVE))
            connection.execute(update(OWNER_JOBS).where(mine).values(lease=now(connection) + LEASE))

    def to_stop(self, numbers: Collection[int]) -> list[int]:
        """Those of these jobs that are to be stopped: cancelled, or interrupted by another worker."""
        over = OWNER_JOBS.c.stop | (OWNER_JOBS.c.state == "interrupted")
        with self._store.read() as connection:
            return list(connection.scalars(select(OWNER_JOBS.c.id).where(OWNER_JOBS.c.id.in_(numbers), over)))

    def cancel(self, number: int, viewer: Person) -> bool:
        """Have a job stopped by the worker that has it; False if it has ended."""
        if not self.job(number, viewer).active:
            return False
        with self._store.write_lightly() as connection:
            self._change(connection, number, stop=True)
        return True

    def job(self, number: int, viewer: Person) -> OwnerJob:
        """One of those that a person sees."""
        found = self._seen(OWNER_JOBS.c.id == number, viewer)
        if not found:
            raise NotFound("job", number)
        return found[0]

    def all(self, viewer: Person) -> list[OwnerJob]:
        """The newest of those that a person sees, the newest first; without their results."""
        return [replace(each, result=None) for each in self._seen(OWNER_JOBS.c.id > 0, viewer)[:_LISTED]]

    def latest(self, key: str, viewer: Person) -> OwnerJob | None:
        """The newest job with a key, if the person sees it."""
        return next(iter(self._seen(OWNER_JOBS.c.key == key, viewer)), None)

    def end_lapsed(self) -> None:
        """Interrupt jobs whose worker is gone."""
        active = OWNER_JOBS.c.state.in_(ACTIVE)
        with self._store.read() as connection:
            at = now(connection)
            if connection.scalar(select(OWNER_JOBS.c.id).where(active, OWNER_JOBS.c.lease < at).limit(1)) is None:
                return
        values = {"error": _unless_registered(written(_INTERRUPTED)), "step": None, "share": None}
        values |= {"state": _unless_registered("interrupted", "done"), "ended": func.coalesce(OWNER_JOBS.c.ended, at)}
        with self._store.write() as connection:
            connection.execute(update(OWNER_JOBS).where(active, OWNER_JOBS.c.lease < at).values(**values))

    def _seen(self, which: ColumnElement[bool], viewer: Person) -> list[OwnerJob]:
        found = (each.as_seen_by(viewer) for each in self._found(which))
        return [each for each in found if each is not None]

    def _found(self, which: ColumnElement[bool]) -> list[OwnerJob]:
        """Jobs, the newest first; one whose worker is gone has ended, and is told so."""
        wanted = select(OWNER_JOBS, PEOPLE.c.name.label("who")).join(PEOPLE, PEOPLE.c.id == OWNER_JOBS.c.person)
        wanted = wanted.where(which).order_by(OWNER_JOBS.c.id.desc())
        self.end_lapsed()
        with self._store.read() as connection:
            rows = connection.execute(wanted).all()
        return [_job(row) for row in rows]

    @staticmethod
    def _change(connection: Connection, number: int, **values: Any) -> None:
        mine = and_(OWNER_JOBS.c.id == number, OWNER_JOBS.c.state.in_(ACTIVE))
        connection.execute(update(OWNER_JOBS).where(mine).values(**values))


def named(arguments: Document) -> dict[str, Any]:
    """What a job is about: everything else may hold what nobody needs to read again."""
    found = {name: arguments[name] for name in _NAMED if arguments.get(name) is not None}
    return found | ({"source": written_source(found["source"])} if "source" in found else {})


def _unless_registered(value: str | None, otherwise: str | None = None) -> Any:
    """A value; another one for a job that has registered, which has an end from then on (`Changes.note`)."""
    return case((OWNER_JOBS.c.ended.is_(None), value), else_=otherwise)


def _job(row: Row[Any]) -> OwnerJob:
    told = {each.name: getattr(row, each.name) for each in fields(OwnerJob)}
    told |= {name: None if told[name] is None else json.loads(told[name]) for name in ("detail", "result", "error")}
    return OwnerJob(**{**told, "scope": read_scope(row.scope)})
