"""When are two distributions hard to tell apart?  (ε, δ)-indistinguishability of finite distributions, decided exactly.

X and Y are (ε, δ)-indistinguishable if P(X ∈ S) ≤ e^ε P(Y ∈ S) + δ for every event S, and the same with X and Y
exchanged.  ε is always given by its odds λ = e^ε ≥ 1, a rational number, so that nothing has to be rounded.  The best
event against X is S = {x > λy}; so the least δ is Σ(x − λy)₊, convex in λ, with straight pieces between the ratios x/y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Generic

from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.numerics import ball, exact, fraction, precision
from optcomp.proofs.distributions import A, Finite, Real, positive_part, real, slack, total

DeltaCurve = tuple[tuple[Real, Real], ...]
"""Bends (e^ε, δ) of a curve with straight pieces between them, from e^ε = 1 on; after the last one δ stays the same."""


def odds_of(value: object) -> Real:
    """Check an e^ε: a number that is at least 1."""
    odds = real(value, "odds")
    if odds < 1:
        raise InvalidInput("odds", value, "e^ε must be at least 1")
    return odds


def delta_of(value: object) -> Real:
    """Check a δ: at least 0 and below 1."""
    delta = real(value, "delta")
    if not 0 <= delta < 1:
        raise InvalidInput("delta", value, "must be at least 0 and below 1")
    return delta


def odds_up(epsilon: object, bits: int = 64) -> Fraction:
    """A rational number just above e^ε: at most 2^(2−bits) too large, relatively."""
    with precision(bits):
        return fraction(ball(_epsilon_of(epsilon)).exp().upper())


def odds_down(epsilon: object, bits: int = 64) -> Fraction:
    """A rational number just below e^ε, but never below 1: at most 2^(2−bits) too small, relatively."""
    with precision(bits):
        return max(Fraction(1), fraction(ball(_epsilon_of(epsilon)).exp().lower()))


@dataclass(frozen=True)
class OneSided(Generic[A]):
    """How well P stands out against Q: P(S) ≤ e^ε Q(S) + δ, in this direction only."""

    p: Finite[A]
    q: Finite[A]

    def delta(self, odds: Real) -> Real:
        """The least δ at this e^ε: Σ (p − e^ε q)₊."""
        odds = odds_of(odds)
        return total(positive_part(p - odds * self.q[a]) for a, p in self.p.items())

    def worst_event(self, odds: Real) -> frozenset[A]:
        """The event that gives P away most: {p > e^ε q}, where P(S) − e^ε Q(S) is largest."""
        odds = odds_of(odds)
        return frozenset(a for a, p in self.p.items() if p > odds * self.q[a])

    @property
    def never(self) -> Real:
        """The mass of outcomes that only P can give; no ε, however large, allows a smaller δ."""
        return self.p.probability(lambda a: not self.q[a])

    @cached_property
    def curve(self) -> DeltaCurve:
        """The whole curve δ(e^ε): it bends where e^ε is one of the ratios p/q."""
        ratios = {p / self.q[a] for a, p in self.p.items() if p > self.q[a] > 0}
        return tuple((odds, self.delta(odds)) for odds in sorted(ratios | {Fraction(1)}))

    def least_odds(self, delta: Real) -> Real | None:
        """The least e^ε ≥ 1 that is enough at this δ, or None: max over S of (P(S) − δ)/Q(S), where P(S) > δ."""
        if delta_of(delta) < self.never:
            return None
        if self.curve[0][1] <= delta:
            return self.curve[0][0]
        for (odds, above), (next_odds, below) in pairwise(self.curve):
            if below <= delta:
                return odds + (next_odds - odds) * ((above - delta) / (above - below))
        return self.curve[-1][0]  # in floats the curve may miss its own end by a rounding


@dataclass(frozen=True)
class Event(Generic[A]):
    """A probabilistic event: when the outcome is a it happens with probability kept(a) / law(a).

    `kept` is the part of the law inside the event, 0 ≤ kept ≤ law, so its sum is the probability of the event.
    """

    law: Finite[A]
    kept: Mapping[A, Real]

    @property
    def probability(self) -> Real:
        """How probable the event is: Σ kept."""
        return total(self.kept.values())

    def __call__(self, outcome: A) -> Real:
        """How probable the event is once the outcome is known."""
        law = self.law[outcome]
        return self.kept.get(outcome, Fraction(0)) / law if law else Fraction(0)

    @property
    def inside(self) -> Finite[A]:
        """The law, given that the event happens: kept / Σ kept."""
        return Finite.proportional(self.kept)

    @property
    def outside(self) -> Finite[A] | None:
        """The law, given that the event does not happen; None if it always does."""
        rest = {a: positive_part(p - self.kept.get(a, Fraction(0))) for a, p in self.law.items()}
        return Finite.proportional(rest) if any(rest.values()) else None


@dataclass(frozen=True)
class Comparison(Generic[A]):
    """Everything about telling X and Y apart; `forward` is X against Y, `backward` is Y against X."""

    x: Finite[A]
    y: Finite[A]

    @cached_property
    def forward(self) -> OneSided[A]:
        """X against Y."""
        return OneSided(self.x, self.y)

    @cached_property
    def backward(self) -> OneSided[A]:
        """Y against X."""
        return OneSided(self.y, self.x)

    def delta(self, odds: Real) -> Real:
        """The least δ at this e^ε: δ*(ε) = max(Σ(x − e^ε y)₊, Σ(y − e^ε x)₊)."""
        return max(self.forward.delta(odds), self.backward.delta(odds))

    def holds(self, odds: Real, delta: Real) -> bool:
        """Whether X and Y are (ε, δ)-indistinguishable; with floats, up to `TOLERANCE`."""
        least = self.delta(odds)
        return least <= delta + slack(least, delta)

    @property
    def total_variation(self) -> Real:
        """The best advantage in guessing which one it was: δ* at ε = 0."""
        return self.delta(Fraction(1))

    def least_odds(self, delta: Real) -> Real | None:
        """The approximate max-divergence as odds: the least e^ε at this δ, None if no ε is enough."""
        sides = [self.forward.least_odds(delta), self.backward.least_odds(delta)]
        finite = [side for side in sides if side is not None]
        return max(finite) if len(finite) == 2 else None

    @cached_property
    def curve(self) -> DeltaCurve:
        """The whole curve δ*(e^ε), by its bends."""
        places = sorted({odds for odds, _ in self.forward.curve + self.backward.curve})
        crossings = [place for pair in pairwise(places) for place in self._crossing(*pair)]
        return _bends([(odds, self.delta(odds)) for odds in sorted([*places, *crossings])])

    def _crossing(self, left: Real, right: Real) -> list[Real]:
        """Where the two sides, straight between neighbouring places, change roles."""
        before, after = (self.forward.delta(odds) - self.backward.delta(odds) for odds in (left, right))
        return [left + (right - left) * (before / (before - after))] if before * after < 0 else []

    def events(self, odds: Real, delta: Real) -> tuple[Event[A], Event[A]]:
        """Events E of X and F of Y, of probability 1 − δ each, given which the two differ by at most e^±ε.

        The kept parts e ≤ x, f ≤ y satisfy e ≤ e^ε f, f ≤ e^ε e and Σe = Σf = 1 − δ  (MV18-3.3).
        """
        odds, delta = odds_of(odds), delta_of(delta)
        if not self.holds(odds, delta):
            raise HypothesisNotMet("MV18-3.3", f"with e^ε = {odds} δ must be at least {self.delta(odds)}, not {delta}")
        e, f = self._levelled(odds)
        return Event(self.x, _scaled(e, 1 - delta)), Event(self.y, _scaled(f, 1 - delta))

    def _levelled(self, odds: Real) -> tuple[dict[A, Real], dict[A, Real]]:
        """The largest parts within e^±ε of each other, the heavier one lowered until both weigh the same."""
        outcomes = dict.fromkeys(self.x.support + self.y.support)
        e = {a: min(self.x[a], odds * self.y[a]) for a in outcomes}
        f = {a: min(self.y[a], odds * self.x[a]) for a in outcomes}
        lighter, heavier = (e, f) if total(e.values()) <= total(f.values()) else (f, e)
        lowered = _lowered(heavier, lighter, odds)
        return (e, lowered) if lighter is e else (lowered, f)


def indistinguishable(x: Finite[A], y: Finite[A]) -> Comparison[A]:
    """Compare two distributions: how well can anybody tell which of them an outcome came from?

    >>> pair = indistinguishable(Finite({"yes": "3/4", "no": "1/4"}), Finite({"yes": "1/2", "no": "1/2"}))
    >>> pair.delta(Fraction(3, 2)), pair.least_odds(Fraction(0))
    (Fraction(1, 8), Fraction(2, 1))
    """
    return Comparison(x, y)


def _epsilon_of(value: object) -> Real:
    epsilon = exact(value, "epsilon")
    if epsilon < 0:
        raise InvalidInput("epsilon", value, "must not be negative")
    return epsilon


def _lowered(heavier: dict[A, Real], lighter: dict[A, Real], odds: Real) -> dict[A, Real]:
    """Take the excess weight off where `heavier` is the larger one, in proportion to the room above lighter/e^ε.

    There is room enough: where it is the larger one the parts differ by at least the excess, and lighter/e^ε is lower.
    """
    excess = total(heavier.values()) - total(lighter.values())
    room = {a: high - lighter[a] / odds if high > lighter[a] else Fraction(0) for a, high in heavier.items()}
    if excess <= 0:
        return heavier
    share = min(Fraction(1), excess / total(room.values()))
    return {a: high - share * room[a] for a, high in heavier.items()}


def _scaled(part: dict[A, Real], mass: Real) -> dict[A, Real]:
    """The same part with another mass."""
    weight = total(part.values())
    return {a: mass * (value / weight) for a, value in part.items()}


def _bends(points: list[tuple[Real, Real]]) -> DeltaCurve:
    """The points without those in the middle of a straight piece; after the last one the curve is level."""
    slopes = [(low - high) / (right - left) for (left, high), (right, low) in pairwise(points)] + [Fraction(0)]
    inner = [point for point, slope in zip(points[1:], pairwise(slopes), strict=True) if slope[0] != slope[1]]
    return (points[0], *inner)
