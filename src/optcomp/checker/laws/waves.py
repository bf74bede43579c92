r"""Σ_j w_j e^{ikx_j} for k = 0, ..., N, as a product of two matrices of balls.

With k = aB + b it is Σ_j (w_j e^{iaBx_j}) e^{ibx_j}: rows for a, columns for b.  A power of e^{ix_j} is the product of
two with half its exponent: each product of complex balls may make them √2 times as wide, and so only log k of them
follow each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import acb, acb_mat, arb

from optcomp.checker.effort import look, looked
from optcomp.checker.laws.law import TooMuch

_MOST = 400_000_000  # products of two numbers: about half a minute
_AT_ONCE = 2_000_000  # in one product of matrices: a fraction of a second


def waves(weights: Sequence[arb], turns: Sequence[arb], last: int) -> list[acb]:
    """The sums for k = 0, ..., last, where x_j are the turns."""
    if last * len(weights) > _MOST:
        raise TooMuch
    block = math.isqrt(last) + 1
    columns = acb_mat([powers(acb(0, turn).exp(), block) for turn in looked(turns)])
    rows = [
        [power * weight for power in powers(acb(0, turn * block).exp(), last // block + 1)]
        for weight, turn in looked(zip(weights, turns, strict=True))
    ]
    height, found = max(1, _AT_ONCE // (block * (len(rows) or 1))), list[acb]()
    for first in range(0, last // block + 1, height):
        look()
        found += (acb_mat([row[first : first + height] for row in rows]).transpose() * columns).entries()
    return found[: last + 1]


def powers(unit: acb, count: int) -> list[acb]:
    """1, z, z², ..., so many of them."""
    found = [acb(1), unit][:count]
    for number in range(2, count):
        half = number // 2
        found.append(found[half] * found[number - half])
    return found
