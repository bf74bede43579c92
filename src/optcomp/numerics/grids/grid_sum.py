r"""F(y) = E(1 - e^{y-L})_+ for a sum L of independent variables on one grid, between two numbers.

Every law is tilted by e^{cl}, transformed, raised to its power, and the product transformed back: R_k is then the
tilted law of the sum, folded with period N.  With k the first place above y, d its distance from y, and
Z_i = \sum p_j e^{chj},

    F(y) = \prod Z_i^{n_i} e^{-chk} \sum_{j>=0} R_{k+j} e^{-chj} (1 - e^{-d-jh}) - what folding added + what lies beyond

Both corrections are bounded by Chernoff's inequality at two other tilts.  Round-off: if φ_i errs by at most e_i at
every node, then the product of all φ_i^{n_i} errs by at most \prod(|φ_i| + e_i)^{n_i} - \prod|φ_i|^{n_i}, which is at
most \prod(|φ_i| + e_i)^{n_i} \sum n_i e_i/(|φ_i| + e_i); the mean of that over the nodes bounds the error of every R_k.

Assumed of numpy's fast Fourier transform, for a power of two: each output is within FFT·log2(N)·u times the sum of the
absolute inputs.  Input and output are joined by one path of log2(N) butterflies, and each of them errs by a few u.
`tests/unit/numerics/grids` measures it on the machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from optcomp.numerics.blocked import LIBM, Floats, U
from optcomp.numerics.grids.grid_law import GridLaw

FFT = 8.0
"""Assumed, see above."""
_LONG = np.longdouble
LONG_U = float(np.finfo(_LONG).eps) / 2
"""The unit round-off of long doubles; that of a float where there are none."""
_NEWTON = 12
"""Steps of a guess at most."""
_DEEP = 40.0
"""e^-40 of a sum is left out at its end, and counted."""

Counted = Sequence[tuple[GridLaw, int]]


@dataclass(frozen=True)
class Chernoff:
    """log of the product of Z_i(c)^n_i, at most and at least, at one tilt."""

    tilt: float
    most: float
    least: float


def log_masses(laws: Counted, h: float, c: float, kept: Kept | None = None) -> Chernoff:
    """The product of all Z_i^{n_i} at one tilt, which may be any number."""
    most = least = 0.0
    for law, copies in laws:
        value, error = _log_mass(law, h, c) if kept is None else kept.log_mass(law, h, c)
        most, least = most + copies * (value + error), least + copies * (value - error)
    return Chernoff(c, most + 4 * U * abs(most) * len(laws), least - 4 * U * abs(least) * len(laws))


def _log_mass(law: GridLaw, h: float, c: float) -> tuple[float, float]:
    """log Z(c) of one law, and a bound on its error."""
    exponent = (c * h) * np.arange(law.masses.size, dtype=np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log(law.masses) + exponent
    top = float(logs.max())
    size = abs(top) + 800 + float(exponent[-1] if c > 0 else -exponent[-1])
    value = top + math.log(float(np.exp(logs - top).sum()))
    return value, U * (4 * LIBM * size + 2 * law.masses.size**0.5 + 64 + pairwise(law.masses.size))


def pairwise(size: int) -> float:
    """Roundings of numpy's pairwise sum: blocks of 128, then one for each doubling."""
    return 160.0 + max(size, 2).bit_length()


@dataclass(frozen=True, eq=False)
class Transform:
    """φ of one tilted law at all nodes, the log of a bound on its size, and its error over that bound.

    The mass of the law is e^log_mass within a relative `mass_error`; with the tilt it is e^{log_total + moved}.
    """

    phi: npt.NDArray[np.complexfloating]
    log_size: Floats
    part: Floats
    log_mass: float
    mass_error: float
    log_total: float
    moved: float


