"""Samples that hold nearly everybody, and other arguments at the ends of what is taken: answers that hold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import optcomp as oc
from optcomp.checker import check
from optcomp.composition.reading import Items
from tests.campaign import run
from tests.campaign.classes import judged

NEAR = 1 - Fraction(1, 10**17)
"""The nearest double is 1."""
NOISES = [oc.Gaussian(1.0), oc.Laplace(1.0), oc.DiscreteGaussian(4)]


def test_a_rate_that_rounds_to_one() -> None:
    """It costs as much as everybody, but for one part in 10^17, and the answer is as narrow as usual."""
    found = oc.compose([oc.PoissonSubsampled(oc.Gaussian(1.0), NEAR)] * 2, delta=1e-6)
    everybody = oc.compose([oc.Gaussian(1.0)] * 2, delta=1e-6)
    assert found.width <= 1e-9
    assert found.lower <= everybody.upper
    assert everybody.lower <= found.upper + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("power", [8, 17, 40, 400])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
@pytest.mark.parametrize("given", [{"delta": 1e-6}, {"epsilon": 1.0}], ids=str)
def test_answers_lie_between_those_of_other_rates(noise: Any, neighbours: Any, power: int, given: Any) -> None:
    for copies in (1, 2, 30):

        def cost(rate: Fraction | float, copies: int = copies) -> oc.Bound:
            return oc.compose({oc.PoissonSubsampled(noise, rate, neighbours): copies}, **given)

        found = cost(1 - Fraction(1, 10**power))
        assert cost(Fraction(99, 100)).lower <= found.upper
        assert found.lower <= cost(1).upper


@pytest.mark.slow
def test_the_checker_proves_such_answers() -> None:
    """With code that shares nothing with the engine."""
    cases: list[tuple[Any, Any]] = [(oc.Gaussian(1.0), "replace"), (oc.DiscreteGaussian(4), "add-remove")]
    for noise, neighbours in cases:
        bound = oc.compose({oc.PoissonSubsampled(noise, NEAR, neighbours): 2}, delta=1e-6)
        assert check(bound.certificate(rtol=1e-6)).proved


@pytest.mark.parametrize("rate", [NEAR, 1 - Fraction(1, 10**400)], ids=["17", "400"])
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_losses_of_such_rates_are_known(noise: Any, rate: Fraction) -> None:
    """Mean and variance, in the direction in which they are larger, are near those of the noise."""
    found, whole = oc.PoissonSubsampled(noise, rate).loss, noise.loss
    assert found.mean == pytest.approx(whole.mean, rel=1e-9)
    assert found.variance == pytest.approx(whole.variance, rel=1e-9)


def test_an_epsilon_beyond_doubles() -> None:
    """Next to nothing is left of δ, however the losses are composed."""
    far = Fraction(10**400)
    lists: list[Items] = [
        {oc.Gaussian(1): 3},
        {oc.ZCDP(1): 3},
        {oc.Gaussian(1): 1, 0.5: 3},
        [oc.GaussianDP(1), oc.ZCDP(1)],
    ]
    for parts in lists:
        bound = oc.compose(parts, epsilon=far)
        assert (bound.lower, bound.upper < 1e-300) == (0.0, True)


def test_a_discrete_tail_far_out() -> None:
    """P(X < b) for a b beyond doubles, and for one that is not known."""
    (law,) = oc.DiscreteGaussian(3).laws
    own, other = law.sides(1e308)
    assert own < 1e-300
    assert other < 1e-300
    assert law.tail(float("nan")).overlaps(law.tail(0.0))


@pytest.mark.parametrize("seed", [56, 68, 131])
def test_some_hostile_arguments(seed: int) -> None:
    assert not run.told(judged("hostile-arguments", seed))
