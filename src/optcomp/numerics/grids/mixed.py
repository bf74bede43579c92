r"""Subsampled Gaussian noise on a grid, from above and from below.

With A(x) = 1 - q + q e^{μx - μ²/2}, a = log(1-q) and x_k where A = (1-q) e^{kh}, that is

    μ x_k = log(e^{kh} - 1) + log((1-q)/q) + μ²/2,

the loss towards the mixture is a + kh at x_k and the loss away from it -a - kh.  N and S are the masses of a cell under
N(0, 1) and N(μ, 1); the mixture has (1-q)N + qS of it.  All that is needed of a cell is N, S and

    D_k = qS - (1-q)(e^{kh} - 1) N     (the mixture less (1-q)e^{kh} of the plain law)

    towards, cell [x_k, x_{k+1}]:   D_k/(1 - e^{-h}) of it goes to its upper end
    away, cell [x_k, x_{k+1}]:      -e^{-(k+1)h} D_{k+1}/((1-q)(1 - e^{-h})) of it goes to its upper end, -a - kh
    merged, towards at k:           log P/Q >= a + kh  if  D_k >= 0;     away at k:  log P/Q >= -a - kh  if  D_k <= 0

D is a difference of nearly equal numbers: its error is counted cell by cell and added on the safe side.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.numerics.balls import FLOAT_BITS, ball, float_up, precision
from optcomp.numerics.blocked import LIBM, Floats, U
from optcomp.numerics.grids import normal_cells
from optcomp.numerics.grids.banded import solved
from optcomp.numerics.grids.grid_law import GridLaw, Rest
from optcomp.numerics.laws.gaussian import normal_tail
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw

_NOTHING_LEFT = -12.0
"""Left of this x lies a mass of 2e-33."""
_FAR_LEFT = -9.5
"""Left of this x, a mass of 1e-21, all is one cell."""
_TINY = 1e-280
"""More than everything that floats lose below their range, for a million cells."""
_FAINT = 1e-290
"""Smaller masses are left out, so that no exponential overflows."""
_LEAST = 1e-320
"""More than a mass may be off where it is so small that floats have no full precision."""
_FIRST, _FEWEST, _FIRST_EDGE, _MENDS = 128, 4, 0.625, 16
"""Cells whose edges are solved for, the fewest that are, the end of the first one over h at the start, and rounds."""
_AIM, _NEAR, _CLOSE, _SMOOTH = 1e-8, 1e-9, 1e-4, 1e-5
"""How far above its place a cell's loss is aimed at, a move that ends the rounds, one after which moves should get much
smaller, all over h; and how much being smooth counts for."""
_LEAST_FIRST = 1e-7
"""Where the first cell holds less, the density changes little from cell to cell where it matters."""
_RECUTS, _MORE = 6, 1.1
"""How often edges are moved because a cell's loss falls short of its place, and by how much more than that."""
_UNNOTICED = 1e-60
"""Cells of so little mass are not recut: far out floats cannot tell their losses."""
_MOST_SKEW = 0.25
"""Of h: cells whose middle of mass is farther off are rounded down."""


