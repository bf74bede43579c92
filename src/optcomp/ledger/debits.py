"""What was debited from an account, in order: sessions, batches, and releases, made here or entered afterwards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from sqlalchemy import Row, select

from optcomp.errors import InvalidInput, Written
from optcomp.interactive import Cost, Request, in_words, read_request_document
from optcomp.ledger.amounts import NOTHING, summed
from optcomp.ledger.holders import Holder
from optcomp.ledger.schema import ENTRIES, REQUESTS
from optcomp.ledger.states import RequestState

RELEASES = ("release", "entered")
"""Kinds of requests that are releases."""
SECRET = "secret"
"""The kind, and the key, of the request whose answer is the key under which an account names data."""
SECRET_FORM = {"key": "digests of data"}
"""Its form."""


@dataclass(frozen=True, repr=False)
class Debit(Written):
    """One request of an account."""

    kind: str
    what: str
    at: str
    """When its last entry in the chain was made, in UTC."""
    state: RequestState
    paid: tuple[Request, ...]
    """Guarantees that are spent together; none where a slot paid."""

    @property
    def cost(self) -> str:
        """What was paid, for people."""
        return ", ".join(in_words(each) for each in self.paid) if self.paid else "paid by a slot"


@dataclass(frozen=True)
class Placed:
    """A request among all of its account: the sums of everything recorded, before it and with it."""

    paid: tuple[Request, ...]
    before: Cost
    after: Cost
    releases: int
    """How many there are up to here, with this one."""


def debits_of(account: Holder, kinds: Sequence[str] | None = None) -> tuple[Debit, ...]:
    """Everything that was debited, oldest first."""
    joined = select(REQUESTS, ENTRIES.c.at).join(ENTRIES, ENTRIES.c.sequence == REQUESTS.c.sequence)
    mine = joined.where(REQUESTS.c.holder == account.id, REQUESTS.c.kind != SECRET).order_by(REQUESTS.c.id)
    with account.books.database.read() as connection:
        rows = connection.execute(mine).all()
    return tuple(_debit(row) for row in rows if kinds is None or row.kind in kinds)


def place_of(account: Holder, key: str) -> Placed:
    """Where a request stands; the same whenever it is asked."""
    found = account.find(key)
    if found is None:
        raise InvalidInput("key", key, f"is no request of account {account.name!r}")
    until = select(REQUESTS.c.kind, REQUESTS.c.paid)
    until = until.where(REQUESTS.c.holder == account.id, REQUESTS.c.id <= found.id).order_by(REQUESTS.c.id)
    with account.books.database.read() as connection:
        rows = connection.execute(until).all()
    before = reduce(summed, (_paid(row.paid) for row in rows[:-1]), NOTHING)
    paid = _paid(rows[-1].paid)
    return Placed(paid, before, summed(before, paid), sum(row.kind in RELEASES for row in rows))


def _debit(row: Row[Any]) -> Debit:
    return Debit(row.kind, row.what, row.at, RequestState(row.state), _paid(row.paid))


def _paid(text: str) -> tuple[Request, ...]:
    return tuple(read_request_document(each) for each in json.loads(text))
