"""Lyu's Theorem 1, executed: played from symbols alone, the interleaved systems look exactly as they are."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings

from optcomp.proofs.concurrent import (
    check_concurrent,
    decompose_all,
    leaky_response_pair,
    leaky_responses_delta,
    real_transcripts,
    simulated_transcripts,
    symbol_distribution,
)
from optcomp.proofs.decomposition import NotIndistinguishable
from optcomp.proofs.games import Allowance
from optcomp.proofs.systems import Pair, drifting_pair, random_threshold_pair
from optcomp.proofs.transcripts import (
    compose_systems,
    hockey_stick,
    least_delta,
    random_adversary,
    worst_delta,
)
from tests.oracles.rational import exact_delta
from tests.unit.proofs.system_generators import (
    DELTAS,
    ODDS,
    noisy_counter,
    one_round_random,
    parameters_of,
    rngs,
    several_pairs,
)


def _parameters(rng: Random, parts: list[Pair]) -> list[Allowance]:
    return [parameters_of(rng, pair) for pair in parts]


def check_simulation(parts: list[Pair], levels: list[Allowance], rng: Random, *, randomized: bool) -> None:
    """Both data sets, against an adversary with random plans and against the worst one: fraction by fraction."""
    made = decompose_all(parts, levels)
    composed = compose_systems(*(pair.zero for pair in parts))
    for adversary in (random_adversary(rng, composed, randomized=randomized), worst_delta(parts, Fraction(3, 2))):
        for bit in (0, 1):
            simulated = simulated_transcripts(adversary, made, bit)
            assert simulated == real_transcripts(adversary, parts, bit)
            assert all(isinstance(mass, Fraction) for mass in simulated.values())


@given(several_pairs, rngs)
def test_the_simulated_interaction_is_the_real_one(parts: list[Pair], rng: Random) -> None:
    check_simulation(parts, _parameters(rng, parts), rng, randomized=False)


@settings(max_examples=25)
@given(rngs)
def test_also_for_randomized_adversaries_and_three_systems(rng: Random) -> None:
    parts = [one_round_random(rng), noisy_counter(rng, 1), one_round_random(rng)]
    check_simulation(parts, _parameters(rng, parts), rng, randomized=True)


@given(several_pairs, rngs)
def test_interleaving_two_systems_never_beats_optimal_composition(parts: list[Pair], rng: Random) -> None:
    levels = _parameters(rng, parts)
    for total in (Fraction(1), Fraction(2), levels[0][0] * levels[1][0]):
        bound = check_concurrent(parts, levels, total)
        assert bound.holds
        assert isinstance(bound.worst, Fraction)
        assert isinstance(bound.optimal, Fraction)


@given(rngs)
def test_nor_does_interleaving_three(rng: Random) -> None:
    parts = [drifting_pair(rng, 2, 2, 1), noisy_counter(rng, 2), one_round_random(rng)]
    assert check_concurrent(parts, _parameters(rng, parts), rng.choice([Fraction(3, 2), Fraction(4)])).holds


@given(rngs)
def test_leaky_responses_attain_the_bound(rng: Random) -> None:
    """Optimal means optimal: leaky randomized responses, asked in any order, reach exactly the bound."""
    levels: list[Allowance] = [(rng.choice(ODDS), rng.choice(DELTAS)) for _ in range(rng.randint(1, 3))]
    total = Fraction(rng.randint(4, 16), 4)
    bound = check_concurrent([leaky_response_pair(*level) for level in levels], levels, total)
    assert bound.worst == bound.optimal


@given(rngs)
def test_optimal_composition_two_ways(rng: Random) -> None:
    levels = [(rng.choice(ODDS), rng.choice(DELTAS)) for _ in range(rng.randint(1, 4))]
    total = Fraction(rng.randint(4, 16), 4)
    assert leaky_responses_delta(levels, total) == exact_delta(levels, total)


@given(several_pairs, rngs)
def test_the_symbols_bound_every_view_because_the_view_is_made_from_them(parts: list[Pair], rng: Random) -> None:
    levels = _parameters(rng, parts)
    made = decompose_all(parts, levels)
    symbols = [symbol_distribution(made, bit) for bit in (0, 1)]
    adversary = random_adversary(rng, compose_systems(*(pair.zero for pair in parts)), randomized=False)
    views = [simulated_transcripts(adversary, made, bit) for bit in (0, 1)]
    for total in ODDS:
        bound = hockey_stick(symbols[0], symbols[1], total)
        assert bound == leaky_responses_delta(levels, total)
        assert hockey_stick(views[0], views[1], total) <= bound


def test_large_trees_interleaved() -> None:
    """Two trees of three rounds each, and above-threshold beside another mechanism, as in guess-and-check."""
    first = [drifting_pair(Random(21), 2, 2, 3, 3), drifting_pair(Random(22), 2, 2, 3, 3)]
    second = [random_threshold_pair(Random(4), 2, 3), drifting_pair(Random(23), 2, 3, 2, 3)]
    for parts in (first, second):
        levels: list[Allowance] = [(Fraction(3, 2), least_delta([pair], Fraction(3, 2))) for pair in parts]
        check_simulation(parts, levels, Random(1), randomized=False)
        assert check_concurrent(parts, levels, Fraction(9, 4)).holds


def test_floats_run_too() -> None:
    parts = [drifting_pair(Random(31)).as_floats(), random_threshold_pair(Random(4), 2, 2).as_floats()]
    levels: list[Allowance] = [(1.5, least_delta([pair], 1.5)) for pair in parts]
    adversary = worst_delta(parts, 1.5)
    simulated = simulated_transcripts(adversary, decompose_all(parts, levels), 0)
    real = real_transcripts(adversary, parts, 0)
    assert {t: float(mass) for t, mass in simulated.items()} == pytest.approx(
        {t: float(mass) for t, mass in real.items()}, abs=1e-12
    )
    assert check_concurrent(parts, levels, 2.0).holds


def test_a_pair_that_breaks_its_promise_is_named() -> None:
    pair = leaky_response_pair(Fraction(3), Fraction(1, 10))
    with pytest.raises(NotIndistinguishable) as refusal:
        check_concurrent([pair], [(Fraction(2), Fraction(1, 10))], Fraction(2))
    assert refusal.value.worst == Fraction(13, 40)


# --- corrections: what each shows is in docs/proofs/corrections.md ------------------------------------------------


def _equal_responses_delta(odds: int, k: int, steps: int) -> Fraction:
    """δ of k randomized responses at ε_g = steps·ε, e^ε = odds: a sum over binomial coefficients."""
    gains = (math.comb(k, a) * (odds**a - odds ** (steps + k - a)) for a in range(k + 1) if 2 * a - k > steps)
    return Fraction(sum(gains), (1 + odds) ** k)


def test_correction_the_square_root_law_needs_a_small_epsilon() -> None:
    """k responses with ε = log 3 are not (C √(k log(1/δ')) ε, δ')-private for δ' = 1/3, whatever C: take k = 8C²."""
    assert _equal_responses_delta(3, 4, 2) == leaky_responses_delta([(Fraction(3), Fraction(0))] * 4, Fraction(9))
    for constant in (1, 2, 4, 10):
        k = 8 * constant**2
        claimed = math.ceil(constant * math.sqrt(1.1 * k))  # in units of ε, and log(1/δ') < 1.1
        assert _equal_responses_delta(3, k, claimed) > Fraction(1, 3)
        drift = k // 2  # Smith25-1.1 adds k ε tanh(ε/2), here kε/2
        assert _equal_responses_delta(3, k, drift + math.ceil(math.sqrt(2.2 * k))) <= Fraction(1, 3)


def test_correction_nor_does_epsilon_belong_under_the_root() -> None:
    """One response with e^ε = 2^n is not (C √(ε log(1/δ')), δ')-private for δ' = 1/3, whatever C: take n = 8C²."""
    for constant in (1, 2, 4, 10):
        n = 8 * constant**2
        claimed = math.ceil(constant * math.sqrt(1.1 * n / math.log(2)))  # in units of log 2
        assert leaky_responses_delta([(Fraction(2) ** n, Fraction(0))], Fraction(2) ** claimed) > Fraction(1, 3)
