"""Gaussian noise about a random sample: one person removed or added, or one record replaced by another one.

What is said of `NormalRule` holds with α = γ and β = 0 where a person is removed or added.  Where a record is replaced
the two records pull to opposite sides: P has the density g(x)A(x), Q the density g(x)A(-x), so L = log A(x)/A(-x) and

    M(s) = ∫ g A(x)^{s+1} A(-x)^{-s} dx,        F(y) = P(x > t) - e^y Q(x > t),    L(t) = y,

because L grows with x; μt = y/2 + arsinh((1-q)/q e^{μ²/2} sinh(y/2)) solves A(t) = e^y A(-t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import acb, arb

from optcomp.checker.balls import Exact, ball
from optcomp.checker.closed import normal_excess
from optcomp.checker.guess import Floats
from optcomp.checker.laws.law import Cloud
from optcomp.checker.laws.normal_rule import NormalRule
from optcomp.checker.laws.sampled import Way, largest, power, sampled_excess

_LEAP = 1.02  # growth of a sketch's steps far from the middle
_FAR = 3000.0  # how far right a sketch goes: tilts beyond are not guessed well


def sketch_places() -> Floats:
    """Places to the right of 0, close near it."""
    right: Floats = np.cumsum(0.1 * _LEAP ** np.maximum(0, np.arange(1200) - 150))
    return right[right < _FAR]


def sketch_logs(places: Floats) -> Floats:
    """The logarithms of normal masses around the places."""
    found: Floats = np.log(np.gradient(places)) - places**2 / 2 - 0.5 * math.log(2 * math.pi)
    return found


@dataclass(frozen=True)
class SampledNormal:
    """Gaussian noise of μ = sensitivity/σ about a sample of this rate."""

    mu: Exact
    rate: Exact
    way: Way

    @cached_property
    def _rule(self) -> NormalRule:
        return NormalRule(self.mu, self.rate, mirrored=False)

    def top(self) -> tuple[Exact, Exact]:
        """-log(1-q) where a person is added, infinity where one is removed."""
        return largest(self.way, self.rate)

    def cloud(self) -> Cloud:
        """Points of the normal law, close in its middle."""
        places = np.concatenate([-np.arange(120, 0, -1) * 0.1, [0.0], sketch_places()])
        logs, rises = sketch_logs(places), self._rule.log_rise(places)
        return Cloud(rises, logs + rises) if self.way == "removed" else Cloud(-rises, logs)

    def log_moment(self, x: arb) -> arb:
        """log I(γ)."""
        return self._rule.log_total((power(self.way, x), arb(0)))

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """The rule at every node."""
        return self._rule.waves((power(self.way, c), arb(0)), 1 if self.way == "removed" else -1, step, last)

    def fade(self, c: arb, theta: arb) -> arb:
        """By the line that looks best."""
        return self._rule.fade((power(self.way, c), arb(0)), theta)

    def fade_guess(self, c: float, theta: float) -> float:
        """The same in floats."""
        return self._rule.fade_guess((c + 1 if self.way == "removed" else -c, 0.0), theta)

    def excess(self, y: Fraction) -> arb:
        """From that of the noise itself."""
        return sampled_excess(self.way, ball(self.rate), ball(y), lambda v: normal_excess(ball(self.mu), v))


@dataclass(frozen=True)
class ReplacedNormal:
    """Gaussian noise of μ = sensitivity/σ about a sample of this rate, where a record is replaced by another one."""

    mu: Exact
    rate: Exact

    @cached_property
    def _rule(self) -> NormalRule:
        return NormalRule(self.mu, self.rate, mirrored=True)

    def top(self) -> tuple[Exact, Exact]:
        """There is none."""
        return math.inf, math.inf

    def cloud(self) -> Cloud:
        """Points of the normal law, close in its middle."""
        right = sketch_places()
        places = np.concatenate([-right[::-1], [0.0], right])
        rises = self._rule.log_rise(places)
        return Cloud(rises - rises[::-1], sketch_logs(places) + rises)

    def log_moment(self, x: arb) -> arb:
        """log M(x)."""
        return self._rule.log_total((x + 1, -x))

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """The rule at every node."""
        return self._rule.waves((c + 1, -c), 1, step, last)

    def fade(self, c: arb, theta: arb) -> arb:
        """By the line that looks best."""
        return self._rule.fade((c + 1, -c), theta)

    def fade_guess(self, c: float, theta: float) -> float:
        """The same in floats."""
        return self._rule.fade_guess((c + 1, -c), theta)

    def excess(self, y: Fraction) -> arb:
        """The two tails from where the loss is y."""
        mu, q, half, root = ball(self.mu), ball(self.rate), ball(y) / 2, arb(2).sqrt()
        place = (half + ((1 - q) / q * (mu * mu / 2).exp() * half.sinh()).asinh()) / mu
        plain, ahead, behind = ((place + move) / root for move in (arb(0), -mu, mu))
        lost = -(2 * half).expm1()  # 1 - e^y
        return ((1 - q) * lost * plain.erfc() + q * (ahead.erfc() - (2 * half).exp() * behind.erfc())) / 2
