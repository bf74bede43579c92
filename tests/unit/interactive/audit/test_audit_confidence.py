"""Clopper–Pearson bounds against binomial sums in Fraction: never too bold, hardly too timid, and covering exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import comb

import pytest
from scipy.stats import beta

import optcomp as oc
from optcomp.interactive.audit.confidence import MOST_TRIALS, probability_down, probability_up
from optcomp.numerics.exact_numbers import Exact

ERRORS: list[Exact] = [Fraction(1, 40), 0.2, Fraction(1, 10**9)]
SIZES = [1, 2, 3, 7, 20, 60]
GRID = [Fraction(j, 24) for j in range(25)]


@cache
def mass(p: Fraction, n: int) -> list[Fraction]:
    return [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]


@pytest.mark.parametrize("error", ERRORS, ids=float)
@pytest.mark.parametrize("n", SIZES)
def test_bounds_lie_just_outside_the_roots(n: int, error: Exact) -> None:
    nudge = Fraction(1, 10**14)
    for k in range(1, n + 1):
        down = Fraction(probability_down(k, n, error))
        assert sum(mass(down, n)[k:]) <= error < sum(mass(down * (1 + nudge), n)[k:])
    for k in range(n):
        up = Fraction(probability_up(k, n, error))
        assert sum(mass(up, n)[: k + 1]) <= error < sum(mass(up * (1 - nudge), n)[: k + 1])


@pytest.mark.parametrize("error", ERRORS, ids=float)
@pytest.mark.parametrize("n", SIZES)
def test_coverage_is_at_least_nominal_for_every_probability(n: int, error: Exact) -> None:
    downs = [probability_down(k, n, error) for k in range(n + 1)]
    ups = [probability_up(k, n, error) for k in range(n + 1)]
    for p in GRID:
        weights = mass(p, n)
        assert sum(weights[k] for k in range(n + 1) if downs[k] > p) <= error
        assert sum(weights[k] for k in range(n + 1) if ups[k] < p) <= error


@pytest.mark.parametrize("n", [1, 60, 10**6])
def test_edge_counts(n: int) -> None:
    assert probability_down(0, n, 0.025) == 0
    assert probability_up(n, n, 0.025) == 1
    assert Fraction(probability_down(n, n, 0.25)) ** min(n, 60) <= Fraction(1, 4) or n > 60
    assert probability_up(0, n, 0.5) == pytest.approx(1 - 0.5 ** (1 / n), rel=1e-9)


@pytest.mark.parametrize(("hits", "trials"), [(3, 10**7), (1234, 50_000), (25_000, 50_000), (999_999, 10**6)])
@pytest.mark.parametrize("error", [0.025, 1e-10, 0.7])
def test_many_trials_against_the_beta_distribution(hits: int, trials: int, error: float) -> None:
    """Scipy's quantiles are no proof, but independent and good to many digits."""
    down, up = probability_down(hits, trials, error), probability_up(hits, trials, error)
    assert down == pytest.approx(beta.ppf(error, hits, trials - hits + 1), rel=1e-9)
    assert up == pytest.approx(beta.isf(error, hits + 1, trials - hits), rel=1e-9)


def test_bounds_move_with_counts_and_errors() -> None:
    for error, next_error in ((1e-6, 1e-3), (1e-3, 0.1)):
        for k, bound in product(range(30), (probability_down, probability_up)):
            assert bound(k, 30, error) < bound(k + 1, 30, error)
        assert probability_down(9, 30, error) < probability_down(9, 30, next_error) < 0.3
        assert 0.3 < probability_up(9, 30, next_error) < probability_up(9, 30, error)


@pytest.mark.parametrize(
    ("hits", "trials", "error", "argument"),
    [(0, 0, 0.1, "trials"), (0, MOST_TRIALS + 1, 0.1, "trials"), (-1, 5, 0.1, "hits"), (6, 5, 0.1, "hits")]
    + [(1, 5, bad, "error") for bad in (0.0, 1.0, -0.5, float("nan"))],
)
def test_bad_input(hits: int, trials: int, error: float, argument: str) -> None:
    for bound in (probability_down, probability_up):
        with pytest.raises(oc.InvalidInput) as caught:
            bound(hits, trials, error)
        assert caught.value.argument == argument
