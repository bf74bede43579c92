r"""How far off a cumulative distribution is, at all of its edges together; by simulation, always with the same draws.

With noise x_i in k bins, B_j = x_1 + … + x_j, and the true share F_j of the rows up to edge j:

    (noisy count up to j) - F_j·(noisy count) = B_j - F_j·B_k

so the reach of the right side over all j < k bounds all deviations at once.  It is convex in F_j: where only bounds of
F_j are known, their ends are the worst.  The quantile is taken two standard errors up; rounded Gaussian noise is a
little wider than discrete Gaussian noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from optcomp.numerics.blocked import Floats
from optcomp.statistics.noise import AddedNoise

_DRAWS, _NUMBERS, _MOST_NUMBERS = 4000, 400_000, 1_200_000
"""Draws at most, and random numbers: some milliseconds, and for confidences near 1 three times that."""
_SEED = 7
"""Any; always the same, so that a plan is too."""


def band_reach(
    noise: AddedNoise, scale: float, lows: Sequence[float], highs: Sequence[float], confidence: float
) -> float:
    """What |B_j - f·B_k| exceeds with at most the rest of the confidence, for all j < k and f from low to high."""
    if not lows:
        return 0.0
    bins = len(lows) + 1
    draws = max(min(_NUMBERS // bins, _DRAWS), math.ceil(8 / (1 - confidence)))
    if draws * bins > _MOST_NUMBERS:
        return _at_worst(lows, highs) * noise.reach(scale, confidence, bins)
    walks = _walks(noise, scale, bins, draws)
    inner, whole = walks[:, :-1], walks[:, -1:]
    ends = (np.abs(inner - np.asarray(side) * whole).max(axis=1) for side in (lows, highs))
    sure = min(confidence + 2 * math.sqrt(confidence * (1 - confidence) / draws), 1.0)
    return float(np.quantile(np.maximum(*ends), sure, method="higher"))


def _at_worst(lows: Sequence[float], highs: Sequence[float]) -> float:
    """The same for noise of one step in each bin, with the worst signs: where too few draws would lie beyond."""
    bins = len(lows) + 1
    places = [(j, f) for j, pair in enumerate(zip(lows, highs, strict=True), 1) for f in pair]
    return max((1 - f) * j + f * (bins - j) for j, f in places)


@lru_cache(maxsize=4)
def _walks(noise: AddedNoise, scale: float, bins: int, draws: int) -> Floats:
    """Running sums of noise, a row for each draw."""
    found: Floats = np.cumsum(noise.simulated(scale, _draws(noise, bins, draws)), axis=1)
    return found


@lru_cache(maxsize=4)
def _draws(noise: AddedNoise, bins: int, draws: int) -> Floats:
    """Noise of scale 1, always the same."""
    return noise.unit_draws(np.random.default_rng(_SEED), draws, bins)
