"""Lyu's Theorem 3, built and checked in fractions; its feasible sets by general polygons and by linear programming."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings

from optcomp import InvalidInput
from optcomp.proofs.concurrent import leaky_response_pair
from optcomp.proofs.decomposition import (
    SYMBOLS,
    Decomposition,
    NotIndistinguishable,
    Point,
    common_flows,
    decompose,
    feasible_polygon,
    largest_flows,
    leaky_response,
    split,
)
from optcomp.proofs.distributions import Real
from optcomp.proofs.systems import (
    History,
    Pair,
    System,
    drifting_pair,
    laws,
    mix_systems,
    one_round_pair,
    random_pair,
    random_threshold_pair,
    tabulate,
)
from optcomp.proofs.transcripts import (
    least_delta,
    random_adversary,
    transcript_distribution,
    worst_delta,
)
from tests.unit.proofs.system_generators import ODDS, odds, pairs, rngs, small_pairs

ZERO, ONE = Fraction(0), Fraction(1)


def check_exactly(made: Decomposition) -> None:
    """Identity (4) with fractions at every history, on both data sets; the parts are systems by their type."""
    error = made.error()
    assert error == 0
    assert isinstance(error, Fraction)
    for bit in (0, 1):
        assert sum(made.weights(bit).values()) == 1
        assert made.recombined(bit).flow == made.pair.side(bit).flow


@given(pairs, odds)
def test_every_pair_decomposes_at_its_worst_delta(pair: Pair, level: Fraction) -> None:
    check_exactly(decompose(pair, level, least_delta([pair], level)))


@given(pairs, odds, rngs)
def test_and_at_any_larger_delta(pair: Pair, level: Fraction, rng: Random) -> None:
    worst = least_delta([pair], level)
    check_exactly(decompose(pair, level, worst + (1 - worst) * Fraction(rng.randint(1, 6), 6)))


@given(pairs, odds)
def test_but_at_no_smaller_one(pair: Pair, level: Fraction) -> None:
    worst = least_delta([pair], level)
    if worst:
        with pytest.raises(NotIndistinguishable) as refusal:
            decompose(pair, level, worst * Fraction(999_999, 1_000_000))
        assert refusal.value.worst == worst
        assert str(worst) in str(refusal.value)


@pytest.mark.slow
@settings(max_examples=30)
@given(rngs, odds)
def test_trees_of_three_rounds_with_three_responses(rng: Random, level: Fraction) -> None:
    """Two or three questions in every round: up to 820 histories, each checked on both data sets."""
    pair = drifting_pair(rng, rng.choice([2, 2, 3]), 3, 3)
    worst = least_delta([pair], level)
    check_exactly(decompose(pair, level, worst + (1 - worst) * rng.choice([Fraction(0), Fraction(1, 7)])))


@given(pairs, odds)
def test_what_can_be_kept_is_what_the_worst_adversary_leaves(pair: Pair, level: Fraction) -> None:
    """w_b = 1 − V_b at the root, each direction by itself."""
    kept = largest_flows(pair, level)[()]
    assert kept == (1 - worst_delta([pair], level).value, 1 - worst_delta([pair.swapped()], level).value)


@given(small_pairs, odds, rngs)
def test_identity_4_against_adversaries(pair: Pair, level: Fraction, rng: Random) -> None:
    """Word for word: mixed transcripts of the four systems, under randomized and under the worst adversaries."""
    made = decompose(pair, level, least_delta([pair], level))
    for adversary in (random_adversary(rng, pair.zero), random_adversary(rng, pair.zero, randomized=False)):
        for bit in (0, 1):
            mixed: dict[History, Real] = {}
            for symbol, weight in made.weights(bit).items():
                for transcript, mass in transcript_distribution(adversary, made.part(symbol)).items():
                    mixed[transcript] = mixed.get(transcript, ZERO) + weight * mass
            real = transcript_distribution(adversary, pair.side(bit))
            assert {t: mass for t, mass in mixed.items() if mass} == real


@given(pairs, odds)
def test_what_leaves_no_trace_is_purely_private(pair: Pair, level: Fraction) -> None:
    """The wrap-up of the proof: without the leak the rest is (ε, 0)-indistinguishable (Lemmas 1 to 3)."""
    made = decompose(pair, level, least_delta([pair], level))
    weights = (level / (1 + level), 1 / (1 + level))
    sides = [mix_systems(list(zip(weights, parts, strict=True))) for parts in (made.likely, made.likely[::-1])]
    assert least_delta([Pair(*sides)], level) == 0


@given(pairs, odds)
def test_flows_satisfy_every_condition_of_the_proof(pair: Pair, level: Fraction) -> None:
    corners = largest_flows(pair, level)
    mass = min(corners[()])
    flows = common_flows(pair, level, mass, corners)
    assert flows[()] == (mass, mass)
    for history, query, law in laws(pair.zero.table):
        children = [flows[(*history, (query, y))] for y in law]
        assert tuple(map(sum, zip(*children, strict=True))) == flows[history]
    for history, (first, second) in flows.items():
        assert 0 <= first <= pair.zero.flow[history]
        assert 0 <= second <= pair.one.flow[history]
        assert first <= level * second
        assert second <= level * first


@given(pairs, odds)
def test_floats_come_close(pair: Pair, level: Fraction) -> None:
    rounded, worst = pair.as_floats(), float(least_delta([pair], level))
    assert float(decompose(rounded, float(level), worst).error()) < 1e-12


# --- special cases ------------------------------------------------------------------------------------------------


def test_a_pure_pair_needs_no_leak() -> None:
    pair = random_pair(Random(1), Fraction(2), ZERO)
    made = decompose(pair, Fraction(2), ZERO)
    check_exactly(made)
    assert made.leaks == (pair.zero, pair.one)


def test_equal_systems_at_epsilon_zero() -> None:
    system = drifting_pair(Random(2)).zero
    made = decompose(Pair(system, system), ONE, ZERO)
    check_exactly(made)
    assert made.likely == (system, system)


def test_a_pair_with_nothing_in_common_is_all_leak() -> None:
    pair = one_round_pair({"a": 1}, {"b": 1})
    made = decompose(pair, Fraction(2), ONE)
    check_exactly(made)
    assert made.leaks == (pair.zero, pair.one)


def test_leaky_randomized_response_decomposes_into_its_symbols() -> None:
    level, delta = Fraction(3), Fraction(1, 10)
    made = decompose(leaky_response_pair(level, delta), level, delta)
    check_exactly(made)
    for symbol in SYMBOLS:
        assert made.part(symbol).answer((), "ask") == {s: int(s == symbol) for s in SYMBOLS}


def test_the_leaky_response_is_what_it_says() -> None:
    assert leaky_response(Fraction(3), Fraction(1, 5), 0) == {
        0: Fraction(1, 5),
        1: Fraction(3, 5),
        2: Fraction(1, 5),
        3: 0,
    }
    assert leaky_response(Fraction(3), Fraction(1, 5), 1)[3] == Fraction(1, 5)


@pytest.mark.parametrize(("level", "delta"), [(Fraction(1, 2), ZERO), (ONE, Fraction(-1, 2)), (ONE, Fraction(3, 2))])
def test_bad_parameters_are_refused(level: Fraction, delta: Fraction) -> None:
    with pytest.raises(InvalidInput):
        decompose(leaky_response_pair(ONE, ZERO), level, delta)


@pytest.mark.parametrize(
    "make", [lambda: drifting_pair(Random(11), 3, 3, 3), lambda: random_threshold_pair(Random(4), 3, 4)]
)
def test_large_trees(make: Callable[[], Pair]) -> None:
    """Three rounds with three questions and responses; above-threshold with three questions for four rounds."""
    pair = make()
    worst = least_delta([pair], Fraction(3, 2))
    assert worst > 0
    check_exactly(decompose(pair, Fraction(3, 2), worst))


# --- the feasible sets by general polygons ------------------------------------------------------------------------


def _cross(origin: Point, a: Point, b: Point) -> Real:
    return (a[0] - origin[0]) * (b[1] - origin[1]) - (a[1] - origin[1]) * (b[0] - origin[0])


def _hull(points: Sequence[Point]) -> list[Point]:
    """The corners of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    chains = []
    for direction in (ordered, ordered[::-1]):
        chain: list[Point] = []
        for point in direction:
            while len(chain) > 1 and _cross(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _minkowski(first: Sequence[Point], second: Sequence[Point]) -> list[Point]:
    return _hull([(a[0] + b[0], a[1] + b[1]) for a, b in product(first, second)])


def _inside(point: Point, polygon: Sequence[Point]) -> bool:
    if len(polygon) == 1:
        return point == polygon[0]
    if len(polygon) == 2:
        return _cross(polygon[0], polygon[1], point) == 0 and polygon[0] <= point <= polygon[1]
    return all(_cross(a, b, point) >= 0 for a, b in zip(polygon, [*polygon[1:], polygon[0]], strict=True))


def _crossings(first: Sequence[Point], second: Sequence[Point]) -> list[Point]:
    """Where edges that are not parallel meet."""
    found: list[Point] = []
    sides = [list(zip(polygon, [*polygon[1:], polygon[0]], strict=True)) for polygon in (first, second)]
    for (a, b), (c, d) in product(*sides):
        across, back = _cross(c, d, a), _cross(c, d, b)
        if across != back and across * back <= 0 and _cross(a, b, c) * _cross(a, b, d) <= 0:
            t = across / (across - back)
            found.append((a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])))
    return found


