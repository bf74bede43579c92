r"""What nodes of the smoothed integral are multiplied with, in doubles, and their sums; `rotations.py` counts errors.

    e^{-uθ²/2} = e^{-uα²/2} e^{-uβ²/2} ∏ e^{-uαΔ2^j}   over the binary digits j of b: at most 14 entries, each of which
                 is off by at most 2U relatively, and 13 products;
    1/(s(s+1)) = (D_r - iD_i)/(|s|²|s+1|²),  D_r = c(c+1) - θ², D_i = (2c+1)θ:  |s||s+1| >= |c(c+1)| + θ² >= θ², so the
                 numerator is off by at most 12U|s||s+1|, the denominator by at most 12U relatively;
    e^{iθp}      19 more, as for a coin with κ = 1.

Sums of at most 2^13 numbers are made in pairs: 13 roundings each.  All this, with φ of count n, is less than
(1+U)^{n+120} - 1, in units of e^{-uθ²/2}/θ² (for the density, of e^{-uθ²/2}), whose least value is far above 2^-1022.
"""

from __future__ import annotations

import numpy as np
from flint import arb

from optcomp.checker.balls import near
from optcomp.checker.grid import Grid, Left
from optcomp.checker.guess import Floats
from optcomp.checker.kernels import Smoothed
from optcomp.checker.rotations import rounded_closely, single, times

EXTRA = 120
"""What weights and sums add to the count of φ."""
BLOCK = 1 << 13
"""The most numbers in a sum."""
_TINY, FAR = 1e-200, 1e20
"""Weights above and θ below keep all numbers that matter far above 2^-1022."""


class Weights:
    """The weights of one kernel on a grid."""

    def __init__(self, kernel: Smoothed, grid: Grid) -> None:
        self._kernel, self._grid = kernel, grid
        self._c, self._step = near(kernel.c), near(kernel.step)
        if not (arb(self._c) == kernel.c and arb(self._step) == kernel.step):
            raise ArithmeticError("a contour or a step that is no double")
        self._places = [grid.turns(place, 1.0) for place in kernel.places]
        self._columns = np.array([self._fall(kernel.step * number) for number in range(grid.length)])

    def _fall(self, theta: arb) -> float:
        return rounded_closely((self._kernel.decay * theta * theta).exp())

    def sums(self, left: Left, rows: slice) -> list[tuple[arb, arb]]:
        """Excess and density for each y."""
        c, theta = self._c, self._step * self._grid.numbers(left).astype(np.float64)
        square = theta * theta
        size = self._falls(rows)[left.rows - rows.start, left.columns]
        small = size / ((c * c + square) * ((c + 1) * (c + 1) + square))
        real, imaginary = c * (c + 1) - square, (2 * c + 1) * theta
        found = []
        for turns in self._places:
            wave = times(left.phi, single(turns, left.rows, left.columns))
            excess = (wave.real * real + wave.imaginary * imaginary) * small
            found.append((_total(excess) * self._kernel.share, _total(wave.real * size) * self._kernel.share))
        return found

    def _falls(self, rows: slice) -> Floats:
        """e^{-uθ²/2} at the nodes of a block."""
        kernel, grid = self._kernel, self._grid
        starts = [kernel.step * (grid.first + grid.length * row) for row in range(rows.start, rows.stop)]
        found = np.empty((len(starts), grid.length))
        found[:, 0] = [self._fall(start) for start in starts]
        filled = 1
        while filled < grid.length:
            rates = [rounded_closely((2 * kernel.decay * start * kernel.step * filled).exp()) for start in starts]
            found[:, filled : 2 * filled] = found[:, :filled] * np.array(rates)[:, None]
            filled *= 2
        found *= self._columns
        if not found.min() > _TINY:
            raise ArithmeticError("a weight is too small for doubles")
        return found


def _total(values: Floats) -> arb:
    """The sum, in pairs: every number is added at most 13 times."""
    while values.size > 1:
        half = values.size // 2
        pairs = values[:half] + values[half : 2 * half]
        if values.size % 2:
            pairs = np.append(pairs, values[-1])
        values = pairs
    return arb(float(values[0]))
