"""Neighbouring nodes in rows: number first + La + b is at (a, b), so tables of rows and of columns serve all."""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import arb

from optcomp.checker.balls import GUESS_BITS, near, working
from optcomp.checker.rotations import Pair, Places, Turns, rotations, scaled

_SHORTEST, LONGEST = 1 << 8, 1 << 12
"""Nodes in a row, a power of two."""
_SPARE = 20
"""Bits that products and sums of angles may lose."""


class Left(NamedTuple):
    """Nodes of a block that are not proved small, with φ, or its product over some coins."""

    rows: Places
    columns: Places
    phi: Pair


class Grid(NamedTuple):
    """The nodes from `first` to `last`, `step` apart; the last row may be longer than they are."""

    step: arb
    first: int
    last: int
    length: int
    """L."""

    @classmethod
    def of(cls, step: arb, first: int, last: int) -> Grid:
        """About as many rows as columns."""
        length = 1 << (math.isqrt(last - first + 1).bit_length() - 1)
        return cls(step, first, last, min(max(length, _SHORTEST), LONGEST))

    @property
    def rows(self) -> int:
        """How many there are."""
        return -(-(self.last + 1 - self.first) // self.length)

    def blocks(self, nodes: int) -> list[slice]:
        """The rows, about so many nodes at a time."""
        height = nodes // self.length
        return [slice(start, min(start + height, self.rows)) for start in range(0, self.rows, height)]

    def numbers(self, left: Left) -> Places:
        """The numbers of nodes."""
        return self.first + left.rows * self.length + left.columns

    def inside(self, left: Left) -> Left:
        """Without what comes after the last node."""
        kept = self.numbers(left) <= self.last
        return Left(left.rows[kept], left.columns[kept], Pair(left.phi.real[kept], left.phi.imaginary[kept]))

    def turns(self, size: arb, kappa: float) -> Turns:
        """The table of a coin of this size, or of a y."""
        most = abs(near(self.step * (self.last + self.length) * size))
        with working(GUESS_BITS + _SPARE + int(math.log2(1 + most))):
            rows = rotations(self.step * self.first * size, self.step * self.length * size, self.rows)
            columns = rotations(arb(0), self.step * size, self.length)
        return Turns(rows, scaled(rows, kappa), columns)
