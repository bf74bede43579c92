"""Losses with a largest value: roots next to the largest sum, and what is said of a root that is not wanted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from optcomp.numerics.contour import Independent, excess_root
from optcomp.numerics.grids.few_rounds import Grid, _Fineness
from optcomp.numerics.laws import MixedNormalLaw
from optcomp.theorems.opt import goal_for
from tests.oracles.truth import working


def away(sigma: float, q: float) -> MixedNormalLaw:
    return MixedNormalLaw(1 / sigma, q, "away")


@pytest.mark.parametrize("rtol", [0.5, 0.2, 0.05])
@pytest.mark.parametrize(("sigma", "q"), [(0.5, 0.3), (0.3, 0.1), (1.0, 0.6), (0.15, 0.02)])
@pytest.mark.parametrize("log_t", [-1.5, -4.0, -30.0])
def test_a_root_near_the_largest_loss_of_one_round(sigma: float, q: float, log_t: float, rtol: float) -> None:
    """The curve of one round is closed form: it is above t at the lower end, and 0 at the upper one."""
    law = away(sigma, q)
    found = Grid([(law, 1)])._at_end(log_t, rtol)
    if found is None:
        return
    assert found.upper - found.lower <= rtol * found.upper
    with working(200):
        assert found.lower == 0 or not law.excess(found.lower) < arb(log_t).exp()
        assert arb(found.upper) >= -(1 - arb(q)).log()


def test_some_roots_are_found_there() -> None:
    assert Grid([(away(0.15, 0.02), 1)])._at_end(-30.0, 0.05) is not None
    assert Grid([(away(1.0, 0.6), 1)])._at_end(-30.0, 1e-9) is None
    assert Grid([(MixedNormalLaw(1.0, 0.1, "towards"), 1)])._at_end(-30.0, 0.5) is None


@pytest.mark.parametrize(
    ("laws", "log_t"),
    [
        ([(0.11861881336718351, 6.216347413281991e-05, 6)], -53.88964772241461),
        ([(0.21367783161967202, 0.006946551564351224, 16)], -10.38692874252134),
        (
            [(0.10719330751639443, 0.21302654871609994, 31), (23.40158443422162, 0.0015663612412085573, 16)],
            -46.72362324007999,
        ),
    ],
)
def test_roots_next_to_the_largest_sum_are_narrow(laws: list[tuple[float, float, int]], log_t: float) -> None:
    """The contour, which shares nothing with a grid, contradicts neither side."""
    kinds = [(away(sigma, q), count) for sigma, q, count in laws]
    goal = goal_for(arb(log_t).exp())
    with np.errstate(all="ignore"):
        found = Grid(kinds).root(goal.log_t, 1e-9, 2.5e8)
        other = excess_root(Independent(kinds, sum(law.most * count for law, count in kinds)), goal, 1e-6, 1e8)[0]
    assert found is not None
    assert not found.capped
    assert found.upper - found.lower <= 1e-9 * found.upper
    assert found.lower <= other.upper
    assert other.lower <= found.upper


def test_nothing_is_above_the_largest_sum() -> None:
    """However small t is: round-off is counted, but not where F is known to be 0."""
    grid = Grid([(away(0.5, 0.2), 3)])
    end = -3 * math.log1p(-0.2)
    for log_t in (-20.0, -100.0, -500.0):
        with np.errstate(all="ignore"):
            found = grid.root((log_t, log_t), 1e-9, 1e8)
        assert found is not None
        assert found.upper <= end * (1 + 1e-9)


@pytest.mark.parametrize("way", ["towards", "away"])
def test_that_a_root_lies_before_a_place_is_proved_and_never_guessed(way: str) -> None:
    law = MixedNormalLaw(1.0, 0.1, "towards" if way == "towards" else "away")
    grid, log_t = Grid([(law, 5)]), -12.0
    with np.errstate(all="ignore"):
        found = grid.root((log_t, log_t), 1e-9, 1e8)
        assert found is not None
        assert not grid._ends_before(found.lower, log_t)
        assert not grid._ends_before(0.9 * found.lower, log_t)
        assert grid._ends_before(2 * found.upper, log_t)
        told = grid.root((log_t, log_t), 1e-9, 1e8, known=2 * found.upper)
        assert told is not None
        assert told.upper <= 2 * found.upper
        assert told.upper >= found.lower


def test_a_root_that_no_grid_reaches_is_told_as_wide() -> None:
    """The noise is so little that nearly everything lies at the largest sum, and t so small that the rest matters."""
    law = away(0.16155955190811194, 0.0005718708920337426)
    with np.errstate(all="ignore"):
        found = Grid([(law, 56)]).root((-62.2131330273, -62.2131330273), 1e-9, 2.5e8)
    assert found is not None
    assert found.capped or found.upper - found.lower <= 1e-9 * found.upper
    assert found.lower <= 0.03203393046335589
    assert found.upper >= 0.03203391645920042


def test_a_round_off_that_is_not_known_ends_the_search() -> None:
    for unknown in ((math.inf, 1.0), (1.0, math.inf), (math.nan, 1.0)):
        assert _Fineness(1e9, 5.0).finer(*unknown, 0.0) is None
    assert _Fineness(1e9, 5.0).finer(100.0, 1e-3, 0.0) is not None
