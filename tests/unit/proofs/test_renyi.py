"""Rényi divergences of interleaved systems add up exactly; duality and the budget monitor, in fractions and balls."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given

from optcomp import InvalidInput
from optcomp.proofs.concurrent import leaky_response_pair
from optcomp.proofs.distributions import Real
from optcomp.proofs.renyi import (
    Joint,
    budget_monitor,
    divergence_of,
    dual_maximiser,
    duality_balls,
    duality_sides,
    marginal,
    monitor,
    monitored_moment,
    worst_divergence,
)
from optcomp.proofs.systems import (
    History,
    Pair,
    Query,
    System,
    drifting_pair,
    laws,
    one_round_pair,
    random_threshold_pair,
    tabulate,
)
from optcomp.proofs.transcripts import (
    compose_systems,
    histories_apart,
    least_delta,
    random_adversary,
    renyi_moment,
    replay,
    worst_renyi,
)
from tests.unit.proofs.system_generators import pairs, rngs, several_pairs, small_pairs

HALF, ONE = Fraction(1, 2), Fraction(1)
FLOAT_SLACK = 1e-12
"""Relative, for chains of inequalities computed in floats."""


def _random_law(rng: Random, size: int) -> dict[Any, Real]:
    weights = [rng.randint(1, 6) for _ in range(size)]
    return {y: Fraction(weight, sum(weights)) for y, weight in enumerate(weights)}


# --- sums ---------------------------------------------------------------------------------------------------------


@given(several_pairs, rngs)
def test_worst_moments_multiply_whatever_the_interleaving(parts: list[Pair], rng: Random) -> None:
    alpha = rng.choice([2, 3, 5])
    for sides in (parts, [pair.swapped() for pair in parts]):
        alone = [worst_renyi([pair], alpha).value for pair in sides]
        assert worst_renyi(sides, alpha).value == math.prod(alone)


@given(rngs)
def test_three_systems_too_and_fractional_orders_in_floats(rng: Random) -> None:
    parts = [drifting_pair(rng, 2, 2, 1), drifting_pair(rng, 1, 2, 2), drifting_pair(rng, 1, 3, 1)]
    exact = math.prod(worst_renyi([pair], 2).value for pair in parts)
    assert worst_renyi(parts, 2).value == exact
    rounded = [pair.as_floats() for pair in parts]
    alone = math.prod(float(worst_renyi([pair], 1.5).value) for pair in rounded)
    assert float(worst_renyi(rounded, 1.5).value) == pytest.approx(alone, rel=1e-12)


@given(several_pairs)
def test_theorem_2_with_both_directions(parts: list[Pair]) -> None:
    total = sum(worst_divergence([pair], 2) for pair in parts)
    assert worst_divergence(parts, 2) <= total * (1 + FLOAT_SLACK) + FLOAT_SLACK


def test_the_sum_is_strict_when_the_systems_leak_in_different_directions() -> None:
    pair = one_round_pair({0: HALF, 1: HALF}, {0: Fraction(1, 10), 1: Fraction(9, 10)})
    assert worst_divergence([pair, pair], 2) == pytest.approx(2 * worst_divergence([pair], 2), rel=1e-12)
    assert worst_divergence([pair, pair.swapped()], 2) < 1.8 * worst_divergence([pair], 2)


@given(several_pairs, rngs)
def test_asking_each_system_by_itself_attains_the_sum(parts: list[Pair], rng: Random) -> None:
    """Each system's own worst adversary, in any order of the systems: independent choices are as good as any."""
    alone = [worst_renyi([pair], 2) for pair in parts]
    order = rng.sample(range(len(parts)), len(parts))

    def adversary(transcript: History) -> dict[Query, Fraction]:
        apart = histories_apart(transcript, len(parts))
        for i in order:
            for _, query in alone[i](tuple(((0, x), y) for x, y in apart[i])):
                return {(i, query): ONE}
        return {}

    zero, one = replay(adversary, parts)
    assert renyi_moment(zero, one, 2) == math.prod(attack.value for attack in alone)


