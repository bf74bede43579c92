"""DRS22: Gaussian mechanisms compose to one, in closed form."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import optcomp as oc
from tests.oracles.losses import Beside, variance_hockey


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9, 1e-100, 1e-300])
@pytest.mark.parametrize("sigmas", [{4.0: 1}, {4.0: 100}, {0.5: 2, 3.0: 5, 100.0: 10**6}, {1e-2: 1}])
def test_epsilon_between_neighbouring_floats(sigmas: dict[float, int], delta: float) -> None:
    square = sum((Fraction(count) / Fraction(sigma) ** 2 for sigma, count in sigmas.items()), Fraction(0))
    truth = Beside([variance_hockey(square)])
    bound = oc.compose({oc.Gaussian(sigma): count for sigma, count in sigmas.items()}, delta=delta)
    assert bound.theorem == "DRS22"
    assert truth.sign(bound.upper, delta) <= 0
    assert bound.lower == 0 or truth.sign(bound.lower, delta) >= 0
    assert bound.upper - bound.lower <= 3 * math.ulp(bound.upper)  # neighbours, or as far as their decimals ask for


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0, 40.0])
def test_delta(epsilon: float) -> None:
    truth = Beside([variance_hockey(Fraction(25, 16))])
    bound = oc.compose({oc.GaussianDP("0.25"): 25}, epsilon=epsilon)
    assert truth.sign(epsilon, Fraction(bound.lower)) >= 0
    assert truth.sign(epsilon, Fraction(bound.upper)) <= 0
    assert bound.width < 1e-15


def test_leaks_beside_gaussians() -> None:
    truth = Beside([variance_hockey(Fraction(1, 4))], leaks=[(1e-4, 2)])
    bound = oc.compose({oc.Gaussian(2): 1, oc.NameAndShame(1e-4): 2}, delta=1e-3)
    assert bound.theorem == "DRS22"
    assert truth.sign(bound.upper, 1e-3) <= 0 <= truth.sign(bound.lower, 1e-3)
    assert math.isinf(oc.compose({oc.Gaussian(2): 1, oc.NameAndShame(1e-4): 2}, delta=1e-4).upper)


def test_sensitivity_and_sigma_enter_by_their_ratio() -> None:
    assert oc.compose([oc.Gaussian(8, sensitivity=2)], delta=1e-6) == oc.compose([oc.Gaussian(4)], delta=1e-6)
