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

from optcomp.statistics.bands import band_reach
from optcomp.statistics.noise import AddedNoise

UP = 1 + 1e-12
"""More than the rounding of a few floats."""


@dataclass(frozen=True)
class Noises:
    """The noise of all parts of one statistic, in steps, and with which probability it stays within its reach."""

    noise: AddedNoise
    scales: tuple[float, ...]
    confidence: float

    def cells(self, cells: int) -> int:
        """How far off so many numbers with the noise of the first part are, all of them together."""
        return self.noise.reach(self.scales[0], self.confidence, cells)

    def together(self, factors: Sequence[float], share: float = 1.0) -> float:
        """How far Σ factor·noise reaches, with one number in each part, if this share of misses is its own."""
        return together(self.noise, self.scales[: len(factors)], factors, share * (1 - self.confidence))

    def band(self, lows: Sequence[float], highs: Sequence[float]) -> float:
        """How far (noise up to an edge) - f·(all noise) reaches, for all inner edges and f from low to high."""
        return band_reach(self.noise, self.scales[0], lows, highs, self.confidence)


def together(noise: AddedNoise, scales: Sequence[float], factors: Sequence[float], missed: float) -> float:
    """What Σ factor·noise, on whole numbers, exceeds in size with at most this probability."""
    wide = [noise.widened(scale) for scale in scales]
    found = continuous_together(noise, wide, factors, missed) + noise.step * math.fsum(factors)
    sure, count = 1 - missed, len(scales)
    pairs = list(zip(factors, scales, strict=True))
    if math.fsum(factor * (noise.smooth_reach(scale, sure, count) - 2) for factor, scale in pairs) < found:
        found = min(found, math.fsum(factor * noise.reach(scale, sure, count) for factor, scale in pairs))
    return UP * found


def continuous_together(noise: AddedNoise, scales: Sequence[float], factors: Sequence[float], missed: float) -> float:
    """The same for continuous noise."""
    return noise.continuous_reach([factor * scale for factor, scale in zip(factors, scales, strict=True)], missed)
