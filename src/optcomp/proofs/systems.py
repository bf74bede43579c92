r"""Finite interactive systems: algorithms that keep a secret and answer one question after another.

A system (Lyu 2022, Definition 1) is a law of the next response for every history of questions and responses and every
next question.  Whatever coins and memory the algorithm has inside, that law is all an adversary can ever see, so here a
system *is* that law: a tree whose nodes are histories.  A history that the table does not list is one after which the
system has halted.  A non-interactive mechanism is a tree of one round.

Privacy compares the two systems that one mechanism becomes on two neighbouring data sets: a `Pair`.  Both trees list
the same histories, questions and responses, with probability 0 where something cannot happen: what a system would
answer after a history that it cannot have is part of its definition, and harmless.

The probability of a history, if its questions are asked, is the product of the responses' probabilities along it:
`System.flow`.  For every question x the flow is conserved, Σ_y flow(h·(x, y)) = flow(h), and every conserved
non-negative function with value 1 at the root is the flow of a system (`from_flow`).  All proofs about systems in this
package are arithmetic with flows.

Probabilities are `Fraction`s (integers are taken as such), and then everything is exact, or floats, and then
distributions need to sum to 1 up to `FLOAT_TOLERANCE` only.  Privacy levels are given as odds e^ε, so that they can be
rational too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any, Protocol

from optcomp.errors import InvalidInput
from optcomp.numerics import exact
from optcomp.proofs.distributions import Real

FLOAT_TOLERANCE = 1e-9
"""How far from 1 the sum of a distribution of floats may be."""

Query = Any
Response = Any
State = Any
"""Questions, responses and the states of a memory are anything hashable."""
History = tuple[tuple[Query, Response], ...]
Distribution = Mapping[Response, Real]
AnswerTable = Mapping[History, Mapping[Query, Distribution]]
Flow = Mapping[History, Real]
Offers = Sequence[Query] | Callable[[History], Sequence[Query]]


class Interactive(Protocol):
    """Anything that can be questioned: which questions it takes after a history, and the law of its next response."""

    def queries(self, history: History) -> Sequence[Query]:
        """The questions it takes after this history; none when it has halted."""

    def answer(self, history: History, query: Query) -> Distribution:
        """The law of the response to one more question."""


@dataclass(frozen=True)
class System:
    """A finite interactive system, written out: for every history and question, the law of the response."""

    table: AnswerTable
    """Kept with the shortest histories first."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", _checked(self.table))

    def queries(self, history: History) -> tuple[Query, ...]:
        """The questions it takes after this history; none when it has halted."""
        return tuple(self.table.get(history, ()))

    def answer(self, history: History, query: Query) -> Distribution:
        """The law of the response to one more question."""
        if query not in self.table.get(history, ()):
            raise InvalidInput("query", query, f"is not taken after the history {history!r}")
        return self.table[history][query]

    @cached_property
    def flow(self) -> dict[History, Real]:
        """The probability of every history, if its questions are asked, shortest histories first."""
        flow: dict[History, Real] = {(): Fraction(1)}
        for history, query, response, child in edges(self):
            flow[child] = flow[history] * self.table[history][query][response]
        return flow

    @property
    def leaves(self) -> list[History]:
        """The complete histories: the system has halted."""
        return [history for history in self.flow if history not in self.table]

    @property
    def rounds(self) -> int:
        """The largest number of questions that it takes."""
        return max(map(len, self.flow))

    @property
    def exact(self) -> bool:
        """Whether every probability is a fraction."""
        return all(isinstance(p, Fraction) for _, _, law in laws(self.table) for p in law.values())

    def as_floats(self) -> System:
        """The same system with its probabilities rounded to floats."""
        return self._mapped(float)

    def _mapped(self, change: Callable[[Real], Real]) -> System:
        return System(
            {
                history: {query: {y: change(p) for y, p in law.items()} for query, law in node.items()}
                for history, node in self.table.items()
            }
        )