@given(small_pairs)
def test_the_idle_question_of_the_general_proof_changes_nothing(pair: Pair) -> None:
    """Adding a question x* with a fixed response makes alternation possible and leaks nothing."""

    def without(history: History) -> History:
        return tuple(step for step in history if step[0] != "idle")

    def padded(side: System) -> System:
        def answer(history: History, query: Query) -> Any:
            return {"nothing": ONE} if query == "idle" else side.answer(without(history), query)

        def asks(history: History) -> tuple[Query, ...]:
            rest = side.queries(without(history))
            return (*rest, "idle") if rest and len(history) == len(without(history)) else rest

        return tabulate(answer, asks, side.rounds + 1)

    longer = Pair(padded(pair.zero), padded(pair.one))
    assert worst_renyi([longer], 2).value == worst_renyi([pair], 2).value
    assert least_delta([longer], Fraction(3, 2)) == least_delta([pair], Fraction(3, 2))


# --- duality ------------------------------------------------------------------------------------------------------


@given(rngs)
def test_duality_in_fractions_and_its_equality(rng: Random) -> None:
    size, alpha = rng.randint(2, 4), rng.choice([2, 3, 4])
    first, second = _random_law(rng, size), _random_law(rng, size)
    anything = {y: Fraction(rng.randint(0, 9), rng.randint(1, 9)) for y in range(size)}
    left, right = duality_sides(first, second, alpha, anything)
    assert left <= right
    assert isinstance(right, Fraction)
    ratios = {y: first[y] / second[y] for y in range(size)}
    left, right = duality_sides(first, second, alpha, ratios)
    assert left == right
    assert dual_maximiser(first, second, alpha) == {y: ratio ** (alpha - 1) for y, ratio in ratios.items()}


@given(rngs)
def test_duality_in_balls_for_any_order(rng: Random) -> None:
    """No ball disproves it; at the maximiser (rational for α = 2, 3) both sides agree to 30 digits."""
    first, second = _random_law(rng, 3), _random_law(rng, 3)
    order = Fraction(rng.randint(5, 20), 4)
    left, right = duality_balls(first, second, order, {y: Fraction(rng.randint(0, 9), 7) for y in range(3)})
    assert not left > right
    for alpha in (2, 3):
        left, right = duality_balls(first, second, alpha, dual_maximiser(first, second, alpha))
        assert left.overlaps(right)
        assert float((left - right).abs_upper()) < 1e-30


@given(rngs)
def test_a_smaller_bound_is_refuted_by_the_maximiser(rng: Random) -> None:
    """The other half of Lemma 4: if the inequality holds for all h with B then D_α ≤ B."""
    first, second = _random_law(rng, 3), _random_law(rng, 3)
    assume(first != second)
    moment = renyi_moment(first, second, 2)
    best = dual_maximiser(first, second, 2)
    smaller = 1 + (moment - 1) * Fraction(999, 1000)  # e^B for some B < D_2
    left = sum(p * best[y] for y, p in first.items())
    right = smaller * sum(q * best[y] ** 2 for y, q in second.items())
    assert left**2 > right


def test_the_limit_of_large_orders_is_pure_privacy() -> None:
    first, second = {0: Fraction(2, 3), 1: Fraction(1, 3)}, {0: Fraction(1, 3), 1: Fraction(2, 3)}
    orders = [divergence_of(renyi_moment(first, second, alpha), alpha) for alpha in (2, 8, 64, 512)]
    assert orders == sorted(orders)
    assert orders[-1] == pytest.approx(math.log(2), abs=1e-3)


def test_bad_input_is_refused() -> None:
    law = {0: HALF, 1: HALF}
    with pytest.raises(InvalidInput, match="whole number"):
        duality_sides(law, law, 1, law)
    with pytest.raises(InvalidInput, match="infinite"):
        duality_balls(law, {0: ONE}, 2, law)
    with pytest.raises(InvalidInput, match="greater than 1"):
        renyi_moment(law, law, HALF)


# --- the monitor --------------------------------------------------------------------------------------------------