def _intersection(first: Sequence[Point], second: Sequence[Point]) -> list[Point]:
    shared = [p for p in first if _inside(p, second)] + [p for p in second if _inside(p, first)]
    return _hull(shared + _crossings(first, second))


def _leaf_polygon(p: Real, q: Real, level: Real) -> list[Point]:
    """The box [0, p] × [0, q] cut by the cone: a large triangle stands for the cone."""
    far = 2 * level
    box = _hull([(ZERO, ZERO), (p, ZERO), (p, q), (ZERO, q)])
    return _intersection(box, _hull([(ZERO, ZERO), (far, far / level), (far / level, far)]))


def _polygons(pair: Pair, level: Fraction) -> dict[History, list[Point]]:
    """All pairs (r_0, r_1) that are possible at each history: ⋂_x ⊕_y, knowing nothing of boxes and corners."""
    made: dict[History, list[Point]] = {}
    for history in reversed(list(pair.zero.flow)):
        if history not in pair.zero.table:
            made[history] = _leaf_polygon(pair.zero.flow[history], pair.one.flow[history], level)
            continue
        whole: list[Point] | None = None
        for query, law in pair.zero.table[history].items():
            total: list[Point] = [(ZERO, ZERO)]
            for y in law:
                total = _minkowski(total, made[(*history, (query, y))])
            whole = total if whole is None else _intersection(whole, total)
        assert whole is not None
        made[history] = whole
    return made


