r"""Most nodes of an integral in doubles, every rounding counted (see `rotations.py`).

At a node φ is a product of factors of count 16, one for each coin, so the product over m coins is off by at most
(1+U)^{19m} - 1.  `weights.py` adds them up for the smoothed integral, with a count of 120 more; the Fourier sum of a
lattice has fewer nodes, and is added up in balls.  So what nodes side by side are off by together is at most
(1+U)^{19m+120} - 1 times what they could add if |φ| were 1.  Doubles serve from the node on where that is small.

A partial product that is small enough leaves a node out, because all other factors are at most 1.  One node in each
block is compared with balls: should this machine's doubles not add as assumed, it would be seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from flint import acb, arb

from optcomp.checker.balls import near
from optcomp.checker.effort import look, looked
from optcomp.checker.grid import Grid, Left
from optcomp.checker.guess import Floats
from optcomp.checker.instance import Tell
from optcomp.checker.kernels import Kernel, Smoothed, WithDensity
from optcomp.checker.line import Line
from optcomp.checker.rotations import FACTOR, PRODUCT, Pair, Turns, off, outer, power, rounded, single, times
from optcomp.checker.weights import BLOCK, EXTRA, FAR, Weights

_FEWEST = 256
"""Fewer nodes are as quick in balls."""
_SHARE = 0.25
"""Rounding may be this share of what may be neglected; nodes nearer to zero are evaluated in balls."""
_MOST = 1 << 22
"""Nodes with one set of tables, which then take some ten megabytes."""
_LOOK = 6
"""Coins between two looks at which nodes are small."""
_SPARSE = 0.35
"""A block with a smaller share of open nodes is taken apart."""
_DENSE_SECONDS, _SINGLE_SECONDS, _TABLE_SECONDS, _BALL_SECONDS = 8e-9, 3e-8, 2e-4, 1e-5
"""For a node and a coin, in a block or alone, for the table of a coin, and for a node's weight in balls."""


class Totals(NamedTuple):
    """What the nodes add up to for each y, and a bound on what is missing."""

    excess: list[arb]
    density: list[arb]
    missing: WithDensity


def begin(line: Line, kernel: Kernel) -> int | None:
    """The first node from which on doubles are good enough; None if balls have to do all."""
    if not line.factors or kernel.last < _FEWEST or not near(kernel.step * kernel.last) < FAR:
        return None
    error, low, high = off(_count(line)), 1, kernel.last
    while low < high:
        middle = (low + high) // 2
        most = kernel.stretch(kernel.step * middle, kernel.last + 1 - middle)
        if near(error * (most.excess + most.density * kernel.loss)) <= _SHARE * kernel.tolerance:
            high = middle
        else:
            low = middle + 1
    return low if kernel.last - low >= _FEWEST else None


def _count(line: Line) -> int:
    return (FACTOR + PRODUCT) * sum(copies for _, _, copies in line.factors) + EXTRA


def swept(line: Line, kernel: Kernel, first: int, budget: float, tell: Tell) -> Totals | None:
    """The sums over all nodes from `first` to the last; None if they need more work than the budget."""
    found = Totals([arb(0) for _ in kernel.ys], [arb(0) for _ in kernel.ys], WithDensity(arb(0), arb(0)))
    if line.work + _DENSE_SECONDS * min(_LOOK, len(line.factors)) * (kernel.last - first) > budget:
        return None
    for start in range(first, kernel.last + 1, _MOST):
        grid = Grid.of(kernel.step, start, min(start + _MOST - 1, kernel.last))
        sweep = Sweep(line, kernel, grid)
        for rows in looked(grid.blocks(BLOCK)):
            found = sweep.add(found, rows)
            if line.work > budget:
                return None
            tell("verifying", (start + rows.stop * grid.length) / kernel.last)
    return found


