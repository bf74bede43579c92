"""Lecture exercise 3.2, checked in balls: the densities add up, have mass one, and the samples follow them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb
from hypothesis import example, given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.numerics.balls import ball, precision
from optcomp.proofs import Finite, LaplaceMap, simulate

MANY = settings(max_examples=500)
MAPS = [LaplaceMap(1.0, 1.0), LaplaceMap(0.5, 4.0), LaplaceMap(3.0, 0.25)]
Density = Callable[[acb, acb, acb], acb]


def _p(z: acb, b: acb) -> acb:
    return (-z / b).exp() / (2 * b)


def _left(z: acb, shift: acb, b: acb) -> acb:
    return (1 + (-shift / b).exp()) * _p(-z, b)


def _middle(z: acb, shift: acb, b: acb) -> acb:
    return ((shift - z) / b).sinh() / (b * ((shift / b).exp() - 1))


def _mass(density: Density, low: acb, high: acb, shift: acb, b: acb) -> arb:
    return acb.integral(lambda z, _: density(z, shift, b), low, high).real


def _numbers(made: LaplaceMap) -> tuple[acb, acb]:
    return acb(ball(made.shift)), acb(ball(made.scale))


@pytest.mark.parametrize("made", MAPS, ids=str)
def test_the_densities_have_mass_one(made: LaplaceMap) -> None:
    """∫ g_1 over (−40b, 0) and (0, Δ) in balls; what is left of −40b is (1 + e^{−ε})/2 · e^{−40}."""
    with precision(128):
        shift, b = _numbers(made)
        far = (1 + (-shift / b).exp()).real / 2 * arb(-40).exp()
        mass = _mass(_left, -40 * b, acb(0), shift, b) + _mass(_middle, acb(0), shift, shift, b) + far
        assert abs(mass - 1) < arb(10) ** -30


@pytest.mark.parametrize("made", MAPS, ids=str)
def test_the_mixture_is_laplace_noise(made: LaplaceMap) -> None:
    """∫ |U(1) g_1 + U(2) g_2 − p| is zero: the integrand is, to 35 digits, on each of the three pieces."""
    with precision(128):
        shift, b = _numbers(made)
        likely = 1 / (1 + (-shift / b).exp())
        for k in range(1, 20):
            inside, outside = shift * k / 20, b * k / 4
            middle = likely * _middle(inside, shift, b) + (1 - likely) * _middle(shift - inside, shift, b)
            assert abs(middle - _p(inside, b)) < arb(10) ** -35
            assert abs(likely * _left(-outside, shift, b) - _p(outside, b)) < arb(10) ** -35
            assert abs((1 - likely) * _left(-outside, shift, b) - _p(shift + outside, b)) < arb(10) ** -35


@MANY
@given(st.sampled_from(MAPS), st.floats(-20, 20), st.sampled_from([1, 2]))
@example(MAPS[0], 0.0, 1)
@example(MAPS[0], 1.0, 2)
def test_floats_follow_the_balls(made: LaplaceMap, z: float, answer: int) -> None:
    with precision(1200):  # z may be tiny
        shift, b = _numbers(made)
        place = acb(ball(z)) if answer == 1 else shift - acb(ball(z))
        exact = _left(place, shift, b) if place.real <= 0 else _middle(place, shift, b)
        truth = float(exact.real) if place.real < shift.real else 0.0
    assert made.density(answer, z) == pytest.approx(truth, rel=1e-13, abs=1e-300)


@MANY
@given(st.floats(0.01, 10), st.floats(0.1, 10), st.floats(-30, 30))
@example(1.0, 1.0, 0.0)
@example(1.0, 1.0, 1.0)
def test_randomized_response_becomes_laplace_noise(shift: float, scale: float, z: float) -> None:
    made = LaplaceMap(shift, scale)
    for secret, centre in ((0, 0.0), (1, shift)):
        assert made.mixed(secret, z) == pytest.approx(made.laplace(centre, z), rel=1e-11)
    assert made.density(1, z) == pytest.approx(made.density(2, shift - z), rel=1e-11, abs=1e-14)


@given(st.sampled_from(MAPS), st.floats(0.001, 0.999), st.sampled_from([1, 2]))
def test_cumulative_and_quantile(made: LaplaceMap, u: float, answer: int) -> None:
    z = made.quantile(answer, u)
    assert made.cumulative(answer, z) == pytest.approx(u, rel=1e-12)
    step = 1e-6 * made.scale
    slope = (made.cumulative(answer, z + step) - made.cumulative(answer, z - step)) / (2 * step)
    assert slope == pytest.approx(made.density(answer, z), rel=1e-3, abs=1e-3 / made.scale)


@pytest.mark.parametrize("made", MAPS, ids=str)
def test_cumulative_is_the_integral(made: LaplaceMap) -> None:
    for k in range(1, 8):
        z = made.shift * k / 8
        with precision(128):
            shift, b = _numbers(made)
            right = _mass(_middle, acb(ball(z)), shift, shift, b)
            assert made.cumulative(1, z) == pytest.approx(float(1 - right), rel=1e-14)
            assert made.cumulative(2, made.shift - z) == pytest.approx(float(right), rel=1e-12)
    assert made.cumulative(1, made.shift + 1) == 1
    assert made.cumulative(2, -1.0) == 0


@pytest.mark.parametrize("made", MAPS, ids=str)
def test_agrees_with_the_finite_lemma(made: LaplaceMap) -> None:
    """Sorted into bins, the two noises are a finite pair, and at δ = 0 its simulator is unique: the same map."""
    cuts = [-math.inf, -made.scale, *(made.shift * k / 6 for k in range(7)), made.shift + made.scale, math.inf]
    x, y = (_binned(made, cuts, centre) for centre in (0.0, made.shift))
    kernel = simulate(x, y, math.exp(made.epsilon), 1e-13)
    for answer in (1, 2):
        for i, (low, high) in enumerate(pairwise(cuts)):
            mass = made.cumulative(answer, high) - made.cumulative(answer, low)
            assert float(kernel(answer)[i]) == pytest.approx(mass, abs=1e-11)


def _binned(made: LaplaceMap, cuts: list[float], centre: float) -> Finite[int]:
    below = [_laplace_below(cut, centre, made.scale) for cut in cuts]
    return Finite({i: high - low for i, (low, high) in enumerate(pairwise(below))})


def _laplace_below(z: float, centre: float, scale: float) -> float:
    tail = math.exp(-abs(z - centre) / scale) / 2
    return tail if z < centre else 1 - tail


@pytest.mark.parametrize("kind", [random.Random, np.random.default_rng])
def test_samples_follow_the_noise(kind: Callable[[int], random.Random]) -> None:
    """Kolmogorov–Smirnov: 4000 draws stay within 1.95/√n of the distribution function (1 in 1000 would not)."""
    made, generator = LaplaceMap(2.0, 1.5), kind(7)
    for secret, centre in ((0, 0.0), (1, 2.0)):
        draws = sorted(made.noise(secret, generator) for _ in range(4000))
        gaps = [abs((i + 0.5) / 4000 - _laplace_below(z, centre, 1.5)) for i, z in enumerate(draws)]
        assert max(gaps) < 1.95 / math.sqrt(4000)


def test_the_ends_of_the_unit_interval_are_safe() -> None:
    class Fixed(random.Random):
        value = 0.0

        def random(self) -> float:
            return self.value

    made, generator = MAPS[0], Fixed()
    for generator.value in (0.0, 2**-53, 1 - 2**-53):
        assert all(math.isfinite(made.sample(answer, generator)) for answer in (1, 2))


def test_refuses_bad_numbers() -> None:
    for shift, scale in ((0.0, 1.0), (1.0, -1.0), (math.inf, 1.0), (1.0, math.nan), (1000.0, 1.0)):
        with pytest.raises(InvalidInput, match=r"shift|scale"):
            LaplaceMap(shift, scale)
    with pytest.raises(InvalidInput, match="answer: must be 1 or 2"):
        MAPS[0].density(0, 0.0)
    with pytest.raises(InvalidInput, match="u: must lie between 0 and 1"):
        MAPS[0].quantile(1, 1.0)


def test_large_epsilon() -> None:
    made = LaplaceMap(700.0, 1.0)
    assert made.mixed(0, 3.0) == pytest.approx(made.laplace(0.0, 3.0))