@dataclass(frozen=True)
class Pair:
    """What one interactive mechanism is on two neighbouring data sets: the systems M⁰ and M¹."""

    zero: System
    one: System

    def __post_init__(self) -> None:
        _check_same_shape(self.zero, self.one)

    def side(self, bit: int) -> System:
        """The system M^bit."""
        if bit not in (0, 1):
            raise InvalidInput("bit", bit, "must be 0 or 1")
        return self.one if bit else self.zero

    def swapped(self) -> Pair:
        """The same two systems, the other way round."""
        return Pair(self.one, self.zero)

    def as_floats(self) -> Pair:
        """The same pair with its probabilities rounded to floats."""
        return Pair(self.zero.as_floats(), self.one.as_floats())


def laws(table: AnswerTable) -> Iterator[tuple[History, Query, Distribution]]:
    """Every law of a response that a table lists, with where it applies."""
    for history, node in table.items():
        for query, law in node.items():
            yield history, query, law


def edges(system: System) -> Iterator[tuple[History, Query, Response, History]]:
    """Every step of the tree as (history, question, response, longer history), shortest histories first."""
    for history, query, law in laws(system.table):
        for response in law:
            yield history, query, response, (*history, (query, response))


# --- building systems ---------------------------------------------------------------------------------------------


def tabulate(answer: Callable[[History, Query], Distribution], queries: Offers, rounds: int) -> System:
    """The system that a function of history and question describes, for at most so many rounds.

    `queries` lists the questions that are always taken, or is a function from the history to those taken next; where
    it gives none, the system has halted.
    """
    table: dict[History, dict[Query, Distribution]] = {}
    waiting: list[History] = [()]
    _check_rounds(rounds)
    while waiting:
        history = waiting.pop()
        offered = _offered(queries, history) if len(history) < rounds else ()
        if offered:
            table[history] = {query: dict(answer(history, query)) for query in offered}
            waiting += [(*history, (query, y)) for query, law in table[history].items() for y in law]
    return System(table)


def tabulated(system: Interactive, rounds: int) -> System:
    """Anything that can be questioned, written out as a tree of at most so many rounds."""
    return tabulate(system.answer, system.queries, rounds)


def one_round(answers: Mapping[Query, Distribution]) -> System:
    """A mechanism that takes a single question: its laws of responses."""
    return System({(): answers})


def one_round_pair(zero: Distribution, one: Distribution, query: Query = "ask") -> Pair:
    """A non-interactive mechanism on neighbouring data sets: two plain distributions, each padded with zeros."""
    support = [*zero, *(y for y in one if y not in zero)]
    sides = ({y: law.get(y, Fraction(0)) for y in support} for law in (zero, one))
    return Pair(*(one_round({query: side}) for side in sides))


def from_hidden_state(
    start: Distribution,
    step: Callable[[State, Query], Mapping[tuple[Response, State], Real]],
    queries: Offers,
    responses: Sequence[Response],
    rounds: int,
) -> System:
    """The system seen from outside of an algorithm with memory and coins.

    The memory is drawn from `start`; a question in state s draws (response, next state) from `step(s, question)`.  The
    law of a response given the history is found by carrying along the joint law of history and memory.  After a history
    that cannot happen there is no such law, and any will do: the memory is taken to be fresh.
    """
    beliefs: dict[History, dict[State, Real]] = {(): dict(start)}

    def answer(history: History, query: Query) -> Distribution:
        joint = _joint(beliefs[history], step, query, responses)
        mass = {y: sum(states.values(), start=Fraction(0)) for y, states in joint.items()}
        total = sum(mass.values(), start=Fraction(0))
        beliefs.update({(*history, (query, y)): joint[y] if mass[y] else dict(start) for y in responses})
        return {y: mass[y] / total for y in responses}

    return tabulate(answer, queries, rounds)


def from_flow(flow: Flow, model: System) -> System:
    """The system with a given flow on the model's tree; where the flow has no mass it answers as the model does."""
    table: dict[History, dict[Query, Distribution]] = {}
    for history, query, law in laws(model.table):
        masses = {y: flow[(*history, (query, y))] for y in law}
        total = sum(masses.values(), start=Fraction(0))
        conditional = {y: mass / total for y, mass in masses.items()} if total > 0 else law
        table.setdefault(history, {})[query] = conditional
    return System(table)


