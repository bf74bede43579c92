r"""Gaussian noise on a batch of a fixed size of which one record is replaced: what dominates all pairs of tables.

With A = 1 - q + q e^{μx-μ²/2}, g the normal density and h = μ/2, where A is 1: the loss is log A with the density gA at
x > h, -log A with the density g at the same places, and 0 with all the rest, (1-q)(1 - 2Φ(-μ/2)).  So

    M(s) = (1-q)(1 - 2Φ(-μ/2)) + ∫_h^∞ g (A^{s+1} + A^{-s}) dx.

*The rule.*  Gauss-Legendre with N points on [h, X], half its length w, errs by at most w (64/15) S ρ^{2-2N}/(1-ρ^{-2}),
S the largest modulus on the ellipse with the ends as foci, if its height w(ρ-1/ρ)/2 is below π/μ: then A is not zero
inside.  The largest modulus is on the edge.  On an arc of it between x0 and x1, and at most y high, |g| is at most
e^{y²/2} times the largest g; |A| <= A(x1) and |A| >= cos(μy/2) A(x0); |arg A| is at most μy and at most arcsin r(x1), r
the ratio of A's terms.  S is the largest over all arcs, and holds for all smaller θ too.  Right of X are normal tails.
*Fading.*  The first piece is moved to Im x = a, the second to Im x = -a.  What runs along these lines is at most
e^{a²/2} ∫_h^∞ g |A(x+ia)|^γ e^{-θ arg A(x+ia)} dx, γ = c+1 and γ = -c.  The upright parts, from h to h ± ia, nearly
cancel: with A(h+iy) = 1 - q + qe^{iμy} = re^{iψ}, 0 <= ψ <= μy, r <= 1, their sum is at most

    g(h) ∫_0^a e^{y²/2-θψ} |r^{c+1} e^{iD} - r^{-c}| dy,      D = ψ - μy + 2θ log r,

and |r^{c+1}e^{iD} - r^{-c}| <= min(2S, |2c+1| |log r| S + |D|), S = max(1, r^{c+1}, r^{-c}): the smaller of the two
powers is at most 1.  For every larger θ' too, since θ'e^{-θ'ψ} <= (θ + 1/eψ) e^{-θψ}.  In a cell of y, e^{y²/2},
|log r| and μy are largest on the right; ψ is smallest at an end: its slope changes its sign at most once, from + to -.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import acb, arb, ctx

from optcomp.checker.balls import Exact, ball, near, spread, working
from optcomp.checker.closed import normal_excess
from optcomp.checker.guess import Floats, short
from optcomp.checker.laws.laplace_rule import legendre
from optcomp.checker.laws.law import Cloud, TooMuch, log_left
from optcomp.checker.laws.normal_rule import NormalRule
from optcomp.checker.laws.sampled import batch_excess
from optcomp.checker.laws.waves import waves

_ROUGH = 60  # bits for what only bounds something
_CLOSER = 30  # bits of the lines' integral, which is raised to a high power
_MOST_POINTS = 4000  # of a rule: finding them takes seconds
_ELLIPSES = 40  # that are looked at
_ARCS = 255  # of half an ellipse: an odd number, so that one of them has the top inside
_ANGLES: Floats = np.linspace(0, math.pi, 65)  # at which an ellipse is guessed
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(160)  # along a line, for a guess
_EDGES: Floats = np.array([0, 2, 5, 10, 20, 45, 100, 250, 700, 3000.0])  # of panels of a sketch, to the right of h
_EACH, _PARTS = np.polynomial.legendre.leggauss(24)  # points of a panel
_PLACES: Floats = (_EDGES[:-1, None] + np.diff(_EDGES)[:, None] * (1 + _EACH) / 2).ravel()
_SHARES: Floats = np.log(np.diff(_EDGES)[:, None] * _PARTS / 2).ravel()
_CELLS = 96  # of an upright part, each longer than the one before by the same factor
_FIRST = 2.0**-18  # the end of the first cell, as a share of the height


@dataclass(frozen=True)
class BatchNormal:
    """Gaussian noise of μ = sensitivity/σ on a batch that holds this share of all records."""

    mu: Exact
    rate: Exact

    @cached_property
    def _shape(self) -> NormalRule:
        return NormalRule(self.mu, self.rate, mirrored=False)

    def top(self) -> tuple[Exact, Exact]:
        """There is none."""
        return math.inf, math.inf

    def _none(self) -> arb:
        """The probability of the loss 0."""
        return (1 - ball(self.rate)) * (ball(self.mu) / (2 * arb(2).sqrt())).erf()

    def cloud(self) -> Cloud:
        """Points on both sides, and the atom."""
        places = float(self.mu) / 2 + _PLACES
        logs = _SHARES - places**2 / 2 - 0.5 * math.log(2 * math.pi)
        rises = self._shape.log_rise(places)
        spots = np.concatenate([rises, [0.0], -rises])
        return Cloud(spots, np.concatenate([logs + rises, [math.log(near(self._none()))], logs]))

    def log_moment(self, x: arb) -> arb:
        """log M(x)."""
        weights, _, missed, tails = self._points(x, arb(0))
        return (sum(weights, self._none()) + spread(missed) + arb(0).union(tails)).log()

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """The atom and the points at every node."""
        weights, logs, missed, tails = self._points(c, step * last)
        scale = (-self.log_moment(c)).exp()
        half = len(logs) // 2
        turns = [log * step if place < half else -log * step for place, log in enumerate(logs)]
        found = waves([weight * scale for weight in weights], turns, last)
        none, share = self._none() * scale, spread((missed + tails) * scale)
        return [acb(1), *(value + acb(none + share, share) for value in found[1:])]

    def _points(self, c: arb, end: arb) -> tuple[list[arb], list[arb], arb, arb]:
        """Weights and log A of both pieces, the first piece first; the rule's error for all θ up to `end`; tails."""
        count, ratio, far = self._choice(near(c), near(end))
        mu, q, powers = ball(self.mu), ball(self.rate), (c + 1, -c)
        low, high = mu / 2, arb(far)
        middle, half = (low + high) / 2, (high - low) / 2
        places = [(middle + half * node, weight) for node, weight in legendre(count, ctx.prec)]
        logs = [(q * (mu * place - mu * mu / 2).expm1()).log1p() for place, _ in places]
        share = half / (2 * arb.pi()).sqrt()
        bells = [share * weight * (-place * place / 2).exp() for place, weight in places]
        weights = [bell * (power * log).exp() for power in powers for bell, log in zip(bells, logs, strict=True)]
        tails = sum((self._shape.right_tail((power, arb(0)), high) for power in powers), arb(0))
        return weights, logs * 2, self._error(powers, end, count, arb(ratio), (middle, half)), tails

    def _error(self, powers: tuple[arb, arb], theta: arb, count: int, ratio: arb, panel: tuple[arb, arb]) -> arb:
        """The bound above, for both pieces."""
        with working(_ROUGH):
            mu, q, (middle, half) = ball(self.mu), ball(self.rate), panel
            if not mu * half * (ratio - 1 / ratio) / 2 < arb.pi():
                return arb.pos_inf()
            most = [arb.neg_inf(), arb.neg_inf()]
            cosines = [(arb.pi() * arc / _ARCS).cos() for arc in range(_ARCS + 1)]
            sines = [(arb.pi() * arc / _ARCS).sin() for arc in range(_ARCS + 1)]
            wide, tall = half * (ratio + 1 / ratio) / 2, half * (ratio - 1 / ratio) / 2
            for arc in range(_ARCS):
                x1, x0 = middle + wide * cosines[arc], middle + wide * cosines[arc + 1]
                y = tall * (arb(1) if 2 * arc == _ARCS - 1 else sines[arc].max(sines[arc + 1]))
                near_zero = x0 if x0 > 0 else -x1 if x1 < 0 else arb(0)
                odds = q / (1 - q) * (mu * x1 - mu * mu / 2).exp()
                turn = (mu * y).min(odds.asin()) if odds < 1 else mu * y
                base = (y * y - near_zero * near_zero) / 2 + theta * turn
                high, low = ((q * (mu * x - mu * mu / 2).expm1()).log1p() for x in (x1, x0))
                low += (mu * y / 2).cos().log()
                for place, power in enumerate(powers):
                    most[place] = most[place].max(base + power * (high if power >= 0 else low))
            size = most[0].exp() + most[1].exp()
            shrink = ((2 - 2 * count) * ratio.log()).exp() / (1 - ratio**-2)
            return half * arb(64) / 15 * size * shrink / (2 * arb.pi()).sqrt()

    def _choice(self, c: float, end: float) -> tuple[int, float, float]:
        """How many points, the ellipse for which that is enough, and X."""
        mu, digits = float(self.mu), ctx.prec * math.log(2) + 8
        pull = max(c + 1, -c, 0.0) * mu
        far = short(max(pull, mu / 2) + math.sqrt(2 * digits + mu * mu / 4) + 2)
        middle, half = (mu / 2 + far) / 2, (far - mu / 2) / 2
        logs = math.asinh(0.97 * math.pi / (mu * half)) * np.linspace(1 / _ELLIPSES, 1, _ELLIPSES)
        x = middle + half * np.cosh(logs)[:, None] * np.cos(_ANGLES)
        y = half * np.sinh(logs)[:, None] * np.sin(_ANGLES)
        log_odds = math.log(float(self.rate)) - log_left(self.rate)
        odds = np.exp(np.minimum(log_odds + mu * x - mu * mu / 2, 300.0))
        turns = np.minimum(mu * y, np.arcsin(np.minimum(odds, 1.0)) + 4 * (odds >= 1))
        base, rises = (y * y - x * x) / 2 + end * turns, self._shape.log_rise(x)
        dents = np.log(np.cos(mu * y / 2))
        sizes = [base + power * (rises + (dents if power < 0 else 0.0)) for power in (c + 1, -c)]
        excess = np.maximum(*sizes).max(axis=1) - self._guess_log(c)
        counts = 2 + (digits + math.log(half + 1) + excess) / (2 * logs)
        best = int(np.argmin(counts))
        count = int(max(1.03 * counts[best], 4)) + 1
        if count > _MOST_POINTS:
            raise TooMuch
        return count, short(math.exp(logs[best])), far

    def _guess_log(self, c: float) -> float:
        """About log M(c)."""
        return float(self.cloud().cumulants(np.array([c]))[0][0])

    def fade(self, c: arb, theta: arb) -> arb:
        """By the height that looks best."""
        height, _ = self._best_line(near(c), near(theta))
        found = self._none() + self._lines(c, theta, height) + self._upright(c, theta, height)
        return (found / self.log_moment(c).exp()).min(arb(1))

    def _lines(self, c: arb, theta: arb, height: float) -> arb:
        """Both integrals along the lines."""
        far = self._choice(near(c), 0.0)[2]
        with working(_ROUGH):
            a, low, high, total = arb(height), ball(self.mu) / 2, arb(far), arb(0)
            dent = (ball(self.mu) * a / 2).cos().log()
            for power in (c + 1, -c):
                tail = self._shape.right_tail((power, arb(0)), high) * (dent * power).exp().max(arb(1))
                total += tail * (a * a / 2).exp()
                total += self._shape.lifted((power, arb(0)), a, -theta, (low, high), _CLOSER)
            return total

    def _upright(self, c: arb, theta: arb, height: float) -> arb:
        """Cell by cell."""
        with working(_ROUGH):
            mu, q, total, left, angle = ball(self.mu), ball(self.rate), arb(0), arb(0), arb(0)
            for cell in range(_CELLS):
                right = arb(height * _FIRST ** (1 - cell / (_CELLS - 1)))
                log = (1 - q + q * acb(0, mu * right).exp()).log()
                least, lost = angle.min(log.imag), -log.real
                size = (c * lost).max(-(c + 1) * lost).max(arb(0)).exp()
                bent = abs(2 * c + 1) * lost * size + (mu * right - least)
                if least > 0:
                    bent += 2 * lost * (theta + (-1 - least.log()).exp())
                bent = bent.min(2 * size) if least > 0 else 2 * size
                total += (right - left) * (right * right / 2 - theta * least.max(arb(0))).exp() * bent
                left, angle = right, log.imag
            return total * (-mu * mu / 8).exp() / (2 * arb.pi()).sqrt()

    def fade_guess(self, c: float, theta: float) -> float:
        """The same in floats, at the best of some heights."""
        return self._best_line(c, theta)[1]

    def _best_line(self, c: float, theta: float) -> tuple[float, float]:
        heights, base = self._shape.heights(), math.exp(-self._guess_log(c))
        sizes = (near(self._none()) + self._guess_lines(c, theta, heights)) * base
        sizes = sizes + self._guess_upright(c, theta, heights) * base
        best = int(np.argmin(sizes))
        return float(heights[best]), min(1.0, float(sizes[best]))

    def _guess_lines(self, c: float, theta: float, heights: Floats) -> Floats:
        """About both integrals along the lines, for each height."""
        mu = float(self.mu)
        half = (max(c + 1, -c) * mu + 13 - mu / 2) / 2
        x, weights = mu / 2 + half * (1 + _NODES), _WEIGHTS
        bent, rises = self._shape.bent(x, heights), self._shape.log_rise(x)
        logs = np.log(half * weights) - x * x / 2 - 0.5 * math.log(2 * math.pi) + heights[:, None] ** 2 / 2
        parts = [logs + power * (rises + bent.real) - theta * bent.imag for power in (c + 1, -c)]
        found: Floats = sum(np.exp(part).sum(axis=1) for part in parts)
        return found

    def _guess_upright(self, c: float, theta: float, heights: Floats) -> Floats:
        """About both upright parts, for each height."""
        mu, q = float(self.mu), float(self.rate)
        right = heights[:, None] * _FIRST ** (1 - np.arange(_CELLS) / (_CELLS - 1))
        log = np.log1p(q * np.expm1(1j * mu * right))
        angle = np.concatenate([0 * right[:, :1], log.imag[:, :-1]], axis=1)
        least, lost = np.maximum(np.minimum(angle, log.imag), 1e-300), -log.real
        size = np.exp(np.maximum(0, np.maximum(c * lost, -(c + 1) * lost)))
        with np.errstate(all="ignore"):
            bent = abs(2 * c + 1) * lost * size + mu * right - least + 2 * lost * (theta + 1 / (math.e * least))
        cells = np.diff(right, axis=1, prepend=0.0) * np.exp(right**2 / 2 - theta * least) * np.minimum(bent, 2 * size)
        found: Floats = cells.sum(axis=1) * math.exp(-mu * mu / 8) / math.sqrt(2 * math.pi)
        return found

    def excess(self, y: Fraction) -> arb:
        """From that of the noise itself."""
        return batch_excess(ball(self.rate), y, lambda v: normal_excess(ball(self.mu), v))