class MixedGrid:
    """One subsampled Gaussian mechanism on the grid of width h, for x up to about `top`."""

    def __init__(self, law: MixedNormalLaw, h: float, rise: float) -> None:
        """Up to the place at which A is about (1-q) e^rise."""
        self.law, self.h = law, h
        self.mu, self.q = float(law.mu), float(law.q)
        self.left = float(1 - Fraction(law.q))  # from the exact rate: near 1 the float would tell little of it
        self.shift = self._base() - math.log(self.q) + 0.5 * self.mu**2
        self.count = max(math.ceil(rise / h), 4)

    def _x(self, rise: Floats) -> Floats:
        """x where A = (1-q) e^rise."""
        with np.errstate(divide="ignore"):
            return np.asarray(
                (
                    np.where(rise > 30, rise + np.log1p(-np.exp(-rise)), np.log(np.expm1(np.minimum(rise, 31))))
                    + self.shift
                )
                / self.mu
            )

    def slip(self, rise: Floats, x: Floats) -> float:
        """How far the loss at x may be from the one meant: the share of the larger term of A times the error of μx."""
        finite = np.isfinite(x)
        base = abs(self._base())
        logs = np.abs(self.mu * x[finite]) + 2 * abs(self.shift) + self.mu**2 - 2 * math.log(self.q) + 2 * base + 2
        share = np.minimum(1.01 * rise[finite], 1.0)
        turned = (2 * LIBM + 4) * float((share * logs).max(initial=0.0))
        return 1.01 * U * (turned + 2 * float(rise[-1]) + (LIBM + 2) * base)

    def _cells(self, edges: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """N and S of every cell with bounds on their relative errors."""
        with precision(FLOAT_BITS):
            mu = ball(self.law.mu)
        split = max(normal_cells.narrow(edges, self.mu), 1)
        wide = [normal_cells.wide_masses(edges[: split + 1], centre) for centre in (arb(0), mu)]
        middle, half = 0.5 * (edges[split:-1] + edges[split + 1 :]), 0.5 * np.diff(edges[split:])
        slim = [normal_cells.masses(middle, half, centre) for centre in (0.0, self.mu)]
        joined = [
            np.concatenate(pair) for one, other in zip(wide, slim, strict=True) for pair in zip(one, other, strict=True)
        ]
        return joined[0], joined[1], joined[2], joined[3]

    def _difference(
        self, rise: Floats, plain: Floats, shifted: Floats, errors: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """D_k of cells, and a bound on its error."""
        grown = self.left * np.expm1(np.minimum(rise, 700.0))
        one, two = self.q * shifted, grown * plain
        rounding = (LIBM + 6) * U
        loose = one * (errors[1] + rounding) + two * (errors[0] + rounding + 2 * U * rise)
        return one - two, 1.01 * loose + _LEAST * (1 + grown)

    def above(self) -> GridLaw:
        """The law that is larger: every cell split onto its ends."""
        h, q, count = self.h, self.q, self.count
        towards = self.law.direction == "towards"
        k = np.arange(count + 1.0)
        x = np.maximum.accumulate(self._x(k * h))
        first = min(max(int(np.searchsorted(x, _FAR_LEFT)), 1), count)  # cells 0 .. first are one
        edges = np.concatenate(([-math.inf], x[first:]))
        slip = self.slip(k * h, x)
        plain, plain_error, shifted, shifted_error = self._cells(edges)
        at = np.concatenate(([0.0], k[first:-1]))  # lower index of each cell
        end = k[first:]  # and the upper one
        mixture = self.left * plain + q * shifted
        error = np.maximum(plain_error, shifted_error) + 8 * U
        own, place = (mixture, at) if towards else (plain, end)
        difference, loose = self._difference(place * h, plain, shifted, (plain_error, shifted_error))
        width = -np.expm1(-(end - at) * h)
        if not towards:
            scale = np.exp(-np.minimum(end * h, 700.0)) / self.left
            difference, loose = -difference * scale, loose * scale
        up = np.clip(difference, 0.0, None) + loose + own * (4 * slip + 20 * U * end * h)
        most = own * (1 + error)
        up = np.minimum(up / width * (1 + 40 * U), most)
        down = np.clip(most * (1 + 2 * U) - up, 0.0, None)  # at least the cell's mass together
        found = np.zeros(count + 1)
        low_end, high_end = at.astype(np.int64), end.astype(np.int64)
        np.add.at(found, high_end if towards else low_end, up)
        np.add.at(found, low_end if towards else high_end, down)
        found *= 1 + 8 * U
        found[found < _FAINT] = 0.0
        base, rest = Fraction(self._base()), self._rest(float(x[-1]), count * Fraction(h), slip)
        if towards:
            return GridLaw(base, found, slip, base - Fraction(slip), replace(rest, own=rest.own + _TINY))
        found[-1] += float_up(rest.own)
        nothing = Rest(arb(_TINY), arb(0), Fraction(0))
        return GridLaw(-base - count * Fraction(h), found[::-1].copy(), slip, None, nothing)

    def below(self) -> GridLaw:
        """The law that is smaller: the cell around each place merged, and what lies too low moved down by a place.

        The first cell holds all small losses; the grid begins at its own loss.
        """
        h, q, count = self.h, self.q, self.count
        towards = self.law.direction == "towards"
        sign = 1.0 if towards else -1.0
        start, firsts = self._first_edges(sign)
        k = np.arange(1.0, count + 1)
        rise = start + (k - 0.5) * h
        rise = rise + sign * self._skew(rise, sign)
        rise[: firsts.size] = firsts
        for number in range(_RECUTS + 1):
            x = np.maximum.accumulate(self._x(rise))  # no cell is of negative width, so no x is counted twice
            left_out = int(np.searchsorted(x, _NOTHING_LEFT))  # cells with next to no mass, each costly: dropped
            edges = np.concatenate(([-math.inf], x)) if not left_out else x[left_out - 1 :]
            plain, plain_error, shifted, shifted_error = self._cells(edges)
            place = np.arange(float(left_out), float(count))
            own = self.left * plain + q * shifted if towards else plain
            slip = 4 * self.slip(rise, x) + 200 * U * min(float(rise[-1]), 1.0)
            difference, loose = self._difference(start + place * h, plain, shifted, (plain_error, shifted_error))
            scale = 1.0 if towards else np.exp(-np.minimum(start + place * h, 700.0)) / self.left
            short = scale * (loose - sign * difference)
            good = short <= 0.25 * slip * own
            if number == _RECUTS or not (own[~good] > _UNNOTICED).any():
                break
            rise = self._recut(
                rise, start, left_out, np.where(good | (own <= 0), 0.0, short / np.maximum(own, _LEAST)), sign
            )
        index = np.where(good, place, place - sign).astype(np.int64)
        kept = (index >= 0) & (index <= count)
        found = np.zeros(count + 1)
        np.add.at(found, index[kept], (own * (1 - np.maximum(plain_error, shifted_error) - 16 * U))[kept])
        found = np.clip(found, 0.0, None)
        found[found < _FAINT] = 0.0
        base = Fraction(self._base()) + Fraction(start)
        if towards:
            return GridLaw(base, found, slip, None, self._rest(float(x[-1]), Fraction(0), slip))
        return GridLaw(-base - count * Fraction(h), found[::-1].copy(), slip, None)

    def _recut(self, rise: Floats, start: float, left_out: int, short: Floats, sign: float) -> Floats:
        """Edges moved so that cells whose loss falls short of their place hold more of what is above it."""
        wanted = np.zeros(self.count + 1)
        wanted[left_out : left_out + short.size] = _MORE * short
        moved = rise + sign * np.maximum(wanted[:-1], wanted[1:])[: rise.size]
        places = start + self.h * np.arange(float(rise.size + 1))
        return np.clip(moved, places[:-1], places[1:])

    def _first_edges(self, sign: float) -> tuple[float, Floats]:
        """About the merged loss of a first cell, and the first edges, such that every cell has its loss at its place.

        Near the end the density of the loss changes from cell to cell, and no formula for the skew is good enough.
        Each cell's loss depends on two edges, so edges that alternate hardly matter: smooth ones are looked for.
        """
        h, count = self.h, min(_FIRST, self.count)
        edge = np.array([_FIRST_EDGE * h])
        plain, shifted = self._tails_left(edge)
        own = self.left * plain[0]  # nothing where doubles end; the grid may begin anywhere then
        start = float(np.log1p(self.q * shifted[0] / own)) if own > 0 else 0.0
        edges = start + h * (np.arange(float(count)) + 0.5)
        edges = edges + sign * self._skew(edges, sign)
        edges[0] = edge[0]
        last, before = float(edges[-1]) - start, math.inf
        for _ in range(_MENDS if plain[0] > _LEAST_FIRST and count >= _FEWEST else 0):
            moved, step = self._mended(start, edges, last, sign)
            start = min(max(start + moved, 0.1 * start), 2 * start + h)
            places = start + h * np.arange(float(count + 1))
            edges = np.clip(edges + step, places[:-1] + 0.01 * h, places[1:] - 0.01 * h)
            far = float(np.abs(step).max())
            if far < _NEAR * h or (before < _CLOSE * h and far > 0.1 * before):
                break  # nothing is left but round-off
            before = far
        return start * (1 - sign * 1e-15), edges

    def _mended(self, start: float, edges: Floats, last: float, sign: float) -> tuple[float, Floats]:
        """How start and edges should move so that every cell's loss is `_AIM` h above its place: Newton's method.

        Least squares, because nothing else keeps edges from alternating; the last edge stays where the formula puts it.
        """
        h, size = self.h, edges.size
        x = self._x(edges)
        plain, shifted = (np.diff(side, prepend=0.0) for side in self._tails_left(edges))
        known = plain > _LEAST_FIRST**2
        place = start + h * np.arange(float(size))
        mass = np.where(known, plain, 1.0)
        ratio = np.where(known, self.q * shifted / (self.left * mass), np.expm1(place))
        weight = known / (mass * (1 + ratio))
        density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) / (self.mu * -np.expm1(-edges))
        upper = weight * density * (np.expm1(edges) - ratio)  # how a cell's loss moves with its upper edge
        lower = np.append(weight[1:] * density[:-1] * (ratio[1:] - np.expm1(edges[:-1])), 0.0)  # and the next with it
        aims = np.where(known, sign * _AIM * h - (np.log1p(ratio) - place), 0.0)
        bends = -_SMOOTH * np.pad(np.diff(edges, 2), 1)  # of every edge but the first and the last
        bent = _SMOOTH * (np.append(bends[1:], 0.0) - 2 * bends + np.append(0.0, bends[:-1]))
        inner = np.pad(np.ones(size - 2), 1)
        around = np.append(inner[1:], 0.0) + 4 * inner + np.append(0.0, inner[:-1])
        after = np.append(upper[1:], 0.0)
        bands = (
            upper**2 + lower**2 + _SMOOTH**2 * around,
            lower * after - 2 * _SMOOTH**2 * (inner + np.append(inner[1:], 0.0)),
            _SMOOTH**2 * np.append(inner[1:], 0.0),
        )
        turned = -upper * known - lower * np.append(known[1:], 0.0)
        goal = upper * aims + lower * np.append(aims[1:], 0.0) + bent
        missing = last + start - float(edges[-1])
        bands[0][-1] += 1.0
        turned[-1] -= 1.0
        goal[-1] += missing
        own, along = solved(bands, goal, turned)
        moved = (-float(aims.sum()) - missing - float(turned @ own)) / (known.sum() + 1.0 - float(turned @ along))
        step = np.clip(np.nan_to_num(own - moved * along), -0.4 * h, 0.4 * h)
        return (min(max(moved, -0.4 * h), 0.4 * h) if math.isfinite(moved) else 0.0), step

    def _tails_left(self, rise: Floats) -> tuple[Floats, Floats]:
        """About the masses of both normal laws where the loss is smaller."""
        x = self._x(rise)
        plain, shifted = (
            np.array([0.5 * math.erfc((centre - place) / math.sqrt(2)) for place in x.tolist()])
            for centre in (0.0, self.mu)
        )
        return plain, shifted

    def _skew(self, rise: Floats, sign: float) -> Floats:
        """About how far edges must move so that the middle of mass of a cell is not below its place."""
        x = self._x(rise)
        share = -np.expm1(-rise)
        steep = self.mu * share
        with np.errstate(all="ignore"):
            slope = sign * (-(x + self.mu * (1 - share)) / steep)  # of the log of the plain density over the loss
            off = self.h**2 / 12 * (slope + 0.5 * sign)
        off = np.where(np.isfinite(off) & (np.abs(off) < _MOST_SKEW * self.h), off, 0.0)
        return np.abs(off) * np.minimum(0.02, 300 * (off / self.h) ** 2) - off + 1e-6 * self.h**2

    def _base(self) -> float:
        return math.log(self.left) if self.q > 0.5 else math.log1p(-self.q)

    def _rest(self, x: float, rise: Fraction, slip: float) -> Rest:
        """Right of x, where A is about (1-q) e^rise."""
        with precision(FLOAT_BITS):
            mu, q = ball(self.law.mu), ball(self.law.q)
            plain, shifted = normal_tail(arb(x)), normal_tail(arb(x) - mu)
            mixture = (1 - q) * plain + q * shifted
            ends = (mixture, plain) if self.law.direction == "towards" else (plain, mixture)
        return Rest(*ends, Fraction(self._base()) + rise - Fraction(slip))