def mix_systems(parts: Sequence[tuple[Real, System]]) -> System:
    """The system that draws one of several systems with these weights at the start and then is that system."""
    model = parts[0][1]
    for _, system in parts:
        _check_same_shape(model, system)
    flow = {h: sum((weight * system.flow[h] for weight, system in parts), start=Fraction(0)) for h in model.flow}
    return from_flow(flow, model)


# --- above threshold ----------------------------------------------------------------------------------------------


def geometric_noise(odds: Real, reach: int) -> dict[int, Real]:
    """Two-sided geometric noise P(k) ∝ odds^−|k|, the tails beyond ±reach put on the ends: finite and rational."""
    at_zero = (odds - 1) / (odds + 1)
    noise: dict[int, Real] = {k: at_zero / odds ** abs(k) for k in range(-reach, reach + 1)}
    for end in (-reach, reach):
        noise[end] = odds / (odds + 1) / odds**reach
    return noise


def above_threshold(
    values: Mapping[Query, int],
    threshold_noise: Mapping[int, Real],
    query_noise: Mapping[int, Real],
    rounds: int,
    *,
    threshold: int = 0,
    cutoff: int = 1,
) -> System:
    """The sparse vector technique: says which questions have a value above a noisy threshold, "above" `cutoff` times.

    The threshold's noise is drawn once and never refreshed (the variant of Lyu 2022, section 3), so all responses hang
    together by a hidden state; the noise of a question is fresh.  Noise with too short a reach makes some responses
    impossible on one data set only: then δ > 0 for every ε.
    """

    def step(noise: int, query: Query) -> dict[tuple[Response, State], Real]:
        chances = (p for v, p in query_noise.items() if values[query] + v >= threshold + noise)
        above = sum(chances, start=Fraction(0))
        return {("above", noise): above, ("below", noise): 1 - above}

    def offers(history: History) -> Sequence[Query]:
        return () if sum(y == "above" for _, y in history) >= cutoff else tuple(values)

    return from_hidden_state(threshold_noise, step, offers, ("above", "below"), rounds)


# --- random systems -----------------------------------------------------------------------------------------------


def random_system(rng: Random, queries: int = 2, responses: int = 2, rounds: int = 2, grain: int = 6) -> System:
    """A system without any structure: every law is random, with small denominators and some zeros."""
    return tabulate(lambda *_: _random_law(rng, responses, grain), range(queries), rounds)


def random_pair(rng: Random, odds: Real, delta: Real, model: Callable[[Random], System] = random_system) -> Pair:
    """A pair that is (ε, δ)-indistinguishable because it is a mixture as in identity (4) of four random systems.

    Its worst δ is usually below the δ asked for; `drifting_pair` with its own worst δ is a tight example.
    """
    leaks, likely = (model(rng), model(rng)), (model(rng), model(rng))
    sides = []
    for bit in (0, 1):
        weights = (delta, (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds))
        sides.append(mix_systems(list(zip(weights, (leaks[bit], likely[bit], likely[1 - bit]), strict=True))))
    return Pair(*sides)


def drifting_pair(rng: Random, queries: int = 2, responses: int = 2, rounds: int = 2, grain: int = 6) -> Pair:
    """A pair whose second system has every weight of the first moved a little: nothing is promised about ε and δ."""
    zero = random_system(rng, queries, responses, rounds, grain)

    def moved(history: History, query: Query) -> Distribution:
        weights = {y: p * rng.randint(2, 4) for y, p in zero.table[history][query].items()}
        if rng.random() < 0.2:
            weights[rng.randrange(responses)] += Fraction(1, grain)
        total = sum(weights.values(), start=Fraction(0))
        return {y: weight / total for y, weight in weights.items()}

    return Pair(zero, tabulate(moved, zero.queries, rounds))


def random_threshold_pair(rng: Random, queries: int = 2, rounds: int = 3) -> Pair:
    """Above-threshold with small finite noise on two data sets whose answers differ by at most 1."""
    values = {query: rng.randint(-1, 1) for query in range(queries)}
    shifted = {query: value + rng.randint(-1, 1) for query, value in values.items()}
    threshold, query = (geometric_noise(Fraction(rng.randint(3, 8), 2), rng.randint(1, 2)) for _ in range(2))
    cutoff = rng.randint(1, 2)
    return Pair(*(above_threshold(answers, threshold, query, rounds, cutoff=cutoff) for answers in (values, shifted)))


