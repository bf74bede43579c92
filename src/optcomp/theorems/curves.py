r"""What closed forms of single losses prove about a sum of them, where the contour integral leaves a wide bracket.

    one loss beside few atoms:   h(ε) = sum over atoms a of p_a h_1(ε - a), exactly
    some loss is large:          h(ε) >= P(E) - e^ε Q(E),  E the event that some L_i > y_i
    part by part:                h(ε) <= 1 - \prod(1 - h_i(ε_i)),  Σε_i = ε   (basic composition of leaky coins)

A loss left out only makes h smaller, so the second line holds for any part of the list, one mechanism alone included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import arb, fmpz

from optcomp.guarantees import PoissonSubsampled, WithoutReplacement
from optcomp.instances import Mixture, slack, with_leaks
from optcomp.numerics import DEEP_BITS, Exact, Side, ball, certified_root, precision, told_down, told_up
from optcomp.numerics.laws import AtomicLaw, Law
from optcomp.theorems.opt import goal_for

_MOST_ATOMS, _FEW_ATOMS = 160, 32
"""Atoms beside one loss: the most that are summed at all, and so few that they come before the integral."""
_MOST_KINDS, _MOST_COINS = 40, 1000
"""Longer lists are left to the integral, which is narrow there."""
_FITS, _LOOKS = 4, 20
"""Steps of two searches for guesses: any guess proves a bound."""
_LAST = 1e-13
"""Ends closer than this, relatively, are not moved."""
_NOTHING = 1e-14
"""Nor are ends closer than this: no reader can tell such an ε from 0."""
_CLEARLY = 1e3
"""Times the wanted width: closed forms that are so far apart are not looked at further."""

Atoms = list[tuple[arb, arb]]
Counted = list[tuple[Law, int]]


@dataclass(frozen=True, eq=False)
class Curves:
    """The losses of a mixture in one direction, coins apart."""

    coins: Sequence[tuple[Exact, int]]
    laws: Counted

    @classmethod
    def of(cls, mixture: Mixture, way: int) -> Curves | None:
        """None if there are too many kinds to look at each."""
        if mixture.pairs.kinds > _MOST_COINS or len(mixture.losses) > _MOST_KINDS:
            return None
        return cls(mixture.pairs.coins, [(law, count) for law, count in mixture.laws(way, +1) if isinstance(law, Law)])

    @cached_property
    def sure(self) -> arb:
        """The sum of all coins' ε."""
        return sum((count * ball(eps) for eps, count in self.coins), arb(0))

    @cached_property
    def atoms(self) -> Atoms | None:
        """All sums of what has few values; none if there are too many, or more than one loss has not."""
        smooth = sum(count for law, count in self.laws if not isinstance(law, AtomicLaw))
        finite = [(law, count) for law, count in self.laws if isinstance(law, AtomicLaw)]
        size = math.prod(count + 1.0 for _, count in self.coins)
        for law, count in finite:
            few = size <= _MOST_ATOMS and count <= _MOST_ATOMS
            size *= math.comb(count + law.places.size - 1, count) if few else math.inf
        if smooth > 1 or size > _MOST_ATOMS:
            return None
        sums: Atoms = [(arb(0), arb(1))]
        for parts in (*map(_flips, self.coins), *(_repeated(law.atoms(), count) for law, count in finite)):
            sums = [(a + b, p * r) for a, p in sums for b, r in parts]
        return sums

    def exact(self, y: arb) -> arb | None:
        """The excess of one loss beside few atoms."""
        if self.atoms is None:
            return None
        smooth = [law for law, _ in self.laws if not isinstance(law, AtomicLaw)]
        if not smooth:
            return sum((p * (-(y - a).expm1()).max(arb(0)) for a, p in self.atoms), arb(0))
        return sum((p * smooth[0].excess(y - a) for a, p in self.atoms), arb(0))

    def least(self, y: arb) -> arb:
        """At most the excess: the best of all kinds together and of each kind alone."""
        values = [_some_large(self.laws, y), *(_some_large([kind], y) for kind in self.laws if len(self.laws) > 1)]
        return _largest([*values, *(law.excess(y) for law, _ in self.laws)])

    def most(self, y: arb, weights: Sequence[float]) -> arb:
        """At least the excess: coins by their ε, and so perhaps all bounded losses; the others as the weights say."""
        bounded = [(law, count) for law, count in self.laws if math.isfinite(law.most)]
        top = self.sure + sum((count * arb(law.most) for law, count in bounded), arb(0))
        others = [math.inf if math.isfinite(law.most) else weight for (law, _), weight in self._weighed(weights)]
        return self._shared(y - self.sure, weights).min(self._shared(y - top, others))

    def _weighed(self, weights: Sequence[float]) -> Iterable[tuple[tuple[Law, int], float]]:
        return zip(self.laws, weights, strict=True)

    def _shared(self, rest: arb, weights: Sequence[float]) -> arb:
        r"""1 - \prod(1 - h_i(ε_i)) with ε_i as the weights say; those of infinite weight are covered already."""
        if not rest >= 0:
            return arb(1)
        known = [(law, count, weight) for (law, count), weight in self._weighed(weights) if math.isfinite(weight)]
        whole, kept = arb(math.fsum(count * weight for _, count, weight in known)) * (1 + arb(2) ** -50), arb(1)
        for law, count, weight in known:
            kept *= (1 - law.excess(rest * arb(weight) / whole).max(arb(0)).min(arb(1))) ** count
        return 1 - kept

    def weights(self, log_t: float) -> list[float]:
        """About the ε of each loss at an even share of t."""
        goal = arb(log_t).exp() / sum(count for _, count in self.laws)
        return [_about_root(law, goal) for law, _ in self.laws]


