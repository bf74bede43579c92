"""Discrete Gaussian noise on a Poisson sample: persons added or removed, a part up to an end, and records replaced."""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from optcomp.numerics.balls import QUICK_BITS, ball, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.laws.cloud import LOG_CUT, Cloud
from optcomp.numerics.laws.cut_normal import CutNormalLaw
from optcomp.numerics.laws.law import Law
from optcomp.numerics.laws.mixed_log import left_of, odds_at
from optcomp.numerics.laws.mixed_normal import Direction, MixedNormalLaw
from optcomp.numerics.laws.replaced import ReplacedNormalLaw
from optcomp.numerics.laws.whole_law import WholeLaw, above, at_or_above

_MANY = 160
"""So many whole numbers are listed without asking whether fewer points serve."""
_FINER = 1 + 1e-6
"""Steps of a rule must exceed the step of whole numbers by that much: both are floats."""


class MixedWholeLaw(WholeLaw):
    """The loss between discrete Gaussian noise and its mixture with noise that is shifted."""

    def __init__(self, sigma: Exact, shift: int, q: Exact, direction: Direction) -> None:
        super().__init__(sigma, shift, q)
        self.direction = direction
        self._sign = 1.0 if direction == "towards" else -1.0
        self._normal = MixedNormalLaw(self.mu, q, direction)
        self.most_tilt = self._normal.most_tilt
        if direction == "away":
            with precision(QUICK_BITS):
                self.most = self._normal.most

    @property
    def smooth(self) -> Law:
        return self._normal

    def powers(self, c: float) -> tuple[float, float]:
        return (c + 1 if self.direction == "towards" else -c), 0.0

    def places(self, x: Floats) -> tuple[Floats, Floats]:
        log_a, error = self.log_a(x)
        return self._sign * log_a, error

    def signed(self, log_a: arb, other: arb) -> arb:
        return int(self._sign) * log_a

    def _coarse(self, c: float, theta: float, log_cut: float = LOG_CUT) -> bool:
        """Whether a rule for Gaussian noise has fewer points, farther apart than whole numbers.

        Whole numbers are a trapezoid rule too, and what the bound says of a rule it says of every finer one.
        """
        if WholeLaw.points(self, c, theta) <= _MANY:
            return False
        rule = self._normal.rule(c, theta, log_cut)
        return rule.step * self._sigma > _FINER and rule.size < WholeLaw.points(self, c, theta)

    def cloud(self, c: float, theta: float) -> Cloud:
        if not self._coarse(c, theta):
            return super().cloud(c, theta)
        cloud, missed = self._normal.cloud(c, theta), self._normal.rule(c, theta).missed
        return Cloud(cloud.place, cloud.weight, cloud.rough, cloud.blur, lambda at: 0 * at + 2.02 * missed)

    def points(self, c: float, theta: float) -> float:
        return self._normal.points(c, theta) if self._coarse(c, theta) else super().points(c, theta)

    def _log_mean(self, c: float) -> arb:
        """For much noise by the integral: the sum over whole numbers is within `missed` of it, too."""
        if not self._coarse(c, 0.0, LOG_CUT + 20):
            return super()._log_mean(c)
        missed = self._normal.rule(c, 0.0, LOG_CUT + 20).missed
        return self._normal.log_mean(c) + (1 + arb(0, missed)).log() - self.noise.ring(0.0).log()

    def _crossing(self, y: arb) -> arb | None:
        """The real x with A(x) = e^y; none if A is larger everywhere."""
        square = ball(self.sigma) ** 2
        ratio = odds_at(self.q, y)
        return None if ratio <= 0 else square / self.shift * ratio.log() + arb(self.shift) / 2

    def from_on(self, k: int) -> tuple[arb, arb]:
        """P(x >= k) under the mixture and under the plain noise."""
        q, plain = ball(self.q), self.at_least(k)
        return left_of(self.q) * plain + q * self.at_least(k - self.shift), plain

    def events(self, y: arb) -> list[tuple[arb, arb]]:
        """Towards the mixture x >= k, away from it x < k."""
        q, towards = ball(self.q), self.direction == "towards"
        place = self._crossing(y if towards else -y)
        if place is None:
            return [(arb(1), arb(1))] if towards else [(arb(0), arb(0))]
        found = []
        for k in above(place) if towards else at_or_above(place):
            if towards:
                found.append(self.from_on(k))
                continue
            plain, shifted = self.noise.up_to(k - 1), self.noise.up_to(k - 1 - self.shift)
            found.append((plain, left_of(self.q) * plain + q * shifted))
        return found or [(arb(0).union(arb(1)), arb(0).union(arb(1)))]

    def excess_over(self, y: float | arb, t: arb) -> arb:
        """Towards the mixture the excess is q less two tails: no cancellation where t is q itself."""
        place = self._crossing(arb(y))
        if self.direction == "away" or place is None:
            return self.excess(y) - t
        q, values = ball(self.q), []
        for k in above(place):
            missed, plain = self.noise.up_to(k - self.shift - 1), self.at_least(k)
            values.append((q - t) - q * missed - (arb(y).expm1() + q) * plain)
        if not values:
            return self.excess(y) - t
        return values[0] if len(values) == 1 else values[0].union(values[1])


