"""One instance: mechanisms, a total δ and a total ε put where it may hurt, a width and a cap on the work."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.campaign.lists import KINDS, Generator, Sizes, generator
from tests.oracles.truth import Mechanism, Rational, Truth

LEAST, MOST = 1e-305, 0.99
BITS = 192


@dataclass(frozen=True)
class Question:
    """What is asked about which mechanisms."""

    mechanisms: list[Mechanism]
    truth: Truth | None
    delta: Rational
    epsilon: float
    place: str
    rtol: float
    work: float


def question(kind: str, seed: int) -> Question:
    """The instance with this seed."""
    rng = generator(kind, seed)
    sizes = KINDS[kind].draw(rng)
    mechanisms: list[Mechanism] = [(x, 0.0, m) for x, m in sizes]
    if rng.random() < 0.25:
        mechanisms = _leaking(rng, mechanisms)
    oracle = KINDS[kind].oracle
    truth = None if oracle is None else oracle(mechanisms)
    place, y = _place(rng, sizes)
    delta = 10.0 ** -float(rng.uniform(2, 20)) if truth is None else _delta_at(rng, truth, y)
    epsilon = y if rng.random() < 0.7 else abs(y * float(rng.uniform(0.5, 1.1)))
    if rng.random() < KINDS[kind].plain:
        place, delta, epsilon = "plain numbers", plain_delta(rng), round(epsilon, int(rng.integers(1, 4)))
    return Question(
        mechanisms,
        truth,
        delta,
        epsilon,
        place,
        rtol=10 ** -float(rng.uniform(3, 12) if rng.random() < 0.3 else rng.uniform(3, 8)),
        work=10 ** float(rng.choice([rng.uniform(3, 5), rng.uniform(4, 6), rng.uniform(5, 7)])),
    )


def counts(asked: Question) -> dict[tuple[Rational, Rational], int]:
    """Copies of each (ε, δ), as `compose` takes them."""
    found: dict[tuple[Rational, Rational], int] = {}
    for eps, delta, count in asked.mechanisms:
        found[eps, delta] = found.get((eps, delta), 0) + count
    return found


def plain_delta(rng: Generator) -> float:
    """A δ as people write it, from a half down to 1e-30; large ones are as many as small ones."""
    if rng.random() < 0.5:
        return round(float(rng.uniform(0.005, 0.5)), 3)
    return float(f"{10.0 ** -float(rng.uniform(0.3, 30)):.0e}")


def _leaking(rng: Generator, mechanisms: list[Mechanism]) -> list[Mechanism]:
    """Give a δ_i to some of them, small enough together to leave something to ask about."""
    total = sum(count for _, _, count in mechanisms)
    most = 10 ** rng.uniform(-14, -1) / total
    return [
        (eps, most * float(rng.choice([0.0, rng.uniform(0, 1), 1.0])) if rng.random() < 0.7 else delta, count)
        for eps, delta, count in mechanisms
    ]


def _place(rng: Generator, sizes: Sizes) -> tuple[str, float]:
    """Somewhere on the line: bulk, tail, next to either end, or exactly where F has a corner."""
    x, m = (np.array(column, dtype=np.float64) for column in zip(*sizes, strict=True))
    total, mean = float(x @ m), float((x * np.tanh(x / 2)) @ m)
    spread = math.sqrt(float((x * x / np.cosh(np.minimum(x / 2, 300)) ** 2) @ m)) + 1e-300
    top = total - 2 * float(x.min())
    places = {
        "bulk": mean + spread * float(rng.uniform(-2, 2)),
        "tail": mean + spread * float(rng.uniform(2, 9)),
        "far tail": mean + spread * float(rng.uniform(9, 35)),
        "anywhere": total * float(rng.uniform(0, 1)),
        "below the top cell": top - total * 10 ** float(rng.uniform(-12, -2)),
        "in the top cell": total - float(x.min()) * float(rng.uniform(0, 2)),
        "near zero": total * 10 ** float(rng.uniform(-15, -1.5)),
        "zero": 0.0,
        "corner": abs(float(x @ (m - 2 * rng.binomial(m.astype(np.int64), 0.3)))),
    }
    name = str(rng.choice(list(places)))
    y = places[name]
    return (name, float(y)) if 0 <= y <= total else ("anywhere", places["anywhere"])


def _delta_at(rng: Generator, truth: Truth, y: float) -> Rational:
    """A δ whose ε is near y: rounded, next to what δ(0) is, or on the far side of it."""
    value = truth.delta(Fraction(y), BITS)
    if value.rel_accuracy_bits() < 60:
        value = truth.delta(Fraction(y), 1024)
    delta = float(value.mid()) * (1 + float(rng.choice([0.0, 0.0, 1e-15, -1e-13, 1e-9, -1e-5])))
    if not delta >= LEAST:
        leaked = max(float((1 - truth.kept()).mid()), 0.0)
        delta = leaked + 10.0 ** -float(rng.uniform(1, 300))
    return min(max(delta, LEAST), MOST)
