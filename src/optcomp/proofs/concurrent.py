r"""Interleaved interactive mechanisms cost no more than leaky randomized responses: the reduction, executed (Lyu22-1).

Given k pairs, the i-th (ε_i, δ_i)-indistinguishable, whoever knows only k symbols of leaky randomized response can play
all k systems to an adversary: decompose each pair (`decomposition.decompose`), draw the symbols s_1, …, s_k on the
unknown data set, and let the i-th conversation be held by the system that s_i names.  No symbol is looked at twice and
no conversation needs another one, so the adversary may interleave as it likes; by identity (4) it sees exactly what it
would see of the real systems.  `simulated_transcripts` carries this out on distributions, not on samples, and tests
compare with `real_transcripts` fraction by fraction.

What the adversary sees is therefore a post-processing of the symbols, and post-processing cannot raise a δ(ε): the
worst adversary (`transcripts.worst_delta`) stays below `leaky_responses_delta`, which is OptComp of the parameters,
written out over the 4^k outcomes.  Leaky randomized responses themselves are such systems, so the bound is attained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from optcomp.proofs.decomposition import (
    SYMBOLS,
    Decomposition,
    NotIndistinguishable,
    decompose,
    leaky_response,
)
from optcomp.proofs.distributions import Real
from optcomp.proofs.games import Allowance
from optcomp.proofs.systems import Pair, check_delta, check_odds, one_round_pair
from optcomp.proofs.transcripts import (
    Questioner,
    Transcripts,
    compose_systems,
    least_delta,
    transcript_distribution,
)


@dataclass(frozen=True)
class ConcurrentBound:
    """The worst δ at one ε over all interleaving adversaries, beside that of leaky randomized responses."""

    worst: Real
    optimal: Real

    @property
    def holds(self) -> bool:
        """Whether the theorem holds here: it must."""
        return self.worst <= self.optimal


def leaky_responses_delta(parameters: Sequence[Allowance], odds: Real) -> Real:
    """The least δ at e^ε = odds for any mechanisms with these parameters: MV18-1.5, over 4^k outcomes.

    Leaky randomized response is symmetric, so one direction is both.
    """
    odds = check_odds(odds)
    outcomes: list[tuple[Real, Real]] = [(Fraction(1), Fraction(1))]
    for level, delta in parameters:
        zero, one = (leaky_response(check_odds(level), check_delta(delta), bit) for bit in (0, 1))
        outcomes = [(p * zero[s], q * one[s]) for p, q in outcomes for s in SYMBOLS]
    return sum((max(p - odds * q, Fraction(0)) for p, q in outcomes), start=Fraction(0))


def leaky_response_pair(odds: Real, delta: Real) -> Pair:
    """Leaky randomized response as a pair of systems of one round: the worst there is with these parameters."""
    odds, delta = check_odds(odds), check_delta(delta)
    return one_round_pair(leaky_response(odds, delta, 0), leaky_response(odds, delta, 1))


def decompose_all(pairs: Sequence[Pair], parameters: Sequence[Allowance]) -> list[Decomposition]:
    """A decomposition of every pair at its parameters."""
    return [decompose(pair, *levels) for pair, levels in zip(pairs, parameters, strict=True)]


def symbol_distribution(decompositions: Sequence[Decomposition], bit: int) -> dict[tuple[int, ...], Real]:
    """The joint law of the k symbols on data set `bit`; outcomes of probability 0 are left out."""
    return dict(_symbols(decompositions, bit))


def simulated_transcripts(adversary: Questioner, decompositions: Sequence[Decomposition], bit: int) -> Transcripts:
    """What the adversary sees when the systems are played by somebody who only has k symbols of data set `bit`."""
    seen: Transcripts = {}
    for symbols, weight in _symbols(decompositions, bit):
        players = compose_systems(*(d.part(symbol) for d, symbol in zip(decompositions, symbols, strict=True)))
        for transcript, mass in transcript_distribution(adversary, players).items():
            seen[transcript] = seen.get(transcript, Fraction(0)) + weight * mass
    return seen


def real_transcripts(adversary: Questioner, pairs: Sequence[Pair], bit: int) -> Transcripts:
    """What the adversary sees of the real systems on data set `bit`: IT(A : M_1^bit, …, M_k^bit)."""
    return transcript_distribution(adversary, compose_systems(*(pair.side(bit) for pair in pairs)))


def check_concurrent(pairs: Sequence[Pair], parameters: Sequence[Allowance], odds: Real) -> ConcurrentBound:
    """Lyu's Theorem 1 at one e^ε = odds: the worst δ over all interleaving adversaries, and OptComp's.

    Every pair is held to its own (ε_i, δ_i) first: `NotIndistinguishable` otherwise.
    """
    for pair, (level, delta) in zip(pairs, parameters, strict=True):
        alone = least_delta([pair], level)
        if alone > delta:
            raise NotIndistinguishable(level, delta, alone)
    return ConcurrentBound(least_delta(pairs, odds), leaky_responses_delta(parameters, odds))


def _symbols(decompositions: Sequence[Decomposition], bit: int) -> Iterator[tuple[tuple[int, ...], Real]]:
    for choice in product(*(d.weights(bit).items() for d in decompositions)):
        weight: Real = Fraction(1)
        for _, chance in choice:
            weight *= chance
        if weight:
            yield tuple(symbol for symbol, _ in choice), weight
