r"""Laws on a grid: masses at the places base + kh, which stand above or below a law that is not on the grid.

For F(y) = E(1 - e^{y-L})_+ two things may be done to a loss L of density P, with Q = e^{-L} P the other law.

    a loss in [g, g+h] is split onto the ends so that P and Q keep their masses:  F grows or stays   (`above`)
    the losses of a cell are merged into log P(cell)/Q(cell):                     F falls or stays   (`below`)

The first is a Jensen inequality, because (1 - e^{y-L})_+ is convex in e^{-L}; the second is dropping a part of the
answer.  Larger losses, and more mass, only make F larger.  So whoever rounds masses and places towards the safe side
has a bound, whatever the floats did; `slip` is how far a place may be off.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.numerics.blocked import Floats


@dataclass(frozen=True)
class Rest:
    """What lies beyond the grid: its masses under the law and under the other one, and at least its least loss."""

    own: arb
    other: arb
    loss: Fraction


@dataclass(frozen=True, eq=False)
class GridLaw:
    """Masses at base + kh, k = 0, 1, ..., for one grid width h, and the rest that is larger than all of them.

    As an upper law: the true one without its rest is at most this one shifted by `slip`.
    As a lower law: it is at least this one shifted by -`slip`.
    """

    base: Fraction
    masses: Floats
    slip: float
    least: Fraction | None
    """At most the least loss of all, if there is one."""
    rest: Rest | None = None

    def coarse(self, most: int) -> tuple[Floats, Floats]:
        """At most so many (index, mass), neighbours put together: for guesses."""
        size = self.masses.size
        if size <= most:
            kept = np.flatnonzero(self.masses)
            return kept.astype(np.float64), self.masses[kept]
        width = -(-size // most)
        padded = np.zeros(-(-size // width) * width)
        padded[:size] = self.masses
        rows = padded.reshape(-1, width)
        mass = rows.sum(axis=1)
        place = (rows * np.arange(width)).sum(axis=1)
        kept = np.flatnonzero(mass)
        return kept * float(width) + place[kept] / mass[kept], mass[kept]
