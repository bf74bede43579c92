"""Binomial tails and laws against the regularised incomplete beta function."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb, fmpz

from optcomp.numerics.balls import precision
from optcomp.numerics.binomial import equal_excess, equal_root, tails, working_bits
from optcomp.numerics.binomial_law import binomial_law
from tests.oracles.sums import Lattice
from tests.oracles.truth import rational_ends, real, working


@cache
def exact_tails(k: int, x: float, j: int) -> tuple[arb, arb]:
    """The same for every number of bits that is asked for."""
    with working(256):
        odds = real(x).exp()
        a, b = arb(fmpz(j)), arb(fmpz(k - j + 1))
        damped = (1 / (1 + odds)).beta_lower(a, b, 1) * (real(x) * (2 * j - k)).exp()
        return (odds / (1 + odds)).beta_lower(a, b, 1), damped


@pytest.mark.parametrize("k", [1, 5, 300, 301, 302, 5000, 10**6, 10**9])
@pytest.mark.parametrize("x", [1e-9, 1e-3, 0.3, 2.0])
@pytest.mark.parametrize("bits", [2, 8, 80])
def test_tails(k: int, x: float, bits: int) -> None:
    """Few bits make the neglected parts of the integral large, so that their bounds have to hold."""
    mean = k / (1 + math.exp(-x))
    spread = math.sqrt(k) / 2
    for place in (mean, mean - 5 * spread, mean + 5 * spread, mean + 14 * spread, k - 200, k):
        j = min(max(round(place), (k + 1) // 2), k)
        with precision(working_bits(bits)):
            found = tails(k, x, j, bits)
        above, damped = exact_tails(k, x, j)
        with working(256):
            assert found.above.overlaps(above), (j, found.above)
            assert found.damped.overlaps(damped), (j, found.damped)
            assert found.above.contains(above.mid())
            assert found.damped.contains(damped.mid())
            assert bits < 80 or found.above.rel_accuracy_bits() > 40
            assert bits < 80 or found.damped.rel_accuracy_bits() > 40


@pytest.mark.parametrize("k", [2, 9, 700, 4000])
def test_root_and_excess_are_inverse(k: int) -> None:
    truth = Lattice([(0.05, 0, k)])
    for t in (1e-200, 1e-9, 0.01, 0.3):
        lower, upper = rational_ends(equal_root(k, 0.05, real(t), 80))
        assert truth.at_least(lower, t)
        assert truth.at_most(upper, t)
        if 0 < upper < truth.total:
            found, exact = equal_excess(k, 0.05, upper, 80), truth.delta(upper, 1100)
            with working(1100):
                assert found.contains(exact.mid())


@pytest.mark.parametrize("x", [0.2, 1e-4, 5.0, Fraction(1, 3)])
@pytest.mark.parametrize("m", [1, 2, 50, 4096, 4097, 100_000])
@pytest.mark.parametrize("nats", [90.0, 760.0])
def test_law(x: float | Fraction, m: int, nats: float) -> None:
    with precision(128):
        law = binomial_law(x, m, nats)
    assert law.log_p.size == law.last - law.first + 1
    picks = {law.first, law.last, *np.random.default_rng(m).integers(law.first, law.last + 1, 60).tolist()}
    with working(300):
        q = 1 / (1 + real(x).exp())
        for n in picks:
            ways = arb(fmpz(m + 1)).lgamma() - arb(fmpz(n + 1)).lgamma() - arb(fmpz(m - n + 1)).lgamma()
            exact = ways + n * q.log() + (m - n) * (1 - q).log()
            assert abs(arb(float(law.log_p[n - law.first])) - exact) <= law.error, n
        lost = arb(0)
        if law.first > 0:
            lost += 1 - q.beta_lower(arb(fmpz(law.first)), arb(fmpz(m - law.first + 1)), 1)
        if law.last < m:
            lost += q.beta_lower(arb(fmpz(law.last + 1)), arb(fmpz(m - law.last)), 1)
        assert lost.lower() <= law.dropped
    assert law.error < 1e-9
