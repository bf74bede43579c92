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
_FIRST, _FINE, _FIRST_EDGE, _MENDS = 64, 64, 0.625, 8
"""Cells whose edges are mended, parts of a cell on the way, the end of the first one over h, and rounds of it."""
_SAFE = 5e-4
"""Of h: more than the interpolation between parts of a cell is wrong."""
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
        x = np.maximum.accumulate(self._x(rise))  # no cell is of negative width, so no x is counted twice
        left_out = int(np.searchsorted(x, _NOTHING_LEFT))  # cells with next to no mass, each costly: dropped
        edges = np.concatenate(([-math.inf], x)) if not left_out else x[left_out - 1 :]
        plain, plain_error, shifted, shifted_error = self._cells(edges)
        place = np.arange(float(left_out), float(count))
        own = self.left * plain + q * shifted if towards else plain
        slip = 4 * self.slip(rise, x) + 200 * U * min(float(rise[-1]), 1.0)
        difference, loose = self._difference(start + place * h, plain, shifted, (plain_error, shifted_error))
        scale = 1.0 if towards else np.exp(-np.minimum(start + place * h, 700.0)) / self.left
        good = scale * (sign * difference - loose) >= -0.25 * slip * own
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

    def _first_edges(self, sign: float) -> tuple[float, Floats]:
        """About the merged loss of a first cell, and the first edges, such that every cell has its loss at its place.

        Near the end the density of the loss changes from cell to cell, and no formula for the skew is good enough.
        """
        h, q, count = self.h, self.q, min(_FIRST, self.count)
        fine = h * np.arange(1, (count + 2) * _FINE) / _FINE
        x = self._x(fine)
        plain, shifted = (
            np.array([math.erfc((c - place) / math.sqrt(2)) / 2 for place in x.tolist()]) for c in (0.0, self.mu)
        )
        at = int(_FIRST_EDGE * _FINE) - 1
        ratio = q * shifted[at] / (self.left * plain[at]) if plain[at] > 0 else 0.0
        start = math.log1p(ratio) * (1 - sign * 1e-6)
        places = start + h * np.arange(1.0, count)
        edges = np.concatenate(([fine[at]], places + 0.5 * h))
        for number in range(_MENDS):
            n, s = np.interp(edges, fine, plain), np.interp(edges, fine, shifted)
            with np.errstate(divide="ignore", invalid="ignore"):
                off = np.log1p(q * np.diff(s) / (self.left * np.diff(n))) - places
            off = np.where(np.abs(off) < h, off, 0.0)
            if number < _MENDS // 2:
                edges[1:] -= 0.5 * (off + np.append(off[1:], off[-1]))
            else:  # a cell that is still too low gets more of what is next
                low = np.clip(_SAFE * h - sign * off, 0.0, None)
                edges[1:] += 2.1 * sign * low
            edges[1:] = np.clip(edges[1:], places + 0.2 * h, places + 0.8 * h)
        return start, edges

    def _skew(self, rise: Floats, sign: float) -> Floats:
        """About how far edges must move so that the middle of mass of a cell is not below its place."""
        x = self._x(rise)
        share = -np.expm1(-rise)
        steep = self.mu * share
        with np.errstate(all="ignore"):
            slope = sign * (-(x + self.mu * (1 - share)) / steep)  # of the log of the plain density over the loss
            off = self.h**2 / 12 * (slope + 0.5 * sign)
        off = np.where(np.isfinite(off) & (np.abs(off) < _MOST_SKEW * self.h), off, 0.0)
        return np.clip(-1.02 * off, 0.0, None) + 1e-6 * self.h**2

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