def _flips(coin: tuple[Exact, int]) -> Atoms:
    """The sums of so many coins ±ε."""
    eps, count = coin
    x = ball(eps)
    odds = x.exp() / (1 + x.exp())
    ways = (arb(fmpz(math.comb(count, j))) for j in range(count + 1))
    return [((2 * j - count) * x, way * odds**j * (1 - odds) ** (count - j)) for j, way in enumerate(ways)]


def _repeated(atoms: Sequence[tuple[arb, arb]], count: int) -> Atoms:
    """The sums of so many copies: how often each value comes up."""
    if len(atoms) == 1:
        return [(count * atoms[0][0], atoms[0][1] ** count)]
    (value, p), rest = atoms[0], atoms[1:]
    sums: Atoms = []
    for j in range(count + 1):
        way = arb(fmpz(math.comb(count, j))) * p**j
        sums += [(j * value + a, way * r) for a, r in _repeated(rest, count - j)]
    return sums


def _some_large(laws: Counted, y: arb) -> arb:
    """P(E) - e^y Q(E) for the event that some loss is above a place near y; the place is chosen by fixed point."""
    place, best = float(y.mid()), arb(0)
    for _ in range(_FITS):
        none = [arb(1), arb(1)]
        for law, count in laws:
            sides = law.sides(place)
            none = [kept * (1 - side) ** count for kept, side in zip(none, sides, strict=True)]
        value = (1 - none[0]) - y.exp() * (1 - none[1])
        best = _largest([best, value])
        if not (none[0] > 0 and none[1] > 0):
            break
        place = float(y.mid()) + float((none[1] / none[0]).log().mid())
    return best


def _largest(values: Sequence[arb]) -> arb:
    """A ball that is at most the largest of some."""
    return max((value.lower() for value in values if value.is_finite()), default=arb(0))


