r"""Laplace noise about a random sample, between its atoms: J(z) = ∫ (e^{-(ε+l)/2}/4) A(l)^z dl, A(l) = 1 - q + q e^l.

l runs from a low end, -ε or 0, to ε.
*The rule.*  Gauss-Legendre with N points errs by at most w (64/15) S ρ^{2-2N}/(1-ρ^{-2}), w half the length, S the
largest modulus of the integrand on the ellipse with the ends as foci whose half axes are R = w(ρ+1/ρ)/2 and b =
w(ρ-1/ρ)/2, if b < π: then A is not zero inside.  On it, with m the middle, |e^{-l/2}| <= e^{(R-m)/2}; A lies between
cos(b/2) A(m-R) and A(m+R) by |A(x+ib)/A(x)|² = 1 - 4 sin²(b/2) r/(1+r)², r the ratio of A's terms; |A^{iθ}| is at most
e^{θ arg A}, and |arg A| is at most b and at most arcsin(qe^{m+R}/(1-q)).
*Fading.*  In u = log A the integral is that of G(u) e^{iθu}, G = e^{-(ε+l)/2} A^{γ+1}/(4qe^l).  The slope of log G is
γ + 1 - (3/2) A/(A-1+q), which grows with u, so G has no maximum between its ends.  By parts the integral is at most
the sum of G's end values and of its variation, over θ: twice the sum of both end values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from optcomp.checker.balls import Exact, ball, near
from optcomp.checker.effort import looked
from optcomp.checker.guess import Floats, short
from optcomp.checker.laws.law import TooMuch

_MOST_POINTS = 4000  # of a rule: finding them takes seconds
_SKETCH = 48  # points of a sketch
_ELLIPSES = 60  # that are looked at


@dataclass(frozen=True)
class LaplaceRule:
    """J for noise of this ε and a sample of this rate; `whole` if l begins at -ε, else it begins at 0."""

    epsilon: Exact
    rate: Exact
    whole: bool

    def log_rise(self, place: arb) -> arb:
        """log A."""
        q = ball(self.rate)
        found = (q * place.expm1()).log1p()
        return found if found.is_finite() else (ball(1 - Fraction(self.rate)) + q * place.exp()).log()  # q next to 1

    def rises(self, places: Floats) -> Floats:
        """log A in floats."""
        found: Floats = np.log1p(float(self.rate) * np.expm1(places))
        return found

    def ends(self) -> tuple[arb, arb]:
        """Between which l runs."""
        eps = ball(self.epsilon)
        return -eps if self.whole else arb(0), eps

    def _lengths(self) -> tuple[float, float]:
        """The middle and half the length, in floats."""
        eps = float(self.epsilon)
        return (0.0, eps) if self.whole else (eps / 2, eps / 2)

    def sketch(self) -> tuple[Floats, Floats]:
        """Places l, and the logarithms of their shares of the integral at z = 0."""
        eps, (middle, half) = float(self.epsilon), self._lengths()
        nodes, weights = np.polynomial.legendre.leggauss(_SKETCH)
        places = middle + half * nodes
        return places, np.log(half * weights / 4) - (eps + places) / 2

    def points(self, gamma: arb, end: arb) -> tuple[list[arb], list[arb], arb]:
        """Weights and log A at the points of the rule, and its error for all θ up to `end`."""
        count, ratio = self._choice(near(gamma), near(end))
        low, high = self.ends()
        middle, half = (low + high) / 2, (high - low) / 2
        weights, logs = [], []
        for node, weight in looked(legendre(count, ctx.prec)):
            place = middle + half * node
            logs.append(self.log_rise(place))
            weights.append(half * weight / 4 * (gamma * logs[-1] - (high + place) / 2).exp())
        return weights, logs, self._error(gamma, end, count, arb(ratio))

    def _error(self, gamma: arb, theta: arb, count: int, ratio: arb) -> arb:
        """The bound above."""
        q, (low, high) = ball(self.rate), self.ends()
        middle, half = (low + high) / 2, (high - low) / 2
        wide, tall = half * (ratio + 1 / ratio) / 2, half * (ratio - 1 / ratio) / 2
        if not tall < arb.pi():
            return arb.pos_inf()
        far = middle + wide
        size = self.log_rise(far) if gamma >= 0 else self.log_rise(middle - wide) + (tall / 2).cos().log()
        share = q * far.exp() / (1 - q)
        turn = tall.min(share.asin()) if share < 1 else tall
        log_most = (wide - middle - high) / 2 + gamma * size + theta * turn
        return half / 4 * arb(64) / 15 * (log_most + (2 - 2 * count) * ratio.log()).exp() / (1 - ratio**-2)

    def _choice(self, gamma: float, end: float) -> tuple[int, float]:
        """How many points, and the ellipse for which that is enough."""
        q, digits, (middle, half) = float(self.rate), ctx.prec * math.log(2) + 8, self._lengths()
        most = math.asinh(0.98 * math.pi / half)  # log of the largest ratio
        logs = most * np.linspace(1 / _ELLIPSES, 1, _ELLIPSES)
        wide, tall = half * np.cosh(logs), half * np.sinh(logs)
        far = np.minimum(middle + wide, 600)
        rises = self.rises(far) if gamma >= 0 else self.rises(middle - wide) + np.log(np.cos(tall / 2))
        shares = q * np.exp(far) / (1 - q)
        turns = np.where(shares < 1, np.minimum(tall, np.arcsin(np.minimum(1.0, shares))), tall)
        counts = 2 + (digits + (wide - middle) / 2 + gamma * rises - self.guess_log(gamma) + end * turns) / (2 * logs)
        best = int(np.argmin(counts))
        count = int(max(counts[best], 4)) + 1
        if count > _MOST_POINTS:
            raise TooMuch
        return count, short(math.exp(logs[best]))

    def guess_log(self, gamma: float) -> float:
        """About log J(γ)."""
        places, logs = self.sketch()
        return float(np.logaddexp.reduce(logs + gamma * self.rises(places)))

    def variation(self, gamma: arb) -> arb:
        """θ times a bound on |J(γ ± iθ)|."""
        eps, total = ball(self.epsilon), arb(0)
        for place in self.ends():
            total += ((gamma + 1) * self.log_rise(place) - (eps + 3 * place) / 2).exp()
        return total / (2 * ball(self.rate))

    def variation_guess(self, gamma: float, log: float) -> float:
        """The same in floats, times e^log."""
        eps, (middle, half) = float(self.epsilon), self._lengths()
        places = np.array([middle - half, middle + half])
        logs = (gamma + 1) * self.rises(places) - (eps + 3 * places) / 2 + log
        return float(np.exp(logs).sum()) / (2 * float(self.rate))


@lru_cache(maxsize=64)
def legendre(count: int, bits: int) -> list[tuple[arb, arb]]:
    """Points and weights on [-1, 1] at this precision, which must be the working one."""
    return [arb.legendre_p_root(count, number, weight=True) for number in looked(range(count))]
