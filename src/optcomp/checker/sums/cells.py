r"""Few rounds of any laws: cells of a grid, and products of polynomials of whole numbers.

Every law's losses are sorted into cells [l_j, l_{j+1}), l_j = l_0 + jh, with a step h that all laws share; what lies
below l_0 belongs to the first cell.  The sum of n rounds is handled by three polynomials for each law, multiplied up to
the degree of y: whole numbers of 2^-b.

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

*Rounding.*  What all coefficients of a polynomial up to the degree are off together, up or down, is counted.  Masses of
laws add up to at most 1, so with factors that are off by α and β a product is off by α + β + αβ, and by a unit for each
coefficient that is rounded down; the last product is not rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import mul

from flint import arb, arb_series, fmpz, fmpz_mat, fmpz_poly

from optcomp.checker.balls import ball, enclosing, working
from optcomp.checker.effort import looked, room
from optcomp.checker.instance import Range
from optcomp.checker.laws import Law, TooMuch
from optcomp.checker.laws.parts import Lump, Parts, normal, parts_of
from optcomp.checker.sums.nodes import OFF, Cumulated, Grid, terms
from optcomp.checker.sums.shape import Shape
from optcomp.checker.sums.total import Total

_MOST_NODES = 4_000_000  # of a grid: memory ends about there
_MOST_SIZE = 4_000_000_000  # of the masses of all nodes: half a gigabyte
_EXTRA = 24  # bits of the masses beside those of the polynomials
PRODUCT = 1.5e-8
"""Seconds for a coefficient and a bit of a product."""
_FINE = 96  # bits to which an anchor is a node


@dataclass(frozen=True)
class Near:
    """A polynomial of masses, and how many units all its coefficients together are off at most, up or down."""

    masses: fmpz_poly
    off: int

    def times(self, other: Near, size: int, bits: int) -> Near:
        """The product, rounded down to units."""
        room(PRODUCT * size * bits)
        product = self.masses.mul_low(other.masses, size) // fmpz(1 << bits)
        return Near(product, self.off_with(other, bits) + size)

    def off_with(self, other: Near, bits: int) -> int:
        """By how much a product is off before it is rounded: the true masses add up to at most 1."""
        return self.off + other.off + (self.off * other.off >> bits) + 1

    def power(self, copies: int, size: int, bits: int) -> Near:
        """The product of so many copies."""
        if copies == 1:
            return self
        left, right = self.halves(copies, size, bits)
        return left.times(right, size, bits)

    def halves(self, copies: int, size: int, bits: int) -> tuple[Near, Near]:
        """Two whose product is the power: with few products, and most of them squares."""
        least = next(prime for prime in range(2, copies + 1) if copies % prime == 0)
        if least == 2:
            half = self.power(copies // 2, size, bits)
            return half, half
        if least < copies:
            return self.power(copies // least, size, bits).halves(least, size, bits)
        return self.power(copies - 1, size, bits), self


class _Law:
    """The three polynomials of one round, made in units of 2^-B."""

    def __init__(self, parts: Parts, grid: Grid, digits: int, bits: int) -> None:
        self._grid, self._digits, self._shift = grid, digits, digits - bits
        self._size = grid.nodes - 1
        below = [Cumulated(piece, grid, digits) for piece in parts.pieces]
        self._off = 2 * OFF * len(below)
        own, other = (sum((fmpz_poly(row) for row in rows), fmpz_poly([0])) for rows in _columns(below))
        self._own, self._other = (each.right_shift(1) - each.truncate(self._size) for each in (own, other))
        self._ends_of_pieces = up, up_off = self._ends()
        nodes = self._own - up + up.left_shift(1).truncate(self._size)
        extra = _Lumps(parts.lumps, grid, digits)
        self.kept = self._under(parts) + extra.kept
        own_off, nodes_off = self._off + 2 * len(parts.lumps), self._off + 2 * up_off + 4 * len(parts.lumps)
        self.own = self._rounded(self._own + own[0] + extra.own, own_off)
        self.other = self._rounded(self._other + other[0] + extra.other, own_off)
        self.nodes = self._rounded(nodes + own[0] + extra.nodes, nodes_off)

    def _ends(self) -> tuple[fmpz_poly, int]:
        """b_j = (P_j - e^{l_j} Q_j)/(1 - e^{-h}) of the pieces, and by how many units it may be off.

        e^{l_j} is the product of two numbers, each within two units: e^{l_j} is off by at most four times the larger.
        """
        grid, digits = self._grid, self._digits
        unit, scale = arb(2) ** digits, fmpz(1 << digits)
        width = math.isqrt(grid.nodes) + 1
        coarse = [[down(grid.place(width * j).exp() * unit)] for j in looked(range(grid.nodes // width + 1))]
        fine = [down((ball(grid.step) * i).exp() * unit) for i in looked(range(width))]
        rises = (fmpz_poly((fmpz_mat(coarse) * fmpz_mat([fine])).entries()) // scale).coeffs()
        share = down(unit / -((-ball(grid.step)).expm1()))
        matched = fmpz_poly(list(map(mul, rises, self._other.coeffs()))) // scale
        up = (self._own - matched) * share // scale
        top = above(grid.place(grid.nodes).exp().max(arb(1)), 0) * (1 + above((ball(grid.step) * width).exp(), 0))
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

    def _rounded(self, masses: fmpz_poly, off: int) -> Near:
        """In units of 2^-b."""
        return Near(masses // fmpz(1 << self._shift), self._size * ((off >> self._shift) + 2))


class _Lumps:
    """The atoms of a law, in units of 2^-B: each mass is within two of the truth, two of them at the nodes."""

    def __init__(self, lumps: Sequence[Lump], grid: Grid, digits: int) -> None:
        self._grid, self._unit = grid, arb(2) ** digits
        self._lists: list[dict[int, int]] = [{}, {}, {}]
        self.kept = arb(0)
        for lump in looked(lumps):
            self._add(lump)
        self.own, self.other, self.nodes = (_listed(each) for each in self._lists)

    def _add(self, lump: Lump) -> None:
        """An atom; from above at the upper end of its ball, since F grows with every loss."""
        grid = self._grid
        _, loss = enclosing(lump.loss)
        place = (loss - grid.start) / grid.step
        cell = max(math.floor(place), 0)
        loss = max(loss, grid.start)
        self.kept += lump.own * (-ball(loss)).exp()
        if cell >= grid.nodes - 1:
            return
        step, ahead = ball(grid.step), ball(loss - grid.start - cell * grid.step)
        right = lump.own * (-ahead).expm1() / (-step).expm1()
        places = [(0, cell, lump.own), (1, cell, lump.other), (2, cell, lump.own - right)]
        for number, spot, mass in [*places, (2, cell + 1, right)]:
            if spot < grid.nodes - 1:
                masses = self._lists[number]
                masses[spot] = masses.get(spot, 0) + down(mass * self._unit)


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
            starts = [first_node(each, low, self._step) for each, low in zip(parts, shape.lows, strict=True)]
        self._start = sum((start * copies for start, (_, copies) in zip(starts, laws, strict=True)), Fraction(0))
        self._size = math.ceil((highest - self._start) / self._step) + 2
        if not 1 < self._size <= _MOST_NODES:
            raise TooMuch
        reach = float(self._size * self._step)
        digits = self._bits + _EXTRA + int(-math.log2(self._step)) + math.ceil(1.45 * (reach + 2)) + 16
        if self._size * digits > _MOST_SIZE:
            raise TooMuch
        made = []
        for (law, copies), start in looked(zip(laws, starts, strict=True)):
            with working(digits + 64 + math.ceil(3 * reach)):
                grid = Grid(start, self._step, self._size + 1)
                made.append((_Law(_parts(law, total), grid, digits, self._bits), copies))
        with working(digits + 64):
            self._kept = reduce(lambda left, right: left * right, (law.kept**copies for law, copies in made))
        self._own, self._other, self._nodes = (
            self._factors([(getattr(law, name), copies) for law, copies in made]) for name in ("own", "other", "nodes")
        )

    def _factors(self, laws: Sequence[tuple[Near, int]]) -> Factors:
        """Two polynomials whose product is that of all rounds."""
        size, bits = self._size, self._bits
        if len(laws) == 1 and laws[0][1] > 1:
            return Factors(*laws[0][0].halves(laws[0][1], size, bits), size, bits)
        one = Near(fmpz_poly([1 << bits]), 0)
        *first, last = [one, *(short.power(copies, size, bits) for short, copies in laws)]
        return Factors(reduce(lambda left, right: left.times(right, size, bits), first), last, size, bits)

    def excess(self, y: Fraction) -> Range:
        """F(y)."""
        with working(self._bits + 96 + math.ceil(2 * abs(float(y - self._start)))):
            return Range(self._low(y).max(arb(0)), self._high(y).min(arb(1)))

    def _high(self, y: Fraction) -> arb:
        """From above: with the first sum from y on, s_K, at most e^{y-s_K} Σ p_k e^{s_K-s_k} - Σ p_k for k < K."""
        rise, count = ball(y - self._start).exp(), min(max(math.ceil((y - self._start) / self._step), 0), self._size)
        lifted = self._nodes.lifted(count, self._step) * ball(y - self._start - count * self._step).exp()
        short = lifted - self._nodes.below(count)
        return 1 - ball(y).exp() * self._kept + short + self._nodes.off * rise

    def _low(self, y: Fraction) -> arb:
        """From below, by the event that looks best."""
        rise = ball(y).exp()
        middle = round((y - self._start) / self._step - Fraction(self._rounds, 2))
        first = min(max(middle - 2 * self._rounds, 0), self._size)
        last = min(max(middle + 2 * self._rounds, 0), self._size)
        while first < last:  # the ratio of P to Q grows with the number
            number = (first + last) // 2
            worse = self._own.about(number) < rise * self._other.about(number)
            first, last = (number + 1, last) if worse else (first, number)
        own, other = self._own.below(first) + self._own.off, self._other.below(first) - self._other.off
        return (1 - own) - rise * (1 - other)


class Factors:
    """The product of two polynomials, which is not rounded."""

    def __init__(self, left: Near, right: Near, size: int, bits: int) -> None:
        self._unit = arb(2) ** (-2 * bits)
        room(PRODUCT * size * bits)
        self.masses = left.masses.mul_low(right.masses, size)
        self.off = arb(left.off_with(right, bits)) * arb(2) ** -bits

    def about(self, number: int) -> arb:
        """A coefficient."""
        return arb(self.masses[number]) * self._unit

    def below(self, count: int) -> arb:
        """The sum of the first coefficients."""
        return arb(self.masses.truncate(count)(fmpz(1))) * self._unit

    def lifted(self, count: int, step: Fraction) -> arb:
        """The same, coefficient k times e^{(K-k)h}, K the count."""
        return self.masses.truncate(count)((-ball(step)).exp()) * (ball(step) * count).exp() * self._unit


def _listed(masses: dict[int, int]) -> fmpz_poly:
    return fmpz_poly([masses.get(place, 0) for place in range(max(masses, default=0) + 1)])


def _columns(below: Sequence[Cumulated]) -> tuple[list[list[fmpz | int]], list[list[fmpz | int]]]:
    return [each.own for each in below], [each.other for each in below]


def _parts(law: Law | None, total: Total) -> Parts:
    found = normal(total.variance()) if law is None else parts_of(law)
    if found is None:
        raise TooMuch
    return found


def first_node(parts: Parts, low: float, step: Fraction) -> Fraction:
    """The first node: at or below the least loss that counts, so that just below the anchor there is a node."""
    anchor = Fraction(down(parts.anchor * arb(2) ** _FINE) - 1, 1 << _FINE)
    return anchor + math.floor((Fraction(low) - anchor) / step) * step


def down(value: arb) -> int:
    """A whole number that is surely not above the value, and within two of it."""
    found = value.lower().floor().unique_fmpz()
    if found is None or not value.upper() - value.lower() < 0.5:
        raise TooMuch
    return int(found)


def above(value: arb, digits: int) -> int:
    """A whole number of units that is surely not below the value."""
    return -down(-value * arb(2) ** digits)
