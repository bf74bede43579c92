"""What the entries of a chain say about holders, slots and mechanisms: everything that tables may claim.

Amounts are counted by price: a thousand requests of one price are one product.  Sums of prices never fall, so a budget
that is kept at the end was kept at every moment before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from optcomp.errors import OptcompError
from optcomp.interactive import Cost, Filter, Offer, price_offers, read_request_document, restore
from optcomp.ledger.amounts import NOTHING, guard, summed, written_cost, written_sums
from optcomp.ledger.chain import canonical
from optcomp.ledger.states import AccountState, SlotState

_LISTED = 1000
"""Findings that are told one by one; a ledger with more of them is broken in any case."""
_PRICES = 1 << 14
"""Prices that are remembered, of all holders."""
_COUNTED = 1 << 10
"""Prices of one holder that are counted before they are added up."""
_RECORDED = ("epsilon", "rho", "delta")
"""What is summed of everything recorded."""


class Findings:
    """What is wrong, in plain words; after many, only their number."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._more = 0

    def add(self, text: str) -> None:
        """One more."""
        if len(self.told) < _LISTED:
            self.told.append(text)
        else:
            self._more += 1

    def all(self) -> tuple[str, ...]:
        """All of them, in the order in which they were found."""
        return (*self.told, *([f"and {self._more:,} more"] if self._more else []))


class Prices:
    """What guarantees cost, derived again and remembered."""

    def __init__(self) -> None:
        self._costs: dict[tuple[str, str], Cost] = {}
        self._recorded: dict[str, Cost] = {}

    def cost(self, budget: Filter, paid: str) -> Cost:
        """In a filter; an error if it cannot be read or has no price there."""
        key = budget.measure, paid
        if key not in self._costs:
            _make_room(self._costs)
            (priced,) = price_offers(budget, [_offer(paid)])
            self._costs[key] = priced.cost
        return self._costs[key]

    def recorded(self, paid: str) -> Cost:
        """What is summed of it."""
        if paid not in self._recorded:
            _make_room(self._recorded)
            self._recorded[paid] = summed(NOTHING, _offer(paid))
        return self._recorded[paid]


def _offer(paid: str) -> Offer:
    return tuple(read_request_document(each) for each in json.loads(paid))


def _make_room(known: dict[Any, Any]) -> None:
    if len(known) >= _PRICES:
        known.clear()


