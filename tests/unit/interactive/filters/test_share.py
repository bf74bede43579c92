"""The share of a budget that is used: at most 1 exactly where the sums fit; and amounts rounded up to a grid."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.interactive.filters import Admitted, BestFilter, Cost, Filter, SumFilter
from tests.unit.interactive.filters.filter_makers import ALL, MAKERS, sums_near


def independent(state: Filter, sums: Cost) -> bool:
    """Whether the sums fit, written out kind by kind."""
    caps: Any = state.caps
    slips = sums.delta <= caps.delta
    match state.kind:
        case "sum":
            return slips and sums.epsilon is not None and sums.epsilon <= caps.epsilon
        case "zcdp":
            return slips and sums.rho is not None and sums.rho <= caps.rho
        case "renyi":
            return sums.divergence is not None and sums.divergence <= caps.divergence
        case "adaptive":
            return slips and sums.squares is not None and sums.squares <= caps.squares
    pure = sums.epsilon is not None and sums.epsilon <= caps.epsilon
    return slips and (pure or (sums.rho is not None and sums.rho <= caps.rho))


@ALL
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_at_most_one_exactly_where_the_sums_fit(kind: str, data: st.DataObject) -> None:
    state = MAKERS[kind]()
    sums = data.draw(sums_near(state))
    moved = state._moved(sums, 7)
    assert moved.share == state.share_of(sums)
    assert (moved.share <= 1) == state.fits(sums) == independent(state, sums)
    assert moved.share >= 0


@ALL
def test_nothing_spent_is_nothing_used(kind: str) -> None:
    assert MAKERS[kind]().share == 0


def test_values() -> None:
    half = SumFilter("1", "1e-6")._moved(Cost(epsilon=Fraction(1, 3), delta=Fraction(1, 2 * 10**6)), 2)
    assert half.share == Fraction(1, 2)
    assert SumFilter("0.3").admit("0.1").state.share == Fraction(1, 3)  # type: ignore[union-attr]


def test_the_better_way_counts_and_a_closed_one_does_not() -> None:
    best = BestFilter(1, "1e-6")
    small, large = best.admit("0.01"), best.admit("0.5")
    assert isinstance(small, Admitted)
    assert isinstance(large, Admitted)
    assert small.state.share == Fraction(1, 2 * 10**4) / best.cap < Fraction(1, 100)
    assert large.state.share == Fraction(1, 2)
    noise = best.admit(oc.ZCDP("1/100"))
    assert isinstance(noise, Admitted)
    assert noise.state.share == Fraction(1, 100) / best.cap


def test_a_way_without_a_cap() -> None:
    """Nothing of nothing is 0; something of nothing is far beyond 1."""
    empty = SumFilter(0)
    assert empty.share == 0
    assert empty.share_of(Cost(epsilon=Fraction(1, 10**90))) == 10**600
    assert SumFilter(1).share_of(Cost(epsilon=Fraction(1, 2), delta=Fraction(1, 10**90))) == 10**600
    assert BestFilter(1, "1e-6").share_of(Cost(epsilon=None, rho=Fraction(1), delta=Fraction(1, 9))) == 10**600


AMOUNTS = st.one_of(st.fractions(0, 10**3), st.floats(0, 5).map(Fraction), st.just(Fraction(1, 10**31)))


@given(AMOUNTS, st.none() | AMOUNTS, AMOUNTS, st.integers(0, 40))
def test_rounded_up_to_the_grid(epsilon: Fraction, rho: Fraction | None, delta: Fraction, places: int) -> None:
    exactly = Cost(epsilon=epsilon, rho=rho, delta=delta)
    rounded = exactly.rounded_up(places)
    for name in ("epsilon", "rho", "squares", "divergence", "delta"):
        before, after = exactly.get(name), rounded.get(name)
        if before is None:
            assert after is None
        else:
            assert after is not None
            assert 0 <= after - before < Fraction(1, 10**places)
            assert (after * 10**places).denominator == 1


def test_decimals_stay_what_they_are() -> None:
    cost = Cost(epsilon=Fraction("0.1"), delta=Fraction("1e-30"))
    assert cost.rounded_up() == cost
    assert Cost(epsilon=Fraction(1, 3)).rounded_up().epsilon == Fraction("0." + "3" * 29 + "4")
    assert Cost(epsilon=Fraction(1, 3)).rounded_up(2).epsilon == Fraction("0.34")


@pytest.mark.parametrize("kind", ["sum", "best"])
def test_sums_of_many_rounded_requests_stay_short(kind: str) -> None:
    state: Filter = MAKERS[kind]()
    for odd in range(10_001, 10_201, 2):
        outcome = state.charge(None, state.price(Fraction(1, odd)).rounded_up())
        assert isinstance(outcome, Admitted)
        state = outcome.state
    assert len(state.document_text()) < 500
