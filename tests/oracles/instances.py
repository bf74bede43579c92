"""Random instances, the ugly ones on purpose: barely feasible, infeasible, huge beside tiny, on a lattice point."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

Generator = np.random.Generator
Part = tuple[float, float]


@dataclass(frozen=True)
class Instance:
    """Mechanisms (ε, δ), and a total δ and a total ε to ask about."""

    kind: str
    parts: tuple[Part, ...]
    delta: Fraction | float
    epsilon: float


def _uniform(rng: Generator, low: float, high: float, k: int) -> list[float]:
    return [float(x) for x in rng.uniform(low, high, k)]


def _logarithmic(rng: Generator, low: float, high: float, k: int) -> list[float]:
    return [math.pow(10.0, x) for x in _uniform(rng, low, high, k)]


def _pure(eps: list[float]) -> list[Part]:
    return [(x, 0.0) for x in eps]


def _leaky(rng: Generator, k: int) -> list[Part]:
    deltas = _logarithmic(rng, -13, -2, k)
    return list(zip(_logarithmic(rng, -3, 0.7, k), deltas, strict=True))


def _with_zeros(rng: Generator, k: int) -> list[Part]:
    return [(eps if i % 3 else 0.0, delta if i % 2 else 0.0) for i, (eps, delta) in enumerate(_leaky(rng, k))]


def _equal(rng: Generator, k: int) -> list[Part]:
    return [(float(rng.uniform(0.01, 3)), float(rng.choice([0.0, 1e-9, 0.003])))] * k


def _two_types(rng: Generator, k: int) -> list[Part]:
    types = _leaky(rng, 2)
    return [types[int(rng.integers(2))] for _ in range(k)]


def _mixed(rng: Generator, k: int) -> list[Part]:
    return _pure([float(x) for x in rng.choice([50.0, 1e-6, 1.0, 0.3, 20.0, 2e-6, 1e-3, 300.0], k)])


def _near_ties(rng: Generator, k: int) -> list[Part]:
    """Sizes a few units in the last place apart, so that sums all but coincide."""
    return _pure([float(rng.choice([0.1, 0.2, 0.4])) * (1 + 2.0**-52 * int(rng.integers(4))) for _ in range(k)])


_KINDS: dict[str, Callable[[Generator, int], list[Part]]] = {
    "plain": lambda rng, k: _pure(_uniform(rng, 0.001, 2, k)),
    "leaky": _leaky,
    "zeros": _with_zeros,
    "equal": _equal,
    "two types": _two_types,
    "mixed": _mixed,
    "huge": lambda rng, k: _pure(_uniform(rng, 5, 600, k)),
    "tiny": lambda rng, k: _pure(_logarithmic(rng, -12, -7, k)),
    "near ties": _near_ties,
}
_DELTAS = (1e-30, 1e-100, 1e-300, 1e-6, 1e-10, 0.0)


def leak_of(parts: tuple[Part, ...]) -> Fraction:
    """The probability that some mechanism leaks everything."""
    return 1 - math.prod((1 - Fraction(delta) for _, delta in parts), start=Fraction(1))


def _some_delta(rng: Generator, parts: tuple[Part, ...]) -> Fraction | float:
    """A total δ: tiny, anywhere, next to the leak on either side, or exactly at it."""
    leak = leak_of(parts)
    choice = int(rng.integers(4))
    if choice == 0:
        return float(rng.choice(_DELTAS))
    if choice == 1:
        return _logarithmic(rng, -12, -0.01, 1)[0]
    if choice == 2 and rng.random() < 0.5:
        return min(0.99, float(leak) + _logarithmic(rng, -5, -0.3, 1)[0])
    if leak == 0:
        distance = math.fsum(math.tanh(eps / 2) for eps, _ in parts)
        return min(0.99, distance * float(rng.uniform(0.001, 1.1)))
    step = Fraction(int(rng.integers(-1, 3)), 2 ** int(rng.integers(20, 90)))
    return leak * (1 + step) if choice == 2 else float(leak) * (1 + 2.0**-52 * int(rng.integers(-2, 3)))


def _some_epsilon(rng: Generator, parts: tuple[Part, ...]) -> float:
    """A total ε: zero, the sum, near the sum, anywhere below it, or the value of one pattern of signs."""
    total = math.fsum(eps for eps, _ in parts)
    signed = abs(math.fsum(eps * (1 if rng.random() < 0.7 else -1) for eps, _ in parts))
    choices = [0.0, total, math.nextafter(total, 0.0), math.nextafter(total, math.inf), signed]
    return choices[int(rng.integers(5))] if rng.random() < 0.5 else total * float(rng.uniform(0, 1.05))


def small_instances(seed: int, count: int, most: int = 14) -> list[Instance]:
    """Up to 14 mechanisms, for the oracle that lists subsets."""
    rng = np.random.default_rng([2018, seed])
    found = []
    for number in range(count):
        kind = list(_KINDS)[number % len(_KINDS)]
        k = 1 if number % 10 == 9 else int(rng.integers(1 if rng.random() < 0.5 else most // 2, most + 1))
        parts = tuple(_KINDS[kind](rng, k))
        found.append(Instance(kind, parts, _some_delta(rng, parts), _some_epsilon(rng, parts)))
    return found


@dataclass(frozen=True)
class Counted:
    """Copies of (ε, δ), and a total δ and a total ε to ask about."""

    groups: tuple[tuple[Fraction, float, int], ...]
    delta: float
    epsilon: Fraction


def lattice_instances(seed: int, count: int) -> list[Counted]:
    """Up to some thousand mechanisms whose ε are multiples of one unit."""
    rng = np.random.default_rng([1507, seed])
    found = []
    for _ in range(count):
        unit = Fraction(int(rng.choice([1, 3, 20, 150])), int(rng.choice([1000, 1024, 7])))
        steps = sorted({int(a) for a in rng.integers(1, 12, int(rng.integers(1, 7)))})
        most = int(rng.choice([3, 30, 300]))
        delta = 10.0 ** -float(rng.choice([rng.uniform(0.01, 3), rng.uniform(1, 14), rng.uniform(3, 40), 200.0]))
        leaks = [0.0, 0.0, delta * 1e-4, delta * float(rng.uniform(1e-4, 1e-2))]
        groups = tuple((a * unit, float(rng.choice(leaks)), int(rng.integers(1, most))) for a in steps)
        total = sum(a * copies for a, _, copies in groups)
        place = Fraction(int(rng.integers(0, 1001)), 1000) * total if rng.random() < 0.5 else int(total / unit) * unit
        found.append(Counted(groups, delta, place * Fraction(int(rng.integers(1, 6)), 5)))
    return found


def equal_instances(seed: int, count: int) -> list[Counted]:
    """k equal mechanisms, k up to 10^9."""
    rng = np.random.default_rng([1311, seed])
    found = []
    for _ in range(count):
        k = int(10 ** rng.uniform(0, 9))
        eps = Fraction(10 ** float(rng.uniform(-9, 1)))
        leak = float(rng.choice([0.0, 0.0, 1e-15, 1e-3]))
        delta = 10.0 ** -float(rng.choice([rng.uniform(0.01, 3), rng.uniform(3, 40), 100.0, 300.0]))
        place = k * eps * Fraction(float(rng.choice([rng.uniform(0, 1), 10 ** rng.uniform(-9, 0)])))
        found.append(Counted(((eps, leak, k),), delta, place))
    return found
