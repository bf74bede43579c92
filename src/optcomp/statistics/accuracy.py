r"""How far off is the noise?  Exact quantiles of the discrete noise that is really used.

For one value, P(|noise| > t); for d values together, 1 - (1 - P(|noise| > t))^d.  Everything in balls, rounded to the
side that makes the error larger.

    discrete Laplace    P(|X| > t) = 2 e^{-(t+1)/s}/(1 + e^{-1/s})
    discrete Gaussian   P(|X| > t) = 2 Σ_{x>t} e^{-x²/2σ²} / Σ_x e^{-x²/2σ²}
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

from flint import arb

from optcomp.errors import InvalidInput
from optcomp.numerics.balls import ball, precision
from optcomp.numerics.exact import Number, exact

Noise = Literal["laplace", "gaussian"]
_BITS = 96
_SUMMED = 50.0


def checked_confidence(confidence: Number) -> float:
    """A probability strictly between 0 and 1."""
    value = float(exact(confidence, "confidence"))
    if not 0 < value < 1:
        raise InvalidInput("confidence", confidence, "must lie strictly between 0 and 1")
    return value


@lru_cache(maxsize=4096)
def noise_reach(kind: Noise, scale: float, confidence: float, values: int = 1) -> int:
    """The least t such that all of so many values stay within ±t with this confidence."""
    with precision(_BITS):
        missed = -((ball(confidence).log() / values).expm1())  # for each value by itself
        guess = max(round(smooth_reach(kind, scale, confidence, values)), 0)
        return _least(lambda t: bool(tail(kind, scale, t) <= missed), guess)


def smooth_reach(kind: Noise, scale: float, confidence: float, values: int = 1) -> float:
    """About the same without rounding to whole steps: for optimisation, never for claims."""
    missed = -math.expm1(math.log(confidence) / values)
    if kind == "laplace":
        return max(scale * math.log(2 / ((1 + math.exp(-1 / scale)) * missed)) - 1, 0.0)
    return max(-scale * NormalDist().inv_cdf(missed / 2) - 0.5, 0.0)


def tail(kind: Noise, scale: float, t: int) -> arb:
    """P(|noise| > t) for a whole t >= 0, from above."""
    s = ball(scale)
    if kind == "laplace":
        return 2 * (-(t + 1) / s).exp() / (1 + (-1 / s).exp())
    return _gaussian_tail(scale, t)


def _gaussian_tail(sigma: float, t: int) -> arb:
    """Term by term for small σ; for large σ by an integral, from t + 1/2 on where the density is convex."""
    s = ball(sigma)
    whole = (2 * arb.pi()).sqrt() * s * (1 + 2 * (-2 * (arb.pi() * s) ** 2).exp())  # Poisson: all terms positive
    if sigma > _SUMMED:
        start = ball(t) + (0.5 if t >= sigma else 0)
        return 2 * s * (arb.pi() / 2).sqrt() * (start / (s * arb(2).sqrt())).erfc() / whole
    half = 1 / (2 * s * s)
    term, ratio, falls = (-((t + 1) ** 2) * half).exp(), (-(2 * t + 3) * half).exp(), (-2 * half).exp()
    summed = term
    for _ in range(math.ceil(8 * sigma) + 8):
        term *= ratio
        ratio *= falls
        summed += term
    return 2 * (summed + term * ratio / (1 - ratio)) / whole


def _least(enough: Callable[[int], bool], guess: int) -> int:
    """The least t >= 0 for which a monotone condition holds, from a guess."""
    low, high, step = guess - 1, guess, 1
    while not enough(high):
        low, high, step = high, high + step, 2 * step
    while low >= 0 and enough(low):
        low, high, step = max(low - step, -1), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
