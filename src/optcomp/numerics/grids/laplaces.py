"""Laplace noise alone: which tilt, how many nodes, and the root.  Any choice gives a true bound."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from optcomp.numerics.blocked import Floats
from optcomp.numerics.contour.plan import short
from optcomp.numerics.grids.answers import NEAR, NOTHING, Found, root
from optcomp.numerics.grids.laplace_sum import Laplaces, LaplaceSum, Tilted, atoms_of

_TILTS = np.exp(np.linspace(math.log(1e-4), math.log(1e9), 209))
"""Tilts that are tried."""
_UPS = np.array([1.05, 1.1, 1.2, 1.4, 2.0, 3.0, 5.0, 10.0, 30.0])
"""Larger tilts over the tilt, for what other periods add from above."""
_DOWNS = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97])
"""Smaller ones, for what they add from below."""
_MOST_ATOMS, _MOST_COPIES, _MOST_NODES = 20_000, 4000, 200_000
"""Sums of atoms, copies and nodes that are listed; longer lists are left to the contour."""
_FADED, _MANY = math.log(1e-12), 500
"""Where the atoms of many have so little mass, under the tilt, the contour needs no smoothing and is as quick."""
_NODE = 400.0
"""About the nanoseconds of a node."""
_SHARE, _CUT = 0.05, math.log(4.0)
"""Of the wanted width may go to other periods, and so many times as much, as a log, to what is cut off."""
_LEAST_LOG = -600.0
"""Smaller F is left to other methods."""


class LaplaceWay:
    """Sums of Laplace losses: up to one loss between its ends in closed form, the rest by an integral."""

    def __init__(self, laws: Laplaces) -> None:
        self._laws = laws
        self._eps = np.array([float(law.eps) for law, _ in laws])[:, np.newaxis]
        self._copies = np.array([float(copies) for _, copies in laws])[:, np.newaxis]

    @staticmethod
    def serves(laws: Laplaces) -> bool:
        """Whether there are few enough sums of atoms."""
        return atoms_of(laws) <= _MOST_ATOMS and sum(copies for _, copies in laws) <= _MOST_COPIES

    def _mean(self, c: Floats) -> Floats:
        """About the sum of all K(c)."""
        b = 1 + 2 * c
        low = np.exp(-b * self._eps)
        inner = 0.5 * (1 + low - np.expm1(-b * self._eps) / b)
        return np.asarray((self._copies * (c * self._eps + np.log(inner))).sum(axis=0))

    def _saddles(self) -> tuple[Floats, Floats]:
        """About the place, and log F there, that belong to each tilt."""
        c, h = _TILTS, 0.02 * _TILTS
        low, value, high = self._mean(c - h), self._mean(c), self._mean(c + h)
        slope, bend = (high - low) / (2 * h), np.maximum((high - 2 * value + low) / h**2, 0.0)
        y = slope - 1 / c - 1 / (c + 1)
        spread = bend + c**-2.0 + (c + 1) ** -2.0
        return y, value - c * y - np.log(c * (c + 1)) - 0.5 * np.log(2 * math.pi * spread)

    def _sum(self, c: float, y: float, log_f: float, relative: float, work: float) -> LaplaceSum | None:
        """The sum by one tilt, with a period and nodes for a relative error of F; None if those are too many."""
        c = float(short(np.array([c]))[0])
        here = float(self._mean(np.array([c]))[0])
        wanted = log_f + math.log(min(_SHARE * relative, 1e-3))
        tilts = c * np.concatenate((_UPS, _DOWNS))
        periods = (self._mean(tilts) - tilts * y - wanted) / np.abs(tilts - c)
        ups, downs = periods[: _UPS.size], periods[_UPS.size :]
        period = max(float(ups.min()), float(downs.min()), 4 / c)
        step = float(short(np.array([2 * math.pi / period]))[0])
        b, n = 1 + 2 * c, float(self._copies.sum())
        low = np.exp(-b * self._eps)
        share = float(
            (self._copies * np.log((1 + low) / (1 + low - np.expm1(-b * self._eps) / b))).sum()
        )  # of atoms alone, as a log
        top = math.exp((share + 2 * math.log(n) - math.log(24 * math.pi) - (wanted + _CUT - here + c * y)) / 3)
        count = math.ceil(max(top, n / 4, 8 * step) / step)
        if (share < _FADED and n > _MANY) or count > min(_MOST_NODES, work / _NODE):
            return None
        above, below = c * float(_UPS[int(np.argmin(ups))]), c * float(_DOWNS[int(np.argmin(downs))])
        return LaplaceSum(self._laws, Tilted(c, above, below, step, count))

    def root(self, log_t: tuple[float, float], rtol: float, work: float, known: float = 0.0) -> Found | None:
        """The y >= 0 with F(y) = t; None where this is no way to find it."""
        places, logs = self._saddles()
        if log_t[0] < _LEAST_LOG:
            return None
        i = min(max(int(np.argmax(np.append(logs < log_t[0], True))), 1), _TILTS.size - 1)
        part = min(max((logs[i - 1] - log_t[0]) / (logs[i - 1] - logs[i]), 0.0), 1.0) if logs[i - 1] > logs[i] else 1.0
        y = max(float(places[i - 1] + part * (places[i] - places[i - 1])), 0.0)
        c = float(_TILTS[i - 1] ** (1 - part) * _TILTS[i] ** part)
        made = self._sum(c, y, log_t[0], rtol * max(c * y, 1.0), work)
        if made is None:
            return None
        near, c = max(NEAR, 0.1 * rtol), made.plan.tilt
        sides = lru_cache(maxsize=None)(made.sides)
        upper = root(lambda place: sides(place)[1], log_t[0], y, c, +1, near)
        if math.isinf(upper):
            return None
        lower = root(lambda place: sides(place)[0], log_t[1], upper, c, -1, near)
        return Found(lower, upper, made.plan.count, upper - lower > rtol * upper + NOTHING, False)

    def excess(self, y: float, rtol: float, work: float) -> Found | None:
        """log F(y); None where this is no way to find it."""
        if not 0 <= y < float((self._eps * self._copies).sum()):
            return None
        i = int(np.argmin(self._mean(_TILTS) - _TILTS * y - np.log(_TILTS) - np.log1p(_TILTS)))
        log_f = min(float(self._saddles()[1][i]), 0.0)
        if log_f < _LEAST_LOG:
            return None
        made = self._sum(float(_TILTS[i]), y, log_f, rtol, work)
        if made is None:
            return None
        low, high = made.sides(y)
        return Found(low, min(high, 0.0), made.plan.count, not -math.expm1(low - min(high, 0.0)) <= rtol, False)