def _random_joint(rng: Random) -> Joint:
    """A law of two responses; some outcomes may be impossible."""
    weights = {(y, z): rng.randint(1, 5) for y in range(2) for z in range(3)}
    return {key: Fraction(weight, sum(weights.values())) for key, weight in weights.items()}


@given(rngs)
def test_lemma_5_spent_times_left_is_the_whole(rng: Random) -> None:
    first, second, alpha = _random_joint(rng), _random_joint(rng), rng.choice([2, 3])
    whole = renyi_moment(first, second, alpha)
    assert monitored_moment(first, second, alpha) == whole
    if alpha == 2:  # β = 2: P_1 ℓ^{1/2} is 2-dominated by e^B Q_1, in floats because of the root
        left = monitor(first, second, 2)
        measure = {y: float(p) * math.sqrt(left[y]) for y, p in marginal(first).items()}
        scaled = {y: float(q * whole) * (1 + FLOAT_SLACK) for y, q in marginal(second).items()}
        assert renyi_moment(measure, scaled, 2) <= 1


def test_lemma_5_needs_no_full_support() -> None:
    first: Joint = {(0, 0): HALF, (0, 1): Fraction(0), (1, 0): Fraction(0), (1, 1): HALF}
    second: Joint = {(0, 0): Fraction(1, 4), (0, 1): Fraction(1, 4), (1, 0): Fraction(0), (1, 1): HALF}
    assert monitored_moment(first, second, 2) == renyi_moment(first, second, 2) == Fraction(3, 2)
    assert monitored_moment(second, first, 2) == renyi_moment(second, first, 2) == math.inf


@given(pairs, rngs)
def test_the_budget_monitor_of_a_system(pair: Pair, rng: Random) -> None:
    """What is left at the root is everything; a question spends at most what was there, the best one exactly that."""
    alpha = rng.choice([2, 3])
    left = budget_monitor(pair, alpha)
    assert left[()] == worst_renyi([pair], alpha).value
    assert all(left[leaf] == 1 for leaf in pair.zero.leaves)
    after: dict[History, list[Real]] = {}
    for history, query, law in laws(pair.zero.table):
        other = pair.one.table[history][query]
        tails = {y: left[(*history, (query, y))] for y in law}
        spent = sum(renyi_moment({y: p}, other, alpha) * tails[y] for y, p in law.items() if p)
        after.setdefault(history, []).append(spent)
    assert all(max(values) == left[history] for history, values in after.items())


@given(rngs)
def test_the_toy_example_line_by_line(rng: Random) -> None:
    """Lines (8) to (13) of Lyu's proof for M_1, M_2, M_1 asked in turn, for a random h: each at most the next."""
    alpha = rng.choice([2, 3])
    beta = alpha / (alpha - 1)
    parts = [drifting_pair(rng, 2, 2, 2), drifting_pair(rng, 2, 3, 1)]
    whole = [float(worst_renyi([pair], alpha).value) ** (1 / (alpha - 1)) for pair in parts]  # e^ε_1 and e^ε_2
    left = budget_monitor(parts[0], alpha)
    x1, x2, x3 = (rng.randrange(2) for _ in range(3))
    (p1, q1), (p2, q2) = ([pair.side(b).table[()][x] for b in (0, 1)] for pair, x in zip(parts, (x1, x2), strict=True))
    lines = [0.0] * 4
    for y1 in p1:
        ell = float(left[((x1, y1),)]) ** (1 / (alpha - 1))
        p3, q3 = (parts[0].side(b).table[((x1, y1),)][x3] for b in (0, 1))
        nine = ten = 0.0
        for y2 in p2:
            h = {y3: rng.random() for y3 in p3}
            lines[0] += float(p1[y1] * p2[y2]) * sum(float(p3[y]) * h[y] for y in h)
            norm = sum(float(q3[y]) * h[y] ** beta for y in h)
            nine += float(p2[y2]) * (ell * norm) ** (1 / beta)
            ten += float(q2[y2]) * ell * norm
        lines[1] += float(p1[y1]) * nine
        lines[2] += float(p1[y1]) * (whole[1] * ten) ** (1 / beta)
        lines[3] += float(q1[y1]) * whole[0] * whole[1] * ten / ell
    lines[3] **= 1 / beta
    assert all(a <= b * (1 + FLOAT_SLACK) for a, b in pairwise(lines))


