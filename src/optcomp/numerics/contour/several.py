r"""One contour for several sums at once: a row for each, with its own numbers of copies and its own place.

With log φ = \sum n_i log φ_i at the nodes and K = \sum n_i K_i, rows differ by n alone.  The sum of `integral.py`
without smoothing is then one of arrays,

    S(y) = (Δ/π) sum' |φ| Re(e^{i(arg φ - θy)} / s(s+1)),   z S(y) = H(y) + aliasing,   z = e^{K(c) - cy}

and its errors are those that are named there, each no smaller here: a term is off by |φ|/|s(s+1)| times
e^{error of log φ} - 1, and by some u for the size, θy and the phase; N terms in any order lose (N-1)u of their sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.contour.plan import Contour, log_reach
from optcomp.numerics.laws.law import Waves

_SLACK = 1.5
"""More than an error of the logarithm can make of a term; where that error is large, |φ| counts whole."""
_ROUNDING, _PLACED = 100.0, 10.0
"""Units of round-off of a term: of weights and functions, and of every phase that was added to its own."""
_NEWTON, _CLOSE = 30, 1e-13
"""Steps of Newton's method at most, and the relative move that ends it."""
_LOOKS, _FARTHER = 4, 1.1
"""Places tried for either end, each so many times as far as the last look asked for."""
_LEAST_MOVE = 1e-15
"""Ends are moved by at least this part of their place."""


@dataclass(frozen=True, eq=False)
class Mean:
    """K of every law at one tilt, each within an error."""

    tilt: float
    value: Floats
    error: Floats

    def of(self, copies: Floats) -> tuple[Floats, Floats]:
        """K of every row, within an error."""
        size = copies @ np.abs(self.value)
        return copies @ self.value, 1.01 * (copies @ self.error + (self.value.size + 2) * U * size)


@dataclass(frozen=True, eq=False)
class Levels:
    """least <= log H <= most, and about log H and its slope: a number for each row."""

    least: Floats
    most: Floats
    middle: Floats
    slope: Floats


