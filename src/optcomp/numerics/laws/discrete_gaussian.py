r"""The log-ratio of two discrete Gaussians a whole number apart: L = (Δ² - 2Δx)/2σ² for x of weight e^{-x²/2σ²}.

By Poisson summation, with v = Δ²/σ², β = 2πσ and R(s) = sum over whole m of e^{-β²m²/2 + 2πimsΔ},

    E e^{sL} = e^{vs(s+1)/2} R(s)/R(0),
    φ(θ) = e^{iθ(c+1/2)v} sum_m e^{-(θΔ/σ + βm)²/2 + 2πimcΔ} / R(c):

a few m near -θΔ/(βσ) are enough whatever σ is.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from optcomp.numerics.balls import SUM_BITS, ball, float_down, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.laws.law import Law, Waves, waves_of

LEAST_SIGMA, MOST_SIGMA = 0.1, 1e6
"""Below, the noise is hardly ever other than 0; above, sums over whole numbers become long."""
_FAR_OUT = 10**300  # whole numbers beyond are all alike
_FAR = 10.5  # e^{-10.5²/2} < 2^-79


class DiscreteGaussianLaw(Law):
    """The loss of discrete Gaussian noise under a whole-number shift."""

    def __init__(self, sigma: Exact, shift: int) -> None:
        self.sigma, self.shift = sigma, shift
        self._sigma = float(sigma)
        self._v = (shift / self._sigma) ** 2
        self._beta = 2 * math.pi * self._sigma
        self._known: dict[tuple[float, str], float] = {}
        self._far = math.ceil(14 * self._sigma) + 2
        self._sums: list[arb] = []
        self._reach = math.ceil(math.sqrt(0.25 + (_FAR / self._beta) ** 2) - 0.5)  # β² r(r+1) >= 10.5²

    def ring(self, c: float) -> arb:
        """R(c) for real c."""
        sigma = ball(self.sigma)
        square = 2 * (arb.pi() * sigma) ** 2
        count = math.ceil(math.sqrt((SUM_BITS + 64) * math.log(2) / (2 * (math.pi * self._sigma) ** 2))) + 1
        angle = 2 * arb(c) * self.shift
        terms = ((-square * m * m).exp() * (angle * m).cos_pi() for m in range(1, count))
        rest = (-square * count * count).exp() * 2 / (1 - (-square * count).exp())
        return 1 + 2 * sum(terms, arb(0)) + rest * arb(0, 2)

    def log_mean(self, c: float) -> arb:
        ratio = self.ring(c) / self.ring(0.0)
        return self.variance_of_normal() * arb(c) * (arb(c) + 1) / 2 + ratio.log()

    def variance_of_normal(self) -> arb:
        """v = Δ²/σ²."""
        return (self.shift / ball(self.sigma)) ** 2

    def log_mean_guess(self, c: Floats) -> Floats:
        m = np.arange(1, self._reach + 1)
        weight = 2 * np.exp(-0.5 * (self._beta * m) ** 2)
        turned = 1 + (weight * np.cos(2 * np.pi * np.fmod(c[:, np.newaxis] * m * self.shift, 1.0))).sum(axis=1)
        ratio = np.log(np.maximum(turned, 1e-300) / (1 + weight.sum()))
        return np.asarray(0.5 * self._v * c * (c + 1) + ratio)

    def waves(self, c: float, theta: Floats) -> Waves:
        self.log_most_near(c, 0.0, 0.0)
        ring = self._known[c, "ring"]
        x = theta * (self.shift / self._sigma)
        first = -np.rint(x / self._beta)
        base = x + self._beta * first
        offset = np.arange(-self._reach, self._reach + 1.0)
        m = first[:, np.newaxis] + offset
        turns = 2 * np.pi * np.fmod(m * (c * self.shift), 1.0)
        grown = np.exp(-self._beta * offset * (base[:, np.newaxis] + 0.5 * self._beta * offset))
        still = np.exp(-0.5 * (self._beta * offset) ** 2)
        near = first == 0
        steep = -self._beta * offset * base[:, np.newaxis]
        less = np.where(np.abs(steep) < 1, still * np.expm1(np.clip(steep, -1, 1)), grown - still)
        size = np.where(near[:, np.newaxis], less, grown)
        real, imag = (size * np.cos(turns)).sum(axis=1) / ring, (size * np.sin(turns)).sum(axis=1) / ring
        loss = 8 * U * x[:, np.newaxis] * (self._beta * np.abs(offset)) + U * (80 + offset.size + 20 * np.abs(turns))
        loss = loss + 8 * U * np.abs(m) * abs(c) * self.shift
        error = (np.abs(size) * loss).sum(axis=1) / ring
        rest = np.exp(-0.5 * _FAR**2) / ring  # |base| <= β/2, so what is left out is below this
        error += np.where(near, rest * np.minimum(x * self._beta, 1.0), rest)
        inner = waves_of((c + 0.5) * self._v, real - np.where(near, 0.0, 1.0), imag, error)
        most = np.log((1.001 * grown.sum(axis=1) + 1e-9) / ring)
        log_base = -0.5 * base * base
        slack = 8 * U * (x * np.abs(base) + base * base + theta * (abs(c) + 1) * self._v)
        log_most = np.minimum(np.minimum(inner.log_size + inner.error, most) + log_base + slack, 0.0)
        return Waves(inner.centre, inner.log_size + log_base, inner.angle, inner.error + slack, log_most)

    def slope(self, c: float) -> float:
        """√K'', K'' = v + (log R)''; for small σ no bound is known."""
        ripple = 3 * (2 * math.pi * self.shift) ** 2 * math.exp(-2 * (math.pi * self._sigma) ** 2)
        return 1.0001 * math.sqrt(self._v + ripple) if self._sigma >= 1 else math.inf

    def log_most_near(self, c: float, theta: float, radius: float) -> float:
        """|φ| is at most the sum of e^{-d²/2}/R(c), d the distances of θΔ/σ from multiples of β; the nearest counts."""
        if (c, "ring") not in self._known:
            with precision(SUM_BITS):
                self._known[c, "ring"] = float_down(self.ring(c))
        x = theta * self.shift / self._sigma
        away = max(abs(math.remainder(x, self._beta)) - radius * self.shift / self._sigma - 1e-12 * x, 0.0)
        others = 2 + 2 / -math.expm1(-0.25 * self._beta**2)
        return min(-0.5 * away * away + math.log(others / self._known[c, "ring"]), 0.0)

    def log_most_ranges(self, c: float, theta: Floats, radius: float) -> Floats:
        return np.array([self.log_most_near(c, place, radius) for place in theta.tolist()])

    def cost(self, c: float, theta: float, count: int) -> float:
        return 100.0 + 120.0 * (2 * self._reach + 1)

    def mean(self) -> arb:
        return self.variance_of_normal() / 2

    def variance(self) -> arb:
        sigma = ball(self.sigma)
        square = 2 * (arb.pi() * sigma) ** 2
        count = math.ceil(math.sqrt((SUM_BITS + 64) * math.log(2) / (2 * (math.pi * self._sigma) ** 2))) + 2
        curve = sum(((-square * m * m).exp() * m * m for m in range(1, count)), arb(0)) * 2
        curve += (-square * count * count).exp() * count * count * 8 * arb(0, 1)
        return self.variance_of_normal() - (2 * arb.pi() * self.shift) ** 2 * curve / self.ring(0.0)

    def _below(self, bound: arb) -> arb:
        """P(X < bound) for the noise X, from the shorter side; of a bound that is not known, anything."""
        if not bound.is_finite():
            return arb(0).union(arb(1))
        if bound > 0.5:
            return 1 - self._below(1 - _least_whole_at_or_above(bound))
        top = int(_least_whole_at_or_above(bound).unique_fmpz()) - 1
        return self.up_to(top)

    def up_to(self, top: int) -> arb:
        """P(X <= top) for the noise X, from the shorter side."""
        if top > 0:
            return 1 - self.up_to(-top - 1)
        whole = (2 * arb.pi()).sqrt() * ball(self.sigma) * self.ring(0.0)
        return self._weight_up_to(top) / whole

    def _weight_up_to(self, top: int) -> arb:
        """The sum of e^{-x²/2σ²} over x <= top, top <= 0; sums from the far left are remembered."""
        if not self._sums:
            square, total = 2 * ball(self.sigma) ** 2, arb(0)
            for x in range(-self._far, 1):
                total += (-(arb(x) ** 2) / square).exp()
                self._sums.append(total)
        if top >= -self._far:
            return self._sums[top + self._far] + self._rest(-self._far - 1)
        square = 2 * ball(self.sigma) ** 2
        count = (
            math.ceil(45 * self._sigma**2 / min(-top, _FAR_OUT)) + 2
        )  # so that what is left is below 2^-60 of the sum
        terms = sum(((-(arb(top - j) ** 2) / square).exp() for j in range(count)), arb(0))
        return terms + self._rest(top - count)

    def _rest(self, top: int) -> arb:
        """The same far out, between nothing and a geometric series."""
        square = 2 * ball(self.sigma) ** 2
        most = (-(arb(top) ** 2) / square).exp() / -(arb(2 * top) / square).expm1()
        return most * arb(0.5, 0.5)

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        """P(L > y) under the law itself and under the other one."""
        bound = (self.shift**2 - 2 * ball(self.sigma) ** 2 * arb(y)) / (2 * self.shift)
        return self._below(bound), self._below(bound - self.shift)

    def tail(self, y: float | arb) -> arb:
        return self.sides(y)[0]

    def excess(self, y: float | arb) -> arb:
        own, other = self.sides(y)
        return own - arb(y).exp() * other


def _least_whole_at_or_above(bound: arb) -> arb:
    whole = bound.ceil()
    if whole.unique_fmpz() is None:  # undecided which side of a whole number: L = y has no excess there, so take either
        return arb(bound.mid()).ceil()
    return whole
