r"""Gaussian noise about a random sample: I(z) = ∫ g(x) A(x)^z dx, g the normal density, A = 1 - q + q e^{μx-μ²/2}.

*The rule.*  The trapezoid rule with step h errs, for every z = γ + iθ and 0 < b with μb < π, by at most

    2 J/(e^{2πb/h} - 1),     J(b, θ) = e^{b²/2} ∫ g(x) |A(x+ib)|^γ e^{θ arg A(x+ib)} dx,

because g A^z is analytic for |Im x| <= b (A is zero only where μ Im x is an odd multiple of π), |g(x+ib)| = e^{b²/2}
g(x), and |A^{iθ}| = e^{-θ arg A} with 0 <= arg A(x+ib) <= μb.  J grows with θ: one J serves all nodes below it.
*Moving the line.*  By Cauchy's theorem I(γ+iθ) is also the integral along Im x = a, so for a > 0

    |I(γ+iθ)| <= e^{a²/2} ∫ g(x) |A(x+ia)|^γ e^{-θ arg A(x+ia)} dx,

which decreases in θ: a bound for θ and all that lies beyond.
*Both integrals* are those of analytic functions of x, since arg A(x+ib) = (log A(x+ib) - log A(x-ib))/2i and
log |A(x+ib)| is half the sum; Arb integrates them with a proved error over a range of x.  Outside that range, with r
the ratio of A's two terms, |A(x+ib)/A(x)|² = 1 - 4 sin²(μb/2) r/(1+r)² lies between cos²(μb/2) and 1, and
*tails*: to the right of x1, A(x) <= A(x1) e^{μ(x-x1)} for γ > 0 and A(x)^γ <= A(x1)^γ for γ < 0; to the left of x0,
A(x)^γ <= max(A(x0)^γ, (1-q)^γ).  Each leaves a normal tail.  Where its terms decrease, a sum over points beyond x1
is at most the integral from x1 on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import acb, arb, ctx

from optcomp.checker.balls import LEAST_BITS, Exact, ball, enclosing, near, spread, working
from optcomp.checker.closed import normal_excess
from optcomp.checker.guess import Floats, short
from optcomp.checker.laws.law import Cloud, TooMuch
from optcomp.checker.laws.sampled import Way, power, sampled_excess
from optcomp.checker.laws.waves import waves

_ROUGH = 60  # bits for the two integrals that bound something
_CLOSE = 9  # bits of theirs that count
_CLOSER = 30  # bits where the bound is raised to a high power
_HIGH = 0.97  # of π/μ: how near to the zeros of A a line may come
_HEIGHTS = 24  # of lines that are looked at
_MOST_POINTS = 30_000  # of a rule: a few seconds
_LEAP = 1.02  # growth of a sketch's steps far from the middle
_FAR = 3000.0  # how far right a sketch goes: tilts beyond are not guessed well


class _Rule(NamedTuple):
    """Points of a trapezoid rule: the height b of the line that bounds its error, its step, first and last point."""

    height: float
    step: float
    start: float
    points: int


@dataclass(frozen=True)
class SampledNormal:
    """Gaussian noise of μ = sensitivity/σ about a sample of this rate."""

    mu: Exact
    rate: Exact
    way: Way

    def top(self) -> tuple[Exact, Exact]:
        """-log(1-q) where a person is added, infinity where one is removed."""
        if self.way == "removed":
            return math.inf, math.inf
        with working(LEAST_BITS):
            return enclosing(-(-ball(self.rate)).log1p())

    def cloud(self) -> Cloud:
        """Points of the normal law, close in its middle."""
        right = np.cumsum(0.1 * _LEAP ** np.maximum(0, np.arange(1200) - 150))
        right = right[right < _FAR]
        places = np.concatenate([-np.arange(120, 0, -1) * 0.1, [0.0], right])
        logs = np.log(np.gradient(places)) - places**2 / 2 - 0.5 * math.log(2 * math.pi)
        rises = self._log_rise(places)
        return Cloud(rises, logs + rises) if self.way == "removed" else Cloud(-rises, logs)

    def _log_rise(self, x: Floats) -> Floats:
        """log A(x)."""
        mu, q = float(self.mu), float(self.rate)
        found: Floats = np.logaddexp(math.log1p(-q), math.log(q) + mu * x - mu * mu / 2)
        return found

    def log_moment(self, x: arb) -> arb:
        """log I(γ), from the rule at θ = 0, whose J is at most e^{b²/2} max(1, cos(μb/2)^γ) I(γ)."""
        gamma = power(self.way, x)
        total, rule, tails = self._total(gamma)
        b = arb(rule.height)
        most = (b * b / 2).exp() * self._dent(gamma, b)
        error = 2 * most / (2 * arb.pi() * b / rule.step).expm1()
        value = total + arb(0).union(tails)
        return (value / (1 + spread(error))).log()

    def _dent(self, gamma: arb, b: arb) -> arb:
        """max(1, cos(μb/2)^γ) bounds |A(x+ib)/A(x)|^γ."""
        return arb(1) if gamma >= 0 else ((ball(self.mu) * b / 2).cos().log() * gamma).exp().max(arb(1))

    def _total(self, gamma: arb) -> tuple[arb, _Rule, arb]:
        rule = self._rule(near(gamma), 0.0)
        weights, _, tails = self._points(gamma, rule)
        return sum(weights, arb(0)), rule, tails

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """The rule at every node: the powers of each point's e^{iΔ log A}."""
        gamma = power(self.way, c)
        end = near(step) * last
        rule = self._rule(near(gamma), end)
        weights, logs, tails = self._points(gamma, rule)
        whole = self._turned(gamma, arb(rule.height), step * last, +1, _CLOSE)
        error = 2 * whole / (2 * arb.pi() * rule.height / arb(rule.step)).expm1() + tails
        scale = 1 / self.log_moment(c).exp()
        sign = 1 if self.way == "removed" else -1
        found = waves([weight * scale for weight in weights], [log * step * sign for log in logs], last)
        share = spread(error * scale)
        return [acb(1), *(value + acb(share, share) for value in found[1:])]

    def _points(self, gamma: arb, rule: _Rule) -> tuple[list[arb], list[arb], arb]:
        """h g A^γ and log A at the points, and a bound on what all points beyond them add."""
        h, mu, q = arb(rule.step), ball(self.mu), ball(self.rate)
        start = arb(rule.start)
        bell, bell_step = (-start * start / 2).exp(), (-(2 * start + h) * h / 2).exp()
        shrink, rise, grow = (-h * h).exp(), q * (mu * start - mu * mu / 2).exp(), (mu * h).exp()
        weights, logs = [], []
        share = h / (2 * arb.pi()).sqrt()
        for _ in range(rule.points):
            log = (1 - q + rise).log()
            weights.append(share * bell * (gamma * log).exp())
            logs.append(log)
            bell, bell_step, rise = bell * bell_step, bell_step * shrink, rise * grow
        return weights, logs, self._tails(gamma, start, start + h * (rule.points - 1))

    def _tails(self, gamma: arb, start: arb, end: arb) -> arb:
        """∫ g A^γ to the left of the start and to the right of the end; sums of points there are no more."""
        mu, q = ball(self.mu), ball(self.rate)
        root = arb(2).sqrt()

        def rise(x: arb) -> arb:
            return (gamma * (1 - q + q * (mu * x - mu * mu / 2).exp()).log()).exp()

        pull = gamma * mu if gamma > 0 else arb(0)
        if not (start <= 0 and end >= pull):
            return arb.pos_inf()
        left = rise(start).max((gamma * (-q).log1p()).exp()) * (-start / root).erfc() / 2
        right = rise(end) * (pull * pull / 2 - pull * end).exp() * ((end - pull) / root).erfc() / 2
        return left + right

    def _turned(self, gamma: arb, height: arb, theta: arb, sign: int, close: int) -> arb:
        """e^{b²/2} ∫ g |A(x+ib)|^γ e^{±θ arg A(x+ib)} dx: what J is, and what bounds I further out, to so many bits."""
        mu, q = ball(self.mu), ball(self.rate)
        lift = acb(0, mu * height).exp()

        def integrand(x: acb, analytic: bool) -> acb:
            rise = q * (mu * x - mu * mu / 2).exp()
            above = (1 - q + rise * lift).log(analytic=analytic)
            below = (1 - q + rise / lift).log(analytic=analytic)
            return (gamma / 2 * (above + below) - acb(0, sign * theta / 2) * (above - below) - x * x / 2).exp()

        most = self._dent(gamma, height) * (theta * mu * height if sign > 0 else arb(0)).exp()
        start, end = self._range(near(gamma), near(most.log()))
        with working(_ROUGH):
            inner = acb.integral(integrand, acb(start), acb(end), rel_tol=arb(2) ** -close).real
            tails = self._tails(gamma, start, end) * most
            return (height * height / 2).exp() * (inner / (2 * arb.pi()).sqrt() + tails)

    def fade(self, c: arb, theta: arb) -> arb:
        """By the line that looks best."""
        gamma = power(self.way, c)
        height, _ = self._best_line(near(gamma), near(theta))
        return (self._turned(gamma, arb(height), theta, -1, _CLOSER) / self.log_moment(c).exp()).min(arb(1))

    def fade_guess(self, c: float, theta: float) -> float:
        """The same integral in floats, at the best of some heights."""
        return self._best_line(c + 1 if self.way == "removed" else -c, theta)[1]

    def _best_line(self, gamma: float, theta: float) -> tuple[float, float]:
        heights = self._heights()
        logs = self._guessed(gamma, theta, heights, -1)
        best = int(np.argmin(logs))
        return float(heights[best]), min(1.0, math.exp(min(0.0, float(logs[best]))))

    def _heights(self) -> Floats:
        most = min(_HIGH * math.pi / float(self.mu), 12.0)
        found: Floats = np.array([short(x) for x in most * np.exp(np.linspace(-7, 0, _HEIGHTS))])
        return found

    def _guessed(self, gamma: float, theta: float, heights: Floats, sign: int) -> Floats:
        """About the logarithm of J/I for each height."""
        mu, q = float(self.mu), float(self.rate)
        x, logs = self._mass(gamma)
        ratio = np.exp(np.minimum(math.log(q / (1 - q)) + mu * x - mu * mu / 2, 300.0))
        turned = ratio * np.exp(1j * mu * heights[:, None])
        with np.errstate(all="ignore"):
            bent = np.log1p(turned) - np.log1p(ratio)
        exponents = logs + gamma * bent.real + sign * theta * bent.imag + heights[:, None] ** 2 / 2
        found: Floats = np.logaddexp.reduce(exponents, axis=1) - np.logaddexp.reduce(logs)
        return found

    def _dents(self, gamma: float, heights: Floats) -> Floats:
        """The logarithm of the bound on J/I at θ = 0 that needs no integral."""
        found: Floats = heights**2 / 2 + np.maximum(0.0, gamma * np.log(np.cos(float(self.mu) * heights / 2)))
        return found

    def _range(self, gamma: float, lift: float) -> tuple[arb, arb]:
        """Where g A^γ counts even if all that lies outside is e^{lift} times as large."""
        reach = math.sqrt(2 * (ctx.prec * math.log(2) + lift)) + 4
        drop = -gamma * math.log1p(-float(self.rate)) if gamma < 0 else 0.0
        x, logs = self._mass_wide(gamma, reach**2 / 2 + drop)
        kept = x[logs > logs.max() - reach**2 / 2]
        return arb(min(float(kept[0]), -1.0)), arb(max(float(kept[-1]), max(gamma, 0.0) * float(self.mu) + 1))

    def _mass(self, gamma: float) -> tuple[Floats, Floats]:
        """Points where g A^γ counts, or where A's terms are equal, with its logarithm and that of their distances."""
        mu, q = float(self.mu), float(self.rate)
        equal = math.log((1 - q) / q) / mu + mu / 2
        x = np.concatenate([np.linspace(-12, max(gamma, 0.0) * mu + 12, 360), equal + np.linspace(-6, 6, 80) / mu])
        x.sort()
        return x, -(x**2) / 2 + gamma * self._log_rise(x) + np.log(np.gradient(x) + 1e-300)

    def _rule(self, gamma: float, end: float) -> _Rule:
        """A rule whose error and whose tails are about as small as the working precision, for nodes up to `end`."""
        digits = ctx.prec * math.log(2)
        heights = self._heights()
        excess = self._guessed(gamma, end, heights, +1) if end else self._dents(gamma, heights)
        steps = 2 * math.pi * heights / (digits + 2 + excess)
        best = int(np.argmax(np.where(steps > 0, steps, 0)))
        height, step = float(heights[best]), short(float(steps[best]))
        x, logs = self._mass_wide(gamma, digits)
        kept = x[logs > logs.max() - digits - 4]
        start, last = (
            min(float(kept[0]) - step, -1.0),
            max(float(kept[-1]) + step, max(gamma, 0.0) * float(self.mu) + 1),
        )
        first = math.floor(start / step)
        count = math.ceil(last / step) - first + 1
        if count > _MOST_POINTS or step <= 0:
            raise TooMuch
        return _Rule(height, step, first * step, count)

    def _mass_wide(self, gamma: float, digits: float) -> tuple[Floats, Floats]:
        reach = math.sqrt(2 * digits) + 4
        x = np.linspace(-reach, max(gamma, 0.0) * float(self.mu) + reach, 1500)
        return x, -(x**2) / 2 + gamma * self._log_rise(x)

    def excess(self, y: Fraction) -> arb:
        """From that of the noise itself."""
        return sampled_excess(self.way, ball(self.rate), ball(y), lambda v: normal_excess(ball(self.mu), v))
