r"""Most nodes of the smoothed integral in doubles, every rounding counted (see `rotations.py`).

Node number first + La + b is the place (a, b) of a grid with rows of L nodes; θ = α_a + β_b.  There φ is a product of
factors of count 16, one for each coin, so the product over m coins is off by at most (1+U)^{19m} - 1.  Weights:

    e^{-uθ²/2} = e^{-uα²/2} e^{-uβ²/2} ∏ e^{-uαΔ2^j}   over the binary digits j of b: at most 14 entries, each of which
                 is off by at most 2U relatively, and 13 products;
    1/(s(s+1)) = (D_r - iD_i)/(|s|²|s+1|²),  D_r = c(c+1) - θ², D_i = (2c+1)θ:  |s||s+1| >= |c(c+1)| + θ² >= θ², so the
                 numerator is off by at most 12U|s||s+1|, the denominator by at most 12U relatively;
    e^{iθp}      19 more, as for a coin with κ = 1.

Sums of at most 2^13 numbers are made in pairs: 13 roundings each.  All this is less than (1+U)^{19m+120} - 1, in units
of e^{-uθ²/2}/θ² (for the density, of e^{-uθ²/2}), whose least value is far above 2^-1022.

A partial product that is small enough leaves a node out, because all other factors are at most 1.  One node in each
block is compared with balls: should this machine's doubles not add as assumed, it would be seen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from flint import acb, arb

from optcomp.checker.balls import GUESS_BITS, near, working
from optcomp.checker.guess import Floats
from optcomp.checker.instance import Tell
from optcomp.checker.kernels import Kernel, Smoothed, WithDensity
from optcomp.checker.line import Line
from optcomp.checker.rotations import (
    FACTOR,
    PRODUCT,
    Pair,
    Places,
    Turns,
    off,
    outer,
    power,
    rotations,
    rounded,
    rounded_closely,
    scaled,
    single,
    times,
)

EXTRA = 120
"""What weights and sums add to the count of φ."""
_FEWEST = 256
"""Fewer nodes are as quick in balls."""
_SHARE = 0.1
"""Rounding may be this share of what may be neglected at a node; nearer to zero nodes are evaluated in balls."""
_BLOCK = 1 << 13
"""Nodes at once: a few arrays of so many doubles stay in a processor's cache."""
_MOST = 1 << 22
"""Nodes with one set of tables, which then take some ten megabytes; a power of two, so that whole rows fill it."""
_SHORTEST, _LONGEST = 1 << 8, 1 << 12
"""Nodes in a row, a power of two."""
_LOOK = 6
"""Coins between two looks at which nodes are small."""
_SPARSE = 0.35
"""A block with a smaller share of open nodes is taken apart."""
_TINY, _FAR = 1e-200, 1e20
"""Weights above and θ below keep all numbers that matter far above 2^-1022."""
_DENSE_SECONDS, _SINGLE_SECONDS, _TABLE_SECONDS = 8e-9, 3e-8, 2e-4
"""For a node and a coin, in a block or alone, and for the table of a coin."""


class Left(NamedTuple):
    """Nodes of a block that are not proved small, with φ, or its product over some coins."""

    rows: Places
    columns: Places
    phi: Pair


class Totals(NamedTuple):
    """What the nodes add up to for each y, and a bound on what is missing."""

    excess: list[arb]
    density: list[arb]
    missing: WithDensity


def begin(line: Line, kernel: Kernel) -> int | None:
    """The first node from which on doubles are good enough; None if balls have to do all."""
    if not isinstance(kernel, Smoothed) or not line.factors or kernel.last < _FEWEST:
        return None
    error, step, c = near(off(_count(line))), near(kernel.step), near(kernel.c)
    if not (arb(step) == kernel.step and arb(c) == kernel.c and step * kernel.last < _FAR):
        return None
    low, high = 1, kernel.last  # the limit grows with θ
    while low < high:
        middle = (low + high) // 2
        if error <= _SHARE * kernel.limit(middle * step):
            high = middle
        else:
            low = middle + 1
    return low if kernel.last - low >= _FEWEST else None


def _count(line: Line) -> int:
    return (FACTOR + PRODUCT) * sum(copies for _, _, copies in line.factors) + EXTRA


def swept(line: Line, kernel: Smoothed, first: int, budget: float, tell: Tell) -> Totals | None:
    """The sums over all nodes from `first` to the last; None if they need more work than the budget."""
    found = Totals([arb(0) for _ in kernel.ys], [arb(0) for _ in kernel.ys], WithDensity(arb(0), arb(0)))
    if line.work + _DENSE_SECONDS * min(_LOOK, len(line.factors)) * (kernel.last - first) > budget:
        return None
    for start in range(first, kernel.last + 1, _MOST):
        sweep = Sweep(line, kernel, start, min(start + _MOST - 1, kernel.last))
        for rows in sweep.blocks:
            found = sweep.add(found, rows)
            if line.work > budget:
                return None
            tell("verifying", (start + rows.stop * sweep.length) / kernel.last)
    return found


