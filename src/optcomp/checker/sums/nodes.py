r"""The masses below every node of a grid, in whole numbers of 2^-B, for a piece of a law.

Nodes lie in blocks.  In a block of half length R about m the masses are written as Σ c_k t^k, l = m + Rt, for k below a
degree D: the c_k from power series about m.  By Taylor's theorem what is left out is at most the largest |c_D| about
any place of the block, which the same power series about the ball of all of them gives.  A block is taken if that is at
most one unit, every c_k is known within one when rounded, and Σ|c_k| <= D; else it is halved, down to single nodes,
which are evaluated.  Powers t^k are rounded too, within one unit, so that the values of all blocks of one length are a
product of two matrices of whole numbers, which FLINT multiplies exactly.  Together a mass is off by at most

    D (the c_k) + D (the t^k) + 1 (both at once) + 1 (what is left out) + 1 (rounded down)   units.

The same series about the ball of all places of a block has as its third coefficient R²/2 times the slope of the density
at any of them.  So it also bounds how much the density changes within a cell: the *bend* of a node is at least h²/2
times the slope of P's density anywhere within h/2 of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_series, ctx, fmpz, fmpz_mat, fmpz_poly

from optcomp.checker.balls import ball
from optcomp.checker.effort import look, looked, room
from optcomp.checker.laws import TooMuch
from optcomp.checker.laws.parts import Masses, Smooth

_DEGREE = 24
"""D: blocks are then about a twentieth of the way to the nearest singularity long."""
_BLOCK = 512  # nodes of the longest blocks: matrices of powers stay small
_ENTRY = 5e-9  # seconds for a bit of an entry of the product of matrices, about
OFF = 2 * _DEGREE + 3
"""Units by which a mass is off at most."""


@dataclass(frozen=True)
class Grid:
    """Nodes start, start + step, ..., and how many there are."""

    start: Fraction
    step: Fraction
    nodes: int

    def place(self, number: Fraction | int) -> arb:
        """A node, or what lies between."""
        return ball(self.start + self.step * number)


@contextmanager
def terms(count: int) -> Iterator[None]:
    """Power series with this many terms; the setting is global, and put back."""
    before = ctx.cap
    ctx.cap = count
    try:
        yield
    finally:
        ctx.cap = before


class Cumulated:
    """The masses under P and under Q below each node."""

    def __init__(self, piece: Smooth, grid: Grid, digits: int, bent: bool = False) -> None:
        self._piece, self._grid, self._digits, self._bent = piece, grid, digits, bent
        self.own: list[fmpz | int] = [0] * grid.nodes
        self.other: list[fmpz | int] = [0] * grid.nodes
        self.bends: list[int | None] = [None] * grid.nodes
        self._blocks: dict[int, list[tuple[int, list[int], list[int]]]] = {}
        length = min(_BLOCK, 1 << max(grid.nodes.bit_length() - 4, 0))
        self._pending = [(first, length) for first in range(0, grid.nodes, length)]
        while self._pending:
            look()
            self._place(*self._pending.pop())
        for length, blocks in self._blocks.items():
            self._evaluate(length, blocks)

    def _place(self, first: int, length: int) -> None:
        """Settle a block, or put its halves on the list."""
        if first >= self._grid.nodes:
            return
        begin, end = self._grid.place(first), self._grid.place(first + length - 1)
        if end <= self._piece.low:
            return
        if begin >= self._piece.high:
            self._put(first, [_units(self._piece.own, self._digits)] * length, own=True)
            self._put(first, [_units(self._piece.other, self._digits)] * length, own=False)
        elif length == 1:
            self._single(first)
        elif not (begin > self._piece.low and end < self._piece.high and self._expanded(first, length)):
            half = length // 2
            self._pending += [(first, half), (first + half, half)]

    def _put(self, first: int, values: Sequence[fmpz | int], own: bool) -> None:
        room = self._grid.nodes - first
        (self.own if own else self.other)[first : first + len(values)] = values[:room]

    def _single(self, first: int) -> None:
        place = self._grid.place(first)
        if not (place > self._piece.low and place < self._piece.high):
            raise TooMuch  # a node at an end whose side is not known
        try:
            with terms(1):
                masses = self._piece.below(arb_series([place]))
        except ValueError:  # so near to an end that the balls cannot tell
            raise TooMuch from None
        self._put(first, [_units(masses[0][0], self._digits)], own=True)
        self._put(first, [_units(masses[1][0], self._digits)], own=False)
        around = self._around(first, 1, 3) if self._bent else None
        if around is not None:
            self._bend(first, 1, around[0][2])

    def _around(self, first: int, length: int, count: int) -> Masses | None:
        """The series about the ball of all places of a block; None if it holds an end."""
        middle, radius = self._grid.place(first + Fraction(length - 1, 2)), self._radius(length)
        try:
            with terms(count):
                return self._piece.below(arb_series([middle + arb(0, radius.upper()), radius]))
        except ValueError:
            return None

    def _radius(self, length: int) -> arb:
        return ball(self._grid.step * Fraction(length, 2))

    def _bend(self, first: int, length: int, third: arb) -> None:
        """h²/2 times the slope of the density is the third coefficient times (h/R)², and R is half of all nodes."""
        units = third.abs_upper() * arb(2) ** (self._digits + 2) / length**2
        found = units.upper().ceil().unique_fmpz() if units.is_finite() else None
        if found is not None:
            room = min(length, self._grid.nodes - first)
            self.bends[first : first + room] = [int(found)] * room

    def _expanded(self, first: int, length: int) -> bool:
        """Whether the series of a block is good enough; it is kept then."""
        middle, radius = self._grid.place(first + Fraction(length - 1, 2)), self._radius(length)
        around = self._around(first, length, _DEGREE + 1)
        if around is None or not all(series[_DEGREE].abs_upper() * arb(2) ** self._digits <= 1 for series in around):
            return False
        with terms(_DEGREE):
            about = self._piece.below(arb_series([middle, radius]))
        found = [[_nearest(series[k], self._digits) for k in range(_DEGREE)] for series in about]
        own, other = ([value for value in row if value is not None] for row in found)
        if any(len(row) < _DEGREE or sum(map(abs, row)) > _DEGREE << self._digits for row in (own, other)):
            return False
        self._blocks.setdefault(length, []).append((first, own, other))
        self._bend(first, length, around[0][2])
        return True

    def _evaluate(self, length: int, blocks: Sequence[tuple[int, list[int], list[int]]]) -> None:
        """All blocks of a length at once: t = (2i + 1 - length)/length."""
        powers = [[1 << self._digits] * length]
        powers += [
            [_power(2 * i + 1 - length, degree, length, self._digits) for i in range(length)]
            for degree in looked(range(1, _DEGREE))
        ]
        right = fmpz_mat(powers)
        for own in (True, False):
            room(_ENTRY * len(blocks) * length * self._digits)
            rows = fmpz_mat([block[1 if own else 2] for block in blocks]) * right
            entries = (fmpz_poly(rows.entries()) // fmpz(1 << self._digits)).coeffs()  # all at once, rounded down
            entries += [fmpz(0)] * (len(blocks) * length - len(entries))
            for number, block in enumerate(blocks):
                self._put(block[0], entries[number * length : (number + 1) * length], own)


def _power(top: int, degree: int, bottom: int, digits: int) -> int:
    """(top/bottom)^degree in units, rounded down; the bottom is a power of two."""
    power: int = top**degree
    return (power << digits) >> ((bottom.bit_length() - 1) * degree)


def _units(value: arb, digits: int) -> int:
    """The same where it must be possible."""
    found = _nearest(value, digits)
    if found is None:
        raise TooMuch
    return found


def _nearest(value: arb, digits: int) -> int | None:
    """A whole number of units within one of the value; None if the ball is too wide for that."""
    scaled = value * arb(2) ** digits
    if not (scaled.is_finite() and scaled.rad() < arb(0.25)):
        return None
    whole = (scaled.mid() + arb(0.5)).floor().unique_fmpz()
    return None if whole is None else int(whole)
