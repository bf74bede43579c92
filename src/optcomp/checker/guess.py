r"""Where to put a contour and how far apart its nodes: guesses in floats, on which no claim rests.

K(c) = log E e^{cL} = Σ m_i (log cosh(ε_i(c+½)) - log cosh(ε_i/2)) + v(c²+c)/2.  The integrand e^{-sy} M(s)/(s(s+1)),
M with the Gaussian noise, is smallest on the real axis where K'(c) = y + 1/c + 1/(c+1), once to the right of the pole
at 0 and once between the poles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from optcomp.checker.balls import GUESS_BITS, near, working
from optcomp.checker.effort import look
from optcomp.checker.instance import Instance

_MOST = 2000  # sizes that a sketch keeps apart; its cumulants are good to 1e-4 then
_SHORT = 1 << 24  # 24 bits: sums with 1/2 and 1 are then exact
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sketch:
    """Sizes and counts of the coins, similar sizes merged, and the variance of the Gaussian noise."""

    sizes: Floats
    counts: Floats
    variance: float = 0.0

    @classmethod
    def of(cls, instance: Instance) -> Sketch:
        """At most a few thousand sizes."""
        sizes = np.array([float(coin.size) for coin in instance.coins])
        counts = np.array([float(coin.copies) for coin in instance.coins])
        if sizes.size > _MOST:
            cuts = np.linspace(0, sizes.size, _MOST + 1).astype(int)[:-1]
            weights = np.add.reduceat(counts, cuts)
            sizes, counts = np.add.reduceat(sizes * counts, cuts) / weights, weights
        with working(GUESS_BITS):
            return cls(sizes, counts, near(instance.variance()))

    @cached_property
    def total(self) -> float:
        """Σε."""
        return float(self.sizes @ self.counts)

    def log_moment(self, c: float) -> float:
        """K(c)."""
        coins = self.counts @ (_log_cosh(self.sizes * (c + 0.5)) - _log_cosh(self.sizes / 2))
        return float(coins) + self.variance * c * (c + 1) / 2

    def slope(self, c: float) -> float:
        """K'(c)."""
        return float(self.counts @ (self.sizes * np.tanh(self.sizes * (c + 0.5)))) + self.variance * (c + 0.5)

    def curvature(self, c: float) -> float:
        """K''(c): the variance of the tilted loss."""
        coins = self.counts @ (self.sizes / np.cosh(np.minimum(self.sizes * abs(c + 0.5), 300))) ** 2
        return float(coins) + self.variance

    def right_of_poles(self, y: float) -> float:
        """The best c > 0."""
        return math.exp(_root(lambda x: self.slope(math.exp(x)) - y - math.exp(-x) - 1 / (1 + math.exp(x)), -60, 200))

    def between_poles(self, y: float) -> float:
        """The best c in (-1, 0)."""
        return -_root(lambda x: y - self.slope(-x) - 1 / x + 1 / (1 - x), 1e-9, 1 - 1e-9)

    def tilt(self, level: float, least: float, most: float) -> float:
        """The c between two others where the tilted loss is about `level` on average."""
        return _root(lambda c: self.slope(c) - level, least, most)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing function changes its sign, or the end that is nearer to it."""
    for _ in range(60):
        look()
        middle = (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _log_cosh(x: Floats) -> Floats:
    size: Floats = np.abs(x)
    return size + np.log1p(np.exp(-2 * size)) - math.log(2)


def short(value: float) -> float:
    """The number with a few significant bits, so that what depends on it is cheap to write down exactly."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(mantissa * _SHORT), exponent) / _SHORT
