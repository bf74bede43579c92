"""What a filter is: a budget as a value, that says yes or no to one request after another.

A filter never changes.  `admit` checks the request and, if it fits, returns the filter that comes next; a refusal
leaves everything as it was, and a smaller request may still fit.  Run a mechanism only after it was admitted, and go
on with the state of the answer: running two requests on the same state spends twice what the filter knows of.

Each request may depend on all answers before it, its parameters included; the mechanisms may be interactive and
interleaved (HSTVVXZ23).  Amounts are exact rationals: nothing is lost or gained by rounding, however many requests.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar

from optcomp.errors import BudgetExceeded, HypothesisNotMet, InvalidInput, Written
from optcomp.guarantees import ZCDP, ApproxDP, ApproxZCDP, RenyiDP
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

    takes: ClassVar[str] = "requests with a price in its currencies"
    """In words, what has a price here."""

    @classmethod
    def currencies(cls) -> tuple[str, ...]:
        """What the filter counts."""
        return tuple(dict.fromkeys(name for way in cls.ways for name in way))

    @property
    def measure(self) -> str:
        """What a price depends on besides the request: filters of the same measure ask the same price."""
        return self.kind

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
        return Refused(request, self.reason(in_words(request), cost, holds_float(request)), self.remaining())

    def fits(self, sums: Cost) -> bool:
        """Whether these sums are within the budget."""
        caps = self.caps
        return any(_within(way, sums, caps) for way in self.ways)

    @property
    def share(self) -> Fraction:
        """How much of the budget is used, from 0 to 1: the largest spent/cap, in the way where that is least."""
        return self.share_of(self.spent)

    def share_of(self, sums: Cost) -> Fraction:
        """The same for other sums: at most 1 exactly where they fit.

        Nothing of nothing is 0.  A way is out of reach where it has a sum with a cap of 0, or one that is counted no
        longer; if every way is, the share is 10^600.
        """
        caps = self.caps
        return min(max(_ratio(sums.get(name), _known(caps, name)) for name in way) for way in self.ways)

    def remaining(self, like: Request | None = None) -> Remaining:
        """What is left; with `like`, also how many more such requests fit."""
        amounts = {name: (self._left(name), _known(self.caps, name)) for name in self.currencies()}
        if like is None:
            return Remaining(amounts, largest=self._largest())
        known = read_request(like)
        cost = self.price(known)  # type: ignore[arg-type]
        counts = [self._count(way, cost) for way in self.ways]
        return Remaining(amounts, known, None if None in counts else max(filter(None, counts), default=0))

    def lowered(self: F, to: F) -> F:
        """The budget `to`, which must be smaller, with what was spent here; a cap is never raised in this way.

        What was promised before still holds.  A limit that was chosen after answers were seen is no promise about
        these: see docs/filters.md.
        """
        if type(to) is not type(self) or to.measure != self.measure:
            raise InvalidInput("to", to, f"must be a {type(self).__name__} of the same kind ({self.measure})")
        if to.admitted:
            raise InvalidInput("to", to, "must be a filter with nothing spent")
        for name in self.currencies():
            before, after = _known(self.caps, name), _known(to.caps, name)
            if after > before:
                reason = f"must not raise the cap of {SYMBOLS[name]} from {short_down(before)} to {short_up(after)}"
                raise InvalidInput("to", to, reason)
        if _delta(to.total) > _delta(self.total):
            reason = f"must not raise δ from {short_down(_delta(self.total))} to {short_up(_delta(to.total))}"
            raise InvalidInput("to", to, reason)
        if not to.fits(self.spent):
            raise InvalidInput("to", to, f"must not be less than what is spent: {self.spent}")
        return to._moved(self.spent, self.admitted)

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

    def document_text(self) -> str:
        """The document as one JSON text: the same filter always has the same text, in ASCII without spaces."""
        return json.dumps(self.document(), sort_keys=True, separators=(",", ":"))

    def __str__(self) -> str:
        """What it promises, and what is left."""
        return f"{type(self).__name__}, {in_words(self.total)} in all: {self.remaining()}"

    def _open(self, nothing: Cost) -> None:
        """Start with nothing spent, in the currencies of the filter."""
        object.__setattr__(self, "spent", nothing)
        object.__setattr__(self, "admitted", 0)

    def _moved(self: F, spent: Cost, admitted: int) -> F:
        """The same filter with other sums."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, spent=spent, admitted=admitted)
        return other

    def _left(self, name: str) -> Fraction:
        amount = self.spent.get(name)
        return Fraction(0) if amount is None else max(_known(self.caps, name) - amount, Fraction(0))

    def _count(self, way: tuple[str, ...], cost: Cost) -> int | None:
        """How many requests of this cost fit in one way; None if there is no limit."""
        if not _within(way, self.spent.plus(cost), self.caps):
            return 0
        limits = [self._left(name) // _known(cost, name) for name in way if _known(cost, name)]
        return min(limits, default=None)

    @abstractmethod
    def _largest(self) -> Fraction | None:
        """At most the ε of the largest pure request that fits."""

    def reason(self, words: str, cost: Cost, from_float: bool = False) -> str:
        """Why a request of this cost does not fit: one sentence with the numbers, for the way that comes nearest."""
        after = self.spent.plus(cost)
        worst = [max((self._over(name, after), name) for name in way) for way in self.ways]
        over, name = min(worst)
        whole, wanted = _known(self.caps, name), _known(cost, name)
        text = (
            f"{SYMBOLS[name]}: this request of {words} costs {short_up(wanted)} and "
            f"{short_down(self._left(name))} of {short_down(whole)} is left, which it exceeds by "
            f"{short_up(_known(after, name) - whole, 3)}"
        )
        if over < _SLIGHTLY and from_float:
            text += "; a float is its exact binary value, so write such numbers as decimal strings"
        return text

    def _over(self, name: str, sums: Cost) -> Fraction:
        """By what part of its cap a sum exceeds it; beyond all measure if it is not counted."""
        amount, whole = sums.get(name), _known(self.caps, name)
        return _ENDLESS if amount is None else (amount - whole) / (whole or _TINY)


def _within(way: tuple[str, ...], sums: Cost, caps: Cost) -> bool:
    amounts = ((sums.get(name), _known(caps, name)) for name in way)
    return all(amount is not None and amount <= whole for amount, whole in amounts)


def _ratio(amount: Fraction | None, whole: Fraction) -> Fraction:
    """Spent of a cap; beyond all measure if it is not counted, or if there is no cap at all."""
    if not amount:
        return _ENDLESS if amount is None else amount
    return amount / whole if whole else _ENDLESS


def _known(amounts: Cost, name: str) -> Fraction:
    return amounts.get(name) or Fraction(0)


def _delta(total: Total) -> Fraction:
    return Fraction(getattr(total, "delta", 0))


def unaccountable(theorem: str, request: object, currency: str, advice: str) -> HypothesisNotMet:
    """The error for a request that a filter has no currency for."""
    return HypothesisNotMet(theorem, f"{in_words(request)} has no proved {currency}; {advice}")
