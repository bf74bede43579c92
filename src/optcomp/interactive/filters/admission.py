"""What a filter is: a budget as a value, that says yes or no to one request after another.

A filter never changes.  `admit` checks the request and, if it fits, returns the filter that comes next; a refusal
leaves everything as it was, and a smaller request may still fit.  Run a mechanism only after it was admitted, and go
on with the state of the answer: running two requests on the same state spends twice what the filter knows of.

Each request may depend on all answers before it, its parameters included; the mechanisms may be interactive and
interleaved (HSTVVXZ23).  Amounts are exact rationals: nothing is lost or gained by rounding, however many requests.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar

from optcomp.errors import BudgetExceeded, HypothesisNotMet, Written
from optcomp.guarantees.approximate import ApproxDP
from optcomp.guarantees.notions import ZCDP, ApproxZCDP, RenyiDP
from optcomp.interactive.filters.cost import SYMBOLS, Cost, short_down, short_up
from optcomp.interactive.filters.requests import Request, holds_float, in_words, read_request

Total = ApproxDP | ZCDP | ApproxZCDP | RenyiDP
"""What a filter promises about everything it ever admits."""

F = TypeVar("F", bound="Filter")

_SLIGHTLY, _TINY, _ENDLESS = Fraction(1, 10**9), Fraction(1, 10**300), Fraction(10**600)
"""An excess that rounding to floats may have caused; and what stands for 0 and for no bound in ratios."""


@dataclass(frozen=True, repr=False)
class Remaining(Written):
    """What is left of a budget: exact amounts, and in words."""

    amounts: Mapping[str, tuple[Fraction, Fraction]] = field(hash=False)
    """For each currency of the filter what is left and what there was."""
    like: object = None
    """The request that is counted, if any."""
    count: int | None = None
    """How many more such requests fit, one after another; None without one, or if they cost nothing."""
    largest: Fraction | None = None
    """About the largest ε of a single pure request that still fits, never more."""

    def __str__(self) -> str:
        """For people, rounded down."""
        left = {name: _left_of(name, *amount) for name, amount in self.amounts.items()}
        slip = left.pop("delta", "")
        pieces = [" or ".join(left.values()), slip if slip and self.amounts["delta"][1] else ""]
        text = ", ".join(filter(None, pieces))
        if self.like is not None:
            many = "any number of" if self.count is None else str(self.count)
            return f"{text}: {many} more {'request' if self.count == 1 else 'requests'} of {in_words(self.like)}"
        if self.largest is None:
            return text
        return f"{text}: {f'one request of up to ε = {short_down(self.largest)}' if self.largest else 'nothing more'}"


def _left_of(name: str, rest: Fraction, whole: Fraction) -> str:
    return f"{SYMBOLS[name]} {short_down(rest)} of {short_down(whole)} left"


@dataclass(frozen=True, repr=False)
class Admitted(Written, Generic[F]):
    """Yes: run the mechanism, and go on with `state`."""

    state: F
    request: object
    cost: Cost


@dataclass(frozen=True, repr=False)
class Refused(Written):
    """No: nothing was spent, and the filter is as it was."""

    request: object
    reason: str
    remaining: Remaining

    def error(self) -> BudgetExceeded:
        """The refusal as an error to raise."""
        return BudgetExceeded(self.request, self.remaining, self.reason)


@dataclass(frozen=True, init=False, repr=False)
class Filter(Written, ABC):
    """A privacy budget that admits requests while a theorem covers all of them together."""

    spent: Cost
    """The sum of what was admitted."""
    admitted: int
    """How many requests were admitted."""

    kind: ClassVar[str]
    """The name of this kind of filter in documents."""
    ways: ClassVar[Sequence[tuple[str, ...]]]
    """Sets of currencies; a request fits if for one of the sets every amount stays within its cap."""

    @classmethod
    def currencies(cls) -> tuple[str, ...]:
        """What the filter counts."""
        return tuple(dict.fromkeys(name for way in cls.ways for name in way))

    @property
    @abstractmethod
    def theorem(self) -> str:
        """The id of the theorem that proves the total."""

    @property
    @abstractmethod
    def total(self) -> Total:
        """The guarantee proved for everything ever admitted."""

    @property
    @abstractmethod
    def caps(self) -> Cost:
        """The largest sums that are admitted."""

    @abstractmethod
    def price(self, request: Request) -> Cost:
        """What a request would cost, however much is spent; HypothesisNotMet if the filter cannot account for it."""

    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """What the filter was made with, for its document."""

    def admit(self: F, request: Request) -> Admitted[F] | Refused:
        """Whether the request fits into what is left; the filter itself does not change."""
        known = read_request(request)
        return self.charge(known, self.price(known))  # type: ignore[arg-type]

    def charge(self: F, request: object, cost: Cost) -> Admitted[F] | Refused:
        """The same for a request whose price is known: it is not looked into."""
        after = self.spent.plus(cost)
        if self.fits(after):
            return Admitted(self._moved(after, self.admitted + 1), request, cost)
        return Refused(request, self._reason(request, cost, after), self.remaining())

    def fits(self, sums: Cost) -> bool:
        """Whether these sums are within the budget."""
        return any(self._within(way, sums) for way in self.ways)

    def remaining(self, like: Request | None = None) -> Remaining:
        """What is left; with `like`, also how many more such requests fit."""
        amounts = {name: (self._left(name), _known(self.caps, name)) for name in self.currencies()}
        if like is None:
            return Remaining(amounts, largest=self._largest())
        known = read_request(like)
        cost = self.price(known)  # type: ignore[arg-type]
        counts = [self._count(way, cost) for way in self.ways]
        return Remaining(amounts, known, None if None in counts else max(filter(None, counts), default=0))

    def document(self) -> dict[str, object]:
        """The filter as a JSON-ready document, exact; `restore` reads it."""
        amounts = {name: self.spent.get(name) for name in self.currencies()}
        return {
            "format": "optcomp-filter",
            "version": 1,
            "kind": self.kind,
            "parameters": self.parameters(),
            "spent": {name: None if amount is None else str(amount) for name, amount in amounts.items()},
            "admitted": self.admitted,
        }

    def __str__(self) -> str:
        """What it promises, and what is left."""
        return f"{type(self).__name__}, {in_words(self.total)} in all: {self.remaining()}"

    def _open(self, nothing: Cost) -> None:
        """Start with nothing spent, in the currencies of the filter."""
        object.__setattr__(self, "spent", nothing)
        object.__setattr__(self, "admitted", 0)

    def _moved(self: F, spent: Cost, admitted: int) -> F:
        """The same filter with other sums."""
        other = copy.copy(self)
        object.__setattr__(other, "spent", spent)
        object.__setattr__(other, "admitted", admitted)
        return other

    def _within(self, way: tuple[str, ...], sums: Cost) -> bool:
        amounts = ((sums.get(name), _known(self.caps, name)) for name in way)
        return all(amount is not None and amount <= whole for amount, whole in amounts)

    def _left(self, name: str) -> Fraction:
        amount = self.spent.get(name)
        return Fraction(0) if amount is None else max(_known(self.caps, name) - amount, Fraction(0))

    def _count(self, way: tuple[str, ...], cost: Cost) -> int | None:
        """How many requests of this cost fit in one way; None if there is no limit."""
        if not self._within(way, self.spent.plus(cost)):
            return 0
        limits = [self._left(name) // _known(cost, name) for name in way if _known(cost, name)]
        return min(limits, default=None)

    @abstractmethod
    def _largest(self) -> Fraction | None:
        """At most the ε of the largest pure request that fits."""

    def _reason(self, request: object, cost: Cost, after: Cost) -> str:
        """One sentence with the numbers, for the way that comes nearest."""
        worst = [max((self._over(name, after), name) for name in way) for way in self.ways]
        over, name = min(worst)
        whole, wanted = _known(self.caps, name), _known(cost, name)
        text = (
            f"{SYMBOLS[name]}: this request of {in_words(request)} costs {short_up(wanted)} and "
            f"{short_down(self._left(name))} of {short_down(whole)} is left, which it exceeds by "
            f"{short_up(_known(after, name) - whole, 3)}"
        )
        if over < _SLIGHTLY and holds_float(request):
            text += "; a float is its exact binary value, so write such numbers as decimal strings"
        return text

    def _over(self, name: str, sums: Cost) -> Fraction:
        """By what part of its cap a sum exceeds it; beyond all measure if it is not counted."""
        amount, whole = sums.get(name), _known(self.caps, name)
        return _ENDLESS if amount is None else (amount - whole) / (whole or _TINY)


def _known(amounts: Cost, name: str) -> Fraction:
    return amounts.get(name) or Fraction(0)


def unaccountable(theorem: str, request: object, currency: str, advice: str) -> HypothesisNotMet:
    """The error for a request that a filter has no currency for."""
    return HypothesisNotMet(theorem, f"{in_words(request)} has no proved {currency}; {advice}")
