r"""Discrete Laplace noise: P(noise = x) proportional to e^{-|x|/s}, paid in ε.

P(|X| > t) = 2 e^{-(t+1)/s}/(1 + e^{-1/s})
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import arb

from optcomp.numerics.balls import ball
from optcomp.numerics.blocked import Floats
from optcomp.statistics.noise.currency import Allowance
from optcomp.statistics.noise.kind import AddedNoise, PaidInEpsilon, missed_each
from optcomp.statistics.noise.scales import laplace_scale
from optcomp.statistics.part import Part

DMNS06 = "Dwork, McSherry, Nissim, Smith, Calibrating noise to sensitivity in private data analysis, 2006"
GRS09 = "Ghosh, Roughgarden, Sundararajan, Universally utility-maximizing privacy mechanisms, 2009"
"""Where it comes from, and its form on whole numbers."""
_APART, _TINY = 1.003, 1e-9
"""Scales in a sum are drawn apart by so much, and none is smaller than this beside the largest: weights stay small."""
_PARTS = 16
"""Chernoff bounds are tried at so many parts of the largest exponent."""


class DiscreteLaplaceNoise(PaidInEpsilon, AddedNoise):
    """Discrete Laplace noise."""

    __slots__ = ()
    name, title, theorem = "laplace", "laplace noise", "DKMMN06"
    source = f"{DMNS06}; {GRS09}"
    step = 0.5

    def scale(self, part: Part, allowance: Allowance) -> float:
        """The least float at or above Δ/ε."""
        return laplace_scale(part.l1, allowance.whole_epsilon * part.share)

    def unit_scale(self, part: Part) -> float:
        """Δ over the share."""
        return float(part.l1 / part.share)

    def tail(self, scale: float, t: int) -> arb:
        """P(|noise| > t), exactly."""
        s = ball(scale)
        return 2 * (-(t + 1) / s).exp() / (1 + (-1 / s).exp())

    def smooth_reach(self, scale: float, confidence: float, values: int = 1) -> float:
        """Where the tail would be small enough, if t were any number."""
        missed = missed_each(confidence, values)
        return max(scale * math.log(2 / ((1 + math.exp(-1 / scale)) * missed)) - 1, 0.0)

    def widened(self, scale: float) -> float:
        """1/(2 tanh(1/2s))."""
        return 0.5 / math.tanh(0.5 / scale)

    def continuous_reach(self, scales: Sequence[float], missed: float) -> float:
        """The quantile of a sum of Laplace variables."""
        return laplace_sum_reach(scales, missed)

    def unit_draws(self, rng: np.random.Generator, draws: int, bins: int) -> Floats:
        """The two exponentials whose difference is Laplace noise."""
        return rng.standard_exponential((2, draws, bins))

    def simulated(self, scale: float, unit: Floats) -> Floats:
        """The difference of two geometric variables."""
        found: Floats = np.floor(scale * unit[0]) - np.floor(scale * unit[1])
        return found

    def none_left(self, scale: float, cells: int, rows: float) -> float:
        """By Chernoff's bound."""
        if rows <= 0:
            return 1.0
        return min(_chernoff(scale, cells, rows, part / _PARTS) for part in range(1, _PARTS))

    def below_one(self, scale: float, rows: int) -> float:
        """P(noise <= -rows) is at most e^{-rows/s}."""
        return math.exp(-rows / scale)

    def measurement(self, dp: Any, integers: Any, scale: float) -> Callable[[list[int]], Any]:
        """OpenDP's discrete Laplace sampler."""
        made: Callable[[list[int]], Any] = dp.m.make_laplace(integers, dp.l1_distance(T="i64"), scale=scale)
        return made


def _chernoff(scale: float, cells: int, rows: float, part: float) -> float:
    """E e^{tX} for discrete Laplace noise is (cosh(1/s) - 1)/(cosh(1/s) - cosh t), with t this part of 1/s."""
    half = 0.5 / scale
    ratio = math.exp((part - 1) * half) * math.expm1(-2 * part * half) / math.expm1(-2 * half)
    return math.exp(min(-cells * math.log1p(-(ratio**2)) - part * rows / scale, 0.0))


def laplace_sum_reach(scales: Sequence[float], missed: float) -> float:
    r"""The c with P(|ΣY_i| > c) = missed for Laplace Y_i: Σ w_i e^{-c/b_i}, w_i = \prod_{j≠i} b_i²/(b_i² - b_j²).

    Scales that nearly coincide are drawn apart, upwards; so are those that are next to nothing.
    """
    top, b = max(scales), list[float]()
    for scale in sorted(scales):
        b.append(max(scale / top, _APART * b[-1] if b else _TINY))
    weights = [math.prod(x * x / (x * x - y * y) for y in b if y is not x) for x in b]
    low, high = 0.0, sum(b) * math.log(len(b) / missed)
    c = min(b[-1] * math.log(weights[-1] / missed), high)
    for _ in range(100):
        terms = [w * math.exp(-c / x) for w, x in zip(weights, b, strict=True)]
        tail, slope = sum(terms), sum(term / x for term, x in zip(terms, b, strict=True))
        low, high = (c, high) if tail > missed else (low, c)
        moved = c + math.log(tail / missed) * tail / slope if tail > 0 and slope > 0 else math.nan
        moved = moved if low <= moved <= high else 0.5 * (low + high)
        if abs(moved - c) <= 1e-13 * c:
            break
        c = moved
    return top * (c + 1e-10 * (c + b[-1]))


LAPLACE = DiscreteLaplaceNoise()
"""Once is enough: it holds nothing."""
