"""How probable an error of a released answer is, from the laws of the discrete noise and the released formula.

Nothing is bounded here: for given data the probability is a sum over the noise of the first parts, of exact tails of
the last one, in whose noise the answer is monotone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import arb

from tests.oracles.truth import real

Floats = npt.NDArray[np.float64]
_CUT = 1e-14
"""What lies beyond the noise that is looked at counts as missed."""
_TIE = 1e-10


@dataclass(frozen=True)
class Law:
    """Discrete noise: P(x) proportional to e^{-|x|/s}, or to e^{-x²/2s²}."""

    gaussian: bool
    scale: float

    @cached_property
    def most(self) -> int:
        """Beyond this there is next to nothing."""
        return math.ceil((8.5 if self.gaussian else 34) * self.scale) + 3

    @cached_property
    def places(self) -> Floats:
        """All values up to there."""
        return np.arange(-self.most, self.most + 1, dtype=np.float64)

    @cached_property
    def chances(self) -> Floats:
        """Their probabilities."""
        size = np.abs(self.places) / self.scale
        weights = np.exp(-(size**2) / 2 if self.gaussian else -size)
        found: Floats = weights / math.fsum(weights)
        return found

    @cached_property
    def _from(self) -> Floats:
        """P(X >= x) for x = 0, 1, ..., and the cut at the end."""
        return np.append(np.cumsum(self.chances[self.most :][::-1])[::-1], 0.0) + _CUT

    def at_least(self, x: Floats) -> Floats:
        """P(X >= x) for whole x."""
        upper = self._from[np.clip(x, 0, self.most + 1).astype(np.int64)]
        lower = 1 - self._from[np.clip(1 - x, 0, self.most + 1).astype(np.int64)]
        return np.where(x > 0, upper, lower + 2 * _CUT)

    def within(self, t: int) -> arb:
        """P(|X| <= t) as a ball, term by term at the precision already set."""
        s = real(self.scale)
        ends = [t, t + 40 + math.ceil((14 if self.gaussian else 90) * self.scale)]
        terms = [arb(1)]
        for x in range(1, ends[1] + 1):
            size = x / s
            terms.append(2 * (-(size**2) / 2 if self.gaussian else -size).exp())
        inside, rest = sum(terms[: t + 1], arb(0)), sum(terms[t + 1 :], arb(0))
        return inside / (inside + rest)


@dataclass(frozen=True)
class Rows:
    """Values of a column as steps from a middle, and the bounds of its answers."""

    steps: tuple[int, ...]
    unit: Fraction
    middle: Fraction
    low: Fraction
    high: Fraction

    @property
    def mean(self) -> float:
        """Clamped like every answer."""
        found = self.middle + Fraction(sum(self.steps), len(self.steps)) * self.unit
        return float(min(max(found, self.low), self.high))

    @property
    def most(self) -> float:
        """The largest variance that is told."""
        return float((self.high - self.low) ** 2 / 4)

    @property
    def variance(self) -> float:
        """Clamped like every answer."""
        n, square = len(self.steps), sum(step * step for step in self.steps)
        found = (Fraction(square, n) - Fraction(sum(self.steps), n) ** 2) * self.unit**2
        return min(float(found), self.most)


def mean_off(rows: Rows, laws: Sequence[Law], error: float) -> float:
    """The probability that the released mean is off by more than an error."""
    count = np.maximum(len(rows.steps) + laws[0].places, 1.0)
    total, unit, middle = sum(rows.steps), float(rows.unit), float(rows.middle)
    off = np.full_like(count, _CUT)
    if rows.mean + error < rows.high:
        off += laws[1].at_least(_above((rows.mean + error - middle) * count / unit - total))
    if rows.mean - error > rows.low:
        off += laws[1].at_least(_above(total - (rows.mean - error - middle) * count / unit))
    return float(np.dot(off, laws[0].chances))


def variance_off(rows: Rows, laws: Sequence[Law], error: float) -> float:
    """The same for the variance."""
    count = np.maximum(len(rows.steps) + laws[0].places, 1.0)[:, None]
    square, unit = sum(step * step for step in rows.steps), float(rows.unit)
    mean_squared = ((sum(rows.steps) + laws[1].places)[None, :] / count) ** 2
    off = np.full(mean_squared.shape, _CUT)
    if rows.variance + error < rows.most:
        off += laws[2].at_least(_above(((rows.variance + error) / unit**2 + mean_squared) * count - square))
    if rows.variance - error > 0:
        off += laws[2].at_least(_above(square - ((rows.variance - error) / unit**2 + mean_squared) * count))
    return float(laws[0].chances @ off @ laws[1].chances)


def _above(x: Floats) -> Floats:
    """The least whole number above x; what only round-off sets apart from x is not above it."""
    found: Floats = np.floor(x + _TIE * (1 + np.abs(x))) + 1
    return found


def least_error(off: Callable[[float], float], missed: float, most: float) -> float:
    """The least error that is exceeded with this probability at most."""
    low, high = 0.0, most
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (low, middle) if off(middle) <= missed else (middle, high)
    return high


def binomial_tail(most: int, trials: int, p: float) -> float:
    """P(N <= most) for a binomial N."""
    logs = (
        math.lgamma(trials + 1) - math.lgamma(i + 1) - math.lgamma(trials - i + 1) for i in range(min(most, trials) + 1)
    )
    return math.fsum(math.exp(log + i * math.log(p) + (trials - i) * math.log1p(-p)) for i, log in enumerate(logs))
