"""Which tilt, which period: guesses for a sum on a grid.  Any choice gives a true bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optcomp.numerics.blocked import Floats
from optcomp.numerics.grids.grid_curve import PARTS
from optcomp.numerics.grids.grid_sum import Counted

_COARSE = 2048
"""Points of a law in guesses."""
_TILTS = np.exp(np.linspace(math.log(1e-4), math.log(1e14), 289))
"""Tilts that are tried."""
_AT_ONCE, _UNDERFLOW = 16, 760.0
"""Tilts whose sums are done together, and an exponent that leaves nothing of a number, subnormal ones included."""
_UPS = 1.02, 1.05, 1.1, 1.2, 1.4, 2.0, 3.0, 5.0, 10.0
"""Larger tilts over the tilt, for what is folded in from above."""
_DOWNS = 0.0, 0.1, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97
"""Smaller ones, for what is folded in from below."""
_NEARLY = 1.05
"""Times the shortest period: for a tilt with less round-off."""
_STEEP = 1e5
"""A tilt times the length of the sum from which round-off spoils Chernoff's bound."""
_FAINT = 30.0
"""e^-30 of F is what folding may add."""


@dataclass(frozen=True)
class Setting:
    """A tilt, the tilts of the Chernoff bounds and the period that go with it, and the parts of it in a window.

    `over` is the log of how much larger than F the unit of round-off is.
    """

    tilt: float
    others: tuple[float, ...]
    period: float
    parts: int = PARTS
    over: float = 0.0

    def places(self, h: float) -> int:
        """The power of two that a period of places of this width is rounded up to."""
        return 1 << max(math.ceil(math.log2(self.period / h)), 4)


