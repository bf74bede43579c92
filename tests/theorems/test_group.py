"""GROUP: paths of neighbours whose laws are known exactly, step by step and end to end."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.theorems.group import delta_of_group, for_groups
from tests.oracles.rational import log_between
from tests.oracles.truth import real, working

Law = list[Fraction]
ODDS = [Fraction(3, 2), Fraction(2), Fraction(10)]
SLIPS = [Fraction(0), Fraction(1, 10**8), Fraction(1, 10**5)]
SIZES = [1, 2, 3, 5]


def distance(one: Law, other: Law, odds: Fraction) -> Fraction:
    """Σ(P - e^ε Q)_+, exactly."""
    return sum((max(p - odds * q, Fraction(0)) for p, q in zip(one, other, strict=True)), Fraction(0))


def private(one: Law, other: Law, odds: Fraction, slip: Fraction) -> bool:
    """Whether two laws are (log odds, slip)-indistinguishable, both ways."""
    return max(distance(one, other, odds), distance(other, one, odds)) <= slip


def worst_path(odds: Fraction, slip: Fraction, size: int) -> list[Law]:
    """An event whose chance grows in each step as fast as (ε, δ) allows, from one in a million on."""
    chances = [Fraction(1, 10**6)]
    for _ in range(size):
        chances.append(odds * chances[-1] + slip)
    return [[chance, 1 - chance] for chance in reversed(chances)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("odds", ODDS)
def test_some_path_attains_it(odds: Fraction, slip: Fraction, size: int) -> None:
    """So no smaller δ would do: the promise is the true δ of this path, but for rounding."""
    path = worst_path(odds, slip, size)
    assert all(private(one, other, odds, slip) for one, other in pairwise(path))
    truth = distance(path[0], path[-1], odds**size)
    assert truth == slip * sum(odds**step for step in range(size))
    low, high = log_between(odds, 200)
    assert delta_of_group(high, slip, size) >= truth
    assert delta_of_group(low, slip, size) <= truth * (1 + Fraction(1, 2**50))


@given(
    st.lists(st.lists(st.integers(1, 40), min_size=3, max_size=3), min_size=2, max_size=5),
    st.sampled_from(ODDS),
)
@settings(deadline=None)
def test_no_path_goes_beyond_it(weights: list[list[int]], odds: Fraction) -> None:
    """Any laws in a row: the least δ of their steps at e^ε, and what follows for the ends."""
    path = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    slip = max(max(distance(one, other, odds), distance(other, one, odds)) for one, other in pairwise(path))
    size = len(path) - 1
    promise = delta_of_group(log_between(odds, 200)[1], slip, size)
    assert private(path[0], path[-1], odds**size, promise)


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize("size", SIZES)
def test_randomized_response_of_several_people(odds: Fraction, size: int) -> None:
    """Each tells a bit: who changes `size` bits changes the likelihood of some answer by odds^size, and no more."""
    true = odds / (1 + odds)
    answers = list(product((0, 1), repeat=size))
    one = [math.prod(true if bit == 0 else 1 - true for bit in answer) for answer in answers]
    other = [math.prod(true if bit == 1 else 1 - true for bit in answer) for answer in answers]
    most = max(p / q for p, q in zip(one, other, strict=True))
    assert most == odds**size
    group = for_groups(oc.PureDP(log_between(odds, 200)[1]), size)
    assert isinstance(group, oc.PureDP)
    with working(300):
        assert real(group.epsilon).exp() >= real(most)
        assert real(group.epsilon).exp() <= real(most) * (1 + arb(2) ** -150)


def laplace(center: int, scale: int, reach: int) -> list[arb]:
    """Two-sided geometric noise on whole numbers, the ends taken together: a law of 2·reach + 1 values."""
    ratio = (-1 / arb(scale)).exp()
    inner = [(1 - ratio) / (1 + ratio) * ratio ** abs(place - center) for place in range(-reach + 1, reach)]
    ends = [ratio ** (abs(end - center)) / (1 + ratio) for end in (-reach, reach)]
    return [ends[0], *inner, ends[1]]


@pytest.mark.parametrize("size", SIZES)
def test_laplace_noise_on_a_path(size: int) -> None:
    """A count that moves by one in each step: e^{size/scale} is the largest ratio of the ends, attained."""
    group: Any = for_groups(oc.DiscreteLaplace(7), size)
    assert group == oc.DiscreteLaplace(7, size)
    assert for_groups(oc.Laplace(7), size) == oc.Laplace(7, size)
    with working(200):
        one, other = laplace(0, 7, 20), laplace(size, 7, 20)
        worst = max(float((p / q).mid()) for p, q in zip(one, other, strict=True))
        assert worst == pytest.approx(math.exp(group.pure), rel=1e-12)


def renyi(one: list[float], other: list[float], order: float) -> float:
    total = math.fsum(p**order * q ** (1 - order) for p, q in zip(one, other, strict=True))
    return math.log(total) / (order - 1)


ORDERS = [1.001, 1.05, 1.2, 1.5, 2, 3, 5, 9, 20, 60, 150]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_concentrated_privacy_of_random_paths(size: int) -> None:
    """ρ is the largest D_α/α of all steps; the ends have D_α <= k²ρα."""
    generator, nearest = random.Random(size), 0.0
    for _ in range(300):
        path = []
        for _ in range(size + 1):
            weights = [generator.uniform(1, 1.5) for _ in range(3)]
            path.append([weight / math.fsum(weights) for weight in weights])
        steps = [*pairwise(path), *((two, one) for one, two in pairwise(path))]
        rho = max(renyi(one, two, order) / order for one, two in steps for order in ORDERS)
        for order in ORDERS:
            share = renyi(path[0], path[-1], order) / (size**2 * rho * order)
            nearest = max(nearest, share)
    assert 0.1 < nearest <= 1


@pytest.mark.parametrize("size", SIZES)
def test_gaussian_noise_attains_it(size: int) -> None:
    """D_α of N(0, 1) and N(kμ, 1) by a sum over a fine grid: exactly k² times as much."""
    mu, grid = 0.3, [place / 100 for place in range(-1200, 1201)]
    for order in (1.5, 2.0, 8.0):
        # the integrand is a normal density around (1 - α)kμ, here moved into the middle of the grid
        shift = (1 - order) * size * mu
        logs = [-order * x * x / 2 - (1 - order) * (x - size * mu) ** 2 / 2 for x in (y + shift for y in grid)]
        total = math.fsum(math.exp(value) for value in logs) / 100 / math.sqrt(2 * math.pi)
        found = math.log(total) / (order - 1)
        assert found == pytest.approx(size**2 * (mu**2 / 2) * order, rel=1e-9)
    assert for_groups(oc.ZCDP("0.045"), size) == oc.ZCDP(size**2 * Fraction("0.045"))
    assert for_groups(oc.GaussianDP("0.3"), size) == oc.GaussianDP(size * Fraction("0.3"))
    assert for_groups(oc.Gaussian(10, 3), size) == oc.Gaussian(10, 3 * size)
    assert for_groups(oc.DiscreteGaussian(10, 3), size) == oc.DiscreteGaussian(10, 3 * size)


@given(st.lists(st.lists(st.integers(0, 6), min_size=4, max_size=4), min_size=2, max_size=4))
def test_the_exponential_mechanism_on_a_path(scores: list[list[int]]) -> None:
    """With odds 2 for each point of score: the range of the loss from end to end is at most that of all steps."""
    laws = [[Fraction(2) ** score / sum(Fraction(2) ** each for each in row) for score in row] for row in scores]

    def reach(one: Law, two: Law) -> Fraction:
        ratios = [p / q for p, q in zip(one, two, strict=True)]
        return max(ratios) / min(ratios)

    widest = max(reach(one, two) for one, two in pairwise(laws))
    size = len(laws) - 1
    assert reach(laws[0], laws[-1]) <= widest**size
    assert for_groups(oc.Exponential("0.2"), size) == oc.Exponential(size * Fraction("0.2"))


def test_other_guarantees() -> None:
    assert for_groups(oc.PureDP("0.3"), 2) == oc.PureDP("0.6")
    assert for_groups(oc.NameAndShame("1e-6"), 3) == oc.ApproxDP(0, "3e-6")
    assert for_groups(oc.RandomizedResponse("0.3"), 2) == oc.PureDP("0.6")
    assert for_groups(oc.SparseVectorDP("0.1", "0.2"), 2) == oc.PureDP("0.6")
    found = for_groups(oc.ApproxDP("1", "1e-6"), 2)
    assert isinstance(found, oc.ApproxDP)
    assert found.epsilon == 2
    assert float(found.delta) == pytest.approx(1e-6 * (1 + math.e), rel=1e-15)
    assert Fraction(found.delta) > Fraction("3.718281828459e-6")


@pytest.mark.parametrize(
    "guarantee",
    [
        oc.RenyiDP(8, "0.1"),
        oc.TCDP("0.1", 9),
        oc.ApproxZCDP("0.1", "1e-6"),
        oc.PoissonSubsampled(oc.Gaussian(5), "0.1"),
        oc.ApproxDP(20, "1e-3"),
        oc.ApproxDP(10**6, "1e-300"),
        "0.1",
    ],
)
def test_what_no_theorem_covers(guarantee: Any) -> None:
    with pytest.raises(HypothesisNotMet) as error:
        for_groups(guarantee, 2)
    assert error.value.theorem == "GROUP"


@pytest.mark.parametrize("size", [0, -1, 1.5, True, 1001, "2"])
def test_bad_sizes(size: Any) -> None:
    with pytest.raises(InvalidInput, match="size"):
        for_groups(oc.PureDP(1), size)
