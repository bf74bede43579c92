"""What happened in a ledger, entry by entry and in plain words, for whoever audits it: no answer, no data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select

from optcomp.interactive import in_words, read_request_document, restore
from optcomp.ledger.books import Books
from optcomp.ledger.chain import canonical
from optcomp.ledger.derivation import CREATING
from optcomp.ledger.schema import ENTRIES, HOLDERS, REQUESTS

_ENDING = frozenset({"answered", "failed"})
"""Kinds of entries that name a request which an earlier entry created."""


@dataclass(frozen=True)
class HistoryEntry:
    """One entry of the chain, in words."""

    sequence: int
    at: float
    """Seconds since 1970, as the entry has them."""
    kind: str
    account: str | None
    holder: str | None
    """Whose budget it is about: the account, or a session, which has the name of its slot."""
    request: int | None
    what: str
    paid: str
    """What was debited, in words; empty if nothing was."""
    head: str

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self))


def history(books: Books, *, after: int, most: int) -> tuple[HistoryEntry, ...]:
    """Entries after a number, the oldest first."""
    with books.database.read() as connection:
        page = select(ENTRIES).where(ENTRIES.c.sequence > after).order_by(ENTRIES.c.sequence).limit(most)
        return tuple(_told(connection, connection.execute(page).all()))


def _told(connection: Connection, rows: Sequence[Row[Any]]) -> Iterator[HistoryEntry]:
    bodies = {row.sequence: json.loads(row.body) for row in rows}
    requests = _requests(connection, rows, bodies)
    numbers = {row.account for row in rows} | {requests[each].holder for each in requests}
    numbers |= {body["holder"] for body in bodies.values() if isinstance(body.get("holder"), int)}
    wanted = select(HOLDERS.c.id, HOLDERS.c.name).where(HOLDERS.c.id.in_({each for each in numbers if each}))
    names: dict[int, str] = {row.id: row.name for row in connection.execute(wanted)}
    for row in rows:
        body, request = bodies[row.sequence], requests.get(row.sequence)
        holder = body.get("holder") or (row.account if request is None else request.holder)
        what = _what(row.kind, body, None if request is None else request.what)
        at = datetime.fromisoformat(row.at).timestamp()
        paid = " and ".join(in_words(read_request_document(each)) for each in body.get("paid", []))
        number = None if request is None else int(request.id)
        account = names.get(row.account or 0)
        yield HistoryEntry(row.sequence, at, row.kind, account, names.get(holder or 0), number, what, paid, row.head)


def _requests(
    connection: Connection, rows: Sequence[Row[Any]], bodies: Mapping[int, Mapping[str, Any]]
) -> dict[int, Any]:
    """For each entry the request that it creates or ends; requests are numbered in the order of their entries."""
    columns = REQUESTS.c.id, REQUESTS.c.holder, REQUESTS.c.what
    creating = [row.sequence for row in rows if row.kind in CREATING]
    found: dict[int, Any] = {}
    if creating:
        earlier = select(func.count()).select_from(ENTRIES)
        before = connection.scalar(earlier.where(ENTRIES.c.kind.in_(CREATING), ENTRIES.c.sequence < creating[0])) or 0
        made = select(*columns).order_by(REQUESTS.c.id).offset(before).limit(len(creating))
        found |= dict(zip(creating, connection.execute(made).all(), strict=False))
    ended = {row.sequence: bodies[row.sequence]["request"] for row in rows if row.kind in _ENDING}
    known: dict[int, Any] = {
        row.id: row for row in connection.execute(select(*columns).where(REQUESTS.c.id.in_(ended.values())))
    }
    return found | {sequence: known[number] for sequence, number in ended.items() if number in known}


def _what(kind: str, body: Mapping[str, Any], asked: str | None) -> str:
    words = _WORDS.get(kind)
    return words(body) if words is not None else asked or ""


def _budget(body: Mapping[str, Any]) -> str:
    return in_words(restore(canonical(body["opened"])).total)


_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "created": lambda body: f"ledger {body['ledger']}",
    "opened": lambda body: f"account {body['name']} with {_budget(body)}",
    "cap": lambda body: f"budget {_budget(body)}",
    "batch": lambda body: f"batch {body['name']!r}: {len(body['slots'])} slots, by {body['theorem']}",
    "session": lambda body: f"session {body['name']}",
    "unit": lambda body: f"what is protected: {body['unit']}",
    "split": lambda body: f"slot {body['slot']} into {len(body['parts'])}",
    "handed on": lambda body: f"slot {body['slot']}, now {body['name']}",
    "reserve": lambda body: f"slot {body['slot']}, now {body['name']}",
    "adopted": lambda body: "a copy of this ledger was taken over",
    "migrated": lambda body: f"schema version {body['version']}",
}
"""What entries say by themselves; others are described by their request."""
