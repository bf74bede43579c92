"""Requests as whoever made them may see them again: what was asked, what it cost, and what became of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, select

from optcomp.errors import InvalidInput
from optcomp.interactive import Request, read_request_document
from optcomp.ledger.chain import commitment
from optcomp.ledger.holders import Holder
from optcomp.ledger.leases import is_alive
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.schema import REQUESTS
from optcomp.ledger.states import RequestState
from optcomp.numerics import whole

_GIVEN = "key "
"""With which the key of a request begins whose key was given; others are digests of what was asked."""

_MOST = 2**63 - 1
"""Numbers that databases can hold."""


@dataclass(frozen=True)
class RequestView:
    """A request of a session, as it stands."""

    id: int
    kind: str
    """question, mechanism, ask, plan, planned, or another one of the ledger's own."""
    key: str | None
    """The key that was given with it; None if what was asked is the key."""
    what: str
    """For people."""
    form: dict[str, Any] = field(repr=False)
    """Exactly what was asked."""
    paid: tuple[Request, ...]
    """What was debited for it: nothing for what another request paid."""
    state: RequestState
    running: bool
    """Whether somebody may be at work on it."""
    receipt: Receipt = field(repr=False)
    answer: str | None = field(repr=False)
    """The text that is stored, if there is one."""


def requests_of(
    holder: Holder, *, after: int = 0, most: int | None = None, newest: bool = False
) -> tuple[RequestView, ...]:
    """The requests of a holder with a number above `after`, oldest first; at most so many, or the newest so many."""
    after = whole(after, "after", 0, _MOST)
    order = REQUESTS.c.id.desc() if newest else REQUESTS.c.id
    mine = select(REQUESTS).where(REQUESTS.c.holder == holder.id, REQUESTS.c.id > after).order_by(order)
    with holder.books.database.read() as connection:
        found = tuple(_view(holder, row) for row in connection.execute(mine.limit(most)))
    return found[::-1] if newest else found


def keyed_request(holder: Holder, key: str) -> RequestView | None:
    """The request that was made under this key, if there is one."""
    mine = select(REQUESTS).where(REQUESTS.c.holder == holder.id, REQUESTS.c.key == f"{_GIVEN}{key}")
    with holder.books.database.read() as connection:
        row = connection.execute(mine).one_or_none()
    return None if row is None else _view(holder, row)


def request_of(holder: Holder, number: int) -> RequestView:
    """A request by its number; one of another holder is not found."""
    number = whole(number, "request", 1, _MOST)
    mine = select(REQUESTS).where(REQUESTS.c.holder == holder.id, REQUESTS.c.id == number)
    with holder.books.database.read() as connection:
        row = connection.execute(mine).one_or_none()
    if row is None:
        raise InvalidInput("request", number, f"is no request of {holder.name!r}")
    return _view(holder, row)


def _view(holder: Holder, row: Row[Any]) -> RequestView:
    committed = None if row.salt is None or row.answer is None else commitment(row.salt, row.answer)
    return RequestView(
        int(row.id),
        row.kind,
        row.key.removeprefix(_GIVEN) if row.key.startswith(_GIVEN) else None,
        row.what,
        json.loads(row.form),
        tuple(read_request_document(each) for each in json.loads(row.paid)),
        RequestState(row.state),
        row.lease is not None and is_alive(row.lease),
        holder.receipt(row.sequence, row.head, committed),
        row.answer,
    )
