r"""Laplace noise: the loss is ε with probability 1/2, -ε with e^{-ε}/2, and has the density e^{(l-ε)/2}/4 between.

    M(s) = (e^{sε}/2) (1 + 1/b + e^{-bε} (1 - 1/b)),     b = 1 + 2s,
    E(1 - e^{y-L})_+ = 1 - e^{(y-ε)/2}   for |y| <= ε,    1 - e^y below,    0 above.

With b = u + iv the fraction (1 - e^{-bε})/b is ∫_0^ε e^{-bl} dl, which has no singularity at b = 0.  On the line
through c it is at most (1 + e^{-uε})/|v|, so |φ| <= (e^{cε}/2M(c)) (1 + e^{-uε}) (1 + 1/2θ) at θ and beyond.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb

from optcomp.checker.balls import Exact, ball
from optcomp.checker.effort import looked
from optcomp.checker.laws.law import Cloud
from optcomp.checker.laws.waves import powers

_POINTS = 48  # of a sketch between the atoms
_SERIES = 0.01  # |bε| below which the fraction is written as an integral's series
_TERMS = 40  # of that series: the rest is below 1e-120


@dataclass(frozen=True)
class Laplace:
    """Noise whose density falls by e over the scale, of which a person moves the number by ε scales."""

    epsilon: Exact

    def top(self) -> tuple[Exact, Exact]:
        """ε."""
        return self.epsilon, self.epsilon

    def cloud(self) -> Cloud:
        """Both atoms, and points between them."""
        eps = float(self.epsilon)
        nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
        places = eps * nodes
        logs = np.log(eps * weights / 4) + (places - eps) / 2
        ends = np.array([-eps, eps]), np.array([-eps - math.log(2), -math.log(2)])
        return Cloud(np.concatenate([ends[0], places]), np.concatenate([ends[1], logs]))

    def moment(self, s: acb) -> acb:
        """M(s) e^{-sε}."""
        eps, b = ball(self.epsilon), 1 + 2 * s
        fall = (-b * eps).exp()
        return (1 + fall + _fraction(b, eps)) / 2

    def log_moment(self, x: arb) -> arb:
        """The closed form."""
        return self.moment(acb(x)).real.log() + x * ball(self.epsilon)

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """The closed form at every node."""
        eps, base = ball(self.epsilon), self.moment(acb(c)).real
        turns = powers(acb(0, step * eps).exp(), last + 1)
        return [self.moment(acb(c, step * number)) / base * turn for number, turn in enumerate(looked(turns))]

    def fade(self, c: arb, theta: arb) -> arb:
        """The atoms stay; what lies between them falls like 1/θ."""
        eps = ball(self.epsilon)
        ends = 1 + (-(1 + 2 * c) * eps).exp()
        return (ends * (1 + 1 / (2 * theta)) / (2 * self.moment(acb(c)).real)).min(arb(1))

    def fade_guess(self, c: float, theta: float) -> float:
        """The same in floats."""
        u, eps = 1 + 2 * c, float(self.epsilon)
        ends = 1 + math.exp(-u * eps)
        inner = -math.expm1(-u * eps) / u if abs(u) > 1e-9 else eps
        return min(1.0, ends * (1 + 1 / (2 * theta)) / (ends + inner))

    def excess(self, y: Fraction) -> arb:
        """The closed form."""
        return laplace_excess(ball(self.epsilon), ball(y))


def laplace_excess(eps: arb, y: arb) -> arb:
    """E(1 - e^{y-L})_+; where a ball leaves open which case it is, both."""
    cases = []
    if not y >= eps and not y < -eps:
        cases.append(-((y - eps) / 2).expm1())
    if not y >= -eps:
        cases.append(-y.expm1())
    if not y < eps:
        cases.append(arb(0))
    found = cases[0]
    for other in cases[1:]:
        found = found.union(other)
    return found


def _fraction(b: acb, eps: arb) -> acb:
    """(1 - e^{-bε})/b."""
    size = (b * eps).abs_upper()
    if not size < _SERIES:
        return (1 - (-b * eps).exp()) / b
    term, total = acb(eps), acb(0)
    for number in range(1, _TERMS):
        total += term
        term *= -b * eps / (number + 1)
    rest = term.abs_upper() * 2  # later terms shrink by more than half each
    return total + acb(arb(0, rest), arb(0, rest))
