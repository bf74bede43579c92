r"""Σ_j w_j e^{ikx_j} for k = 0, ..., N, as a product of two matrices of balls.

With k = aB + b it is Σ_j (w_j e^{iaBx_j}) e^{ibx_j}: rows for a, columns for b.  A power of e^{ix_j} is the product of
two with half its exponent: each product of complex balls may make them √2 times as wide, and so only log k of them
follow each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import acb, acb_mat, arb

from optcomp.checker.laws.law import TooMuch

_MOST = 400_000_000  # products of two numbers: about half a minute


def waves(weights: Sequence[arb], turns: Sequence[arb], last: int) -> list[acb]:
    """The sums for k = 0, ..., last, where x_j are the turns."""
    if last * len(weights) > _MOST:
        raise TooMuch
    block = math.isqrt(last) + 1
    columns = [powers(acb(0, turn).exp(), block) for turn in turns]
    rows = [
        [power * weight for power in powers(acb(0, turn * block).exp(), last // block + 1)]
        for weight, turn in zip(weights, turns, strict=True)
    ]
    product = acb_mat(rows).transpose() * acb_mat(columns)
    return list(product.entries()[: last + 1])


def powers(unit: acb, count: int) -> list[acb]:
    """1, z, z², ..., so many of them."""
    found = [acb(1), unit][:count]
    for number in range(2, count):
        half = number // 2
        found.append(found[half] * found[number - half])
    return found
