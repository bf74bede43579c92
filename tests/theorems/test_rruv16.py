"""RRUV16: the sum filter against every adaptive adversary, exactly, and what an odometer must do."""

from __future__ import annotations

from fractions import Fraction

import pytest

from optcomp import PureDP, theorem
from optcomp.interactive.filters import Admitted, SumFilter
from optcomp.interactive.odometers import Odometer
from optcomp.proofs import odds_down
from tests.oracles.filtered import Move, menu, worst_delta, worst_overrun

BASE, ZERO = Fraction(6, 5), Fraction(0)
LEAK = Fraction(1, 100)


def test_the_filter_names_it() -> None:
    assert SumFilter(1).theorem == theorem("rruv16").id


@pytest.mark.parametrize("epsilon", ["0.5", "1", "1.3"])
def test_pure_requests_stay_pure(epsilon: str) -> None:
    assert worst_delta(SumFilter(epsilon), menu(BASE, (1, 2, 3)), odds_down(Fraction(epsilon))) == 0


@pytest.mark.parametrize("delta", ["0.01", "0.05"])
def test_no_adversary_gets_more_than_delta(delta: str) -> None:
    worst = worst_delta(SumFilter(1, delta), menu(BASE, (1, 2), (ZERO, LEAK)), odds_down(1))
    assert Fraction(delta) / 2 < worst <= Fraction(delta)


def test_the_budget_is_used_up() -> None:
    """Below ε some adversary is seen: five coins of odds 6/5 are all that fits."""
    five = Move(BASE, 1).epsilon * 5
    assert worst_delta(SumFilter(five), menu(BASE, (1,)), BASE**5) == 0
    assert worst_delta(SumFilter(five), menu(BASE, (1,)), BASE**4) > 0


@pytest.mark.parametrize("given", ["0.1", "0.2", "0.05", "0.01"])
def test_decimals_fill_the_budget_exactly(given: str) -> None:
    state, count = SumFilter(1), 0
    while isinstance(outcome := state.admit(PureDP(given)), Admitted):
        state, count = outcome.state, count + 1
    assert count == 1 / Fraction(given)
    assert state.spent.epsilon == 1


@pytest.mark.parametrize("leaks", [(ZERO,), (ZERO, Fraction(1, 500))])
def test_an_odometer_is_overrun_at_any_moment_with_probability_delta_at_most(leaks: tuple[Fraction, ...]) -> None:
    parts = Fraction(1, 50) if len(leaks) > 1 else ZERO
    worst = worst_overrun(Odometer("0.1", delta_parts=parts), menu(BASE, (1, 2), leaks), 10)
    assert 0 < worst <= Fraction(1, 10)
