r"""One contour for several sums at once: a row for each, with its own numbers of copies and its own place.

With log φ = \sum n_i log φ_i at the nodes and K = \sum n_i K_i, rows differ by n alone.  The sum of `integral.py`
without smoothing is then one of arrays,

    S(y) = (Δ/π) sum' |φ/s(s+1)| cos(arg φ - arg s(s+1) - θy),   z S(y) = H(y) + aliasing,   z = e^{K(c) - cy}

and its errors are those that are named there, each no smaller here: a term is off by |φ|/|s(s+1)| times
e^{error of log φ} - 1, and by some u for the size, θy and the phase; N terms in any order lose (N-1)u of their sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.contour.plan import Contour, log_reach
from optcomp.numerics.laws.law import Waves

_SLACK = 2.1
"""Times an error below 1/2, of the log of the size and of the phase each, is more than it can make of a term, because
e^{x√2} - 1 is at most 2.06x there; where it is larger, |φ| counts whole."""
_ROUNDING, _PLACED = 100.0, 10.0
"""Units of round-off of a term: of weights and functions, and of every phase that was added to its own."""
_NEWTON, _CLOSE = 30, 1e-13
"""Steps of Newton's method at most, and the relative move that ends it."""
_KNOTS = 9
"""Rows whose roots are found from far away; those between start from a curve through them."""
_ENOUGH = 0.01
"""Of what either end is moved by, the last step of Newton's method may leave: more steps narrow nothing."""
_LOOKS, _FARTHER = 4, 1.1
"""Places tried for either end, each so many times as far as the last look asked for."""
_LEAST_KNOTS = 4
"""Roots that a curve is drawn through at least."""
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