def _transform(law: GridLaw, h: float, tilt: float, places: int, kind: type) -> Transform:
    """p e^{chk}/Z folded to a period of so many places, and transformed."""
    u = LONG_U if kind is _LONG else U
    index: npt.NDArray[np.floating] = np.arange(law.masses.size, dtype=kind)
    rate = kind(tilt) * kind(h)
    with np.errstate(divide="ignore"):
        logs = np.log(law.masses) + (tilt * h) * np.arange(law.masses.size)
    top = int(np.argmax(logs))
    exponent = np.where(law.masses > 0, rate * (index - top), 0)  # nothing times infinity is not nothing
    weights = law.masses * np.exp(exponent)
    total = float(weights.sum())  # whatever it is, the masses are taken over it and the result times it
    rough = np.where(exponent == 0, 0, np.abs(exponent) * 3 + LIBM + 4)
    sizes = float((weights * rough).sum()) / total * u
    mass = math.log(float(law.masses.sum()))
    shares, rows = weights / total, -(-law.masses.size // places)
    if shares.size > places:
        padded: npt.NDArray[np.floating] = np.zeros(rows * places, dtype=kind)
        padded[: shares.size] = shares
        shares = padded.reshape(-1, places).sum(axis=0)
    else:
        shares = np.concatenate((shares, np.zeros(places - shares.size, dtype=kind)))
    first, shares[0] = shares[0], 0
    phi = np.fft.rfft(shares) + first
    loose = 1.01 * sizes + (1.01 * rows + (rows > 1)) * u
    error = loose + 2 * fft_error(places, u) * (float(shares.sum()) + 1e-9) + 2 * u
    size = np.abs(phi).astype(np.float64) * (1 + 8 * U) + error
    mass_error = U * (2 * pairwise(law.masses.size) + 4 * LIBM * (abs(mass) + 1))
    return Transform(phi, np.log(size), error / size, mass, mass_error, math.log(total), float(rate) * top)


def fft_error(places: int, u: float) -> float:
    """The error of a transform of so many places, over the sum of its absolute inputs: assumed, see above."""
    return FFT * u * max(places.bit_length(), 4)


class Kept:
    """What sums of the same laws have in common, whatever the number of copies: computed once."""

    def __init__(self) -> None:
        self._transforms: dict[tuple[GridLaw, float, float, int, type], Transform] = {}
        self._log_masses: dict[tuple[GridLaw, float, float], tuple[float, float]] = {}

    def transform(self, law: GridLaw, h: float, tilt: float, places: int, kind: type) -> Transform:
        """φ of one law."""
        key = law, h, tilt, places, kind
        if key not in self._transforms:
            self._transforms[key] = _transform(*key)
        return self._transforms[key]

    def log_mass(self, law: GridLaw, h: float, c: float) -> tuple[float, float]:
        """log Z(c) of one law, and a bound on its error."""
        key = law, h, c
        if key not in self._log_masses:
            self._log_masses[key] = _log_mass(*key)
        return self._log_masses[key]


class GridSum:
    """The sum of the laws, by one tilt and one period."""

    def __init__(
        self,
        laws: Counted,
        h: float,
        tilt: float,
        size: int,
        others: Sequence[Chernoff],
        *,
        long: bool,
        kept: Kept | None = None,
    ) -> None:
        self._kept = kept
        self.h, self.tilt, self.size = h, tilt, size
        self.base = sum((copies * law.base for law, copies in laws), Fraction(0))
        self.slip = math.fsum(copies * law.slip for law, copies in laws) * (1 + 8 * U)
        self._others = others
        self._kind: type[np.floating[npt.NBitBase]] | type = _LONG if long else np.float64
        self._u = LONG_U if long else U
        self._fft = fft_error(size, self._u)
        self.log_z, self.log_z_error, self.log_mass, self.mass_error = 0.0, 0.0, 0.0, 0.0
        self._span = sum(copies * (law.masses.size - 1) for law, copies in laws)
        self._invert(laws)

    def _invert(self, laws: Counted) -> None:
        """R, and a bound on the error of each of its values."""
        value, error, most = self._spectrum(laws)
        whole = 2 * float(most.sum()) / self.size
        self.error = 1.01 * (2 * float(error.sum()) / self.size + self._fft * whole) + 1e-300
        self.values = np.fft.irfft(value, self.size)

    def _spectrum(self, laws: Counted) -> tuple[npt.NDArray[np.complexfloating], Floats, Floats]:
        """The product of all φ^n at the nodes, a bound on the error of each value, and one on its size."""
        value: npt.NDArray[np.complexfloating] | None = None
        log_more, parts = (np.zeros(self.size // 2 + 1) for _ in range(2))
        roundings = 0.0
        for law, copies in laws:
            key = law, self.h, self.tilt, self.size, self._kind
            one = _transform(*key) if self._kept is None else self._kept.transform(*key)
            self._counted(one, copies)
            log_more += copies * one.log_size
            parts += copies * one.part
            power = _power(one.phi, copies)
            roundings += 4.0 * copies + 8
            value = power if value is None else value * power
        assert value is not None
        most = np.exp(np.minimum(log_more, 700.0))
        slack = 1 + 8 * LIBM * U * (1 + float(np.abs(log_more).max()))
        return value, slack * most * (parts + roundings * self._u), slack * most

    def _counted(self, one: Transform, copies: int) -> None:
        """The masses of a law, with and without the tilt, for so many copies."""
        self.log_mass += copies * one.log_mass
        self.mass_error += copies * one.mass_error
        self.log_z += copies * (one.log_total + one.moved)
        size = 4 * LIBM * (abs(one.log_total) + 1) + 6 * abs(one.moved) + 4
        self.log_z_error += copies * U * size + 2 * U * abs(self.log_z)

    @cached_property
    def _unfolded(self) -> Floats:
        """R over two periods, as floats; what is negative is round-off."""
        values = np.clip(self.values, 0, None).astype(np.float64)
        return np.concatenate((values, values))

    @cached_property
    def _fading(self) -> tuple[Floats, Floats]:
        """j and e^{-chj}, as far as it matters."""
        step = self.tilt * self.h
        index = np.arange(min(self.size, math.ceil(_DEEP / step)), dtype=np.float64)
        return index, np.exp(-step * index)

    def near(self, y: float, log_t: float) -> float:
        """About where log F is log t, if that is near y: Newton's method, and in a cell the root of its line in e^y."""
        base, step = float(self.base), self.tilt * self.h
        for _ in range(_NEWTON):
            k = max(math.floor((y - base) / self.h) + 1, 0)
            length = min(self.size, math.ceil(_DEEP / step), self._span - k + 1)
            if length < 1:
                return y
            first, d = k % self.size, base + k * self.h - y
            mass = self._unfolded[first : first + length] * self._fading[1][:length]
            whole, damped = float(mass.sum()), float((mass * np.exp(-d - self.h * self._fading[0][:length])).sum())
            if not 0 < damped < whole:
                return y
            goal = math.exp(min(log_t - self.log_z + step * k, 600.0))
            moved = (math.log((whole - damped) / goal) if goal > 0 else 0.0) * (whole - damped) / damped
            if abs(moved) <= self.h and goal < whole:
                moved = min(max(math.log((whole - goal) / damped), d - self.h - 1e-12), d + 1e-12 * self.h)
            y = max(y + moved, 0.0)
            if abs(moved) <= 1e-15 * y:
                break
        return y

    def sides(self, y: float) -> tuple[float, float]:
        """log F(y) between two numbers, for the law itself: the caller moves y by the slip."""
        place = (Fraction(y) - self.base) / Fraction(self.h)
        k = math.floor(place) + 1
        d = float((k - place) * Fraction(self.h))
        if k > self._span:
            return -math.inf, -math.inf
        if k < 0:
            k, d = 0, float(self.base - Fraction(y))
        step = self.tilt * self.h
        length = min(self.size, math.ceil(_DEEP / step), self._span - k + 1)
        first = k % self.size
        index, fading = self._fading
        weight = fading[:length] * -np.expm1(-d - self.h * index[:length])
        weighted = self._unfolded[first : first + length] * weight
        total = float(weighted.sum())
        rounding = (3 * LIBM + 8) * U + U * pairwise(length) + 4 * U * step  # of a weight, and of the sum
        spread = 1.01 * float(weight.sum())
        moved = 4 * U * (step + self.h) * float((weighted * index[:length]).sum())
        error = 1.01 * (self.error * spread + rounding * total + moved) + 1e-300
        scale = self.log_z - step * k
        loose = 1.01 * (self.log_z_error + 4 * U * (abs(step * k) + abs(scale) + 2))
        rest = self._beyond(scale - loose, k, length) if k + length <= self._span else 0.0
        folded = self._folded(scale - loose, k) if self._span >= self.size else 0.0
        return self._logs(scale, loose, total - error - folded, total + error + rest)

    def noise(self, y: float) -> float:
        """About how far errors move log F(y)."""
        low, high = self.sides(y)
        return high - low if low > -math.inf else math.inf

    def _logs(self, scale: float, loose: float, low: float, high: float) -> tuple[float, float]:
        """The logs of two numbers in units of e^scale."""
        if not high < math.inf:  # nor if it is not a number
            return -math.inf, math.inf
        return (
            _moved(scale - loose, math.log(low), -1) if low > 0 else -math.inf,
            _moved(scale + loose, math.log(high), +1),
        )

    def _beyond(self, scale: float, k: int, length: int) -> float:
        """At least P(L beyond the last place) in units of e^scale."""
        best = -self.tilt * self.h * length  # the tilted law has mass 1
        for other in self._others:
            if other.tilt > 0:
                best = min(best, other.most - other.tilt * self.h * (k + length) - scale)
        return 1.01 * math.exp(min(best, 600.0)) + 1e-300

    def _folded(self, scale: float, k: int, sides: Sequence[bool] = (True, False)) -> float:
        """At least what folding added to the sum, in units of e^scale: all m != 0 periods away, above and below."""
        period = self.size * self.h
        total = 0.0
        for above in sides:
            best = math.inf
            for other in self._others:
                gap = abs(other.tilt - self.tilt)
                if (other.tilt > self.tilt) != above or gap * period < 1e-3:
                    continue
                log = (
                    other.most
                    - other.tilt * self.h * k
                    - scale
                    - gap * period
                    + 16 * U * (abs(other.tilt * self.h * k) + abs(scale))
                )
                best = min(best, math.exp(min(log, 600.0)) / -math.expm1(-gap * period))
            total += best
        return 1.01 * total


def _moved(scale: float, log: float, direction: int) -> float:
    """Their sum, with its rounding and that of the log on the safe side."""
    return scale + log + direction * (LIBM + 2) * U * (abs(scale) + abs(log))


def _power(phi: npt.NDArray[np.complexfloating], copies: int) -> npt.NDArray[np.complexfloating]:
    """φ^n by squaring: at most 2n roundings in effect."""
    result: npt.NDArray[np.complexfloating] | None = None
    square = phi
    while True:
        if copies & 1:
            result = square if result is None else result * square
        copies >>= 1
        if not copies:
            assert result is not None
            return result
        square = square * square
