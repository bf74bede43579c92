r"""Laws that are their own mirror image on a grid, from above and from below: records that are replaced.

Under the two laws P and Q of the answer a loss of l comes as often as one of -l comes with P and Q exchanged.  So all
that is needed is the side of positive losses: cells [x_k, x_{k+1}] on which the loss grows from kh to (k+1)h, with
their masses P_k and Q_k; an atom at 0, which P and Q share; and what lies beyond the last cell.  With

    D_k = P_k - e^{kh} Q_k:            D_k/(1 - e^{-h}) of the cell goes to its upper end, (k+1)h
    D'_k = Q_k - e^{-(k+1)h} P_k:      the same for its mirror image, whose upper end is -kh
    merged, around the place kh:       log P/Q >= kh if P - e^{kh}Q >= 0, and the mirror image likewise

Masses and edges are floats.  Their errors are counted and go to the safe side; `slip` is how far a loss may be off.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from optcomp.numerics.balls import FLOAT_BITS, float_down, float_up, precision
from optcomp.numerics.blocked import LIBM, Floats, U
from optcomp.numerics.grids.grid_law import GridLaw, Rest
from optcomp.numerics.grids.replaced_sides import PositiveSide, side_of
from optcomp.numerics.laws.replaced import GluedNormalLaw, ReplacedNormalLaw

_TINY, _FAINT, _LEAST = 1e-280, 1e-290, 1e-320
"""More than all that floats lose below their range; masses that are left out; what a tiny mass may be off."""
_MOST_EXPONENT = 700.0
"""Exponents beyond this overflow."""
_MENDS = 3
"""Rounds in which edges are moved so that merged losses reach their places."""
_MARGIN = 1.05
"""How much farther than needed edges are moved."""
_MOST_MOVE = 0.4
"""Of h, for an edge: farther, and it would meet its neighbour."""


class MirroredGrid:
    """One such mechanism on the grid of width h, for losses up to about `rise` on both sides."""

    def __init__(self, law: ReplacedNormalLaw | GluedNormalLaw, h: float, rise: float) -> None:
        self.side: PositiveSide = side_of(law)
        self.h = h
        self.count = max(math.ceil(rise / h), 4)

    @property
    def _base(self) -> Fraction:
        return -self.count * Fraction(self.h)

    def above(self) -> GridLaw:
        """The law that is larger: every cell split onto its ends."""
        h, count = self.h, self.count
        k = np.arange(count + 1.0)
        x, slips = self.side.edges(k * h)
        x = np.maximum.accumulate(x)
        slip = float(slips.max())
        own, other, error = self.side.masses(x)
        width = -math.expm1(-h)
        found = np.zeros(2 * count + 1)
        for masses, rest, ends, places in (
            (own, other, k[:-1] * h, (count + 1 + k[:-1], count + k[:-1])),
            (other, own, -k[1:] * h, (count - k[:-1], count - 1 - k[:-1])),
        ):
            weighed = np.exp(np.minimum(ends, _MOST_EXPONENT)) * rest
            loose = (masses + weighed) * (error + (LIBM + 4 + 2 * np.abs(ends)) * U) + _LEAST
            most = masses * (1 + error) + _LEAST
            up = np.clip(masses - weighed, 0.0, None) + loose + masses * 4 * slip
            up = np.minimum(up / width * (1 + 40 * U), most)
            down = np.clip(most * (1 + 2 * U) - up, 0.0, None)  # at least the cell's mass together
            for part, place in zip((up, down), places, strict=True):
                found[place.astype(np.int64)] += part
        with precision(FLOAT_BITS):
            gone, kept = self.side.beyond(float(x[-1]))
            found[count] += float_up(self.side.shared() + 8 * U * (self.side.mu + 1))  # the edge μ/2 is a float
            found[0] += float_up(kept)
        found *= 1 + 16 * U
        found[found < _FAINT] = 0.0
        rest_law = Rest(gone + _TINY, kept, count * Fraction(h) - Fraction(slip))
        return GridLaw(self._base, found, slip, None, rest_law)

    def below(self) -> GridLaw:
        """The law that is smaller: the cell around each place merged, and what lies too low moved down by a place."""
        count = self.count
        right, up = self._merged(+1)
        left, down = self._merged(-1)
        slip = 4 * (max(right.slip, left.slip) + max(right.rough, left.rough))
        found = np.zeros(2 * count + 1)
        places = np.arange(1, count)
        good = up[1:] >= -0.25 * slip
        np.add.at(found, count + np.where(good, places, places - 1), right.own[1:] * (1 - right.error[1:] - 16 * U))
        good = down[1:] >= -0.25 * slip
        np.add.at(found, count - np.where(good, places, places + 1), left.other[1:] * (1 - left.error[1:] - 16 * U))
        with precision(FLOAT_BITS):
            shared = max(float_down(self.side.shared() - 8 * U * (self.side.mu + 1)), 0.0)
        own, other = right.own[0] + left.other[0] + shared, right.other[0] + left.own[0] + shared
        rough = float(max(right.error[0], left.error[0])) + 16 * U
        if own - other - 2 * rough * (own + other) >= -0.25 * slip * own:
            found[count] += own * (1 - rough)
        else:
            found[count - 1] += own * (1 - rough)
        found = np.clip(found, 0.0, None)
        found[found < _FAINT] = 0.0
        with precision(FLOAT_BITS):
            gone, kept = self.side.beyond(right.last)
        return GridLaw(self._base, found, slip, None, Rest(gone, kept, Fraction(0)))

    def _merged(self, sign: int) -> tuple[_Cells, Floats]:
        """Cells around the places kh, k >= 0, with losses just above them, or just below for the mirror image."""
        h, count = self.h, self.count
        k = np.arange(count + 0.0)
        middle = (k + 0.5) * h
        moved = np.zeros(count)
        for number in range(_MENDS + 1):
            cells = _Cells(self.side, np.concatenate(([0.0], middle + moved)))
            if number == _MENDS:
                break
            with np.errstate(all="ignore"):
                off = sign * (np.log(cells.own / cells.other) - k * h)
            off = np.where(np.isfinite(off) & (np.abs(off) < h), off, 0.0)
            off[0] = 0.0
            lacks = np.clip(-_MARGIN * off, 0.0, None)
            moved += sign * np.maximum(lacks, np.append(lacks[1:], lacks[-1]))
            moved = np.clip(moved, -_MOST_MOVE * h, _MOST_MOVE * h)
        return cells, cells.gap(sign, k * h)


class _Cells:
    """Cells between given losses, the first from 0 on."""

    def __init__(self, side: PositiveSide, loss: Floats) -> None:
        x, slips = side.edges(loss)
        x = np.maximum.accumulate(x)
        self.slip, self.last = float(slips.max()), float(x[-1])
        self.own, self.other, self.error = side.masses(x)
        self.rough = 2 * float(self.error[self.own > _FAINT].max(initial=0.0)) + 32 * U * (1 + float(loss[-1]))

    def gap(self, sign: int, place: Floats) -> Floats:
        """P - e^{kh}Q of each cell, or e^{-kh}P less for the mirror image, with its error taken off; over the mass."""
        one, two = (self.own, self.other) if sign > 0 else (self.other, self.own)
        weighed = np.exp(np.clip(sign * place, -_MOST_EXPONENT, _MOST_EXPONENT)) * two
        loose = (one + weighed) * (self.error + (LIBM + 4 + 2 * np.abs(place)) * U) + _LEAST
        with np.errstate(all="ignore"):
            return np.asarray(np.where(one > _FAINT, (one - weighed - loose) / one, -math.inf))