@given(small_pairs, odds)
def test_the_feasible_set_at_every_history_is_a_box_cut_by_the_cone(pair: Pair, level: Fraction) -> None:
    corners = largest_flows(pair, level)
    for history, polygon in _polygons(pair, level).items():
        assert set(_hull(feasible_polygon(corners[history], level))) == set(polygon)


@given(rngs, odds)
def test_splitting_a_point_over_boxes_cut_by_the_cone(rng: Random, level: Fraction) -> None:
    corners: list[Point] = []
    for _ in range(rng.randint(1, 4)):
        p, q = Fraction(rng.randint(0, 5), 5), Fraction(rng.randint(0, 5), 7)
        corners.append((min(p, level * q), min(q, level * p)))
    whole = (sum((a for a, _ in corners), start=ZERO), sum((b for _, b in corners), start=ZERO))
    weights = [Fraction(rng.randint(0, 4)) for _ in range(4)]
    vertices = feasible_polygon(whole, level)
    share = [w / (sum(weights) or 1) for w in weights[: len(vertices)]]
    point = tuple(sum((s * v[i] for s, v in zip(share, vertices, strict=False)), start=ZERO) for i in (0, 1))
    parts = split((point[0], point[1]), corners, level)
    assert tuple(map(sum, zip(*parts, strict=True))) == point
    for (first, second), (a, b) in zip(parts, corners, strict=True):
        assert 0 <= first <= min(a, level * second)
        assert 0 <= second <= min(b, level * first)


