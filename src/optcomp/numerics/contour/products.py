r"""φ at long runs of nodes, as a plain product of complex factors.

    φ(θ) = e^{iθY} \prod (p_i + q_i e^{-2iθx_i})^{m_i},    p_i = e^{a_i}/(2 cosh a_i), q_i = 1 - p_i, Y = sum m_i x_i

A block of nodes is a rectangle θ = α + β, so that e^{-2iθx} is an outer product and three coins together are a matrix
product with eight inner terms.  The rows of a rectangle may be neighbours, or short runs here and there.  Every factor
is at most one in modulus and each step loses a few u, so the error is absolute: (80 count + 12 θ Y) u.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TypeVar

import numpy as np

from optcomp.numerics.blocked import CACHED, Complexes, Floats, Ints, U
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.points import reduced

_ROWS, _COLUMNS = 64, 64
"""Nodes of a block as a square: a rotation for each row and column serves all of them."""
BLOCK_NODES = _ROWS * _COLUMNS  # what one thread computes at a time
RUN_NODES = 16  # nodes of a short run: where few nodes matter, about so many of them lie side by side
_RUNS = 64  # short runs at a time: little memory, for the system's pages are dear
_TOGETHER = 3
"""64 * 64 * 2^3 multiplications, or 64 * 16 * 2^3: few enough for a BLAS to stay in the calling thread; the only
threads are ours."""
_FEW_TASKS, _FEW_RUNS = 3, 16  # so few blocks, or parts of runs, are not worth other threads
_Task = TypeVar("_Task")


def block_products(coins: Coins, c: float, step: float, blocks: Ints) -> Complexes:
    """A row of values of φ for each block: nodes BLOCK_NODES * block + 0, 1, ...; the threads do not change them."""
    work = _Rectangles(coins, c, step, _COLUMNS).block
    return np.concatenate(_by_threads(work, blocks.tolist())).reshape(blocks.size, BLOCK_NODES)


def run_products(coins: Coins, c: float, step: float, runs: Ints) -> Complexes:
    """A row of values of φ for each short run: nodes RUN_NODES * run + 0, 1, ...; threads do not change them either."""
    parts = [runs[start : start + _RUNS] for start in range(0, runs.size, _RUNS)]
    return np.concatenate(_by_threads(_Rectangles(coins, c, step, RUN_NODES).runs, parts, _FEW_RUNS))


def _by_threads(work: Callable[[_Task], Complexes], tasks: Sequence[_Task], few: int = _FEW_TASKS) -> list[Complexes]:
    """All of them, in their order."""
    if len(tasks) < few:
        return [work(task) for task in tasks]
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 16)) as pool:
        return list(pool.map(work, tasks))


def node_products(coins: Coins, c: float, theta: Floats) -> Complexes:
    """φ at a few nodes here and there, one factor after another; within `product_error` too."""
    e = np.exp(-2 * coins.x * (c + 0.5))
    low = (e / (1 + e))[:, np.newaxis]
    value = np.ones(theta.size, dtype=np.complex128)
    rows = max(CACHED // (2 * max(theta.size, 1)), 1)
    for start in range(0, coins.x.size, rows):
        part = slice(start, start + rows)
        factors = rotations(coins.x[part], theta)
        factors *= low[part]
        factors += 1 - low[part]
        for i in np.flatnonzero(coins.m[part] > 1).tolist():
            factors[i] = _power(factors[i], int(coins.m[start + i]))
        value *= np.multiply.reduce(factors, axis=0)
    angle, turns = reduced(theta * math.fsum(coins.x * coins.m))
    return np.asarray(value * (np.cos(angle) + 1j * np.sin(angle)) * (1 - 2 * np.fmod(turns, 2)))


def product_error(coins: Coins, theta: Floats) -> Floats:
    """Bound on the absolute error of each value."""
    return U * (80 * coins.count + 12 * theta * coins.total)


def rotations(x: Floats, theta: Floats) -> Complexes:
    """e^{-2iθx}, a row for each coin."""
    angle, _ = reduced(x[:, np.newaxis] * theta)
    angle *= 2
    turned = np.empty(angle.shape, dtype=np.complex128)
    np.cos(angle, out=turned.real)
    np.negative(np.sin(angle, out=angle), out=turned.imag)
    return turned


class _Rectangles:
    """What all rectangles of so many columns have in common.

    e^{iθY} is a rotation like the others; the first group of coins carries it.
    """

    def __init__(self, coins: Coins, c: float, step: float, columns: int) -> None:
        self._coins, self._step, self._size = coins, step, columns
        e = np.exp(-2 * coins.x * (c + 0.5))
        self._low = e / (1 + e)
        self._total = math.fsum(coins.x * coins.m)
        single, self._several = np.flatnonzero(coins.m == 1), np.flatnonzero(coins.m > 1)
        spare = -single.size % _TOGETHER if single.size else _TOGETHER  # coins that always land high make up the number
        self._single = np.append(single, np.zeros(spare, dtype=np.int64))
        low = self._low[self._single]
        low[low.size - spare :] = 0.0
        self._shares = low.reshape(-1, _TOGETHER)
        self._columns, self._right = self._turned(step * np.arange(columns, dtype=np.float64), None)

    def _turned(self, theta: Floats, shares: Floats | None) -> tuple[Complexes, Complexes]:
        """Rotations by some θ for every coin, and their products (times probabilities) for every subset of a group."""
        turned = rotations(self._coins.x, theta)
        patterns = _patterns(turned[self._single].reshape(-1, _TOGETHER, theta.size), shares)
        angle, turns = reduced(theta * self._total)
        patterns[0] *= (np.cos(angle) + 1j * np.sin(angle)) * (1 - 2 * np.fmod(turns, 2))
        return turned, patterns

    @cached_property
    def _rows(self) -> tuple[Complexes, Complexes]:
        """The rotations of the rows of a block from its first one."""
        turned, patterns = self._turned(self._step * (self._size * np.arange(_ROWS, dtype=np.float64)), self._shares)
        return turned, np.ascontiguousarray(patterns.transpose(0, 2, 1))

    def block(self, block: int) -> Complexes:
        """φ at the nodes of one block."""
        begin = np.array([self._step * (block * float(BLOCK_NODES))])
        (turned, patterns), (rows, left) = self._turned(begin, None), self._rows
        return self._values(rows * turned, left * patterns.transpose(0, 2, 1)).ravel()

    def runs(self, runs: Ints) -> Complexes:
        """φ at the nodes of short runs, a row for each."""
        rows, left = self._turned(self._step * (self._size * runs).astype(np.float64), self._shares)
        return self._values(rows, left.transpose(0, 2, 1))

    def _values(self, rows: Complexes, left: Complexes) -> Complexes:
        """φ at all columns of these rows."""
        value = left[0] @ self._right[0]
        scratch = np.empty_like(value)
        for few, pattern in zip(left[1:], self._right[1:], strict=True):
            np.matmul(few, pattern, out=scratch)
            value *= scratch
        for i in self._several:
            np.multiply.outer(self._low[i] * rows[i], self._columns[i], out=scratch)
            scratch += 1 - self._low[i]
            value *= _power(scratch, int(self._coins.m[i]))
        return np.asarray(value)


def _patterns(rotations: Complexes, low: Floats | None) -> Complexes:
    """For every subset of a few coins the product of its rotations (times probabilities, if given)."""
    groups, together, size = rotations.shape
    out = np.ones((groups, 1 << together, size), dtype=np.complex128)
    for i in range(together):
        known, more = out[:, : 1 << i], out[:, 1 << i : 2 << i]
        turned = rotations[:, i : i + 1]
        if low is not None:
            share = low[:, i, np.newaxis, np.newaxis]
            turned = share * turned
        np.multiply(known, turned, out=more)
        if low is not None:
            known *= 1 - share
    return out


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