def _about_root(law: Law, goal: arb) -> float:
    """About where the excess is so large."""
    low, high = 0.0, 1.0
    while law.excess(high) > goal and high < 1e9:
        low, high = high, 4 * high
    for _ in range(_LOOKS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if law.excess(middle) > goal else (low, middle)
    return max(high, 1e-9)


class ClosedForms:
    """Both directions of a mixture."""

    def __init__(self, mixture: Mixture) -> None:
        self.mixture = mixture
        self.ways = [Curves.of(mixture, way) for way in mixture.directions]
        self.known = all(way is not None for way in self.ways)

    @property
    def promising(self) -> bool:
        """Whether closed forms may be enough: one loss beside few atoms, or rare large losses.

        Beside Gaussian noise the contour integral takes a few dozen nodes, and is quicker.
        """
        if not self.known or self.mixture.gaussian:
            return False
        atoms = [way.atoms for way in self._curves]
        if all(known is not None and len(known) <= _FEW_ATOMS for known in atoms):
            return True
        return any(isinstance(value, PoissonSubsampled | WithoutReplacement) for value, _ in self.mixture.losses)

    def delta(self, epsilon: Exact) -> tuple[float, float]:
        """δ between two numbers."""
        if not self.known:
            return 0.0, 1.0
        with precision(DEEP_BITS):
            y = ball(epsilon)
            lower, upper = self._least(y), self._most(y, self._weights(y))
            ends = (with_leaks(self.mixture.leaky, side) for side in (lower, upper))
            low, high = next(ends), next(ends)
            return max(told_down(low), 0.0), min(told_up(high), 1.0)

    def epsilon(self, delta: Exact, low: float, high: float, wanted: float = 0.0) -> tuple[float, float]:
        """ε between two numbers, within a bracket that is known to hold; as it was if it would not get so narrow."""
        if not self.known:
            return low, high
        with precision(DEEP_BITS):
            t = slack(self.mixture.leaky, delta, DEEP_BITS)
            if not t > 0:
                return low, high
            weights = [way.weights(goal_for(t).log_t[0]) if way.atoms is None else [] for way in self._curves]
            end = high if math.isfinite(high) else self._end(t, weights)

            def side(y: float) -> Side:
                if self._least(arb(y)) >= t:
                    return Side.RIGHT
                return Side.LEFT if self._most(arb(y), weights) <= t else Side.UNDECIDED

            if (end != high and side(end) is not Side.LEFT) or (wanted and _undecided(side, low, end, wanted)):
                return low, high
            return certified_root(side, low, end, (low,), _halfway, edges=True)

    @property
    def _curves(self) -> list[Curves]:
        return [way for way in self.ways if way is not None]

    def _end(self, t: arb, weights: Sequence[list[float]]) -> float:
        """Somewhere beyond the answer, if doubling finds such a place."""
        end = 1.0
        while not self._most(arb(end), weights) <= t and end < 1e12:
            end *= 2
        return end

    def _weights(self, y: arb) -> list[list[float]]:
        """For an ε: those of the δ that one loss alone has there."""
        log_t = max(float(max(self._least(y), arb(1e-300)).log().mid()), -600.0)
        return [way.weights(log_t) if way.atoms is None else [] for way in self._curves]

    def _least(self, y: arb) -> arb:
        exact = [way.exact(y) for way in self._curves]
        return _largest(
            [way.least(y) if value is None else value for way, value in zip(self._curves, exact, strict=True)]
        )

    def _most(self, y: arb, weights: Sequence[list[float]]) -> arb:
        exact = [way.exact(y) for way in self._curves]
        values = [
            way.most(y, share) if value is None else value
            for way, value, share in zip(self._curves, exact, weights, strict=True)
        ]
        return max((value.upper() if value.is_finite() else arb(1) for value in values), default=arb(1))


def _undecided(side: Callable[[float], Side], low: float, high: float, wanted: float) -> bool:
    """Whether nothing is decided at two places that are farther apart than a wanted relative width."""
    for _ in range(_LOOKS):
        middle = 0.5 * (low + high)
        match side(middle):
            case Side.UNDECIDED:
                return side(middle * (1 + _CLEARLY * wanted) + _CLEARLY * _NOTHING) is Side.UNDECIDED
            case Side.RIGHT:
                low = middle
            case _:
                high = middle
    return False


def _halfway(low: float, high: float) -> float | None:
    middle = 0.5 * (low + high)
    return middle if high - low > max(_LAST * high, _NOTHING) and low < middle < high else None