class Several:
    """Quadratures of one plan without smoothing, for the excess, as functions of y."""

    def __init__(
        self,
        plan: Contour,
        theta: Floats,
        near: float,
        waves: Sequence[Waves],
        means: tuple[Mean, Mean, Mean],
        copies: Floats,
    ) -> None:
        if plan.smoothing or not plan.excess:
            raise ArithmeticError("a plan for 1 - F, or one with smoothing, is not for several sums")
        self.plan, self._theta, self._near = plan, theta, near
        here, *others = means
        self._log_mean, self._log_mean_error = here.of(copies)
        self._alias = [
            (other.tilt, *other.of(copies), float(log_reach(True, np.array([other.tilt]))[0])) for other in others
        ]
        s = plan.tilt + 1j * theta
        weight = np.where(theta == 0, 0.5, 1.0) * (plan.step / math.pi)
        self._kernel = weight / (s * (s + 1))
        self._multiply(waves, copies, np.abs(self._kernel))

    def _multiply(self, waves: Sequence[Waves], copies: Floats, kernel: Floats) -> None:
        """φ of every row: its size, its phase, and what may be wrong with the sum whatever y is."""
        logs, angle, error, log_most, sizes = (
            copies @ np.array(column)
            for column in (
                [wave.log_size for wave in waves],
                [wave.angle for wave in waves],
                [wave.error for wave in waves],
                [wave.log_most for wave in waves],
                [np.abs(wave.log_size) + np.abs(wave.angle) for wave in waves],
            )
        )
        centres = np.array([wave.centre for wave in waves])
        shift, moved = (copies @ centres)[:, np.newaxis], (copies @ np.abs(centres))[:, np.newaxis]
        error = 1.01 * error + 4 * U * (len(waves) + 2) * (sizes + self._theta * moved)
        good = error < 0.5
        self._size = np.where(good, np.exp(np.minimum(logs, 0.0)), 0.0)
        self._phase = angle + self._theta * shift
        whole = np.exp(np.minimum(log_most, 0.0) + 1e-12)
        off = np.where(good, self._size * (_SLACK * np.expm1(np.where(good, error, 0.0))), whole)
        spread = _ROUNDING + self._theta.size + _PLACED * np.abs(self._phase)
        self._off = 1.01 * ((off + self._size * (U * spread)) @ kernel)
        self._off_by_place = 1.01 * _PLACED * U * ((self._size * self._theta) @ kernel)

    def levels(self, y: Floats) -> Levels:
        """log H of each row at its own y > 0."""
        phase = self._phase - self._theta * y[:, np.newaxis]
        cosine, sine = np.cos(phase), np.sin(phase)
        real, imag = self._kernel.real, self._kernel.imag
        total = (self._size * (real * cosine - imag * sine)).sum(axis=1)
        turning = (self._size * (real * sine + imag * cosine)) @ self._theta
        error = self._near + self._off + self._off_by_place * y
        below, above = total - 1.0001 * (error + self._aliasing(y)), total + 1.0001 * error
        c = self.plan.tilt
        scale = self._log_mean - c * y
        loss = self._log_mean_error + 8 * U * (np.abs(self._log_mean) + np.abs(c * y) + 20)
        return Levels(
            np.where(below > 0, scale + np.log(below) - loss, -math.inf),
            np.where(above > 0, scale + np.log(above) + loss, math.inf),
            scale + np.log(total),
            turning / total - c,
        )

    def _aliasing(self, y: Floats) -> Floats:
        """Bound on the sum over m != 0 of e^{cmΛ} H(y + mΛ), in units of z."""
        c = self.plan.tilt
        period = 2 * math.pi / self.plan.step * (1 - 4 * U)
        total = np.zeros_like(y)
        for tilt, log_mean, error, reach in self._alias:
            gap = abs(tilt - c)
            log = reach + log_mean - self._log_mean - (tilt - c) * y
            size = np.abs(log_mean) + np.abs(self._log_mean) + np.abs((tilt - c) * y) + abs(reach) + 10
            log = log + error + self._log_mean_error + 16 * U * size - gap * period
            if gap * period < 1e-3:
                return np.full_like(y, math.inf)
            total = total + np.where(log < 600, np.exp(np.minimum(log, 600.0)) / -math.expm1(-gap * period), math.inf)
        return 1.0001 * total

    def below(self, y: Floats, log: float) -> npt.NDArray[np.bool_]:
        """In which rows F(y) is proved to be below e^log."""
        most = self.levels(y).most
        return np.asarray(most + 8 * U * (1 + np.abs(most)) < log)

    def roots(self, log_t: tuple[float, float], start: Floats) -> tuple[Floats, Floats]:
        """Where F is t: two places for each row with the root between them, NaN where that is not proved."""
        y = self._newton(sum(log_t) / 2, start)
        lower = self._end(y, lambda levels: log_t[1] - levels.least, -1)
        upper = self._end(y, lambda levels: levels.most - log_t[0], +1)
        proved = (lower > 0) & (upper >= lower) & np.isfinite(upper)
        return np.where(proved, lower, math.nan), np.where(proved, upper, math.nan)

    def _newton(self, goal: float, y: Floats) -> Floats:
        """About the roots; what has not settled after some steps is not a root, and will not be proved."""
        for _ in range(_NEWTON):
            levels = self.levels(y)
            after = np.clip(y + (goal - levels.middle) / levels.slope, 0.5 * y, 2 * y)
            close = bool(np.all((np.abs(after - y) <= _CLOSE * y) | np.isnan(after)))
            y = after
            if close:
                break
        return y

    def _end(self, y: Floats, missing: Callable[[Levels], Floats], direction: int) -> Floats:
        """The first place in a direction at which nothing is missing from the proof; NaN where none was found."""
        found = np.full_like(y, math.nan)
        for _ in range(_LOOKS):
            levels = self.levels(y)
            lack = missing(levels)
            found = np.where(np.isnan(found) & (lack <= 0), y, found)
            move = np.maximum(_FARTHER * lack / np.abs(levels.slope), _LEAST_MOVE * y)
            y = np.where(np.isnan(found), y + direction * move, y)
            if not np.isnan(found).any():
                break
        return found
