r"""Sums in which no round is a giant and at least one is in the middle: a positive measure with a transform of its own.

Let b_i(s) = E[e^{sL_i}; none] and m_i(s) = E[e^{sL_i}; middle].  With r_i = m_i/b_i the transform of the measure is

    M(s) = \prod(b_i + m_i)^{n_i} - \prod b_i^{n_i} = \prod b_i^{n_i} · expm1(sum n_i log1p(r_i(s))),

so round-off is relative to the rounds in the middle, however rare they are.  The right side with |b_i| and |m_i| in
place of b_i and m_i bounds |M|, and grows with each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import arb

from optcomp.numerics.balls import SUM_BITS, float_up, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.contour.independent import Independent
from optcomp.numerics.contour.integral import Means
from optcomp.numerics.contour.plan import Contour
from optcomp.numerics.laws.law import Summand, Waves

_MOST = 100.0
"""The largest sum of n log1p(r): beyond, a sum without a middle round is so rare that nothing is won."""
_SLACK = 1e-9
"""For the round-off of bounds on |φ|."""


@dataclass(frozen=True)
class _Ratios:
    """r_i at a tilt as floats, their relative errors, and expm1(sum n log1p(r)) with its own."""

    ratio: list[float]
    error: list[float]
    whole: float
    whole_error: float


@dataclass(frozen=True, eq=False)
class SomeMiddle(Independent):
    """`laws` are the rounds without a label, `middles` the same rounds in the middle, or none for some of them."""

    middles: Sequence[Summand | None]
    _known: dict[float, _Ratios] = field(default_factory=dict)

    def log_mean_guess(self, c: Floats) -> Floats:
        """About log M, for several c."""
        return self._all(c)[0]

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """About log M and its first two derivatives, for several c."""
        value, slope, curve = self._all(c)
        return value, slope, np.maximum(curve, 1e-300)

    def _all(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """By differentiating log M = sum n log b + log expm1(X), X = sum n log1p(r)."""
        value, slope, curve, x, dx, ddx = (np.zeros_like(c) for _ in range(6))
        for (law, count), middle in zip(self.laws, self.middles, strict=True):
            none = law.cumulants(c)
            value, slope, curve = value + count * none[0], slope + count * none[1], curve + count * none[2]
            if middle is None:
                continue
            some = middle.cumulants(c)
            ratio = np.exp(np.minimum(some[0] - none[0], 600.0))
            share, apart = ratio / (1 + ratio), some[1] - none[1]
            x = x + count * np.log1p(ratio)
            dx = dx + count * share * apart
            ddx = ddx + count * (share * (some[2] - none[2]) + share * (1 - share) * apart**2)
        grown = 1 / -np.expm1(-x)  # e^X/(e^X - 1)
        return (
            value + x + np.log(-np.expm1(-x)),
            slope + dx * grown,
            curve + ddx * grown - dx**2 * grown * (grown - 1),
        )

    def means(self, plan: Contour) -> Means:
        """K at the three tilts; nothing is known of 1 - F."""
        if not plan.excess:
            return Means((0.0, math.inf), (0.0, math.inf), (0.0, math.inf))
        return Means(*(self._mean(c) for c in (plan.tilt, plan.above, plan.below)))

    def _mean(self, c: float) -> tuple[float, float]:
        with precision(SUM_BITS):
            none, x = arb(0), arb(0)
            for (law, count), middle in zip(self.laws, self.middles, strict=True):
                here = law.log_mean(c)
                none += count * here
                if middle is not None:
                    x += count * (middle.log_mean(c) - here).exp().log1p()
            whole = none + x.expm1().log()
            if not whole.is_finite():
                return 0.0, math.inf
            value = float(whole.mid())
            return value, float_up(abs(whole - value))

    def _ratios(self, c: float) -> _Ratios:
        """Kept for the tilts that were asked for."""
        if c not in self._known:
            ratio, error = [], []
            with precision(SUM_BITS):
                x = arb(0)
                for (law, count), middle in zip(self.laws, self.middles, strict=True):
                    if middle is None:
                        ratio.append(0.0)
                        error.append(0.0)
                        continue
                    one = (middle.log_mean(c) - law.log_mean(c)).exp()
                    known = one.is_finite() and one > 0
                    ratio.append(float(one.mid()) if known else 1.0)
                    error.append(float_up(abs(one / ratio[-1] - 1)) if known else math.inf)
                    x += count * one.log1p()
                good = x.is_finite() and x < _MOST
                whole = float(x.expm1().mid()) if good else 1.0
                whole_error = float_up(abs(x.expm1() / whole - 1)) if good else math.inf
            self._known[c] = _Ratios(ratio, error, whole, whole_error)
        return self._known[c]

    def log_fade(self, c: float, theta: float) -> float:
        """At least log|φ(θ')| for every θ' >= θ."""
        return self._joined(
            c,
            [math.log(max(law.fade(c, theta), 1e-300)) for law, _ in self.laws],
            [math.log(max(middle.fade(c, theta), 1e-300)) if middle else 0.0 for middle in self.middles],
        )

    def log_most_near(self, c: float, theta: float, radius: float) -> float:
        """At least log|φ| within `radius` of θ."""
        return self._joined(
            c,
            [law.log_most_near(c, theta, radius) for law, _ in self.laws],
            [middle.log_most_near(c, theta, radius) if middle else 0.0 for middle in self.middles],
        )

    def _joined(self, c: float, none: Sequence[float], middle: Sequence[float]) -> float:
        """At least log|φ|, from bounds on the logs of |φ| of both labels."""
        logs = self._log_most(c, [np.array([log]) for log in none], [np.array([log]) for log in middle])
        return float(logs[0])

    def _log_most(self, c: float, none: Sequence[Floats], middle: Sequence[Floats]) -> Floats:
        known = self._ratios(c)
        if not (known.whole_error < 0.5 and all(error < math.inf for error in known.error)):
            return np.zeros_like(none[0])
        total, x = np.zeros_like(none[0]), np.zeros_like(none[0])
        pairs = zip(known.ratio, known.error, strict=True)
        for (_, count), (ratio, error), one, other in zip(self.laws, pairs, none, middle, strict=True):
            total = total + count * one
            if ratio:
                apart = math.log(ratio) + math.log1p(error) + other - one
                x = x + count * (np.maximum(apart, 0.0) + np.log1p(np.exp(-np.abs(apart))))
        least = math.log(known.whole) + math.log1p(-known.whole_error)
        logs = total + x + np.log(np.maximum(-np.expm1(-x), 1e-300)) - least
        return np.asarray(np.minimum(logs + _SLACK * (1 + np.abs(total) + x), 0.0))

    def cost(self, c: float, theta: float, count: int = 1) -> float:
        """About the nanoseconds for a node, one of so many at once."""
        return super().cost(c, theta, count) + sum(middle.cost(c, theta, count) for middle in self.middles if middle)

    def values(self, c: float, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """φ at ascending places: real part, imaginary part and a bound on the error of either."""
        none = [law.waves(c, theta) for law, _ in self.laws]
        middle = [law.waves(c, theta) if law else None for law in self.middles]
        log_size, angle, error, _ = self._product(none, theta)
        known = self._ratios(c)
        x_real, x_imag, x_error = (np.zeros_like(theta) for _ in range(3))
        for (_, count), below, above, ratio, slack in zip(
            self.laws, none, middle, known.ratio, known.error, strict=True
        ):
            if above is None:
                continue
            real, imag, loose = _log1p_ratio(below, above, ratio, slack, theta)
            x_real, x_imag, x_error = x_real + count * real, x_imag + count * imag, x_error + count * loose
        inside = np.abs(x_real) < 2 * _MOST
        x_real = np.clip(x_real, -2 * _MOST, 2 * _MOST)
        size = np.exp(np.minimum(log_size, 0.0)) / known.whole
        grown, sine = np.exp(x_real), np.sin(0.5 * x_imag)
        real = np.expm1(x_real) * np.cos(x_imag) - 2 * sine * sine
        imag = grown * np.sin(x_imag)
        good = inside & (error < 0.5) & (x_error < 0.5) & (known.whole_error < 1e-6)
        error, x_error = np.where(good, error, 0.0), np.where(good, x_error, 0.0)
        rounded = 60 * U * np.maximum(grown, 1.0) * (np.abs(x_real) + np.abs(x_imag))
        inner = 1.01 * (grown * np.expm1(x_error) + rounded)
        outer = np.expm1(error) + 60 * U + 2 * known.whole_error
        loose = size * (np.hypot(real, imag) * outer + inner * (1 + outer))
        most = self._log_most(
            c, [wave.log_most for wave in none], [wave.log_most if wave else 0 * theta for wave in middle]
        )
        cosine, turn = np.cos(angle), np.sin(angle)
        return (
            np.where(good, size * (real * cosine - imag * turn), 0.0),
            np.where(good, size * (real * turn + imag * cosine), 0.0),
            np.where(good, 1.01 * loose, np.exp(most)),
        )


def _log1p_ratio(
    none: Waves, middle: Waves, ratio: float, slack: float, theta: Floats
) -> tuple[Floats, Floats, Floats]:
    """log(1 + r φ_m/φ_b) in real arithmetic: its parts, and a bound on the error, which is relative to r|φ_m/φ_b|."""
    known = middle.error < 0.5
    apart = ratio * np.exp(-none.log_size)
    size = np.where(known, apart * np.exp(middle.log_size), 0.0)
    phase = middle.angle - none.angle + theta * (middle.centre - none.centre)
    turns = theta * (abs(middle.centre) + abs(none.centre)) + np.abs(middle.angle) + np.abs(none.angle)
    loose = middle.error + none.error + slack + U * (40 + 8 * turns)
    unknown = 1.01 * apart * (1 + slack) * np.exp(middle.log_most + np.minimum(none.error, 1.0))
    error = 1.01 * np.where(known, size * np.expm1(np.where(known, loose, 0.0)), unknown)
    real, imag = size * np.cos(phase), size * np.sin(phase)
    square = real * (2 + real) + imag * imag
    error = np.where(size + error < 0.5, error / (1 - np.minimum(size + error, 0.5)) + 120 * U * size, math.inf)
    return 0.5 * np.log1p(np.maximum(square, -0.75)), np.arctan2(imag, 1 + real), error