@dataclass
class DerivedHolder:
    """An account or a session, as the chain has it."""

    id: int
    account: int
    parent: int
    slot: int | None
    name: str
    about: str
    """For accounts the text itself, for sessions its digest."""
    opened: Filter
    prices: Prices
    version: int = 1
    state: AccountState = AccountState.OPEN
    unit: tuple[str, str] | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """What an account is about."""
    theorems: set[str] = field(default_factory=set)
    sessions: int = 0
    slots: int = 0
    requests: int = 0

    def __post_init__(self) -> None:
        self.budget = self.opened
        self._text = self.opened.document_text()
        self.sums = NOTHING
        self.broken: str | None = None
        self._counts: dict[tuple[str, bool], int] = {}
        self._known: dict[tuple[str, str], bool] = {}
        self.theorems.add(self.opened.theorem)

    @property
    def is_account(self) -> bool:
        """Whether it is an account, and not a session."""
        return self.id == self.account

    @property
    def words(self) -> str:
        """For people."""
        return f"{'account' if self.is_account else 'session'} {self.name!r}"

    def pay(self, paid: str, price: Mapping[str, str] | None) -> str | None:
        """Count a request; what is wrong with its price.  Without a price it is recorded, past the cap."""
        self.version += 1
        self.requests += 1
        key = paid, price is not None
        count = self._counts.get(key)
        if count is None and len(self._counts) >= _COUNTED:
            self.broken = self.broken or self._add_up()
        self._counts[key] = 1 + (count or 0)
        if price is None:
            return None
        known = paid, repr(price)
        if known not in self._known:
            if len(self._known) >= _COUNTED:
                self._known.clear()
            self._known[known] = written_cost(self.prices.cost(self.opened, paid)) == price
        return None if self._known[known] else "its price is not that of what was paid"

    def fits(self, paid: str) -> bool:
        """Whether it could be paid now."""
        try:
            cost = self.prices.cost(self.opened, paid)
        except OptcompError:
            return False
        self.settle()
        return self.budget.fits(self.budget.spent.plus(cost))

    def _add_up(self) -> str | None:
        """Move the filter on by everything counted; what is wrong with that."""
        counts, self._counts = self._counts, {}
        spent = {name: self.budget.spent.get(name) for name in self.budget.currencies()}
        admitted = self.budget.admitted
        for (paid, priced), count in counts.items():
            more = self.prices.recorded(paid)
            sums: dict[str, Any] = {name: _more(self.sums.get(name), more.get(name), count) for name in _RECORDED}
            self.sums = Cost(**sums)
            if priced:
                cost = self.prices.cost(self.opened, paid)
                spent = {name: _more(amount, cost.get(name), count) for name, amount in spent.items()}
                admitted += count
        return self._move(spent, admitted)

    def _move(self, spent: Mapping[str, Fraction | None], admitted: int) -> str | None:
        texts = {name: None if amount is None else str(amount) for name, amount in spent.items()}
        try:
            self.budget = restore({**self.budget.document(), "spent": texts, "admitted": admitted})
        except OptcompError:
            return f"{self.words} has paid more than its cap admits"
        return None

    def settle(self) -> str | None:
        """Add up everything; what is wrong."""
        if self._counts:
            self.broken = self.broken or self._add_up()
        return self.broken

    def lower(self, budget: Filter) -> str | None:
        """Another cap."""
        problem = self.settle()
        fresh = not self.budget.admitted and not budget.admitted
        try:
            self.budget = budget if fresh else self.budget.lowered(budget)
        except OptcompError:
            problem = problem or f"the cap of {self.words} was changed to one that is not lower"
        self.opened, self._text, self._known = budget, budget.document_text(), {}
        self.version += 1
        self.theorems.add(budget.theorem)
        return problem

    def close(self) -> None:
        """A copy was adopted that may lack debits."""
        if self.state == AccountState.OVERDRAWN:
            self.uncap()
        if self.state != AccountState.SPENT:
            self.state = AccountState.SPENT
            self.version += 1

    def uncap(self) -> None:
        """Its cap is no longer claimed, though it counts as spent."""
        self.facts = {**self.facts, "capped": False}
        self.about = canonical(self.facts)

    def columns(self) -> dict[str, object]:
        """What its row must hold."""
        found: dict[str, object] = {
            "account": self.account,
            "parent": self.parent,
            "slot": self.slot,
            "name": self.name,
        }
        found |= {"opened": self._text, "budget": self.budget.document_text(), "version": self.version}
        sums = written_sums(self.sums) if self.is_account else None
        return found | {"guard": guard(self.budget), "sums": sums, "state": str(self.state)}


def _more(amount: Fraction | None, each: Fraction | None, count: int) -> Fraction | None:
    return None if amount is None or each is None else amount + count * each


@dataclass
class DerivedSlot:
    """A slot, as the chain has it."""

    account: int
    batch: int
    parent: int | None
    name: str
    epsilon: str
    delta: str
    plan: str | None
    state: SlotState = SlotState.FREE

    def holds(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Whether so much is within it."""
        return epsilon <= Fraction(self.epsilon) and delta <= Fraction(self.delta)

    def columns(self) -> dict[str, object]:
        """What its row must hold."""
        return {name: getattr(self, name) for name in ("account", "batch", "parent", "name", "epsilon", "delta")} | {
            "plan": self.plan,
            "state": str(self.state),
        }


@dataclass
class DerivedMechanism:
    """A mechanism that goes on, as the chain has it."""

    holder: int
    spec: str
    opened: bool = False
    asked: int = 0
    lost: bool = False
    """Whether the key of what it remembers was lost."""

    def columns(self) -> dict[str, object]:
        """What its row must hold."""
        return {"spec": self.spec, "version": 1 + self.asked}


@dataclass
class DerivedPlan:
    """A batch of questions that was paid for at once."""

    holder: int
    questions: tuple[str, ...]
    """By their digests."""
    answered: set[int] = field(default_factory=set)
