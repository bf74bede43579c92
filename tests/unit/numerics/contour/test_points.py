"""Log-sums over compressed coins: the truth is within the error that they claim, and the error is small."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from flint import acb, arb

from optcomp.numerics.contour.coins import Coins, log_mean
from optcomp.numerics.contour.points import Compressed, Points, lone_points, points, reduced
from tests.oracles.contour import log_mean as exact_log_mean
from tests.oracles.contour import phi
from tests.oracles.truth import working


def coins_of(x: npt.ArrayLike, m: npt.ArrayLike | None = None) -> Coins:
    sizes, first = np.unique(np.asarray(x, dtype=np.float64), return_index=True)
    copies = np.ones(sizes.size) if m is None else np.asarray(m, dtype=np.float64)[first]
    return Coins(sizes, copies)


def drawn(name: str) -> Coins:
    rng = np.random.default_rng(3)
    return {
        "spread": lambda: coins_of(rng.uniform(0.01, 0.3, 400)),
        "copies": lambda: coins_of(rng.uniform(0.01, 0.3, 300), rng.integers(1, 1000, 300)),
        "clusters and strays": lambda: coins_of(np.concatenate((rng.uniform(0.1, 0.11, 200), [0.5, 2.0, 3.5]))),
        "nearly equal": lambda: coins_of(0.7 * (1 + 1e-9 * rng.uniform(-1, 1, 150))),
        "last bits": lambda: coins_of(0.7 * (1 + 2.0**-52 * np.arange(60))),
        "odd last bits": lambda: coins_of(1.0 + 2.0**-52 * np.array([0, 1, 2, 3, 4, 5, 7, 9, 10, 11])),
        "large": lambda: coins_of(rng.uniform(5, 40, 100)),
        "few": lambda: coins_of([0.1, 0.25, 1.5], [1, 7, 2]),
        "tiny": lambda: coins_of(rng.uniform(1e-9, 2e-9, 200), rng.integers(1, 10**6, 200)),
    }[name]()


NAMES = (
    "spread", "copies", "clusters and strays", "nearly equal", "last bits", "odd last bits", "large", "few", "tiny",
)  # fmt: skip


def ways(coins: Coins, s: float) -> dict[str, Points]:
    """Bins as chosen, bins that are too wide or too coarse on purpose, and none."""
    return {
        "chosen": Compressed(coins).at(s),
        "coarse": points(coins, 0.3 / s, 6),
        "wide": points(coins, 0.9 / s, 12),
        "lone": lone_points(coins),
    }


def holds(coins: Coins, found: Points, c: float, theta: list[float]) -> list[float]:
    """The claimed errors at those θ, after comparing with balls."""
    pairs = list(zip(coins.x.tolist(), coins.m.tolist(), strict=True))
    with np.errstate(all="ignore"):
        logs, angles, errors = found.log_phi(c, np.array(theta))
    for place, log, angle, error in zip(theta, logs.tolist(), angles.tolist(), errors.tolist(), strict=True):
        if not math.isfinite(error):
            continue
        with working(200):
            ratio = phi(pairs, c, place, 200) / acb(0, arb(angle)).exp()
            assert abs(abs(ratio).log() - arb(log)) <= error + 1e-40, ("log", c, place, error)
            assert abs(arb.atan2(ratio.imag, ratio.real)) <= error + 1e-40, ("angle", c, place, error)
    return [error for error in errors.tolist() if math.isfinite(error)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("c", [-0.25, 0.0625, 3.0, 200.0])
def test_log_phi(name: str, c: float) -> None:
    coins = drawn(name)
    rng = np.random.default_rng(8)
    top = float(coins.x[-1])
    for largest in (0.3 / top, 30 / top, 3000 / top):
        theta = [0.0, *(float(value) for value in rng.uniform(0, largest, 3)), largest]
        for way, found in ways(coins, math.hypot(c + 0.5, largest)).items():
            errors = holds(coins, found, c, theta)
            if way == "lone" and largest < 1 / top and c < 100:
                assert max(errors) <= 1e-10 * (1 + coins.count)


@pytest.mark.parametrize("name", ["nearly equal", "last bits", "odd last bits"])
def test_large_theta_with_nearly_equal_coins(name: str) -> None:
    coins = drawn(name)
    for theta in (1e4, 3e5, 7.5e6):
        for found in ways(coins, theta).values():
            holds(coins, found, 0.75, [theta, theta * 1.0001, 16384.0])


def test_chosen_bins_are_good() -> None:
    coins = drawn("spread")
    _, _, errors = Compressed(coins).at(10.0).log_phi(0.5, np.linspace(0, 3, 9))
    assert max(errors) < 1e-10
    assert Compressed(coins).at(1.0).size < 40


def test_half_turns_are_counted_as_they_are_taken_off() -> None:
    """Next to odd multiples of π/2 the number of half-turns is a matter of rounding: it must be the same one twice."""
    theta = 1024.0
    for turns in range(1, 3000):
        near = (turns + 0.5) * math.pi
        for b in (near, math.nextafter(near, 0), math.nextafter(near, 1e9)):
            if np.rint(b * (1 / np.pi)) != np.rint(b / np.pi):
                coins = coins_of([b / theta])
                holds(coins, lone_points(coins), 0.75, [theta])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("c", [-0.5, -0.25, 0.0, 2.0**-24, 0.75, 40.0, 2.0**20])
def test_log_mean(name: str, c: float) -> None:
    coins = drawn(name)
    truth = exact_log_mean(zip(coins.x.tolist(), coins.m.tolist(), strict=True), c, 300)
    for found in ways(coins, c + 1).values():
        value, error = (float(column[0]) for column in found.log_means(np.array([c])))
        with working(300):
            assert abs(arb(value) - truth) <= error + 1e-40
    value, error = (float(column[0]) for column in Compressed(coins).at(c + 1).log_means(np.array([c])))
    assert error <= 1e-9 * (1 + abs(value))


@pytest.mark.parametrize("x", [1e-100, 1e-9, 0.01, 0.999, 1.0, 3.0, 300.0, 1e12])
@pytest.mark.parametrize("c", [-0.5, -0.125, 0.0, 2.0**-24, 0.5, 1000.0])
def test_log_mean_of_one_coin(x: float, c: float) -> None:
    with np.errstate(all="ignore"):
        value, error = log_mean(np.array([x]), c)
    with working(4000 if x < 1e13 and x * (c + 1) < 1e4 else 300):
        a = arb(x)
        if x > 1e3:
            truth = a * arb(c) + (-a * (2 * arb(c) + 1)).exp().log1p() - (-a).exp().log1p()
        else:
            truth = ((a * (arb(c) + 0.5)).cosh() / (a / 2).cosh()).log()
        assert abs(arb(float(value[0])) - truth) <= arb(float(error[0])) + arb(2) ** -900


def test_reduction() -> None:
    rng = np.random.default_rng(6)
    b = np.concatenate((10 ** rng.uniform(-3, 9, 4000), np.pi * (rng.integers(0, 10**6, 4000) + 0.5)))
    rest, turns = reduced(b)
    with working(200):
        for before, after, count in zip(b.tolist(), rest.tolist(), turns.tolist(), strict=True):
            assert abs(arb(after) - (arb(before) - arb(count) * arb.pi())) <= 2.0**-52 * before
