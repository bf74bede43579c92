"""The privacy loss as people look at it: published numbers are on the safe side of the truth, by a rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.guarantees.loss import PrivacyLoss
from tests.oracles.losses import (
    Hockey,
    discrete_gaussian_hockey,
    gaussian_hockey,
    laplace_hockey,
    subsampled_gaussian_hockey,
    subsampled_laplace_hockey,
)
from tests.oracles.truth import real, working

CURVES: dict[str, tuple[PrivacyLoss, list[Hockey]]] = {
    "gaussian": (oc.Gaussian(2).loss, [gaussian_hockey(0.5)]),
    "laplace": (oc.Laplace("1/3").loss, [laplace_hockey(3)]),
    "discrete": (oc.DiscreteGaussian(1.5, 2).loss, [discrete_gaussian_hockey(1.5, 2)]),
    "subsampled gaussian": (
        oc.PoissonSubsampled(oc.Gaussian(1), 0.1).loss,
        [subsampled_gaussian_hockey(1, 0.1, "towards"), subsampled_gaussian_hockey(1, 0.1, "away")],
    ),
    "subsampled laplace": (
        oc.PoissonSubsampled(oc.Laplace(2), 0.3).loss,
        [subsampled_laplace_hockey(0.5, 0.3, "towards"), subsampled_laplace_hockey(0.5, 0.3, "away")],
    ),
}


def worst(hockeys: list[Hockey], y: float) -> arb:
    found = [hockey(arb(y)) for hockey in hockeys]
    return found[0] if len(found) == 1 else found[0].max(found[1])


@pytest.mark.parametrize("name", list(CURVES))
def test_hockey_stick_is_rounded_up_and_no_more(name: str) -> None:
    loss, hockeys = CURVES[name]
    for y in (-2.0, -0.1, 0.0, 1e-9, 0.003, 0.2, 0.4, 1.0, 2.5, 7.0, 30.0):
        found = loss.delta(y)
        with working(300):
            true = worst(hockeys, y)
            assert not true > found, y
            below = math.nextafter(found, -math.inf)
            assert found == 0 or not true < below * (1 - 1e-15), y


@pytest.mark.parametrize("name", list(CURVES))
def test_no_test_beats_the_trade_off_curve(name: str) -> None:
    """f(α) + e^t α >= 1 - δ(t) cannot be promised by more than the truth: f is at most every 1 - P(E) at Q(E) = α."""
    loss, hockeys = CURVES[name]
    for alpha in (0.0, 1e-9, 0.01, 0.2, 0.5, 0.9, 1.0):
        found = loss.tradeoff(alpha)
        with working(200):
            bound = max(
                float((1 - worst(hockeys, t) - arb(t).exp() * arb(alpha)).upper())
                for t in (k * 0.1 for k in range(-80, 81))
            )
        assert 0 <= found <= 1 - alpha + 1e-15
        assert found >= bound * (1 - 1e-12) - 1e-15  # every t gives a bound that holds, and the best one counts


def test_gaussian_trade_off() -> None:
    """Φ(Φ^{-1}(1 - α) - μ) at levels whose quantiles are whole numbers."""
    with working(128):
        for quantile in (-3, -1, 0, 1, 2, 5):
            level = (arb(quantile) / arb(2).sqrt()).erfc() / 2
            true = 1 - ((arb(quantile) - real(0.5)) / arb(2).sqrt()).erfc() / 2
            found = oc.GaussianDP(0.5).loss.tradeoff(float(level.mid()))
            assert found == pytest.approx(float(true.mid()), rel=1e-9)


def test_name_and_shame() -> None:
    """Lecture 2.1: infinite with probability δ, else 0; so its mean is infinite, but only by that event."""
    loss = oc.NameAndShame(Fraction(1, 3)).loss
    assert loss.infinite == pytest.approx(1 / 3)
    assert loss.mean == loss.variance == loss.most == 0
    assert Fraction(loss.delta(0.0)) >= Fraction(1, 3)
    assert loss.delta(0.0) == loss.delta(700.0) == pytest.approx(1 / 3, rel=1e-15)
    assert loss.cdf(0.0) == pytest.approx(2 / 3)
    assert loss.cdf(-1e-9) == 0.0
    assert Fraction(loss.tradeoff(0.25)) <= Fraction(2, 3) - Fraction(1, 4)
    assert loss.tradeoff(0.25) == pytest.approx(2 / 3 - 0.25, abs=1e-9)


@settings(max_examples=30)
@given(st.sampled_from(list(CURVES)), st.floats(0, 6), st.floats(0, 2))
def test_curves_fall(name: str, y: float, more: float) -> None:
    loss, _ = CURVES[name]
    assert loss.delta(y + more) <= loss.delta(y)
    assert loss.cdf(y + more) >= loss.cdf(y) - 1e-15


def test_directions() -> None:
    loss = oc.PoissonSubsampled(oc.Gaussian(1), 0.2).loss
    assert [part.delta(0.3) <= loss.delta(0.3) for part in loss.directions] == [True, True]
    assert len(oc.Laplace(1).loss.directions) == 1
    assert loss.most == math.inf
    assert loss.directions[1].most == pytest.approx(-math.log1p(-0.2))


@pytest.mark.parametrize("alpha", [-0.1, 1.5, math.nan])
def test_bad_levels(alpha: float) -> None:
    with pytest.raises(oc.InvalidInput, match="alpha"):
        oc.Laplace(1).loss.tradeoff(alpha)
