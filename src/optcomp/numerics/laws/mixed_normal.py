r"""The log-ratio of a mixture of normals to one of them: A(x) = 1 - q + q e^{μx - μ²/2}, x standard normal.

    towards the mixture:  L = log A under the density A:      E e^{sL} = I(s+1)
    away from it:         L = -log A under the plain normal:  E e^{sL} = I(-s),      I(z) = E A(x)^z

I by the trapezoid rule on the real line, with the points and the error of `mixed_shape.py`.

|I(γ+iθ)| is at most the mass of G = e^{-x²/2} A^γ/√(2π) left of any x1, and 4 max(G/l')/θ over what is right of it,
with l' = μπ, π = q e^{μx-μ²/2}/A: integrate by parts; G/l' has at most two maxima, because the zeros of its
log-derivative solve x + μ = (γ+1)μπ(x), a line against a sigmoid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from flint import acb, arb

from optcomp.numerics.balls import QUICK_BITS, ball, float_up, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.laws.cloud import LOG_CUT, Cloud, CloudLaw
from optcomp.numerics.laws.gaussian import normal_tail
from optcomp.numerics.laws.mixed_fade import Fade
from optcomp.numerics.laws.mixed_log import left_of, log_left, log_mixed, log_mixed_ball, odds_at
from optcomp.numerics.laws.mixed_shape import Rule, Shape, log_ratio, middle_of, share_of

Direction = Literal["towards", "away"]
_GUESSES, _NEAR = 240, 9.0
"""Points of a guess, and the standard deviations around a hump that they cover."""
_SEARCHES, _SETTLED = 40, 1e-6
"""Rounds of a search for a hump at most, and a move, in deviations, that ends it: it is a guess."""
_MOST_REACH = 300.0  # deviations from 0 at which the tilted law may lie; farther out it costs too much
_MOST_SHAPES = 64  # tilts remembered for a law
_APART = 60.0  # μ from which the two humps are integrated apart


class MixedNormalLaw(CloudLaw):
    """The loss between N(0, 1) and (1-q) N(0, 1) + q N(μ, 1), 0 < q < 1."""

    end = math.inf
    """No x beyond this counts."""

    def __init__(self, mu: Exact, q: Exact, direction: Direction) -> None:
        super().__init__()
        self.mu, self.q, self.direction = mu, q, direction
        self._mu, self._q, self.log_left = float(mu), float(q), log_left(q)
        self._sign = 1.0 if direction == "towards" else -1.0
        self._shapes: dict[float, Shape] = {}
        self._rules: dict[tuple[float, float, float], Rule] = {}
        self._fades: dict[float, tuple[Floats, Floats, Fade]] = {}
        self.most_tilt = _MOST_REACH / self._mu + 3
        if direction == "away":
            self.most_tilt = 0.5 * _MOST_REACH**2 / -self.log_left
            with precision(QUICK_BITS):
                self.most = float_up(-left_of(q).log() if q > 0.5 else -(-ball(q)).log1p())

    def _power(self, c: float) -> float:
        """γ; exact, because tilts have 24 bits."""
        return c + 1 if self.direction == "towards" else -c

    def _log_a(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """log A, a bound on its error for x within 2u|x|, and π."""
        log_a, share, lost = log_mixed(self._q, self.log_left, self._mu * x - 0.5 * self._mu**2)
        error = U * (8 * share * (np.abs(self._mu * x) + self._mu**2) + lost)
        return log_a, error + 8 * U * np.abs(log_a), share

    def losses(self, x: Floats) -> Floats:
        """log A, within a few units of round-off."""
        return self._log_a(x)[0]

    def shape(self, c: float) -> Shape:
        """Where the integrand is large; a few are remembered."""
        if c not in self._shapes:
            if len(self._shapes) >= _MOST_SHAPES:
                for known in (self._shapes, self._rules, self._fades):
                    known.clear()
            self._shapes[c] = Shape(self._mu, self._q, self.log_left, self._power(c), self.end)
        return self._shapes[c]

    def rule(self, c: float, theta: float, log_cut: float = LOG_CUT) -> Rule:
        """The points for all places up to θ."""
        shape = self.shape(c)
        if (c, theta, log_cut) not in self._rules:
            self._rules[c, theta, log_cut] = shape.rule(theta, log_cut)
        return self._rules[c, theta, log_cut]

    def cloud(self, c: float, theta: float) -> Cloud:
        power, rule = self._power(c), self.rule(c, theta)
        x = rule.step * rule.index().astype(np.float64)
        log_a, error, _ = self._log_a(x)
        log_f = -0.5 * x * x + power * log_a
        weight = np.exp(log_f - log_f.max())
        rough = U * (3 * x * x + 30) + abs(power) * error
        return Cloud(self._sign * log_a, weight, rough, error, lambda at: 0 * at + rule.missed)

    def points(self, c: float, theta: float) -> float:
        return self.rule(c, theta).size

    def log_mean(self, c: float) -> arb:
        """By the same rule in balls."""
        rule = self.rule(c, 0.0, LOG_CUT + 20)
        mu, step, gamma = ball(self.mu), arb(rule.step), arb(self._power(c))
        total = arb(0)
        for j in rule.index().tolist():
            x = j * step
            total += (gamma * log_mixed_ball(self.q, mu * x - mu * mu / 2) - x * x / 2).exp()
        return (total * step / (2 * arb.pi()).sqrt() / (1 + arb(0, rule.missed))).log()

    def log_mean_guess(self, c: Floats) -> Floats:
        return self.cumulants(c)[0]

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """From points about the largest values of the integrand."""
        power = c + 1 if self.direction == "towards" else -c
        x, log_width = self._guess_places(power)
        log_a = log_ratio(self._mu, self._q, self.log_left, x)
        log_p = np.where(x < self.end, log_width - 0.5 * x * x - 0.5 * math.log(2 * math.pi), -math.inf)
        log_p = log_p + log_a if self.direction == "towards" else log_p
        place = self._sign * log_a
        with np.errstate(all="ignore"):
            grown = c[:, np.newaxis] * place
            large = np.logaddexp.reduce(log_p + grown, axis=-1)
            share = np.exp(log_p + grown - large[:, np.newaxis])
            small = np.log1p((np.exp(log_p) * np.expm1(np.clip(grown, -700, 700))).sum(axis=-1))
            mean = (share * place).sum(axis=-1)
            square = (share * (place - mean[:, np.newaxis]) ** 2).sum(axis=-1)
        return np.where(np.abs(large) < 0.1, small, large), mean, square

    def _guess_places(self, power: Floats) -> tuple[Floats, Floats]:
        """Points with the logs of their widths, for each γ: about the outermost x with x = γμπ(x)."""
        end = power * self._mu
        low, high = np.minimum(end, 0.0), np.maximum(end, 0.0)
        risen = end >= 0  # there both ends move inwards to such an x by themselves; elsewhere the interval is halved
        for _ in range(_SEARCHES):
            before = low, high
            if risen.any():
                low, high = (np.where(risen, end * self._share(x), x) for x in (low, high))
            if not risen.all():
                middle = 0.5 * (low + high)
                right = middle < end * self._share(middle)
                low, high = np.where(risen | ~right, low, middle), np.where(risen | right, high, middle)
            if max(np.abs(low - before[0]).max(), np.abs(high - before[1]).max()) < _SETTLED:
                break
        unit = (2 * np.arange(_GUESSES) + 1) / _GUESSES - 1
        apart = high - low > 4 * _NEAR
        half = np.where(apart, _NEAR, 0.25 * (high - low) + 0.5 * _NEAR)[:, np.newaxis]
        first, then = np.where(apart, low, low - _NEAR + half[:, 0]), np.where(apart, high, high + _NEAR - half[:, 0])
        parts = [centre[:, np.newaxis] + half * unit for centre in (first, then)]
        return np.concatenate(parts, axis=1), np.log(2 * half / _GUESSES)

    def _share(self, x: Floats) -> Floats:
        return share_of(self._mu, middle_of(self._mu, self._q, self.log_left), x)

    def fade(self, c: float, theta: float) -> float:
        if c not in self._fades:
            self._fades[c] = self._fading(c)
        left, right, lifted = self._fades[c]
        return min(float((left + right / theta).min()), lifted.bound(theta))

    def _fading(self, c: float) -> tuple[Floats, Floats, Fade]:
        """For each edge the mass left of it and 4 max(G/l') right of it, relative to I(γ); and the lifted line."""
        shape = self.shape(c)
        before = np.concatenate(([0.0], np.cumsum(shape.masses))) + shape.tails[0]
        with np.errstate(over="ignore", divide="ignore"):
            steep = np.append(shape.log_most, shape.at_edges[-1]) - np.log(self._mu * shape.share)
            most = np.maximum.accumulate(steep[::-1])[::-1]  # beyond the cells G/l' falls
            return 1.01 * before / shape.least, 4.04 * np.exp(most) / shape.least, Fade(shape)

    def slope(self, c: float) -> float:
        """E|L-m| under the tilted law, cell by cell; in the tails L grows by μ|x| at most and G falls by e^{-13|x|}.

        It is far below the standard deviation, which a rare shift dominates.
        """
        if (c, "slope") not in self._known:
            shape = self.shape(c)
            away = np.abs(shape.log_a - self._sign * self.kept_cloud(c, 1.0).centre)
            total = (shape.masses * np.maximum(away[:-1], away[1:])).sum()
            total += (np.array(shape.tails) * (away[[0, -1]] + self._mu)).sum()
            self._known[c, "slope"] = 1.02 * float(total) / shape.least + 1e-300
        return self._known[c, "slope"]

    def _crossing(self, y: arb) -> arb | None:
        """The x with A(x) = e^y; none if A is larger everywhere; not finite if that is undecided."""
        mu = ball(self.mu)
        ratio = odds_at(self.q, y)
        return None if ratio <= 0 else (ratio.log() + mu * mu / 2) / mu

    def tail(self, y: float | arb) -> arb:
        return self.sides(y)[0]

    def excess(self, y: float | arb) -> arb:
        own, other = self.sides(y)
        return own - arb(y).exp() * other

    def excess_over(self, y: float | arb, t: arb) -> arb:
        """Towards the mixture the excess is q less two tails: no cancellation where t is q itself."""
        place = self._crossing(arb(y))
        if self.direction == "away" or place is None:
            return self.excess(y) - t
        mu, q = ball(self.mu), ball(self.q)
        return (q - t) - q * normal_tail(mu - place) - (arb(y).expm1() + q) * normal_tail(place)

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        """P(L > y) under the law itself and under the other one."""
        mu, q, left = ball(self.mu), ball(self.q), left_of(self.q)
        place = self._crossing(arb(y) if self.direction == "towards" else -arb(y))
        if self.direction == "towards":
            if place is None:
                return arb(1), arb(1)
            plain, shifted = normal_tail(place), normal_tail(place - mu)
            return left * plain + q * shifted, plain
        if place is None:
            return arb(0), arb(0)
        plain, shifted = normal_tail(-place), normal_tail(mu - place)
        return plain, left * plain + q * shifted

    def _moment(self, order: int) -> arb:
        """E L^order by rigorous quadrature; beyond some distance from 0 and μ the integrand is below normal tails.

        Far apart, log A is taken about the larger term of A, which has no branches to be met.
        """
        mu, q, left, reach = ball(self.mu), ball(self.q), left_of(self.q), 18.0
        towards = self.direction == "towards"

        def integrand(side: int) -> Callable[[acb, bool], acb]:
            def value(x: acb, analytic: bool) -> acb:
                up = mu * x - mu * mu / 2
                odds = up + (q / left).log()
                log_a = (left + q * up.exp()).log(analytic=analytic)
                if side:
                    larger = left.log() + (odds if side > 0 else 0)
                    log_a = larger + (1 + (-side * odds).exp()).log(analytic=analytic)
                power = log_a**order * (-x * x / 2).exp()
                return power * (left + q * up.exp()) if towards else power

            return value

        pieces = [(-reach - self._mu, reach + self._mu, 0)]
        if self._mu > _APART:
            pieces = [(-reach, reach, -1), (self._mu - reach, self._mu + reach, 1)]
        whole = sum((acb.integral(integrand(side), low, high).real for low, high, side in pieces), arb(0))
        # |log A| <= μ|x| + μ² + |log(1-q)|, and A <= 1 + e^{μx-μ²/2}
        most = (mu * (2 * (reach + mu)) + mu * mu - left.log()) ** order
        rest = 8 * most * normal_tail(arb(reach))
        return int(self._sign) ** order * whole / (2 * arb.pi()).sqrt() + arb(0, 1) * rest

    def mean(self) -> arb:
        return self._moment(1)

    def variance(self) -> arb:
        return self._moment(2) - self._moment(1) ** 2
