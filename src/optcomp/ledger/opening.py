"""Opening sessions: found again by name with the same filter and table, or paid for once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sqlalchemy import Row, insert, select, update

from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.interactive import Filter, Offer, PricedOffer, in_words, price_offers, restore
from optcomp.ledger.amounts import named
from optcomp.ledger.books import Writing
from optcomp.ledger.chain import canonical, digest
from optcomp.ledger.holders import Holder
from optcomp.ledger.schema import HOLDERS, REQUESTS, SLOTS
from optcomp.ledger.states import AccountState, RequestState, SlotState
from optcomp.ledger.units import Unit, snapshot_name
from optcomp.statistics import Table, declaration_document

_LONGEST_KEY = 500
"""Characters of a key: PostgreSQL finds texts of up to 2,700 bytes, and a character may have four."""


def open_session(parent: Holder, table: Table, budget: Filter, name: str, slot: Row[Any] | None = None) -> Holder:
    """The session of this name below an account or a session: its budget, paid for when it is opened first."""
    _check(table, budget, name)
    budget = restore(budget.document_text())  # what is written is what is paid for, whatever a subclass says
    table.check_bound(parent.books.id, parent.account_name)
    found = _found(parent, name)
    if found is None:
        unit = unit_of(parent, Unit.of(table)) if parent.is_account else None
        offer = (budget.total,) if unit is None else unit.converted((budget.total,), Unit.of(table))
        if slot is not None:
            _check_in_slot(offer, budget, slot)
        prices = None if slot is not None else price_offers(parent.opened, [offer])
        with parent.books.writing() as writing:
            found = _found_within(writing, parent, name)
            if found is None:
                if unit is not None:
                    fix_unit(writing, parent, unit)
                found = _opened(writing, parent, table, budget, name, prices, slot)
    _check_same(found, table, budget, name)
    if found.slot != (None if slot is None else slot.id):
        raise InvalidInput("name", name, "is the name of a session in another slot, or in none")
    table.bind(parent.books.id, parent.account_name)
    return Holder(parent.books, found, parent.account_name)


def _check_in_slot(offer: Offer, budget: Filter, slot: Row[Any]) -> None:
    """A slot holds (ε, δ) in the unit of its account."""
    total: Any = offer[0]
    if not isinstance(total, ApproxDP | PureDP):
        raise HypothesisNotMet("Lyu22-1", f"a slot is a pair (ε, δ), and {budget} promises none; use a SumFilter")
    if Fraction(total.epsilon) > Fraction(slot.epsilon) or Fraction(total.delta) > Fraction(slot.delta):
        has = ApproxDP(Fraction(slot.epsilon), Fraction(slot.delta))
        raise InvalidInput("budget", budget, f"is more than slot {slot.name!r} has, {has}, in the unit of its account")


def unit_of(account: Holder, given: Unit) -> Unit:
    """What an account protects; where its owner did not say it, what its first use does."""
    known = json.loads(account.row().about)["unit"]
    return given if known is None else Unit(*known)


def fix_unit(writing: Writing, account: Holder, unit: Unit) -> None:
    """Let an account protect this from now on, in the write of its first use; what is refused decides nothing."""
    about = json.loads(account.row_within(writing).about)
    known = [unit.neighbours, unit.whose]
    if about["unit"] is None:
        change = update(HOLDERS).where(HOLDERS.c.id == account.id).values(about=canonical(about | {"unit": known}))
        writing.connection.execute(change)
        writing.append("unit", account.id, {"unit": known})
    elif about["unit"] != known:
        problem = f"protects {Unit(*about['unit'])} since a moment ago, by the request of somebody else; ask again"
        raise InvalidInput("account", account.name, problem)


def _check(table: Table, budget: Filter, name: str) -> None:
    if not isinstance(table, Table):
        raise InvalidInput("table", table, "must be a Table; Table.open opens one that was saved")
    if not isinstance(budget, Filter):
        raise InvalidInput("budget", budget, "must be a filter such as SumFilter(1)")
    check_name(name)
    if budget.admitted:
        raise InvalidInput("budget", budget, "has been spent from: open a session with a fresh filter")


def check_name(name: object) -> None:
    """A name that people can read and that fits on a line."""
    if not isinstance(name, str) or not name.strip() or len(name) > 200 or not name.isprintable():
        raise InvalidInput("name", name, "must be text that can be printed, from 1 to 200 characters")


def check_key(key: object) -> None:
    """A key that every database can find again; None is for the digest of the question."""
    if key is not None and (not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable()):
        raise InvalidInput("key", key, f"must be text that can be printed, from 1 to {_LONGEST_KEY} characters")


def checked_repeat(repeat: object) -> int:
    """How often a question was asked before for fresh noise."""
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
        raise InvalidInput("repeat", repeat, "must be a whole number at or above 0")
    return repeat


def _found(parent: Holder, name: str) -> Row[Any] | None:
    with parent.books.database.read() as connection:
        return connection.execute(_named(parent, name)).one_or_none()


def _found_within(writing: Writing, parent: Holder, name: str) -> Row[Any] | None:
    return writing.connection.execute(_named(parent, name)).one_or_none()


def _named(parent: Holder, name: str) -> Any:
    return select(HOLDERS).where(HOLDERS.c.parent == parent.id, HOLDERS.c.name == name)


def _opened(
    writing: Writing,
    parent: Holder,
    table: Table,
    budget: Filter,
    name: str,
    prices: Sequence[PricedOffer] | None,
    slot: Row[Any] | None,
) -> Row[Any]:
    debit = parent.debit(writing, prices)
    if slot is not None:
        change_free_slot(writing, slot.id, slot.name, state=SlotState.TAKEN)
    about = canonical({"table": declaration_document(table), "snapshot": snapshot_name(table)})
    text = budget.document_text()
    values = {"account": parent.account, "parent": parent.id, "slot": None if slot is None else slot.id, "name": name}
    values |= {"about": about, "opened": text, "budget": text, "version": 1, "guard": 0, "state": AccountState.OPEN}
    found = writing.connection.execute(insert(HOLDERS).values(values).returning(HOLDERS)).one()
    body = {"holder": found.id, "parent": parent.id, "slot": values["slot"], "name": name, "opened": json.loads(text)}
    key = f"session {name}"
    writing.append("session", parent.account, body | {"about": digest(about), "named": named(key, key)} | debit)
    enter_request(writing, parent, "session", key, key, body, debit["paid"])
    return found


def enter_request(
    writing: Writing,
    holder: Holder,
    kind: str,
    key: str,
    what: str,
    form: dict[str, Any],
    paid: object,
) -> int:
    """A request that is answered by being entered: its entry in the chain was just appended.

    There is no answer, and therefore no commitment.
    """
    values = {"holder": holder.id, "key": key, "kind": kind, "what": what, "form": canonical(form)}
    values |= {"paid": canonical(paid), "state": RequestState.DELIVERED, "answer": "", "salt": None}
    values |= {"sequence": writing.sequence, "head": writing.head}
    found: int = writing.connection.scalar(insert(REQUESTS).values(values).returning(REQUESTS.c.id))
    return found


class SlotNotFree(InvalidInput):
    """A slot was taken or split before."""


def change_free_slot(writing: Writing, number: int, name: str, /, **values: Any) -> None:
    """Take a slot, split it or hand it on: only while nobody has; `SlotNotFree` if somebody was quicker."""
    free = SLOTS.c.id == number, SLOTS.c.state == SlotState.FREE
    if writing.connection.execute(update(SLOTS).where(*free).values(**values)).rowcount != 1:
        raise SlotNotFree("slot", name, "is taken, or was split")


def _check_same(found: Row[Any], table: Table, budget: Filter, name: str) -> None:
    if found.opened != budget.document_text():
        known = in_words(restore(found.opened).total)
        problem = f"is not the one that session {name!r} was opened with, {known}"
        raise InvalidInput("budget", in_words(budget.total), problem)
    about = json.loads(found.about)
    known, given = about["snapshot"], snapshot_name(table)
    if (known is not None and given != known) or about["table"] != json.loads(canonical(declaration_document(table))):
        raise InvalidInput("table", table.name, f"is not the one that session {name!r} was opened about")
