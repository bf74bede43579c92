r"""Odometers: how much privacy has been lost so far, for whoever sets no budget in advance.

After every request an odometer names an ε that holds at all moments at once: with probability at least 1 - δ' the
privacy loss is never above the ε reported at that moment, whatever was asked, with whatever parameters, and whenever
one stops.  In the words of RRUV16 and WRRW23 the reports ε_1, ε_2, ... satisfy P(L_n > ε_n for some n) <= δ', for
every pair of neighbouring data sets and in both directions.  Whoever stops only while ε_n <= ε has (ε, δ)-DP.

A request with a δ_i is ε_i-DP but for an event of probability δ_i.  As these events are no part of the loss, a share
of δ is set aside for them at first (`delta_parts`); the odometer cannot go on beyond it.  The price of holding at all
moments is some 5 % more ε than a filter needs, where the odometer is tightest; `tight_at` says where that is.

Like filters, odometers never change: `record` returns the next one.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import BudgetExceeded, HypothesisNotMet, InvalidInput, Written
from optcomp.guarantees import checked_delta, mechanism_epsilon
from optcomp.interactive.filters.admission import Remaining
from optcomp.interactive.filters.cost import Cost, kept, short_down, short_up
from optcomp.interactive.filters.documents import count, header, loaded, mapping, rational
from optcomp.interactive.filters.requests import Request, concentrated, in_words, pair, read_request
from optcomp.numerics import FLOAT_BITS, Number, ball, float_up, precision
from optcomp.theorems import wrrw23

_FORMAT = "optcomp-odometer"
"""What a stored odometer says that it is."""
_PARAMETERS = ("delta", "delta_parts", "gamma")
"""Its parameters, in the order of its document."""
_COUNTED = ("epsilon", "rho", "delta")
"""The amounts that it adds up."""


@dataclass(frozen=True, init=False, repr=False)
class Odometer(Written):
    """What has been lost so far: an ε valid at every moment at once, except with probability δ (WRRW23).

    With R = Σρ_i (ε²/2 for a pure ε) and V = 2R the loss is at most R + s·√(V+γ), s about √(2 ln(√(1 + V/γ)/2δ')); and
    never more than Σε_i.  The bound is tightest about where it comes to ε = `tight_at`.
    """

    delta: Fraction
    """The probability with which the reports may fail: δ' + δ''."""
    delta_parts: Fraction
    """δ'', set aside for the δ_i of requests."""
    gamma: Fraction
    """How the bound is spread over time; small if it is to be tight early."""
    spent: Cost
    """Σε_i (None once a request had no ε), Σρ_i and Σδ_i."""
    recorded: int
    """How many requests were recorded."""

    theorem = wrrw23.ID

    def __init__(self, delta: Number, tight_at: Number = 1, delta_parts: Number = 0) -> None:
        whole = kept(checked_delta(delta), "delta")
        parts = kept(checked_delta(delta_parts, "delta_parts"), "delta_parts")
        _require_rest(whole, parts, delta_parts)
        place = mechanism_epsilon(tight_at, "tight_at")
        gamma = wrrw23.mixing(wrrw23.square_cap(place, whole - parts), whole - parts) if place else Fraction(0)
        if not gamma:
            raise InvalidInput("tight_at", tight_at, "must be positive, and not that small")
        self._set(whole, parts, gamma, Cost(epsilon=Fraction(0), rho=Fraction(0)), 0)

    def _set(self, delta: Fraction, delta_parts: Fraction, gamma: Fraction, spent: Cost, recorded: int) -> None:
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "delta_parts", delta_parts)
        object.__setattr__(self, "gamma", gamma)
        object.__setattr__(self, "spent", spent)
        object.__setattr__(self, "recorded", recorded)

    def record(self, request: Request) -> Odometer:
        """The odometer after one more request."""
        known = read_request(request)
        spent = self.spent.plus(_price(known))
        if spent.delta > self.delta_parts:
            left = self.delta_parts - self.spent.delta
            raise BudgetExceeded(
                known,
                Remaining({"delta": (left, self.delta_parts)}),
                f"δ: this request of {in_words(known)} has a δ, and {short_down(left)} of the "
                f"{short_down(self.delta_parts)} set aside for requests is left (delta_parts)",
            )
        other = copy.copy(self)
        other._set(self.delta, self.delta_parts, self.gamma, spent, self.recorded + 1)
        return other

    def having(self, spent: Cost, recorded: int) -> Odometer:
        """The same odometer with sums that were kept elsewhere, which need a ρ and no more δ than was set aside."""
        if spent.rho is None or spent.delta > self.delta_parts:
            raise InvalidInput("spent", spent, "must have a ρ, and no more δ than was set aside (delta_parts)")
        other = copy.copy(self)
        other._set(self.delta, self.delta_parts, self.gamma, spent, recorded)
        return other

    @property
    def epsilon(self) -> float:
        """What the loss does not exceed now, nor exceeded its report at any moment before; rounded up."""
        tail = wrrw23.odometer_epsilon(self.spent.rho or Fraction(0), self.gamma, self.delta - self.delta_parts)
        if self.spent.epsilon is None:
            return tail
        with precision(FLOAT_BITS):
            return min(tail, float_up(ball(self.spent.epsilon)))

    def document(self) -> dict[str, object]:
        """The odometer as a JSON-ready document, exact; `Odometer.restore` reads it."""
        amounts = {name: self.spent.get(name) for name in _COUNTED}
        return {
            "format": _FORMAT,
            "version": 1,
            "parameters": {name: str(getattr(self, name)) for name in _PARAMETERS},
            "spent": {name: None if amount is None else str(amount) for name, amount in amounts.items()},
            "recorded": self.recorded,
        }

    @classmethod
    def restore(cls, document: object) -> Odometer:
        """The odometer that wrote this document, or its JSON text."""
        entries = mapping(loaded(document), "document", ("format", "version", "parameters", "spent", "recorded"))
        header(entries, _FORMAT)
        written = mapping(entries["parameters"], "parameters", _PARAMETERS)
        delta, parts, gamma = (rational(written[name], name) for name in _PARAMETERS)
        _require_rest(Fraction(checked_delta(delta)), parts, written["delta_parts"])
        if not gamma:
            raise InvalidInput("gamma", written["gamma"], "must be positive")
        spent = _spent(mapping(entries["spent"], "spent", _COUNTED))
        if spent.delta > parts:
            raise InvalidInput("spent", entries["spent"], "has more δ than was set aside")
        odometer = cls.__new__(cls)
        odometer._set(delta, parts, gamma, spent, count(entries["recorded"], "recorded"))
        return odometer

    def __str__(self) -> str:
        requests = "request" if self.recorded == 1 else "requests"
        return f"ε <= {short_up(Fraction(self.epsilon))} after {self.recorded} {requests}, except with probability " + (
            short_up(self.delta)
        )


def _price(request: object) -> Cost:
    about, known = concentrated(request), pair(request)
    if about is None:
        raise HypothesisNotMet(wrrw23.ID, f"{in_words(request)} has no proved ρ of zero-concentrated privacy")
    return Cost(epsilon=None if known is None else known[0], rho=about[0], delta=about[1])


def _require_rest(delta: Fraction, parts: Fraction, given: object) -> None:
    if not delta:
        raise InvalidInput("delta", delta, "must be positive")
    if not parts < delta:
        raise InvalidInput("delta_parts", given, "must be less than delta")


def _spent(entries: Mapping[str, object]) -> Cost:
    endless = entries["epsilon"] is None
    return Cost(
        epsilon=None if endless else rational(entries["epsilon"], "epsilon"),
        rho=rational(entries["rho"], "rho"),
        delta=rational(entries["delta"], "delta"),
    )


__all__ = ["Odometer"]
