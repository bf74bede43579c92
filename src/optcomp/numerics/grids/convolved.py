r"""Short sums on a lattice by plain convolution: masses are positive, so nothing cancels and every error is relative.

No tilt, no transform, no folding.  R_k is the mass of the sum at its place l_k = base + kh, with

    C_k = \sum_{j>=k} R_j e^{-(j-k)h},     F(l_k) = (1 - e^{-h}) \sum_{j>k} C_j,

and for y between l_{k-1} and l_k,  F(y) = F(l_k) + C_k (1 - e^{y-l_k}),  whose root is closed form.  All terms are
positive, so computed values are within a known share of the truth.  `docs/grids.md` counts the roundings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from optcomp.numerics.blocked import LIBM, Floats, U
from optcomp.numerics.grids.answers import Found
from optcomp.numerics.grids.lattice import LatticeLaw, lost_by

_CUT = 1e-15
"""Of t: so much mass at most is left out at the two ends after a convolution."""
_ROUNDINGS = 30.0
"""Of a mass for each copy, or more: longer sums have a relative error that is too large."""
_SHORT = 64
"""Shorter sums are not looked over for small ends."""
_MOST_PRODUCTS = 2_000_000
"""Longer convolutions are left to Fourier transforms, which are quicker there."""
_MOST_RISE = 600.0
"""Exponentials of larger losses leave the range of floats."""
_MOST_MASS = 1 + 1e-12
"""Of a law: 1 but for rounding.  Then 10^9 copies have a mass of at most 1.01."""
_LEAST = 2.0**-1022
"""What is lost at most where a product is too small for a float."""
_TINY = 1e-280
"""More than all such losses of convolutions: fewer than 2^80 of them count."""
_SMALL = 1e-12
"""Of t may be left out."""
_TWICE = math.log(2)
"""F is at least half the mass that lies so far above."""
_NEARLY_ALL = 1 - 1e-8
"""Of a line's height: above it its logarithm is not followed."""


def convolved_root(
    laws: Sequence[tuple[LatticeLaw, int]], h: float, log_t: tuple[float, float], rtol: float
) -> Found | None:
    """The y >= 0 with F(y) = t, for a sum of few places; None where this is no way to find it."""
    if sum(count for _, count in laws) * _ROUNDINGS * U > rtol:
        return None
    low, high = (math.exp(log + side * U * (LIBM + 2 * abs(log))) for log, side in zip(log_t, (-1, 1), strict=True))
    masses = convolved(laws, low)
    if masses is None:
        return None
    bases = [count * float(law.base) for law, count in laws]
    reach = math.fsum(map(abs, bases)) + (masses.first + masses.values.size) * h
    slip = math.fsum(count * law.slip for law, count in laws) * (1 + 8 * U) + 8 * len(laws) * U * reach
    curve = Curve(masses, math.fsum(bases), slip, h, low)
    if not curve.fits or math.isinf(upper := curve.upper(low)):
        return None
    return Found(min(curve.lower(high, lost_by(laws)), upper), upper, masses.values.size, False)


class Masses(NamedTuple):
    """A sum on the grid: its masses from the place number `first` on.

    Each is within `error` of the truth, relatively; masses that were left out are at most `lost` together.
    """

    first: int
    values: Floats
    error: float
    lost: float


def convolved(laws: Sequence[tuple[LatticeLaw, int]], t: float) -> Masses | None:
    """The sum of the larger laws, good enough where F is t; None if it is too long for this."""
    copies = sum(count for _, count in laws)
    total: Masses | None = None
    for law, count in laws:
        power = _power(law, count, _CUT * t / copies)
        if power is None:
            return None
        total = power if total is None else _product(total, power, _CUT * t)
        if total is None:
            return None
    return total


