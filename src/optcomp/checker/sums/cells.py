r"""Few rounds of any laws: cells of a grid, and products of polynomials of whole numbers.

Every law's losses are sorted into cells [l_j, l_{j+1}), l_j = l_0 + jh, with a step h that all laws share; what lies
below l_0 belongs to the first cell.  The sum of n rounds is handled by three polynomials for each law, multiplied up to
the degree of y: whole numbers of 2^-b, rounded down.

*From below.*  With the masses P_j and Q_j of the cells as coefficients, the products have P and Q of the event that
the numbers of the cells add up to k.  F(y) is the largest P(E) - e^y Q(E) of all events E, so for every J

    F(y) >= 1 - P(sum < J) - e^y (1 - Q(sum < J)).

Atoms that are not listed belong to no cell, and so to E.

*From above.*  Let the mass of each cell be moved to its two ends, a_j and b_j, so that P_j and Q_j stay:
a_j + b_j = P_j, a_j e^{-l_j} + b_j e^{-l_{j+1}} = Q_j.  As E f(e^{-L}) grows for every convex f, so does F, for one
round and, other rounds being given, for all.  What lies below l_0 is moved up to it, which leaves some of Q without P.
With p_k the masses of the sums at s_k = S + kh, and K what is left of Q,

    F(y) <= 1 - e^y K + Σ_{s_k < y} p_k (e^{y-s_k} - 1),

where atoms that are not listed count as if their loss were infinite.  The sides are off by about nh²/24 p(y) and twice
that, p the density, and so ε by about (1+c) nh²/24 and twice that.

*Rounding.*  A polynomial is short of the true one, coefficient by coefficient; what all its coefficients up to the
degree are short of is counted.  Masses of laws add up to at most 1, so a product is short of at most the sum of what
its factors are short of, and a unit for each coefficient that is rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from flint import arb, arb_series, fmpz, fmpz_poly

from optcomp.checker.balls import ball, enclosing, working
from optcomp.checker.instance import Range
from optcomp.checker.laws import Law, TooMuch
from optcomp.checker.laws.parts import Lump, Parts, normal, parts_of
from optcomp.checker.sums.nodes import OFF, Cumulated, Grid, terms
from optcomp.checker.sums.shape import Shape
from optcomp.checker.sums.total import Total

_MOST_NODES = 4_000_000  # of a grid: memory ends about there
_EXTRA = 24  # bits of the masses beside those of the polynomials
_FINE = 96  # bits to which an anchor is a node


@dataclass(frozen=True)
class _Short:
    """A polynomial of masses, and how many units all its coefficients are short of at most."""

    masses: fmpz_poly
    missing: int

    def times(self, other: _Short, size: int, bits: int) -> _Short:
        product = self.masses.mul_low(other.masses, size) // fmpz(1 << bits)
        return _Short(product, self.missing + other.missing + size)

    def power(self, copies: int, size: int, bits: int) -> _Short:
        if copies == 1:
            return self
        half = self.power(copies // 2, size, bits)
        square = half.times(half, size, bits)
        return square.times(self, size, bits) if copies % 2 else square


class _Law:
    """The three polynomials of one round, made in units of 2^-B."""

    def __init__(self, parts: Parts, grid: Grid, digits: int, bits: int) -> None:
        self._grid, self._digits, self._shift = grid, digits, digits - bits
        size = grid.nodes - 1
        below = [Cumulated(piece, grid, digits) for piece in parts.pieces]
        self._off = 2 * OFF * len(below)
        own = [sum(column) for column in zip(*(each.own for each in below), strict=True)] or [0] * grid.nodes
        other = [sum(column) for column in zip(*(each.other for each in below), strict=True)] or [0] * grid.nodes
        self._own = [own[j + 1] - own[j] for j in range(size)]
        self._other = [other[j + 1] - other[j] for j in range(size)]
        up, self._up_off = self._ends()
        nodes = [mass - right for mass, right in zip(self._own, up, strict=True)]
        nodes = [nodes[0], *(mass + right for mass, right in zip(nodes[1:], up, strict=False))]
        self._own[0] += own[0]
        self._other[0] += other[0]
        nodes[0] += own[0]
        self._nodes = nodes
        self.kept = self._under(parts)
        for lump in parts.lumps:
            self._add(lump)
        self.own = self._rounded(self._own, self._off + 2 * len(parts.lumps))
        self.other = self._rounded(self._other, self._off + 2 * len(parts.lumps))
        self.nodes = self._rounded(self._nodes, self._off + 2 * self._up_off + 4 * len(parts.lumps))

    def _ends(self) -> tuple[list[int], int]:
        """b_j = (P_j - e^{l_j} Q_j)/(1 - e^{-h}) of the pieces, and by how many units it may be off.

        e^{l_j} is the product of two numbers, each within two units: e^{l_j} is off by at most four times the larger.
        """
        grid, digits = self._grid, self._digits
        unit = arb(2) ** digits
        width = math.isqrt(grid.nodes) + 1
        coarse = [_down(grid.place(width * j).exp() * unit) for j in range(grid.nodes // width + 1)]
        fine = [_down((ball(grid.step) * i).exp() * unit) for i in range(width)]
        rises = [(one * two) >> digits for one in coarse for two in fine]
        share = _down(unit / -((-ball(grid.step)).expm1()))
        up = [
            ((own - (rise * other >> digits)) * share) >> digits
            for own, other, rise in zip(self._own, self._other, rises, strict=False)
        ]
        top = _above(grid.place(grid.nodes).exp().max(arb(1)), 0) * (1 + _above((ball(grid.step) * width).exp(), 0))
        inner = self._off * (1 + top) + 4 + 2 * top
        return up, inner * ((share >> digits) + 2) + 4

    def _under(self, parts: Parts) -> arb:
        """K of the pieces: their Q, less what lies below the first node and is not moved up with its P."""
        start, kept = self._grid.place(0), arb(0)
        for piece in parts.pieces:
            kept += piece.other
            if not start <= piece.low:
                with terms(1):
                    own, other = piece.below(arb_series([start]))
                kept += own[0] * (-start).exp() - other[0]
        return kept

    def _add(self, lump: Lump) -> None:
        """An atom; from above at the upper end of its ball, since F grows with every loss."""
        grid, unit = self._grid, arb(2) ** self._digits
        _, loss = enclosing(lump.loss)
        place = (loss - grid.start) / grid.step
        cell = max(math.floor(place), 0)
        loss = max(loss, grid.start)
        self.kept += lump.own * (-ball(loss)).exp()
        if cell >= grid.nodes - 1:
            return
        self._own[cell] += max(_down(lump.own * unit), 0)
        self._other[cell] += max(_down(lump.other * unit), 0)
        step, ahead = ball(grid.step), ball(loss - grid.start - cell * grid.step)
        right = lump.own * (-ahead).expm1() / (-step).expm1()
        self._nodes[cell] += max(_down((lump.own - right) * unit), 0)
        if cell + 1 < grid.nodes - 1:
            self._nodes[cell + 1] += max(_down(right * unit), 0)

    def _rounded(self, masses: Sequence[int], off: int) -> _Short:
        """In units of 2^-b, none above the truth."""
        found = [max(mass - off, 0) >> self._shift for mass in masses]
        return _Short(fmpz_poly(found), len(found) * ((2 * off >> self._shift) + 2))


class Cells:
    """F of a sum of few rounds."""

    def __init__(self, total: Total, shape: Shape, highest: Fraction) -> None:
        self._step, self._bits = shape.step, shape.bits
        laws: list[tuple[Law | None, int]] = list(total.laws)
        if total.gaussians:
            laws.append((None, 1))
        self._rounds = sum(copies for _, copies in laws)
        with working(4 * _FINE):
            parts = [_parts(law, total) for law, _ in laws]
            starts = [_start(each, low, self._step) for each, low in zip(parts, shape.lows, strict=True)]
        self._start = sum((start * copies for start, (_, copies) in zip(starts, laws, strict=True)), Fraction(0))
        self._size = math.ceil((highest - self._start) / self._step) + 2
        if not 1 < self._size <= _MOST_NODES:
            raise TooMuch
        reach = float(self._size * self._step)
        digits = self._bits + _EXTRA + int(-math.log2(self._step)) + math.ceil(1.45 * (reach + 2)) + 16
        made = []
        for (law, copies), start in zip(laws, starts, strict=True):
            with working(digits + 64 + math.ceil(3 * reach)):
                grid = Grid(start, self._step, self._size + 1)
                made.append((_Law(_parts(law, total), grid, digits, self._bits), copies))
        with working(digits + 64):
            self._kept = reduce(lambda left, right: left * right, (law.kept**copies for law, copies in made))
        self._own, self._other, self._nodes = (
            self._product([(getattr(law, name), copies) for law, copies in made]) for name in ("own", "other", "nodes")
        )

    def _product(self, factors: Sequence[tuple[_Short, int]]) -> _Short:
        powers = [short.power(copies, self._size, self._bits) for short, copies in factors]
        return reduce(lambda left, right: left.times(right, self._size, self._bits), powers)

    def excess(self, y: Fraction) -> Range:
        """F(y)."""
        with working(self._bits + 96 + math.ceil(2 * abs(float(y - self._start)))):
            return Range(self._low(y).max(arb(0)), self._high(y).min(arb(1)))

    def _high(self, y: Fraction) -> arb:
        """From above."""
        unit, rise = arb(2) ** -self._bits, ball(y - self._start).exp()
        below = self._nodes.masses.truncate(max(math.ceil((y - self._start) / self._step), 0))
        short = rise * below((-ball(self._step)).exp()) - below(fmpz(1))
        return 1 - ball(y).exp() * self._kept + (short + self._nodes.missing * rise) * unit

    def _low(self, y: Fraction) -> arb:
        """From below, by the best event of some."""
        unit, rise = arb(2) ** -self._bits, ball(y).exp()
        middle = round((y - self._start) / self._step - Fraction(self._rounds, 2))
        first = min(max(middle - 2 * self._rounds, 0), self._size)
        last = min(max(middle + 2 * self._rounds, 0), self._size)
        own, other = (short.masses.truncate(first)(fmpz(1)) for short in (self._own, self._other))
        best = arb(0)
        for number in range(first, last + 1):
            lost = 1 - (arb(own) + self._own.missing) * unit - rise * (1 - arb(other) * unit)
            best = lost if lost > best else best
            own, other = own + self._own.masses[number], other + self._other.masses[number]
        return best


def _parts(law: Law | None, total: Total) -> Parts:
    found = normal(total.variance()) if law is None else parts_of(law)
    if found is None:
        raise TooMuch
    return found


def _start(parts: Parts, low: float, step: Fraction) -> Fraction:
    """The first node: at or below the least loss that counts, so that just below the anchor there is a node."""
    anchor = Fraction(_down(parts.anchor * arb(2) ** _FINE) - 1, 1 << _FINE)
    return anchor + math.floor((Fraction(low) - anchor) / step) * step


def _down(value: arb) -> int:
    """A whole number that is surely not above the value, and within two of it."""
    found = value.lower().floor().unique_fmpz()
    if found is None or not value.upper() - value.lower() < 0.5:
        raise TooMuch
    return int(found)


def _above(value: arb, digits: int) -> int:
    """A whole number of units that is surely not below the value."""
    return -_down(-value * arb(2) ** digits)
