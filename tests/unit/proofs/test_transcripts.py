"""Transcripts and the worst adversary: the recursion against enumeration, replays and other adversaries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given

from optcomp import InvalidInput
from optcomp.proofs.concurrent import leaky_response_pair
from optcomp.proofs.distributions import Real
from optcomp.proofs.systems import (
    History,
    Interactive,
    Pair,
    Query,
    System,
    drifting_pair,
    random_system,
    tabulate,
    tabulated,
)
from optcomp.proofs.transcripts import (
    Questioner,
    best_attack,
    compose_systems,
    delta_score,
    histories_apart,
    hockey_stick,
    least_delta,
    random_adversary,
    renyi_moment,
    replay,
    transcript_distribution,
    worst_delta,
    worst_renyi,
)
from tests.unit.proofs.system_generators import odds, one_round_random, pairs, rngs, several_pairs, small_pairs

ONE = Fraction(1)


def _deterministic(system: Interactive, history: History = ()) -> Iterator[dict[History, Query]]:
    """Every deterministic adversary that plays to the end, as a table of its choices from this history on."""
    queries = system.queries(history)
    if not queries:
        yield {}
    for query in queries:
        children = [(*history, (query, y)) for y in system.answer(history, query)]
        for plans in product(*(list(_deterministic(system, child)) for child in children)):
            yield {history: query} | {h: x for plan in plans for h, x in plan.items()}


def _adversary(plan: dict[History, Query]) -> Questioner:
    return lambda history: {plan[history]: ONE} if history in plan else {}


@given(small_pairs, rngs)
def test_transcripts_are_a_distribution_and_their_probabilities_are_flow_times_choice(pair: Pair, rng: Random) -> None:
    adversary = random_adversary(rng, pair.zero)
    seen = transcript_distribution(adversary, pair.zero)
    assert sum(seen.values()) == 1
    for transcript, mass in seen.items():
        choices = (adversary(transcript[:t])[query] for t, (query, _) in enumerate(transcript))
        assert mass == pair.zero.flow[transcript] * math.prod(choices, start=ONE)


@given(small_pairs, odds)
def test_the_recursion_is_the_maximum_over_all_deterministic_adversaries(pair: Pair, level: Fraction) -> None:
    scores = []
    for plan in _deterministic(pair.zero):
        zero, one = (transcript_distribution(_adversary(plan), side) for side in (pair.zero, pair.one))
        scores.append(hockey_stick(zero, one, level))
    assert worst_delta([pair], level).value == max(scores)


@given(rngs, odds)
def test_and_over_all_interleavings(rng: Random, level: Fraction) -> None:
    """Two systems of one round, the first with two questions: all ten adversaries."""
    first = Pair(*(random_system(rng, 2, 2, 1, 3) for _ in range(2)))
    parts = [first, one_round_random(rng)]
    plans = list(_deterministic(compose_systems(*(pair.zero for pair in parts))))
    assert len(plans) == 2 + 2**3
    scores = (hockey_stick(*replay(_adversary(plan), parts), level) for plan in plans)
    assert worst_delta(parts, level).value == max(scores)


@given(several_pairs, odds)
def test_the_optimal_adversary_replayed_attains_the_value(parts: list[Pair], level: Fraction) -> None:
    for sides in (parts, [pair.swapped() for pair in parts]):
        attack = worst_delta(sides, level)
        assert hockey_stick(*replay(attack, sides), level) == attack.value
        moments = worst_renyi(sides, 2)
        assert renyi_moment(*replay(moments, sides), 2) == moments.value


@given(several_pairs, rngs, odds)
def test_no_other_adversary_does_better(parts: list[Pair], rng: Random, level: Fraction) -> None:
    composed = compose_systems(*(pair.zero for pair in parts))
    zero, one = replay(random_adversary(rng, composed, randomized=rng.random() < 0.3), parts)
    assert hockey_stick(zero, one, level) <= worst_delta(parts, level).value
    assert hockey_stick(one, zero, level) <= least_delta(parts, level)
    assert renyi_moment(zero, one, 3) <= worst_renyi(parts, 3).value


@given(several_pairs, odds)
def test_interleaving_is_never_worse_than_one_after_another(parts: list[Pair], level: Fraction) -> None:
    apart = worst_delta(parts, level, interleaved=False)
    assert max(worst_delta([pair], level).value for pair in parts) <= apart.value <= worst_delta(parts, level).value
    assert hockey_stick(*replay(apart, parts), level) == apart.value


@given(rngs, odds)
def test_the_composition_written_out_as_one_tree_has_the_same_worst_case(rng: Random, level: Fraction) -> None:
    """The recursion looks at each system's history only; the tree keeps every order of questions apart."""
    parts = [one_round_random(rng), drifting_pair(rng, 1, 2, 2, 3)]
    composed = Pair(*(tabulated(compose_systems(*(pair.side(b) for pair in parts)), 3) for b in (0, 1)))
    assert worst_delta([composed], level).value == worst_delta(parts, level).value
    assert worst_renyi([composed], 2).value == worst_renyi(parts, 2).value


