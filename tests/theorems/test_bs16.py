"""BS16: zero-concentrated differential privacy, plain and approximate."""

from __future__ import annotations

import math

import pytest

import optcomp as oc


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-20])
@pytest.mark.parametrize("rho", [0.001, 0.05, 1.0])
def test_never_worse_than_the_published_conversion(rho: float, delta: float) -> None:
    assert oc.compose([oc.ZCDP(rho)], delta=delta).upper <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_rho_adds_up() -> None:
    assert oc.compose({oc.ZCDP("0.01"): 7}, delta=1e-6).upper == pytest.approx(
        oc.compose([oc.ZCDP("0.07")], delta=1e-6).upper, rel=1e-12
    )


def test_pure_and_gaussian_imply_it() -> None:
    assert oc.convert(oc.PureDP("0.2"), oc.ZCDP) == oc.ZCDP("0.02")
    assert oc.convert(oc.Laplace(5), oc.ZCDP) == oc.ZCDP("0.02")
    assert oc.convert(oc.Gaussian(5), oc.ZCDP) == oc.ZCDP("0.02")
    for alpha in (1.1, 2.0, 50.0):
        curve = oc.convert(oc.RandomizedResponse("0.2"), oc.RenyiDP)
        assert float(curve.renyi(alpha).mid()) <= 0.02 * alpha


def test_lower_side_is_a_gaussian() -> None:
    bound = oc.compose([oc.ZCDP("0.02")] * 3, delta=1e-6)
    gaussian = oc.compose([oc.Gaussian(5)] * 3, delta=1e-6)
    assert bound.lower == pytest.approx(gaussian.lower, rel=1e-6)
    assert bound.lower <= gaussian.lower < bound.upper


def test_approximate() -> None:
    """δ_i leak: 1 - ∏(1 - δ_i) of the total δ is spent on them."""
    plain, leak = oc.ZCDP("0.02"), 1 - (1 - 1e-7) ** 4
    approximate = oc.compose([oc.ApproxZCDP("0.02", 1e-7)] * 4, delta=1e-6)
    rest = (1e-6 - leak) / (1 - leak)
    assert approximate.upper == pytest.approx(oc.compose([plain] * 4, delta=rest).upper, rel=1e-9)
    assert math.isinf(oc.compose([oc.ApproxZCDP("0.02", 1e-6)] * 4, delta=1e-6).upper)


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "x", 1e9])
def test_bad_rho(wrong: object) -> None:
    with pytest.raises(oc.InvalidGuarantee, match="rho"):
        oc.ZCDP(wrong)  # type: ignore[arg-type]
