"""What the property tests of the proofs draw: finite distributions, pairs of them, budgets, moves of an adversary."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from optcomp.proofs.distributions import Finite, Kernel
from optcomp.proofs.games import Choice
from optcomp.proofs.simulation import leaky

Pair = tuple[Finite[str], Finite[str]]
Budget = tuple[Fraction, Fraction]
Drawn = tuple[list[Budget], list[list[Choice]]]
"""The budgets of a game and a menu of moves for every round, each within its budget."""

WEIGHTS = [0, 0, 1, 2, 3, 5, 8]
ODDS = [Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(10), Fraction(22, 7)]
DELTAS = [Fraction(0), Fraction(1, 100), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10)]
SEEDS = st.integers(0, 2**32 - 1)
BUDGETS = st.tuples(st.sampled_from(ODDS), st.sampled_from(DELTAS))


def odds() -> st.SearchStrategy[Fraction]:
    """e^ε between 1 and 10; 1 (ε = 0) is common."""
    return st.sampled_from(ODDS + [1 + Fraction(i, 9) for i in range(64)])


def deltas() -> st.SearchStrategy[Fraction]:
    """δ: 0 among them, never 1."""
    return st.sampled_from(DELTAS)


def finites(outcomes: Sequence[str] = "abcd") -> st.SearchStrategy[Finite[str]]:
    """A distribution on some of these outcomes; zeros are common."""
    return st.integers(0, len(WEIGHTS) ** len(outcomes) - 1).map(lambda code: _decoded(code, outcomes))


def _decoded(code: int, outcomes: Sequence[str]) -> Finite[str]:
    """One weight for every digit of the code: drawing one integer is much quicker than drawing a list."""
    weights = {a: WEIGHTS[code // len(WEIGHTS) ** i % len(WEIGHTS)] for i, a in enumerate(outcomes)}
    return Finite.proportional(weights if any(weights.values()) else dict.fromkeys(outcomes, 1))


def pairs(outcomes: Sequence[str] = "abcd") -> st.SearchStrategy[Pair]:
    """Two distributions on the same outcomes, with no promise; sometimes one is close to the other."""
    apart = st.tuples(finites(outcomes), finites(outcomes))
    return st.one_of(apart, st.tuples(apart, st.integers(1, 9)).map(lambda drawn: _nearer(*drawn)))


def _nearer(pair: Pair, times: int) -> Pair:
    x, y = pair
    close = {a: times * x[a] + y[a] for a in dict.fromkeys(x.support + y.support)}
    return x, Finite.proportional(close)


@st.composite
def private_pairs(draw: st.DrawFn, outcomes: Sequence[str] = "abc") -> tuple[Budget, Pair]:
    """A budget and an indistinguishable pair: leaky randomized response through a random map, as all of them are."""
    budget = draw(BUDGETS)
    return budget, _disguised(draw(st.integers(0, len(WEIGHTS) ** (4 * len(outcomes)) - 1)), budget, outcomes)


def _disguised(code: int, budget: Budget, outcomes: Sequence[str]) -> Pair:
    step = len(WEIGHTS) ** len(outcomes)
    rows = Kernel({z: _decoded(code // step**z % step, outcomes) for z in range(4)})
    u, v = leaky(*budget)
    return u.through(rows), v.through(rows)


def games(most: int = 3, least: int = 1, outcomes: str = "") -> st.SearchStrategy[Drawn]:
    """Budgets of up to `most` rounds, two moves at most on a menu; long games have two answers, short ones three."""
    return SEEDS.map(lambda seed: _game(random.Random(seed), least, most, outcomes))


def _game(source: random.Random, least: int, most: int, outcomes: str) -> Drawn:
    rounds = [(source.choice(ODDS), source.choice(DELTAS)) for _ in range(source.randint(least, most))]
    answers = outcomes or ("ab" if len(rounds) > 2 else "abc")
    menus = [[_move(source, budget, answers) for _ in range(source.randint(1, 2))] for budget in rounds]
    return rounds, menus


def _move(source: random.Random, budget: Budget, outcomes: str) -> Choice:
    return Choice.between(*_disguised(source.randrange(len(WEIGHTS) ** (4 * len(outcomes))), budget, outcomes))
