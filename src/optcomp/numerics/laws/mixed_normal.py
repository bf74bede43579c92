r"""The log-ratio of a mixture of normals to one of them: A(x) = 1 - q + q e^{μx - μ²/2}, x standard normal.

    towards the mixture:  L = log A under the density A:      E e^{sL} = I(s+1)
    away from it:         L = -log A under the plain normal:  E e^{sL} = I(-s),      I(z) = E A(x)^z

I by the trapezoid rule on the real line.  A has no zero for |Im x| < π/μ, |A(x+ia)| lies between A(x) cos(μa/2) and
A(x), and |arg A| <= μa, so with z = γ + iθ and step h the rule errs by at most

    2 e^{a²/2 + |θ|μa} cos(μa/2)^{min(γ,0)} I(γ) / (e^{2πa/h} - 1)        for every 0 < a < π/μ

(for γ < 0 and μa < π/2 also |A(x+ia)| >= 1 - q, and I(γ) >= 1).

|I(γ+iθ)| <= 4 max(G/l')/θ with G = e^{-x²/2} A^γ/√(2π) and l' = μπ, π = q e^{μx-μ²/2}/A: integrate by parts; G/l' has
at most two maxima, because the zeros of its log-derivative solve x + μ = (γ+1)μπ(x), a line against a sigmoid.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from flint import acb, arb

from optcomp.numerics.balls import ball, float_down, float_up, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.exact import Exact
from optcomp.numerics.laws.cloud import Cloud, CloudLaw
from optcomp.numerics.laws.gaussian import normal_tail
from optcomp.numerics.laws.law import log_mean_by_points

Direction = Literal["towards", "away"]
_BITS = 80
_LOG_CUT = 46.0
_GUESSES = 240
_CELLS = 2048
_MOST_REACH = 300.0
_MOST_POINTS = 20_000  # for K in balls


class MixedNormalLaw(CloudLaw):
    """The loss between N(0, 1) and (1-q) N(0, 1) + q N(μ, 1), 0 < q < 1."""

    def __init__(self, mu: Exact, q: Exact, direction: Direction) -> None:
        super().__init__()
        self.mu, self.q, self.direction = mu, q, direction
        self._mu, self._q = float(mu), float(q)
        self._sign = 1.0 if direction == "towards" else -1.0
        self.most_tilt = _MOST_REACH / self._mu
        if direction == "away":
            self.most_tilt = 0.5 * _MOST_REACH**2 / -math.log1p(-self._q)
            with precision(_BITS):
                self.most = float_up(-(-ball(q)).log1p())
        while self.points(self.most_tilt, 1.0) > _MOST_POINTS:
            self.most_tilt /= 2

    def _power(self, c: float) -> float:
        """γ; exact, because tilts have 24 bits."""
        return c + 1 if self.direction == "towards" else -c

    def _log_a(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """log A, a bound on its error for x within 2u|x|, and π."""
        up = self._mu * x - 0.5 * self._mu**2
        grown = self._q * np.expm1(np.minimum(up, 600.0))
        log_a = np.where(up < 600, np.log1p(grown), up + math.log(self._q))
        share = np.where(up < 600, self._q * np.exp(np.minimum(up, 600.0)) / (1 + grown), 1.0)
        error = U * (8 * share * (np.abs(self._mu * x) + self._mu**2) + 20 * np.abs(grown / (1 + grown)))
        return log_a, error + 8 * U * np.abs(log_a), share

    def _strip(self, power: float) -> tuple[float, float]:
        """a, and what |A(x+ia)|^γ costs in logs: for γ < 0 the smaller of cos(μa/2)^γ and (1-q)^γ, as I(γ) >= 1."""
        if power >= 0:
            return min(0.9 * math.pi / self._mu, _LOG_CUT**0.5 * 1.4), 0.0
        a = min(1.5 / self._mu, _LOG_CUT**0.5 * 1.4)
        return a, -1.0001 * abs(power) * max(math.log(math.cos(0.5 * self._mu * a)), math.log1p(-self._q))

    def _step(self, power: float, theta: float, log_cut: float) -> float:
        a, loss = self._strip(power)
        return 2 * math.pi / (theta * self._mu + (log_cut + 0.5 * a * a + loss) / a)

    def _ends(self, power: float, log_cut: float) -> tuple[float, float]:
        """Beyond these the integrand is below e^-log_cut, relatively."""
        wide = math.sqrt(2 * log_cut)
        if power >= 0:
            return -wide, wide + power * self._mu
        return -math.sqrt(2 * (log_cut - power * -math.log1p(-self._q))), max(wide, 0.5 * self._mu)

    def _missed(self, power: float, step: float, theta: Floats) -> Floats:
        """The error of the trapezoid rule, relative to I(γ)."""
        a, loss = self._strip(power)
        log = 0.5 * a * a + theta * self._mu * a + loss - 2 * math.pi * a / step
        return np.asarray(2.02 * np.exp(np.minimum(log, 0.0)) / -math.expm1(-2 * math.pi * a / step))

    def cloud(self, c: float, theta: float) -> Cloud:
        power = self._power(c)
        step = self._step(power, theta, _LOG_CUT)
        low, high = self._ends(power, _LOG_CUT)
        x = low + step * np.arange(math.ceil((high - low) / step) + 1.0)
        log_a, error, _ = self._log_a(x)
        log_f = -0.5 * x * x + power * log_a
        weight = np.exp(log_f - log_f.max())
        rough = U * (3 * x * x + 30) + abs(power) * error
        ends = self._ends_weight(power, x, weight, step)
        return Cloud(self._sign * log_a, weight, rough, error, lambda at: self._missed(power, step, at) + ends)

    def _ends_weight(self, power: float, x: Floats, weight: Floats, step: float) -> float:
        """The points left out, as a geometric series on either side, relative to those taken."""
        low, high = float(x[0]), float(x[-1])
        if power >= 0:
            left = weight[0] / -math.expm1(low * step)
            right = weight[-1] / -math.expm1(-(high - power * self._mu) * step)
        else:
            top = float((-0.5 * x * x + power * self._log_a(x)[0]).max())
            left = math.exp(min(-0.5 * low * low + power * math.log1p(-self._q) - top, 0.0)) / -math.expm1(low * step)
            right = weight[-1] / -math.expm1(-high * step)
        return 1.01 * float(left + right) / float(weight.sum()) + 1e-290

    def points(self, c: float, theta: float) -> float:
        power = self._power(c)
        low, high = self._ends(power, _LOG_CUT)
        return (high - low) / self._step(power, theta, _LOG_CUT)

    def log_mean(self, c: float) -> arb:
        """By the same rule in balls."""
        power, log_cut = self._power(c), _LOG_CUT + 20
        width = self._step(power, 0.0, log_cut)
        low, high = self._ends(power, log_cut)
        mu, q, step, gamma, start = ball(self.mu), ball(self.q), arb(width), arb(power), arb(low)
        count = math.ceil((high - low) / width)
        places = [start + j * step for j in range(count + 1)]
        values = [(gamma * (1 + q * (mu * x - mu * mu / 2).expm1()).log() - x * x / 2).exp() for x in places]
        if power >= 0:
            left = values[0] / -(start * step).expm1()
            right = values[-1] / -((gamma * mu - places[-1]) * step).expm1()
        else:
            left = (gamma * (-q).log1p() - start * start / 2).exp() / -(start * step).expm1()
            right = values[-1] / -(-places[-1] * step).expm1()
        total = sum(values, arb(0)) + (left + right) * arb(0.5, 0.5)
        missed = 1.01 * float(self._missed(power, width, np.zeros(1))[0])
        return (total * step / (2 * arb.pi()).sqrt() * (1 + arb(0, missed))).log()

    def log_mean_guess(self, c: Floats) -> Floats:
        power = c + 1 if self.direction == "towards" else -c
        high = 9 + np.maximum(power, 0) * self._mu
        x = -9 + (high + 9)[:, np.newaxis] * np.linspace(0, 1, _GUESSES)
        log_a = np.log1p(self._q * np.expm1(np.minimum(self._mu * x - 0.5 * self._mu**2, 600.0)))
        log_p = -0.5 * x * x + (log_a if self.direction == "towards" else 0.0)
        near = log_mean_by_points(log_p, self._sign * log_a, c)
        far = power * (math.log(self._q) - 0.5 * self._mu**2) + 0.5 * (power * self._mu) ** 2
        return np.where(high < 100, near, far)

    def fade(self, c: float, theta: float) -> float:
        power = self._power(c)
        if (c, "fade") not in self._known:
            start, stop = sorted((-self._mu, power * self._mu))
            edges = np.linspace(start, stop, 1025)
            low, high = edges[:-1], edges[1:]
            middle, half = 0.5 * (low + high), 0.5 * (high[0] - low[0])
            log_a, _, share = self._log_a(middle)
            steep = np.maximum(np.abs(low), np.abs(high)) + self._mu * (1 + abs(power) * self._log_a(high)[2])
            logs = -0.5 * middle**2 + power * log_a - np.log(self._mu * share) + half * steep
            with precision(_BITS):
                least = float_down(self.log_mean(c))
            self._known[c, "fade"] = 4.001 * math.exp(
                min(float(logs.max()) - 0.5 * math.log(2 * math.pi) - least, 600.0)
            )
        return min(1.0, self._known[c, "fade"] / theta)

    def slope(self, c: float) -> float:
        """E|L-m| under the tilted law, cell by cell; beyond them G falls by e^{-8|x|} and L grows by μ|x| at most.

        It is far below the standard deviation, which a rare shift dominates.
        """
        power = self._power(c)
        if (c, "slope") not in self._known:
            start, stop = sorted((0.0, power * self._mu))
            edges = np.linspace(start - 8, stop + 8, _CELLS + 1)
            middle, width = 0.5 * (edges[:-1] + edges[1:]), edges[1] - edges[0]
            reach, log_a = np.abs(edges), self._log_a(edges)[0]
            away = np.abs(log_a - self._sign * self.kept_cloud(c, 1.0).centre)
            steep = np.maximum(reach[:-1], reach[1:]) + self._mu * abs(power) * self._log_a(edges[1:])[2]
            with precision(_BITS):
                shift = float_down(self.log_mean(c)) + 0.5 * math.log(2 * math.pi)
            inside = -0.5 * middle**2 + power * self._log_a(middle)[0] + 0.5 * width * steep - shift
            ends = np.exp(-0.5 * edges[[0, -1]] ** 2 + power * log_a[[0, -1]] - shift)
            total = width * (np.exp(inside) * np.maximum(away[:-1], away[1:])).sum()
            total += (ends * (away[[0, -1]] / 8 + self._mu / 64)).sum()
            self._known[c, "slope"] = 1.0001 * float(total) + 1e-300
        return self._known[c, "slope"]

    def _crossing(self, y: arb) -> arb | None:
        """The x with A(x) = e^y; none if A is larger everywhere."""
        mu, q = ball(self.mu), ball(self.q)
        ratio = (y.expm1() + q) / q
        return (ratio.log() + mu * mu / 2) / mu if ratio > 0 else None

    def tail(self, y: float) -> arb:
        return self._sides(y)[0]

    def excess(self, y: float) -> arb:
        own, other = self._sides(y)
        return own - arb(y).exp() * other

    def _sides(self, y: float) -> tuple[arb, arb]:
        """P(L > y) under the law itself and under the other one."""
        mu, q = ball(self.mu), ball(self.q)
        place = self._crossing(arb(y) if self.direction == "towards" else -arb(y))
        if self.direction == "towards":
            if place is None:
                return arb(1), arb(1)
            plain, shifted = normal_tail(place), normal_tail(place - mu)
            return (1 - q) * plain + q * shifted, plain
        if place is None:
            return arb(0), arb(0)
        plain, shifted = normal_tail(-place), normal_tail(mu - place)
        return plain, (1 - q) * plain + q * shifted

    def _moment(self, order: int) -> arb:
        """E L^order by rigorous quadrature; beyond ±R the integrand is bounded by a normal tail."""
        mu, q, reach = ball(self.mu), ball(self.q), 18.0 + self._mu
        sign = int(self._sign) ** order

        def integrand(x: acb, _: bool) -> acb:
            a = 1 + q * ((mu * x - mu * mu / 2).exp() - 1)
            power = a.log() ** order * (-x * x / 2).exp()
            return power * a if self.direction == "towards" else power

        inner = acb.integral(integrand, -reach, reach).real / (2 * arb.pi()).sqrt()
        # |log A| <= μ|x| + μ² + |log(1-q)|, and A <= 1 + e^{μx-μ²/2}
        most = (mu * (2 * reach) + mu * mu - (-q).log1p()) ** order
        rest = 8 * most * normal_tail(arb(reach) - mu)
        return sign * inner + arb(0, 1) * rest

    def mean(self) -> arb:
        return self._moment(1)

    def variance(self) -> arb:
        return self._moment(2) - self._moment(1) ** 2
