r"""The log-ratio of two Laplace densities a distance apart: L = |x - 1|ε - |x|ε for x of density (ε/2) e^{-ε|x|}.

    E e^{sL} = (e^{sε}/2) (1 + 1/b + e^{-bε} (1 - 1/b)),   b = 1 + 2s:

half of it at ε, e^{-ε}/2 of it at -ε, and the density e^{-(ε-l)/2}/4 in between.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from flint import arb

from optcomp.numerics.balls import SUM_BITS, ball, float_down, float_up, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.laws.cloud import Cloud, CloudLaw
from optcomp.numerics.laws.law import Waves, joined, log_mean_by_points, waves_of

_NEAR, _STEEP, _DEGREE = 8.0, 16.0, 48
"""Points are used where θε <= 8 and (1+2c)ε <= 16; 48 are enough for an error of e^-100 there."""


@lru_cache(maxsize=16)
def legendre_balls(n: int) -> list[tuple[arb, arb]]:
    """Nodes and weights of Gauss quadrature on [-1, 1]."""
    with precision(SUM_BITS):
        return [arb.legendre_p_root(n, k, weight=True) for k in range(n)]


@lru_cache(maxsize=16)
def legendre(n: int) -> tuple[Floats, Floats]:
    """The same as floats, within 2u."""
    pairs = legendre_balls(n)
    return np.array([float(x.mid()) for x, _ in pairs]), np.array([float(w.mid()) for _, w in pairs])


def gauss_cut(log_size: float, log_rho: float, n: int) -> float:
    """The error of Gauss quadrature with n points for a function of at most e^log_size on the ellipse rho."""
    log_error = log_size + math.log(64 / 15) - (2 * n - 2) * log_rho - math.log1p(-math.exp(-2 * log_rho)) + 1e-9
    return math.exp(min(log_error, 300.0)) + 1e-290  # far above 1 nothing is known, and so it is taken


class LaplaceLaw(CloudLaw):
    """The loss of Laplace noise, ε the sensitivity in units of the scale."""

    def __init__(self, eps: Exact) -> None:
        super().__init__()
        self.eps = eps
        with precision(SUM_BITS):
            self.most = float_up(ball(eps))
        self.log_top = math.log(0.5) - 1e-15
        self._eps = float(eps)

    def log_mean(self, c: float) -> arb:
        eps, b = ball(self.eps), 1 + 2 * arb(c)
        ends = 1 + (-b * eps).exp()
        between = eps if c == -0.5 else -(-b * eps).expm1() / b
        return arb(c) * eps + ((ends + between) / 2).log()

    def log_mean_guess(self, c: Floats) -> Floats:
        c = np.maximum(c, -1 - c)  # the law is its own mirror image: K(c) = K(-1-c)
        b = np.maximum(1 + 2 * c, 1e-12)
        steep = c * self._eps + np.log(0.5 * (1 + np.exp(-b * self._eps) - np.expm1(-b * self._eps) / b))
        if self._eps > 1:
            return np.asarray(steep)
        node, omega = legendre(_DEGREE)
        place = np.concatenate(([-self._eps], self._eps * node, [self._eps]))
        inner = np.log(0.25 * self._eps * omega) - 0.5 * self._eps * (1 - node)
        logs = np.concatenate(([math.log(0.5) - self._eps], inner, [math.log(0.5)]))
        return np.where(b * self._eps <= _STEEP, log_mean_by_points(logs, place, c), steep)

    def _common(self, c: float) -> float:
        """At most E e^{c(L - ε)}, within 1e-12."""
        with precision(SUM_BITS):
            return float_down((self.log_mean(c) - arb(c) * ball(self.eps)).exp())

    def cloud(self, c: float, theta: float) -> Cloud:
        node, omega = legendre(_DEGREE)
        b = 1 + 2 * c
        inner = 0.25 * self._eps * omega * np.exp(-0.5 * b * self._eps * (1 - node))
        place = np.concatenate(([-self._eps], self._eps * node, [self._eps]))
        weight = np.concatenate(([0.5 * math.exp(-b * self._eps)], inner, [0.5]))
        grown, flat = 0.5 * (6 + 1 / 6), 0.5 * (6 - 1 / 6)
        log_size = 0.5 * b * self._eps * (grown - 1) + theta * self._eps * flat + math.log(self._eps)
        cut = gauss_cut(log_size, math.log(6.0), _DEGREE)
        return Cloud(place, weight, U * (20 + 4 * b * self._eps), 8 * U * np.abs(place) + 0.0, lambda at: 0 * at + cut)

    def points(self, c: float, theta: float) -> float:
        return _DEGREE + 2.0

    def _by_points(self, c: float) -> bool:
        return (1 + 2 * c) * self._eps <= _STEEP

    def waves(self, c: float, theta: Floats) -> Waves:
        near = int(np.searchsorted(theta, _NEAR / self._eps)) if self._by_points(c) else 0
        parts = [self.kept_cloud(c, _NEAR / self._eps).waves(theta[:near])] if near else []
        return joined([*parts, self._far(c, theta[near:])] if near < theta.size else parts, theta)

    def _far(self, c: float, theta: Floats) -> Waves:
        b = 1 + 2 * c
        common, low = self._common(c), math.exp(-b * self._eps)
        turn = np.exp(1j * theta * self._eps)
        share = 1 / (b + 2j * theta)
        value = (0.5 * turn * (1 + share) + 0.5 * low * np.conj(turn) * (1 - share)) / common
        size = (1 + np.abs(share)) * (1 + low) / common
        error = U * size * (40 + 4 * theta * self._eps + 4 * b * self._eps) + 2e-12 * U
        return waves_of(0.0, value.real - 1, value.imag, error)

    def fade(self, c: float, theta: float) -> float:
        low = math.exp(-(1 + 2 * c) * self._eps)
        return min(1.0, 1.0001 * (0.5 + 0.5 * low + 0.5 / theta) / self._common(c))

    def slope(self, c: float) -> float:
        return super().slope(c) if self._by_points(c) else 2.01 * self._eps

    def cost(self, c: float, theta: float, count: int) -> float:
        return 2000.0 if theta * self._eps < _NEAR and self._by_points(c) else 150.0

    def mean(self) -> arb:
        eps = ball(self.eps)
        return eps + (-eps).expm1()

    def variance(self) -> arb:
        eps = ball(self.eps)
        square = eps * eps - 2 * eps + 4 - (-eps).exp() * (2 * eps + 4)
        return square - self.mean() ** 2

    def tail(self, y: float | arb) -> arb:
        eps, place = ball(self.eps), arb(y)
        if place >= eps:
            return arb(0)
        return 1 - ((place - eps) / 2).exp() / 2 if place >= -eps else arb(1)

    def excess(self, y: float | arb) -> arb:
        eps, place = ball(self.eps), arb(y)
        if place >= eps:
            return arb(0)
        return -((place - eps) / 2).expm1() if place >= -eps else -place.expm1()
