"""Batches of slots: shares of a budget that are fixed together, before the first answer in any of them.

A batch is one request of (ε_g, δ_g) of its account; the optimal composition of its slots is within (ε_g, δ_g).  Each
slot is one interactive mechanism, and by Lyu22-1 everything that all of them tell is (ε_g, δ_g)-DP, however they are
interleaved.  A slot may be handed on, or split into parts that add up to no more.  It is never merged, grown or
refunded: a hundred slots of .05 cost 2.21 together, and one of 2.5 beside fifty of .05 costs 3.99.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, func, insert, select
from sqlalchemy.exc import IntegrityError

from optcomp.composition import compose
from optcomp.errors import BudgetExceeded, InvalidInput
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.interactive import Filter, Offer, Remaining, Request, SumFilter, in_words, price_offers, restore
from optcomp.ledger.amounts import named
from optcomp.ledger.chain import canonical
from optcomp.ledger.holders import Holder
from optcomp.ledger.opening import change_free_slot, check_name, enter_request, fix_unit, open_session
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.requests import RequestView, keyed_request, request_of, requests_of
from optcomp.ledger.schema import HOLDERS, REQUESTS, SLOTS
from optcomp.ledger.session import DurableSession
from optcomp.ledger.states import AccountState, SlotState
from optcomp.ledger.transactions import Overtaken
from optcomp.ledger.units import Unit
from optcomp.numerics import Number
from optcomp.statistics import Table
from optcomp.theorems import Bound

if TYPE_CHECKING:
    from optcomp.ledger.books import Writing

Share = Number | tuple[Number, Number] | ApproxDP
"""Of a slot: ε, or (ε, δ)."""


@dataclass(frozen=True)
class Batch:
    """Slots that were fixed together, and what they come to."""

    id: int
    name: str
    shares: Mapping[str, ApproxDP]
    """By the names that the slots had when they were cut."""
    whole: ApproxDP
    """What was debited for all of them."""
    theorem: str
    """By which they come to no more."""
    receipt: Receipt

    def bound(self) -> Bound:
        """The optimal composition of its slots, proved again."""
        return compose(list(self.shares.values()), delta=self.whole.delta)


class Slot:
    """A share of a batch, for one analyst or one plan."""

    def __init__(self, account: Holder, row: Row[Any]) -> None:
        self._account, self._id = account, int(row.id)
        self.name, self.plan = str(row.name), row.plan
        self.epsilon, self.delta = Fraction(row.epsilon), Fraction(row.delta)

    @property
    def guarantee(self) -> ApproxDP:
        """What may be spent in it."""
        return ApproxDP(self.epsilon, self.delta)

    @property
    def state(self) -> SlotState:
        """As it stands now."""
        return SlotState(self.row().state)

    def row(self) -> Row[Any]:
        """The slot in the ledger."""
        with self._account.books.database.read() as connection:
            return connection.execute(select(SLOTS).where(SLOTS.c.id == self._id)).one()

    def session(self, table: Table, budget: Filter | None = None, *, name: str | None = None) -> DurableSession:
        """The session that works in this slot; by default its filter adds up to all of the slot."""
        given = SumFilter(self.epsilon, self.delta) if budget is None else budget
        named = self.name if name is None else name
        return DurableSession(open_session(self._account, table, given, named, self.row()), table)

    def holder(self) -> Holder | None:
        """What holds its budget, once something was asked in it; to look for it takes nothing."""
        with self._account.books.database.read() as connection:
            row = connection.execute(select(HOLDERS).where(HOLDERS.c.slot == self._id)).first()
        return None if row is None else Holder(self._account.books, row, self._account.account_name)

    @property
    def budget(self) -> Filter:
        """The filter of its session as it stands now; if there is none, that of the one it would have."""
        found = self.holder()
        return SumFilter(self.epsilon, self.delta) if found is None else found.budget()

    def remaining(self, like: Request | None = None) -> Remaining:
        """What is left; with `like`, how many more such requests fit.  Nothing, if nothing is admitted any more."""
        found, state = self.holder(), self.state
        row = None if found is None else found.row()
        left = (SumFilter(self.epsilon, self.delta) if row is None else restore(row.budget)).remaining(like)
        if state in (SlotState.FREE, SlotState.TAKEN) and (row is None or row.state == AccountState.OPEN):
            return left
        nothing = {name: (Fraction(0), whole) for name, (_, whole) in left.amounts.items()}
        return Remaining(nothing, left.like, None if like is None else 0, Fraction(0))

    def requests(self, *, after: int = 0, most: int | None = None, newest: bool = False) -> tuple[RequestView, ...]:
        """What was asked in it, oldest first: requests with a number above `after`, at most so many, or the newest."""
        found = self.holder()
        return () if found is None else requests_of(found, after=after, most=most, newest=newest)

    def request_under(self, key: str) -> RequestView | None:
        """The request that was made in it under this key, if there is one."""
        found = self.holder()
        return None if found is None else keyed_request(found, key)

    def request(self, number: int) -> RequestView:
        """A request that was made in it."""
        found = self.holder()
        if found is None:
            raise InvalidInput("request", number, f"is no request of {self.name!r}")
        return request_of(found, number)

    def batch(self) -> Batch | None:
        """The batch that it was cut in; None of a slot that a release kept for later."""
        with self._account.books.database.read() as connection:
            mine = select(REQUESTS).join(SLOTS, SLOTS.c.batch == REQUESTS.c.id).where(SLOTS.c.id == self._id)
            row = connection.execute(mine).one()
        if row.kind != "batch":
            return None
        form = json.loads(row.form)
        shares = {name: _share(texts) for name, texts in form["slots"].items()}
        receipt = self._account.receipt(row.sequence, row.head, None)
        return Batch(int(row.id), form["name"], shares, _share(form["whole"]), form["theorem"], receipt)

    def split(self, parts: Mapping[str, Share]) -> dict[str, Slot]:
        """Slots in the place of this one, that add up to no more; nothing may have been asked in it."""
        shares = _shares(parts)
        sums = [sum(Fraction(getattr(each, name)) for each in shares.values()) for name in ("epsilon", "delta")]
        if sums[0] > self.epsilon or sums[1] > self.delta:
            has, given = in_words(self.guarantee), in_words(ApproxDP(*sums))
            reason = f"the parts add up to {given}, and slot {self.name!r} has {has}"
            raise BudgetExceeded(tuple(sums), self.guarantee, f"{reason}; nothing was changed")
        with _fresh_names(", ".join(shares)), self._account.books.writing() as writing:
            change_free_slot(writing, self._id, self.name, state=SlotState.SPLIT)
            row = writing.connection.execute(select(SLOTS).where(SLOTS.c.id == self._id)).one()
            numbers = _numbers(writing, shares)
            body = {"slot": self._id, "parts": _written(shares), "numbers": numbers}
            writing.append("split", self._account.account, body)
            return _insert(writing, self._account, shares, int(row.batch), self._id, numbers=numbers)

    def hand_on(self, name: str) -> Slot:
        """The same slot under another name, for somebody else; nothing may have been asked in it."""
        check_name(name)
        with _fresh_names(name), self._account.books.writing() as writing:
            change_free_slot(writing, self._id, self.name, name=name)
            writing.append("handed on", self._account.account, {"slot": self._id, "name": name})
        return Slot(self._account, self.row())

    def __repr__(self) -> str:
        return f"Slot({self.name!r}, {self.guarantee})"


def cut(
    account: Holder,
    slots: Mapping[str, Share],
    *,
    delta: Number,
    epsilon: Number | None = None,
    name: str = "batch",
    plans: Mapping[str, str] | None = None,
    unit: Unit | None = None,
) -> tuple[Bound, dict[str, Slot]]:
    """Certify a batch and debit it; by default ε_g is what its optimal composition comes to.

    `unit` is what the shares are about, where a table says it; it decides what the account protects, if that is open.
    The same batch under the same name again is the one that is there, and costs nothing.
    """
    check_name(name)
    shares = _shares(slots)
    bound = compose(list(shares.values()), delta=delta)
    if not bound.upper < float("inf"):
        raise InvalidInput("delta", delta, "is too small for these slots: no ε holds at it")
    whole = ApproxDP(Fraction(bound.upper) if epsilon is None else epsilon, delta)
    if Fraction(bound.upper) > Fraction(whole.epsilon):
        reason = f"the slots compose to ε = {bound.upper:.10g} by {bound.theorem}, more than {float(whole.epsilon):g}"
        raise BudgetExceeded(bound.upper, whole.epsilon, f"{reason}; nothing was spent")
    prices = price_offers(account.opened, [(whole,)])
    body = {"name": name, "slots": _written(shares), "theorem": bound.theorem, "plans": dict(plans or {})}
    form = body | {"whole": _written({name: whole})[name]}
    key = f"batch {name}"
    while (found := account.find(key)) is None:
        with suppress(Overtaken), _fresh_names(f"{name}: {', '.join(shares)}"), account.books.writing() as writing:
            if account.find_within(writing, key):  # somebody else cut it a moment ago
                raise Overtaken
            if unit is not None:
                fix_unit(writing, account, unit)
            debit, numbers = account.debit(writing, prices), _numbers(writing, shares)
            entry = {"holder": account.id, "named": named(key, key), "numbers": numbers}
            writing.append("batch", account.account, entry | body | debit)
            batch = enter_request(writing, account, "batch", key, key, form, debit["paid"])
            _insert(writing, account, shares, batch, None, plans or {}, numbers)
    if found.form != canonical(form):
        problem = "the account has another batch of such a name: give this one its own, name=…; nothing was spent"
        raise InvalidInput("name", name, problem)
    return bound, _first_slots(account, int(found.id))


def cut_reserve(account: Holder, writing: Writing, request: int, name: str, epsilon: Fraction) -> None:
    """What a release that is paid for keeps for later, as a slot; it costs nothing more."""
    check_name(name)
    shares = {name: ApproxDP(epsilon, 0)}
    numbers = _numbers(writing, shares)
    body = {"request": request, "slot": numbers[name], "name": name, "share": _written(shares)[name]}
    writing.append("reserve", account.account, {"holder": account.id, **body})
    _insert(writing, account, shares, request, None, numbers=numbers)


def committed_slot(account: Holder, plan: str) -> Row[Any] | None:
    """The free slot that was cut for a plan of this digest."""
    mine = SLOTS.c.account == account.id, SLOTS.c.plan == plan, SLOTS.c.state == SlotState.FREE
    with account.books.database.read() as connection:
        return connection.execute(select(SLOTS).where(*mine).order_by(SLOTS.c.id)).first()


def _first_slots(account: Holder, batch: int) -> dict[str, Slot]:
    """The slots that a batch was cut into, under the names that they have now."""
    mine = select(SLOTS).where(SLOTS.c.batch == batch, SLOTS.c.parent.is_(None)).order_by(SLOTS.c.id)
    with account.books.database.read() as connection:
        return {row.name: Slot(account, row) for row in connection.execute(mine)}


def find_slot(account: Holder, name: str) -> Slot:
    """The slot of this name."""
    with account.books.database.read() as connection:
        mine = SLOTS.c.account == account.id, SLOTS.c.name == name
        row = connection.execute(select(SLOTS).where(*mine)).one_or_none()
    if row is None:
        raise InvalidInput("slot", name, f"is no slot of account {account.name!r}")
    return Slot(account, row)


def all_slots(account: Holder) -> tuple[Slot, ...]:
    """All of an account."""
    with account.books.database.read() as connection:
        rows = connection.execute(select(SLOTS).where(SLOTS.c.account == account.id).order_by(SLOTS.c.id)).all()
    return tuple(Slot(account, row) for row in rows)


@contextmanager
def _fresh_names(names: str) -> Iterator[None]:
    """The database knows which names of batches and slots an account has had."""
    try:
        yield
    except IntegrityError:
        raise InvalidInput("name", names, "the account has a batch or slot of such a name; nothing was spent") from None


def _shares(given: Mapping[str, Share]) -> dict[str, ApproxDP]:
    if not isinstance(given, Mapping) or not given:
        raise InvalidInput("slots", given, "must be names with an ε or (ε, δ) each, at least one")
    found = {}
    for name, share in given.items():
        check_name(name)
        if not isinstance(share, ApproxDP):
            share = ApproxDP(*share) if isinstance(share, tuple | list) else ApproxDP(share, 0)
        found[name] = share
    return found


def _share(texts: Sequence[str]) -> ApproxDP:
    """As `_written` wrote it."""
    return ApproxDP(Fraction(texts[0]), Fraction(texts[1]))


def _written(shares: Mapping[str, ApproxDP]) -> dict[str, list[str]]:
    return {name: [str(Fraction(share.epsilon)), str(Fraction(share.delta))] for name, share in shares.items()}


def _numbers(writing: Writing, shares: Mapping[str, ApproxDP]) -> dict[str, int]:
    """The next numbers, for new slots; nobody else writes meanwhile."""
    last: int = writing.connection.scalar(select(func.max(SLOTS.c.id))) or 0
    return {name: number for number, name in enumerate(shares, last + 1)}


def _insert(
    writing: Writing,
    account: Holder,
    shares: Mapping[str, ApproxDP],
    batch: int,
    parent: int | None,
    plans: Mapping[str, str] = {},
    numbers: Mapping[str, int] | None = None,
) -> dict[str, Slot]:
    given = _numbers(writing, shares) if numbers is None else numbers
    same = {"account": account.id, "batch": batch, "parent": parent, "state": SlotState.FREE}
    rows = [
        {**same, "id": given[name], "name": name, "plan": plans.get(name), "epsilon": texts[0], "delta": texts[1]}
        for name, texts in _written(shares).items()
    ]
    writing.connection.execute(insert(SLOTS), rows)
    made = select(SLOTS).where(SLOTS.c.batch == batch, SLOTS.c.parent.is_not_distinct_from(parent))
    found = {row.name: Slot(account, row) for row in writing.connection.execute(made)}
    return {name: found[name] for name in shares}


def check_committed(slot: Row[Any], offers: Sequence[Offer]) -> None:
    """A plan may not cost more than what was committed for it."""
    pairs = [offer[0] for offer in offers if len(offer) == 1 and isinstance(offer[0], ApproxDP | PureDP)]
    limit = Fraction(slot.epsilon), Fraction(slot.delta)
    if not any(Fraction(each.epsilon) <= limit[0] and Fraction(each.delta) <= limit[1] for each in pairs):
        raise InvalidInput("plan", slot.plan, f"costs more than slot {slot.name!r}, which was committed for it")
