r"""One smooth piece of a law: a density over t, with the loss and all bounds that quadrature needs.

A(t) = 1 - q + q e^{μt-ν} and D is A(-t), a constant, or 1.  Of the two densities one is B·A and the other B·D:

    way +1:  L = log A/D under B·A      way -1:  L = log D/A under B·D

B is e^{-(t+o)²/2}/√(2π), or (μ/4) e^{-μ(1+t)/2} for Laplace noise of shift μ.  r is the ratio of the two terms of A,
and π = r/(1+r) its share: log A has the slope μπ, which grows with t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from flint import acb, arb

from optcomp.numerics.balls import ball
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.laws.gaussian import normal_tail
from optcomp.numerics.laws.mixed_log import (
    left_of,
    log_left,
    log_mixed,
    log_mixed_ball,
    mixed_ball,
    mixed_complex,
)

_STEEP = 13.0
"""Beyond the ends of a piece without end the log of the integrand falls by so much for each unit."""
_HEIGHT = 1.875
"""Half widths that an ellipse with ρ = 4 is high; it is 1.125 of them longer than its panel at each end."""
_WIDEST, _TURN = 0.25, 0.4
"""Half a panel at most, and that times μ: then μ times the height of its ellipse is below π/4."""
_FINER = 4
"""Parts of a panel for the variation, which is a sum of largest values."""
_LOG_SLACK, _RELATIVE_SLACK = 1e-6, 1e-13
"""Round-off of logs, counted generously, absolutely and relative to their terms."""
_REACH = 18.0
"""Deviations beyond which a moment is next to nothing: e^{-18²/2} is 1e-71."""
Den = Literal["mirror", "constant", "one"]


@dataclass(frozen=True, eq=False)
class Piece:
    """A density between two ends of t."""

    steep: Exact
    drop: Exact
    q: Exact
    way: int
    den: Den
    normal: bool
    origin: Exact
    low: float
    high: float

    def tilted(self, c: float) -> Tilted:
        """The piece times e^{cL}."""
        return Tilted(self, c + 1 if self.way > 0 else -c, -c if self.way > 0 else c + 1)

    @cached_property
    def left(self) -> float:
        """log(1-q)."""
        return log_left(self.q)

    @property
    def _floats(self) -> tuple[float, float, float]:
        return float(self.steep), float(self.drop), float(self.q)

    def log_a(self, t: Floats) -> tuple[Floats, Floats]:
        """log A, and a bound on its error for places within 4u(|t| + 1)."""
        steep, drop, q = self._floats
        up = steep * t - drop
        log_a, share, lost = log_mixed(q, self.left, up)
        moved = U * (steep * (8 * np.abs(t) + 4) + 6 * abs(drop))
        error = share * 1.01 * moved + U * lost
        return log_a, error + 8 * U * np.abs(log_a)

    def log_odds(self, t: Floats) -> Floats:
        """log r."""
        steep, drop, q = self._floats
        return steep * t - drop + math.log(q) - self.left

    def share(self, t: Floats) -> Floats:
        """π."""
        odds = self.log_odds(t)
        return np.asarray(np.exp(np.minimum(odds, 0.0)) / (1 + np.exp(-np.abs(odds))))

    def log_d(self, t: Floats) -> tuple[Floats, Floats]:
        """log D, and a bound on its error."""
        if self.den == "mirror":
            return self.log_a(-t)
        if self.den == "one":
            return 0 * t, 0 * t
        value, error = self.log_a(np.array([-1.0]))
        return 0 * t + value[0], 0 * t + error[0]

    def places(self, t: Floats) -> tuple[Floats, Floats]:
        """The loss, and a bound on its error."""
        (log_a, one), (log_d, other) = self.log_a(t), self.log_d(t)
        value = self.way * (log_a - log_d)
        return value, one + other + 2 * U * (np.abs(log_a) + np.abs(log_d))

    def exact(self, c: float) -> Callable[[arb], arb]:
        """The integrand at tilt c, in balls."""
        tilted = self.tilted(c)
        steep, drop, q, origin = ball(self.steep), ball(self.drop), self.q, ball(self.origin)
        power, other = arb(tilted.power), arb(tilted.other)
        fixed = other * log_mixed_ball(q, -steep - drop) if self.den == "constant" else arb(0)
        scale = 1 / (2 * arb.pi()).sqrt() if self.normal else steep / 4
        mirror, normal = self.den == "mirror", self.normal

        def value(t: arb) -> arb:
            log = power * log_mixed_ball(q, steep * t - drop) + fixed
            if mirror:
                log += other * log_mixed_ball(q, -steep * t - drop)
            log -= (t + origin) ** 2 / 2 if normal else steep * (1 + t) / 2
            return scale * log.exp()

        return value

    def moment(self, order: int) -> arb:
        """E[L^order; piece] by rigorous quadrature; |L| is at most 2(μ|t| + ν - log(1-q))."""
        steep, drop, q, origin = ball(self.steep), ball(self.drop), self.q, ball(self.origin)
        reach = _REACH + 2 * float(self.steep) + float(self.drop)
        low, high = max(self.low, -reach), min(self.high, reach)
        fixed = mixed_ball(q, -steep - drop)

        def value(t: acb, analytic: bool) -> acb:
            a = mixed_complex(q, steep * t - drop)
            d = mixed_complex(q, -steep * t - drop) if self.den == "mirror" else acb(fixed)
            d = acb(1) if self.den == "one" else d
            loss = self.way * (a.log(analytic=analytic) - d.log(analytic=analytic))
            base = (-((t + origin) ** 2) / 2).exp() if self.normal else (-steep * (1 + t) / 2).exp()
            return loss**order * base * (a if self.way > 0 else d)

        whole = acb.integral(value, low, high).real
        if not self.normal:
            return whole * steep / 4
        most = (4 * (steep * reach + drop - left_of(q).log())) ** order
        rest = 8 * most * normal_tail(arb(_REACH))
        return whole / (2 * arb.pi()).sqrt() + arb(0, 1) * rest


@dataclass(frozen=True, eq=False)
class Tilted:
    """A piece times e^{cL}: B A^power D^other."""

    piece: Piece
    power: float
    other: float

    @property
    def ends(self) -> tuple[float, float]:
        """The ends, cut where the log of the integrand is steep enough for good; whole multiples of a panel."""
        piece, steep, origin = self.piece, float(self.piece.steep), float(self.piece.origin)
        mirror = -self.other if piece.den == "mirror" else 0.0
        low = steep * (min(self.power, 0.0) + min(mirror, 0.0)) - origin - _STEEP - 1
        high = steep * (max(self.power, 0.0) + max(mirror, 0.0)) - origin + _STEEP + 1
        low, high = (float(math.floor(low)), float(math.ceil(high)))
        return max(low, piece.low), min(max(high, piece.low + 1 if math.isfinite(piece.low) else high), piece.high)

    def matters(self) -> tuple[float, float]:
        """About where it is not negligible, for guesses."""
        low, high = self.ends
        return (low + 4 if low > self.piece.low else low), (high - 4 if high < self.piece.high else high)

    def base_panels(self) -> tuple[Floats, Floats]:
        """Panels that are narrow enough for A, the last as short as the end asks for.

        All edges are short binary fractions, so that none overlap.
        """
        low, high = self.ends
        half = math.ldexp(1.0, math.floor(math.log2(min(_WIDEST, _TURN / float(self.piece.steep)))))
        count = int((high - low) / (2 * half))
        rest = 0.5 * (high - (low + 2 * half * count))
        middle: Floats = np.asarray(low + half * (2.0 * np.arange(count) + 1))
        halves: Floats = np.full(count, half)
        return (middle, halves) if rest == 0 else (np.append(middle, high - rest), np.append(halves, rest))

    def logs(self, t: Floats) -> tuple[Floats, Floats]:
        """The log of the integrand, and a bound on its error."""
        piece = self.piece
        (log_a, a_error), (log_d, d_error) = piece.log_a(t), piece.log_d(t)
        base, base_error = self._base(t)
        size = np.abs(self.power * log_a) + np.abs(self.other * log_d)
        error = np.abs(self.power) * a_error + np.abs(self.other) * d_error + base_error + 4 * U * size
        return base + self.power * log_a + self.other * log_d, error

    def _base(self, t: Floats) -> tuple[Floats, Floats]:
        """log B, and a bound on its error."""
        steep, origin = float(self.piece.steep), float(self.piece.origin)
        if self.piece.normal:
            return -0.5 * (t + origin) ** 2 - 0.5 * math.log(2 * math.pi), U * (8 * (np.abs(t) + origin + 1) ** 2 + 16)
        return math.log(steep / 4) - 0.5 * steep * (1 + t), U * (steep * (8 * np.abs(t) + 8) + 16)

    def _slack(self, value: Floats, parts: Floats) -> Floats:
        return np.asarray(value + _LOG_SLACK + _RELATIVE_SLACK * parts)

    def log_most(self, middle: Floats, half: Floats, beyond: float, theta: float) -> Floats:
        """At least the log of the integrand on panels, or in their ellipses, with |e^{iθL}| there."""
        piece, steep = self.piece, float(self.piece.steep)
        left, right = middle - (1 + beyond) * half, middle + (1 + beyond) * half
        high = _HEIGHT * half if beyond else 0 * half
        turn = steep * high
        log_cos = np.log(np.cos(0.5 * turn))
        if piece.normal:
            origin = float(piece.origin)
            near = np.where(
                (left + origin) * (right + origin) <= 0, 0.0, np.minimum(abs(left + origin), abs(right + origin))
            )
            base = 0.5 * (high * high - near * near) - 0.5 * math.log(2 * math.pi)
        else:
            base = math.log(steep / 4) - 0.5 * steep * (1 + left)
        log_a = piece.log_a(right)[0] if self.power >= 0 else piece.log_a(left)[0] + log_cos
        total, parts = base + self.power * log_a, np.abs(base) + np.abs(self.power * log_a)
        spin = np.exp(np.minimum(piece.log_odds(right), 0.0))
        if piece.den == "mirror":
            log_d = piece.log_a(-left)[0] if self.other >= 0 else piece.log_a(-right)[0] + log_cos
            spin = spin + np.exp(np.minimum(piece.log_odds(-left), 0.0))
        else:
            log_d = piece.log_d(middle)[0]
        total, parts = total + self.other * log_d, parts + np.abs(self.other * log_d)
        return self._slack(total + 1.001 * theta * turn * spin, parts)

    def peak(self) -> float:
        """About the largest log of the integrand."""
        return float(self.logs(self.base_panels()[0])[0].max())

    def beyond(self, top: float) -> float:
        """At least what lies beyond the ends of the panels, in units of e^top."""
        total = 0.0
        for end, own in zip(self.ends, (self.piece.low, self.piece.high), strict=True):
            if end != own:
                total += 1.01 * math.exp(min(float(self._at(end)) - top, 300.0)) / _STEEP
        return total

    def _at(self, end: float) -> float:
        value, error = self.logs(np.array([end]))
        return float(value[0] + error[0]) + _LOG_SLACK

    def variation(self, top: float) -> float:
        """At least the variation of G/L' with its values at both ends, in units of e^top."""
        piece, steep = self.piece, float(self.piece.steep)
        centre, wide = self.base_panels()
        origin = float(piece.origin)
        halves = np.repeat(wide / _FINER, _FINER)
        middle = np.repeat(centre - wide, _FINER) + halves * np.tile(2.0 * np.arange(_FINER) + 1, wide.size)
        left, right = middle - halves, middle + halves
        own, mirrored = piece.share, piece.den == "mirror"
        least = own(left) + (own(-right) if mirrored else 0.0)
        pull = abs(self.power) * own(right) + (abs(self.other) * own(-left) if mirrored else 0.0)
        far = np.maximum(abs(left + origin), abs(right + origin)) if piece.normal else np.full(middle.size, steep / 2)
        with np.errstate(divide="ignore", over="ignore"):
            log_f = self.log_most(middle, halves, 0.0, 0.0) - top - np.log(steep * least)
            inner = float((2 * halves * np.exp(log_f) * (far + steep * (pull + 1))).sum())
            ends = float(np.exp(log_f[0]) + np.exp(log_f[-1]))
        return 1.01 * (inner + ends)
