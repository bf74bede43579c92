"""MV18-1.5: the exact answer by every route, and to as many bits as asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb

from optcomp import HypothesisNotMet, NotAffordable, compose
from optcomp.numerics.ball_halves import BallHalves
from optcomp.numerics.float_halves import FloatHalves
from optcomp.numerics.knapsack import Knapsack
from optcomp.numerics.lines import Enumeration, enumerated_excess, enumerated_root
from tests.oracles.checks import encloses
from tests.oracles.rational import exact_delta, log_between
from tests.oracles.sums import Lattice, Subsets, subsets
from tests.oracles.truth import Mechanism, Truth, rational_ends, real, working

UNIT = 0.0625
STEPS = [(1, 5), (3, 2), (4, 12), (7, 1), (9, 3)]
COINS = [(a * UNIT, m) for a, m in STEPS]
TOTAL = sum(a * m for a, m in STEPS)


def distinct(k: int, seed: int = 0, high: float = 0.3) -> list[float]:
    return [float(x) for x in np.random.default_rng([k, seed]).uniform(0.01, high, k)]


ROUTES: dict[str, Callable[[], Enumeration]] = {
    "floats": lambda: FloatHalves(COINS),
    "balls": lambda: BallHalves(COINS, 200),
    "balls, one half": lambda: BallHalves(COINS, 200, one_half=True),
    "knapsack": lambda: Knapsack(STEPS, UNIT, 0.0),
}


@cache
def truth_of_coins() -> Subsets:
    return Subsets([(x, 0.0, m) for x, m in COINS])


def root_holds(truth: Truth, root: arb, t: float) -> bool:
    """Whether a ball for the root of h(y) = t contains it."""
    with working(400):
        lower, upper = rational_ends(root)
    return truth.at_least(lower, t) and truth.at_most(upper, t)


@pytest.mark.parametrize("route", list(ROUTES))
@pytest.mark.parametrize("t", [1e-30, 1e-12, 1e-6, 0.01, 0.3, 0.6])
def test_root_by_each_route(route: str, t: float) -> None:
    truth = truth_of_coins()
    for guess in (0.0, 0.5, 3.0, TOTAL * UNIT):
        root = enumerated_root(ROUTES[route](), arb(t), guess, arb(TOTAL * UNIT))
        assert root_holds(truth, root, t), (guess, root)
        assert root.rad() < 1e-10


@pytest.mark.parametrize("route", list(ROUTES))
@pytest.mark.parametrize(
    "y", [0.0, UNIT, 0.5, math.nextafter(0.5, 0), math.nextafter(0.5, 1), 2.03, TOTAL * UNIT - 0.01]
)
def test_excess_by_each_route(route: str, y: float) -> None:
    truth = truth_of_coins()
    excess = enumerated_excess(ROUTES[route](), arb(y))
    exact = truth.delta(Fraction(y), 600)
    with working(600):
        assert excess.contains(exact.mid())
        assert excess.rad() <= 1e-11 * exact


@pytest.mark.parametrize("k", [2, 5, 8, 11, 14])
@pytest.mark.parametrize("delta", [1e-40, 1e-9, 1e-3, 0.2])
def test_subsets(k: int, delta: float) -> None:
    sizes = distinct(k)
    bound = compose(sizes, delta=delta, method="exact")
    assert bound.theorem == "MV18-1.5"
    assert bound.method in {"top cell", "zero", "subsets" if k <= 8 else "meet-in-the-middle"}
    assert encloses(subsets((x, 0.0) for x in sizes), bound)
    assert bound.width <= 1e-12


@pytest.mark.parametrize("k", [30, 40, pytest.param(44, marks=pytest.mark.slow)])
def test_meeting_in_the_middle_in_floats(k: int) -> None:
    """Sizes on a coarse lattice for the oracle, all distinct for the code."""
    steps = [int(a) for a in np.random.default_rng(k).choice(np.arange(3, 400), k, replace=False)]
    truth = Lattice([(Fraction(a, 1024), 0, 1) for a in steps])
    for delta in (1e-3, 1e-9):
        bound = compose([a / 1024 for a in steps], delta=delta, method="exact")
        assert bound.method == "meet-in-the-middle"
        assert encloses(truth, bound)
        assert bound.width <= 1e-11
    dual = compose([a / 1024 for a in steps], epsilon=2.5, method="exact")
    assert encloses(truth, dual)
    assert dual.width <= 1e-11


@pytest.mark.parametrize("counts", [(400, 300), (2000, 5, 3), (20, 20, 20, 20), (5000, 4000)])
def test_multiplicities(counts: tuple[int, ...]) -> None:
    groups: list[Mechanism] = [(Fraction(a, 256), 0, m) for a, m in zip((1, 3, 5, 7), counts, strict=False)]
    truth = Lattice(groups)
    for delta in (1e-3, 1e-12):
        bound = compose({eps: m for eps, _, m in groups}, delta=delta, method="exact")
        assert bound.method == "multiplicities"
        assert encloses(truth, bound)
        assert bound.width <= 1e-10


def test_top_cell_is_the_closed_form() -> None:
    sizes = distinct(200)
    bound = compose(sizes, delta=1e-90)
    assert bound.method == "top cell"
    with working(900):
        odds = arb(1)
        for x in sizes:
            odds *= 1 + (-real(x)).exp()
        value = sum(map(real, sizes), arb(0)) + (1 - real(1e-90) * odds).log()
        assert real(bound.lower) <= value
        assert value <= real(bound.upper)
    assert bound.width <= 1e-15


def test_zero() -> None:
    assert compose([0.1, 0.2], delta=0.5) == compose([0.2, 0.1], delta=0.5)
    bound = compose([0.1, 0.2], delta=0.5)
    assert (bound.lower, bound.upper, bound.method) == (0.0, 0.0, "zero")
    assert compose([], delta=0.0).upper == 0.0
    assert compose([0.0, 0], delta=0).upper == 0.0
    assert compose([], epsilon=0).upper == 0.0


def test_infeasible_is_infinite() -> None:
    for parts in ([(0.1, 0.01)] * 3, [(0.0, 0.02)], [(0.1, 0.01), (0.3, 0.02)]):
        bound = compose(parts, delta=1e-3)
        assert (bound.lower, bound.upper, bound.method) == (math.inf, math.inf, "leak")
        assert bound.notes == ("δ is below the probability that some mechanism leaks everything",)
        assert str(bound).startswith("no finite ε at δ = 0.001 (MV18-1.5, leak; ")


def test_just_feasible_is_the_sum() -> None:
    bound = compose([(0.75, 0.125)], delta=0.125)
    assert (bound.lower, bound.upper, bound.method) == (0.75, 0.75, "sum")
    third, half = Fraction(1, 3), Fraction(1, 2)
    leak = 1 - (1 - third) * (1 - half)
    assert compose([(0.5, third), (0.25, half)], delta=leak).upper == 0.75
    assert compose([(0.5, third), (0.25, half)], delta=leak - Fraction(1, 10**80)).upper == math.inf
    above = compose([(0.5, third), (0.25, half)], delta=leak + Fraction(1, 10**80))
    assert above.lower < 0.75 <= above.upper
    assert above.width <= 1e-15


@pytest.mark.parametrize(
    "parts",
    [
        [(0.1, 0.0), (0.2, 0.0), (0.35, 0.0)],
        [(x, 0.0) for x in distinct(12)],
        [(0.3, 0.01), (0.7, 1e-4)],
        [(0.25, 0)] * 30,
    ],
    ids=["three", "twelve", "leaky", "equal"],
)
@pytest.mark.parametrize(("delta", "epsilon"), [(0.02, None), (None, 0.4)])
def test_bits_are_nested_narrow_and_true(
    parts: list[tuple[float, float]], delta: float | None, epsilon: float | None
) -> None:
    truth = subsets(parts)
    before = (Fraction(0), Fraction(10))
    for bits in (1, 10, 53, 120, 400):
        bound = compose(parts, bits=bits, delta=delta, epsilon=epsilon)
        assert bound.enclosure is not None
        lower, upper = bound.enclosure
        assert 0 <= lower <= upper
        assert upper - lower <= Fraction(1, 2**bits)
        assert before[0] <= lower
        assert upper <= before[1]
        assert encloses(truth, bound)
        before = bound.enclosure


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.06, 0.2])
@pytest.mark.parametrize("parts", [[0.1], [0.1, 0.12], [0.1, 0.0]])
def test_bits_where_the_answer_may_be_zero(parts: list[float], delta: float) -> None:
    bound = compose(parts, delta=delta, bits=30)
    assert bound.enclosure is not None
    assert 0 <= bound.enclosure[0] <= bound.enclosure[1]
    assert encloses(subsets((x, 0.0) for x in parts), bound)


@pytest.mark.parametrize("odds", [(Fraction(3, 2),) * 3, (Fraction(5, 4), Fraction(7, 3)), (Fraction(2),) * 5])
@pytest.mark.parametrize("goal", [Fraction(1), Fraction(3, 2), Fraction(17, 8)])
def test_rational_odds(odds: tuple[Fraction, ...], goal: Fraction) -> None:
    """e^ε rational: the truth is a fraction, and monotonicity brackets it from rationals around the logarithms."""
    leak = Fraction(1, 1000)
    truth = exact_delta([(r, leak) for r in odds], goal)
    low, high = zip(*(log_between(r, 300) for r in odds), strict=True)
    goal_low, goal_high = log_between(goal, 300) if goal > 1 else (Fraction(0), Fraction(0))
    above = compose([(eps, leak) for eps in high], epsilon=goal_low, bits=200).enclosure
    below = compose([(eps, leak) for eps in low], epsilon=goal_high, bits=200).enclosure
    assert above is not None
    assert below is not None
    assert below[0] <= truth <= above[1]
    assert above[1] - below[0] < Fraction(1, 2**190)


def test_refusals() -> None:
    with pytest.raises(HypothesisNotMet, match=r"MV18-1\.5 does not apply"):
        compose([0.1, 0.2], delta=0.01, method="exact", parameters="adaptive")
    with pytest.raises(HypothesisNotMet):
        compose([0.1, 0.2], delta=0.01, bits=20, parameters="adaptive")
    with pytest.raises(NotAffordable) as refusal:
        compose(distinct(60), delta=1e-9, method="exact")
    assert refusal.value.cost > refusal.value.limit


def test_thousands_of_leaks_just_infeasible() -> None:
    """δ one float below the leak of 5,000 different δ_i: no ε works, however small the gap."""
    leaks = [float(delta) for delta in np.linspace(1e-6, 2e-6, 5000)]
    kept = Fraction(1)
    for delta in leaks:
        kept *= 1 - Fraction(delta)
    below = float(1 - kept)
    while Fraction(below) >= 1 - kept:
        below = math.nextafter(below, 0.0)
    assert compose([(0.0, delta) for delta in leaks], delta=below).lower == math.inf
    assert compose([(0.0, delta) for delta in leaks], delta=math.nextafter(below, 1.0)).upper == 0.0
