"""Where to put the contour: tilt, step and smoothing.  Nothing here is certified; any choice gives a true bracket.

H is the excess F(y) = E(1 - e^{y-L})_+ on a contour with tilt c > 0, or 1 - F(y) with -1/2 <= c < 0 where F is large.
In units of e^{K(c) - cy} both are of moderate size at the saddle point, however small F is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from optcomp.numerics.blocked import Floats

_TILTS = np.array([1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 25, 40])
"""Standard deviations at which Chernoff bounds are tried."""
_LEAST_TILT, _MOST_TILT = 2.0**-24, 1e110
"""Tilts that are tried: from nearly 0 to what belongs to the least ε allowed, 1e-100."""
_GRID, _SEARCHES = 33, 4
"""Tilts tried at once, and how often: four times a 32nd of the range of logs is far finer than a plan needs."""
_LEAST_LOG_S = math.log(3e-3)  # a tilt far from the saddle loses digits
_LONGEST = 1e6  # a period beyond this means that no tilt proves anything
_CLIFF = 1.0, 0.95, 0.9, 0.8, 0.7, 0.6  # shares of the tilt that are tried where a rare large loss takes over
_SHARE = 0.03
"""The share of the tolerance left to aliasing, to truncation and to skipped nodes, each."""


class Outline(Protocol):
    """What a plan must know of L: about its cumulants at several tilts, its spread, and its largest value."""

    @property
    def total(self) -> float:
        """At least the largest value of L that matters."""

    @property
    def spread(self) -> float:
        """About its standard deviation."""

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """About log E e^{cL} and its first two derivatives."""

    def log_mean_guess(self, c: Floats) -> Floats:
        """About log E e^{cL}."""


@dataclass(frozen=True)
class Contour:
    """A contour for H near y: s = tilt + iθ, nodes θ = 0, step, 2 step, ...

    `tolerance` is the error that does not matter, in units of e^{K(tilt) - tilt*y}; `above` and `below` are the tilts
    of the Chernoff bounds on aliasing; `smoothing` is the variance w² of the Gaussian that smooths L.  With a `band` of
    N nodes nothing is smoothed, and kernels without waves beyond N steps lie above and below that of H (`band.py`).
    """

    excess: bool
    tilt: float
    y: float
    step: float
    above: float
    below: float
    smoothing: float
    tolerance: float
    band: int = 0

    @property
    def share(self) -> float:
        """What one source of error may cost."""
        return _SHARE * self.tolerance


@dataclass(frozen=True)
class Saddle:
    """About where H is what it should be: H is about e^log_h at y."""

    excess: bool
    tilt: float
    y: float
    log_h: float


def saddle_for(outline: Outline, log_t: float, log_rest: float) -> Saddle:
    """The saddle at which F is about t; `log_rest` is log(1 - t)."""
    excess = log_t < math.log(0.5)
    goal = log_t if excess else log_rest
    tilt, y, _ = _search(outline, excess, lambda _, log_h: log_h > goal if excess else log_h < goal)
    return Saddle(excess, tilt, max(y, 0.0), goal)


def saddle_at(outline: Outline, y: float) -> Saddle:
    """The saddle that belongs to y."""
    tilt, _, log_h = _search(outline, True, lambda place, _: place < y)
    if log_h < math.log(0.5):
        return Saddle(True, tilt, y, log_h)
    tilt, _, log_h = _search(outline, False, lambda place, _: place < y)
    return Saddle(False, tilt, y, min(log_h, -1e-300))


def _search(
    outline: Outline, excess: bool, left: Callable[[Floats, Floats], npt.NDArray[np.bool_]]
) -> tuple[float, float, float]:
    """The largest tilt for which a condition on (place, log H) still holds, if it holds for small tilts only."""
    low, high = (math.log(_LEAST_TILT), math.log(_MOST_TILT)) if excess else (math.log(2), -math.log(_LEAST_TILT))
    near = _zoom(outline, excess, left, *_usual(outline, low, high), 2) if excess else None
    found = near or _zoom(outline, excess, left, low, high, _SEARCHES, at_ends=True)
    assert found is not None
    return found


def _usual(outline: Outline, low: float, high: float) -> tuple[float, float]:
    """Where the tilt usually is: a few standard deviations' worth."""
    middle = math.log(5 / outline.spread)
    return max(middle - 3, low), min(middle + 3, high)


def _zoom(
    outline: Outline,
    excess: bool,
    left: Callable[[Floats, Floats], npt.NDArray[np.bool_]],
    low: float,
    high: float,
    rounds: int,
    at_ends: bool = False,
) -> tuple[float, float, float] | None:
    """The search between two logs of tilts; none if it ends at an end, unless that is allowed."""
    for number in range(rounds):
        grid = np.linspace(low, high, _GRID)
        place, log_h = _log_h(outline, np.exp(grid) if excess else -np.exp(-grid))
        i = int(np.argmin(np.append(left(place, log_h), False)))
        if number == 0 and not at_ends and not 0 < i < _GRID:
            return None
        i = min(max(i, 1), _GRID - 1)
        low, high = float(grid[i - 1]), float(grid[i])
    return math.exp(low) if excess else -math.exp(-low), float(place[i - 1]), float(log_h[i - 1])


