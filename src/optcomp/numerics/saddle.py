"""Saddle-point guesses: where to look, never what to claim.

Nothing here is certified.  A guess only decides where a certified method evaluates first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from optcomp.numerics.blocked import Floats

_BULK = math.log(0.02)  # above this excess the root lies in the bulk of the distribution
_HALVINGS = 36  # of the range of log c, which leave 5e-10 of it
_FEW = 3.0  # coins that land low: with fewer expected ones a tilt wastes the range of floats


def _cumulants(x: Floats, m: Floats, c: float) -> tuple[float, float, float]:
    """log E e^{cL} and its first two derivatives."""
    if x.size == 1:
        return _of_one(float(x[0]), float(m[0]), c)
    a = x * (c + 0.5)
    value = float(m @ (a - x / 2 + np.log1p(np.exp(-2 * a)) - np.log1p(np.exp(-x))))
    slope = np.tanh(a)
    return value, float(m @ (x * slope)), float(m @ (x * x * (1 - slope * slope)))


def _of_one(x: float, m: float, c: float) -> tuple[float, float, float]:
    """The same for equal coins, without arrays."""
    a = x * (c + 0.5)
    rare = math.exp(-2 * a)
    slope = (1 - rare) / (1 + rare)
    value = a - x / 2 + math.log1p(rare) - math.log1p(math.exp(-x))
    return m * value, m * x * slope, m * x * x * (1 - slope * slope)


def _at(x: Floats, m: Floats, c: float) -> tuple[float, float]:
    """For the tilt c: the place y it belongs to, and the approximate log of the excess there."""
    value, slope, curve = _cumulants(x, m, c)
    spread = curve + 1 / c**2 + 1 / (c + 1) ** 2
    y = slope - 1 / c - 1 / (c + 1)
    return y, value - c * y - math.log(c * (c + 1)) - 0.5 * math.log(2 * math.pi * spread)


def _bisect(x: Floats, m: Floats, by_excess: bool, goal: float) -> float:
    """The tilt at which the log of the excess (or else the place) reaches the goal."""
    low, high = -18.0, math.log(1e7)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        y, log_excess = _at(x, m, math.exp(middle))
        if (log_excess > goal) if by_excess else (y < goal):
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)


def _arrays(sizes: Sequence[float] | Floats, counts: Sequence[float] | Floats) -> tuple[Floats, Floats]:
    return np.asarray(sizes, dtype=np.float64), np.asarray(counts, dtype=np.float64)


def excess_root_guess(sizes: Sequence[float] | Floats, counts: Sequence[float] | Floats, log_t: float) -> float:
    """About where E(1 - e^{y-L})_+ equals e^{log_t}."""
    x, m = _arrays(sizes, counts)
    most = float(m @ x)
    if log_t > _BULK:
        return _normal_root(x, m, log_t, most)
    y, _ = _at(x, m, _bisect(x, m, True, log_t))
    return min(max(y, 0.0), most)


def _normal_root(x: Floats, m: Floats, log_t: float, most: float) -> float:
    """The root for a normal sum of the same mean and variance: good in the bulk, where the pole spoils the saddle."""
    _, mean, variance = _cumulants(x, m, 0.0)
    spread = max(math.sqrt(variance), 1e-150)
    low, high = 0.0, most
    for _ in range(60):
        y = (low + high) / 2
        z = (mean - y) / spread
        drag = y - mean + variance / 2 + _log_normal_cdf(z - spread)
        excess = math.exp(_log_normal_cdf(z)) - math.exp(min(drag, 0.0))
        low, high = (y, high) if excess > math.exp(log_t) else (low, y)
    return (low + high) / 2


def _log_normal_cdf(z: float) -> float:
    if z > -30:
        return math.log(math.erfc(-z / math.sqrt(2)) / 2)
    return -z * z / 2 - math.log(-z * math.sqrt(2 * math.pi))


def _expected_low(x: Floats, m: Floats, c: float) -> float:
    """How many coins land low under the tilt c."""
    return float(m @ (1 / (1 + np.exp(np.minimum(x * (1 + 2 * c), 700.0)))))


def log_excess_guess(sizes: Sequence[float] | Floats, counts: Sequence[float] | Floats, y: float) -> float:
    """About log E(1 - e^{y-L})_+."""
    x, m = _arrays(sizes, counts)
    return min(_at(x, m, _bisect(x, m, False, y))[1], 0.0)


def tilt_guess(sizes: Sequence[float] | Floats, counts: Sequence[float] | Floats, y: float) -> float:
    """The tilt c whose saddle point is y, but not so large that fewer than a few coins are expected to land low."""
    x, m = _arrays(sizes, counts)
    low, high = 0.0, _bisect(x, m, False, y)
    few = min(_FEW, float(m.sum()) / 4)
    if _expected_low(x, m, high) >= few:
        return high
    for _ in range(50):
        c = (low + high) / 2
        low, high = (c, high) if _expected_low(x, m, c) > few else (low, c)
    return low
