"""Answers of the grid against oracles: two rounds as an integral in balls, lattices multiplied out, and the contour."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random

import pytest
from flint import arb

import optcomp as oc
from optcomp.numerics.contour import Independent, excess_at
from optcomp.numerics.grids import Found, way_for
from optcomp.numerics.laws import MixedNormalLaw
from optcomp.numerics.laws.law import Summand
from optcomp.numerics.laws.mixed_normal import Direction
from tests.oracles.gridded import TwoRounds
from tests.oracles.losses import (
    discrete_gaussian_whole,
    discrete_laplace_atoms,
    response_atoms,
    subsampled_gaussian_hockey,
    sums_of,
)
from tests.oracles.truth import Rational, real, working

WORK = 1e9
Atoms = list[tuple[Fraction, arb]]
Noise = oc.RandomizedResponse | oc.DiscreteLaplace | oc.DiscreteGaussian


def _found(laws: list[tuple[Summand, int]], y: float, rtol: float) -> Found:
    way = way_for(laws)
    assert way is not None
    found = way.excess(y, rtol, WORK)
    assert found is not None
    return found


def _encloses(found: Found, truth: arb) -> bool:
    return bool(arb(found.lower).exp() <= truth) and bool(truth <= arb(found.upper).exp())


SETTINGS: list[tuple[Rational, Rational, float, Direction]] = [
    (1.0, 0.01, 0.2455, "towards"),
    (1.0, 0.01, 0.015, "towards"),
    (1.0, 0.01, 0.015, "away"),
    (0.5, 0.3, 0.2, "towards"),
    (0.5, 0.3, 0.2, "away"),
    (3.0, 0.02, 3.0, "towards"),
    (Fraction(10, 3), Fraction(1, 3000), 0.01, "towards"),
    (1 / 3, 1e-3, 0.002, "towards"),
    (2.0, 0.9, 4.0, "towards"),
    (2.0, 0.9, 4.0, "away"),
    (6.0, 0.02, 12.0, "towards"),
    (4.0, 1e-6, 2.0, "towards"),
    (2.0, 1e-3, 0.9, "towards"),
    (5.0, 0.01, 20.0, "towards"),
    (5.0, 0.01, 0.015, "away"),
    (0.25, 0.5, 0.0, "away"),
    (2.0, 1 - Fraction(1, 3 * 10**3), 3.0, "away"),
]


@pytest.mark.parametrize(("mu", "q", "y", "way"), SETTINGS, ids=str)
def test_two_rounds(mu: Rational, q: Rational, y: float, way: Direction) -> None:
    """Between the sides, which are as near to each other as was asked for."""
    found = _found([(MixedNormalLaw(mu, q, way), 2)], y, 1e-9)
    with working(200):
        truth = TwoRounds(mu, q, way == "towards").excess(y)
        assert truth > 0
        assert _encloses(found, truth)
    assert found.upper - found.lower <= 1.01e-9


@pytest.mark.parametrize(("mu", "q", "t", "way"), [(1.0, 0.01, 1e-6, "towards"), (0.5, 0.3, 1e-2, "away")])
def test_root_of_two_rounds(mu: float, q: float, t: float, way: Direction) -> None:
    """F is at least t at the lower side and at most t at the upper one."""
    log_t = math.log(t)
    ends = math.nextafter(log_t, -math.inf), math.nextafter(log_t, math.inf)
    grid = way_for([(MixedNormalLaw(mu, q, way), 2)])
    assert grid is not None
    found = grid.root(ends, 1e-9, WORK)
    assert found is not None
    assert 0 < found.upper - found.lower <= 1e-9 * found.upper
    with working(200):
        truth = TwoRounds(mu, q, way == "towards")
        assert truth.excess(found.lower) >= real(t)
        assert truth.excess(found.upper) <= real(t)


RARE = [(0.001, 0.5, 20, 1e-5), (0.01, 0.5, 10, 1e-5), (0.0001, 0.3, 100, 1e-6), (0.00346, 0.67, 10, 1e-10)]


@pytest.mark.parametrize(("q", "sigma", "rounds", "t"), RARE)
def test_rare_large_losses(q: float, sigma: float, rounds: int, t: float) -> None:
    """Few rounds with little noise and small rates: narrow, and F passes t between the sides for the contour too."""
    laws: list[tuple[Summand, int]] = [(MixedNormalLaw(1 / sigma, q, "towards"), rounds)]
    log_t = math.log(t)
    way = way_for(laws)
    assert way is not None
    found = way.root((math.nextafter(log_t, -math.inf), math.nextafter(log_t, math.inf)), 1e-9, 5e8)
    assert found is not None
    assert not found.capped
    assert 0 < found.upper - found.lower <= 1e-9 * found.upper
    before, after = (
        excess_at(Independent(laws, math.inf), y, 1e-4, 1e8)[0] for y in (found.lower * 0.99, found.upper * 1.01)
    )
    assert before.upper >= log_t
    assert after.lower <= log_t
    assert before.lower > after.upper  # the contour can tell the two apart


def test_one_round() -> None:
    """All of it with one round, whose curve has a closed form."""
    for mu, q, y in ((1.0, 0.1, 0.05), (5.0, 0.3, 0.3), (2.0, Fraction(1, 3), 0.0)):
        found = _found([(MixedNormalLaw(mu, q, "away"), 1)], y, 1e-8)
        with working(200):
            assert _encloses(found, subsampled_gaussian_hockey(mu, q, "away")(real(y)))
        assert found.upper - found.lower <= 1.01e-8


def test_oracle_of_two_rounds() -> None:
    """At y = 0 with a rate near 1 two rounds are nearly Gaussian noise of √2 times the shift."""
    with working(200):
        q = 1 - Fraction(1, 10**30)
        for towards in (True, False):
            truth = TwoRounds(1, q, towards).excess(0)
            mu = arb(2).sqrt()
            known = 1 - (mu / 2 / arb(2).sqrt()).erfc()
            assert abs(truth - known) < 1e-25


def _discrete_gaussian_atoms(sigma: Rational, shift: int) -> Atoms:
    """All but e^{-30²/2}, which is counted in the last ones."""
    whole, square = discrete_gaussian_whole(sigma), 2 * Fraction(sigma) ** 2
    far = math.ceil(30 * float(sigma)) + 1
    xs = range(-far, far + 1)
    atoms = [((shift * shift - 2 * shift * x) / square, real(-x * x / square).exp() / whole) for x in xs]
    return [*atoms, (atoms[0][0] + 1, arb(0, 1) * real(Fraction(-far * far) / square).exp() * 9 * far)]


def _excess(atoms: Atoms, y: float) -> arb:
    total = arb(0)
    for place, mass in atoms:
        if place > y:
            total -= mass * real(Fraction(y) - place).expm1()
    return total


LATTICES: list[tuple[list[tuple[Noise, int, Callable[[], Atoms]]], tuple[float, ...]]] = [
    ([(oc.RandomizedResponse(0.5, 4), 9, lambda: response_atoms(0.5, 4))], (0.0, 0.7, 2.3, 4.4)),
    ([(oc.RandomizedResponse(0.1), 30, lambda: response_atoms(0.1))], (0.0, 0.55, 2.9)),
    (
        [
            (oc.RandomizedResponse(0.3, 3), 4, lambda: response_atoms(0.3, 3)),
            (oc.RandomizedResponse(0.2, 5), 5, lambda: response_atoms(0.2, 5)),
            (oc.DiscreteLaplace(10, 2), 3, lambda: discrete_laplace_atoms(10, 2)),
        ],
        (0.0, 0.35, 1.7, 2.7),
    ),
    ([(oc.DiscreteLaplace(2.5, 3), 6, lambda: discrete_laplace_atoms(2.5, 3))], (0.0, 1.0, 5.0)),
    ([(oc.DiscreteGaussian(2.0, 1), 4, lambda: _discrete_gaussian_atoms(2.0, 1))], (0.0, 1.0, 6.0)),
    ([(oc.DiscreteGaussian(0.5, 1), 3, lambda: _discrete_gaussian_atoms(0.5, 1))], (0.0, 7.0, 25.0)),
    (
        [
            (oc.DiscreteGaussian(2.0, 1), 2, lambda: _discrete_gaussian_atoms(2.0, 1)),
            (oc.RandomizedResponse(0.5, 3), 3, lambda: response_atoms(0.5, 3)),
        ],
        (0.1, 1.9, 5.0),
    ),
]


@pytest.mark.parametrize(("parts", "places"), LATTICES, ids=[str(i) for i in range(len(LATTICES))])
def test_lattices(parts: list[tuple[Noise, int, Callable[[], Atoms]]], places: tuple[float, ...]) -> None:
    """Every sum multiplied out."""
    laws: list[tuple[Summand, int]] = [(part.laws[0], copies) for part, copies, _ in parts]
    with working(200):
        atoms = sums_of([(make(), copies) for _, copies, make in parts])
        for y in places:
            found = _found(laws, y, 1e-11)
            assert _encloses(found, _excess(atoms, y)), y
            assert found.upper - found.lower <= 1.01e-11, y


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 6, 8, 9])
def test_meets_the_contour(seed: int) -> None:
    """Random lists of rounds: the two engines share nothing but the laws, and their brackets have a point in common."""
    rng = Random(f"contour {seed}")
    way: Direction = rng.choice(("towards", "away"))
    rounds = [
        (MixedNormalLaw(math.exp(rng.uniform(-1.5, 1.2)), math.exp(rng.uniform(-5, -0.2)), way), rng.randint(3, 40))
        for _ in range(rng.choice([1, 1, 2]))
    ]
    mean = math.fsum(copies * float(law.mean()) for law, copies in rounds)
    spread = math.sqrt(math.fsum(copies * float(law.variance()) for law, copies in rounds))
    y = max(mean + spread * rng.uniform(-0.5, 3), 0.0)
    if y >= math.fsum(copies * law.most for law, copies in rounds):
        y = 0.0
    laws: list[tuple[Summand, int]] = [*rounds]
    other = excess_at(Independent(laws, math.inf), y, 1e-7, WORK)[0]
    found = _found(laws, y, 1e-7)
    assert found.lower <= other.upper
    assert other.lower <= found.upper
    assert min(found.upper - found.lower, other.upper - other.lower) <= 1.01e-7


def test_a_wide_bracket_says_so() -> None:
    """Where no finer grid can be made, what is known is marked as less than was asked for."""
    laws: list[tuple[Summand, int]] = [
        (MixedNormalLaw(1 / 30.025612687027298, 0.9999984948131384, "away"), 127),
        (MixedNormalLaw(1 / 0.6973517071167097, 0.009778699935089142, "away"), 15),
        (MixedNormalLaw(1 / 0.1995971027515134, 2.5671631383323788e-06, "away"), 2),
    ]
    way = way_for(laws)
    assert way is not None
    found = way.root((-47.482977732409785, -47.48297773240977), 1e-9, 2.5e8)
    assert found is not None
    assert found.capped == (found.upper - found.lower > 1e-9 * found.upper)
