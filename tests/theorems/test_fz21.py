"""FZ21: budgets of Rényi divergence, with the conversion and the game recomputed independently."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest
from flint import arb

from optcomp import ZCDP, PureDP, compose
from optcomp.interactive.filters import RenyiFilter, ZCDPFilter
from optcomp.proofs import odds_down
from optcomp.theorems.fz21 import best_order, epsilon_at, largest_rho, renyi_budget, response_divergence
from tests.oracles.filtered import Move, menu, worst_delta, worst_moment
from tests.oracles.truth import real, working

TARGETS = [("1", "1e-6"), ("0.1", "1e-9"), ("3", "0.1"), ("10", "1e-300"), ("1e-4", "1e-6"), ("60", "1e-5")]
BASE = Fraction(11, 10)


def converted(divergence: arb, order: arb, delta: Fraction) -> arb:
    """CKS20 at an order, straight from the formula."""
    return divergence + (1 - 1 / order).log() - (real(delta).log() + order.log()) / (order - 1)


@pytest.mark.parametrize("order", [1.25, 2.0, 8.5, 64.0])
@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_a_budget_is_within_the_target_and_no_larger_one_is(epsilon: str, delta: str, order: float) -> None:
    budget = renyi_budget(order, Fraction(epsilon), Fraction(delta))
    if budget > 0:
        with working(300):
            assert converted(real(budget), arb(order), Fraction(delta)) <= real(Fraction(epsilon))
            more = real(budget + Fraction(epsilon) / 10**12)
            assert converted(more, arb(order), Fraction(delta)) > real(Fraction(epsilon))


@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_the_largest_rho(epsilon: str, delta: str) -> None:
    """Proved at one order; no order of a fine grid allows a ρ that is larger by 1e-9."""
    eps, slip = Fraction(epsilon), Fraction(delta)
    rho, best = largest_rho(eps, slip), best_order(eps, slip)
    assert epsilon_at(rho, slip) <= eps
    with working(300):
        assert converted(real(rho) * arb(best), arb(best), slip) <= real(eps)
        for step in range(-300, 301):
            order = 1 + (arb(best) - 1) * (arb(step) / 100).exp()
            assert converted(real(rho) * order * (1 + arb(10) ** -9), order, slip) > real(eps)


@pytest.mark.parametrize(("epsilon", "delta"), TARGETS[:3])
def test_the_front_door_agrees(epsilon: str, delta: str) -> None:
    rho = largest_rho(Fraction(epsilon), Fraction(delta))
    assert compose([ZCDP(rho)], delta=delta).upper == pytest.approx(float(Fraction(epsilon)), rel=1e-8)
    assert compose([ZCDP(rho)], delta=delta).upper >= epsilon_at(rho, Fraction(delta))


@pytest.mark.parametrize("eps", ["1e-90", "1e-9", "0.01", "0.5", "3", "40", "200"])
@pytest.mark.parametrize("order", [1.0001, 2.0, 22.0, 1e5])
def test_divergence_of_a_coin(eps: str, order: float) -> None:
    """log E_Q (P/Q)^α/(α-1) from the two outcomes."""
    value = response_divergence(Fraction(eps), order)
    with working(4000):
        e, a = real(Fraction(eps)), arb(order)
        heads = 1 / (1 + e.exp())
        truth = ((a * e).exp() * heads + (-a * e).exp() * (1 - heads)).log() / (a - 1)
        assert real(value) >= truth
        assert real(value) <= truth * (1 + arb(10) ** -9)


def test_divergence_of_a_coin_at_the_ends() -> None:
    assert response_divergence(Fraction(0), 2.0) == 0
    assert response_divergence(Fraction(10**9), 2.0) == 10**9


@pytest.mark.parametrize("order", [2, 3])
def test_the_moment_of_every_adaptive_game_is_within_the_budget(order: int) -> None:
    """E_Q (P/Q)^α <= e^{(α-1)B}, exactly; and the adversary comes near."""
    moves, budget = menu(BASE, (1, 2, 5)), Fraction(1, 3)
    worst = worst_moment(RenyiFilter(order, budget), moves, order)
    assert worst <= odds_down((order - 1) * budget, bits=200)
    assert float(worst) > exp(0.97 * (order - 1) / 3)


def test_a_concentrated_filter_bounds_every_moment() -> None:
    rho, moves = Fraction(1, 10), menu(BASE, (1, 2, 5))
    for order in (2, 3, 7):
        assert worst_moment(ZCDPFilter(rho), moves, order) <= odds_down((order - 1) * order * rho, bits=200)


@pytest.mark.parametrize("delta", ["0.05", "0.001"])
@pytest.mark.parametrize("powers", [(1, 2), (3,), (1, 4, 7)])
def test_no_adversary_gets_more_than_delta(delta: str, powers: tuple[int, ...]) -> None:
    for state in (ZCDPFilter.within(1, delta), RenyiFilter.within(1, delta)):
        assert worst_delta(state, menu(BASE, powers), odds_down(1)) <= Fraction(delta)


def test_the_bound_is_not_idle() -> None:
    """Some adversary uses half of δ, so a filter twice as generous would be caught."""
    honest, moves = RenyiFilter.within(1, "0.05"), menu(Fraction(6, 5), (1, 2))
    generous = RenyiFilter(honest.order, 2 * honest.epsilon)
    assert worst_delta(honest, moves, odds_down(1)) > Fraction(1, 50)
    assert worst_delta(generous, moves, odds_down(1)) > Fraction(1, 20)


def test_a_coin_costs_less_than_its_concentration() -> None:
    coin = PureDP(Move(BASE, 3).epsilon)
    filter_ = RenyiFilter(20, 1)
    cost = filter_.price(coin).divergence
    assert cost is not None
    assert cost < 20 * Fraction(coin.epsilon) ** 2 / 2
