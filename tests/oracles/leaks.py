"""What a threshold tells of one person alone: all ways to lie in values, and the exact chance of each, as a ball.

Neither the theorem's shapes nor the program's tails are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from flint import arb

from tests.oracles.thresholds import BITS, Noise
from tests.oracles.truth import working

Counts = tuple[int, ...]
"""Rows of one person in values that nobody else has."""


def ways(rows: int, groups: int, each: int) -> Iterator[Counts]:
    """All ways of at most so many rows in at most so many values, the largest first."""
    yield ()
    if groups:
        for first in range(min(rows, each), 0, -1):
            for rest in ways(rows - first, groups - 1, first):
                yield first, *rest


def leaked(noise: Noise, threshold: int, counts: Sequence[int]) -> arb:
    """The chance that any of these values is told: that its number and noise are above the threshold."""
    with working(BITS):
        return 1 - prod((1 - noise.above(threshold - count + 1) for count in counts), start=arb(1))
