r"""The log-ratio of a mixture of two Laplace laws to one of them: B = 1 - q + q e^l, l the plain loss under the one.

    towards the mixture:  L = log B under the density B:   E e^{sL} = I(s+1)
    away from it:         L = -log B under the plain law:  E e^{sL} = I(-s),      I(z) = E B^z

l is -ε with probability 1/2, ε with e^{-ε}/2, and has the density e^{-(ε+l)/2}/4 in between: two atoms and Gauss
quadrature.  In the ellipse with half-axes εa and εb < π the function e^{-(ε+l)/2} B^z is at most
e^{ε(a-1)/2 + θεb} times B(εa)^γ for γ >= 0, or (B(-εa) cos(εb/2))^γ for γ < 0.
"""

from __future__ import annotations

import math

import numpy as np
from flint import acb, arb

from optcomp.numerics.balls import FLOAT_BITS, ball, float_down, float_up, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.laws.cloud import LOG_CUT, Cloud, CloudLaw
from optcomp.numerics.laws.laplace import gauss_cut, legendre, legendre_balls
from optcomp.numerics.laws.law import log_mean_by_points
from optcomp.numerics.laws.mixed_log import (
    left_of,
    log_left,
    log_mixed,
    log_mixed_ball,
    mixed_ball,
    mixed_complex,
    odds_at,
)
from optcomp.numerics.laws.mixed_normal import Direction

_GUESSES = 64  # points of a guess
_FLATS = np.exp2(-np.arange(0.0, 14.0))  # flatnesses of ellipses that are tried
MOST_DEGREE = 2048  # points: their roots are computed once, in a second