def test_large_trees() -> None:
    parts = [drifting_pair(Random(41), 2, 2, 3, 3), random_threshold_pair(Random(4), 2, 3)]
    assert len(parts[0].zero.flow) == 85
    product = math.prod(worst_renyi([pair], 2).value for pair in parts)
    assert worst_renyi(parts, 2).value == product > 1
    large = drifting_pair(Random(42), 3, 3, 3)
    assert budget_monitor(large, 3)[()] == worst_renyi([large], 3).value


@given(several_pairs, rngs)
def test_no_adversary_exceeds_the_sum(parts: list[Pair], rng: Random) -> None:
    composed = compose_systems(*(pair.zero for pair in parts))
    zero, one = replay(random_adversary(rng, composed, randomized=False), parts)
    assert renyi_moment(zero, one, 2) <= math.prod(worst_renyi([pair], 2).value for pair in parts)


# --- corrections: what each shows is in docs/proofs/corrections.md ------------------------------------------------


def test_correction_lemma_5_prints_the_wrong_argument_of_the_monitor() -> None:
    """P_1(y_1) ℓ_1(y_2)^{1/β} with y_2 ≠ y_1 is not dominated: only ℓ_1(y_1) will do."""
    joint = {(y, z): Fraction(1, 4) for y in (0, 1) for z in (0, 1)}
    other = {(0, 0): Fraction(1, 8), (0, 1): Fraction(1, 8), (1, 0): Fraction(3, 8), (1, 1): Fraction(3, 8)}
    first, second = {**joint, (1, 0): Fraction(7, 16), (1, 1): Fraction(1, 16)}, other
    left, whole = monitor(first, second, 2), renyi_moment(first, second, 2)
    heads, others = marginal(first), marginal(second)
    assert left == {0: 1, 1: Fraction(25, 16)}

    def moment_with(chosen: dict[int, int]) -> Real:
        return sum((heads[y] ** 2 / others[y] * left[chosen[y]] for y in (0, 1)), start=Fraction(0))

    assert moment_with({0: 0, 1: 1}) == whole
    assert moment_with({0: 1, 1: 0}) > whole


def test_correction_the_toy_example_ends_with_an_exponential_too_many() -> None:
    """With ε_1 + ε_2 = 0 the printed conclusion D_α ≤ e^0 = 1 admits laws that differ; (13) and the theorem do not."""
    first, second = {0: Fraction(2, 3), 1: Fraction(1, 3)}, {0: Fraction(1, 3), 1: Fraction(2, 3)}
    assert divergence_of(renyi_moment(first, second, 2), 2) < math.exp(0)
    assert renyi_moment(first, second, 2) == Fraction(3, 2) > 1  # so (13) fails for some h


def test_correction_beta_1_has_no_conjugate_in_lemma_5() -> None:
    """β = 1 gives α = β/(β−1) = 1/0; with D_∞ in its place the lemma holds, as here."""
    with pytest.raises(ZeroDivisionError):
        Fraction(1) / (Fraction(1) - 1)
    rng = Random(3)
    first, second = _random_joint(rng), _random_joint(rng)
    heads, others = marginal(first), marginal(second)
    whole = max(p / second[key] for key, p in first.items())
    left = {y: max(first[y, z] / heads[y] / (second[y, z] / others[y]) for z in range(3)) for y in range(2)}
    assert max(heads[y] * left[y] / others[y] for y in range(2)) == whole


def test_correction_rényi_divergence_is_infinite_off_the_support() -> None:
    """Definition 3 divides by Q(x) = 0 for this pair; the value must be ∞, or a leak of the data set would be free."""
    pair = leaky_response_pair(Fraction(2), Fraction(1, 10))
    with pytest.raises(ZeroDivisionError):
        sum(p * (p / pair.one.table[()]["ask"][y]) for y, p in pair.zero.table[()]["ask"].items())
    assert worst_divergence([pair], 2) == math.inf
