"""`calibrate`: never beyond the budget, next to a number that is, in both directions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.composition.reading import Items
from tests.oracles.losses import Beside, variance_hockey


def within(build: object, number: float, epsilon: float, delta: float) -> bool:
    return oc.compose(build(number), delta=delta).upper <= epsilon  # type: ignore[operator]  # any function


@settings(max_examples=10)
@given(st.floats(0.01, 20), st.floats(1e-12, 0.3), st.integers(1, 1000))
def test_gaussian_noise(epsilon: float, delta: float, copies: int) -> None:
    def build(sigma: float) -> Items:
        return {oc.Gaussian(sigma): copies}

    sigma = oc.calibrate(build, epsilon=epsilon, delta=delta)
    assert sigma.bound == oc.compose(build(sigma), delta=delta)
    assert sigma.bound.upper <= epsilon
    assert not within(build, sigma.other, epsilon, delta)
    assert abs(sigma.other - sigma) <= 1e-6 * sigma


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-3), (5.0, 1e-12)])
def test_closed_form_agrees(epsilon: float, delta: float) -> None:
    """The σ found satisfies the closed form; a little less does not."""
    sigma = oc.calibrate(lambda x: [oc.Gaussian(x)], epsilon=epsilon, delta=delta)
    assert Beside([variance_hockey(1 / Fraction(float(sigma)) ** 2)]).at_most(epsilon, delta)
    assert not Beside([variance_hockey(1 / Fraction(float(sigma) * (1 - 3e-6)) ** 2)]).at_most(epsilon, delta)


def test_more_of_anything_else() -> None:
    """ε per query grows: the largest that fits."""
    eps = oc.calibrate(lambda x: {oc.PureDP(x): 100}, epsilon=1, delta=1e-6)
    assert eps.bound.upper <= 1 < oc.compose({oc.PureDP(eps.other): 100}, delta=1e-6).upper
    assert eps < eps.other <= eps * (1 + 1e-6)


def test_rates_stop_at_one() -> None:
    def build(rate: float) -> Items:
        return {oc.PoissonSubsampled(oc.Gaussian(2), rate): 1}

    rate = oc.calibrate(build, epsilon=0.5, delta=1e-3)
    assert 0 < rate < 1
    assert rate.bound.upper <= 0.5
    assert not within(build, rate.other, 0.5, 1e-3)
    assert float(oc.calibrate(build, epsilon=50, delta=1e-3)) == 1


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_whole_numbers(epsilon: float) -> None:
    found = oc.calibrate(lambda n: {oc.PureDP(0.1): n}, epsilon=epsilon, delta=1e-6, whole=True)
    assert float(found).is_integer()
    assert found.other == found + 1
    assert oc.compose({oc.PureDP(0.1): int(found)}, delta=1e-6).upper <= epsilon
    assert oc.compose({oc.PureDP(0.1): int(found) + 1}, delta=1e-6).upper > epsilon


def test_whole_numbers_are_ints_to_the_function() -> None:
    seen: list[object] = []

    def build(n: float) -> Items:
        seen.append(n)
        return {oc.PureDP(1): n}

    oc.calibrate(build, epsilon=3, delta=0, whole=True)
    assert {type(n) for n in seen} == {int}


def test_exactly_the_budget_fits() -> None:
    assert float(oc.calibrate(lambda n: {oc.PureDP("0.125"): n}, epsilon="0.375", delta=0, whole=True)) == 3
    scale = oc.calibrate(lambda x: [oc.Laplace(x)], epsilon=2, delta=0)
    assert scale >= 0.5
    assert scale == pytest.approx(0.5, rel=1e-6)


def test_limits() -> None:
    found = oc.calibrate(lambda x: [oc.Gaussian(x)], epsilon=1, delta=1e-5, low=1, high=64)
    assert 1 <= found <= 64
    with pytest.raises(oc.InvalidInput, match=r"every number between 5\.0 and 100\.0"):
        oc.calibrate(lambda x: [oc.Gaussian(x)], epsilon=1, delta=1e-5, low=5, high=100)
    with pytest.raises(oc.InvalidInput, match=r"no number between 1\.0 and 2\.0"):
        oc.calibrate(lambda x: [oc.Gaussian(x)], epsilon=1, delta=1e-5, low=1, high=2)


@pytest.mark.parametrize("rtol", [0, -1, 1, 2, math.nan, "x"])
def test_bad_tolerances(rtol: float) -> None:
    with pytest.raises(oc.InvalidInput, match="rtol"):
        oc.calibrate(lambda x: [oc.Gaussian(x)], epsilon=1, delta=1e-5, rtol=rtol)


@pytest.mark.parametrize("end", [0, -1, math.nan, "x"])
def test_bad_limits(end: float) -> None:
    with pytest.raises(oc.InvalidInput, match="low"):
        oc.calibrate(lambda x: [oc.Gaussian(x)], epsilon=1, delta=1e-5, low=end)
    with pytest.raises(oc.InvalidInput, match="whole"):
        oc.calibrate(lambda n: {oc.PureDP(0.1): n}, epsilon=1, delta=1e-5, high=2.5, whole=True)


def test_no_function() -> None:
    with pytest.raises(oc.InvalidInput, match="build"):
        oc.calibrate([oc.Gaussian(1)], epsilon=1, delta=1e-5)  # type: ignore[arg-type]


@pytest.mark.parametrize("rtol", [1e-14, 1e-15, 2e-16, 1e-16, 1e-300])
def test_the_finest_tolerance_ends(rtol: float) -> None:
    """Between neighbouring floats there is nothing left to look for."""
    found = oc.calibrate(lambda x: [oc.Gaussian(x)], epsilon=1, delta=1e-5, rtol=rtol)
    assert found.evaluations < 200
    assert found.bound.upper <= 1
    assert abs(found - found.other) <= max(rtol, 3e-16) * found


Q, SIGMA = 0.01, 1.0
FAMILIES: dict[str, tuple[Any, bool]] = {
    "noise": (lambda s: {oc.Gaussian(s): 100}, False),
    "noise on a sample": (lambda s: {oc.PoissonSubsampled(oc.Gaussian(s), Q): 1000}, False),
    "rate": (lambda q: {oc.PoissonSubsampled(oc.Gaussian(SIGMA), q): 1000}, False),
    "rounds": (lambda n: {oc.PoissonSubsampled(oc.Gaussian(SIGMA), Q): n}, True),
    "Laplace noise": (lambda s: {oc.Laplace(s): 50, oc.Gaussian(20): 5}, False),
    "a size": (lambda x: {oc.PureDP(x): 100}, False),
    "a notion": (lambda rho: {oc.ZCDP(rho): 10}, False),
}


@pytest.mark.parametrize("epsilon", [1.2, 3.0])
@pytest.mark.parametrize("name", list(FAMILIES))
def test_smooth_families_take_few_evaluations(name: str, epsilon: float) -> None:
    """Twenty halvings alone make an interval from 1 to 2 a millionth as long; here the start is found as well."""
    build, whole = FAMILIES[name]
    counted = 0

    def counting(number: float) -> Items:
        nonlocal counted
        counted += 1
        return build(number)  # type: ignore[no-any-return]

    found = oc.calibrate(counting, epsilon=epsilon, delta=1e-6, whole=whole, low=100 if whole else None)
    assert found.evaluations <= 20
    assert counted <= 20
    assert found.method == "secant"
    assert within(build, int(found) if whole else float(found), epsilon, 1e-6)
    assert found.bound.upper <= epsilon
    assert not within(build, int(found.other) if whole else found.other, epsilon, 1e-6)
    assert abs(found.other - found) <= (1 if whole else 1e-6 * found)


def test_costs_that_jump_are_halved() -> None:
    """Between 7.123 and anything above there is nothing to draw a line through."""
    found = oc.calibrate(lambda x: {oc.PureDP(0.1 if x < 7.123 else 50): 10}, epsilon=4, delta=1e-6)
    assert found < 7.123 <= found.other <= found * (1 + 1e-6)
    steps = oc.calibrate(lambda x: {oc.PureDP(0.1): max(1, math.floor(x))}, epsilon=4, delta=1e-6)
    assert math.floor(steps) + 1 == math.floor(steps.other)
    assert steps.other - steps <= 1e-6 * steps
    assert max(found.evaluations, steps.evaluations) <= 60


@pytest.mark.parametrize("method", ["renyi", "basic"])
def test_the_method_that_is_named_decides(method: str) -> None:
    """With sums alone less fits, and a rough look by another method must not say otherwise."""
    found = oc.calibrate(lambda s: {oc.Laplace(s): 30}, epsilon=2, delta=1e-6, method=method)
    assert found.bound.theorem in ("CKS20", "DKMMN06")
    assert oc.compose({oc.Laplace(float(found)): 30}, delta=1e-6, method=method).upper <= 2
    assert oc.compose({oc.Laplace(found.other): 30}, delta=1e-6, method=method).upper > 2


def test_the_search_needs_a_range() -> None:
    with pytest.raises(oc.InvalidInput, match="low: must be below high = 1, got 10"):
        oc.calibrate(lambda sigma: [oc.Gaussian(sigma)], epsilon=1, delta=1e-6, low=10, high=1)
