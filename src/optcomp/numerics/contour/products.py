r"""φ at long runs of nodes, as a plain product of complex factors.

    φ(θ) = e^{iθY} \prod (p_i + q_i e^{-2iθx_i})^{m_i},    p_i = e^{a_i}/(2 cosh a_i), q_i = 1 - p_i, Y = sum m_i x_i

A block of nodes is a rectangle θ = α + β, so that e^{-2iθx} is an outer product and three coins together are a matrix
product with eight inner terms.  Every factor is at most one in modulus and each step loses a few u, so the error is
absolute: (60 count + 12 θ Y) u.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from optcomp.numerics.blocked import Complexes, Floats, Ints, U
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.points import reduced

_ROWS, _COLUMNS = 64, 64
"""Nodes of a block as a square: a rotation for each row and column serves all of them."""
BLOCK_NODES = _ROWS * _COLUMNS  # what one thread computes at a time
_TOGETHER = 3
"""64 * 64 * 2^3 multiplications: few enough for a BLAS to stay in the calling thread; the only threads are ours."""


def block_products(coins: Coins, c: float, step: float, blocks: Ints) -> Complexes:
    """A row of values of φ for each block: nodes BLOCK_NODES * block + 0, 1, ...; the threads do not change them."""
    columns = _rotations(coins.x, step * np.arange(_COLUMNS, dtype=np.float64))
    work = partial(_block, coins, c, step, columns, math.fsum(coins.x * coins.m))
    if blocks.size < 3:
        return np.array([work(int(block)) for block in blocks]).reshape(blocks.size, BLOCK_NODES)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 16)) as pool:
        return np.array(list(pool.map(work, blocks.tolist())))


def product_error(coins: Coins, theta: Floats) -> Floats:
    """Bound on the absolute error of each value."""
    return U * (60 * coins.count + 12 * theta * coins.total)


def _rotations(x: Floats, theta: Floats) -> Complexes:
    """e^{-2iθx}, a row for each coin."""
    angle, _ = reduced(x[:, np.newaxis] * theta)
    angle *= 2
    return np.cos(angle) - 1j * np.sin(angle)


def _block(coins: Coins, c: float, step: float, columns: Complexes, total: float, block: int) -> Complexes:
    starts = step * (block * float(BLOCK_NODES) + _COLUMNS * np.arange(_ROWS, dtype=np.float64))
    rows = _rotations(coins.x, starts)
    e = np.exp(-2 * coins.x * (c + 0.5))
    low = e / (1 + e)
    value = np.ones((_ROWS, _COLUMNS), dtype=np.complex128)
    scratch = np.empty_like(value)
    single = np.flatnonzero(coins.m == 1)
    for start in range(0, single.size, _TOGETHER):
        few = single[start : start + _TOGETHER]
        np.matmul(_patterns(rows[few], low[few]), _patterns(columns[few], None), out=scratch)
        value *= scratch
    for i in np.flatnonzero(coins.m > 1):
        np.multiply.outer(low[i] * rows[i], columns[i], out=scratch)
        scratch += 1 - low[i]
        value *= _power(scratch, int(coins.m[i]))
    theta = starts[:, np.newaxis] + step * np.arange(_COLUMNS)
    angle, turns = reduced(theta * total)
    sign = 1 - 2 * np.fmod(turns, 2)
    return np.asarray((value * (np.cos(angle) + 1j * np.sin(angle)) * sign).ravel())


def _patterns(rotations: Complexes, low: Floats | None) -> Complexes:
    """For every subset of the coins the product of its rotations (times probabilities, if given)."""
    out = np.ones((1, rotations.shape[1]), dtype=np.complex128)
    for i, rotation in enumerate(rotations):
        if low is None:
            out = np.concatenate((out, out * rotation))
        else:
            out = np.concatenate((out * (1 - low[i]), out * (low[i] * rotation)))
    return out if low is None else out.T


def _power(base: Complexes, exponent: int) -> Complexes:
    result = None
    while True:
        if exponent & 1:
            result = base.copy() if result is None else result * base
        exponent >>= 1
        if not exponent:
            assert result is not None
            return result
        base = base * base
