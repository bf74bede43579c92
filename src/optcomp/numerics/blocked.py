r"""Sums of many floats: of non-negative ones with an a-priori error that hardly grows with their number, or exactly.

u = 2^-53 is the unit round-off.  A sum of n floats in any order is within (n-1)u of the truth relative to the sum of
absolute values (first order; every bound below is used with a factor 1.01 to cover the higher orders).  Summing in
blocks of B, then the block totals in blocks, and so on, replaces n by B per level; folding the terms in two again and
again costs one rounding per level.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Complexes = npt.NDArray[np.complex128]
"""The kinds of arrays that claims are made from."""

CACHED = 1 << 17  # values at a time: a megabyte, which stays in the cache
U = 2.0**-53  # the unit round-off of a float
MOST_COUNTED = 2**53  # up to here every whole number is a float
BLOCK = 32  # a sum of so many loses no more than 32u, and numpy adds rows of them quickly
_PIECE = 1 << 15  # values that are summed exactly at a time: three arrays of them fit into the cache
LIBM = 8.0
"""Assumed: the functions listed in docs/engine.md, section 7, are within this many u of the truth; tests check it."""


def sum_error(n: int) -> float:
    """Relative error bound of `blocked_sum`, `prefix_sums` and `suffix_sums` for n non-negative terms."""
    rounds = min(n, BLOCK)
    while n > BLOCK:
        n = -(-n // BLOCK)
        rounds += min(n, BLOCK)
    return 1.01 * U * rounds


def blocked_sum(terms: Floats) -> float:
    """The sum, within `sum_error`."""
    while terms.size > BLOCK:
        terms = _rows(terms).sum(axis=1)
    return float(terms.sum())


def fold_error(n: int) -> float:
    """Relative error bound of `folded_sum` for n non-negative terms: one rounding for each of log2(n) levels."""
    return 1.01 * U * (n - 1).bit_length()


def folded_sum(terms: Floats) -> float:
    """The sum, within `fold_error`: slower than `blocked_sum` for short arrays, and the tightest for long ones."""
    if not terms.size:
        return 0.0
    while terms.size > 1:
        half = (terms.size + 1) // 2
        folded = terms[:half].copy()
        folded[: terms.size - half] += terms[half:]
        terms = folded
    return float(terms[0])


MOST_EXACT_COPIES, MOST_EXACT_SIZE = 2**40, 2.0**900
"""What `exact_sum` takes at most: every round then settles at least 11 more bits, and nothing overflows."""


def exact_sum(values: Floats, counts: Floats) -> Fraction:
    r"""\sum counts * values without any rounding, for whole counts of at most `MOST_EXACT_COPIES` copies together."""
    copies = float(counts.sum())
    if not copies <= MOST_EXACT_COPIES:
        raise ArithmeticError(f"too many copies for an exact sum: {copies:g}")
    pieces = (slice(start, start + _PIECE) for start in range(0, values.size, _PIECE))
    return sum((_exact_piece(values[piece], counts[piece]) for piece in pieces), Fraction(0))


def _exact_piece(values: Floats, counts: Floats) -> Fraction:
    r"""The same for an array that fits into the cache.

    With N copies let s be a power of two, s >= 2N max|v|, and g = 2^-53 s.  The part h = (v + s) - s of v is a multiple
    of g (or of the least float, if that is larger) within g of v, and v - h is the rounding error of v + s, which is a
    float because s > |v|: both are exact.  \sum counts |h| <= N (max|v| + g) <= s = 2^53 g, so every product and every
    partial sum of the h, in whatever order, is a multiple of g of at most 2^53 g, hence a float.  What is left of the
    v, at most g <= 2^-11 max|v| each, goes through the same.
    """
    total, copies, rest = Fraction(0), int(counts.sum()), values
    while largest := max(float(rest.max()), -float(rest.min())):
        if not largest <= MOST_EXACT_SIZE:
            raise ArithmeticError(f"too large for an exact sum: {largest}")
        scale = math.ldexp(1.0, math.frexp(largest)[1] + copies.bit_length() + 1)
        part = rest + scale
        part -= scale
        rest = rest - part
        part *= counts
        total += Fraction(float(part.sum()))
    return total


def suffix_sums(terms: Floats) -> Floats:
    """out[i] = terms[i] + terms[i+1] + ..., each within `sum_error`."""
    return prefix_sums(terms[::-1])[::-1]


def prefix_sums(terms: Floats) -> Floats:
    """out[i] = terms[0] + ... + terms[i], each within `sum_error`."""
    if terms.size <= BLOCK:
        return np.cumsum(terms)
    inner = np.cumsum(_rows(terms), axis=1)
    inner[1:] += prefix_sums(inner[:-1, -1])[:, np.newaxis]
    return inner.ravel()[: terms.size]


def _rows(terms: Floats) -> Floats:
    rows = -(-terms.size // BLOCK)
    if rows * BLOCK == terms.size:
        return np.ascontiguousarray(terms).reshape(rows, BLOCK)
    padded = np.zeros(rows * BLOCK)
    padded[: terms.size] = terms
    return padded.reshape(rows, BLOCK)