def _power(law: LatticeLaw, count: int, cut: float) -> Masses | None:
    """So many copies, by squaring from the highest bit on; `cut` is what one copy may leave out."""
    if float(law.most.sum()) > _MOST_MASS:
        return None
    one = Masses(0, law.most, 0.0, law.spare)
    power: Masses | None = one
    for bit in range(count.bit_length() - 2, -1, -1):
        made = count >> bit
        power = None if power is None else _product(power, power, cut * made)
        if power is not None and made & 1:
            power = _product(power, one, cut * made)
    return power


def _product(one: Masses, two: Masses, cut: float) -> Masses | None:
    """The sum of two independent ones, without small masses at its ends."""
    sizes = one.values.size, two.values.size
    if sizes[0] * sizes[1] > _MOST_PRODUCTS:
        return None
    values = np.convolve(one.values, two.values)
    first, lost = one.first + two.first, 1.01 * (one.lost + two.lost)
    error = 1.01 * (one.error + two.error + (min(sizes) + 1) * U)
    if values.size > _SHORT:
        kept = values > cut / values.size
        start, end = int(kept.argmax()), values.size - int(kept[::-1].argmax())
        if start or end < values.size:
            values, first, lost = values[start:end], first + start, lost + 1.01 * cut
    return Masses(first, values, error, lost)


class Curve:
    """F near the place where it is t: computed values, and their share of error."""

    def __init__(self, masses: Masses, base: float, slip: float, h: float, t: float) -> None:
        """`base` is the place number 0; all places may be off by `slip`."""
        values = masses.values
        above = values[::-1].cumsum()
        start = max(values.size - int(np.searchsorted(above, 4 * t)) - math.ceil(_TWICE / h) - 2, 0)
        part = values[start:]
        size, rise = part.size, h * part.size
        self._complete = start == 0
        self._last: float = base + (masses.first + values.size - 1) * h
        self._h, self._slip = h, slip
        self.error = 1.01 * (masses.error + U * (2 * rise + 2 * size + 4 * LIBM + 16))
        self._tiny = _TINY + size * size * _LEAST * math.exp(min(rise, _MOST_RISE))
        self._lost = masses.lost + self._tiny
        self.fits = rise < _MOST_RISE and self._lost < _SMALL * t
        """Whether floats hold all numbers."""
        if self.fits:
            fading = np.exp(-h * np.arange(size))
            self._damped = (part * fading)[::-1].cumsum() / fading[::-1]
            self._curve = -math.expm1(-h) * self._damped.cumsum()

    def upper(self, t: float) -> float:
        """At least the place where F is t; infinite if that is not known."""
        return self._root((t - self._lost) * (1 - 8 * U) / (1 + self.error), +1)

    def lower(self, t: float, loss: float) -> float:
        """At most the place where F is t, if masses are at least e^-loss of the larger ones, all copies together."""
        return self._root((t * math.exp(loss) + self._tiny) * (1 + 24 * U) / (1 - self.error), -1)

    def _root(self, goal: float, side: int) -> float:
        """Where the computed curve is the goal, moved to a side by what is rounded.

        `_damped` and `_curve` go from the last place down: C_k, and F at the place before k.  F is above a line outside
        its cell, so the answer stays in the cell.
        """
        size = self._curve.size
        back = int(np.searchsorted(self._curve, goal))
        if back == size and not self._complete:
            return math.inf if side > 0 else 0.0
        back = min(back, size - 1)
        share = (goal - (float(self._curve[back - 1]) if back else 0.0)) / float(self._damped[back])
        least = -math.inf if self._complete and back == size - 1 else -self._h
        if share > _NEARLY_ALL:
            share = 0.0 if side < 0 else _NEARLY_ALL
            below = least if side < 0 else max(math.log1p(-share), least)
        else:
            below = max(math.log1p(-share), least)
        if below == -math.inf:
            return 0.0
        place = self._last - back * self._h
        spare: float = self._slip + U * (16 + 8 * abs(place) + 8 * abs(below) + 16 * share / (1 - share))
        found: float = place + below + side * spare
        return max(found, 0.0)
