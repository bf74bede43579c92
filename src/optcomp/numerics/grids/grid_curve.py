r"""The same F as `grid_sum.py`, with less round-off and for all places at once: the last sum is done before inverting.

With z = e^{-ch}, a = z e^{iθ}, b = a e^{-h} and a window of l places, F at the place k of the grid is

    C_k = \sum_{j<l} R_{k+j} z^j (1 - e^{-jh})   in units of Z e^{-chk},

the inverse transform of φ times

    (1 - e^{-lh} a^l) a (1 - e^{-h})/((1-a)(1-b)) - (1 - e^{-lh}) a^l/(1 - a).

It falls with the square of the frequency, so errors of φ far out hardly count.  l is m/16 of the period, so a^l takes
16 values only.  If k + l is within the first period nothing is folded in from below: no sum is below place 0.
Between two places F is linear in e^y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from optcomp.numerics.blocked import LIBM, Floats, U
from optcomp.numerics.grids.grid_sum import Chernoff, Counted, GridSum, Kept

PARTS = 16
"""A window is so many parts of the period, or fewer."""
_NEARBY = 256
"""Places on either side among which a root is looked for."""
_ROUNDINGS = 410.0
"""Units by which a kernel may be off, over its terms; counted in `docs/grids.md`."""

Reals = npt.NDArray[np.floating]
Complexes = npt.NDArray[np.complexfloating]


@dataclass(frozen=True, eq=False)
class Kernel:
    """What φ is multiplied with, for a tilt, a grid and a window; the sum of the sizes of its terms at every node."""

    h: float
    tilt: float
    size: int
    length: int
    long: bool
    values: Complexes
    sizes: Floats

    @property
    def roundings(self) -> float:
        """How many units its values may be off, over the sizes."""
        return _ROUNDINGS + 4 * (self.tilt + 1) * self.h * self.length

    @classmethod
    def of(cls, h: float, tilt: float, size: int, *, parts: int, long: bool) -> Kernel:
        """For a window of some sixteenths of the period."""
        kind: type = np.longdouble if long else np.float64
        length, width, step = parts * size // PARTS, kind(h), kind(tilt) * kind(h)
        index = np.arange(size // 2 + 1)
        half = index.astype(kind) * (4 * np.arctan(kind(1)) / kind(size))
        sine, cosine = np.sin(half), np.cos(half)
        square, product = 2 * sine * sine, 2 * sine * cosine
        first = 1 / _one_less(step, square, product)
        z = np.exp(-step)
        base = ((z - z * square) + 1j * (z * product)) * -np.expm1(-width)
        base *= first
        base /= _one_less(step + width, square, product)
        ended, left = float(np.exp(-step * length)), float(-np.expm1(-width * length))
        sizes = (1 + ended) * np.abs(base).astype(np.float64) + ended * left * np.abs(first).astype(np.float64)
        turn = np.exp(-step * length) * _turns(parts, kind)[index % PARTS]
        values = (1 - np.exp(-width * length) * turn) * base + np.expm1(-width * length) * turn * first
        return cls(h, tilt, size, length, long, values, sizes)


def _one_less(step: np.floating, square: Reals, product: Reals) -> Complexes:
    """1 - e^{-step + iθ} from 1 - cos θ and sin θ: both parts relatively exact, next to the size of the whole."""
    z = np.exp(-step)
    return np.asarray((-np.expm1(-step) + z * square) - 1j * (z * product))


def _turns(parts: int, kind: type) -> Complexes:
    """e^{2πi parts k/16} for k = 0 ... 15: roots of sums that lose two bits at most, so within 4u of themselves."""
    half = np.sqrt(kind(0.5))
    quarter = [kind(1), np.sqrt((1 + half) / 2), half, np.sqrt((1 - half) / 2)]
    falling = [*quarter, kind(0), *(-cosine for cosine in quarter[:0:-1])]  # cosines from 0 up to, but not at, π
    table: Reals = np.array([*falling, *(-cosine for cosine in falling)], dtype=kind)
    at = parts * np.arange(PARTS) % PARTS
    return np.asarray(table[at] + 1j * table[(at - PARTS // 4) % PARTS])


class GridCurve(GridSum):
    """The sum of the laws, by one kernel."""

    def __init__(self, laws: Counted, kernel: Kernel, others: Sequence[Chernoff], *, kept: Kept | None = None) -> None:
        self._kernel = kernel
        super().__init__(laws, kernel.h, kernel.tilt, kernel.size, others, long=kernel.long, kept=kept)

    def _invert(self, laws: Counted) -> None:
        """C, and a bound on the error of each value."""
        value, error, most = self._spectrum(laws)
        kernel = self._kernel
        missed = 2 * float((error * kernel.sizes).sum()) / self.size
        whole = 2 * float((most * kernel.sizes).sum()) / self.size
        self.error = 1.01 * (missed + (self._fft + (kernel.roundings + 8) * self._u) * whole) + 1e-300
        self.values = np.fft.irfft(value * kernel.values, self.size)

    def sides(self, y: float) -> tuple[float, float]:
        """log F(y) between two numbers, for the law itself: the caller moves y by the slip."""
        place = (Fraction(y) - self.base) / Fraction(self.h)
        k = math.floor(place) + 1
        d = float((k - place) * Fraction(self.h))
        if k > self._span:
            return -math.inf, -math.inf
        if k <= 0:
            k, share, d = 0, 0.0, float(self.base - Fraction(y))
        else:
            share = min(math.expm1(-d) / math.expm1(-self.h), 1.0)
        step = self.tilt * self.h
        if step > 1:
            return -math.inf, math.inf  # a tilt that no grid of this width serves
        scale = self.log_z - step * k
        loose = 1.01 * (self.log_z_error + 4 * U * (step * k + abs(scale) + step + 2))
        one, two = (0.0, 0.0), self._at(k, scale, loose)
        if k == 0:  # below all places: linear in e^y from the whole mass on
            mass = math.exp(self.log_mass - scale)
            share, one = -math.expm1(-d), (mass * (1 - self.mass_error), mass * (1 + self.mass_error))
        elif share:
            before = self._at(k - 1, scale + step, loose)
            one = math.exp(step) * before[0], math.exp(step) * before[1]
        low, high = (share * first + (1 - share) * second for first, second in zip(one, two, strict=True))
        slack = (4 * LIBM + 16) * U * (abs(high) + abs(low) + share * (abs(one[0]) + abs(two[0])))
        return self._logs(scale, loose, low - slack, high + slack)

    def near(self, y: float, log_t: float) -> float:
        """About where log F is log t, if that is near y: the first place at which it is less, and back from there."""
        base, step = float(self.base), self.tilt * self.h
        first = max(min(math.floor((y - base) / self.h), self._span) - _NEARBY, 0)
        k = np.arange(first, min(first + 2 * _NEARBY, self._span) + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = self.log_z - step * k + np.log(self.values[k % self.size].astype(np.float64))
        less = np.flatnonzero(logs < log_t)
        if not less.size or not less[0]:
            return y
        i = int(less[0])
        before, after = math.exp(min(float(logs[i - 1]) - log_t, 600.0)), math.exp(float(logs[i]) - log_t)
        share = (1 - after) / (before - after)
        return max(base + float(k[i]) * self.h + math.log1p(share * math.expm1(-self.h)), 0.0)

    def noise(self, y: float) -> float:
        """About the round-off of log F(y)."""
        k = max(math.floor((Fraction(y) - self.base) / Fraction(self.h)) + 1, 0)
        return 2 * self.error / max(float(self.values[k % self.size]), self.error)

    def _at(self, k: int, scale: float, loose: float) -> tuple[float, float]:
        """F at the place k in units of e^scale."""
        total, length = max(float(self.values[k % self.size]), 0.0), self._kernel.length
        rest = self._beyond(scale - loose, k, length) if k + length <= self._span else 0.0
        sides = [True] * (k + self.size <= self._span) + [False] * (k + length > self.size)
        return total - self.error - self._folded(scale - loose, k, sides), total + self.error + rest
