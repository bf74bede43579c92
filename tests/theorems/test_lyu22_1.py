"""Lyu22-1: interleaved interactive mechanisms compose like randomized responses, exactly in rationals."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from optcomp.proofs import check_concurrent, decompose_all, random_pair, real_transcripts, simulated_transcripts
from optcomp.proofs.systems import random_system
from optcomp.proofs.transcripts import compose_systems, random_adversary

PARAMETERS = ((Fraction(2), Fraction(1, 10)), (Fraction(3, 2), Fraction(0)))


@pytest.mark.parametrize("seed", range(12))
def test_interleaving_never_exceeds_optimal_composition(seed: int) -> None:
    rng = Random(seed)
    pairs = [random_pair(rng, odds, delta, random_system) for odds, delta in PARAMETERS]
    for odds in (Fraction(1), Fraction(2), Fraction(5, 2)):
        assert check_concurrent(pairs, PARAMETERS, odds).holds


@pytest.mark.parametrize("seed", range(6))
def test_leaky_coins_reproduce_every_transcript(seed: int) -> None:
    rng = Random(100 + seed)
    pairs = [random_pair(rng, odds, delta, random_system) for odds, delta in PARAMETERS]
    adversary = random_adversary(rng, compose_systems(*(pair.side(0) for pair in pairs)))
    decompositions = decompose_all(pairs, PARAMETERS)
    for bit in (0, 1):
        assert simulated_transcripts(adversary, decompositions, bit) == real_transcripts(adversary, pairs, bit)