class MixedLaplaceLaw(CloudLaw):
    """The loss between a Laplace law and its mixture with a shifted one, 0 < q < 1; ε the shift in scales."""

    def __init__(self, eps: Exact, q: Exact, direction: Direction) -> None:
        super().__init__()
        self.eps, self.q, self.direction = eps, q, direction
        self._eps, self._q, self._left = float(eps), float(q), log_left(q)
        self._sign = 1.0 if direction == "towards" else -1.0
        self.most_tilt = 1e7
        with precision(FLOAT_BITS):
            end = ball(eps) if direction == "towards" else -ball(eps)
            log_b = log_mixed_ball(q, end)
            self.most = float_up(int(self._sign) * log_b)
            self.log_top = float_down((log_b - ball(eps) if direction == "towards" else arb(0)) - arb(2).log())

    def _power(self, c: float) -> float:
        return c + 1 if self.direction == "towards" else -c

    def _log_b(self, place: Floats) -> tuple[Floats, Floats]:
        """log B and a bound on its error for places within 4u."""
        log_b, share, lost = log_mixed(self._q, self._left, place)
        error = U * (8 * share * np.abs(place) + lost)
        return log_b, error + 8 * U * np.abs(log_b)

    def _ellipse(self, power: float, theta: float) -> tuple[float, float]:
        """log ρ and the log of the integrand's bound relative to I(γ), for the ellipse that needs fewest points.

        I(γ) is at least its own atom: e^{-ε} B(ε)^γ/2, or B(-ε)^γ/2 for γ < 0.
        """
        flat = np.minimum((2.5 if power >= 0 else 1.5) / self._eps, 50.0) * _FLATS
        grown = np.sqrt(1 + flat * flat)
        sign = 1.0 if power >= 0 else -1.0
        places = sign * self._eps * np.append(grown, 1.0)
        logs = log_mixed(self._q, self._left, places)[0]
        rise = logs[:-1] - logs[-1]
        log_b = power * rise + (0.0 if power >= 0 else power * np.log(np.cos(0.5 * self._eps * flat)))
        log_size = log_b + 0.5 * self._eps * (grown - 1) + theta * self._eps * flat + self._eps + math.log(2)
        log_rho = np.log(grown + flat)
        best = int(np.argmin((log_size + LOG_CUT) / log_rho))
        return float(log_rho[best]), float(log_size[best])

    def _degree(self, power: float, theta: float, log_cut: float = LOG_CUT) -> int:
        """A power of two, so that few sets of Gauss points are ever made."""
        log_rho, log_size = self._ellipse(power, theta)
        wanted = math.ceil((log_size + log_cut) / (2 * log_rho)) + 4
        return int(min(2 ** math.ceil(math.log2(max(wanted, 32))), MOST_DEGREE))

    def _missed(self, power: float, theta: float, degree: int) -> float:
        """The error of Gauss quadrature relative to I(γ)."""
        log_rho, log_size = self._ellipse(power, theta)
        return 1.01 * self._eps / 4 * gauss_cut(log_size, log_rho, degree)

    def cloud(self, c: float, theta: float) -> Cloud:
        power = self._power(c)
        degree = self._degree(power, theta)
        node, omega = legendre(degree)
        place = np.concatenate(([-self._eps], self._eps * node, [self._eps]))
        log_b, error = self._log_b(place)
        inner = math.log(0.25 * self._eps) + np.log(omega) - 0.5 * self._eps * (1 + node)
        logs = np.concatenate(([math.log(0.5)], inner, [math.log(0.5) - self._eps])) + power * log_b
        weight = np.exp(logs - logs.max())
        cut = self._missed(power, theta, degree)
        rough = U * (40 + 4 * self._eps + 4 * np.abs(logs)) + abs(power) * error
        return Cloud(self._sign * log_b, weight, rough, error, lambda at: 0 * at + cut)

    def points(self, c: float, theta: float) -> float:
        return self._degree(self._power(c), theta) + 2.0

    def log_mean(self, c: float) -> arb:
        """By the same rule in balls; where that says nothing, |cL| <= |c|ε."""
        power = self._power(c)
        eps, gamma = ball(self.eps), arb(power)
        degree = self._degree(power, 0.0, LOG_CUT + 20)
        missed = 1.01 * self._missed(power, 0.0, degree)
        if missed >= 0.5:
            return arb(0, 1.01 * abs(c) * self._eps)
        inner = arb(0)
        for node, omega in legendre_balls(degree):
            inner += omega * (gamma * log_mixed_ball(self.q, eps * node) - eps * (1 + node) / 2).exp()
        low, high = ((gamma * log_mixed_ball(self.q, end)).exp() / 2 for end in (-eps, eps))
        whole = low + high * (-eps).exp() + inner * eps / 4
        return (whole * (1 + arb(0, missed))).log()

    def log_mean_guess(self, c: Floats) -> Floats:
        node, omega = legendre(_GUESSES)
        place = np.concatenate(([-self._eps], self._eps * node, [self._eps]))
        inner = np.log(0.25 * self._eps * omega) - 0.5 * self._eps * (1 + node)
        logs = np.concatenate(([math.log(0.5)], inner, [math.log(0.5) - self._eps]))
        log_b = self._log_b(place)[0]
        return log_mean_by_points(logs + log_b if self.direction == "towards" else logs, self._sign * log_b, c)

    def fade(self, c: float, theta: float) -> float:
        """The atoms, and 2 (G/π at either end)/θ for the density G: log G/π has slope (γ+1)π - 3/2, so one minimum."""
        if (c, "atoms") not in self._known:
            with precision(FLOAT_BITS):
                eps, q, gamma = ball(self.eps), ball(self.q), arb(self._power(c))
                whole = self.log_mean(c).exp()
                ends = [(gamma * log_mixed_ball(self.q, end)).exp() for end in (-eps, eps)]
                atoms = (ends[0] + ends[1] * (-eps).exp()) / (2 * whole)
                shares = [q * end.exp() / mixed_ball(self.q, end) for end in (-eps, eps)]
                slopes = (ends[0] / shares[0] + ends[1] * (-eps).exp() / shares[1]) / (2 * whole)
                self._known[c, "atoms"], self._known[c, "slopes"] = float_up(atoms), float_up(slopes)
        return min(1.0, 1.0001 * (self._known[c, "atoms"] + self._known[c, "slopes"] / theta))

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        """P(L > y) under the law itself and under the other one."""
        q, eps = ball(self.q), ball(self.eps)
        towards = self.direction == "towards"
        ratio = odds_at(self.q, arb(y) if towards else -arb(y))  # B(l) = e^{±y} at e^l = ratio
        place = ratio.log() if ratio > 0 else -2 * eps
        plain, shifted = _above(place, eps, -1), _above(place, eps, +1)
        if not towards:
            plain, shifted = 1 - _at_least(place, eps, -1), 1 - _at_least(place, eps, +1)
        mixture = left_of(self.q) * plain + q * shifted
        return (mixture, plain) if towards else (plain, mixture)

    def tail(self, y: float | arb) -> arb:
        return self.sides(y)[0]

    def excess(self, y: float | arb) -> arb:
        own, other = self.sides(y)
        return (own - arb(y).exp() * other).max(arb(0))

    def _moment(self, order: int) -> arb:
        eps = ball(self.eps)

        def integrand(place: acb, _: bool) -> acb:
            b = mixed_complex(self.q, place)
            value = b.log() ** order * (-(eps + place) / 2).exp()
            return value * b if self.direction == "towards" else value

        inner = acb.integral(integrand, -eps, eps).real / 4
        ends = arb(0)
        for end, weight in ((-eps, arb(0.5)), (eps, (-eps).exp() / 2)):
            b = mixed_ball(self.q, end)
            ends += weight * b.log() ** order * (b if self.direction == "towards" else arb(1))
        return int(self._sign) ** order * (inner + ends)

    def mean(self) -> arb:
        return self._moment(1)

    def variance(self) -> arb:
        return self._moment(2) - self._moment(1) ** 2


def _above(place: arb, eps: arb, side: int) -> arb:
    """P(l > place) for the plain loss l under the law that makes it small (-1) or large (+1)."""
    if place >= eps:
        return arb(0)
    if place < -eps:
        return arb(1)
    return (-(eps + place) / 2).exp() / 2 if side < 0 else 1 - ((place - eps) / 2).exp() / 2


def _at_least(place: arb, eps: arb, side: int) -> arb:
    """P(l >= place): the same but for the atoms."""
    if place > eps:
        return arb(0)
    if place <= -eps:
        return arb(1)
    return (-(eps + place) / 2).exp() / 2 if side < 0 else 1 - ((place - eps) / 2).exp() / 2
