r"""The mass of a normal law in narrow cells, each relatively exact.

With m the middle and w half the width of a cell,

    ∫ φ over it = φ(m) ∫ e^{-mt - t²/2} dt = 2wφ(m) \sum He_{2j}(m) w^{2j}/(2j+1)!

and |He_{2j}(m)| <= E(|m| + |Z|)^{2j} <= (|m| + 3)^{2j} for j = 4.  Four terms are used where (|m|+3)w <= 1/25: what is
left is below 2e-17 of it.  Wide cells are computed in balls.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from optcomp.numerics.balls import FLOAT_BITS, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.laws.gaussian import normal_tail

NARROW = 0.04
"""(|m|+3)w up to which four terms of the series are enough."""
_SERIES = 2e-17
"""What the series leaves out, relatively: 1.1 * 0.04^8/9!."""


def narrow(edges: Floats, shift: float) -> int:
    """From which cell on all cells are narrow, as seen from 0 and from the shift, if the cells become narrower."""
    far = np.maximum(np.abs(edges), np.abs(edges - shift))
    wide = np.flatnonzero(~((far[1:] + far[:-1] + 6) * np.diff(edges) <= 4 * NARROW))
    return int(wide[-1]) + 1 if wide.size else 0


def masses(middle: Floats, half: Floats, shift: float) -> tuple[Floats, Floats]:
    """The masses of cells under N(shift, 1), and a bound on their relative errors.

    The middle may be off by 2u(|m| + shift): that changes a mass by (|m| + 1) times as much, relatively.
    """
    m = middle - shift
    square, small = m * m, half * half
    series = 1 + small / 6 * (
        square
        - 1
        + small / 20 * (square * (square - 6) + 3 + small / 42 * (square * (square * (square - 15) + 45) - 15))
    )
    mass = np.exp(-0.5 * square) * (half * (2 / math.sqrt(2 * math.pi))) * series
    size = np.abs(m) + 1
    error = U * (40 + 3 * size * (np.abs(middle) + shift + size)) + _SERIES
    return mass, 1.01 * error


def wide_masses(edges: Floats, shift: arb) -> tuple[Floats, Floats]:
    """The same for any cells, in balls; edges may be infinite."""
    values = []
    with precision(FLOAT_BITS):
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            values.append(float(between(low, high, shift).mid()))
    return np.array(values), np.full(len(values), 4 * U)


def between(low: float, high: float, shift: arb) -> arb:
    """P(low < N(shift, 1) < high), from the side on which it is smaller."""
    if low + high > 2 * float(shift.mid()):
        return normal_tail(low - shift) - (normal_tail(high - shift) if math.isfinite(high) else 0)
    return normal_tail(shift - high) - (normal_tail(shift - low) if math.isfinite(low) else 0)