class Sweep:
    """The nodes from `first` to `last`, and what is missing to a full row after them."""

    def __init__(self, line: Line, kernel: Smoothed, first: int, last: int) -> None:
        self._line, self._kernel, self._first = line, kernel, first
        nodes = last - first + 1
        self.length = min(max(1 << (math.isqrt(nodes).bit_length() - 1), _SHORTEST), _LONGEST)
        """Nodes in a row."""
        self._rows = -(-nodes // self.length)
        self._order = sorted(line.factors, key=lambda factor: factor[2] * math.log((1 + abs(near(factor[1]))) / 2))
        self._tables: list[Turns] = []
        self._places = [self._turns(place, 1.0) for place in kernel.places]
        self._falls = np.array([self._fall(self._kernel.step * number) for number in range(self.length)])
        self._error = off(_count(line))

    def _turns(self, size: arb, kappa: float) -> Turns:
        """The table of one coin, or of one y."""
        step, wide = self._kernel.step, self._kernel.step * self.length
        with working(GUESS_BITS + 20 + max(0, int(math.log2(1 + abs(near(step * self._kernel.last * size)))))):
            rows = rotations(step * self._first * size, wide * size, self._rows)
            columns = rotations(arb(0), step * size, self.length)
        self._line.work += _TABLE_SECONDS
        return Turns(rows, scaled(rows, kappa), columns)

    def _table(self, number: int) -> Turns:
        """Coins in the order in which they are likely to make φ small; tables are made when they are needed."""
        while len(self._tables) <= number:
            size, tanh, _ = self._order[len(self._tables)]
            self._tables.append(self._turns(size, rounded(tanh)))
        return self._tables[number]

    def _fall(self, theta: arb) -> float:
        return rounded_closely((self._kernel.decay * theta * theta).exp())

    @property
    def blocks(self) -> list[slice]:
        """The rows, a few at a time."""
        height = _BLOCK // self.length
        return [slice(start, min(start + height, self._rows)) for start in range(0, self._rows, height)]

    def add(self, found: Totals, rows: slice) -> Totals:
        """The totals with those of a block."""
        kernel, node = self._kernel, self._first + rows.start * self.length
        theta, count = kernel.step * node, (rows.stop - rows.start) * self.length
        limit = min(kernel.limit(near(theta)), 1.0)
        left = self._left(rows, limit) if limit < 1 else None
        if left is not None and left.rows.size:
            self._compare(left)
            for place, (excess, density) in enumerate(self._sums(left, rows)):
                found.excess[place] += excess * kernel.share
                found.density[place] += density * kernel.share
        return found._replace(
            missing=found.missing.more(kernel.stretch(theta, count), limit * (1 + self._error) + self._error)
        )

    def _left(self, rows: slice, limit: float) -> Left:
        """φ at those nodes of a block at which it is not below the limit; at all others it is."""
        phi = Pair(np.ones((rows.stop - rows.start, self.length)), np.zeros((rows.stop - rows.start, self.length)))
        for number, (_, _, copies) in enumerate(self._order, 1):
            phi = times(phi, power(outer(self._table(number - 1), rows), copies))
            self._line.work += _DENSE_SECONDS * phi.real.size
            if number % _LOOK == 0:
                left = _above(phi, rows.start, limit)
                if left.rows.size < _SPARSE * phi.real.size:
                    return self._alone(left, number, limit)
        return _above(phi, rows.start, limit)

    def _alone(self, left: Left, done: int, limit: float) -> Left:
        """The same for single nodes, after some coins."""
        for number, (_, _, copies) in enumerate(self._order[done:], done + 1):
            if not left.rows.size:
                break
            factor = power(single(self._table(number - 1), left.rows, left.columns), copies)
            left = left._replace(phi=times(left.phi, factor))
            self._line.work += _SINGLE_SECONDS * left.rows.size
            if number % _LOOK == 0:
                left = _still_above(left, limit)
        return _still_above(left, limit)

    def _sums(self, left: Left, rows: slice) -> list[tuple[arb, arb]]:
        """Excess and density for each y, without the factor Δ/π."""
        c, numbers = near(self._kernel.c), self._first + left.rows * self.length + left.columns
        theta = near(self._kernel.step) * numbers.astype(np.float64)
        square = theta * theta
        size = self._weights(rows)[left.rows - rows.start, left.columns]
        small = size / ((c * c + square) * ((c + 1) * (c + 1) + square))
        real, imaginary = c * (c + 1) - square, (2 * c + 1) * theta
        found = []
        for turns in self._places:
            wave = times(left.phi, single(turns, left.rows, left.columns))
            excess = (wave.real * real + wave.imaginary * imaginary) * small
            found.append((_total(excess), _total(wave.real * size)))
        return found

    def _weights(self, rows: slice) -> Floats:
        """e^{-uθ²/2} at the nodes of a block."""
        kernel, length = self._kernel, self.length
        starts = [kernel.step * (self._first + length * row) for row in range(rows.start, rows.stop)]
        found = np.empty((len(starts), length))
        found[:, 0] = [self._fall(start) for start in starts]
        filled = 1
        while filled < length:
            rates = [rounded_closely((2 * kernel.decay * start * kernel.step * filled).exp()) for start in starts]
            found[:, filled : 2 * filled] = found[:, :filled] * np.array(rates)[:, None]
            filled *= 2
        found *= self._falls
        if not found.min() > _TINY:
            raise ArithmeticError("a weight is too small for doubles")
        return found

    def _compare(self, left: Left) -> None:
        """One node of the block in balls."""
        place = left.rows.size // 2
        theta = self._kernel.step * int(self._first + left.rows[place] * self.length + left.columns[place])
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


def _total(values: Floats) -> arb:
    """The sum, in pairs: every number is added at most 13 times."""
    while values.size > 1:
        half = values.size // 2
        pairs = values[:half] + values[half : 2 * half]
        if values.size % 2:
            pairs = np.append(pairs, values[-1])
        values = pairs
    return arb(float(values[0]))
