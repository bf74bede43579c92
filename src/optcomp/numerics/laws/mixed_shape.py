r"""Where the trapezoid rule for I(γ+iθ) = E A(x)^{γ+iθ} needs points, and what it misses; proved in `docs/losses.md`.

G = e^{-x²/2} A(x)^γ with A = 1 - q + q e^{μx - μ²/2} is bounded cell by cell.  Cells that hold next to nothing get no
points.  The line of integration is moved by ±ia over the cells that are kept and by ±i a' over the others, where a' is
so small that neither a zero of A nor the phase matters.  A is zero only at x0 ± iπ/μ, ±3iπ/μ, ..., A(x0) = 2(1-q).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from optcomp.numerics.blocked import Floats
from optcomp.numerics.laws.mixed_log import log_mixed

_WIDE = 13.0
"""e^{-13²/2} is far below every cut."""
_CELLS, _FINE, _LONG = 2048, 640, 100.0
"""Cells in all, cells about each hump, and the distance of two humps from which they are cut so."""
_SLACK = 1.01
"""For the round-off of all bounds here, each of them a few exponentials of logs within 1e-6."""
_LOG_SLACK, _RELATIVE_SLACK, _SHARE_SLACK = 1e-6, 1e-14, 1e-9
"""Round-off of logs, relative to their terms, and of shares, each counted generously."""
_ROUNDS = 5  # of step and kept cells, which depend on each other; after that nothing changes any more
_HEIGHTS, _PIECES = 6, 32
"""Heights of the line that are tried, each half the last, and parts of an upright piece."""


Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Rule:
    """Points at whole multiples of the step in the kept cells; `missed` bounds its error, relative to I(γ)."""

    step: float
    runs: tuple[tuple[int, int], ...]
    missed: float

    @property
    def size(self) -> int:
        """How many points there are."""
        return sum(stop - start for start, stop in self.runs)

    def index(self) -> npt.NDArray[np.int64]:
        """The multiples."""
        return np.concatenate([np.arange(start, stop) for start, stop in self.runs])


class Shape:
    """G for one γ = `power`, in units of its largest value at an edge of a cell; nothing beyond `end`, if it ends.

    `left` is the log of 1 - q.
    """

    def __init__(self, mu: float, q: float, left: float, power: float, end: float = math.inf) -> None:
        self.mu, self.q, self.left, self.power, self.end = mu, q, left, power, end
        self.middle = middle_of(mu, q, left)
        self.edges = self._edges()
        x = self.edges
        self.log_a = log_ratio(mu, q, left, x)
        self.share = share_of(mu, self.middle, x)
        logs = -0.5 * x * x + power * self.log_a
        slack = _LOG_SLACK + _RELATIVE_SLACK * (np.abs(power * self.log_a) + x * x)
        self.top = float(logs.max())
        self.at_edges = logs - self.top + slack
        pull = power * mu * self.share
        least, most = (pull[:-1], pull[1:]) if power >= 0 else (pull[1:], pull[:-1])
        fall, rise = least - x[1:], most - x[:-1]  # between these lies the slope of log G in a cell
        width, low, high = np.diff(x), self.at_edges[:-1], self.at_edges[1:]
        spare = width * _SHARE_SLACK * np.maximum(np.abs(least), np.abs(most))
        self.log_most = np.minimum(low + width * np.maximum(rise, 0), high + width * np.maximum(-fall, 0)) + spare
        inner = np.maximum(low + width * np.minimum(fall, 0), high - width * np.maximum(rise, 0)) - spare
        self.least_masses = width * np.exp(inner - 2 * np.maximum(slack[:-1], slack[1:])) / _SLACK
        """At most the integral of G over each cell."""
        self.least = float(self.least_masses.sum()) * (1 - 1e-12)
        """At most the integral of G."""

    def _edges(self) -> Floats:
        """Cells over all of G but its tails; narrow where it may be large."""
        if self.power < 0:
            return np.linspace(-math.sqrt(2 * self.power * self.left + _WIDE**2) - 1, _WIDE, _CELLS + 1)
        end = self.power * self.mu
        if self.end < end + _WIDE:
            return np.linspace(-_WIDE, self.end, _CELLS + 1)
        usual = self._usual_edges(end)
        return np.append(usual, self.end) if math.isfinite(self.end) else usual

    def _usual_edges(self, end: float) -> Floats:
        if end < _LONG:
            return np.linspace(-_WIDE, end + _WIDE, _CELLS + 1)
        ends = np.linspace(-_WIDE, _WIDE, _FINE + 1), np.linspace(end - _WIDE, end + _WIDE, _FINE + 1)
        return np.concatenate((ends[0], np.linspace(_WIDE, end - _WIDE, _CELLS - 2 * _FINE + 1)[1:-1], ends[1]))

    @cached_property
    def tails(self) -> tuple[float, float]:
        """At least the integral of G left and right of all cells.

        A grows with x, at most like e^{μx}, and lies above 1 - q; ∫ e^{-x²/2} beyond x is at most e^{-x²/2}/x.
        """
        low, high = float(self.edges[0]), float(self.edges[-1])
        left = float(self.at_edges[0])
        if self.power < 0:
            left = -0.5 * low * low + self.power * self.left - self.top + _LOG_SLACK
        below = _SLACK * math.exp(min(left, 600.0)) / -low
        if math.isfinite(self.end):
            return below, 0.0
        fall = high - max(self.power, 0.0) * self.mu
        return below, _SLACK * math.exp(float(self.at_edges[-1])) / fall

    @cached_property
    def masses(self) -> Floats:
        """At least the integral of G over each cell."""
        return _SLACK * np.diff(self.edges) * np.exp(self.log_most)

    @cached_property
    def _log_masses(self) -> Floats:
        return math.log(_SLACK) + np.log(np.diff(self.edges)) + self.log_most

    def rule(self, theta: float, log_cut: float) -> Rule:
        """Points for all places up to θ that miss about e^-log_cut, fewest of some."""
        most = 100 * math.exp(-log_cut)
        split, a = self._height(log_cut)
        best = self._rule(theta, log_cut, a, split)
        for _ in range(_HEIGHTS):
            a *= 0.5
            other = self._rule(theta, log_cut, a, split)
            if (other.missed > most, other.size) >= (best.missed > most, best.size):
                break
            best = other
        return best

    def _rule(self, theta: float, log_cut: float, a: float, split: bool) -> Rule:
        args, losses = self._turns(a, split)
        log_masses = self._log_masses + theta * args + losses
        goal = math.log(self.least) - log_cut
        extra = 0.0
        for _ in range(_ROUNDS):
            kept = self._kept(goal - extra - math.log(_CELLS), split)
            need = float(np.logaddexp.reduce(log_masses[kept])) - goal + 0.5 * a * a + 1.5
            step = _rounded_down(2 * math.pi / max(need / a, self._joint_pace(theta, kept, a, split, goal)))
            low = self._low(step, theta)
            extra = max(extra, theta * self.mu * low - math.log(math.expm1(2 * math.pi * low / step)) + 3.0)
        kept = kept & ~self._last(step)
        missed = self._missed(theta, step, kept, a, split) + self._dropped(kept, step) + self._cut(theta, step)
        return Rule(step, self._runs(kept, step), _SLACK * missed / self.least + 1e-290)

    def _height(self, log_cut: float) -> tuple[bool, float]:
        """Whether the line may pass A's zeros because G is negligible there, and how far it is moved elsewhere."""
        best = math.sqrt(2 * log_cut)
        if best * self.mu > 1 and float(self.masses[self._near_zeros()].sum()) < self.least * math.exp(-log_cut - 30):
            return True, best
        return False, min(best, 0.9 * math.pi / self.mu)

    def _near_zeros(self) -> Mask:
        """The cells so near to the zeros that their mirror images in A differ."""
        far = (45 + math.log1p(abs(self.power))) / self.mu
        return (self.edges[1:] >= self.middle - far) & (self.edges[:-1] <= self.middle + far)

    def _turns(self, a: float, split: bool) -> tuple[Floats, Floats]:
        """For each cell at least |arg A(x+ia)|, and γ log|A(x+ia)/A(x)|; near zeros that are passed these are not used.

        The first grows with x, the second falls with the distance from x0.
        """
        away = self.mu * (self.edges - self.middle)
        nearest = np.exp(-np.maximum(np.maximum(away[:-1], -away[1:]), 0.0))
        turns = (
            self._apart(away[:-1], a, nearest) if split else _turn(np.exp(np.clip(away[1:], -700, 700)), self.mu * a)
        )
        return turns, self._loss(nearest, a)

    def _apart(self, away: Floats, b: Floats | float, ratio: Floats) -> Floats:
        """At least |arg A(x+ib)| far from x0: A is one of its two terms, but for a share that is at most the ratio."""
        turned = np.where(away > 0, self.mu * b, 0.0)
        return np.asarray(turned + 1.01 * ratio / np.sqrt(1 - np.minimum(ratio, 0.9) ** 2))

    def _loss(self, ratio: Floats, b: Floats | float) -> Floats:
        """At least γ log|A(x+ib)/A(x)| = γ/2 log(1 - 4 sin²(μb/2) r/(1+r)²), r <= 1 the ratio of the terms of A."""
        if self.power >= 0:
            return np.zeros(np.broadcast_shapes(np.shape(ratio), np.shape(b)))
        sine = np.sin(np.minimum(0.5 * self.mu * b, 0.5 * math.pi))  # for no b below is it larger
        return np.asarray(
            0.5001 * self.power * np.log1p(-np.minimum(4 * sine**2 * ratio / (1 + ratio) ** 2, 1 - 1e-15))
        )

    def _low(self, step: float, theta: float) -> float:
        """a': below the zeros, and small against the step and the phase."""
        return min(step / (2 * math.pi), 1 / (self.mu * math.sqrt(1 + abs(self.power))), 3 / (theta * self.mu + 1e-300))

    def _kept(self, least: float, split: bool) -> Mask:
        kept = np.asarray(self._log_masses > least)
        return kept & ~self._near_zeros() if split else kept

    def _dropped(self, kept: Mask, step: float) -> float:
        """At least the sum over the points left out: in a cell of width w there are at most w/step + 1."""
        inner = (self.masses * (1 + step / np.diff(self.edges)))[~kept].sum()
        return float(inner) + sum(self.tails) * (1 - float(self.edges[0]) * step)

    def _last(self, step: float) -> Mask:
        """The cells that reach into the last step before the end."""
        return np.asarray(self.edges[1:] > self.end - step)

    def _cut(self, theta: float, step: float) -> float:
        """At least what an end costs: the rule serves the integral up to the last place halfway between two points.

        There the line comes down to the real one, from a', and the kernel is at most 1/2.
        """
        last = self._last(step)
        if not last.any():
            return 0.0
        low = self._low(step, theta)
        upright = low * math.exp(float(self.log_most[last].max()) + 0.5 * low * low + theta * self.mu * low + 0.15)
        return float(self.masses[last].sum()) + upright

    def _missed(self, theta: float, step: float, kept: Mask, a: float, split: bool) -> float:
        """At least the error of the rule with all points: 2 ∫ |e^{-z²/2} A^{γ+iθ}|/(e^{2π Im z/h} - 1) on the line."""
        pace, low = 2 * math.pi / step, self._low(step, theta)
        args, losses = self._turns(a, split)
        above = _kernel(0.5 * a * a + theta * args[kept] + losses[kept], pace * a)
        below = _kernel(np.array([0.5 * low * low + theta * self.mu * low + 0.15]), pace * low)
        rest = float(self.masses[~kept].sum()) + sum(self.tails)
        total = float((self.masses[kept] * above).sum()) + rest * float(below[0])
        return 2 * (total + self._joints(theta, pace, kept, a, split))

    def _upright(self, kept: Mask, b: Floats, split: bool) -> tuple[Floats, Floats, Floats]:
        """At the edges of the kept cells, for several heights: arg A, its slope in b, and γ log|A(x+ib)/A(x)|."""
        away = (self.mu * (self.edges[_changes(kept)] - self.middle))[:, np.newaxis]
        near = np.exp(-np.abs(away))
        if split:
            return self._apart(away, b, near), np.where(away > 0, self.mu, 0.0) + 0 * b, self._loss(near, b)
        ratio, cosine = np.exp(np.clip(away, -300, 300)), np.cos(self.mu * b)
        steep = ratio * (ratio + cosine) / (1 + 2 * ratio * cosine + ratio**2)
        return _turn(ratio, self.mu * b), self.mu * steep, self._loss(near, b)

    def _joint_pace(self, theta: float, kept: Mask, a: float, split: bool, goal: float) -> float:
        """About the 2π/h for which the upright pieces are negligible."""
        b = np.linspace(0.0, a, _PIECES + 1)[1:]
        turn, _, loss = self._upright(kept, b, split)
        logs = 0.5 * b * b + theta * turn + loss + self.at_edges[_changes(kept)][:, np.newaxis]
        return float(((logs - goal + 3) / b).max())

    def _joints(self, theta: float, pace: float, kept: Mask, a: float, split: bool) -> float:
        """The upright pieces between the heights b = a' and a, in parts with a convex bound: its ends count.

        With r = e^{μ(x-x0)}, arg A is concave in b for r <= 1, below its tangent, and convex for r > 1.
        """
        low = min(self._low(2 * math.pi / pace, theta), a)
        b = np.linspace(low, a, _PIECES + 1)
        turn, steep, loss = self._upright(kept, b, split)
        left, right = b[:-1], b[1:]
        at = _changes(kept)
        concave = (self.edges[at] <= self.middle)[:, np.newaxis] & (not split)
        last = np.where(concave, turn[:, :-1] + steep[:, :-1] * (right - left), turn[:, 1:])
        ends = 0.5 * left**2 + theta * turn[:, :-1] - pace * left, 0.5 * right**2 + theta * last - pace * right
        logs = np.maximum(*ends) + loss[:, 1:] + self.at_edges[at][:, np.newaxis]
        return _SLACK * float((np.exp(np.minimum(logs, 600.0)) * (right - left)).sum()) / -math.expm1(-pace * low)

    def _runs(self, kept: Mask, step: float) -> tuple[tuple[int, int], ...]:
        """From the first to behind the last multiple of the step in each run of kept cells."""
        ends = np.ceil(self.edges[_changes(kept)] / step).astype(np.int64).reshape(-1, 2)
        return tuple((int(start), int(stop)) for start, stop in ends if stop > start)


