"""The noise that counts need: within the budget, close to the least, and where formulas are known, those."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import optcomp as oc
from optcomp.composition.reading import Items
from optcomp.proofs.count_noise import RTOL, SIZES, WAYS, CountNoise, Way, compare_counts, count_noise

EPS, DELTA = 1.0, 1e-6

BUILT: dict[Way, Callable[[float, int], Items]] = {
    "gaussian-l2": lambda scale, d: {oc.Gaussian(scale): d},
    "laplace-strong": lambda scale, d: {oc.PureDP(oc.Laplace(scale).pure): d},
    "laplace-optimal": lambda scale, d: {oc.PureDP(oc.Laplace(scale).pure): d},
    "laplace-loss": lambda scale, d: {oc.Laplace(scale): d},
}


def _root(decreasing: Callable[[float], float], goal: float) -> float:
    low, high = 1e-3, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if decreasing(middle) > goal else (low, middle)
    return high


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _gaussian_delta(mu: float) -> float:
    return _normal(-EPS / mu + mu / 2) - math.exp(EPS) * _normal(-EPS / mu - mu / 2)


def _strong_epsilon(eps: float, d: int) -> float:
    return d * eps * math.tanh(eps / 2) + eps * math.sqrt(2 * d * math.log(1 / DELTA))


@pytest.mark.parametrize("d", [1, 7, 40])
def test_noise_is_within_the_budget_and_less_is_not(d: int) -> None:
    found = count_noise(d, epsilon=EPS, delta=DELTA)
    for way, build in BUILT.items():
        method = "strong" if way == "laplace-strong" else "auto"
        scale = found.scales[way]
        assert oc.compose(build(scale, d), delta=DELTA, method=method).upper <= EPS
        assert oc.compose(build(scale * (1 - 2 * RTOL), d), delta=DELTA, method=method).upper > EPS


@pytest.mark.parametrize("d", [1, 10, 60])
def test_gaussian_and_strong_are_the_formulas(d: int) -> None:
    found = count_noise(d, epsilon=EPS, delta=DELTA)
    sigma = _root(lambda sigma: _gaussian_delta(math.sqrt(d) / sigma), DELTA)
    assert found.deviation("gaussian-l2") == pytest.approx(sigma, rel=2e-6)
    scale = _root(lambda scale: _strong_epsilon(1 / scale, d), EPS)
    assert found.deviation("laplace-strong") == pytest.approx(math.sqrt(2) * scale, rel=2e-6)


def test_one_count_is_the_formulas() -> None:
    """Laplace noise: δ = 1 - e^{(ε-ε₀)/2}; the worst with ε₀: δ = (e^ε₀ - e^ε)/(1 + e^ε₀)."""
    found = count_noise(1, epsilon="0.5", delta="0.01")
    assert found.scales["laplace-loss"] == pytest.approx(1 / (0.5 - 2 * math.log(0.99)), rel=2e-4)
    worst = math.log((0.01 + math.exp(0.5)) / 0.99)
    assert found.scales["laplace-optimal"] == pytest.approx(1 / worst, rel=2e-6)
    assert found.scales["laplace-l1"] == 2.0


def test_sensitivity_is_the_number_of_counts() -> None:
    assert count_noise(3, epsilon="0.3").scales["laplace-l1"] == 10.0
    scale = count_noise(1, epsilon="0.7").scales["laplace-l1"]
    assert oc.Laplace(scale).pure <= oc.PureDP("0.7").epsilon
    assert scale == pytest.approx(1 / 0.7, rel=1e-15)


def test_the_tighter_the_analysis_the_less_noise() -> None:
    for row in compare_counts((2, 30), epsilon=EPS, delta=DELTA):
        loss, optimal, strong = (row.scales[way] for way in ("laplace-loss", "laplace-optimal", "laplace-strong"))
        assert loss <= optimal < strong
        assert loss <= row.scales["laplace-l1"]


def test_who_needs_the_least() -> None:
    few, many = compare_counts((2, 30), epsilon=EPS, delta=DELTA)
    assert (few.least, many.least) == ("laplace-l1", "gaussian-l2")
    for row in (few, many):
        assert row.deviation(row.least) <= 1.001 * min(map(row.deviation, WAYS))


def test_ties_go_to_the_simplest() -> None:
    close: dict[Way, float] = dict.fromkeys(WAYS, 1.0)
    assert CountNoise(1, close | {"gaussian-l2": 1.41422}).least == "laplace-l1"
    assert CountNoise(1, close | {"gaussian-l2": 1.41}).least == "gaussian-l2"
    assert CountNoise(1, {**close, "gaussian-l2": 2.0, "laplace-loss": 0.9}).least == "laplace-loss"


def test_deviation_is_rounded_up() -> None:
    row = CountNoise(1, dict.fromkeys(WAYS, 3.0))
    assert row.deviation("gaussian-l2") == 3.0
    assert math.sqrt(18) <= row.deviation("laplace-l1") <= math.sqrt(18) * (1 + 1e-15)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"queries": 0}, "queries"),
        ({"queries": 2.0}, "queries"),
        ({"queries": 1, "epsilon": 0}, "epsilon"),
        ({"queries": 1, "delta": 0}, "delta"),
        ({"queries": 1, "delta": 1}, "delta"),
        ({"queries": 1, "epsilon": -1}, "epsilon"),
    ],
)
def test_bad_input_names_the_argument(arguments: dict[str, float], name: str) -> None:
    queries = arguments.pop("queries")
    with pytest.raises(oc.InvalidInput) as caught:
        count_noise(queries, **arguments)  # type: ignore[arg-type]
    assert caught.value.argument == name


def test_sizes_grow() -> None:
    assert (SIZES[0], SIZES[-1]) == (1, 1000)
    assert list(SIZES) == sorted(SIZES)
