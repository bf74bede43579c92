"""Sums of floats stay within their a-priori error of the exact sum, or are it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from optcomp.numerics.blocked import (
    BLOCK,
    MOST_EXACT_COPIES,
    MOST_EXACT_SIZE,
    blocked_sum,
    exact_sum,
    fold_error,
    folded_sum,
    prefix_sums,
    suffix_sums,
    sum_error,
)

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


def wide(rng: np.random.Generator, n: int, low: float, high: float) -> Floats:
    return np.asarray(10 ** rng.uniform(low, high, n))


def fractions_sum(values: Floats, counts: Floats) -> Fraction:
    pairs = zip(values.tolist(), counts.tolist(), strict=True)
    return sum((Fraction(x) * Fraction(m) for x, m in pairs), Fraction(0))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 31, 1000, 1025, 40_001])
@pytest.mark.parametrize("low", [-300.0, -0.5])
def test_folded_sums(n: int, low: float) -> None:
    terms = wide(np.random.default_rng(n), n, low, 2)
    exact = fractions_sum(terms, np.ones(n))
    assert abs(Fraction(folded_sum(terms)) - exact) <= Fraction(fold_error(n)) * exact


def test_every_fold_may_lose_half_a_unit() -> None:
    """What the first term meets at each fold is lost in a tie: the bound is reached."""
    terms = np.zeros(2**14)
    terms[0] = 1.0
    terms[2 ** np.arange(14)] = 2.0**-53
    exact = fractions_sum(terms, np.ones(terms.size))
    assert folded_sum(terms) == 1.0
    assert Fraction(98, 100) * Fraction(fold_error(terms.size)) < (exact - 1) / exact < Fraction(fold_error(terms.size))


EXACT: dict[str, tuple[float, float, int]] = {
    "ones": (-3.0, -2.0, 1),
    "any guarantees": (-100.0, 12.0, 1000),
    "least floats": (-323.5, -290.0, 10**6),
    "far apart": (-320.0, 250.0, 3),
    "many copies": (-5.0, 5.0, 10**7),
}


@pytest.mark.parametrize("case", list(EXACT))
@pytest.mark.parametrize("n", [0, 1, 2, 50, 1000, 40_000])
def test_exact_sums(case: str, n: int) -> None:
    low, high, most = EXACT[case]
    rng = np.random.default_rng(n)
    values, counts = wide(rng, n, low, high), rng.integers(1, most, n, endpoint=True).astype(np.float64)
    assert exact_sum(values, counts) == fractions_sum(values, counts)
    signed = values * rng.choice([-1.0, 1.0], n)
    assert exact_sum(signed, counts) == fractions_sum(signed, counts)


def test_exact_sums_of_long_arrays() -> None:
    values = np.random.default_rng(8).uniform(0, 0.01, 200_000)
    total = exact_sum(values, np.ones(values.size))
    assert float(total) == math.fsum(values)
    assert total == sum(int(math.ldexp(x, 80)) for x in values.tolist()) * Fraction(1, 2**80)


def test_exact_sums_at_the_limits() -> None:
    most = np.array([float(MOST_EXACT_COPIES)])
    for x in (0.0, 0.1, 5e-324, math.nextafter(2.0, 0), MOST_EXACT_SIZE):
        assert exact_sum(np.array([x]), most) == Fraction(x) * MOST_EXACT_COPIES
    with pytest.raises(ArithmeticError, match="too many copies"):
        exact_sum(np.array([0.1]), most + 1)
    for huge in (1e308, math.inf, math.nan):
        with pytest.raises(ArithmeticError, match="too large"):
            exact_sum(np.array([huge]), np.ones(1))
