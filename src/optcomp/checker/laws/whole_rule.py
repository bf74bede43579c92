r"""Discrete Gaussian noise about a random sample: Σ t_x/W over whole x, t_x = w_x A(x)^α A(-x)^β, w_x = e^{-x²/2σ²}.

A(x) = 1 - q + q e^{(2Δx - Δ²)/2σ²}, and W is the sum of all w_x.  β is 0 where only one record counts.  The terms of
real α and β are listed from one number to another, and what lies beyond is bounded by geometric series.  A(x+1)/A(x)
lies between 1 and e^{Δ/σ²}, so with α = α₊ - α₋ and β = β₊ - β₋
*right*: t_{x+1}/t_x <= e^{(k - x - 1/2)/σ²} for k = Δ(α₊ + β₋), which falls as x grows;
*left*: t_{x-1}/t_x <= e^{(x + m - 1/2)/σ²} for m = Δ(α₋ + β₊) in the same way.  Far to the left that may be useless
while α < 0 is large; there, for β = 0, A^α <= (1-q)^α, and w_x alone falls by e^{(x - 1/2)/σ²}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from optcomp.checker.balls import Exact, ball, near
from optcomp.checker.effort import looked
from optcomp.checker.guess import Floats
from optcomp.checker.laws.atoms import DiscreteGaussian
from optcomp.checker.laws.law import TooMuch, log_left

_MOST_ATOMS = 30_000  # that are listed: a few seconds
_DENSE, _GROWTH = 40, 1.025  # numbers of a sketch without gaps, and the growth of those beyond
_FAR = 320.0  # standard deviations that a sketch covers: tilts beyond are not guessed well

Powers = tuple[arb, arb]
"""α and β."""


class Terms(NamedTuple):
    """The listed terms, log A(x) and log A(-x) at their numbers, and a bound on the sum of all other terms."""

    weights: list[arb]
    logs: list[arb]
    others: list[arb]
    """Empty unless both records count."""
    rest: arb


@dataclass(frozen=True)
class WholeRule:
    """Weight e^{-x²/2σ²} on whole numbers, which one person of the sample shifts by a whole number."""

    sigma: Exact
    shift: int
    rate: Exact
    mirrored: bool

    def sketch(self) -> tuple[Floats, Floats]:
        """Whole numbers, all of them in the middle and fewer farther out, with the logs of their weights."""
        sigma = float(self.sigma)
        right = _thinned(int(_FAR * sigma) + 2 * self.shift)
        numbers = np.concatenate([-right[::-1][:-1], right])
        logs = -(numbers**2) / (2 * sigma**2) + np.log(np.gradient(numbers))
        return numbers, logs - np.logaddexp.reduce(logs)

    def log_rise(self, x: Floats) -> Floats:
        """About log A."""
        q, up = float(self.rate), (self.shift * x - self.shift**2 / 2) / float(self.sigma) ** 2
        found: Floats = np.logaddexp(log_left(self.rate), math.log(q) + up)
        return found

    def terms(self, powers: Powers) -> Terms:
        """Those that count at the working precision."""
        first, last = self._ends(powers)
        if last - first > _MOST_ATOMS:
            raise TooMuch
        square, numbers = ball(self.sigma) ** 2, range(first, last + 1)
        whole = DiscreteGaussian(self.sigma, self.shift).norm()
        logs = [self._log(x, square) for x in looked(numbers)]
        others = [self._log(-x, square) for x in looked(numbers)] if self.mirrored else []
        weights = []
        for place, x in enumerate(looked(numbers)):
            exponent = powers[0] * logs[place] - arb(x * x) / (2 * square)
            if self.mirrored:
                exponent += powers[1] * others[place]
            weights.append(exponent.exp() / whole)
        return Terms(weights, logs, others, self._right(powers, last, weights[-1]) + self._left(powers, first, weights))

    def _log(self, x: int, square: arb) -> arb:
        """log A(x)."""
        return (ball(self.rate) * ((2 * self.shift * x - self.shift**2) / (2 * square)).expm1()).log1p()

    def _right(self, powers: Powers, last: int, weight: arb) -> arb:
        """At least the sum of all terms after the last, of which this is the weight."""
        pull = self.shift * (_up(powers[0]) + _up(-powers[1]))
        return weight * _geometric((last + arb(1) / 2 - pull) / ball(self.sigma) ** 2)

    def _left(self, powers: Powers, first: int, weights: list[arb]) -> arb:
        """At least the sum of all terms before the first."""
        square = ball(self.sigma) ** 2
        pull = self.shift * (_up(-powers[0]) + _up(powers[1]))
        found = weights[0] * _geometric((arb(1) / 2 - first - pull) / square)
        if self.mirrored or not powers[0] < 0:
            return found
        whole = DiscreteGaussian(self.sigma, self.shift).norm()
        bell = (powers[0] * (-ball(self.rate)).log1p() - arb(first * first) / (2 * square)).exp() / whole
        return found.min(bell * _geometric((arb(1) / 2 - first) / square))

    def _ends(self, powers: Powers) -> tuple[int, int]:
        """Far enough out for the working precision."""
        one, two = near(powers[0]), near(powers[1])
        sigma, digits = float(self.sigma), 2 * (ctx.prec * math.log(2) + 8)
        right = self.shift * (max(one, 0.0) + max(-two, 0.0)) + sigma * math.sqrt(digits)
        left = self.shift * (min(one, 0.0) + min(-two, 0.0)) - sigma * math.sqrt(digits)
        if one < 0 and not self.mirrored:
            left = max(left, -sigma * math.sqrt(digits + 2 * one * log_left(self.rate)))
        return math.floor(left) - 1, math.ceil(right) + 1


def _up(power: arb) -> arb:
    """The positive part."""
    return power.max(arb(0))


def _thinned(end: int) -> Floats:
    """0, 1, 2, … with growing gaps from some number on."""
    if end <= _DENSE:
        return np.arange(end + 1, dtype=np.float64)
    far = np.exp(np.arange(math.log(_DENSE), math.log(end), math.log(_GROWTH)))
    return np.unique(np.concatenate([np.arange(_DENSE), np.rint(far)]))


def _geometric(fall: arb) -> arb:
    """r + r² + ... for r = e^{-fall}; infinite unless that is below 1."""
    return 1 / fall.expm1() if fall > 0 else arb.pos_inf()
