"""Skipped nodes: what is claimed about their sum holds for every one of them that is looked at."""

from __future__ import annotations

import math

import numpy as np
import pytest

from optcomp.numerics.blocked import Floats, Ints
from optcomp.numerics.contour import sieve as module
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.sieve import Skipped, sieve
from tests.oracles.contour import phi

RNG = np.random.default_rng(21)
FAMILIES: dict[str, Coins] = {
    "spread": Coins(np.sort(RNG.uniform(0.01, 0.3, 300)), np.ones(300)),
    "copies": Coins(np.array([0.05, 0.06, 0.31]), np.array([400.0, 90.0, 800.0])),
    "nearly equal": Coins(np.unique(0.2 * (1 + 1e-7 * RNG.uniform(-1, 1, 200))), np.ones(200)),
    "large": Coins(np.sort(RNG.uniform(0.5, 3, 120)), RNG.integers(5, 40, 120).astype(np.float64)),
    # every 63rd node with a step of 1/4 is at a peak of the many; the single coin pulls the middle of the cluster away
    "lopsided": Coins(math.pi / 15.75 * np.array([1, 1 + 5e-5]), np.array([1000.0, 1.0])),
    "lopsided and tilted": Coins(np.array([0.03, 0.0307]), np.array([1.0, 1e9])),
    "strong tilt": Coins(np.sort(RNG.uniform(0.001, 0.03, 900)), RNG.integers(1, 90, 900).astype(np.float64)),
}


def sizes(coins: Coins, c: float, theta: Floats) -> Floats:
    """|φ|, from its product of 1 - sech²(a) sin²(θx), good to many digits where it is not zero."""
    sech2 = 1 / np.cosh(coins.x * (c + 0.5)) ** 2
    logs = 0.5 * np.log1p(-sech2 * np.sin(theta[:, np.newaxis] * coins.x) ** 2)
    return np.asarray(np.exp((logs * coins.m).sum(axis=1)))


def left_of(found: Skipped, first: int, last: int) -> Ints:
    """Which nodes were skipped."""
    kept = np.zeros(last + 1, dtype=bool)
    for start, stop in zip(found.starts.tolist(), found.stops.tolist(), strict=True):
        assert first <= start < stop <= last + 1
        assert not kept[start:stop].any()
        kept[start:stop] = True
    return np.asarray(np.flatnonzero(~kept[first:]) + first, dtype=np.int64)


@pytest.mark.parametrize("name", list(FAMILIES)[:5])
@pytest.mark.parametrize("c", [0.25, 3.0])
@pytest.mark.parametrize(("fill", "most", "smoothing"), [(1, 1e9, 1e-9), (16, 1e9, 1e-7), (4, 1e5, 1e-6)])
def test_sums_over_skipped_nodes(name: str, c: float, fill: int, most: float, smoothing: float) -> None:
    coins = FAMILIES[name]
    step, first, last, share = 0.25, 30, 40_000, 1e-5
    found = sieve(coins, c, step, first, last, share, smoothing, fill, most)
    skipped = left_of(found, first, last)
    assert skipped.size > 20
    theta = step * skipped.astype(np.float64)
    size = sizes(coins, c, theta) * np.exp(-0.5 * smoothing * theta * theta)
    assert float(size.sum()) <= found.far
    assert float((size / theta**2).sum()) <= found.near
    assert found.near * step / math.pi <= 1.01 * share


@pytest.mark.parametrize(
    ("name", "c"),
    [*((name, 0.5) for name in list(FAMILIES)[:5]), ("strong tilt", 300.0), ("lopsided and tilted", 300.0)],
)
def test_the_bound_of_every_range(name: str, c: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each range's own bound against every node of it, and some of them in ball arithmetic."""
    coins, step = FAMILIES[name], 0.25
    plain = module._bounds
    seen: list[tuple[int, int, float]] = []

    def watched(clusters, row, starts, stops, step, needed):  # type: ignore[no-untyped-def]
        reached, cost = plain(clusters, row, starts, stops, step, needed)
        seen.extend(zip(starts.tolist(), stops.tolist(), reached.tolist(), strict=True))
        return reached, cost

    monkeypatch.setattr(module, "_bounds", watched)
    sieve(coins, c, step, 25, 20_000, 1e-6, 1e-9, 1, 1e9)
    pairs = list(zip(coins.x.tolist(), coins.m.tolist(), strict=True))
    told = [entry for entry in seen if entry[2] > 0]
    assert len(told) > 10
    for start, stop, reached in told:
        size = sizes(coins, c, step * np.arange(start, stop, dtype=np.float64))
        assert float(size.max()) <= math.exp(-reached) * (1 + 1e-9), (start, stop)
    for start, stop, reached in told[:: max(len(told) // 12, 1)]:
        assert abs(phi(pairs, c, step * ((start + stop) // 2), 2000)).log() <= -reached


def test_nothing_is_skipped_where_nothing_may_be() -> None:
    coins = Coins(np.array([1.0]), np.array([1.0]))
    found = sieve(coins, 5.0, 0.1, 10, 1000, 1e-12, 1e-9, 8, 1e9)
    assert found.nodes == 991
    assert (found.near, found.far) == (0.0, 0.0)


def test_the_gaussian_is_taken_where_it_is_largest() -> None:
    """With |φ| all but 1 and everything skipped, what is left is the sum of e^{-w²θ²/2} itself."""
    coins = Coins(np.array([1e-9]), np.array([1.0]))
    first, last, step, smoothing = 10, 5000, 0.25, 1e-5
    found = sieve(coins, 0.5, step, first, last, 1e9, smoothing, 8, 1e9)
    assert found.nodes == 0
    theta = step * np.arange(first, last + 1, dtype=np.float64)
    weight = np.exp(-0.5 * smoothing * theta * theta) * (1 - 1e-9)
    assert float(weight.sum()) <= found.far <= 2 * float(weight.sum())
    assert float((weight / theta**2).sum()) <= found.near