# --- the largest root mass by linear programming ------------------------------------------------------------------

LP_TOLERANCE = 1e-7
"""HiGHS solves in floats; its own feasibility tolerance is 1e-7."""


def _largest_mass_by_highs(pair: Pair, level: Fraction) -> float:
    """max r_0(root) = r_1(root) subject to conservation at every history and question, r_b ≤ p_b, and the cone."""
    optimize = pytest.importorskip("scipy.optimize", reason="SCIPY IS MISSING: no check of Theorem 3 by HiGHS")
    from scipy.sparse import lil_array

    place = {history: 2 * n for n, history in enumerate(pair.zero.flow)}
    questions = list(laws(pair.zero.table))
    equal = lil_array((2 * len(questions) + 1, 2 * len(place)))
    equal[0, 0], equal[0, 1] = 1, -1
    for row, (history, query, law) in enumerate(questions):
        for bit in (0, 1):
            equal[1 + 2 * row + bit, place[history] + bit] = -1
            for y in law:
                equal[1 + 2 * row + bit, place[(*history, (query, y))] + bit] = 1
    leaves = pair.zero.leaves
    cone = lil_array((2 * len(leaves), 2 * len(place)))
    for row, leaf in enumerate(leaves):
        for bit in (0, 1):
            cone[2 * row + bit, place[leaf] + bit] = 1
            cone[2 * row + bit, place[leaf] + 1 - bit] = -float(level)
    bounds = [(0, float(side.flow[h])) for h in place for side in (pair.zero, pair.one)]
    goal = [-1.0] + [0.0] * (2 * len(place) - 1)
    solved = optimize.linprog(
        goal,
        A_ub=cone.tocsr(),
        b_ub=[0.0] * cone.shape[0],
        A_eq=equal.tocsr(),
        b_eq=[0.0] * equal.shape[0],
        bounds=bounds,
        method="highs",
    )
    assert solved.status == 0, solved.message
    return float(-solved.fun)


@given(pairs, odds)
def test_linear_programming_keeps_as_much_mass(pair: Pair, level: Fraction) -> None:
    kept = float(min(largest_flows(pair, level)[()]))
    assert _largest_mass_by_highs(pair, level) == pytest.approx(kept, abs=LP_TOLERANCE)


def test_linear_programming_on_a_large_tree() -> None:
    pair = drifting_pair(Random(12), 3, 3, 3)
    for level in ODDS[1:3]:
        kept = float(min(largest_flows(pair, level)[()]))
        assert _largest_mass_by_highs(pair, level) == pytest.approx(kept, abs=LP_TOLERANCE)


# --- corrections: what each shows is in docs/proofs/corrections.md ------------------------------------------------


def test_correction_the_parts_are_not_unique_and_have_no_law_where_they_have_no_mass() -> None:
    """A coin that tells nothing, and after heads only a leak: E⁰ never sees tails, and is free in what it says then."""
    tails = (("toss", "tails"),)

    def answer(bit: int, history: History, _: str) -> dict[str, Fraction]:
        if not history:
            return {"heads": Fraction(1, 2), "tails": Fraction(1, 2)}
        lie = ZERO if history == tails or not bit else Fraction(1, 2)
        return {"yes": 1 - lie, "no": lie}

    def asks(history: History) -> tuple[str]:
        return ("tell",) if history else ("toss",)

    pair = Pair(*(tabulate(partial(answer, bit), asks, 2) for bit in (0, 1)))
    made = decompose(pair, ONE, Fraction(1, 4))
    leak = made.leaks[0]
    assert leak.flow[tails] == 0  # (p − r)/δ over its sum is 0/0 after tails
    other = System({**leak.table, tails: {"tell": {"yes": ZERO, "no": ONE}}})
    assert other != leak
    check_exactly(made)
    check_exactly(replace(made, leaks=(other, made.leaks[1])))