def _turn(ratio: Floats, angle: Floats | float) -> Floats:
    """At least arg(1 + r e^{iψ}), 0 <= ψ < π."""
    return np.asarray(np.arctan2(ratio * np.sin(angle), 1 + ratio * np.cos(angle)) + 1e-12)


def _changes(kept: Mask) -> npt.NDArray[np.int64]:
    """The edges at which runs of kept cells begin and end, in turn."""
    return np.flatnonzero(np.diff(np.concatenate(([False], kept, [False])).astype(np.int8)))


def middle_of(mu: float, q: float, left: float) -> float:
    """x0, where the two terms of A are equal."""
    return 0.5 * mu + (left - math.log(q)) / mu


def log_ratio(mu: float, q: float, left: float, x: Floats) -> Floats:
    """log A, with `left` the log of 1 - q."""
    return log_mixed(q, left, mu * x - 0.5 * mu**2)[0]


def share_of(mu: float, middle: float, x: Floats) -> Floats:
    """π = q e^{μx-μ²/2}/A."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(mu * (middle - x))))


def _kernel(log: Floats, turns: float) -> Floats:
    """e^log/(e^turns - 1)."""
    return np.exp(np.minimum(log - turns, 600.0)) / -math.expm1(-turns)


def _rounded_down(step: float) -> float:
    """With 24 bits, so that millions of multiples are exact."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(mantissa * 2**24), exponent - 24)
