"""WRRW23: the cap of the filter and the boundary of the odometer, against ball arithmetic and exact games."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from flint import acb, arb

from optcomp.interactive.filters import AdaptiveFilter, Admitted, ZCDPFilter
from optcomp.interactive.odometers import Odometer
from optcomp.proofs import odds_down
from optcomp.theorems.wrrw23 import mixing, odometer_epsilon, square_cap
from tests.oracles.filtered import filter_epsilon, menu, worst_delta, worst_overrun
from tests.oracles.truth import real, working

TARGETS = [("1", "1e-6"), ("0.01", "1e-12"), ("5", "0.3"), ("40", "1e-200"), ("1e-9", "1e-6"), ("1", "0.999999")]
BASE, ZERO = Fraction(11, 10), Fraction(0)


def left_side(squares: Fraction, delta: Fraction) -> arb:
    total = real(squares)
    return (2 * (1 / real(delta)).log() * total).sqrt() + total / 2


@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_the_cap(epsilon: str, delta: str) -> None:
    cap = square_cap(Fraction(epsilon), Fraction(delta))
    with working(300):
        assert left_side(cap, Fraction(delta)) <= real(Fraction(epsilon))
        assert left_side(cap * (1 + Fraction(1, 10**12)), Fraction(delta)) > real(Fraction(epsilon))
    assert filter_epsilon(cap, Fraction(delta)) == pytest.approx(float(epsilon), rel=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_admitted_sequences_satisfy_the_inequality_and_refused_ones_do_not(seed: int) -> None:
    rng = Random(seed)
    epsilon, tail = Fraction(rng.randint(1, 40), 10), Fraction(1, 10 ** rng.randint(2, 12))
    state, squares = AdaptiveFilter(epsilon, tail), ZERO
    for _ in range(200):
        eps = Fraction(rng.randint(1, 10**6), 10**8) * epsilon
        outcome = state.admit((eps, 0))
        with working(300):
            within = bool(left_side(squares + eps**2, tail) <= real(epsilon))
            without_doubt = bool(left_side((squares + eps**2) * (1 - Fraction(1, 10**12)), tail) > real(epsilon))
        if isinstance(outcome, Admitted):
            assert within
            state, squares = outcome.state, squares + eps**2
        else:
            assert without_doubt
    assert state.spent.squares == squares


@pytest.mark.parametrize("delta", ["0.2", "0.05"])
def test_no_adversary_gets_more_than_delta(delta: str) -> None:
    moves = menu(Fraction(6, 5), (1, 2, 4))
    assert worst_delta(AdaptiveFilter(1, delta), moves, odds_down(1)) <= Fraction(delta)


@pytest.mark.parametrize("make", [AdaptiveFilter, ZCDPFilter.within])
def test_requests_that_may_slip(make: type[AdaptiveFilter]) -> None:
    """(ε_i, δ_i) requests: Σδ_i within δ'', and all of it within δ."""
    worst = worst_delta(make(1, "0.05", "0.02"), menu(BASE, (1, 3), (ZERO, Fraction(1, 200))), odds_down(1))
    assert Fraction(2, 100) * Fraction(9, 10) < worst <= Fraction(5, 100)


def test_the_game_would_catch_a_wrong_cap() -> None:
    state = AdaptiveFilter(1, "0.05")
    object.__setattr__(state, "cap", 5 * state.cap)
    assert worst_delta(state, menu(Fraction(6, 5), (1,)), odds_down(1)) > Fraction(1, 20)


def mixture(height: arb, variance: arb, gamma: arb) -> arb:
    """∫ e^{λM - λ²V/2} over the half-normal λ, M = s√(V+γ), numerically."""
    most = height * (variance + gamma).sqrt()

    def integrand(x: acb, _: bool) -> acb:
        return (x * most - x * x * (variance + gamma) / 2).exp()

    end = (height + 40) / (variance + gamma).sqrt()
    density = 2 * (gamma / (2 * arb.pi())).sqrt()
    return (acb.integral(integrand, acb(0), acb(end)) * density).real


@pytest.mark.parametrize("delta", ["1e-6", "0.1", "0.6"])
@pytest.mark.parametrize(("rho", "gamma"), [("0.01", "0.001"), ("0.5", "1"), ("1e-9", "0.01"), ("3", "0.02")])
def test_the_boundary_is_where_the_mixture_reaches_one_over_delta(rho: str, gamma: str, delta: str) -> None:
    bound = odometer_epsilon(Fraction(rho), Fraction(gamma), Fraction(delta))
    with working(200):
        variance, spread = 2 * real(Fraction(rho)), real(Fraction(gamma))
        height = (arb(bound) - real(Fraction(rho))) / (variance + spread).sqrt()
        assert mixture(height, variance, spread) * real(Fraction(delta)) >= 1
        if Fraction(delta) < Fraction(1, 2):
            assert mixture(height * (1 - arb(10) ** -2), variance, spread) * real(Fraction(delta)) < 1
        stated = (2 * ((1 + variance / spread).sqrt() / real(Fraction(delta))).log()).sqrt()
        assert height <= stated * (1 + arb(10) ** -12)


@pytest.mark.parametrize("delta", ["1e-9", "0.01"])
@pytest.mark.parametrize("variance", ["0.001", "0.3", "20"])
def test_the_mixing_is_near_its_best(variance: str, delta: str) -> None:
    place, tail = Fraction(variance), Fraction(delta)
    chosen = mixing(place, tail)
    here = odometer_epsilon(place / 2, chosen, tail)
    assert here <= 1.002 * min(odometer_epsilon(place / 2, chosen * Fraction(2) ** k, tail) for k in range(-6, 7))
    assert filter_epsilon(place, tail) < here < 1.13 * filter_epsilon(place, tail)


@pytest.mark.parametrize(("base", "powers", "rounds"), [("6/5", (1, 2), 14), ("11/10", (1, 3), 14), ("3/2", (1,), 40)])
@pytest.mark.parametrize("delta", ["0.1", "0.3"])
def test_the_loss_is_ever_above_the_report_with_probability_delta_at_most(
    base: str, powers: tuple[int, ...], rounds: int, delta: str
) -> None:
    worst = worst_overrun(Odometer(delta), menu(Fraction(base), powers), rounds)
    assert worst <= Fraction(delta)


def test_the_overrun_is_not_idle() -> None:
    """It does happen, and an odometer that reports two fifths of it would be caught."""
    moves = menu(Fraction(6, 5), (1,))
    assert worst_overrun(Odometer("0.3"), moves, 30) > Fraction(3, 100)

    class Careless(Odometer):
        @property
        def epsilon(self) -> float:
            return 0.4 * super().epsilon

    assert worst_overrun(Careless("0.3"), moves, 30) > Fraction(3, 10)
