"""Mechanisms and the privacy losses of lecture 2.1, with exact means, and what is no mechanism at all."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb

import optcomp as oc
from tests.oracles.losses import discrete_laplace_atoms, response_atoms
from tests.oracles.truth import Rational, real, working


@pytest.mark.parametrize(("sigma", "sensitivity"), [(2, 1), (0.5, 3), ("1/3", "0.1"), (1e3, 0.01)])
def test_gaussian_loss_is_normal(sigma: float | str, sensitivity: float | str) -> None:
    """N(Δ²/2σ², Δ²/σ²)."""
    loss = oc.Gaussian(sigma, sensitivity).loss
    square = (Fraction(sensitivity) / Fraction(sigma)) ** 2
    assert loss.mean == pytest.approx(float(square / 2), rel=1e-15)
    assert loss.variance == pytest.approx(float(square), rel=1e-15)
    assert loss.cdf(loss.mean) == pytest.approx(0.5)


def test_lecture_choice_of_sigma() -> None:
    """σ = Δ√(2 ln(1/δ))/ε has the mean loss ε²/(4 ln(1/δ))."""
    eps, delta = 0.7, 1e-5
    sigma = math.sqrt(2 * math.log(1 / delta)) / eps
    assert oc.Gaussian(sigma).loss.mean == pytest.approx(eps**2 / (4 * math.log(1 / delta)))


@pytest.mark.parametrize("eps", [1e-6, 0.1, 1.0, 7.0, 300.0])
def test_mean_losses_of_the_lecture(eps: float) -> None:
    """Randomized response ε tanh(ε/2); Laplace (Exercise 2.1) ε - 1 + e^{-ε}; both about ε²/2 for small ε."""
    with working(200):
        x = real(eps)
        response, laplace = x * (x / 2).tanh(), x + (-x).expm1()
    assert oc.RandomizedResponse(eps).loss.mean == pytest.approx(float(response.mid()), rel=1e-13)
    assert oc.Laplace(1, eps).loss.mean == pytest.approx(float(laplace.mid()), rel=1e-13)
    assert oc.Laplace(1, eps).loss.most == oc.RandomizedResponse(eps).loss.most == eps


def test_laplace_loss_has_an_atom_at_either_end() -> None:
    """Exercise 2.1: ε with probability 1/2, -ε with e^{-ε}/2, a density in between."""
    loss = oc.Laplace(2).loss
    assert loss.cdf(0.5) == 1.0
    assert loss.cdf(math.nextafter(0.5, 0)) == pytest.approx(0.5)
    assert loss.cdf(-0.5) == pytest.approx(math.exp(-0.5) / 2)
    assert loss.cdf(math.nextafter(-0.5, -1)) == 0.0


@pytest.mark.parametrize(("eps", "answers"), [(0.3, 2), (1.0, 3), (2.0, 1000)])
def test_response_loss(eps: float, answers: int) -> None:
    with working(200):
        atoms = response_atoms(eps, answers)
        mean = sum((p * real(place) for place, p in atoms), arb(0))
        square = sum((p * real(place) ** 2 for place, p in atoms), arb(0))
    loss = oc.RandomizedResponse(eps, answers).loss
    assert loss.mean == pytest.approx(float(mean.mid()), rel=1e-14)
    assert loss.variance == pytest.approx(float((square - mean**2).mid()), rel=1e-13)
    assert loss.delta(0.0) == pytest.approx(math.expm1(eps) / (math.exp(eps) + answers - 1), rel=1e-14)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 1), (3.0, 2), (Fraction(1, 7), 5)])
def test_discrete_laplace_loss(scale: Rational, shift: int) -> None:
    mechanism = oc.DiscreteLaplace(scale, shift)
    with working(200):
        atoms = discrete_laplace_atoms(scale, shift)
        assert sum((p for _, p in atoms), arb(0)).contains(1)
        mean = sum((p * real(place) for place, p in atoms), arb(0))
    assert mechanism.loss.mean == pytest.approx(float(mean.mid()), rel=1e-13)
    assert mechanism.pure == shift / Fraction(scale)


def test_sparse_vector_is_the_sum_of_its_parts() -> None:
    """However many questions: ε_threshold + ε_queries."""
    mechanism = oc.SparseVectorDP("0.1", "0.2")
    assert (mechanism.epsilon, mechanism.delta) == (Fraction(3, 10), 0)
    assert oc.compose([mechanism] * 4, delta=1e-3) == oc.compose(["0.3"] * 4, delta=1e-3)


def test_d_counts() -> None:
    """d counts of one person each: Laplace by ℓ1 needs noise d/ε, Gaussian by ℓ2 about √d of that."""
    d, delta = 100, 1e-6
    gaussian = oc.Gaussian(10, "10")  # ℓ2 sensitivity √d
    assert oc.compose([gaussian], delta=delta) == oc.compose([oc.GaussianDP(1)], delta=delta)
    assert oc.compose({oc.Gaussian(10): d}, delta=delta).upper == oc.compose([gaussian], delta=delta).upper
    assert oc.compose({oc.Laplace(d): d}, delta=0).upper == pytest.approx(1.0, rel=1e-15)
    laplace = {oc.Laplace(25): d}
    loss = oc.compose(laplace, delta=delta).upper
    pairs = oc.compose({oc.PureDP("0.04"): d}, delta=delta).upper
    strong = oc.compose({oc.PureDP("0.04"): d}, delta=delta, method="strong").upper
    assert loss < pairs < strong < oc.compose({oc.PureDP("0.04"): d}, delta=0).upper == 4.0


def test_equal_ratios_cost_the_same() -> None:
    for one, other in (
        (oc.Laplace(2), oc.Laplace(10, 5)),
        (oc.Gaussian(2), oc.Gaussian(1, 0.5)),
        (oc.Gaussian(2), oc.GaussianDP(0.5)),
        (oc.PoissonSubsampled(oc.Gaussian(2), 1), oc.GaussianDP(0.5)),
        (oc.RandomizedResponse(1), oc.PureDP(1)),
    ):
        first, second = (oc.compose([part], delta=1e-3) for part in (one, other))
        assert first.upper == pytest.approx(second.upper, rel=1e-15)


def test_numbers_are_kept_exactly() -> None:
    assert oc.Laplace("0.1").pure == 10
    assert oc.Laplace(0.1).pure != 10
    assert oc.Gaussian(10) == oc.Gaussian(10.0) == oc.Gaussian("10")
    assert hash(oc.Gaussian(10)) == hash(oc.Gaussian(10.0))
    assert oc.Gaussian(10) != oc.Gaussian(10, 2)


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, True, "x", None, 1e300])
@pytest.mark.parametrize("kind", [oc.Laplace, oc.Gaussian, oc.DiscreteLaplace, oc.DiscreteGaussian, oc.GaussianDP])
def test_bad_noise(kind: type, wrong: object) -> None:
    with pytest.raises(oc.InvalidGuarantee):
        kind(wrong)


@pytest.mark.parametrize("rate", [0, -0.1, 1.0001, math.nan, "x", 1e-9])
def test_bad_rates(rate: float) -> None:
    with pytest.raises(oc.InvalidGuarantee, match="rate"):
        oc.PoissonSubsampled(oc.Gaussian(1), rate)


def test_what_cannot_be_subsampled() -> None:
    for other in (oc.PureDP(1), oc.ZCDP(1), oc.PoissonSubsampled(oc.Gaussian(1), 0.5), None):
        with pytest.raises(oc.InvalidGuarantee, match="mechanism"):
            oc.PoissonSubsampled(other, 0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("answers", [1, 0, 2.0, True, 10**10])
def test_bad_numbers_of_answers(answers: int) -> None:
    with pytest.raises(oc.InvalidInput, match="answers"):
        oc.RandomizedResponse(1, answers)


@pytest.mark.parametrize("sensitivity", [0, 1.5, 1001, True])
def test_bad_whole_sensitivities(sensitivity: int) -> None:
    for kind in (oc.DiscreteLaplace, oc.DiscreteGaussian):
        with pytest.raises(oc.InvalidInput, match="sensitivity"):
            kind(100, sensitivity)
