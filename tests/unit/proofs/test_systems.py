"""Interactive systems: what a table must be, and that every way to build one gives the law it should."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given

from optcomp import InvalidInput
from optcomp.proofs.systems import (
    AnswerTable,
    History,
    Pair,
    System,
    above_threshold,
    drifting_pair,
    from_flow,
    from_hidden_state,
    geometric_noise,
    laws,
    mix_systems,
    one_round,
    one_round_pair,
    random_pair,
    random_system,
    tabulate,
)
from optcomp.proofs.transcripts import least_delta, random_adversary, transcript_distribution
from tests.unit.proofs.system_generators import deltas, odds, pairs, rngs

HALF = Fraction(1, 2)
COIN = {"heads": HALF, "tails": HALF}


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({}, "empty history"),
        ([], "empty history"),
        ({(): {}}, "at least one question"),
        ({(): {"x": {}}}, "at least one response"),
        ({(): {"x": {0: HALF}}}, "must sum to 1"),
        ({(): {"x": {0: 2, 1: -1}}}, "negative"),
        ({(): {"x": {0: float("nan"), 1: 1.0}}}, "finite"),
        ({(): {"x": {0: "many"}}}, "number"),
        ({(): {"x": {0: True}}}, "truth value"),
        ({(): {"x": {0: 0.5, 1: 0.4999}}}, "must sum to 1"),
        ({(): {"x": COIN}, "later": {"x": COIN}}, "histories, tuples"),
        ({(): {"x": COIN}, (("x", "edge"),): {"x": COIN}}, "lead to"),
        ({(): {"x": COIN}, (("z", "heads"),): {"x": COIN}}, "lead to"),
        ({(): {"x": COIN}, (("x", "heads"), ("x", "heads")): {"x": COIN}}, "lead to"),
    ],
)
def test_bad_tables_are_refused_with_the_reason(table: Any, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        System(table)


def test_other_bad_input_is_refused_with_the_reason() -> None:
    fair = one_round({"x": COIN})
    with pytest.raises(InvalidInput, match="both systems"):
        Pair(fair, one_round({"x": {"heads": 1}}))
    with pytest.raises(InvalidInput, match="both systems"):
        Pair(fair, one_round({"x": COIN, "z": COIN}))
    with pytest.raises(InvalidInput, match="both systems"):
        mix_systems([(HALF, fair), (HALF, one_round({"z": COIN}))])
    with pytest.raises(InvalidInput, match="0 or 1"):
        Pair(fair, fair).side(2)
    with pytest.raises(InvalidInput, match="is not taken"):
        fair.answer((), "z")
    with pytest.raises(InvalidInput, match="at least 1"):
        tabulate(lambda *_: COIN, ("x",), 0)
    with pytest.raises(InvalidInput, match="responses out of"):
        from_hidden_state({0: 1}, lambda *_: {("edge", 0): Fraction(1)}, ("x",), ("heads",), 1)


def test_a_table_may_list_histories_in_any_order_and_integers_as_probabilities() -> None:
    table: AnswerTable = {(("x", 1),): {"x": {0: 1}}, (): {"x": {0: HALF, 1: HALF}}}
    system = System(table)
    assert list(system.table) == [(), (("x", 1),)]
    assert system.exact
    assert system.rounds == 2
    assert system.queries((("x", 0),)) == ()
    assert system.leaves == [(("x", 0),), (("x", 1), ("x", 0))]


@given(pairs)
def test_flows_are_conserved_and_determine_the_system(pair: Pair) -> None:
    for system in (pair.zero, pair.one):
        for history, query, law in laws(system.table):
            assert sum(system.flow[(*history, (query, y))] for y in law) == system.flow[history]
        assert from_flow(system.flow, system) == system
        assert not system.as_floats().exact


@given(rngs)
def test_a_mixture_of_systems_mixes_the_transcripts_of_every_adversary(rng: Random) -> None:
    first, second = random_system(rng), random_system(rng)
    weight = Fraction(rng.randint(0, 5), 5)
    adversary = random_adversary(rng, first)
    mixed = transcript_distribution(adversary, mix_systems([(weight, first), (1 - weight, second)]))
    apart = [transcript_distribution(adversary, system) for system in (first, second)]
    for history in {*apart[0], *apart[1]}:
        expected = weight * apart[0].get(history, 0) + (1 - weight) * apart[1].get(history, 0)
        assert mixed.get(history, 0) == expected


@given(rngs, odds, deltas)
def test_random_pairs_have_the_parameters_they_are_built_with(rng: Random, level: Fraction, delta: Fraction) -> None:
    assert least_delta([random_pair(rng, level, delta)], level) <= delta


def test_one_round_is_the_plain_comparison_of_distributions() -> None:
    pair = one_round_pair({"a": HALF, "b": HALF}, {"b": Fraction(1, 4), "c": Fraction(3, 4)})
    assert pair.zero.answer((), "ask") == {"a": HALF, "b": HALF, "c": 0}
    assert least_delta([pair], Fraction(1)) == Fraction(3, 4)


def _svt_by_enumeration(
    values: dict[str, int], noise: tuple[dict[int, Any], dict[int, Any]], asked: list[str], cutoff: int
) -> dict[History, Fraction]:
    """The transcript law of non-adaptive questions, one by one over all values of all noises."""
    seen: dict[History, Fraction] = {}
    for level, *own in product(noise[0], *[noise[1]] * len(asked)):
        mass = noise[0][level]
        history: History = ()
        for question, extra in zip(asked, own, strict=True):
            mass *= noise[1][extra]
            if sum(y == "above" for _, y in history) < cutoff:
                history = (*history, (question, "above" if values[question] + extra >= level else "below"))
        seen[history] = seen.get(history, Fraction(0)) + mass
    return seen


@pytest.mark.parametrize("cutoff", [1, 2])
def test_above_threshold_agrees_with_enumerating_all_noises(cutoff: int) -> None:
    values = {"low": -1, "high": 1}
    noise = geometric_noise(Fraction(2), 2), geometric_noise(Fraction(3, 2), 1)
    assert sum(noise[0].values()) == sum(noise[1].values()) == 1
    system = above_threshold(values, *noise, 3, cutoff=cutoff)
    for asked in (["low", "high", "low"], ["high", "high", "high"]):
        seen = transcript_distribution(lambda history, asked=asked: {asked[len(history)]: Fraction(1)}, system)  # type: ignore[misc]
        assert seen == _svt_by_enumeration(values, noise, asked, cutoff)


def test_the_threshold_is_drawn_once_so_responses_hang_together() -> None:
    noise = geometric_noise(Fraction(2), 2)
    system = above_threshold({"q": 0}, noise, noise, 2)
    first, second = system.answer((), "q")["below"], system.answer((("q", "below"),), "q")["below"]
    assert second > first


def test_an_impossible_history_gets_a_fresh_memory() -> None:
    system = from_hidden_state({0: 1}, lambda s, _: {(s, s): Fraction(1)}, ("x",), (0, 1), 2)
    assert system.flow[(("x", 1),)] == 0
    assert system.answer((("x", 1),), "x") == {0: 1, 1: 0}


def test_drifting_pairs_need_some_privacy() -> None:
    assert least_delta([drifting_pair(Random(1))], Fraction(1)) > 0
