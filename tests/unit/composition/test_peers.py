"""Numbers that other accountants get wrong, and published exact values."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from optcomp import compare, compose
from tests.oracles.checks import encloses
from tests.oracles.equal import Equal
from tests.oracles.sums import Lattice

SERIES = [Fraction(n, 1000) for n in range(10, 110)]


@pytest.mark.parametrize(
    ("delta", "expected"),
    [(1e-6, 2.97172), (1e-10, 3.93078), (1e-12, 4.29731), (1e-14, 4.61198), (1e-16, 4.88405), (1e-20, 5.32281)],
)
def test_a_hundred_different_epsilon(delta: float, expected: float) -> None:
    truth = Lattice([(eps, 0, 1) for eps in SERIES])
    for bound in (compose(SERIES, delta=delta), compose([n / 1000 for n in range(10, 110)], delta=delta)):
        assert round(bound.upper, 5) == round(bound.lower, 5) == expected
        assert bound.width <= 1e-9
    assert encloses(truth, compose(SERIES, delta=delta))


def test_a_hundred_responses_at_tiny_delta() -> None:
    bound = compose({0.01: 100}, delta=1e-50)
    assert encloses(Equal(100, 0.01), bound)
    assert 0.999 < bound.lower <= bound.upper < 1.0000000000000009


def test_a_million_responses() -> None:
    bound = compose({0.01: 10**6}, delta=1e-9)
    assert encloses(Equal(10**6, 0.01), bound)
    assert round(bound.lower, 5) == round(bound.upper, 5) == 109.19371


def test_twenty_responses() -> None:
    bound = compose([0.5] * 20, delta=1e-6)
    assert encloses(Equal(20, 0.5), bound)
    assert 9.98 < bound.lower <= bound.upper < 9.99


def test_count_is_not_ignored() -> None:
    assert compose({math.log(2): 100}, delta=1e-9).lower > 30


def test_five_types_of_two_hundred() -> None:
    sizes = [Fraction(n, 100) for n in (1, 2, 3, 5, 8)]
    bound = compose(dict.fromkeys(sizes, 200), delta=1e-9)
    assert encloses(Lattice([(eps, 0, 200) for eps in sizes]), bound)
    assert bound.width <= 1e-6


def test_infeasible_is_not_the_sum() -> None:
    assert compose([(0.1, 0.01)] * 10, delta=0.05).lower == math.inf
    assert compose([(0.1, 0.0975)] * 3, epsilon=0.3).lower > 0.26


def test_totals_beyond_the_exponential_s_range() -> None:
    for parts in ({10.0: 100}, {10.0: 60, 7.5: 60}, {800.0: 2, 0.5: 3}):
        for bound in compare(parts, delta=1e-6) + compare(parts, epsilon=900):
            assert encloses(Lattice([(eps, 0, count) for eps, count in parts.items()]), bound), bound


@pytest.mark.parametrize("delta", [1e-16, 3e-17, 1e-18])
def test_no_cancellation_in_small_leaks(delta: float) -> None:
    bound = compose({(0.1, 1e-19): 10}, delta=delta)
    assert encloses(Equal(10, 0.1, 1e-19), bound)
    assert bound.width <= 1e-12
