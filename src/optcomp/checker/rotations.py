r"""Cosines and sines in doubles, for many nodes from few balls, with errors that are counted.

Of doubles one thing is assumed: +, -, × and ÷ are off by at most U = 2^-52 relatively, or 2^-1022 absolutely where
numbers get that small.  IEEE 754 promises it in each of its rounding modes, and also where tiny numbers become zero.

*Counts.*  A computed number ẑ for a z of modulus at most 1 "has count n" if |ẑ - z| <= (1+U)^n - 1.  Rules, for complex
numbers as pairs of reals:

    an entry rounded from a ball of radius 2^-60              1      (each part is off by U/2 + 2^-60 at most)
    the product of two, of counts n and m                     n + m + 3
    cos(α+β)x + iκ sin(α+β)x from entries of count 5          16

*Product.*  Real and imaginary part are off by at most (2U + U²)|ẑ||ŵ| each, together by less than 2.83 U|ẑ||ŵ|; with
|ẑ| <= (1+U)^n and |ŵ| <= (1+U)^m this and |ẑŵ - zw| <= (1+U)^{n+m} - 1 stay below (1+U)^{n+m}(1+3U) - 1, and leave
.17 U for numbers below 2^-1022.  *Factor.*  r̂ and ŝ, the rotations by αx and βx, have count 5, so their exact product
is within (1+U)^10 - 1 < 10.1 U.  Its real part is made with two roundings, its imaginary part with three, because the
row holds κ̂ times it, and κ̂ is within U: 10.1 U + 1.1 U + √2 · 3.1 U < 16 U.

So a product of any factors, in any order, has 19 times their number as a count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from optcomp.checker.balls import TABLE_BITS
from optcomp.checker.guess import Floats

ROUNDING = 2.0**-52
"""U."""
ENTRY, PRODUCT = 1, 3
"""Counts of an entry, and of what a product adds: 2.83 U, rounded up."""
TURN = 2 * ENTRY + PRODUCT
"""The count of a rotation in a table."""
FACTOR = 16
"""The count of a coin's factor at a node."""
_RADIUS = arb(2) ** -60
"""The most that a ball may be wide when it becomes an entry."""


Places = npt.NDArray[np.intp]


class Pair(NamedTuple):
    """Real and imaginary parts."""

    real: Floats
    imaginary: Floats


class Turns(NamedTuple):
    """Rotations by θx for the rows of a grid, and for its columns; `rising` are the rows times κ."""

    rows: Pair
    rising: Pair
    columns: Pair


def off(count: int) -> arb:
    """More than (1+U)^count - 1."""
    return (arb(count) * arb(ROUNDING)).expm1()


def times(left: Pair, right: Pair) -> Pair:
    """The product."""
    (a, b), (c, d) = left, right
    real, imaginary = a * c, a * d
    real -= b * d
    imaginary += b * c
    return Pair(real, imaginary)


def power(base: Pair, exponent: int) -> Pair:
    """Products of `exponent` equal factors, which is 1 or more."""
    found: Pair | None = None
    while exponent:
        if exponent & 1:
            found = base if found is None else times(found, base)
        exponent >>= 1
        if exponent:
            base = times(base, base)
    assert found is not None
    return found


def rounded(value: arb) -> float:
    """A double within U/2 + 2^-60 of a number between -1 and 1; refuses a ball that is too wide for that."""
    if not value.rad() <= _RADIUS:
        raise ArithmeticError("a ball is too wide to be rounded")
    return float(value)


def rounded_closely(value: arb) -> float:
    """A double within 2U of a positive number, relatively."""
    if not value.rel_accuracy_bits() >= TABLE_BITS:
        raise ArithmeticError("a ball is too wide to be rounded")
    return float(value)


def rotations(start: arb, step: arb, count: int) -> Pair:
    """e^{ia} for a = start, start + step, ...: each the product of one of few coarse and one of few fine ones."""
    inner = math.isqrt(count - 1) + 1
    coarse = _entries([start + step * (number * inner) for number in range(-(-count // inner))])
    fine = _entries([step * number for number in range(inner)])
    real, imaginary = times(Pair(*(part[:, None] for part in coarse)), fine)
    return Pair(real.ravel()[:count], imaginary.ravel()[:count])


def _entries(angles: Sequence[arb]) -> Pair:
    pairs = [angle.sin_cos() for angle in angles]
    return Pair(
        np.array([rounded(cosine) for _, cosine in pairs]),
        np.array([rounded(sine) for sine, _ in pairs]),
    )


def scaled(pair: Pair, kappa: float) -> Pair:
    """κ times both parts."""
    return Pair(kappa * pair.real, kappa * pair.imaginary)


def outer(turns: Turns, rows: slice) -> Pair:
    """cos θx + iκ sin θx at every node of these rows."""
    cosine, sine = turns.columns
    real, imaginary = turns.rows.real[rows, None] * cosine, turns.rising.imaginary[rows, None] * cosine
    real -= turns.rows.imaginary[rows, None] * sine
    imaginary += turns.rising.real[rows, None] * sine
    return Pair(real, imaginary)


def single(turns: Turns, rows: Places, columns: Places) -> Pair:
    """The same at some nodes, given by their rows and columns."""
    cosine, sine = turns.columns.real[columns], turns.columns.imaginary[columns]
    real, imaginary = turns.rows.real[rows] * cosine, turns.rising.imaginary[rows] * cosine
    real -= turns.rows.imaginary[rows] * sine
    imaginary += turns.rising.real[rows] * sine
    return Pair(real, imaginary)
