r"""Laplace noise about a random sample: I(z) = (e^{-ε}/2) A(ε)^z + A(-ε)^z/2 + ∫ (e^{-(ε+l)/2}/4) A(l)^z dl.

A(l) = 1 - q + q e^l, and l runs from -ε to ε under Q, the law without the person.
*The rule.*  Gauss-Legendre with N points errs by at most ε (64/15) S ρ^{2-2N}/(1-ρ^{-2}), S the largest modulus of the
integrand on the ellipse with the foci ±ε whose half axes are R = ε(ρ+1/ρ)/2 and b = ε(ρ-1/ρ)/2, if b < π: then A is
not zero inside.  On it |e^{-l/2}| <= e^{R/2}; cos(b/2) A(-R) <= |A| <= A(R) by |A(x+ib)/A(x)|² = 1 - 4 sin²(b/2)
r/(1+r)², r the ratio of A's terms; |A^{iθ}| <= e^{θ arg A}, and |arg A| is at most b and at most arcsin(qe^R/(1-q)).
*Fading.*  In u = log A the integral is that of G(u) e^{iθu}, G = e^{-(ε+l)/2} A^{γ+1}/(4qe^l).  The slope of log G is
γ + 1 - (3/2) A/(A-1+q), which grows with u, so G has no maximum between its ends.  By parts the integral is at most
the sum of G's end values and of its variation, over θ: 2(G(-ε) + G(ε))/θ.  The atoms do not fade.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import acb, arb, ctx

from optcomp.checker.balls import LEAST_BITS, Exact, ball, enclosing, near, spread, working
from optcomp.checker.guess import Floats, short
from optcomp.checker.laws.laplace import laplace_excess
from optcomp.checker.laws.law import Cloud, TooMuch
from optcomp.checker.laws.sampled import Way, power, sampled_excess
from optcomp.checker.laws.waves import waves

_MOST_POINTS = 4000  # of a rule: finding them takes seconds
_SKETCH = 48  # points of a sketch between the atoms
_ELLIPSES = 60  # that are looked at


@dataclass(frozen=True)
class SampledLaplace:
    """Laplace noise of this ε about a sample of this rate."""

    epsilon: Exact
    rate: Exact
    way: Way

    def top(self) -> tuple[Exact, Exact]:
        """log A(ε), or -log A(-ε)."""
        sign = 1 if self.way == "removed" else -1
        with working(LEAST_BITS):
            return enclosing(self._log_rise(sign * ball(self.epsilon)) * sign)

    def _log_rise(self, place: arb) -> arb:
        """log A."""
        return (ball(self.rate) * place.expm1()).log1p()

    def cloud(self) -> Cloud:
        """Both atoms, and points between them."""
        eps, q = float(self.epsilon), float(self.rate)
        nodes, weights = np.polynomial.legendre.leggauss(_SKETCH)
        places = np.concatenate([[-eps, eps], eps * nodes])
        logs = np.concatenate([[-math.log(2), -eps - math.log(2)], np.log(eps * weights / 4) - eps * (1 + nodes) / 2])
        rises = np.log1p(q * np.expm1(places))
        return Cloud(rises, logs + rises) if self.way == "removed" else Cloud(-rises, logs)

    def log_moment(self, x: arb) -> arb:
        """log I(γ)."""
        weights, _, error = self._points(power(self.way, x), arb(0))
        return (sum(weights, arb(0)) + spread(error)).log()

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """Atoms and points at every node."""
        weights, logs, error = self._points(power(self.way, c), step * last)
        scale = (-self.log_moment(c)).exp()
        sign = 1 if self.way == "removed" else -1
        found = waves([weight * scale for weight in weights], [log * step * sign for log in logs], last)
        share = spread(error * scale)
        return [acb(1), *(value + acb(share, share) for value in found[1:])]

    def _points(self, gamma: arb, end: arb) -> tuple[list[arb], list[arb], arb]:
        """Weights and log A of both atoms and of the rule, and the rule's error for all θ up to `end`."""
        eps = ball(self.epsilon)
        count, ratio = self._choice(near(gamma), near(end))
        weights, logs = [], []
        for place, weight in ((-eps, arb(0.5)), (eps, (-eps).exp() / 2)):
            logs.append(self._log_rise(place))
            weights.append(weight * (gamma * logs[-1]).exp())
        for node, weight in _legendre(count, ctx.prec):
            place = eps * node
            logs.append(self._log_rise(place))
            weights.append(eps * weight / 4 * (gamma * logs[-1] - (eps + place) / 2).exp())
        return weights, logs, self._error(gamma, end, count, arb(ratio))

    def _error(self, gamma: arb, theta: arb, count: int, ratio: arb) -> arb:
        """The bound above."""
        eps, q = ball(self.epsilon), ball(self.rate)
        wide, high = eps * (ratio + 1 / ratio) / 2, eps * (ratio - 1 / ratio) / 2
        if not high < arb.pi():
            return arb.pos_inf()
        size = self._log_rise(wide) if gamma >= 0 else self._log_rise(-wide) + (high / 2).cos().log()
        share = q * wide.exp() / (1 - q)
        turn = high.min(share.asin()) if share < 1 else high
        log_most = (wide - eps) / 2 + gamma * size + theta * turn
        return eps / 4 * arb(64) / 15 * (log_most + (2 - 2 * count) * ratio.log()).exp() / (1 - ratio**-2)

    def _choice(self, gamma: float, end: float) -> tuple[int, float]:
        """How many points, and the ellipse for which that is enough."""
        eps, q, digits = float(self.epsilon), float(self.rate), ctx.prec * math.log(2) + 8
        most = math.asinh(0.98 * math.pi / eps)  # log of the largest ratio
        logs = most * np.linspace(1 / _ELLIPSES, 1, _ELLIPSES)
        wide, high = eps * np.cosh(logs), eps * np.sinh(logs)
        rises = np.log1p(q * np.expm1(np.minimum(wide, 600))) if gamma >= 0 else np.log1p(q * np.expm1(-wide))
        dents = np.log(np.cos(high / 2)) if gamma < 0 else 0.0
        shares = q * np.exp(np.minimum(wide, 600)) / (1 - q)
        turns = np.where(shares < 1, np.minimum(high, np.arcsin(np.minimum(1.0, shares))), high)
        base = self._guess_log(gamma)
        counts = 2 + (digits + wide / 2 + gamma * (rises + dents) - base + end * turns) / (2 * logs)
        best = int(np.argmin(counts))
        count = int(max(counts[best], 4)) + 1
        if count > _MOST_POINTS:
            raise TooMuch
        return count, short(math.exp(logs[best]))

    def _guess_log(self, gamma: float) -> float:
        """About log I(γ)."""
        c = gamma - 1 if self.way == "removed" else -gamma
        found: Floats = self.cloud().cumulants(np.array([c]))[0]
        return float(found[0])

    def fade(self, c: arb, theta: arb) -> arb:
        """Atoms, and the ends of G."""
        gamma, eps = power(self.way, c), ball(self.epsilon)
        total, atoms, ends = self.log_moment(c).exp(), arb(0), arb(0)
        for place, weight in ((-eps, arb(0.5)), (eps, (-eps).exp() / 2)):
            log = self._log_rise(place)
            atoms += weight * (gamma * log).exp()
            ends += ((gamma + 1) * log - (eps + 3 * place) / 2).exp() / (4 * ball(self.rate))
        return ((atoms + (2 * ends / theta).min(total - atoms)) / total).min(arb(1))

    def fade_guess(self, c: float, theta: float) -> float:
        """The same in floats."""
        gamma, eps, q = (c + 1 if self.way == "removed" else -c), float(self.epsilon), float(self.rate)
        places = np.array([-eps, eps])
        rises, base = np.log1p(q * np.expm1(places)), self._guess_log(gamma)
        atoms = float(np.exp(gamma * rises + np.array([0.0, -eps]) - math.log(2) - base).sum())
        ends = float(np.exp((gamma + 1) * rises - (eps + 3 * places) / 2 - base).sum()) / (4 * q)
        return min(1.0, atoms + min(2 * ends / theta, max(0.0, 1 - atoms)))

    def excess(self, y: Fraction) -> arb:
        """From that of the noise itself."""
        return sampled_excess(self.way, ball(self.rate), ball(y), lambda v: laplace_excess(ball(self.epsilon), v))


@lru_cache(maxsize=64)
def _legendre(count: int, bits: int) -> list[tuple[arb, arb]]:
    """Points and weights on [-1, 1] at this precision, which must be the working one."""
    return [arb.legendre_p_root(count, number, weight=True) for number in range(count)]
