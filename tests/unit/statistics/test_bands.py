"""How far noisy running sums leave their bands: simulated where draws are few enough, else bounded in closed form."""

from __future__ import annotations

import pytest

from optcomp.statistics.bands import _MOST_NUMBERS, _at_worst, band_reach
from optcomp.statistics.noise import LAPLACE, AddedNoise

assert isinstance(LAPLACE, AddedNoise)
NOISE: AddedNoise = LAPLACE


def sides(bins: int) -> list[float]:
    """Shares of the whole, one for each bin but the last."""
    return [number / bins for number in range(1, bins)]


def worst(bins: int, confidence: float) -> float:
    """Return the bound in closed form."""
    shares = sides(bins)
    return _at_worst(shares, shares) * NOISE.reach(2.0, confidence, bins)


@pytest.mark.parametrize("bins", [2, 10, 100])
def test_few_bins_are_simulated(bins: int) -> None:
    found = band_reach(NOISE, 2.0, sides(bins), sides(bins), 0.95)
    assert 0 < found < worst(bins, 0.95)


def test_many_draws_of_many_bins_are_bounded() -> None:
    bins, confidence = 1000, 0.995  # 8 / (1 - confidence) draws show the confidence
    assert 1600 * bins > _MOST_NUMBERS
    assert band_reach(NOISE, 2.0, sides(bins), sides(bins), confidence) == worst(bins, confidence)


def test_one_bin_leaves_nothing() -> None:
    assert band_reach(NOISE, 2.0, [], [], 0.95) == 0
