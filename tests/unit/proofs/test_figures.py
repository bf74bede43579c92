"""The numbers of the figures obey the theorems that they picture."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import pytest

import optcomp as oc
from optcomp.proofs import Finite, check_concurrent, decompose, leaky, least_delta
from optcomp.proofs import figures as data
from tests.oracles.checks import encloses
from tests.oracles.equal import Equal
from tests.oracles.rational import exact_delta

SOME = (1, 10, 50, 200, 1000)


def test_lecture_points_are_the_formulas() -> None:
    rows = list(data.lecture_points())
    eps = float(data.LECTURE_EPSILON)
    assert [row.k for row in rows] == list(range(1, 201))
    for row in rows:
        assert row.basic == pytest.approx(row.k * eps, rel=1e-15)
        assert Fraction(row.basic) >= row.k * Fraction(data.LECTURE_EPSILON)
        spread = eps * math.sqrt(2 * row.k * math.log(1e6))
        assert row.strong == pytest.approx(spread + row.k * eps * math.expm1(eps) / (math.exp(eps) + 1), rel=1e-12)
        assert row.optimal <= min(row.basic, row.strong)
    assert [row.k for row in rows if row.strong < row.basic] == list(range(28, 201))


def test_lecture_optimum_is_the_truth() -> None:
    for row in data.lecture_points(SOME):
        bound = oc.compose({data.LECTURE_EPSILON: row.k}, delta=data.LECTURE_DELTA)
        assert bound.upper == row.optimal
        assert encloses(Equal(row.k, Fraction(data.LECTURE_EPSILON)), bound)


def test_panels_are_ordered() -> None:
    rows = list(data.panel_points())
    assert len(rows) == data.PANEL_POINTS
    assert {row.panel for row in rows} == {"many", "few", "deltas", "relative"}
    for row in rows:
        assert row.lower <= row.optimal <= row.kov <= min(row.basic, row.advanced)
        assert row.lower >= row.optimal * (1 - 1e-12)
        if row.panel != "relative":
            assert Fraction(row.basic) >= row.k * Fraction(row.epsilon)
            assert row.basic == pytest.approx(row.k * float(row.epsilon), rel=1e-15)


def test_panels_hold_the_papers_settings() -> None:
    settings = defaultdict(set)
    for row in data.panel_points(SOME, (1, 50)):
        settings[row.panel].add((row.epsilon, row.delta))
    assert settings["many"] == settings["few"] == settings["relative"]
    assert {delta for _, delta in settings["many"]} == {2.0**-25}
    assert {eps for eps, _ in settings["deltas"]} == {"0.005"}
    assert len(settings["deltas"]) == len(settings["many"]) == 3


def test_panels_enclose_the_truth() -> None:
    for row in data.panel_points(SOME, ()):
        if row.panel != "relative":
            bound = oc.compose({row.epsilon: row.k}, delta=row.delta)
            assert (bound.lower, bound.upper) == (row.lower, row.optimal)
            assert encloses(Equal(row.k, Fraction(row.epsilon)), bound)


def test_the_approximation_lies_above_the_optimum() -> None:
    for row in data.panel_points((10, 50), ()):
        if row.panel == "many":
            bound = oc.compose({row.epsilon: row.k}, delta=row.delta, method="murtagh-vadhan")
            assert row.lower <= bound.upper <= row.basic * (1 + 1e-9) + 0.01


def test_relative_panel_divides_by_the_optimum() -> None:
    rows = list(data.panel_points(SOME, ()))
    plain = {(row.epsilon, row.k): row for row in rows if row.panel == "many"}
    shown = [row for row in rows if row.panel == "relative"]
    assert len(shown) == len(plain)
    for row in shown:
        point = plain[row.epsilon, row.k]
        assert (row.basic, row.kov, row.optimal) == (point.basic / point.optimal, point.kov / point.optimal, 1.0)
    later = [row for row in shown if row.epsilon == "0.005" and row.k >= 50]
    assert all(1.16 < row.kov < 1.24 and 1.25 < row.advanced < 1.38 for row in later)


def test_concurrent_never_exceeds_optcomp() -> None:
    """Exactly, at every ε of the figure (Lyu22-1); and interleaving is worth something."""
    rows = list(data.concurrent_points())
    assert [row.odds for row in rows] == list(data.ODDS)
    for row in rows:
        assert all(isinstance(value, Fraction) for value in (row.one_by_one, row.interleaved, row.optcomp_low))
        assert row.one_by_one <= row.interleaved <= min(row.optcomp_low, row.optcomp_high)
        assert row.epsilon == math.log(row.odds)
    assert any(row.one_by_one < row.interleaved for row in rows)
    assert rows[-1].interleaved == rows[-1].optcomp_high == rows[-1].one_by_one == Fraction(16, 25)


def test_concurrent_bounds_are_those_of_the_pair() -> None:
    pair = data.two_question_pair()
    guarantees = [(level, Fraction(least_delta([pair], level))) for level in data.LEVELS]
    for guarantee in guarantees:
        decompose(pair, *guarantee)
    for row in data.concurrent_points(data.ODDS[::16]):
        for guarantee, shown in zip(guarantees, (row.optcomp_low, row.optcomp_high), strict=True):
            bound = check_concurrent([pair, pair], [guarantee] * 2, row.odds)
            assert bound.holds
            assert (bound.worst, bound.optimal) == (row.interleaved, shown)
            assert shown == exact_delta([guarantee] * 2, row.odds)


def test_simulation_gives_back_both_distributions() -> None:
    rows = list(data.simulation_parts())
    u, v = leaky(data.SIMULATED_ODDS, data.simulated_delta())
    for law, source, name in ((data.SIMULATED_X, u, "x_part"), (data.SIMULATED_Y, v, "y_part")):
        for outcome, p in law.items():
            assert sum(getattr(row, name) for row in rows if row.outcome == outcome) == p
        for symbol in data.SYMBOLS:
            assert sum(getattr(row, name) for row in rows if row.symbol == symbol) == source[symbol]


def test_simulation_rows_are_distributions() -> None:
    rows = list(data.simulation_parts())
    kernel = {s: Finite({row.outcome: row.chance for row in rows if row.symbol == s}) for s in data.SYMBOLS}
    u, v = leaky(data.SIMULATED_ODDS, data.simulated_delta())
    assert (u.through(kernel.__getitem__), v.through(kernel.__getitem__)) == (data.SIMULATED_X, data.SIMULATED_Y)
    assert all(isinstance(row.chance, Fraction) and row.chance >= 0 for row in rows)
    assert data.simulated_delta() == Fraction(1, 6)
