r"""The normal law N(v/2, v): E e^{sL} = e^{vs(s+1)/2}."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from optcomp.numerics.balls import FLOAT_BITS, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.laws.law import Law, Waves


class NormalLaw(Law):
    """N(v/2, v), with v a ball that a function gives at the working precision."""

    def __init__(self, variance: Callable[[], arb]) -> None:
        self._variance = variance
        with precision(FLOAT_BITS):
            self._v = float(variance().mid())  # within 2u

    def log_mean(self, c: float) -> arb:
        return self.variance() * arb(c) * (arb(c) + 1) / 2

    def log_mean_guess(self, c: Floats) -> Floats:
        return np.asarray(0.5 * self._v * c * (c + 1))

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        return self.log_mean_guess(c), self._v * (c + 0.5), np.full_like(c, self._v)

    def waves(self, c: float, theta: Floats) -> Waves:
        log_size = -0.5 * self._v * theta * theta
        error = 8 * U * (np.abs(log_size) + self._v * abs(c + 0.5) * theta)
        return Waves(self._v * (c + 0.5), log_size, np.zeros_like(theta), error, log_size * (1 - 16 * U))

    def fade(self, c: float, theta: float) -> float:
        return math.exp(-0.5 * self._v * theta * theta * (1 - 16 * U)) * (1 + 1e-12)

    def slope(self, c: float) -> float:
        return 1.0001 * math.sqrt(self._v)

    def log_most_near(self, c: float, theta: float, radius: float) -> float:
        return -0.5 * self._v * max(theta - radius, 0.0) ** 2 * (1 - 16 * U)

    def log_most_ranges(self, c: float, theta: Floats, radius: float) -> Floats:
        return np.array([self.log_most_near(c, place, radius) for place in theta.tolist()])

    def cost(self, c: float, theta: float, count: int) -> float:
        return 20.0

    def variance(self) -> arb:
        return self._variance()

    def mean(self) -> arb:
        return self.variance() / 2

    def tail(self, y: float | arb) -> arb:
        mu = self.variance().sqrt()
        return normal_tail(arb(y) / mu - mu / 2)

    def excess(self, y: float | arb) -> arb:
        return normal_excess(self.variance().sqrt(), arb(y))


def normal_tail(x: arb) -> arb:
    """P(N(0,1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def normal_excess(mu: arb, y: arb) -> arb:
    """E (1 - e^{y-L})_+ for L ~ N(μ²/2, μ²): Φ(-y/μ + μ/2) - e^y Φ(-y/μ - μ/2)."""
    return normal_tail(y / mu - mu / 2) - y.exp() * normal_tail(y / mu + mu / 2)