@dataclass(frozen=True, eq=False)
class _About:
    """About the roots, with the slope and what log H may miss on either side there; `close` if no more is needed."""

    y: Floats
    slope: Floats
    below: Floats
    above: Floats
    close: bool


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
        self._copies = copies.sum(axis=1)
        here, *others = means
        self._log_mean, self._log_mean_error = here.of(copies)
        self._alias = [
            (other.tilt, *other.of(copies), float(log_reach(True, np.array([other.tilt]))[0])) for other in others
        ]
        kernel = kernel_at(plan, theta)
        self._multiply(waves, copies, np.abs(kernel), np.arctan2(kernel.imag, kernel.real))

    def _multiply(self, waves: Sequence[Waves], copies: Floats, kernel: Floats, turned: Floats) -> None:
        """The terms of every row: their sizes, their phases, and what may be wrong with the sum whatever y is.

        Errors and phases are at most linear in the copies, so their sums over the nodes are products of matrices.
        """
        turns = np.array([wave.angle + self._theta * wave.centre for wave in waves])
        moved = np.array([np.abs(wave.angle) + self._theta * abs(wave.centre) for wave in waves])
        sizes = moved + np.array([np.abs(wave.log_size) for wave in waves])
        error = 1.01 * np.array([wave.error for wave in waves]) + 4 * U * (len(waves) + 2) * sizes
        terms = copies @ np.array([wave.log_size for wave in waves])
        np.exp(np.minimum(terms, 0.0, out=terms), out=terms)
        terms *= kernel
        wrong = np.zeros(copies.shape[0])
        bad = ~(copies.max(axis=0) @ error < 0.5)
        if bad.any():
            terms[:, bad] = 0.0
            log_most = copies @ np.array([wave.log_most[bad] for wave in waves])
            wrong = np.exp(np.minimum(log_most, 0.0) + 1e-12) @ kernel[bad]
            error = np.where(bad, 0.0, error)
        spread = _ROUNDING + self._theta.size + _PLACED * math.pi
        each = copies * (terms @ (_SLACK * error + _PLACED * U * moved).T)
        self._off = 1.01 * (each.sum(axis=1) + U * spread * terms.sum(axis=1) + wrong)
        self._off_by_place = 1.01 * _PLACED * U * (terms @ self._theta)
        self._terms, self._phase = terms, copies @ turns + turned

    def levels(self, y: Floats, slope: Floats | None = None) -> Levels:
        """log H of each row at its own y > 0; where about the slope is known it is not computed again."""
        phase = self._theta * y[:, np.newaxis]
        np.subtract(self._phase, phase, out=phase)
        c = self.plan.tilt
        turning = None if slope is not None else (self._terms * np.sin(phase)) @ self._theta
        np.cos(phase, out=phase)
        total = np.einsum("ij,ij->i", self._terms, phase)
        if turning is not None:
            slope = turning / total - c
        error = self._near + self._off + self._off_by_place * y
        below, above = total - 1.0001 * (error + self._aliasing(y)), total + 1.0001 * error
        scale = self._log_mean - c * y
        loss = self._log_mean_error + 8 * U * (np.abs(self._log_mean) + np.abs(c * y) + 20)
        return Levels(
            np.where(below > 0, scale + np.log(below) - loss, -math.inf),
            np.where(above > 0, scale + np.log(above) + loss, math.inf),
            scale + np.log(total),
            np.asarray(slope),
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

    def roots(self, log_t: tuple[float, float], start: Floats, near: float = _CLOSE) -> tuple[Floats, Floats]:
        """Where F is t: two places for each row with the root between them, NaN where that is not proved.

        `near` is a part of its place by which an end may be farther out than errors ask for.
        """
        goal, near = sum(log_t) / 2, max(near, _CLOSE)
        about = self._between(goal, start, near)
        if not about.close:
            about = self._newton(goal, about.y, near)
        lower = self._end(about, about.below, lambda at: log_t[1] - at.least, -1)
        upper = self._end(about, about.above, lambda at: at.most - log_t[0], +1)
        proved = (lower > 0) & (upper >= lower) & np.isfinite(upper)
        return np.where(proved, lower, math.nan), np.where(proved, upper, math.nan)

    def _between(self, goal: float, start: Floats, near: float) -> _About:
        """About the roots, from those of a few rows: all is nearly a polynomial in the log of all copies."""
        sizes, nothing = np.log(self._copies), _About(start, start, start, start, False)
        low, high = float(sizes.min()), float(sizes.max())
        if start.size <= 2 * _KNOTS or not high - low > 0:
            return nothing
        places = (sizes - 0.5 * (low + high)) / (0.5 * (high - low))
        wanted = np.cos(math.pi * np.arange(_KNOTS) / (_KNOTS - 1))
        knots = np.unique(np.abs(places[:, np.newaxis] - wanted).argmin(axis=0))
        found = self._rows(knots)._newton(goal, start[knots], near)
        columns = np.log(np.array([found.y, -found.slope, found.below, found.above]))
        good = np.isfinite(columns).all(axis=0)
        if np.count_nonzero(good) < _LEAST_KNOTS:
            return nothing
        powers = np.vander(places, int(np.count_nonzero(good)), increasing=True)
        at, values = powers[knots][:, :][good], columns[:, good].T
        fitted = np.exp(powers @ np.linalg.solve(at, values)).T
        rough = np.exp(powers[:, :-2] @ np.linalg.lstsq(at[:, :-2], values[:, 0], rcond=None)[0])
        inside = (places >= places[knots][good].min()) & (places <= places[knots][good].max())
        close = bool(np.all(np.abs(rough - fitted[0])[inside] <= near * fitted[0][inside]))
        return _About(fitted[0], -fitted[1], fitted[2], fitted[3], close)

    def _rows(self, rows: npt.NDArray[np.intp]) -> Several:
        """Some of the rows."""
        other = copy(self)
        for name in ("_copies", "_log_mean", "_log_mean_error", "_off", "_off_by_place", "_terms", "_phase"):
            setattr(other, name, getattr(self, name)[rows])
        other._alias = [(tilt, mean[rows], error[rows], reach) for tilt, mean, error, reach in self._alias]
        return other

    def _newton(self, goal: float, y: Floats, near: float) -> _About:
        """About the roots; what does not settle will not be proved."""
        for _ in range(_NEWTON):
            levels = self.levels(y)
            move = (goal - levels.middle) / levels.slope
            after = np.clip(y + move, 0.5 * y, 2 * y)
            steep = np.abs(levels.slope)
            left = np.maximum(near * y, _ENOUGH * (levels.most - levels.least) / steep)
            settled = bool(np.all((np.abs(move) <= left) | np.isnan(after)))
            farther = near * y * steep
            y = after
            if settled:
                break
        return _About(
            y, levels.slope, levels.middle - levels.least + farther, levels.most - levels.middle + farther, True
        )

    def _end(self, about: _About, gap: Floats, missing: Callable[[Levels], Floats], direction: int) -> Floats:
        """The first place looked at in a direction at which nothing is missing from the proof; NaN where none was."""
        y, found = about.y, np.full_like(about.y, math.nan)
        for _ in range(_LOOKS):
            move = np.maximum(_FARTHER * gap / np.abs(about.slope), _LEAST_MOVE * y)
            y = np.where(np.isnan(found), y + direction * move, y)
            gap = missing(self.levels(y, about.slope))
            found = np.where(np.isnan(found) & (gap <= 0), y, found)
            if not np.isnan(found).any():
                break
        return found


def kernel_at(plan: Contour, theta: Floats) -> npt.NDArray[np.complex128]:
    """1/s(s+1) at the nodes, with their weights."""
    s = plan.tilt + 1j * theta
    return np.asarray(np.where(theta == 0, 0.5, 1.0) * (plan.step / math.pi) / (s * (s + 1)))
