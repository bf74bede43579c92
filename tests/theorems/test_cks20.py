"""CKS20: from Rényi divergences to (ε, δ), with the best order among all real ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

import optcomp as oc

RHO = 0.03


def converted(divergence: float, alpha: float, delta: float) -> float:
    """ε at one order, written out."""
    return divergence + math.log1p(-1 / alpha) - (math.log(delta) + math.log(alpha)) / (alpha - 1)


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-30])
@pytest.mark.parametrize("rho", [1e-4, 0.03, 2.0])
def test_no_order_does_better(rho: float, delta: float) -> None:
    orders = 1 + np.exp(np.linspace(-8, 14, 20001))
    best = min(converted(rho * alpha, alpha, delta) for alpha in orders.tolist())
    found = oc.compose([oc.ZCDP(rho)], delta=delta)
    assert found.theorem == "CKS20"
    assert found.upper <= max(best, 0.0) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_delta_from_epsilon(epsilon: float) -> None:
    orders = 1 + np.exp(np.linspace(-8, 10, 20001))
    logs = [
        (alpha - 1) * (RHO * alpha - epsilon) + (alpha - 1) * math.log1p(-1 / alpha) - math.log(alpha)
        for alpha in orders.tolist()
    ]
    found = oc.compose([oc.ZCDP(RHO)], epsilon=epsilon)
    assert found.upper == pytest.approx(min(math.exp(min(logs)), 1), rel=1e-6)


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-30])
def test_never_below_mechanisms_that_satisfy_the_bound(delta: float) -> None:
    mu = math.sqrt(2 * RHO)
    assert oc.compose([oc.ZCDP(RHO)] * 7, delta=delta).upper >= oc.compose([oc.GaussianDP(mu)] * 7, delta=delta).lower
    pure = oc.compose([oc.RenyiDP(lambda alpha: 0.5)] * 7, delta=delta).upper
    assert pure >= oc.compose([0.5] * 7, delta=delta).lower * (1 - 1e-12)


@pytest.mark.parametrize(
    "mechanism",
    [oc.Laplace(3), oc.Gaussian(4), oc.PureDP(0.3), oc.DiscreteGaussian(3), oc.PoissonSubsampled(oc.Gaussian(1), 0.05)],
)
def test_losses_as_divergences_are_looser_but_valid(mechanism: oc.Laplace) -> None:
    for copies in (20, 200):
        by_losses = oc.compose({mechanism: copies}, delta=1e-6)
        by_renyi = oc.compose({mechanism: copies}, delta=1e-6, method="renyi")
        assert by_losses.lower <= by_renyi.upper <= 1.35 * by_losses.upper


def test_one_order_is_used_as_it_is() -> None:
    for order in (1.1, 2, "2.5", 64):
        found = oc.compose([oc.RenyiDP(order, 0.4)], delta=1e-5)
        assert found.upper == pytest.approx(converted(0.4, float(order), 1e-5), rel=1e-9)


def test_discrete_gaussian_is_zcdp() -> None:
    assert oc.convert(oc.DiscreteGaussian("1.5", 3), oc.ZCDP) == oc.ZCDP(2)
    for alpha in (1.5, 2.0, 9.0, 40.0):
        curve = oc.convert(oc.DiscreteGaussian("1.5", 3), oc.RenyiDP)
        assert float(curve.renyi(alpha).mid()) <= 2 * alpha * (1 + 1e-12)