@given(pairs, odds)
def test_floats_agree_with_fractions(pair: Pair, level: Fraction) -> None:
    rounded = worst_delta([pair.as_floats()], float(level)).value
    assert float(rounded) == pytest.approx(float(worst_delta([pair], level).value), abs=1e-12)


@given(pairs)
def test_the_worst_delta_falls_with_the_odds_and_is_convex_in_them(pair: Pair) -> None:
    values = [worst_delta([pair], Fraction(n, 4)).value for n in (4, 6, 8, 10)]
    assert values == sorted(values, reverse=True)
    assert all(2 * b <= a + c for a, b, c in zip(values, values[1:], values[2:], strict=False))


def test_stopping_early_is_never_better() -> None:
    pair = drifting_pair(Random(3), 2, 2, 3)
    attack = worst_delta([pair], Fraction(3, 2))

    def impatient(history: History) -> Mapping[Query, Real]:
        return attack(history) if len(history) < 2 else {}

    assert hockey_stick(*replay(impatient, [pair]), Fraction(3, 2)) < attack.value


def test_large_trees() -> None:
    """Three rounds, three questions, three responses; and two trees of three rounds interleaved, 85² pairs of nodes."""
    large = drifting_pair(Random(5), 3, 3, 3)
    attack = worst_delta([large], Fraction(3, 2))
    assert len(large.zero.leaves) == 9**3
    assert hockey_stick(*replay(attack, [large]), Fraction(3, 2)) == attack.value > 0
    parts = [drifting_pair(Random(6), 2, 2, 3, 3), drifting_pair(Random(7), 2, 2, 3, 3)]
    attack = best_attack(parts, delta_score(Fraction(2)))
    assert hockey_stick(*replay(attack, parts), Fraction(2)) == attack.value > 0


def test_histories_are_taken_apart_by_system() -> None:
    transcript = (((1, "a"), "no"), ((0, "b"), "yes"), ((1, "c"), "no"))
    assert histories_apart(transcript, 2) == ((("b", "yes"),), (("a", "no"), ("c", "no")))


def test_bad_input_is_refused() -> None:
    for call in (
        lambda: worst_delta([], ONE),
        lambda: compose_systems(),
        lambda: worst_delta([leaky_response_pair(ONE, Fraction(0))], Fraction(1, 2)),
        lambda: worst_renyi([leaky_response_pair(ONE, Fraction(0))], 1),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_an_infinite_moment_is_infinite() -> None:
    assert worst_renyi([leaky_response_pair(Fraction(2), Fraction(1, 9))], 2).value == math.inf


# --- corrections: what each shows is in docs/proofs/corrections.md ------------------------------------------------


def _tells_late(bit: int) -> System:
    """Silent in the first round, and gives its data set away in the second."""
    return tabulate(lambda history, _: {0: 1 - bit, 1: bit} if history else {"silent": 1}, ("x",), 2)


def test_correction_the_number_of_rounds_in_definition_2_must_be_all_of_them() -> None:
    """With T = 1 the two systems are (0, 0)-indistinguishable, and yet they are not private at all."""
    pair = Pair(_tells_late(0), _tells_late(1))
    first_round = [tabulated(side, 1) for side in (pair.zero, pair.one)]
    assert least_delta([Pair(*first_round)], ONE) == 0
    assert least_delta([pair], Fraction(1000)) == 1


def asking_pairs() -> list[Pair]:
    """A mechanism of two rounds, with a choice in the second, and one of a single round with a choice."""

    def law(chance: Fraction) -> dict[str, Fraction]:
        return {"yes": chance, "no": 1 - chance}

    quarters = [Fraction(n, 4) for n in range(5)]
    second = {"a": (0, 1), "b": (1, 0)}
    other = {"a": (3, 2), "b": (1, 0)}
    first = (
        tabulate(
            lambda history, x, b=b: law(quarters[second[x][b] if history else 1 + b]),  # type: ignore[misc]
            lambda history: ("a", "b") if history else ("a",),
            2,
        )
        for b in (0, 1)
    )
    single = (tabulate(lambda _, x, b=b: law(quarters[other[x][b]]), ("a", "b"), 1) for b in (0, 1))  # type: ignore[misc]
    return [Pair(*first), Pair(*single)]


def test_correction_interleaving_does_help_against_given_mechanisms() -> None:
    """No guarantee suffers from interleaving; but these two mechanisms tell more when interleaved, 34/64 for 31/64."""
    parts = asking_pairs()
    assert worst_delta(parts, ONE).value == Fraction(34, 64)
    assert worst_delta(parts, ONE, interleaved=False).value == Fraction(31, 64)
    plans = list(_deterministic(compose_systems(*(pair.zero for pair in parts))))
    assert len(plans) == 16**2 + 2 * 4**2
    assert max(hockey_stick(*replay(_adversary(plan), parts), ONE) for plan in plans) == Fraction(34, 64)
