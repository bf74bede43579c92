"""KS14: how sure a reader may become, against laws of the loss that are listed in full."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from optcomp import ApproxDP, Gaussian, InvalidInput, compose
from optcomp.theorems.ks14 import loss_at, posterior
from tests.oracles.beliefs import coins, normal
from tests.oracles.truth import working

ODDS = st.lists(st.fractions(Fraction(101, 100), 9, max_denominator=100), min_size=1, max_size=6)
SHARES = st.fractions(Fraction(1, 1000), Fraction(9, 10), max_denominator=1000)


def outcomes(odds: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """P and Q of all answers of randomized response with these odds."""
    found = []
    for signs in product((True, False), repeat=len(odds)):
        p = q = Fraction(1)
        for truth, odd in zip(signs, odds, strict=True):
            p, q = p * (odd if truth else 1) / (1 + odd), q * (1 if truth else odd) / (1 + odd)
        found.append((p, q))
    return found


@given(ODDS, SHARES, SHARES)
def test_against_all_answers(odds: list[Fraction], delta: Fraction, share: Fraction) -> None:
    """For every e^ε the true δ(ε) is listed; then the loss beyond y is no more probable than said, exactly."""
    laws = outcomes(odds)
    for ratio in {p / q for p, q in laws if p > q}:
        own = sum((max(p - ratio * q, Fraction(0)) for p, q in laws), Fraction(0))
        if not own < delta:
            continue
        limit = ratio / (1 - own / delta)
        beyond = sum((p for p, q in laws if p > limit * q), Fraction(0))
        assert beyond <= delta
        y = loss_at(ApproxDP(Fraction(math.log(ratio) * (1 + 1e-15)), own), delta)
        assert math.exp(y) == pytest.approx(float(limit), rel=1e-12)
        assert Fraction(math.exp(y) * (1 + 1e-14)) >= limit
        merged = [p for p, q in laws if p > ratio * share * q], [q for p, q in laws if p > ratio * share * q]
        if sum(merged[0]) > limit * sum(merged[1]):  # seeing less: these answers are one
            assert sum(merged[0]) <= delta


@pytest.mark.parametrize("mu", [0.1, 0.21, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
def test_gaussian_noise(mu: float, delta: float) -> None:
    """No (ε, rδ) gives less than the truth, and the best of them gives it."""
    plain, told = normal(mu, delta)
    found = []
    for step in range(1, 60):
        own = delta * 0.8**step
        found.append(posterior(loss_at(ApproxDP(compose([Gaussian(1 / mu)], delta=own).upper, own), delta)))
    assert min(found) >= told > plain
    assert min(found) <= told + 2e-3


def test_the_figure_of_one_and_a_millionth() -> None:
    """At (1, 1e-6) the loss of Gaussian noise exceeds 1 with probability 2e-5, twenty times δ."""
    low, high = 0.1, 0.5
    for _ in range(60):
        mu = (low + high) / 2
        low, high = (mu, high) if compose([Gaussian(1 / mu)], delta=1e-6).upper < 1 else (low, mu)
    beyond = math.erfc((1 - mu * mu / 2) / mu / math.sqrt(2)) / 2
    assert beyond == pytest.approx(2.0e-5, rel=0.02)
    assert normal(mu, 1e-6) == pytest.approx((0.7601, 0.7682), abs=5e-5)


def test_a_guarantee_alone_gives_nothing_at_its_own_delta() -> None:
    assert loss_at(ApproxDP(1, 1e-6), 1e-6) == math.inf
    assert posterior(math.inf) == 1.0
    assert loss_at(ApproxDP(1, 1e-6), Fraction(2, 10**6)) == pytest.approx(1 + math.log(2), rel=1e-9)
    assert loss_at(ApproxDP(1, 0), 0) == 1.0
    assert posterior(1.0) == pytest.approx(coins(1.0, 1).told(1e-9), rel=1e-15)
    with pytest.raises(InvalidInput, match="probability: must not be negative"):
        loss_at(ApproxDP(1, 1e-6), -1)


@pytest.mark.parametrize("loss", [0.0, 1e-300, 0.3, 30.0, 800.0])
def test_beliefs_are_rounded_up(loss: float) -> None:
    with working(400):
        assert arb(posterior(loss)) >= 1 / (1 + (-arb(loss)).exp()) or posterior(loss) == 1.0
    assert 0.5 <= posterior(loss) <= 1
