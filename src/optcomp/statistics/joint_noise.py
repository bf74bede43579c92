r"""How far the noises of several parts reach together: the quantile of Σ factor·noise, from above.

Plans and released intervals ask the same `Noises`.  The quantile is that of continuous noise and a few steps: noise X
on whole numbers is within a step of a symmetric unimodal variable that is more peaked than Y, continuous noise, and
sums keep that order (Birnbaum 1948).

    Laplace     X + U, U uniform on [-1/2, 1/2], for Y of scale 1/(2 tanh(1/2b)): half a step
    Gaussian    X + U drawn half a step towards 0, for Y of the same σ: one step

Noise that is hardly ever more than a few steps has a smaller bound: each part as far off as it may be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from optcomp.statistics.accuracy import Noise, noise_reach, smooth_reach
from optcomp.statistics.bands import band_reach

_APART, _TINY = 1.003, 1e-9
_UP = 1 + 1e-12


@dataclass(frozen=True)
class Noises:
    """The noise of all parts of one statistic, in steps, and with which probability it stays within its reach."""

    kind: Noise
    scales: tuple[float, ...]
    confidence: float

    def cells(self, cells: int) -> int:
        """How far off so many numbers with the noise of the first part are, all of them together."""
        return noise_reach(self.kind, self.scales[0], self.confidence, cells)

    def together(self, factors: Sequence[float], share: float = 1.0) -> float:
        """How far Σ factor·noise reaches, with one number in each part, if this share of misses is its own."""
        return together(self.kind, self.scales[: len(factors)], factors, share * (1 - self.confidence))

    def band(self, lows: Sequence[float], highs: Sequence[float]) -> float:
        """How far (noise up to an edge) - f·(all noise) reaches, for all inner edges and f from low to high."""
        return band_reach(self.kind, self.scales[0], lows, highs, self.confidence)


def together(kind: Noise, scales: Sequence[float], factors: Sequence[float], missed: float) -> float:
    """What Σ factor·noise, on whole numbers, exceeds in size with at most this probability."""
    if kind == "gaussian":
        step, wide = 1.0, list(scales)
    else:
        step, wide = 0.5, [0.5 / math.tanh(0.5 / scale) for scale in scales]
    found = continuous_together(kind, wide, factors, missed) + step * math.fsum(factors)
    sure, count = 1 - missed, len(scales)
    pairs = list(zip(factors, scales, strict=True))
    if math.fsum(factor * (smooth_reach(kind, scale, sure, count) - 2) for factor, scale in pairs) < found:
        found = min(found, math.fsum(factor * noise_reach(kind, scale, sure, count) for factor, scale in pairs))
    return _UP * found


def continuous_together(kind: Noise, scales: Sequence[float], factors: Sequence[float], missed: float) -> float:
    """The same for continuous noise."""
    sizes = [factor * scale for factor, scale in zip(factors, scales, strict=True)]
    if kind == "gaussian":
        return -NormalDist().inv_cdf(missed / 2) * math.hypot(*sizes)
    return laplace_sum_reach(sizes, missed)


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