# --- checks -------------------------------------------------------------------------------------------------------


def _checked(table: AnswerTable) -> dict[History, dict[Query, dict[Response, Real]]]:
    """The table with exact or float numbers, or an error that says where it is wrong."""
    if not isinstance(table, Mapping) or () not in table:
        raise InvalidInput("table", table, "must be a mapping with an entry for the empty history ()")
    for history, node in table.items():
        if not isinstance(node, Mapping) or not node:
            raise InvalidInput(f"table[{history!r}]", node, "must map at least one question to a law of responses")
        if not _is_history(history):
            raise InvalidInput("table", history, "must have histories, tuples of (question, response), as keys")
    checked: dict[History, dict[Query, dict[Response, Real]]] = {history: {} for history in sorted(table, key=len)}
    for history, query, law in laws(table):
        checked[history][query] = _checked_law(law, f"the law after {history!r} and question {query!r}")
    for history in checked:
        if history and not _reached(history, checked):
            raise InvalidInput("table", history, "must hold only histories that its other entries lead to")
    return checked


def _is_history(history: object) -> bool:
    return isinstance(history, tuple) and all(isinstance(step, tuple) and len(step) == 2 for step in history)


def _reached(history: History, table: AnswerTable) -> bool:
    query, response = history[-1]
    return response in table.get(history[:-1], {}).get(query, {})


def _checked_law(law: Distribution, where: str) -> dict[Response, Real]:
    if not isinstance(law, Mapping) or not law:
        raise InvalidInput(where, law, "must map at least one response to its probability")
    numbers = {response: _number(p, where) for response, p in law.items()}
    if any(p < 0 for p in numbers.values()):
        raise InvalidInput(where, law, "must not have negative probabilities")
    total = sum(numbers.values(), start=Fraction(0))
    if max(total - 1, 1 - total) > (FLOAT_TOLERANCE if isinstance(total, float) else 0):
        raise InvalidInput(where, law, f"must sum to 1, not to {total}")
    return numbers


def _number(value: object, where: str) -> Real:
    return value if type(value) is Fraction else exact(value, where)


def _check_rounds(rounds: int) -> None:
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise InvalidInput("rounds", rounds, "must be a whole number, at least 1")


def _check_same_shape(first: System, second: System) -> None:
    for one, other in ((first, second), (second, first)):
        for history, query, law in laws(one.table):
            node = other.table.get(history, {})
            if query not in node or set(node[query]) != set(law):
                place = (history, query)
                raise InvalidInput("pair", place, "both systems must list the same questions and responses there")


def check_odds(odds: Real) -> Real:
    """e^ε as an exact or float number, at least 1."""
    number = _number(odds, "odds")
    if number < 1:
        raise InvalidInput("odds", odds, "e^ε must be at least 1")
    return number


def check_delta(delta: Real) -> Real:
    """δ as an exact or float number in [0, 1]."""
    number = _number(delta, "delta")
    if not 0 <= number <= 1:
        raise InvalidInput("delta", delta, "must lie in [0, 1]")
    return number


# --- small parts --------------------------------------------------------------------------------------------------


def _offered(queries: Offers, history: History) -> Sequence[Query]:
    return tuple(queries(history) if callable(queries) else queries)


def _joint(
    belief: Mapping[State, Real],
    step: Callable[[State, Query], Mapping[tuple[Response, State], Real]],
    query: Query,
    responses: Sequence[Response],
) -> dict[Response, dict[State, Real]]:
    """The joint mass of next response and next state."""
    joint: dict[Response, dict[State, Real]] = {response: {} for response in responses}
    for state, mass in belief.items():
        for (response, after), p in step(state, query).items():
            if response not in joint:
                raise InvalidInput("step", response, f"must give responses out of {tuple(responses)!r}")
            joint[response][after] = joint[response].get(after, Fraction(0)) + mass * p
    return joint


def _random_law(rng: Random, responses: int, grain: int) -> dict[Response, Real]:
    weights = [rng.randint(0, grain) for _ in range(responses)]
    weights[rng.randrange(responses)] += 1
    return {y: Fraction(weight, sum(weights)) for y, weight in enumerate(weights)}
