r"""What an adversary sees of interleaved systems, and the adversary who sees the most.

`COMP(M_1, …, M_k)` is itself an interactive system (`Composition`): its questions are (index, question), the system
with that index answers from its own history alone, and indices count from 0.  An adversary is a function from the
transcript so far to a distribution over next questions, an empty one to stop; `transcript_distribution` is the law of
the transcript, IT(A : M_1, …, M_k) of Lyu 2022.

The worst case over *all* adversaries, adaptive, randomized and interleaving as they like, is a recursion over the
histories of the systems.  With p_0, p_1 the probabilities of all histories under the two data sets,

    V(histories) = max over (i, x) of Σ_y V(histories with (x, y) appended to the i-th),
    V(all halted) = (p_0 − e^ε p_1)_+  for δ(ε),      p_0^α p_1^{1−α}  for Rényi divergences.

Randomizing does not help, for a randomized adversary's score is an average of those of deterministic ones; stopping
early does not help, for both leaf scores are convex and homogeneous in (p_0, p_1) and hence no larger than the sum over
the continuations.  The recursion depends on the interleaved transcript only through the systems' own histories.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TypeVar, cast

from optcomp.errors import InvalidInput
from optcomp.proofs.distributions import Real
from optcomp.proofs.systems import (
    Distribution,
    History,
    Interactive,
    Pair,
    Query,
    Response,
    check_odds,
)

Questioner = Callable[[History], Mapping[Query, Real]]
Transcripts = dict[History, Real]
Histories = tuple[History, ...]
AddressedQuery = tuple[int, Query]
Score = Callable[[Real, Real], Real]
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Composition:
    """COMP(M_1, …, M_k): systems that run side by side; a question names the system that it is for."""

    systems: tuple[Interactive, ...]

    def queries(self, history: History) -> tuple[AddressedQuery, ...]:
        """All (index, question) that some system still takes."""
        states = histories_apart(history, len(self.systems))
        return tuple((i, x) for i, own in enumerate(states) for x in self.systems[i].queries(own))

    def answer(self, history: History, query: Query) -> Distribution:
        """The addressed system's law, from its own history."""
        index, question = cast(AddressedQuery, query)
        own = histories_apart(history, len(self.systems))[index]
        return self.systems[index].answer(own, question)


def compose_systems(*systems: Interactive) -> Composition:
    """COMP(M_1, …, M_k): systems that run side by side; a question names the system that it is for."""
    if not systems:
        raise InvalidInput("systems", systems, "must be at least one system")
    return Composition(systems)


def histories_apart(transcript: History, count: int) -> Histories:
    """Each system's own history out of the transcript of an interleaved interaction."""
    apart: list[list[tuple[Query, Response]]] = [[] for _ in range(count)]
    for choice, response in transcript:
        index, question = choice
        apart[index].append((question, response))
    return tuple(map(tuple, apart))


def transcript_distribution(adversary: Questioner, system: Interactive) -> Transcripts:
    """IT(A : M): the law of the transcript; transcripts of probability 0 are left out."""
    finished: Transcripts = {}
    waiting: list[tuple[History, Real]] = [((), Fraction(1))]
    while waiting:
        history, mass = waiting.pop()
        law = adversary(history) if system.queries(history) else {}
        if not law:
            finished[history] = mass
        for query, chance in law.items():
            answers = system.answer(history, query).items() if chance else ()
            waiting += [((*history, (query, y)), mass * chance * p) for y, p in answers if p]
    return finished


def hockey_stick(first: Mapping[Outcome, Real], second: Mapping[Outcome, Real], odds: Real) -> Real:
    """max over events S of P(S) − e^ε Q(S), that is Σ (P − e^ε Q)_+, for two laws P and Q."""
    return _scored(first, second, delta_score(odds))


def renyi_moment(first: Mapping[Outcome, Real], second: Mapping[Outcome, Real], alpha: Real) -> Real:
    """Σ P^α Q^{1−α} = exp((α − 1) D_α(P ‖ Q)): a fraction for a whole α, infinite where P is positive and Q is not."""
    return _scored(first, second, renyi_score(alpha))


def _scored(first: Mapping[Outcome, Real], second: Mapping[Outcome, Real], score: Score) -> Real:
    return sum((score(p, second.get(y, Fraction(0))) for y, p in first.items()), start=Fraction(0))


# --- the worst adversary ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """The adversary of the highest score, and that score: a function from transcripts to its next question."""

    value: Real
    choices: Mapping[Histories, AddressedQuery]
    count: int

    def __call__(self, transcript: History) -> Mapping[Query, Real]:
        """The next question, with probability 1; nothing where every response is impossible or all have halted."""
        choice = self.choices.get(histories_apart(transcript, self.count))
        return {} if choice is None else {choice: Fraction(1)}


def worst_delta(pairs: Sequence[Pair], odds: Real, *, interleaved: bool = True) -> Attack:
    """The least δ with M⁰ ≤ e^ε M¹ + δ against every adversary of the composed pairs, and an adversary who attains it.

    The other direction is that of the swapped pairs; `least_delta` takes the larger.  With
    `interleaved=False` a conversation that has begun must be finished before another begins.
    """
    return best_attack(pairs, delta_score(check_odds(odds)), interleaved=interleaved)


def worst_renyi(pairs: Sequence[Pair], alpha: Real) -> Attack:
    """The largest Σ P^α Q^{1−α} over all adversaries, P and Q their views of the two sides; log/(α − 1) is D_α."""
    return best_attack(pairs, renyi_score(alpha))


