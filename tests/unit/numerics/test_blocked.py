"""Blocked sums stay within their a-priori error of the exact sum."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from flint import arb

from optcomp.numerics.balls import precision
from optcomp.numerics.blocked import BLOCK, blocked_sum, prefix_sums, suffix_sums, sum_error
from optcomp.numerics.sums import ball_sum, log_odds_sum, plain_sum

Floats = npt.NDArray[np.float64]


@pytest.mark.parametrize("n", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 1000, BLOCK**2 + 1, 40_000, 300_001])
@pytest.mark.parametrize("kind", ["uniform", "wide", "equal"])
def test_sums(n: int, kind: str) -> None:
    rng = np.random.default_rng([n, 3])
    terms = {"uniform": rng.random(n), "wide": 10 ** rng.uniform(-300, 2, n), "equal": np.full(n, 0.1)}[kind]
    exact = math.fsum(terms)
    assert abs(blocked_sum(terms) - exact) <= (sum_error(n) + 2.0**-53) * exact
    prefix, suffix = prefix_sums(terms), suffix_sums(terms)
    assert prefix.shape == suffix.shape == terms.shape
    for i in {0, n // 3, n // 2, n - 1}:
        for value, part in ((prefix[i], terms[: i + 1]), (suffix[i], terms[i:])):
            assert abs(value - math.fsum(part)) <= (sum_error(n) + 2.0**-53) * math.fsum(part)


def test_error_does_not_grow_with_the_number() -> None:
    assert sum_error(1) <= sum_error(BLOCK) < sum_error(10**4) < sum_error(10**9) < 250 * 2.0**-53


@pytest.mark.parametrize("n", [10, 5000])
def test_ball_sums_contain_the_exact_sum(n: int) -> None:
    rng = np.random.default_rng(n)
    groups = [(float(x), int(m)) for x, m in zip(rng.uniform(0, 3, n), rng.integers(1, 9, n), strict=True)]
    with precision(200):
        plain, odds = plain_sum(groups), log_odds_sum(groups)
        exact = sum(Fraction(x) * m for x, m in groups)
        assert plain.lower() <= arb(exact.numerator) / exact.denominator
        assert arb(exact.numerator) / exact.denominator <= plain.upper()
        assert odds.overlaps(sum(((1 + (-arb(x)).exp()).log() * m for x, m in groups), arb(0)))
        assert plain.rad() <= 1e-14 * plain


def test_ball_sums_where_floats_underflow() -> None:
    groups = [(1e-170 * i, 1) for i in range(1, 5001)]
    with precision(200):
        squares = ball_sum(lambda x: x * x, groups, np.square)
        exact = sum((arb(x) * arb(x) for x, _ in groups), arb(0))
        assert squares.contains(exact.mid())
        large = [(800.0 + i, 1) for i in range(5001)]
        assert log_odds_sum(large).contains(sum(((-arb(x)).exp().log1p() for x, _ in large), arb(0)).mid())
