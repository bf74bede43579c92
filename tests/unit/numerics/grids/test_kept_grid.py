"""A grid that is kept tells every shorter sum as it is: beside the truth for two rounds, and beside other engines."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from flint import arb

import optcomp as oc
from optcomp.numerics.grids import KeptGrid, way_for
from optcomp.numerics.grids.grid_sum import GridSum, Kept, log_masses
from optcomp.numerics.grids.kept_grid import Rounds
from optcomp.numerics.grids.sides import Above, Below
from optcomp.numerics.laws import MixedNormalLaw
from optcomp.theorems.opt import goal_for

RTOL = 1e-5


def rounds_of(sigma: float, rate: float, count: int) -> Rounds:
    law = oc.PoissonSubsampled(oc.Gaussian(sigma), rate).laws[0]
    assert isinstance(law, MixedNormalLaw)
    return [(law, count)]


def kept(rounds: Rounds, delta: float = 1e-6) -> KeptGrid:
    with np.errstate(all="ignore"):
        made = KeptGrid.of(rounds, goal_for(arb(delta)).log_t, RTOL)
    assert made is not None
    return made


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (0.8, 0.001), (3.0, 0.2), (0.4, 0.02)])
def test_shorter_sums(sigma: float, rate: float) -> None:
    """The bracket holds that of `compose`, which is ten thousand times as narrow, and is no wider than asked for."""
    made = kept(rounds_of(sigma, rate, 60))
    for count in (2, 19, 60):
        found = made.root([count], made.y)
        bound = oc.compose({oc.PoissonSubsampled(oc.Gaussian(sigma), rate): count}, delta=1e-6)
        assert found.lower <= bound.upper
        assert bound.lower <= found.upper
        if count > 60 / 3:  # what the grid was made for
            assert found.upper - found.lower <= RTOL * found.upper
        assert found.capped == (found.upper - found.lower > RTOL * found.upper)


def test_two_kinds_of_rounds() -> None:
    """Any part of them; none of a kind is no power at all."""
    first, second = rounds_of(1.0, 0.01, 20)[0], rounds_of(2.0, 0.05, 9)[0]
    made = kept([first, second])
    for counts in ((20, 9), (12, 9), (20, 0), (0, 9)):
        found = made.root(counts, made.y)
        there = [(law, count) for (law, _), count in zip((first, second), counts, strict=True) if count]
        way = way_for(there)
        assert way is not None
        with np.errstate(all="ignore"):
            other = way.root(goal_for(arb(1e-6)).log_t, 1e-8, 1e9)
        assert other is not None
        assert found.lower <= other.upper
        assert other.lower <= found.upper


def test_what_a_grid_was_made_for() -> None:
    made = kept(rounds_of(1.0, 0.01, 60))
    assert made.covers(rounds_of(1.0, 0.01, 60))
    assert not made.covers(rounds_of(1.0, 0.01, 61))
    assert not made.covers(rounds_of(1.1, 0.01, 6))


@pytest.mark.parametrize(
    ("sigma", "rate", "count", "rtol"), [(1.0, 0.5, 3000, 1e-7), (0.8, 0.001, 100_000, 1e-6)], ids=["wide", "long"]
)
def test_no_grid_is_kept_that_is_too_coarse(sigma: float, rate: float, count: int, rtol: float) -> None:
    with np.errstate(all="ignore"):
        assert KeptGrid.of(rounds_of(sigma, rate, count), goal_for(arb(1e-6)).log_t, rtol) is None


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (0.8, 0.001)])
def test_a_search_begins_where_the_root_is(sigma: float, rate: float) -> None:
    """From about the answer for one round less; from too far away it begins there."""
    made = kept(rounds_of(sigma, rate, 60))
    before, found = made.root([39], made.y), made.root([40], made.y)
    grid = made.made
    for side, laws, log_t in ((Above, grid.ups, made.log_t[0]), (Below, grid.downs, made.log_t[1])):
        sums = side([(laws[0], 40)], grid.h, grid.setting, long=False, kernel=grid.kernel)
        place = sums.near(before.upper, log_t)
        assert abs(sums.log(place) - log_t) < 1e-2
        assert abs(place - found.upper) < 1e-3 * found.upper
        assert sums.near(40 * before.upper, log_t) > 0


def test_what_is_kept_is_what_would_be_computed() -> None:
    """Both sides of sums with transforms that are kept are those of sums without, to the last bit."""
    rng, made = Random("kept"), kept(rounds_of(0.7, 0.02, 40))
    grid, h, setting = made.made, made.made.h, made.made.setting
    for count in (2, 17, 40):
        for side, laws in ((Above, grid.ups), (Below, grid.downs)):
            plain, again = (
                side([(laws[0], count)], h, setting, long=False, kernel=grid.kernel, kept=store)
                for store in (None, made.kept)
            )
            for _ in range(5):
                y = made.y * rng.uniform(0.2, 1.5)
                assert plain.log(y) == again.log(y)


def test_transforms_are_not_mixed_up() -> None:
    """One store for two laws, two tilts and two periods."""
    store = Kept()
    one, two = (kept(rounds_of(sigma, 0.02, 10)).made.ups[0] for sigma in (0.7, 1.5))
    for law in (one, two):
        for tilt in (1.0, 3.0):
            for size in (4096, 8192):
                others = [log_masses([(law, 3)], 1e-3, tilt * 1.5, store), log_masses([(law, 3)], 1e-3, 0.0, store)]
                plain = GridSum([(law, 3)], 1e-3, tilt, size, others, long=False)
                again = GridSum([(law, 3)], 1e-3, tilt, size, others, long=False, kept=store)
                assert plain.sides(0.01) == again.sides(0.01)
                assert log_masses([(law, 3)], 1e-3, tilt * 1.5) == others[0]
                assert math.isfinite(plain.sides(0.01)[1])
