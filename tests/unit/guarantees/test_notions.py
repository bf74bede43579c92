"""Rényi bounds: what a notion promises between its orders, and conversions that hold for mechanisms that satisfy it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import acb, arb

import optcomp as oc
from tests.oracles.losses import (
    Beside,
    Moment,
    Sum,
    atoms_part,
    gaussian_moment,
    laplace_moment,
    laplace_part,
    response_atoms,
    response_moment,
    variance_hockey,
)
from tests.oracles.truth import Truth, working

MOMENTS: dict[str, tuple[Moment, Callable[[int], Truth]]] = {
    "gaussian": (gaussian_moment(0.5), lambda copies: Beside([variance_hockey(Fraction(copies, 4))])),
    "laplace": (laplace_moment(0.5), lambda copies: Sum([laplace_part(0.5, copies)])),
    "response": (
        response_moment(0.5, 2),
        lambda copies: Sum([atoms_part(lambda: response_atoms(0.5), copies)]),
    ),
    "response of five": (
        response_moment(1.5, 5),
        lambda copies: Sum([atoms_part(lambda: response_atoms(1.5, 5), copies)]),
    ),
}


def divergence(moment: Moment, alpha: float) -> arb:
    """D_α = log E e^{(α-1)L}/(α-1)."""
    return moment(acb(arb(alpha) - 1)).real.log() / (arb(alpha) - 1)


def rounded_up(value: arb) -> float:
    return math.nextafter(float(value.upper()), math.inf)


@pytest.mark.parametrize("name", list(MOMENTS))
def test_between_orders_nothing_is_promised_that_is_not_true(name: str) -> None:
    moment, _ = MOMENTS[name]
    rng = Random(1)
    with working(160):
        for _ in range(20):
            orders = sorted(1 + 10 ** rng.uniform(-2, 2) for _ in range(rng.randint(1, 5)))
            notion = oc.RenyiDP({alpha: rounded_up(divergence(moment, alpha)) for alpha in orders})
            for _ in range(10):
                alpha = 1 + (orders[-1] - 1) * rng.random() ** 2 + 1e-9
                assert not divergence(moment, alpha) > notion.renyi(alpha)
            assert notion.renyi(math.nextafter(orders[-1], math.inf)) == arb.pos_inf()
            assert notion.most_order == orders[-1]


@pytest.mark.parametrize("copies", [1, 5])
@pytest.mark.parametrize("name", list(MOMENTS))
def test_conversions_hold(name: str, copies: int) -> None:
    """Sampled at a few orders, or as a function: ε and δ are never below the mechanism's own."""
    moment, truth_of = MOMENTS[name]
    truth = truth_of(copies)

    def curve(alpha: float) -> float:
        with working(120):
            return rounded_up(divergence(moment, alpha))

    for notion in (oc.RenyiDP(curve), oc.RenyiDP({alpha: curve(alpha) for alpha in (1.5, 3.0, 8.0, 30.0)})):
        for delta in (0.3, 1e-2, 1e-5, 1e-12):
            assert truth.at_most(oc.compose({notion: copies}, delta=delta).upper, delta)
        for epsilon in (0.0, 0.2, 1.0):
            assert truth.sign(epsilon, oc.compose({notion: copies}, epsilon=epsilon).upper) <= 0


@pytest.mark.parametrize(
    "part", [oc.Laplace(2), oc.Gaussian(2), oc.RandomizedResponse(0.5), oc.RandomizedResponse(2, 7)]
)
@pytest.mark.parametrize("delta", [1e-1, 1e-4, 1e-9])
def test_order_is_the_best(part: oc.Laplace, delta: float) -> None:
    """No order of a fine grid proves an ε that is smaller by more than a millionth."""
    moments = {oc.Laplace(2): laplace_moment(0.5), oc.Gaussian(2): gaussian_moment(0.5)}
    moments |= {oc.RandomizedResponse(0.5): response_moment(0.5, 2), oc.RandomizedResponse(2, 7): response_moment(2, 7)}
    found = oc.compose({part: 3}, delta=delta, method="renyi")
    with working(100):
        best = min(
            float(
                (
                    3 * divergence(moments[part], alpha)
                    + (1 - 1 / arb(alpha)).log()
                    - (arb(delta).log() + arb(alpha).log()) / (arb(alpha) - 1)
                ).mid()
            )
            for alpha in (1 + np.exp(np.linspace(-5, 9, 1200))).tolist()
        )
    assert found.upper <= max(best, 0.0) * (1 + 1e-6) + 1e-12


def test_truncated() -> None:
    """(ρ, ω)-tCDP says nothing at ω itself."""
    notion = oc.TCDP(0.25, 4)
    assert notion.renyi(3.9) == arb(0.25) * arb(3.9)
    assert notion.renyi(4.0) == arb.pos_inf()
    parts = [oc.TCDP(0.25, 4), oc.TCDP(0.5, 9)]
    worse = oc.compose([oc.TCDP(0.75, 4)], delta=1e-6)
    assert oc.compose(parts, delta=1e-6).upper == pytest.approx(worse.upper, rel=1e-9)
    assert worse.upper > oc.compose([oc.ZCDP(0.75)], delta=1e-6).upper
    for delta in (0.1, 1e-6):
        assert Beside([variance_hockey(Fraction(3, 2))]).at_most(oc.compose(parts, delta=delta).upper, delta)


@pytest.mark.parametrize("omega", [1.0001, 1.5, "1.0000000001", 1e9])
def test_extreme_truncations_are_sound(omega: float) -> None:
    bound = oc.compose([oc.TCDP(0.125, omega)], delta=1e-4)
    assert math.isinf(bound.upper) or Beside([variance_hockey(Fraction(1, 4))]).at_most(bound.upper, 1e-4)


def test_leaks_of_notions() -> None:
    """A leak of δ beside Gaussian noise is δ-approximately zCDP, and its own composition stays below the bound."""
    truth = Beside([variance_hockey(Fraction(1, 2))], leaks=[(1e-6, 2)])
    for delta in (1e-2, 1e-5, 2.1e-6):
        bound = oc.compose({oc.ApproxZCDP(0.125, 1e-6): 2}, delta=delta)
        assert truth.at_most(bound.upper, delta)
        assert truth.at_least(bound.lower, delta)
    assert oc.compose({oc.ApproxZCDP(0.125, 1e-6): 2}, delta=1.9e-6).upper == math.inf


def test_pure_is_a_renyi_bound() -> None:
    truth = Sum([atoms_part(lambda: response_atoms(0.5), 4)])
    for delta in (0.2, 1e-3):
        assert truth.at_most(oc.compose({oc.RenyiDP(lambda _: 0.5): 4}, delta=delta).upper, delta)


def test_equal_promises_are_equal() -> None:
    assert oc.RenyiDP({2: 0.5, 8: 1}) == oc.RenyiDP({8.0: 1.0, 2.0: 0.5})
    assert oc.RenyiDP(2, 0.5) == oc.RenyiDP({2: 0.5})
    assert oc.ZCDP(1) == oc.ZCDP("1") != oc.ZCDP(2)


@pytest.mark.parametrize("omega", [1, 0.5, math.nan, math.inf, "x"])
def test_bad_omega(omega: float) -> None:
    with pytest.raises(oc.InvalidGuarantee, match="omega"):
        oc.TCDP(1, omega)
