r"""Gaussian noise about a random sample: I(α, β) = ∫ g(x) A(x)^α A(-x)^β dx, A = 1 - q + q e^{μx-μ²/2}, g normal.

α and β are real numbers with ±iθ added; β is 0 where only one record counts.
*The rule.*  The trapezoid rule with step h errs, for every θ and 0 < b with μb < π, by at most

    2 J/(e^{2πb/h} - 1),     J(b, θ) = e^{b²/2} ∫ g(x) |A(x+ib)|^α |A(-x-ib)|^β e^{θT(x, b)} dx,

because the integrand is analytic for |Im x| <= b (A is zero only where μ Im x is an odd multiple of π), |g(x+ib)| =
e^{b²/2} g(x), and |A(x+ib)^{iθ}| = e^{-θ arg A(x+ib)} with 0 <= arg A(x+ib) <= μb.  T is arg A(x+ib), and where the
loss is log A(x)/A(-x) it is arg A(x+ib) + arg A(-x+ib).  J grows with θ: one J serves all nodes below it.
*Moving the line.*  By Cauchy's theorem the integral is also the one along Im x = a, so for a > 0 its modulus is at most

    e^{a²/2} ∫ g(x) |A(x+ia)|^α |A(-x-ia)|^β e^{-θT(x, a)} dx,

which decreases in θ: a bound for θ and all that lies beyond.
*Both integrals* are those of analytic functions of x, since arg A(x+ib) = (log A(x+ib) - log A(x-ib))/2i and
log |A(x+ib)| is half the sum; Arb integrates them with a proved error over a range of x.  Outside that range, with r
the ratio of A's two terms, |A(x+ib)/A(x)|² = 1 - 4 sin²(μb/2) r/(1+r)² lies between cos²(μb/2) and 1, and
*tails*: to the right of x1, A(x) <= A(x1) e^{μ(x-x1)} for α > 0 and A(x)^α <= A(x1)^α for α < 0; A(-x) lies between
1 - q and A(-x1).  The left is the same with α and β exchanged.  Each leaves a normal tail.  Where its terms decrease, a
sum over points beyond x1 is at most the integral from x1 on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import acb, arb, ctx

from optcomp.checker.balls import Exact, ball, near, spread, working
from optcomp.checker.effort import left, look, looked
from optcomp.checker.guess import Floats, short
from optcomp.checker.laws.law import TooMuch, log_left
from optcomp.checker.laws.waves import waves

Powers = tuple[arb, arb]
"""The real parts of α and β."""
Guessed = tuple[float, float]
"""The same in floats."""

_ROUGH = 60  # bits for the two integrals that bound something
_CLOSE = 9  # bits of theirs that count
_CLOSER = 30  # bits where the bound is raised to a high power
_HIGH = 0.97  # of π/μ: how near to the zeros of A a line may come
_HEIGHTS = 24  # of lines that are looked at
_MOST_POINTS = 30_000  # of a rule: a few seconds


class Rule(NamedTuple):
    """Points of a trapezoid rule: the height b of the line that bounds its error, its step, first and last point."""

    height: float
    step: float
    start: float
    points: int


@dataclass(frozen=True)
class NormalRule:
    """I for noise of this μ and a sample of this rate; `mirrored` if A(-x) belongs to the loss."""

    mu: Exact
    rate: Exact
    mirrored: bool

    def log_rise(self, x: Floats) -> Floats:
        """log A(x), in floats."""
        mu, q = float(self.mu), float(self.rate)
        found: Floats = np.logaddexp(log_left(self.rate), math.log(q) + mu * x - mu * mu / 2)
        return found

    def heights(self) -> Floats:
        """Of the lines that are looked at."""
        most = min(_HIGH * math.pi / float(self.mu), 12.0)
        found: Floats = np.array([short(x) for x in most * np.exp(np.linspace(-7, 0, _HEIGHTS))])
        return found

    def log_total(self, powers: Powers) -> arb:
        """log I at θ = 0, from the rule, whose J is at most e^{b²/2} max(1, cos(μb/2)^α) max(1, cos(μb/2)^β) I."""
        rule = self._rule(_floats(powers), 0.0)
        weights, _, tails = self._points(powers, rule)
        b = arb(rule.height)
        most = (b * b / 2).exp() * self._dent(powers, b)
        error = 2 * most / (2 * arb.pi() * b / rule.step).expm1()
        value = sum(weights, arb(0)) + arb(0).union(tails)
        return (value / (1 + spread(error))).log()

    def _dent(self, powers: Powers, b: arb) -> arb:
        """At least what |A(x+ib)/A(x)|^α |A(-x-ib)/A(-x)|^β can be."""
        negative = sum((power for power in powers if not power >= 0), arb(0))
        return arb(1) if negative.is_zero() else ((ball(self.mu) * b / 2).cos().log() * negative).exp().max(arb(1))

    def waves(self, powers: Powers, sign: int, step: arb, last: int) -> list[acb]:
        """I at every node, over I at θ = 0: the powers of each point's e^{±iΔL}."""
        end = near(step) * last
        rule = self._rule(_floats(powers), end)
        weights, losses, tails = self._points(powers, rule)
        whole = self._turned(powers, arb(rule.height), step * last, +1, _CLOSE)
        error = 2 * whole / (2 * arb.pi() * rule.height / arb(rule.step)).expm1() + tails
        if not error.is_finite():
            raise TooMuch  # nothing would come of the sums
        scale = 1 / self.log_total(powers).exp()
        found = waves([weight * scale for weight in weights], [loss * step * sign for loss in losses], last)
        share = spread(error * scale)
        return [acb(1), *(value + acb(share, share) for value in found[1:])]

    def _points(self, powers: Powers, rule: Rule) -> tuple[list[arb], list[arb], arb]:
        """h g A(x)^α A(-x)^β and the loss at the points, and a bound on what all points beyond them add."""
        h, mu, q = arb(rule.step), ball(self.mu), ball(self.rate)
        start = arb(rule.start)
        bell, bell_step = (-start * start / 2).exp(), (-(2 * start + h) * h / 2).exp()
        shrink, grow, lull = (-h * h).exp(), (mu * h).exp(), (-mu * h).exp()
        rise, fall = q * (mu * start - mu * mu / 2).exp(), q * (-mu * start - mu * mu / 2).exp()
        weights, losses = [], []
        share = h / (2 * arb.pi()).sqrt()
        for _ in looked(range(rule.points)):
            log = (1 - q + rise).log()
            exponent, loss = powers[0] * log, log
            if self.mirrored:
                other = (1 - q + fall).log()
                exponent, loss = exponent + powers[1] * other, log - other
                fall *= lull
            weights.append(share * bell * exponent.exp())
            losses.append(loss)
            bell, bell_step, rise = bell * bell_step, bell_step * shrink, rise * grow
        return weights, losses, self._tails(powers, start, start + h * (rule.points - 1))

    def _tails(self, powers: Powers, start: arb, end: arb) -> arb:
        """∫ g A(x)^α A(-x)^β to the left of the start and to the right of the end; sums of points are no more."""
        return self.right_tail(powers, end) + self.right_tail((powers[1], powers[0]), -start)

    def right_tail(self, powers: Powers, end: arb) -> arb:
        """The same to the right of the end; infinite if that is not far enough."""
        mu, q = ball(self.mu), ball(self.rate)
        own, other = powers

        def rise(x: arb, power: arb) -> arb:
            return (power * (1 - q + q * (mu * x - mu * mu / 2).exp()).log()).exp()

        pull = own * mu if own > 0 else arb(0)
        if not (end >= 0 and end >= pull):
            return arb.pos_inf()
        most = rise(end, own) * rise(-end, other).max((other * (-q).log1p()).exp())
        return most * (pull * pull / 2 - pull * end).exp() * ((end - pull) / arb(2).sqrt()).erfc() / 2

    def _turned(self, powers: Powers, height: arb, theta: arb, sign: int, close: int) -> arb:
        """e^{b²/2} ∫ g |A(x+ib)|^α |A(-x-ib)|^β e^{±θT} dx over the whole line, to so many bits."""
        turns = theta * ball(self.mu) * height * (2 if self.mirrored else 1) if sign > 0 else arb(0)
        most = self._dent(powers, height) * turns.exp()
        start, end = self._range(_floats(powers), near(most.log()))
        with working(_ROUGH):
            tails = self._tails(powers, start, end) * most * (height * height / 2).exp()
            return self.lifted(powers, height, sign * theta, (start, end), close) + tails

    def lifted(self, powers: Powers, height: arb, theta: arb, ends: Powers, close: int) -> arb:
        """e^{b²/2} ∫ g |A(x+ib)|^α |A(-x-ib)|^β e^{θT} dx between two ends, to so many bits."""
        mu, q = ball(self.mu), ball(self.rate)
        lift = acb(0, mu * height).exp()

        def logs(x: acb, analytic: bool) -> tuple[acb, acb]:
            rise = q * (mu * x - mu * mu / 2).exp()
            above, below = (1 - q + rise * lift).log(analytic=analytic), (1 - q + rise / lift).log(analytic=analytic)
            return (above + below) / 2, (above - below) / 2

        def integrand(x: acb, analytic: bool) -> acb:
            if left() < 0:
                return acb(arb.nan())  # an error cannot pass through Arb
            size, turn = logs(x, analytic)
            exponent = powers[0] * size - x * x / 2
            if self.mirrored:
                other, more = logs(-x, analytic)
                exponent, turn = exponent + powers[1] * other, turn + more
            return (exponent - acb(0, theta) * turn).exp()

        inner = acb.integral(integrand, acb(ends[0]), acb(ends[1]), rel_tol=arb(2) ** -close).real
        look()
        return (height * height / 2).exp() * inner / (2 * arb.pi()).sqrt()

    def fade(self, powers: Powers, theta: arb) -> arb:
        """A bound on |I|/I(θ = 0) at θ and beyond, by the line that looks best."""
        height, _ = self._best_line(_floats(powers), near(theta))
        return (self._turned(powers, arb(height), theta, -1, _CLOSER) / self.log_total(powers).exp()).min(arb(1))

    def fade_guess(self, powers: Guessed, theta: float) -> float:
        """The same integral in floats, at the best of some heights."""
        return self._best_line(powers, theta)[1]

    def _best_line(self, powers: Guessed, theta: float) -> tuple[float, float]:
        heights = self.heights()
        logs = self._guessed(powers, theta, heights, -1)
        best = int(np.argmin(logs))
        return float(heights[best]), min(1.0, math.exp(min(0.0, float(logs[best]))))

    def _guessed(self, powers: Guessed, theta: float, heights: Floats, sign: int) -> Floats:
        """About the logarithm of J/I for each height."""
        x, logs = self._mass(powers)
        exponents = logs + heights[:, None] ** 2 / 2
        for power, place in ((powers[0], x), (powers[1], -x))[: 2 if self.mirrored else 1]:
            bent = self.bent(place, heights)
            exponents = exponents + power * bent.real + sign * theta * bent.imag
        found: Floats = np.logaddexp.reduce(exponents, axis=1) - np.logaddexp.reduce(logs)
        return found

    def bent(self, x: Floats, heights: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.complex128]]:
        """About log A(x+ib)/A(x) for each height b."""
        mu, q = float(self.mu), float(self.rate)
        ratio = np.exp(np.minimum(math.log(q) - log_left(self.rate) + mu * x - mu * mu / 2, 300.0))
        turned = ratio * np.exp(1j * mu * heights[:, None])
        with np.errstate(all="ignore"):
            return np.asarray(np.log1p(turned) - np.log1p(ratio))

    def _dents(self, powers: Guessed, heights: Floats) -> Floats:
        """The logarithm of the bound on J/I at θ = 0 that needs no integral."""
        cosines = np.log(np.cos(float(self.mu) * heights / 2))
        found: Floats = heights**2 / 2 + sum(min(power, 0.0) for power in powers) * cosines
        return found

    def _range(self, powers: Guessed, lift: float) -> Powers:
        """Where the integrand counts even if all that lies outside is e^{lift} times as large."""
        reach = math.sqrt(2 * (ctx.prec * math.log(2) + lift)) + 4
        drop = -sum(min(power, 0.0) for power in powers) * log_left(self.rate)
        x, logs = self._mass_wide(powers, reach**2 / 2 + drop)
        kept = _counting(x, logs, reach**2 / 2)
        low, high = self._pulls(powers)
        return arb(min(float(kept[0]), low)), arb(max(float(kept[-1]), high))

    def _pulls(self, powers: Guessed) -> Guessed:
        """Left and right of these places the bounds on tails hold."""
        mu = float(self.mu)
        return -max(powers[1], 0.0) * mu - 1, max(powers[0], 0.0) * mu + 1

    def _log_integrand(self, powers: Guessed, x: Floats) -> Floats:
        logs = -(x**2) / 2 + powers[0] * self.log_rise(x)
        found: Floats = logs + powers[1] * self.log_rise(-x) if self.mirrored else logs
        return found

    def _mass(self, powers: Guessed) -> tuple[Floats, Floats]:
        """Points where the integrand counts, or where A's terms are equal, with its log and that of their distances."""
        mu, q = float(self.mu), float(self.rate)
        low, high = self._pulls(powers)
        equal = (log_left(self.rate) - math.log(q)) / mu + mu / 2 + np.linspace(-6, 6, 80) / mu
        x = np.concatenate([np.linspace(low - 11, high + 11, 360), equal, *([-equal] if self.mirrored else [])])
        x.sort()
        return x, self._log_integrand(powers, x) + np.log(np.gradient(x) + 1e-300)

    def _rule(self, powers: Guessed, end: float) -> Rule:
        """A rule whose error and whose tails are about as small as the working precision, for nodes up to `end`."""
        digits = ctx.prec * math.log(2)
        heights = self.heights()
        excess = self._guessed(powers, end, heights, +1) if end else self._dents(powers, heights)
        steps = 2 * math.pi * heights / (digits + 2 + excess)
        best = int(np.argmax(np.where(steps > 0, steps, 0)))
        height, step = float(heights[best]), short(float(steps[best]))
        x, logs = self._mass_wide(powers, digits)
        kept = _counting(x, logs, digits + 4)
        low, high = self._pulls(powers)
        start, last = min(float(kept[0]) - step, low), max(float(kept[-1]) + step, high)
        first = math.floor(start / step)
        count = math.ceil(last / step) - first + 1
        if count > _MOST_POINTS or step <= 0:
            raise TooMuch
        return Rule(height, step, first * step, count)

    def _mass_wide(self, powers: Guessed, digits: float) -> tuple[Floats, Floats]:
        reach = math.sqrt(2 * digits) + 3
        low, high = self._pulls(powers)
        x = np.linspace(low - reach, high + reach, 1500)
        return x, self._log_integrand(powers, x)


def _counting(x: Floats, logs: Floats, depth: float) -> Floats:
    """The points at which the integrand is not that far below its largest value, if floats can tell."""
    kept: Floats = x[logs > logs.max() - depth]
    if not kept.size:
        raise TooMuch
    return kept


def _floats(powers: Powers) -> Guessed:
    return near(powers[0]), near(powers[1])
