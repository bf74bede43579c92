r"""The mass of a normal law in narrow cells, each relatively exact.

With m the middle and w half the width of a cell,

    ∫ φ over it = φ(m) ∫ e^{-mt - t²/2} dt = 2wφ(m) \sum He_{2j}(m) w^{2j}/(2j+1)!

and |He_{2j}(m)| <= E(|m| + |Z|)^{2j} <= (|m| + 3)^{2j} for j <= 10, by Minkowski's inequality.  Four terms are used
where (|m|+3)w <= 1/25: what is left is below 2e-17 of it.  Eleven where (|m|+3)w <= 1: what is left is below 1e-19.
The sum is at least e^{-w²/2} > 0.9, by Jensen's inequality.  Wider cells are computed in balls.
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
_ROUGHER = 60.0
"""More units of round-off than the longer series adds: 6 for each of eleven sums, of numbers that add up to 1.2."""
_WIDER, _TERMS = 1.0, 11
"""(|m|+3)w up to which so many terms are enough: the next one is below 1/23!."""


def narrow(edges: Floats, shift: float) -> int:
    """From which cell on the series serves all cells, as seen from 0 and from the shift."""
    far = np.maximum(np.abs(edges), np.abs(edges - shift))
    wide = np.flatnonzero(~((far[1:] + far[:-1] + 6) * np.diff(edges) <= 4 * _WIDER))
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
    size = np.abs(m) + 1
    error = U * (40 + 3 * size * (np.abs(middle) + shift + size)) + _SERIES
    wider = np.flatnonzero((size + 2) * half > NARROW)
    if wider.size:
        series[wider] = _long_series(m[wider], small[wider])
        error[wider] += _ROUGHER * U
    mass = np.exp(-0.5 * square) * (half * (2 / math.sqrt(2 * math.pi))) * series
    return mass, 1.01 * error


def _long_series(m: Floats, small: Floats) -> Floats:
    r"""The sum of He_{2j}(m) w^{2j}/(2j+1)! by the recurrence of the polynomials, each divided by its factorial.

    With a_n = He_n w^n/n! it is a_{n+1} = (m w a_n - w² a_{n-1})/(n+1).  The same with absolute values is at most
    ((|m|+3)w)^n/n! <= 1/n!, and a step errs by at most 6u of that: in all by less than 6u \sum n/(n+1)! < 6u.
    """
    w = np.sqrt(small)
    before, here, total = np.ones_like(m), m * w, np.ones_like(m)
    for n in range(1, 2 * _TERMS - 2, 2):
        before = (m * w * here - small * before) / (n + 1)
        total += before / (n + 2)
        here = (m * w * before - small * here) / (n + 2)
    return total


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
