"""KOV15-3.3 (MV18-1.4): k equal mechanisms, exact to rounding at any k."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from optcomp import Bound, HypothesisNotMet, compose, theorem
from optcomp.instances.parts import Parts
from optcomp.theorems import kov15_3_3
from tests.oracles.checks import encloses
from tests.oracles.equal import Equal
from tests.oracles.sums import Subsets

COUNTS = (1, 2, 3, 10, 37, 300, 301, 302, 1000, 10**4, 10**6, 10**9)
SIZES = (1e-12, 1e-6, 1e-4, 0.01, 0.5, 3.0)
DELTAS = (1e-300, 1e-100, 1e-20, 1e-6, 0.05, 0.5, 0.9)


def tight(bound: Bound) -> bool:
    """The promised relative width, or the two floats around a number too small for that."""
    promised = 1e-11 if bound.count >= 10**9 else 1e-12
    return bound.width <= promised or bound.upper == math.nextafter(bound.lower, 1)


@pytest.mark.parametrize("k", COUNTS)
@pytest.mark.parametrize("eps", SIZES)
def test_epsilon_over_the_grid(k: int, eps: float) -> None:
    truth = Equal(k, eps)
    for delta in DELTAS:
        bound = compose({eps: k}, delta=delta)
        assert encloses(truth, bound), bound
        assert tight(bound), bound


@pytest.mark.parametrize("k", COUNTS)
@pytest.mark.parametrize("eps", SIZES)
def test_delta_over_the_grid(k: int, eps: float) -> None:
    truth = Equal(k, eps)
    for share in (0, 1e-9, 1e-4, 0.1, 0.5, 0.9, 1):
        bound = compose({eps: k}, epsilon=Fraction(k) * Fraction(eps) * Fraction(share))
        assert encloses(truth, bound), bound
        assert tight(bound), bound


def test_huge_epsilon() -> None:
    for k in (1, 7, 1000):
        for bound in (compose({40.0: k}, delta=1e-6), compose({40.0: k}, epsilon=40.0 * k - 10)):
            assert encloses(Equal(k, 40.0), bound), bound
            assert tight(bound), bound


@pytest.mark.parametrize(
    ("k", "eps", "part", "delta"),
    [(100, 0.1, 1e-8, 1e-5), (100, 0.1, 1e-305, 1e-300), (10**9, 1e-5, 1e-12, 0.9), (50, 0.2, 0.01, 0.4)],
)
def test_leaks(k: int, eps: float, part: float, delta: float) -> None:
    bound = compose({(eps, part): k}, delta=delta)
    assert bound.theorem == ("MV18-1.5" if bound.method == "top cell" else "KOV15-3.3")
    assert encloses(Equal(k, eps, part), bound)
    assert tight(bound)
    back = compose({(eps, part): k}, epsilon=bound.upper)
    assert encloses(Equal(k, eps, part), back)
    assert tight(back)


@pytest.mark.parametrize("k", [2, 3, 8, 400, 1001])
@pytest.mark.parametrize("eps", [Fraction(1, 10), 0.25, 0.1])
def test_on_lattice_points(k: int, eps: Fraction | float) -> None:
    """At ε = (2j - k)ε_0, where two cells meet."""
    for j in (k // 2 + 1, (3 * k) // 4 + 1, k):
        place = (2 * j - k) * Fraction(eps)
        bound = compose({eps: k}, epsilon=place)
        assert encloses(Equal(k, eps), bound), bound
        assert tight(bound), bound


def test_two_oracles_agree() -> None:
    for k, y in ((1, 0.0), (5, 0.3), (12, 1.1)):
        beta = Equal(k, 0.3, 1e-3).delta(Fraction(y), 300)
        listed = Subsets([(0.3, 1e-3, k)]).delta(Fraction(y), 300)
        assert beta.overlaps(listed)
        assert beta.rad() < 1e-60


def test_near_a_lattice_point_in_bits_mode() -> None:
    """A hair below a lattice point the atom on it still counts."""
    eps, k, j = Fraction(1, 10), 1000, 997
    for shift in range(150, 260, 5):
        place = (2 * j - k) * eps - Fraction(1, 2**shift)
        bound = compose({eps: k}, epsilon=place, bits=60)
        assert encloses(Equal(k, eps), bound), (shift, bound)


def test_refuses_different_and_adaptive() -> None:
    different = Parts.of({(0.1, 0.0): 1, (0.2, 0.0): 1})
    for ask in (kov15_3_3.epsilon_at, kov15_3_3.delta_at):
        with pytest.raises(HypothesisNotMet):
            ask(different, 0.1)
    equal = Parts.of({(0.1, 0.0): 20})
    assert kov15_3_3.epsilon_at(equal, 1e-6) == compose({0.1: 20}, delta=1e-6)
    assert kov15_3_3.delta_at(equal, 1.0) == compose({0.1: 20}, epsilon=1.0)
    with pytest.raises(HypothesisNotMet):
        theorem("MV18-1.4").require(parameters="adaptive", all_equal=True)
    with pytest.raises(HypothesisNotMet):
        compose({0.1: 20}, delta=1e-6, method="exact", parameters="adaptive")


@pytest.mark.parametrize(("k", "eps"), [(1000, 0.1), (1000, 0.01), (10**5, 0.1), (10**8, 1e-4), (10**12, 1e-6)])
@pytest.mark.parametrize("delta", [0.7, 0.9, 0.9999, 0.99999999])
def test_delta_near_one(k: int, eps: float, delta: float) -> None:
    """The bulk of the loss, on both sides of the mean, and answers at zero: tight and quick everywhere."""
    bound = compose({eps: k}, delta=delta)
    assert bound.width <= 1e-14
    assert compose({eps: k}, epsilon=bound.upper).lower <= delta
    if bound.lower > 0:
        assert compose({eps: k}, epsilon=bound.lower).upper >= delta
