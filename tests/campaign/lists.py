"""Random lists of mechanisms, kind by kind, each with an oracle that can afford it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.oracles.equal import Equal
from tests.oracles.halves import Halves
from tests.oracles.multiples import Multiples
from tests.oracles.truth import Mechanism, Rational, Truth

Generator = np.random.Generator
Sizes = list[tuple[Rational, int]]
"""ε and copies."""


@dataclass(frozen=True)
class Kind:
    """How to draw one, what judges it (None: the checker), and the share that is asked with round numbers."""

    draw: Callable[[Generator], Sizes]
    oracle: Callable[[list[Mechanism]], Truth] | None
    plain: float = 0.1


def generator(kind: str, seed: int) -> Generator:
    """Randomness of one instance, whatever else is run."""
    return np.random.default_rng([zlib.crc32(kind.encode()), seed])


def drawn(rng: Generator, kind: str) -> Sizes:
    """A list of that kind."""
    return KINDS[kind].draw(rng)


def _power(rng: Generator, low: float, high: float) -> float:
    """Ten to a power drawn evenly, to 30 bits, so that the sums of the oracle are short numbers."""
    return _short(10.0 ** rng.uniform(low, high))


def _short(value: float, bits: int = 30) -> float:
    mantissa, exponent = np.frexp(value)
    return float(np.ldexp(np.rint(mantissa * 2.0**bits), int(exponent) - bits))


def _count(rng: Generator, low: int, high: int) -> int:
    return int(rng.integers(low, high + 1))


def _merge(sizes: Sequence[tuple[Rational, int]]) -> Sizes:
    counts: dict[Rational, int] = {}
    for x, m in sizes:
        counts[x] = counts.get(x, 0) + m
    return list(counts.items())


def _wide(rng: Generator) -> Sizes:
    """2 to 12 of everything between .01 and 4, often as people write it, now and then with some of them repeated."""
    count = _count(rng, 2, 12)
    low, high = sorted(10 ** rng.uniform(-2, 0.602, 2)) if rng.random() < 0.3 else (0.01, 4.0)
    xs = rng.uniform(low, high, count)
    if rng.random() < 0.5:
        xs = 10 ** rng.uniform(np.log10(low), np.log10(high), count)
    if rng.random() < 0.2:
        xs = np.concatenate([xs, rng.choice(xs, _count(rng, 1, max(1, 12 - count)))])[:12]
    if rng.random() < 0.4:
        return _merge([(float(x), 1) for x in xs])
    digits = _count(rng, 2, 3)
    written = [f"{x:.{digits}f}" for x in xs]
    number = Fraction if rng.random() < 0.15 else float
    return _merge([(number(text), 1) for text in written if float(text)]) or [(0.01, 1)]


def _few(rng: Generator) -> Sizes:
    """A handful of anything, now and then the same again."""
    scale = _power(rng, -3, 1)
    sizes = [(float(x), 1) for x in scale * rng.uniform(0.05, 1, _count(rng, 2, 13))]
    if rng.random() < 0.3:
        sizes += [sizes[int(i)] for i in rng.integers(0, len(sizes), 3)]
    return _merge(sizes)


def _halves(rng: Generator) -> Sizes:
    """Many enough for the quadrature to be worth it."""
    scale = _power(rng, -2.5, 0.5)
    low = float(rng.choice([0.01, 0.3, 0.9]))
    return _merge([(float(x), 1) for x in scale * rng.uniform(low, 1, _count(rng, 14, 22))])


def _near(rng: Generator) -> Sizes:
    """Relative differences between 1e-15 and 1e-6."""
    base, spread = _power(rng, -2.5, 0.7), 10 ** rng.uniform(-15.3, -6)
    return _merge([(float(base * (1 + spread * x)), 1) for x in rng.uniform(-1, 1, _count(rng, 7, 20))])


def _ratio(rng: Generator) -> Sizes:
    """Tiny beside large."""
    tiny, large = _power(rng, -7, -4), _power(rng, -0.5, 1)
    small = [(float(tiny * x), _count(rng, 1, 3)) for x in rng.uniform(0.2, 1, _count(rng, 1, 6))]
    return _merge(small + [(float(large * x), _count(rng, 1, 2)) for x in rng.uniform(0.2, 1, _count(rng, 1, 6))])


def _lumpy(rng: Generator) -> Sizes:
    """Large ε: the loss sits on few far-apart places."""
    return _merge([(float(x), _count(rng, 1, 3)) for x in rng.uniform(1.5, 25, _count(rng, 2, 9))])


def _dominated(rng: Generator) -> Sizes:
    """One coin larger than all others together, or nearly."""
    small = _power(rng, -3, -0.5) * rng.uniform(0.1, 1, _count(rng, 5, 18))
    return _merge([(float(x), 1) for x in small] + [(float(small.sum() * 10 ** rng.uniform(-0.7, 1.5)), 1)])


def _types(rng: Generator) -> Sizes:
    """Two or three sizes with many copies; sometimes all but equal."""
    base = _power(rng, -3, 0.3)
    if rng.random() < 0.35:
        spread = 10 ** rng.uniform(-15, -5)
        xs = [base, base * (1 + spread), base * (1 - 0.7 * spread)]
    else:
        xs = [base, base * rng.uniform(0.01, 1), base * rng.uniform(0.5, 3)]
    most = int(10 ** rng.uniform(1.3, 3.4))
    copies = [_count(rng, 1, most), _count(rng, 1, most), _count(rng, 1, 4)]
    return _merge([(float(x), m) for x, m in zip(xs, copies, strict=True)][: _count(rng, 2, 3)])


def _equal(rng: Generator) -> Sizes:
    """All the same, up to a billion of them."""
    count = int(10 ** rng.uniform(0.5, 9))
    return [(_power(rng, -2.5, 1.2) / float(count) ** rng.uniform(0.2, 0.6), count)]


def _thousand(rng: Generator) -> Sizes:
    """Up to three thousand of the same, often so many that δ is all but 1."""
    return [(_power(rng, -2, 0.5), int(10 ** rng.uniform(0, 3.5)))]


def _unit(rng: Generator, low: float, high: float) -> float:
    return _short(10.0 ** rng.uniform(low, high), 24)


def _lattice(rng: Generator) -> Sizes:
    """100 to 3,000 coins on multiples of a unit."""
    count = int(10 ** rng.uniform(2, 3.5))
    most = max(2, min(64, 9000 // count))
    steps = rng.integers(1, most + 1, min(count, _count(rng, 3, 24)))
    unit = _short(_unit(rng, -4, 0) / float(np.sqrt(most)), 24)
    copies = rng.multinomial(count - steps.size, np.full(steps.size, 1 / steps.size)) + 1
    return _merge([(unit * int(a), int(m)) for a, m in zip(steps, copies, strict=True)])


def _middle(rng: Generator) -> Sizes:
    """40 to 150 different multiples of a unit: hardly a node can be skipped."""
    steps = rng.choice(np.arange(1, 160), _count(rng, 40, 130), replace=False)
    unit = _unit(rng, -4, -1)
    return [(unit * int(a), 1) for a in steps]


def _lumps(rng: Generator) -> Sizes:
    """A few large multiples beside many small ones, or large ones only."""
    unit = _unit(rng, -3, -0.5)
    small = [(unit * int(a), _count(rng, 1, 80)) for a in rng.integers(1, 6, _count(rng, 0, 4))]
    large = [(unit * int(a), _count(rng, 1, 12)) for a in rng.integers(40, 300, _count(rng, 1, 3))]
    return _merge(small + large)


def _real(rng: Generator) -> Sizes:
    """50 to 2,000 different real numbers."""
    count, scale = int(10 ** rng.uniform(1.7, 3.3)), 10 ** rng.uniform(-2.5, 0)
    low = float(rng.choice([0.01, 0.5, 0.99]))
    return _merge([(float(x), 1) for x in scale * rng.uniform(low, 1, count)])


KINDS: dict[str, Kind] = {
    "wide": Kind(_wide, Halves, 0.6),
    "few": Kind(_few, Halves),
    "halves": Kind(_halves, Halves),
    "near": Kind(_near, Halves),
    "ratio": Kind(_ratio, Halves),
    "lumpy": Kind(_lumpy, Halves),
    "dominated": Kind(_dominated, Halves),
    "types": Kind(_types, Halves),
    "equal": Kind(_equal, lambda mechanisms: Equal(mechanisms[0][2], mechanisms[0][0], mechanisms[0][1])),
    "thousand": Kind(_thousand, lambda mechanisms: Equal(mechanisms[0][2], mechanisms[0][0], mechanisms[0][1])),
    "lattice": Kind(_lattice, Multiples),
    "middle": Kind(_middle, Multiples),
    "lumps": Kind(_lumps, Multiples),
    "real": Kind(_real, None),
}
