"""Pairs of coins: |φ| is below the bound of its range, wherever it is looked at, and the bounds are worth having."""

from __future__ import annotations

import math

import numpy as np
import pytest

from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.pairs import pair_bounds, pairs_promise
from tests.unit.numerics.contour.test_sieve import sizes

RNG = np.random.default_rng(4)
FAMILIES: dict[str, Coins] = {
    "even": Coins(0.001 * np.arange(1.0, 601), np.ones(600)),
    "spread": Coins(np.sort(RNG.uniform(0.001, 0.1, 1000)), np.ones(1000)),
    "odd number": Coins(np.sort(RNG.uniform(0.001, 0.1, 777)), RNG.integers(1, 5, 777).astype(np.float64)),
    "logarithmic": Coins(np.sort(np.exp(RNG.uniform(-9, 0.7, 900))), np.ones(900)),
    "clusters": Coins(np.sort(np.concatenate((RNG.uniform(0.5, 0.5001, 300), RNG.uniform(2, 3, 301)))), np.ones(601)),
    "few": Coins(np.array([0.1, 0.25, 0.3, 0.9]), np.array([1.0, 7.0, 2.0, 5.0])),
    "two": Coins(np.array([0.1, 0.25]), np.ones(2)),
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("c", [-0.25, 0.25, 9.0])
def test_bounds_hold_in_their_ranges(name: str, c: float) -> None:
    coins = FAMILIES[name]
    edges = np.exp2(np.arange(1.0, 16.0))
    cuts, octave, bounds = pair_bounds(coins, c, edges)
    assert cuts[0] == edges[0]
    assert cuts[-1] == edges[-1]
    assert (np.diff(cuts) > 0).all()
    assert ((edges[octave] <= cuts[:-1]) & (cuts[1:] <= edges[octave + 1] * (1 + 1e-12))).all()
    rng = np.random.default_rng(5)
    for number in rng.integers(0, bounds.size, 60).tolist():
        theta = np.append(rng.uniform(cuts[number], cuts[number + 1], 200), cuts[number : number + 2])
        assert float(sizes(coins, c, theta).max()) <= bounds[number] * (1 + 1e-9)


def test_bound_is_attained_where_both_coins_are_equally_far_from_a_half_turn() -> None:
    """Two coins with θ(x+x')/2 a multiple of π: the inequality for their pair is an equality."""
    coins = Coins(math.pi * np.array([0.9, 1.1]), np.ones(2))
    cuts, _, bounds = pair_bounds(coins, 1.0, np.array([1.0 - 1e-9, 1.0 + 1e-9]))
    assert bounds.size == 1
    s = 1 / np.cosh(coins.x[1] * 1.5) ** 2
    assert (
        0.9 <= (1 - float(bounds[0])) / (s * math.sin(0.1 * math.pi) ** 2) <= 1
    )  # the polynomial for sin costs a little
    assert float(sizes(coins, 1.0, cuts).max()) <= float(bounds[0])


def test_an_octave_needs_few_ranges() -> None:
    coins = FAMILIES["spread"]
    assert pairs_promise(coins, 3.0, 20.0)
    assert not pairs_promise(coins, 3.0, 200.0)
    assert not pairs_promise(FAMILIES["few"], 3.0, 0.01)
    _, _, bounds = pair_bounds(coins, 3.0, np.exp2(np.arange(5.0, 13.0)))
    assert bounds.size < 40
    assert float(bounds.max()) < math.exp(-20)
