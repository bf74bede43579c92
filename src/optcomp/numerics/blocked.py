"""Sums of many non-negative floats with an a-priori error that does not grow with their number.

u = 2^-53 is the unit round-off.  A sum of n floats in any order is within (n-1)u of the truth relative to the sum of
absolute values (first order; every bound below is used with a factor 1.01 to cover the higher orders).  Summing in
blocks of B, then the block totals in blocks, and so on, replaces n by B per level.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

U = 2.0**-53
BLOCK = 32
LIBM = 8.0
"""Assumed: numpy's exp, log, log1p, tanh and math.exp are within this many u of the truth; tests check it."""


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
