r"""Sizes on a lattice: exactly, or between two lattices.

RR(ε) is a post-processing of RR(ε') for ε <= ε', so F grows with every ε_i.  If a_i u <= ε_i <= a_i u' for whole a_i, F
lies between the F of the sizes a_i u and that of the sizes a_i u'.  Floats that stand for decimals, such as 0.1, 0.2
and 0.3, are multiples of one unit only up to rounding: u and u' then differ by about one part in 2^52.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from optcomp.checker.effort import look, looked
from optcomp.checker.instance import Coin, Instance

_LARGEST = 1_000_000  # multiples of a unit beyond this make too long a Fourier sum
_CLOSE = Fraction(1, 10**13)  # relative: a decimal as a float is within 1e-16 of itself
_DECIMALS = 7  # of a unit that people write
_TYPES = 5000  # sizes beyond this are no decimals that somebody wrote


@dataclass(frozen=True)
class Lattice:
    """The two instances between which F lies, with the spans of their lattices; one object if they are the same."""

    low: Instance
    low_span: Fraction
    high: Instance
    high_span: Fraction


def lattice(instance: Instance) -> Lattice | None:
    """A lattice with few points below the largest size, if there is one."""
    if len(instance.coins) > _TYPES:
        return None
    sizes = [Fraction(coin.size) for coin in instance.coins]
    multiples = _exactly(sizes) or _nearly(sizes)
    if multiples is None:
        return None
    units = [size / multiple for size, multiple in zip(sizes, multiples, strict=True)]
    least, most = min(units), max(units)
    low = _on(instance, multiples, least)
    return Lattice(low, 2 * least, low if least == most else _on(instance, multiples, most), 2 * most)


def _on(instance: Instance, multiples: list[int], unit: Fraction) -> Instance:
    coins = (Coin(unit * a, coin.copies) for a, coin in zip(multiples, instance.coins, strict=True))
    return Instance(tuple(coins), instance.leaks)


def _exactly(sizes: list[Fraction]) -> list[int] | None:
    """The sizes as multiples of their greatest common divisor."""
    unit = sizes[0]
    for size in looked(sizes[1:]):
        unit = Fraction(
            math.gcd(unit.numerator * size.denominator, size.numerator * unit.denominator),
            unit.denominator * size.denominator,
        )
        if sizes[-1] > _LARGEST * unit:
            return None
    return [int(size / unit) for size in sizes]


def _nearly(sizes: list[Fraction]) -> list[int] | None:
    """The sizes as multiples of a decimal unit, each within rounding."""
    for places in range(_DECIMALS + 1):
        look()
        scaled = [size * 10**places for size in sizes]
        whole = [round(size) for size in scaled]
        if all(a and abs(size - a) <= _CLOSE * a for size, a in zip(scaled, whole, strict=True)):
            divisor = math.gcd(*whole)
            return [a // divisor for a in whole]
    return None