class Sweep:
    """The nodes of a grid."""

    def __init__(self, line: Line, kernel: Kernel, grid: Grid) -> None:
        self._line, self._kernel, self._grid = line, kernel, grid
        self._order = sorted(line.factors, key=lambda factor: factor[2] * math.log((1 + abs(near(factor[1]))) / 2))
        self._tables: list[Turns] = []
        self._weights = Weights(kernel, grid) if isinstance(kernel, Smoothed) else None
        self._error = off(_count(line))

    def _table(self, number: int) -> Turns:
        """Coins in the order in which they are likely to make φ small; tables are made when they are needed."""
        while len(self._tables) <= number:
            look()
            size, tanh, _ = self._order[len(self._tables)]
            self._tables.append(self._grid.turns(size, rounded(tanh)))
            self._line.work += _TABLE_SECONDS
        return self._tables[number]

    def add(self, found: Totals, rows: slice) -> Totals:
        """The totals with those of a block."""
        kernel, grid = self._kernel, self._grid
        node = grid.first + rows.start * grid.length
        theta, count = kernel.step * node, min((rows.stop - rows.start) * grid.length, grid.last + 1 - node)
        limit = min(kernel.limit(near(theta)), 1.0)
        left = self._left(rows, limit) if limit < 1 else None
        if left is not None and left.rows.size:
            self._compare(left)
            for place, (excess, density) in enumerate(self._sums(left, rows)):
                found.excess[place] += excess
                found.density[place] += density
        share = limit * (1 + self._error) + self._error
        return found._replace(missing=found.missing.more(kernel.stretch(theta, count), share))

    def _sums(self, left: Left, rows: slice) -> Sequence[tuple[arb, arb]]:
        if self._weights is not None:
            return self._weights.sums(left, rows)
        found = [(arb(0), arb(0)) for _ in self._kernel.ys]
        for node, real, imaginary in looked(zip(self._grid.numbers(left).tolist(), *left.phi, strict=True)):
            phi = acb(float(real), float(imaginary))
            values = self._kernel.values(self._kernel.step * node)
            found = [
                (total + (phi * excess).real, flat + (phi * density).real)
                for (total, flat), (excess, density) in zip(found, values, strict=True)
            ]
        self._line.work += _BALL_SECONDS * left.rows.size * len(found)
        return found

    def _left(self, rows: slice, limit: float) -> Left:
        """φ at those nodes of a block at which it is not below the limit; at all others it is."""
        shape = rows.stop - rows.start, self._grid.length
        phi = Pair(np.ones(shape), np.zeros(shape))
        for number, (_, _, copies) in enumerate(self._order, 1):
            phi = times(phi, power(outer(self._table(number - 1), rows), copies))
            self._line.work += _DENSE_SECONDS * phi.real.size
            if number % _LOOK == 0:
                left = _above(phi, rows.start, limit)
                if left.rows.size < _SPARSE * phi.real.size:
                    return self._alone(left, number, limit)
        return self._grid.inside(_above(phi, rows.start, limit))

    def _alone(self, left: Left, done: int, limit: float) -> Left:
        """The same for single nodes, after some coins."""
        left = self._grid.inside(left)
        for number, (_, _, copies) in enumerate(self._order[done:], done + 1):
            if not left.rows.size:
                break
            factor = power(single(self._table(number - 1), left.rows, left.columns), copies)
            left = left._replace(phi=times(left.phi, factor))
            self._line.work += _SINGLE_SECONDS * left.rows.size
            if number % _LOOK == 0:
                left = _still_above(left, limit)
        return _still_above(left, limit)

    def _compare(self, left: Left) -> None:
        """One node of the block in balls."""
        place = left.rows.size // 2
        theta = self._kernel.step * int(self._grid.numbers(left)[place])
        value = acb(float(left.phi.real[place]), float(left.phi.imaginary[place]))
        if not (self._line.phi(theta) - value).abs_lower() <= self._error:
            raise ArithmeticError("doubles are not added and multiplied as IEEE 754 says")


def _square(phi: Pair) -> Floats:
    """|φ|²."""
    return phi.real * phi.real + phi.imaginary * phi.imaginary


def _above(phi: Pair, start: int, limit: float) -> Left:
    """Those nodes of a block, whose first row is number `start`, at which |φ| is not below the limit."""
    rows, columns = np.nonzero(~(_square(phi) <= limit * limit))
    return Left(rows + start, columns, Pair(phi.real[rows, columns], phi.imaginary[rows, columns]))


def _still_above(left: Left, limit: float) -> Left:
    above = ~(_square(left.phi) <= limit * limit)
    return Left(left.rows[above], left.columns[above], Pair(left.phi.real[above], left.phi.imaginary[above]))
