"""Nodes judged by sums of waves: what is claimed of skipped nodes holds for every one of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb

from optcomp.numerics.balls import DEEP_BITS, precision
from optcomp.numerics.blocked import Floats
from optcomp.numerics.contour import waves as module
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.products import rotations
from optcomp.numerics.contour.waves import DEGREES, Looks, Turns, WaveBound, wave_sieve, waves_from
from tests.mutants import put_mutant
from tests.oracles.contour import phi
from tests.unit.numerics.contour.test_sieve import left_of, sizes

RNG = np.random.default_rng(29)
FAMILIES: dict[str, Coins] = {
    "spread": Coins(np.sort(RNG.uniform(0.001, 0.1, 100)), np.ones(100)),
    "large": Coins(np.sort(RNG.uniform(0.1, 2.0, 60)), np.ones(60)),
    "copies": Coins(np.array([0.05, 0.06, 0.31]), np.array([40.0, 9.0, 8.0])),
    # all in step at every 63rd node: there |φ| is 1
    "in step": Coins(math.pi / 15.75 * np.array([1.0, 2.0, 3.0]), np.array([30.0, 20.0, 5.0])),
}


def log_sizes(coins: Coins, c: float, theta: Floats) -> Floats:
    return np.log(np.maximum(sizes(coins, c, theta), 1e-290))


def sums(bound: WaveBound, coins: Coins, begin: float, step: float, blocks: int) -> Floats:
    """The sums of cosines at evenly spaced places, in their order."""
    looks = Looks(bound, Turns(coins.x, step))
    return looks.at(begin, blocks * looks.down).transpose(0, 2, 1, 3).ravel().astype(np.float64)


def overshoot(coins: Coins, c: float, degree: int, stride: int, blocks: int = 1) -> float:
    """By how much log|φ| exceeds its bound at the worst of many nodes; at most 0 if the bound holds."""
    bound, step, begin = WaveBound(coins, c, degree), 0.25, 1000
    logs = sums(bound, coins, step * (begin + stride // 2), step * stride, blocks)
    most = logs - bound.mean + bound.loose(step * (begin + logs.size * stride), step * (stride // 2))
    theta = step * (begin + np.arange(logs.size * stride, dtype=np.float64))
    return float((log_sizes(coins, c, theta).reshape(-1, stride) - most[:, np.newaxis]).max())


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize("c", [0.25, 13.0])
@pytest.mark.parametrize("degree", range(1, DEGREES + 1))
@pytest.mark.parametrize("stride", [1, 3, 9])
def test_the_bound_of_every_node(name: str, c: float, degree: int, stride: int) -> None:
    assert overshoot(FAMILIES[name], c, degree, stride) <= 1e-9


@pytest.mark.parametrize("degree", range(1, DEGREES + 1))
def test_the_bound_in_balls(degree: int) -> None:
    coins = FAMILIES["spread"]
    bound = WaveBound(coins, 5.0, degree)
    logs = sums(bound, coins, 777.25, 1.25, 1)
    pairs = list(zip(coins.x.tolist(), coins.m.tolist(), strict=True))
    for number in range(0, logs.size, 97):
        theta = 777.25 + 1.25 * number
        most = float(logs[number]) - bound.mean + bound.loose(theta, 0.0)
        assert abs(phi(pairs, 5.0, theta, 2000)).log() <= most


@pytest.mark.parametrize("degree", range(1, DEGREES + 1))
@pytest.mark.parametrize("rho", [1.0, 0.97, 0.5, 0.03, 1e-9])
def test_the_polynomial_is_above_the_log(degree: int, rho: float) -> None:
    """On many places of [-1, 1], in balls; and its mean is not far from the best of its degree, log(1 + ρ^n)/n."""
    constant, waves = module._majorant(np.array([rho]), degree)
    with precision(DEEP_BITS):
        for v in np.linspace(0.0, math.pi * (1 - 1e-6), 400).tolist():
            most = arb(float(constant[0])) + sum(
                (float(wave[0]) * arb((n + 1) * v).cos() for n, wave in enumerate(waves)), arb(0)
            )
            assert (1 + arb(rho) * (rho + 2 * arb(v).cos())).log() / 2 <= most + 1e-15
    best = math.log1p(rho ** (degree + 1)) / (degree + 1)
    assert best - 1e-15 <= float(constant[0]) <= best + (0.02 if degree == 1 else 1e-12)


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize("degree", range(1, DEGREES + 1))
@pytest.mark.parametrize("begin", [10.0, 1e7])
def test_sums_in_single_precision(name: str, degree: int, begin: float) -> None:
    """Every sum is within its bound of the true one, in balls; and the bound is no more than a hundredth."""
    coins = FAMILIES[name]
    bound = WaveBound(coins, 0.5, degree)
    found = sums(bound, coins, begin, 0.5, 2)
    loose = bound.loose(begin + 0.5 * found.size, 0.0)
    assert loose < 0.01
    x = np.multiply.outer(np.arange(1.0, degree + 1), coins.x).ravel()
    with precision(DEEP_BITS):
        for number in range(0, found.size, found.size // 7):
            theta = arb(begin + 0.5 * number)
            pairs = zip(bound.beta.tolist(), x.tolist(), strict=True)
            truth = sum((beta * (2 * theta * each).cos() for beta, each in pairs), arb(0))
            assert abs(truth - float(found[number])) <= loose + 1e-13


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize(("c", "smoothing", "share"), [(0.25, 1e-9, 1e-5), (3.0, 1e-7, 1e-3), (13.0, 1e-6, 1e-3)])
def test_sums_over_skipped_nodes(name: str, c: float, smoothing: float, share: float) -> None:
    coins, step, first, last = FAMILIES[name], 0.25, 30, 40_000
    found = wave_sieve(coins, c, step, first, last, share, smoothing)
    skipped = left_of(found, first, last)
    assert skipped.size > 20
    theta = step * skipped.astype(np.float64)
    size = sizes(coins, c, theta) * np.exp(-0.5 * smoothing * theta * theta)
    assert float(size.sum()) <= found.far
    assert float((size / theta**2).sum()) <= found.near
    assert (found.near + smoothing * found.far) * step / math.pi <= 1.2 * share


def test_peaks_stay() -> None:
    coins = FAMILIES["in step"]
    found = wave_sieve(coins, 0.25, 0.25, 30, 40_000, 1e-7, 1e-9)
    skipped = left_of(found, 30, 40_000)
    assert not (skipped % 63 == 0).any()
    assert found.nodes < 30_000


def test_where_it_is_worth_while() -> None:
    few, many = Coins(np.array([1.0]), np.array([1.0])), Coins(np.linspace(0.01, 0.1, 500), np.ones(500))
    assert waves_from(few, 5.0, 0.1, 10, 100_000, 1e-12, 1e-12) is None
    assert waves_from(many, 5.0, 0.1, 10, 100_000, 1e-12, 1e-12) is None
    found = waves_from(FAMILIES["spread"], 13.0, 2.0, 24, 200_000, 7e-12, 1.7e-10)
    assert found is not None
    assert 24 <= found < 50_000


def _lower_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = module._majorant
    monkeypatch.setattr(module, "_majorant", lambda rho, n: (plain(rho, n)[0] - 1e-3, plain(rho, n)[1]))


def _no_radius(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = WaveBound.loose
    monkeypatch.setattr(WaveBound, "loose", lambda self, theta, radius: plain(self, theta, 0.0))


def _coarse_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotations of ten bits, with the error of 24."""
    plain = rotations
    monkeypatch.setattr(module, "rotations", lambda x, theta: np.rint(plain(x, theta) * 2.0**10) / 2.0**10)


@pytest.mark.parametrize("change", [_lower_constant, _no_radius, _coarse_entries])
def test_a_term_left_out_is_seen(change: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [(degree, stride) for degree in (1, 2, 3) for stride in (1, 3, 9)]
    assert max(overshoot(FAMILIES["in step"], 0.25, *case, 4) for case in cases) <= 1e-9
    change(monkeypatch)
    assert max(overshoot(FAMILIES["in step"], 0.25, *case, 4) for case in cases) > 1e-9


@pytest.mark.parametrize("name", list(FAMILIES))
def test_single_precision_left_out_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put_mutant(monkeypatch, WaveBound, "loose", ("turned + single + away", "turned + away"))
    with pytest.raises(AssertionError):
        test_sums_in_single_precision(name, 3, 10.0)