def least_delta(pairs: Sequence[Pair], odds: Real) -> Real:
    """The least δ for which the composed pairs are (ε, δ)-indistinguishable: the worst adversary, both directions."""
    swapped = [pair.swapped() for pair in pairs]
    return max(worst_delta(pairs, odds).value, worst_delta(swapped, odds).value)


def replay(adversary: Questioner, pairs: Sequence[Pair]) -> tuple[Transcripts, Transcripts]:
    """What an adversary sees when it plays against all systems of side 0, and against all of side 1."""
    composed = (compose_systems(*(pair.side(bit) for pair in pairs)) for bit in (0, 1))
    zero, one = (transcript_distribution(adversary, system) for system in composed)
    return zero, one


def delta_score(odds: Real) -> Score:
    """(p_0 − e^ε p_1)_+."""
    return lambda p, q: max(p - odds * q, Fraction(0))


def renyi_score(alpha: Real) -> Score:
    """p_0^α p_1^{1−α}, 0 where p_0 = 0 and infinite where only p_1 = 0."""
    if not alpha > 1:
        raise InvalidInput("alpha", alpha, "must be greater than 1")

    def score(p: Real, q: Real) -> Real:
        if not p:
            return Fraction(0)
        return cast(Real, p**alpha * q ** (1 - alpha)) if q else math.inf

    return score


def best_attack(pairs: Sequence[Pair], score: Score, *, interleaved: bool = True) -> Attack:
    """The adversary with the largest total score over the complete transcripts, by the recursion above."""
    if not pairs:
        raise InvalidInput("pairs", pairs, "must be at least one pair of systems")
    search = _Search([_compiled(pair) for pair in pairs], score, interleaved)
    value = search.value((0,) * len(pairs))
    return Attack(value, search.choices(), len(pairs))


@dataclass(frozen=True)
class _Tree:
    """A pair with its histories numbered, 0 the root: probabilities on both sides, and children by question."""

    histories: list[History]
    first: list[Real]
    second: list[Real]
    moves: list[list[tuple[Query, list[int]]]]


def _compiled(pair: Pair) -> _Tree:
    histories = list(pair.zero.flow)
    number = {history: place for place, history in enumerate(histories)}
    moves = [
        [(x, [number[(*history, (x, y))] for y in law]) for x, law in pair.zero.table.get(history, {}).items()]
        for history in histories
    ]
    sides = ([side.flow[history] for history in histories] for side in (pair.zero, pair.one))
    first, second = sides
    return _Tree(histories, first, second, moves)


class _Search:
    """The recursion, each tuple of histories once."""

    def __init__(self, trees: Sequence[_Tree], score: Score, interleaved: bool) -> None:
        self._trees = trees
        self._score = score
        self._interleaved = interleaved
        self._values: dict[tuple[int, ...], Real] = {}
        self._best: dict[tuple[int, ...], AddressedQuery] = {}

    def value(self, state: tuple[int, ...]) -> Real:
        if state not in self._values:
            self._values[state] = self._computed(state)
        return self._values[state]

    def choices(self) -> dict[Histories, AddressedQuery]:
        return {
            tuple(tree.histories[place] for tree, place in zip(self._trees, state, strict=True)): choice
            for state, choice in self._best.items()
        }

    def _computed(self, state: tuple[int, ...]) -> Real:
        first = math.prod(
            (tree.first[place] for tree, place in zip(self._trees, state, strict=True)), start=Fraction(1)
        )
        if not first:  # both scores are 0 where nothing can happen on the first side
            return Fraction(0)
        best: Real | None = None
        for index, query, children in self._moves(state):
            total = sum(
                (self.value((*state[:index], child, *state[index + 1 :])) for child in children), start=Fraction(0)
            )
            if best is None or total > best:
                best, self._best[state] = total, (index, query)
        if best is not None:
            return best
        second = (tree.second[place] for tree, place in zip(self._trees, state, strict=True))
        return self._score(first, math.prod(second, start=Fraction(1)))

    def _moves(self, state: tuple[int, ...]) -> Iterator[tuple[int, Query, list[int]]]:
        for index in self._open(state):
            for query, children in self._trees[index].moves[state[index]]:
                yield index, query, children

    def _open(self, state: tuple[int, ...]) -> Sequence[int]:
        """The systems that may be asked: all, or only one whose conversation has begun and not ended."""
        everyone = range(len(state))
        begun = [i for i in everyone if state[i] and self._trees[i].moves[state[i]]]
        return everyone if self._interleaved or not begun else begun


# --- other adversaries --------------------------------------------------------------------------------------------


def random_adversary(rng: Random, system: Interactive, *, randomized: bool = True) -> Questioner:
    """An adversary with random plans, but the same one each time it sees the same transcript.

    A plan is one question, or if `randomized` two with random weights.
    """
    plans: dict[History, dict[Query, Real]] = {}

    def adversary(history: History) -> Mapping[Query, Real]:
        if history not in plans:
            plans[history] = _random_plan(rng, system.queries(history), randomized)
        return plans[history]

    return adversary


def _random_plan(rng: Random, queries: Sequence[Query], randomized: bool) -> dict[Query, Real]:
    if not queries:
        return {}
    chosen = rng.sample(queries, min(len(queries), 2 if randomized else 1))
    weights = [rng.randint(1, 3) for _ in chosen]
    return {query: Fraction(weight, sum(weights)) for query, weight in zip(chosen, weights, strict=True)}
