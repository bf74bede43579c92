"""What people write in pages and have not finished: kept for them here, so that no reload and no restart loses it.

A token that is limited to some accounts sees the drafts that were written by tokens with no more accounts than its own.
A draft has a version.  Whoever saves says which version they changed; when another window was quicker, nothing is
overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from optcomp.center.persons import Person
from optcomp.center.refusals import Conflict, NotFound
from optcomp.center.store import Store, now
from optcomp.center.tables import DRAFTS
from optcomp.errors import InvalidInput

_MOST = 200
"""Drafts of one person: more than anybody can look after."""
_LONGEST = 1 << 20
"""Letters of one draft."""
_SCOPE = "token scope"
"""The entry of a stored draft with the accounts of the token that wrote it last; it is no part of its document."""


@dataclass(frozen=True)
class Draft:
    """Something unfinished, of one person."""

    id: int
    kind: str
    document: dict[str, Any]
    version: int
    changed: float


class Drafts:
    """The drafts of everybody; each person sees their own."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, person: Person, kind: str, document: Mapping[str, Any]) -> Draft:
        """A new draft."""
        text = _text(document, person)
        with self._store.write() as connection:
            mine = select(func.count()).select_from(DRAFTS).where(DRAFTS.c.person == person.id)
            if (connection.scalar(mine) or 0) >= _MOST:
                raise Conflict("a new draft", f"would be one too many: delete some of your {_MOST}")
            values = {"person": person.id, "kind": kind, "document": text, "version": 1, "changed": now(connection)}
            row = connection.execute(insert(DRAFTS).values(**values).returning(*DRAFTS.c)).one()
            return _draft(row)

    def all(self, person: Person, kind: str) -> list[Draft]:
        """Those of a person, the last one that was changed first."""
        mine = select(DRAFTS).where(DRAFTS.c.person == person.id, DRAFTS.c.kind == kind)
        with self._store.read() as connection:
            rows = connection.execute(mine.order_by(DRAFTS.c.changed.desc())).all()
        return [_draft(row) for row in rows if _seen(row, person)]

    def draft(self, person: Person, id: int) -> Draft:
        """One of a person's own."""
        with self._store.read() as connection:
            return _draft(_found(connection, person, id))

    def save(self, person: Person, id: int, document: Mapping[str, Any], *, version: int) -> Draft:
        """The draft with another content; `Conflict` if it was changed since this version."""
        text = _text(document, person)
        with self._store.write() as connection:
            _found(connection, person, id)
            values = {"document": text, "version": version + 1, "changed": now(connection)}
            change = update(DRAFTS).where(*_mine(person, id), DRAFTS.c.version == version)
            row = connection.execute(change.values(**values).returning(*DRAFTS.c)).one_or_none()
            if row is not None:
                return _draft(row)
        raise Conflict("the draft", "was changed in another window: load it again")

    def drop(self, person: Person, id: int) -> None:
        """Delete a draft."""
        with self._store.write() as connection:
            _found(connection, person, id)
            connection.execute(delete(DRAFTS).where(*_mine(person, id)))


def _mine(person: Person, id: int) -> tuple[Any, Any]:
    return DRAFTS.c.id == id, DRAFTS.c.person == person.id


def _found(connection: Connection, person: Person, id: int) -> Row[Any]:
    row = connection.execute(select(DRAFTS).where(*_mine(person, id))).one_or_none()
    if row is None or not _seen(row, person):
        raise NotFound("draft", id)
    return row


def _seen(row: Row[Any], person: Person) -> bool:
    return person.covers(json.loads(row.document).get(_SCOPE))


def _text(document: Mapping[str, Any], person: Person) -> str:
    written = {**document, _SCOPE: person.scope}
    text = json.dumps(written, ensure_ascii=False, allow_nan=False)  # entries stay in their order
    if len(text) > _LONGEST:
        raise InvalidInput("draft", f"{len(text)} letters", f"may have {_LONGEST}")
    return text


def _draft(row: Row[Any]) -> Draft:
    document = json.loads(row.document)
    document.pop(_SCOPE, None)
    return Draft(int(row.id), str(row.kind), document, int(row.version), float(row.changed))
