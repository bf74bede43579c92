"""The optimum's derivatives: against differences of outcomes listed, closed forms, and certified totals."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.composition import compose
from optcomp.guarantees import Gaussian, PureDP
from optcomp.numerics.blocked import Floats
from optcomp.numerics.contour.gradient import BLUR, MOST_DENSE, Terms, optimum
from tests.oracles.losses import gaussian_hockey
from tests.oracles.truth import real, working

BITS = 160


def excess(coins: list[arb], mu: arb, y: arb) -> arb:
    """E(1 - e^{y-L})_+, all outcomes of the coins listed."""
    total = arb(0)
    for signs in product((1, -1), repeat=len(coins)):
        loss, mass = arb(0), arb(1)
        for sign, coin in zip(signs, coins, strict=True):
            loss, mass = loss + sign * coin, mass / (1 + (-sign * coin).exp())
        if mu > 0:
            edge, half = (y - loss) / mu, mu / 2
            root = arb(2).sqrt()
            total += mass * (((edge - half) / root).erfc() - (y - loss).exp() * ((edge + half) / root).erfc()) / 2
        else:
            total += mass * (1 - (y - loss).exp()).max(arb(0))
    return total


def exact(coins: Floats, noise: Floats, delta: float) -> arb:
    """The y at which the excess is δ, to many more bits than a float has: by halving."""
    with working(BITS):
        found = [real(float(x)) for x in coins]
        square = sum((real(float(x)) ** 2 for x in noise), arb(0))
        mu = square.sqrt() if noise.size else arb(0)
        low, high = arb(0), sum(found, arb(0)) + square / 2 + mu * 40
        for _ in range(90):
            middle = ((low + high) / 2).mid()
            low, high = (middle, high) if excess(found, mu, middle) > real(delta) else (low, middle)
        return low


def terms_of(coins: Floats, noise: Floats) -> tuple[Terms, Floats]:
    """Every parameter an amount of its own: coins first."""
    k, m = coins.size, noise.size
    terms = Terms(np.ones(k + m), np.arange(k), np.ones(k), np.arange(k, k + m), np.ones(m), np.zeros(0))
    return terms, np.concatenate([coins, noise])


def gradient(coins: Floats, noise: Floats, delta: float, blur: float = BLUR) -> tuple[float, Floats, Floats]:
    """About the optimum y at δ, dy/dx_i and dy/dμ_j: how ε grows with each parameter, δ staying the same."""
    found = optimum(*terms_of(coins, noise), math.log(delta), blur)
    return found.y, found.slopes[: coins.size], found.slopes[coins.size :]


def differences(value: Callable[[Floats], arb], amounts: Floats, step: float) -> Floats:
    """Of a function of several numbers, in the middle."""
    found = []
    for i, x in enumerate(amounts):
        up, down = amounts.copy(), amounts.copy()
        up[i], down[i] = x * (1 + step), x * (1 - step)
        with working(BITS):
            found.append(float((value(up) - value(down)) / (real(float(up[i])) - real(float(down[i])))))
    return np.array(found)


CASES: dict[str, tuple[list[float], list[float], float]] = {
    "one coin": ([0.7], [], 1e-3),
    "coins": ([0.11, 0.23, 0.31, 0.47, 0.05], [], 1e-4),
    "equal coins": ([0.3] * 4, [], 1e-3),
    "large coins": ([3.0, 5.0, 1.0], [], 1e-2),
    "noise": ([], [0.2, 0.5, 0.9], 1e-6),
    "small noise": ([], [0.001, 0.0004], 1e-9),
    "large noise": ([], [5.0, 3.0], 1e-5),
    "mixed": ([0.4, 0.1, 0.9], [0.3, 0.2], 1e-5),
    "two of each": ([0.4, 0.1], [0.3, 0.2], 1e-5),
    "mostly coins": ([0.5, 0.31], [0.02], 1e-4),
}


@pytest.mark.parametrize("name", CASES)
def test_value_and_slopes(name: str) -> None:
    coins, noise, delta = np.array(CASES[name][0]), np.array(CASES[name][1]), CASES[name][2]
    y, by_coin, by_noise = gradient(coins, noise, delta, 1e-9)
    amounts = np.concatenate([coins, noise])
    truth = differences(lambda x: exact(x[: coins.size], x[coins.size :], delta), amounts, 1e-6)
    assert y == pytest.approx(float(exact(coins, noise, delta)), rel=1e-7)
    assert np.concatenate([by_coin, by_noise]) == pytest.approx(truth, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", ["noise", "large noise", "two of each"])
def test_curves(name: str) -> None:
    """Differences of slopes of the exact optimum."""
    coins, noise, delta = np.array(CASES[name][0]), np.array(CASES[name][1]), CASES[name][2]
    terms, amounts = terms_of(coins, noise)
    found = optimum(terms, amounts, math.log(delta), second=True)
    assert found.curves is not None
    for i, x in enumerate(amounts):
        up, down = amounts.copy(), amounts.copy()
        up[i], down[i] = x * (1 + 1e-4), x * (1 - 1e-4)
        slopes = [differences(lambda a: exact(a[: coins.size], a[coins.size :], delta), p, 1e-6) for p in (up, down)]
        assert found.curves[i] == pytest.approx((slopes[0] - slopes[1]) / (2e-4 * x), rel=1e-4, abs=1e-5)
    assert found.curves == pytest.approx(found.curves.T, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("count", "delta"), [(40, 1e-6), (200, 1e-9), (200, 1e-3)])
def test_many_different_coins(count: int, delta: float) -> None:
    """Slopes against differences of certified totals."""
    coins = np.random.default_rng(5).uniform(0.01, 0.1, count)
    y, slopes, _ = gradient(coins, np.zeros(0), delta)
    bound = compose([PureDP(float(x)) for x in coins], delta=delta, method="certified", rtol=1e-10)
    assert y == pytest.approx((bound.lower + bound.upper) / 2, rel=1e-5)
    for place in (0, count - 1):
        ends = []
        for step in (1e-4, -1e-4):
            moved = coins.copy()
            moved[place] += step
            found = compose([PureDP(float(x)) for x in moved], delta=delta, method="certified", rtol=1e-10)
            ends.append((found.lower + found.upper) / 2)
        assert slopes[place] == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=5e-5)


def test_coins_with_gaussian_noise() -> None:
    """The same beside noise."""
    coins, noise, delta = np.array([0.02 + 0.001 * i for i in range(30)]), np.array([0.1, 0.25]), 1e-6

    def total(x: Floats, mu: Floats) -> float:
        parts: list[Any] = [*(PureDP(float(e)) for e in x), *(Gaussian(1.0, float(m)) for m in mu)]
        bound = compose(parts, delta=delta, rtol=1e-9)
        return (bound.lower + bound.upper) / 2

    y, by_coin, by_noise = gradient(coins, noise, delta)
    assert y == pytest.approx(total(coins, noise), rel=1e-8)
    step = np.array([3e-4, 0.0])
    assert by_noise[0] == pytest.approx((total(coins, noise + step) - total(coins, noise - step)) / 6e-4, rel=1e-4)
    moved = np.zeros(30)
    moved[7] = 3e-4
    assert by_coin[7] == pytest.approx((total(coins + moved, noise) - total(coins - moved, noise)) / 6e-4, rel=1e-4)


def plain(copies: list[int], coins: list[float], noise: list[float]) -> tuple[Floats, Floats]:
    """All coins and noises of amounts that are there several times."""
    each = list(zip(copies, coins, noise, strict=True))
    return (
        np.array([x for n, x, _ in each for _ in range(n) if x]),
        np.array([m for n, _, m in each for _ in range(n) if m]),
    )


@pytest.mark.parametrize("blur", [1e-6, 1e-8])
def test_copies_and_what_is_fixed(blur: float) -> None:
    """An amount with several parts and copies moves as all of them together."""
    terms = Terms(
        np.array([3.0, 2.0, 1.0]),
        np.array([0, 0, 2]),
        np.array([0.25, 0.75, 1.0]),
        np.array([1]),
        np.array([1.5]),
        np.array([0.13, 0.21]),
        0.09,
    )
    amounts, delta = np.array([0.4, 0.2, 0.31]), 1e-5
    coins, noise = plain([3, 3, 2, 1], [0.1, 0.3, 0.0, 0.31], [0.0, 0.0, 0.3, 0.0])
    y, by_coin, by_noise = gradient(np.append(coins, terms.fixed_coins), np.append(noise, 0.3), delta, blur)
    found = optimum(terms, amounts, math.log(delta), blur, second=True)
    assert found.y == pytest.approx(y, rel=1e-9)
    wanted = [by_coin[:3].sum() * 0.25 + by_coin[3:6].sum() * 0.75, by_noise[:2].sum() * 1.5, by_coin[6]]
    assert found.slopes == pytest.approx(wanted, rel=1e-7)
    assert found.curves is not None
    for i in range(3):
        step = np.zeros(3)
        step[i] = 1e-4
        ends = [optimum(terms, amounts + sign * step, math.log(delta), blur).slopes for sign in (1, -1)]
        assert found.curves[i] == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-3, abs=1e-4)


@given(st.permutations(range(8)))
@settings(max_examples=6)
def test_order_does_not_matter(order: list[int]) -> None:
    coins, noise, delta = 0.05 * np.array([1, 1, 2, 3, 5, 8, 8, 9.0]), np.array([0.1, 0.4]), 1e-4
    y, slopes, by_noise = gradient(coins, noise, delta)
    again, turned, other = gradient(coins[order], noise[::-1].copy(), delta)
    assert again == pytest.approx(y, rel=1e-9)
    assert turned == pytest.approx(slopes[order], rel=1e-8)
    assert other == pytest.approx(by_noise[::-1], rel=1e-8)
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-12)
    assert slopes[5] == pytest.approx(slopes[6], rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_scaling(name: str) -> None:
    """Σ a·∂y/∂a is how y moves with all amounts together."""
    coins, noise, delta = np.array(CASES[name][0]), np.array(CASES[name][1]), CASES[name][2]
    _, by_coin, by_noise = gradient(coins, noise, delta, 1e-9)
    ends = [exact((1 + step) * coins, (1 + step) * noise, delta) for step in (1e-6, -1e-6)]
    with working(BITS):
        grows = float((ends[0] - ends[1]) / real(2e-6))
    assert float(by_coin @ coins + by_noise @ noise) == pytest.approx(grows, rel=1e-6)


def test_many_amounts_have_a_diagonal() -> None:
    """What moving one amount alone would bend, but for what all share."""
    count = MOST_DENSE + 5
    coins = np.array([0.02 + 1e-4 * i for i in range(count)])
    terms, amounts = terms_of(coins, np.zeros(0))
    found = optimum(terms, amounts, math.log(1e-6), second=True)
    assert found.curves is not None
    assert found.curves.shape == (count,)
    few, some = terms_of(coins[:MOST_DENSE], np.zeros(0))
    dense = optimum(few, some, math.log(1e-6), second=True).curves
    assert dense is not None
    assert np.diag(dense) == pytest.approx(found.curves[:MOST_DENSE], rel=0.1)


def test_nothing_is_spent() -> None:
    """δ above what the mechanisms could ever leak: ε is 0 and stays there."""
    y, slopes, _ = gradient(np.array([0.01, 0.02]), np.zeros(0), 0.3)
    assert y == 0
    assert not slopes.any()


def test_closed_form_for_noise() -> None:
    y, _, slopes = gradient(np.zeros(0), np.array([0.3, 0.4]), 1e-8)
    with working(BITS):
        assert float(gaussian_hockey(0.5)(arb(y))) == pytest.approx(1e-8, rel=1e-6)
    assert slopes[1] / slopes[0] == pytest.approx(4 / 3, rel=1e-9)


@pytest.mark.parametrize("delta", [1e-15, 1e-6, 0.02, 0.1])
@pytest.mark.parametrize("coins", [[0.4], [0.3, 0.2], [0.9, 0.5, 0.5]])
def test_below_the_largest_value_it_is_exact(coins: list[float], delta: float) -> None:
    """No integral and no blur: the optimum, its slopes and its curves."""
    given, none = np.array(coins), np.zeros(0)
    terms, amounts = terms_of(given, none)
    found = optimum(terms, amounts, math.log(delta), 1e-4, second=True)
    assert found.y == pytest.approx(float(exact(given, none, delta)), rel=1e-13)
    slopes = differences(lambda x: exact(x, none, delta), given, 1e-5)
    assert found.slopes == pytest.approx(slopes, rel=1e-8)
    assert found.curves is not None
    for place in range(given.size):
        step = np.zeros(given.size)
        step[place] = 1e-5
        up, down = (optimum(terms, amounts + sign * step, math.log(delta), 1e-4).slopes for sign in (1, -1))
        assert found.curves[place] == pytest.approx((up - down) / 2e-5, abs=1e-8)


def test_many_amounts_below_the_largest_value() -> None:
    """Only the diagonal of the curves, and nothing overflows."""
    coins = np.full(MOST_DENSE + 1, 800.0)
    terms, amounts = terms_of(coins, np.zeros(0))
    found = optimum(terms, amounts, math.log(1e-6), 1e-4, second=True)
    assert found.y == pytest.approx(coins.sum(), rel=1e-8)
    assert found.slopes == pytest.approx(np.ones(coins.size))
    assert found.curves is not None
    assert found.curves.shape == coins.shape
