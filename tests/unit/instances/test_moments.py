"""Sums over the parts, for few and for many: exact where they are said to be, and quick looks that never mislead."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from optcomp import compose
from optcomp.composition.reading import read_parts
from optcomp.instances.leaks import leak, slack
from optcomp.instances.moments import total_delta, total_epsilon, within
from optcomp.instances.parts import Parts
from optcomp.numerics.balls import ball, float_up, precision
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.knapsack import rounded_steps
from optcomp.numerics.lattice import common_unit, finest_unit, table_cost
from optcomp.numerics.sums import log_odds_sum
from optcomp.theorems import dkmmn06, mv18_1_5, mv18_1_7


def many(n: int, low: float = -3.0, high: float = 0.0) -> Parts:
    return read_parts(10 ** np.random.default_rng(n).uniform(low, high, n))


@pytest.mark.parametrize("n", [10, 300, 30_000])
def test_basic_composition_is_exact(n: int) -> None:
    parts = many(n, -30)
    exact = sum((Fraction(eps) * count for eps, count in parts.coins), Fraction(0))
    assert within(parts, exact)
    assert not within(parts, exact - Fraction(1, 10**60))
    with precision(128):
        assert total_epsilon(parts).contains(ball(exact))
        above = float_up(ball(exact))
    upper = dkmmn06.epsilon_at(parts, 0.0).upper
    told = above == exact or Fraction(repr(above)) >= exact
    assert upper == (above if told else math.nextafter(above, math.inf))


def test_leaks_add_up_exactly() -> None:
    slips = 10 ** np.random.default_rng(2).uniform(-300, -6, 6000)
    parts = read_parts(np.column_stack((np.full(6000, 0.1), slips)))
    exact = sum((Fraction(delta) for delta in slips.tolist()), Fraction(0))
    assert total_delta(parts) == exact
    mixed = read_parts([(0.1, Fraction(delta) if n % 2 else delta) for n, delta in enumerate(slips.tolist())])
    assert total_delta(mixed) == exact
    thirds = [Fraction(1, 3**8) + Fraction(1, 10**9 + n) for n in range(5)]
    assert total_delta(read_parts([(0.1, delta) for delta in thirds])) == sum(thirds)


@pytest.mark.parametrize("n", [100, 5000])
def test_what_leaks_leave_of_delta(n: int) -> None:
    slips = 10 ** np.random.default_rng(n).uniform(-12, -7, n)
    parts = read_parts(np.column_stack((np.full(n, 0.1), slips)))
    with precision(400):
        kept = arb(1)
        for delta in slips.tolist():
            kept *= 1 - arb(delta)
    for excess in (1e-3, 1e-12, 1e-25):
        with precision(400):
            exact = 1 - kept + excess
            delta = Fraction(str(exact.mid().str(120, radius=False)))
            t = 1 - (1 - ball(delta)) / kept
        with precision(128):
            found, leaked = slack(parts, delta, 96), leak(parts)
        with precision(400):
            assert found.contains(t)
            assert leaked.contains(1 - kept)
        assert found.rel_accuracy_bits() >= 30


@pytest.mark.parametrize("n", [1, 2, 30, 5000])
@pytest.mark.parametrize("scope", [(-100.0, 2.0), (-2.0, 0.0), (1.0, 2.0), (-1.001, -1.0)])
def test_first_looks_stay_below_the_sums(n: int, scope: tuple[float, float]) -> None:
    parts = many(n, *scope)
    with precision(128):
        total = total_epsilon(parts)
        assert not mv18_1_5._least_log_odds(parts, total) > log_odds_sum(parts.coin_tally)
        assert not mv18_1_5._least_distance(parts, total) > mv18_1_5.distance(parts, quick=False)


@pytest.mark.parametrize("n", [150, 300, 5000])
@pytest.mark.parametrize("bits", [None, 200])
def test_top_cell_of_many(n: int, bits: int | None) -> None:
    sizes = np.random.default_rng(n).uniform(9, 12, n)
    for delta in (0.01, 1e-200):
        bound = compose(sizes, delta=delta, bits=bits)
        assert bound.method == "top cell"
        with precision(400):
            odds = sum(((-arb(x)).exp().log1p() for x in sizes.tolist()), arb(0))
            truth = sum(map(arb, sizes.tolist()), arb(0)) + (-arb(delta) * odds.exp()).log1p()
            assert arb(bound.lower) <= truth <= arb(bound.upper)
        assert bound.width <= 1e-14


@pytest.mark.parametrize("unit", [0.013, 2.0**-9, 0.001])
@pytest.mark.parametrize("extra", [[], [(Fraction(1, 3), 2), (Fraction(1, 1000), 2**53)]])
def test_many_steps_are_rounded_the_right_way(unit: float, extra: list[tuple[Exact, int]]) -> None:
    rng = np.random.default_rng(3)
    sizes = np.unique(np.concatenate((rng.uniform(0, 1, 500), unit * np.arange(200), unit / 2 * np.arange(50))))
    coins: list[tuple[Exact, int]] = [
        *zip(sizes.tolist(), rng.integers(1, 9, sizes.size).tolist(), strict=True),
        *extra,
    ]
    for up in (True, False):
        expected: dict[int, int] = {}
        for x, m in coins:
            exact = Fraction(x) / Fraction(unit)
            a = math.ceil(exact) if up else math.floor(exact)
            expected[a] = expected.get(a, 0) + m
        expected.pop(0, None)
        assert rounded_steps(coins, unit, up=up) == sorted(expected.items())


def test_units_do_not_depend_on_order() -> None:
    sizes, counts = many(500).sizes
    order = np.random.default_rng(1).permutation(500)
    assert table_cost(sizes, counts, 0.01) == table_cost(sizes[order], counts[order], 0.01)
    assert common_unit([0.3, 0.2, 0.1]) == common_unit([0.1, 0.3, 0.2]) == 0.1
    assert common_unit(sizes.tolist()) is None


def test_a_fine_unit_for_many_sizes() -> None:
    sizes, counts = many(30_000).sizes
    unit = finest_unit(sizes, counts, 1e8)
    assert table_cost(sizes, counts, unit) <= 1e8 < table_cost(sizes, counts, unit / 1.01)


def test_tables_for_many_multiples_are_too_large() -> None:
    most = mv18_1_7._MOST_MULTIPLES
    assert table_cost(np.arange(most, 0.0, -1), np.ones(most), 1.0) > mv18_1_7.COMMON_WORK
    assert mv18_1_7.shared_unit(read_parts(np.arange(1, most + 2) / 1e4)) is None
    assert mv18_1_7.shared_unit(read_parts(np.arange(1, 1001) / 1e4)) == pytest.approx(1e-4)
