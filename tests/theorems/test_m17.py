"""M17: Rényi divergences add up; curves of mechanisms are what they should be."""

from __future__ import annotations

import math

import pytest

import optcomp as oc

ORDERS = (1.25, 2.0, 3.5, 16.0, 100.0)


def value(curve: oc.RenyiDP, alpha: float) -> float:
    return float(curve.renyi(alpha).mid())


@pytest.mark.parametrize("alpha", ORDERS)
def test_curves_of_mechanisms(alpha: float) -> None:
    eps = 0.7
    p = math.exp(eps) / (1 + math.exp(eps))
    response = math.log(p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)) / (alpha - 1)
    assert value(oc.convert(oc.RandomizedResponse(eps), oc.RenyiDP), alpha) == pytest.approx(response, rel=1e-12)
    tail = math.exp(-alpha * eps) * (alpha - 1) / (2 * alpha - 1)
    laplace = math.log(alpha / (2 * alpha - 1) * math.exp((alpha - 1) * eps) + tail) / (alpha - 1)
    assert value(oc.convert(oc.Laplace(1, eps), oc.RenyiDP), alpha) == pytest.approx(laplace, rel=1e-12)
    assert value(oc.convert(oc.Gaussian(2), oc.RenyiDP), alpha) == pytest.approx(alpha / 8, rel=1e-12)


def test_subsampled_gaussian_at_whole_orders() -> None:
    """E (1 - q + q e^{x - 1/2})^α under N(0, 1), by the binomial theorem: E e^{j(x - 1/2)} = e^{j(j-1)/2}."""
    q = 0.1
    curve = oc.convert(oc.PoissonSubsampled(oc.Gaussian(1), q), oc.RenyiDP)
    for alpha in (2, 3, 8):
        terms = (
            math.comb(alpha, j) * q**j * (1 - q) ** (alpha - j) * math.exp(j * (j - 1) / 2) for j in range(alpha + 1)
        )
        assert value(curve, float(alpha)) == pytest.approx(math.log(sum(terms)) / (alpha - 1), rel=1e-11)


def test_divergences_add_up() -> None:
    once, twice = oc.RenyiDP(lambda alpha: 0.3 + 0.01 * alpha), oc.RenyiDP(lambda alpha: 0.6 + 0.02 * alpha)
    assert oc.compose({once: 2}, delta=1e-6).upper == pytest.approx(oc.compose([twice], delta=1e-6).upper, rel=1e-12)
    parts = {oc.ZCDP("0.01"): 3, oc.RenyiDP(lambda alpha: 0.02 * alpha): 1}
    assert oc.compose(parts, delta=1e-6).upper == pytest.approx(
        oc.compose([oc.ZCDP("0.05")], delta=1e-6).upper, rel=1e-9
    )


def test_between_sampled_orders_the_chord_is_an_upper_bound() -> None:
    true = oc.convert(oc.Laplace(1), oc.RenyiDP)
    sampled = oc.RenyiDP({alpha: value(true, alpha) * (1 + 1e-12) for alpha in (1.5, 2.0, 6.0, 20.0)})
    for alpha in (1.01, 1.2, 1.5, 1.7, 3.0, 5.9, 7.0, 19.0, 20.0):
        assert value(true, alpha) <= value(sampled, alpha) * (1 + 1e-11)
        assert value(sampled, alpha) <= value(sampled, 20.0)
    assert not sampled.renyi(20.5).is_finite()
    coarse = oc.RenyiDP(20, value(true, 20.0) * (1 + 1e-12))
    assert value(sampled, 5.0) < value(coarse, 5.0)


def test_tighter_than_the_old_conversion() -> None:
    old = min(0.02 * alpha + math.log(1e6) / (alpha - 1) for alpha in (1 + 0.01 * k for k in range(1, 20000)))
    assert oc.compose([oc.ZCDP(0.02)], delta=1e-6).upper < old


@pytest.mark.parametrize("wrong", [(1, 0.3), (0.5, 0.3), (2, -1), ({}, None), ({2: 0.1}, 0.3), (2, None)])
def test_bad_curves(wrong: tuple[float, float]) -> None:
    with pytest.raises(oc.InvalidGuarantee):
        oc.RenyiDP(*wrong)


def test_a_function_that_is_no_curve() -> None:
    for bad in (-1.0, math.nan, "much"):
        with pytest.raises(oc.InvalidGuarantee, match="curve"):
            oc.compose([oc.RenyiDP(lambda alpha, bad=bad: bad)], delta=1e-6)  # type: ignore[misc]
