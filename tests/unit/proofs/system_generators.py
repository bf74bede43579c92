"""Random interactive systems for property tests: without structure, with a hidden state, tight and loose, of one round.

Sizes are small so that hundreds of instances cost seconds; each test file adds a few large ones by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from hypothesis import strategies as st

from optcomp.proofs.concurrent import leaky_response_pair
from optcomp.proofs.games import Allowance
from optcomp.proofs.systems import (
    Pair,
    System,
    drifting_pair,
    from_hidden_state,
    one_round_pair,
    random_pair,
    random_system,
    random_threshold_pair,
)
from optcomp.proofs.transcripts import least_delta

ODDS = [Fraction(1), Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(3)]
DELTAS = [Fraction(0), Fraction(1, 50), Fraction(1, 9), Fraction(1, 2)]

rngs = st.integers(0, 10**6).map(Random)
odds = st.sampled_from(ODDS)
deltas = st.sampled_from(DELTAS)


def noisy_counter(rng: Random, rounds: int = 3) -> Pair:
    """A stateful mechanism: a hidden coin is drawn once, and every response is that coin told wrongly now and then."""
    lie = Fraction(1, rng.randint(3, 6))
    chances = [Fraction(rng.randint(1, 4), 6) for _ in range(2)]

    def step(coin: int, question: str) -> dict[tuple[int, int], Fraction]:
        flipped = coin if question == "told" else 1 - coin
        return {(flipped, coin): 1 - lie, (1 - flipped, coin): lie}

    def system(chance: Fraction) -> System:
        return from_hidden_state({1: chance, 0: 1 - chance}, step, ("told", "turned"), (0, 1), rounds)

    return Pair(*(system(chance) for chance in chances))


def one_round_random(rng: Random) -> Pair:
    """A non-interactive mechanism with three outcomes, some of them impossible on one side."""
    laws = (random_system(rng, 1, 3, 1, 4).table[()][0] for _ in range(2))
    return one_round_pair(*laws)


SHAPES: dict[str, Callable[[Random], Pair]] = {
    "drifting": drifting_pair,
    "three responses": lambda rng: drifting_pair(rng, 2, 3, 2, 4),
    "three rounds": lambda rng: drifting_pair(rng, 2, 2, 3, 4),
    "three of both": lambda rng: drifting_pair(rng, 2, 3, 3, 3),
    "mixed": lambda rng: random_pair(rng, rng.choice(ODDS), rng.choice(DELTAS)),
    "unrelated": lambda rng: Pair(random_system(rng, 2, 2, 2, 2), random_system(rng, 2, 2, 2, 2)),
    "threshold": random_threshold_pair,
    "counter": noisy_counter,
    "one round": one_round_random,
    "leaky": lambda rng: leaky_response_pair(rng.choice(ODDS), rng.choice(DELTAS)),
}
SMALL: dict[str, Callable[[Random], Pair]] = {
    "drifting": drifting_pair,
    "mixed": lambda rng: random_pair(rng, rng.choice(ODDS), rng.choice(DELTAS)),
    "threshold": lambda rng: random_threshold_pair(rng, 2, 2),
    "counter": lambda rng: noisy_counter(rng, 2),
    "one round": one_round_random,
    "leaky": lambda rng: leaky_response_pair(rng.choice(ODDS), rng.choice(DELTAS)),
}


def _draw(shapes: dict[str, Callable[[Random], Pair]]) -> st.SearchStrategy[Pair]:
    return st.builds(lambda name, rng: shapes[name](rng), st.sampled_from(sorted(shapes)), rngs)


pairs = _draw(SHAPES)
small_pairs = _draw(SMALL)
several_pairs = st.lists(small_pairs, min_size=2, max_size=2)


def parameters_of(rng: Random, pair: Pair) -> Allowance:
    """Some (e^ε, δ) that the pair has: its worst δ, or a larger one."""
    level = rng.choice(ODDS)
    worst = least_delta([pair], level)
    return level, rng.choice([worst, worst, (1 + worst) / 2])
