"""Small tables under real sampling, one sample after another: exact distributions of a noisy sum.

The noise is two-sided geometric with ratio r on whole numbers: its density falls by r for each unit, so beyond the sums
that occur all ratios are constant, and answers can be clamped there without any loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, prod

Law = dict[int, Fraction]
Table = Sequence[int]


def noisy(centre: int, ratio: Fraction, reach: int) -> Law:
    """centre plus noise, clamped to [-reach, reach]."""
    scale = (1 - ratio) / (1 + ratio)
    law = {x: scale * ratio ** abs(x - centre) for x in range(-reach + 1, reach)}
    law[reach] = ratio ** (reach - centre) / (1 + ratio)
    law[-reach] = ratio ** (centre + reach) / (1 + ratio)
    return law


def mixed(parts: Iterable[tuple[Fraction, Law]]) -> Law:
    """A mixture."""
    found: Law = {}
    for share, law in parts:
        for answer, mass in law.items():
            found[answer] = found.get(answer, Fraction(0)) + share * mass
    return found


def by_coins(table: Table, rate: Fraction, ratio: Fraction, reach: int) -> Law:
    """The noisy sum of a sample in which every record is with probability `rate`."""
    parts = []
    for size in range(len(table) + 1):
        for chosen in combinations(table, size):
            share = prod([rate] * size + [1 - rate] * (len(table) - size), start=Fraction(1))
            parts.append((share, noisy(sum(chosen), ratio, reach)))
    return mixed(parts)


def by_batch(table: Table, batch: int, ratio: Fraction, reach: int) -> Law:
    """The noisy sum of so many different records."""
    share = Fraction(1, comb(len(table), batch))
    return mixed((share, noisy(sum(chosen), ratio, reach)) for chosen in combinations(table, batch))


def rounds(law: Law, other: Law, copies: int) -> list[tuple[Fraction, Fraction]]:
    """The probabilities of all answers of so many rounds, under both laws."""
    found = [(Fraction(1), Fraction(1))]
    for _ in range(copies):
        found = [(p * law[x], q * other[x]) for p, q in found for x in law]
    return found


def curve(pairs: Iterable[tuple[Fraction, Fraction]], odds: Fraction) -> Fraction:
    """Σ(P - e^ε Q)_+ at e^ε = odds, which may be below 1."""
    return sum((max(p - odds * q, Fraction(0)) for p, q in pairs), Fraction(0))


def both(law: Law, other: Law) -> list[tuple[Fraction, Fraction]]:
    """One round."""
    return rounds(law, other, 1)