def _log_h(outline: Outline, c: Floats) -> tuple[Floats, Floats]:
    """The places whose saddle points are at c, and about the log of H there."""
    value, slope, curve = outline.cumulants(c)
    y = slope - 1 / c - 1 / (c + 1)
    spread = curve + 1 / c**2 + 1 / (c + 1) ** 2
    return y, value - c * y - np.log(np.abs(c * (c + 1))) - 0.5 * np.log(2 * math.pi * spread)


def make_contour(outline: Outline, saddle: Saddle, smoothing: float, relative: float) -> Contour:
    """A contour through the saddle, with the longest step whose aliasing is below a share of the tolerance.

    `relative` is the relative error of H that does not matter.  In the bulk a larger tilt may allow a longer step, and
    where a rare large loss takes over a smaller one.
    """
    c = saddle.tilt
    smoothing = min(smoothing, 0.01, (0.05 * outline.total) ** 2)
    best: tuple[float, float, float, float, float] | None = None
    spread, before = np.sqrt(outline.cumulants(np.array([c, _CLIFF[1] * c]))[2]).tolist()
    factors: tuple[float, ...] = (1.0,)
    if saddle.excess and c * spread < 1.5:
        factors = (1.0, 1.5, 2.5, 4.0, 7.0, 12.0)
    elif saddle.excess and not spread < 2 * before:
        factors = _CLIFF
    for factor in factors:
        tilt = float(short(np.array([c * factor]))[0])
        period, above, below, log_s = _period(outline, saddle, tilt, smoothing, relative)
        if best is None:
            least = min(_LEAST_LOG_S, log_s - 1.5)
        if best is None or (period < 0.85 * best[0] and log_s > least):
            best = period, tilt, above, below, log_s
    assert best is not None
    period, tilt, above, below, log_s = best
    step = float(short(np.array([2 * math.pi / period]))[0])
    return Contour(
        saddle.excess, tilt, saddle.y, step, above, below, smoothing, max(min(relative, 0.1) * math.exp(log_s), 1e-290)
    )


def _period(
    outline: Outline, saddle: Saddle, c: float, smoothing: float, relative: float
) -> tuple[float, float, float, float]:
    """2π/step so that aliasing is small, the tilts that prove it, and log(H e^{cy - K(c)})."""
    y = saddle.y
    value, _, curve = (float(column[0]) for column in outline.cumulants(np.array([c])))
    spread = math.sqrt(curve + smoothing + 1e-300)
    ups, downs = _candidates(saddle.excess, c, spread)
    tilts = np.concatenate((ups, downs))
    logs = outline.log_mean_guess(tilts) + 0.5 * smoothing * tilts * (tilts + 1) + log_reach(saddle.excess, tilts)
    here = value + 0.5 * smoothing * c * (c + 1)
    log_s = min(saddle.log_h - here + c * y, 0.0)
    least = math.log(_SHARE / 3 * min(relative, 0.1)) + log_s
    with np.errstate(over="ignore", invalid="ignore"):
        periods = (logs - here - (tilts - c) * y - least) / np.abs(tilts - c)
    periods = np.where(np.isfinite(periods), periods, math.inf)
    up, down = int(np.argmin(periods[: ups.size])), ups.size + int(np.argmin(periods[ups.size :]))
    period = 1.02 * min(max(float(periods[up]), float(periods[down]), spread, 1e-3 * y), _LONGEST * (spread + y))
    return period, float(tilts[up]), float(tilts[down]), log_s


def _candidates(excess: bool, c: float, spread: float) -> tuple[Floats, Floats]:
    steps = _TILTS / spread
    if excess:
        ups = np.concatenate((c + steps, c * np.array([1.05, 1.1, 1.2, 1.35, 1.5, 2.0, 4.0, 8.0, 20.0])))
        downs = np.append(c - steps[steps < c], (0.5 * c, 0.0))
    else:
        ups = np.append(c + steps[c + steps < 0], (0.5 * c, 0.0))
        downs = np.append(c - steps[c - steps > -1], (-1.0,))
    return short(ups), short(downs)


def short(values: Floats) -> Floats:
    """The same to 24 bits, so that sums with 1/2 and 1, and whole multiples, are exact."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(mantissa * 2.0**24), exponent - 24))


def log_reach(excess: bool, c: Floats) -> Floats:
    """log of the largest h(z) e^{-cz} with h the kernel of H: c^c/(1+c)^(1+c) for F, at most 1 for 1 - F."""
    if not excess:
        return np.zeros_like(c)
    safe = np.maximum(c, 1e-300)
    return np.where(c > 0, -safe * np.log1p(1 / safe) - np.log1p(c), 0.0)
