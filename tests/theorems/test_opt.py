"""OPT: the truth lies in the certified bracket, in both directions, wherever asked and however little may be spent."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from optcomp import ApproxDP, Bound, HypothesisNotMet, PrecisionNotReached, PureDP, compose
from optcomp.composition.reading import Items, read_parts
from optcomp.instances import coins_of
from optcomp.instances.parts import Parts
from optcomp.numerics.contour.coins import Coins
from optcomp.theorems import opt
from optcomp.theorems.opt import CAPPED, Effort, contour_delta, contour_epsilon
from tests.oracles.checks import encloses
from tests.oracles.equal import Equal
from tests.oracles.halves import Halves
from tests.oracles.multiples import Multiples
from tests.oracles.truth import Mechanism, Truth

CONTOUR = ("OPT", "contour")
QUICK = Effort(1e-7, 3e7)


def real_sizes(k: int, low: float = 0.01, high: float = 0.3, seed: int = 0) -> list[float]:
    return [float(x) for x in np.random.default_rng([k, seed]).uniform(low, high, k)]


def lattice(k: int, unit: float, most: int = 12, leak: float = 0.0) -> list[Mechanism]:
    """k mechanisms on multiples of a unit that is exact in a float."""
    steps = np.random.default_rng(k).integers(1, most + 1, k)
    return [(unit * a, leak, int(np.count_nonzero(steps == a))) for a in range(1, most + 1) if (steps == a).any()]


def counted(mechanisms: list[Mechanism]) -> dict[tuple[float | Fraction, float | Fraction], int]:
    return {(eps, delta): count for eps, delta, count in mechanisms}


def raw(parts: Items, *, delta: float | Fraction | None = None, epsilon: float | Fraction | None = None,
        effort: Effort = QUICK) -> Bound:  # fmt: skip
    """The quadrature even where a closed form would do."""
    read = read_parts(parts)
    if delta is not None:
        return contour_epsilon(read, delta, effort)[0]
    assert epsilon is not None
    return contour_delta(read, epsilon, effort)[0]


HAND_MADE: dict[str, tuple[list[Mechanism], type[Truth]]] = {
    "two coins": ([(0.5, 0.0, 1), (0.75, 0.0, 1)], Halves),
    "one coin": ([(1.0, 0.0, 1)], Halves),
    "ten equal": ([(0.1, 0.0, 10)], Halves),
    "twenty real": ([(x, 0.0, 1) for x in real_sizes(20)], Halves),
    "leaky": ([(x, 1e-5 * (i % 3), 1) for i, x in enumerate(real_sizes(16))], Halves),
    "tiny beside large": ([(1e-6, 0.0, 3), (5.0, 0.0, 2), (2e-6, 0.0, 1)], Halves),
    "dominated": ([(4.0, 0.0, 1), *((x, 0.0, 1) for x in real_sizes(15))], Halves),
    "nearly equal": ([(0.3 * (1 + 1e-13 * i * i), 0.0, 1) for i in range(18)], Halves),
    "two types": ([(0.013, 0.0, 900), (0.029, 0.0, 350)], Halves),
    "hundreds": (lattice(400, 0.015625), Multiples),
    "thousands, leaky": (lattice(2500, 0.00390625, leak=1e-11), Multiples),
}


@cache
def truth_of(name: str) -> Truth:
    """The oracle of a list made by hand; it caches the tables from which it answers."""
    mechanisms, oracle = HAND_MADE[name]
    return oracle(mechanisms)


@cache
def truth_of_lattice(k: int, unit: float) -> Multiples:
    return Multiples(lattice(k, unit))


@pytest.mark.parametrize("name", list(HAND_MADE))
@pytest.mark.parametrize("delta", [0.2, 0.01, 1e-6, 1e-15])
def test_epsilon(name: str, delta: float) -> None:
    mechanisms, truth = HAND_MADE[name][0], truth_of(name)
    smallest = min(Fraction(eps) for eps, _, _ in mechanisms)
    if not truth.feasible(delta) or truth.at_least(max(truth.total - 2 * smallest, Fraction(0)), delta):
        return  # a closed form, and for good reasons
    for effort in (QUICK, Effort(1e-4, 1e4)):
        bound = raw(counted(mechanisms), delta=delta, effort=effort)
        assert (bound.theorem, bound.method) == CONTOUR
        assert encloses(truth, bound)


@pytest.mark.parametrize("name", list(HAND_MADE))
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.8])
def test_delta(name: str, share: float) -> None:
    mechanisms, truth = HAND_MADE[name][0], truth_of(name)
    epsilon = float(truth.total) * share
    if float(truth.delta(Fraction(epsilon), 200)) > 0.999:
        return
    bound = raw(counted(mechanisms), epsilon=epsilon)
    assert (bound.theorem, bound.method) == CONTOUR
    assert encloses(truth, bound)


@pytest.mark.parametrize("delta", [0.9, 0.5, 0.1, 1e-3, 1e-10, 1e-30, 1e-100, 1e-300])
def test_every_size_of_delta(delta: float) -> None:
    mechanisms = lattice(1200, 0.03125)
    bound = compose(counted(mechanisms), delta=delta, method="certified")
    assert (bound.theorem, bound.method) == CONTOUR
    assert encloses(truth_of_lattice(1200, 0.03125), bound)
    assert bound.width <= 1e-8


def test_both_directions_meet() -> None:
    sizes = real_sizes(500)
    there = compose(sizes, delta=1e-6, method="certified")
    assert (there.theorem, there.method) == CONTOUR
    assert compose(sizes, epsilon=there.upper, method="certified").lower <= 1e-6
    assert compose(sizes, epsilon=there.lower, method="certified").upper >= 1e-6


def test_order_and_repetition_do_not_matter() -> None:
    sizes = real_sizes(150)
    doubled = sizes + sizes[:40]
    expected = compose(doubled, delta=1e-7, method="certified")
    assert compose(doubled[::-1], delta=1e-7, method="certified") == expected
    assert compose(np.array(doubled), delta=1e-7, method="certified") == expected
    counts = {x: 1 + (i < 40) for i, x in enumerate(sizes)}
    assert compose(counts, delta=1e-7, method="certified") == expected
    assert compose([PureDP(x) for x in doubled], delta=1e-7, method="certified") == expected
    assert compose([*doubled, 0.0, 0.0], delta=1e-7, method="certified").upper == expected.upper


def test_monotone() -> None:
    """Brackets of a larger question are never entirely below those of a smaller one."""
    sizes = real_sizes(300)
    by_delta = [compose(sizes, delta=delta, method="certified") for delta in (1e-12, 1e-9, 1e-5, 1e-2, 0.2)]
    assert all(before.upper >= after.lower for before, after in pairwise(by_delta))
    assert all(before.lower > after.upper for before, after in pairwise(by_delta))
    here = by_delta[1]
    for more in ([*sizes, 0.01], [x * 1.001 for x in sizes], [ApproxDP(x, 1e-13) for x in sizes]):
        assert compose(more, delta=1e-9, method="certified").upper > here.lower
    fewer = compose(sizes[1:], delta=1e-9, method="certified")
    assert fewer.lower < here.upper


@pytest.mark.parametrize("delta", [0.3, 1e-9, 1e-40])
def test_at_most_basic_composition(delta: float) -> None:
    for sizes in (real_sizes(60, 0.5, 3), real_sizes(400), real_sizes(50, 1e-6, 1e-5)):
        basic = compose(sizes, delta=delta, method="basic").upper
        assert compose(sizes, delta=delta, method="certified").upper <= basic
        assert raw(sizes, delta=delta, effort=Effort(1e-4, 1e4)).upper <= basic


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9, 1e-11])
def test_a_demanded_width_is_met(rtol: float) -> None:
    mechanisms, truth = lattice(900, 0.015625), truth_of_lattice(900, 0.015625)
    for bound in (
        compose(counted(mechanisms), delta=1e-8, method="certified", rtol=rtol),
        compose(counted(mechanisms), epsilon=12.5, method="certified", rtol=rtol),
    ):
        assert bound.width <= rtol
        assert encloses(truth, bound)


def test_a_width_that_is_not_met_comes_with_the_bracket() -> None:
    sizes = real_sizes(3000)
    usual = compose(sizes, delta=1e-8, method="certified")
    with pytest.raises(PrecisionNotReached) as refusal:
        compose(sizes, delta=1e-8, method="certified", rtol=0)
    narrow = refusal.value.bound
    assert isinstance(narrow, Bound)
    assert 0 < narrow.width < usual.width
    assert usual.lower <= narrow.upper
    assert narrow.lower <= usual.upper


@pytest.mark.parametrize("given", [{"delta": 1e-6}, {"epsilon": 1.0}])
def test_adaptive_parameters_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(HypothesisNotMet) as refusal:
        compose(real_sizes(60), method="certified", parameters="adaptive", **given)  # type: ignore[arg-type]
    assert refusal.value.theorem == "OPT"


@pytest.mark.parametrize("work", [1.0, 1e4, 1e6])
def test_a_cap_on_the_work_leaves_a_wide_but_true_bracket(work: float) -> None:
    mechanisms: list[Mechanism] = [(x, 0.0, 1) for x in real_sizes(22, 0.2, 2)]
    truth = Halves(mechanisms)
    effort = Effort(1e-10, work)
    parts = counted(mechanisms)
    for bound in (raw(parts, delta=0.01, effort=effort), raw(parts, epsilon=7.0, effort=effort)):
        assert encloses(truth, bound)
        assert 1e-10 < bound.width < 0.1
        assert bound.notes == (CAPPED,)


def test_fractions() -> None:
    """Sizes that no float holds: rounded up for one side, down for the other."""
    mechanisms: list[Mechanism] = [(Fraction(a, 300), Fraction(1, 10**12), 40 + a) for a in range(1, 9)]
    truth = Multiples(mechanisms)
    parts, effort = counted(mechanisms), Effort(1e-6, 1e7)
    for bound in (
        raw(parts, delta=Fraction(1, 3 * 10**6), effort=effort),
        raw(parts, epsilon=Fraction(4, 3), effort=effort),
    ):
        assert (bound.theorem, bound.method) == CONTOUR
        assert encloses(truth, bound)
        assert bound.width <= 1e-4


def test_coins_that_are_not_floats_lie_between_their_roundings() -> None:
    """Sizes and counts, up for one side and down for the other; neighbours may merge."""
    eps = [Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**18), Fraction(2, 7), Fraction(1, 4)]
    for copies in (1, 10**14 + 1, 10**15 - 3):
        parts = read_parts({x: copies + i for i, x in enumerate(eps)})
        for direction in (1, -1):
            coins = coins_of(parts, direction)
            left = sorted(eps)
            assert coins.x.size <= len(left)
            pairs = zip(coins.x.tolist(), coins.m.tolist(), strict=True)
            total = sum((Fraction(x) * int(m) for x, m in pairs), Fraction(0))
            exact = sum((x * (copies + i) for i, x in enumerate(eps)), Fraction(0))
            assert (total - exact) * direction >= 0
            assert abs(total - exact) <= exact / 10**14
            assert (Fraction(float(coins.x[0])) - left[0]) * direction >= 0
            assert (Fraction(float(coins.x[-1])) - left[-1]) * direction >= 0


@pytest.mark.parametrize("ask", [lambda sizes: raw(sizes, delta=1e-3), lambda sizes: raw(sizes, epsilon=1.0)])
def test_each_side_has_its_own_coins(ask: Callable[[Items], Bound], monkeypatch: pytest.MonkeyPatch) -> None:
    """With roundings of a percent instead of a part in 10^16, the bracket spans both."""
    sizes = [Fraction(a, 30) for a in range(2, 14)]
    plain = coins_of

    def coarse(parts: Parts, direction: int) -> Coins:
        coins = plain(parts, direction)
        return Coins(coins.x * (1 + 0.01 * direction), coins.m)

    monkeypatch.setattr(opt, "coins_of", coarse)
    bound = ask(sizes)
    monkeypatch.undo()
    assert bound.lower <= ask([float(x) * 0.991 for x in sizes]).upper
    assert bound.upper >= ask([float(x) * 1.009 for x in sizes]).lower


@pytest.mark.parametrize("count", [10**6, 10**9, 10**15])
def test_huge_counts(count: int) -> None:
    eps = 0.5 / math.sqrt(count)
    truth = Equal(count, eps)
    bound = raw({eps: count}, delta=1e-6)
    assert encloses(truth, bound)
    assert bound.width <= (1e-5 if count <= 10**9 else 1)  # round-off grows with the count
    dual = raw({eps: count}, epsilon=1.0)
    assert encloses(truth, dual)


def test_extreme_sizes() -> None:
    tiny = [1e-100 * (1 + i / 7) for i in range(60)]
    bound = compose(tiny, delta=1e-101, method="certified")
    assert 0 < bound.lower <= bound.upper <= sum(tiny)
    huge = [1e12 * (1 - i / 200) for i in range(60)]
    bound = compose(huge, delta=1e-9, method="certified")
    assert bound.upper <= math.fsum(huge) * (1 + 1e-15)
    assert bound.lower > 0.9 * bound.upper
    mixed: list[Mechanism] = [(1e-100, 0.0, 3), (1e12, 0.0, 2), (0.5, 0.0, 5)]
    for delta in (1e-3, 0.3):
        assert encloses(Halves(mixed), compose(counted(mixed), delta=delta, method="certified"))


@pytest.mark.parametrize("gap", [1e-2, 1e-6, 1e-12])
def test_next_to_the_closed_forms(gap: float) -> None:
    """Just outside the top cell, and δ just below what is left at ε = 0."""
    mechanisms, truth = lattice(120, 0.0625), truth_of_lattice(120, 0.0625)
    smallest = min(Fraction(eps) for eps, _, _ in mechanisms)
    place = truth.total - 2 * smallest * (1 + Fraction(gap))
    most = float(truth.delta(Fraction(0), 300)) * (1 - gap)
    for delta in (float(truth.delta(place, 900)), most):
        assert encloses(truth, raw(counted(mechanisms), delta=delta, effort=Effort(1e-5, 1e6)))
    assert encloses(truth, raw(counted(mechanisms), epsilon=float(place), effort=Effort(1e-5, 1e6)))