class Guess:
    """About the cumulants of a sum, in units of places rather than indices."""

    def __init__(self, laws: Counted, h: float) -> None:
        self._laws = [(copies, *law.coarse(_COARSE)) for law, copies in laws]
        self._base = float(sum(copies * law.base for law, copies in laws))
        self._h = h
        self.span = h * sum(copies * (law.masses.size - 1) for law, copies in laws)

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """K, K' and K'' for several tilts."""
        value, mean, square = self._base * c, np.full_like(c, self._base), np.zeros_like(c)
        for copies, index, mass in self._laws:
            each = _cumulants(self._h * index, np.log(mass), c, moments=True)
            value, mean, square = (
                column + copies * one for column, one in zip((value, mean, square), each, strict=True)
            )
        return value, mean, square

    def log_means(self, c: Floats) -> Floats:
        """K alone."""
        each = (copies * _cumulants(self._h * index, np.log(mass), c)[0] for copies, index, mass in self._laws)
        return np.asarray(self._base * c + sum(each))

    def tilt_for(self, log_t: float) -> tuple[float, float]:
        """The tilt at which F is about t, and the place."""
        k, k1, k2 = self.cumulants(_TILTS)
        y = k1 - 1 / _TILTS - 1 / (_TILTS + 1)
        spread = k2 + _TILTS**-2.0 + (_TILTS + 1) ** -2.0
        log_f = k - _TILTS * y - np.log(_TILTS * (_TILTS + 1)) - 0.5 * np.log(2 * math.pi * spread)
        i = int(np.argmax(np.append(log_f < log_t, True)))
        i = min(i, _TILTS.size - 1)
        return float(_TILTS[i]), float(y[i])

    def tilt_at(self, y: float) -> float:
        """The tilt whose saddle is at y."""
        k = self.log_means(_TILTS)
        return float(_TILTS[int(np.argmin(k - _TILTS * y - np.log(_TILTS) - np.log1p(_TILTS)))])

    def log_at(self, c: float, y: float) -> float:
        """About log F(y) by the saddle point at a tilt."""
        k, _, k2 = (float(column[0]) for column in self.cumulants(np.array([c])))
        spread = k2 + c**-2.0 + (c + 1) ** -2.0
        return min(k - c * y - math.log(c * (c + 1)) - 0.5 * math.log(2 * math.pi * spread), 0.0)

    def setting(self, c: float, y: float, log_f: float) -> Setting:
        """The shortest period at which folding is faint."""
        tilts = c * np.array([1.0, *_UPS, *_DOWNS])
        k = self.log_means(tilts)
        wanted = log_f - _FAINT
        with np.errstate(divide="ignore", invalid="ignore"):
            periods = (k - tilts * y - wanted) / np.abs(tilts - c)
        ups, downs = periods[1 : 1 + len(_UPS)], periods[1 + len(_UPS) :]
        up, down = int(np.argmin(ups)), int(np.argmin(downs))
        period = max(float(ups[up]), float(downs[down]), 4 / c, 1e-300)
        return Setting(c, (c * _UPS[up], c * _DOWNS[down]), min(period, 1.001 * self.span))

    def window(self, y: float, log_f: float, faint: float, room: float) -> Setting:
        """The shortest period at which folding, and what lies beyond a window, are e^-faint of F.

        `room` is the log of how much larger than F the unit of round-off may be.
        """
        tilts = np.append(0.0, _TILTS)
        logs = self.log_means(tilts) - tilts * y  # of Chernoff's bounds on F(y), or about so
        useful = np.isfinite(logs) & (tilts * self.span < _STEEP)  # steeper bounds only tell where the sum ends
        spare = np.maximum(np.where(useful, logs, math.inf) - (log_f - faint), 1.0)
        gaps = tilts[np.newaxis, :] - tilts[:, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            periods = spare / np.abs(gaps)
            lengths = spare[1:] / tilts[1:]
        ahead = max(y - self._base, 0.0)
        whole = 1.001 * max(self.span - ahead, 0.0) + 2e-3 * self.span  # from y to the end
        ups, downs = np.where(gaps > 0, periods, math.inf), np.where(gaps < 0, periods, math.inf)
        up, length = np.minimum(ups.min(axis=1), whole), max(min(float(lengths.min()), whole), 8 * self._h)
        steep = (tilts * self._h > 1) | (tilts * length < 1)  # beyond what a kernel is good for
        least = float(np.where(steep, math.inf, logs).min())
        up[(logs > max(log_f + room, least + 1.0)) | steep] = math.inf
        options = [(np.maximum(np.maximum(up, length), downs.min(axis=1)), PARTS)]
        options += [
            (np.maximum(up, max(1.01 * ahead * PARTS / (PARTS - m), length * PARTS / m)), m) for m in range(1, PARTS)
        ]
        period, parts = min(options, key=lambda option: float(option[0][1:].min()))
        if not math.isfinite(float(period[1:].min())):  # no tilt serves: one is taken that a kernel stands
            period = np.where(
                np.arange(tilts.size) == 1 + int(np.argmin(np.abs(_TILTS * self._h - 0.5))), 1.0, math.inf
            )
            period = np.asarray(period * 2 * (ahead + whole))
        good = period <= _NEARLY * float(period[1:].min()) + 1e-300
        good[0] = False
        i = int(np.argmin(np.where(good, logs, math.inf)))
        others = tilts[int(ups[i].argmin())], tilts[int(downs[i].argmin())], tilts[1 + int(lengths.argmin())]
        over = float(logs[i]) - log_f
        return Setting(float(tilts[i]), tuple(map(float, others)), max(float(period[i]), 1e-300), parts, over)


def _cumulants(place: Floats, log_mass: Floats, c: Floats, *, moments: bool = False) -> tuple[Floats, Floats, Floats]:
    """K, and if asked for K' and K'', of one law at several tilts, some at a time so that they stay near the processor.

    Where all but the last place underflow, nothing is left to sum.
    """
    value, mean, square = (np.full_like(c, math.nan) for _ in range(3))
    alone = np.zeros(c.shape, dtype=bool)
    if place.size > 1:
        alone = c * float(place[-1] - place[-2]) + float(log_mass[-1] - log_mass.max()) > _UNDERFLOW
    value[alone], mean[alone], square[alone] = float(log_mass[-1]) + c[alone] * float(place[-1]), place[-1], 0.0
    rest = np.flatnonzero(~alone)
    for some in np.array_split(rest, max(-(-rest.size // _AT_ONCE), 1)):
        share = c[some, np.newaxis] * place
        share += log_mass
        top = share.max(axis=1)
        share -= top[:, np.newaxis]
        with np.errstate(over="ignore", under="ignore"):
            np.exp(share, out=share)
        total = share.sum(axis=1)
        value[some] = top + np.log(total)
        if moments:
            mean[some] = (share * place).sum(axis=1) / total
            away = place - mean[some, np.newaxis]
            away *= away
            away *= share
            square[some] = away.sum(axis=1) / total
    return value, mean, square


def faint_from(mu: float, q: float, log_p: float) -> float:
    """About the x beyond which a mixture has probability e^log_p."""
    low, high = 0.0, mu + 60.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        tail = max(_log_tail(middle), _log_tail(middle - mu) + math.log(q))
        low, high = (middle, high) if tail > log_p else (low, middle)
    return high


def _log_tail(x: float) -> float:
    """About the log of a normal tail."""
    return -0.5 * x * x - math.log(2.5 * x) if x > 5 else math.log(0.5 * math.erfc(x / math.sqrt(2)))
