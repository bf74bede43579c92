r"""Discrete Gaussian noise about a random sample: I(z) = Σ w_x A_x^z/W, A_x = 1 - q + q e^{(2Δx - Δ²)/2σ²}.

x runs over the whole numbers, w_x = e^{-x²/2σ²}, W their sum.  The terms t_x = w_x A_x^γ of a real γ are listed from
one number to another, and what lies beyond is bounded by geometric series.  Let k = Δγ₊, m = Δγ₋ with γ = γ₊ - γ₋:
*right*: t_{x+1}/t_x <= e^{(k - x - 1/2)/σ²}, because A_{x+1}/A_x lies between 1 and e^{Δ/σ²}; it falls as x grows.
*left*: t_{x-1}/t_x <= e^{(x + m - 1/2)/σ²} in the same way.  Far to the left that may be useless while γ < 0 is
large; there A_x^γ <= (1-q)^γ, and w_x alone falls by e^{(x - 1/2)/σ²}.
The atoms lie on no lattice and never fade: |φ| <= 1 is all that is known beyond the last node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb, ctx

from optcomp.checker.balls import Exact, ball, near, spread
from optcomp.checker.guess import Floats
from optcomp.checker.laws.atoms import DiscreteGaussian
from optcomp.checker.laws.law import Cloud, TooMuch
from optcomp.checker.laws.sampled import Way, largest, power
from optcomp.checker.laws.waves import waves

_MOST_ATOMS = 30_000  # that are listed: a few seconds
_SKETCHED = 1500  # points of a sketch
_FAR = 320.0  # standard deviations that a sketch covers to the right: tilts beyond are not guessed well


@dataclass(frozen=True)
class SampledWhole:
    """Weight e^{-x²/2σ²} on whole numbers, which one person of the sample shifts by a whole number."""

    sigma: Exact
    shift: int
    rate: Exact
    way: Way

    def top(self) -> tuple[Exact, Exact]:
        """-log(1-q) where a person is added, infinity where one is removed."""
        return largest(self.way, self.rate)

    def cloud(self) -> Cloud:
        """Whole numbers, all of them in the middle and fewer farther out."""
        sigma = float(self.sigma)
        right = _thinned(int(_FAR * sigma) + 2 * self.shift)
        numbers = np.concatenate([-right[::-1][:-1], right])
        logs = -(numbers**2) / (2 * sigma**2) + np.log(np.gradient(numbers))
        rises = self._log_rise(numbers)
        logs -= np.logaddexp.reduce(logs)
        return Cloud(rises, logs + rises) if self.way == "removed" else Cloud(-rises, logs)

    def _log_rise(self, x: Floats) -> Floats:
        """log A."""
        q, up = float(self.rate), (self.shift * x - self.shift**2 / 2) / float(self.sigma) ** 2
        found: Floats = np.logaddexp(math.log1p(-q), math.log(q) + up)
        return found

    def log_moment(self, x: arb) -> arb:
        """log I(γ)."""
        weights, _, rest = self._atoms(power(self.way, x))
        return (sum(weights, arb(0)) + arb(0).union(rest)).log()

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """Sums over the listed atoms; the others add at most their weight."""
        weights, logs, rest = self._atoms(power(self.way, c))
        total = sum(weights, arb(0))
        sign = 1 if self.way == "removed" else -1
        found = waves([weight / total for weight in weights], [log * step * sign for log in logs], last)
        share, scale = spread(rest / total), 1 / (1 + arb(0).union(rest / total))
        return [acb(1), *((value + acb(share, share)) * scale for value in found[1:])]

    def _atoms(self, gamma: arb) -> tuple[list[arb], list[arb], arb]:
        """w A^γ/W and log A from the first to the last listed number, and a bound on the sum of all other terms."""
        first, last = self._ends(near(gamma))
        if last - first > _MOST_ATOMS:
            raise TooMuch
        square, q = ball(self.sigma) ** 2, ball(self.rate)
        whole = DiscreteGaussian(self.sigma, self.shift).norm()
        logs = [
            (q * ((2 * self.shift * x - self.shift**2) / (2 * square)).expm1()).log1p() for x in range(first, last + 1)
        ]
        weights = [
            (gamma * log - arb(x * x) / (2 * square)).exp() / whole
            for x, log in zip(range(first, last + 1), logs, strict=True)
        ]
        pull = self.shift * gamma
        right = weights[-1] * _geometric((last + arb(1) / 2 - pull.max(arb(0))) / square)
        left = weights[0] * _geometric((arb(1) / 2 - first + pull.min(arb(0))) / square)
        if gamma < 0:
            bell = (gamma * (-q).log1p() - arb(first * first) / (2 * square)).exp() / whole
            left = left.min(bell * _geometric((arb(1) / 2 - first) / square))
        return weights, logs, right + left

    def _ends(self, gamma: float) -> tuple[int, int]:
        """Far enough out for the working precision."""
        sigma, digits = float(self.sigma), 2 * (ctx.prec * math.log(2) + 8)
        right = self.shift * max(gamma, 0.0) + sigma * math.sqrt(digits)
        left = self.shift * min(gamma, 0.0) - sigma * math.sqrt(digits)
        if gamma < 0:
            left = max(left, -sigma * math.sqrt(digits + 2 * gamma * math.log1p(-float(self.rate))))
        return math.floor(left) - 1, math.ceil(right) + 1

    def fade(self, c: arb, theta: arb) -> arb:
        """Atoms do not fade."""
        return arb(1)

    def fade_guess(self, c: float, theta: float) -> float:
        """1."""
        return 1.0

    def excess(self, y: Fraction) -> arb:
        """Σ(P - e^y Q)₊, number by number.

        What is beyond the list adds at most its mass under P: the smaller ends of I(1), or of I(0).
        """
        gamma = arb(1 if self.way == "removed" else 0)
        weights, logs, rest = self._atoms(gamma)
        sign = 1 if self.way == "removed" else -1
        total = sum(
            (-weight * (ball(y) - sign * log).expm1() for weight, log in _above(weights, logs, sign, y)), arb(0)
        )
        return total + arb(0).union(rest)


def _above(weights: list[arb], logs: list[arb], sign: int, y: Fraction) -> list[tuple[arb, arb]]:
    """The atoms that are not below y for sure; of one at y itself the term is next to nothing, of either sign."""
    place = ball(y)
    return [(weight, log) for weight, log in zip(weights, logs, strict=True) if not sign * log < place]


def _thinned(end: int) -> Floats:
    """0, 1, 2, … with growing gaps from some number on."""
    if end <= _SKETCHED:
        return np.arange(end + 1, dtype=np.float64)
    return np.unique(np.rint(np.expm1(np.linspace(0, 1, _SKETCHED) * math.log1p(end))))


def _geometric(fall: arb) -> arb:
    """r + r² + ... for r = e^{-fall}; infinite unless that is below 1."""
    return 1 / fall.expm1() if fall > 0 else arb.pos_inf()
