"""What an owner sees of a ledger: each account with what it promised, what is left, and what was recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Row, func, select

from optcomp.interactive import RecordedTotal, in_words, recorded_total, restore
from optcomp.ledger.amounts import read_sums
from optcomp.ledger.books import Books
from optcomp.ledger.claims import promised
from optcomp.ledger.debits import RELEASES
from optcomp.ledger.schema import FULL, HOLDERS, NOBODY, REQUESTS, SLOTS
from optcomp.ledger.states import AccountState, RequestState
from optcomp.ledger.units import Unit


@dataclass(frozen=True)
class SessionView:
    """A session of an account."""

    name: str
    state: str
    cap: str
    left: str
    spent: float
    """The share of the cap that is spent, for pictures: a number for eyes, and no claim."""


@dataclass(frozen=True)
class AccountView:
    """An account as it stands."""

    name: str
    state: str
    unit: str | None
    cap: str | None
    """In words; None where no cap is claimed."""
    theorem: str
    left: str | None
    """In words; None where nothing is admitted any more, or no cap is claimed."""
    recorded: tuple[RecordedTotal, ...]
    sessions: tuple[SessionView, ...]
    slots: tuple[tuple[str, str, str, str], ...]
    """Name, ε, δ and state of each."""
    releases: int
    waiting: int
    """Requests that were paid for and have no answer."""
    spent: float
    """The share of the cap that is spent, for pictures: a number for eyes, and no claim."""

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        found = dict(vars(self))
        found["recorded"] = [
            {"epsilon": each.epsilon, "delta": str(each.delta), "theorem": each.theorem, "words": each.words}
            for each in self.recorded
        ]
        found["sessions"] = [dict(vars(each)) for each in self.sessions]
        named = ("name", "epsilon", "delta", "state")
        found["slots"] = [dict(zip(named, each, strict=True)) for each in self.slots]
        return found


def overview(books: Books) -> tuple[AccountView, ...]:
    """All accounts, in the order in which they were opened."""
    with books.database.read() as connection:
        rows = connection.execute(select(HOLDERS).where(HOLDERS.c.parent == NOBODY).order_by(HOLDERS.c.id)).all()
        return tuple(_view(connection, row) for row in rows)


def _view(connection: Connection, row: Row[Any]) -> AccountView:
    about, budget = json.loads(row.about), restore(row.budget)
    open_ = row.state == AccountState.OPEN
    claimed = None if row.state == AccountState.OVERDRAWN else promised(about, json.loads(row.opened))
    recorded = recorded_total(read_sums(row.sums), Fraction(about["delta"])) if row.state != AccountState.SPENT else ()
    inside = HOLDERS.c.account == row.id, HOLDERS.c.id != row.id
    slots = select(SLOTS.c.name, SLOTS.c.epsilon, SLOTS.c.delta, SLOTS.c.state).where(SLOTS.c.account == row.id)
    return AccountView(
        row.name,
        row.state,
        None if about["unit"] is None else str(Unit(*about["unit"])),
        None if claimed is None else in_words(claimed.total),
        budget.theorem,
        str(budget.remaining()) if about["capped"] and open_ else None,
        recorded,
        tuple(map(_session, connection.execute(select(HOLDERS).where(*inside).order_by(HOLDERS.c.id)))),
        tuple(tuple(each) for each in connection.execute(slots.order_by(SLOTS.c.id))),
        _count(connection, row.id, REQUESTS.c.kind.in_(RELEASES)),
        _count(connection, row.id, REQUESTS.c.state == RequestState.RESERVED),
        row.guard / FULL,
    )


def _session(row: Row[Any]) -> SessionView:
    budget = restore(row.budget)
    return SessionView(row.name, row.state, in_words(budget.total), str(budget.remaining()), row.guard / FULL)


def _count(connection: Connection, account: int, condition: Any) -> int:
    wanted = select(func.count()).select_from(REQUESTS).join(HOLDERS, HOLDERS.c.id == REQUESTS.c.holder)
    return connection.scalar(wanted.where(HOLDERS.c.account == account, condition)) or 0