class CutWholeLaw(MixedWholeLaw):
    """The part of a loss towards the mixture with x <= end: its probabilities add up to less than 1."""

    whole = False

    def __init__(self, law: MixedWholeLaw, end: int) -> None:
        super().__init__(law.sigma, law.shift, law.q, "towards")
        self.end: int = end
        self.most_tilt = math.inf
        self._normal = CutNormalLaw(MixedNormalLaw(law.mu, law.q, "towards"), (end + 0.5) / self._sigma)

    def ends(self, c: float) -> tuple[int, int]:
        first, last = super().ends(c)
        return first, min(last, self.end)

    def _right(self, c: float, listed: float) -> float:
        """Nothing, if the list goes up to the end."""
        return 0.0 if self.ends(c)[1] == self.end else super()._right(c, listed)

    def _coarse(self, c: float, theta: float, log_cut: float = LOG_CUT) -> bool:
        return False  # the sum ends at a whole number, an integral would not

    def beyond(self) -> tuple[arb, arb]:
        """P(x > end) under the mixture and under the plain noise."""
        return self.from_on(self.end + 1)

    def loss_of_cut(self, c: float) -> float:
        """What the end costs at a tilt, in terms of what φ misses: nothing, since the sum ends there exactly."""
        return 0.0

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        raise ArithmeticError("a part of a law has no tail of its own")

    def _moment(self, order: int) -> arb:
        raise ArithmeticError("a part of a law has no moments of its own")


class ReplacedWholeLaw(WholeLaw):
    """Two samples of discrete Gaussian noise that pull to opposite sides."""

    mirrored = True

    def __init__(self, sigma: Exact, shift: int, q: Exact) -> None:
        super().__init__(sigma, shift, q)
        self._normal = ReplacedNormalLaw(self.mu, q)
        self.most_tilt = self._normal.most_tilt

    @property
    def smooth(self) -> Law:
        return self._normal

    def powers(self, c: float) -> tuple[float, float]:
        return c + 1, -c

    def places(self, x: Floats) -> tuple[Floats, Floats]:
        (one, own), (two, other) = self.log_a(x), self.log_a(-x)
        return one - two, own + other + 2 * U * (np.abs(one) + np.abs(two))

    def signed(self, log_a: arb, other: arb) -> arb:
        return log_a - other

    def events(self, y: arb) -> list[tuple[arb, arb]]:
        q, found = ball(self.q), []
        for k in above(self._normal.crossing(y) * ball(self.sigma)):
            plain = left_of(self.q) * self.at_least(k)
            found.append((plain + q * self.at_least(k - self.shift), plain + q * self.at_least(k + self.shift)))
        return found or [(arb(0).union(arb(1)), arb(0).union(arb(1)))]
