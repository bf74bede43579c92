r"""The positive side of laws that are their own mirror image: which x has which loss, and the masses of cells.

x is normal, and the loss grows with it.  Edges are floats; how far the loss at an edge may be off is bounded by the
slope of the loss over μx, which is the share of the shifted laws in the mixtures, times the error of μx.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.numerics.balls import FLOAT_BITS, ball, precision
from optcomp.numerics.blocked import LIBM, Floats, U
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.grids import normal_cells
from optcomp.numerics.laws.gaussian import normal_tail
from optcomp.numerics.laws.mixed_log import left_of, log_left, log_mixed
from optcomp.numerics.laws.replaced import GluedNormalLaw, ReplacedNormalLaw

_MOST_EXPONENT = 700.0
"""Exponents beyond this overflow."""


class PositiveSide(ABC):
    """The side of positive losses of one law."""

    law: ReplacedNormalLaw | GluedNormalLaw

    def __init__(self, mu: Exact, q: Exact) -> None:
        self.mu, self.q = float(mu), float(q)
        self.left = float(1 - Fraction(q))  # from the exact rate: near 1 the float would tell little of it

    @abstractmethod
    def edges(self, loss: Floats) -> tuple[Floats, Floats]:
        """The x with this loss >= 0, and bounds on how far the loss there may be off."""

    @abstractmethod
    def mix(self, plain: Floats, shifted: Floats, opposite: Floats) -> tuple[Floats, Floats]:
        """The masses under P and Q from those under N(0, 1), N(μ, 1) and N(-μ, 1)."""

    @abstractmethod
    def beyond(self, x: float) -> tuple[arb, arb]:
        """P and Q of everything right of x, at the working precision."""

    @abstractmethod
    def shared(self) -> arb:
        """The atom at 0."""

    @abstractmethod
    def loss(self, x: float) -> float:
        """About the loss at x."""

    def masses(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """P and Q of the cells between ascending edges, and a bound on the relative error of either."""
        first = _narrow(x, self.mu)
        with precision(FLOAT_BITS):
            mu = ball(self.law.mu)
        middle, half = 0.5 * (x[first:-1] + x[first + 1 :]), 0.5 * np.diff(x[first:])
        parts = []
        for sign in (0, 1, -1):
            wide, wide_error = normal_cells.wide_masses(x[: first + 1], sign * mu)
            slim, slim_error = normal_cells.masses(-middle if sign < 0 else middle, half, self.mu if sign else 0.0)
            parts.append((np.concatenate((wide, slim)), np.concatenate((wide_error, slim_error))))
        own, other = self.mix(*(mass for mass, _ in parts))
        error = np.maximum.reduce([error for _, error in parts])
        return own, other, 1.01 * error + 8 * U


class ReplacedSide(PositiveSide):
    """Poisson samples: e^{μx} is the larger root of v² - 2bv - e^g, b = (1-q)/(2q) e^{μ²/2} (e^g - 1)."""

    def __init__(self, law: ReplacedNormalLaw) -> None:
        super().__init__(law.mu, law.q)
        self.law = law
        self._scale = 0.5 * self.left / self.q * math.exp(0.5 * self.mu**2)

    def edges(self, loss: Floats) -> tuple[Floats, Floats]:
        """By expm1, log and log1p alone, so that nothing cancels."""
        grown = np.expm1(np.minimum(loss, _MOST_EXPONENT))
        b, half = self._scale * grown, np.exp(0.5 * loss)
        large = np.maximum(b, half)
        v = b + large * np.sqrt((b / large) ** 2 + (half / large) ** 2)
        few, more = np.minimum(b, 2.0), np.minimum(grown, 4.0)
        near = few + (few * few + more) / (np.sqrt(few * few + 1 + more) + 1)
        up = np.where(v > 2, np.log(v), np.log1p(near))
        rough = U * (3 * LIBM + 2 * self.mu**2 + 24)  # of b, and of v and v - 1
        moved = rough * np.minimum(near, 1.0) + U * (LIBM + 6) * up
        return up / self.mu, 1.02 * self._share(up) * moved

    def _share(self, up: Floats) -> Floats:
        """dL/d(μx): the shares of the shifted laws in the two mixtures."""
        odds = math.log(self.q) - math.log(self.left) - 0.5 * self.mu**2
        return _logistic(up + odds) + _logistic(odds - up)

    def loss(self, x: float) -> float:
        """About the loss at x."""
        up = self.mu * np.array([x, -x]) - 0.5 * self.mu**2
        one, two = log_mixed(self.q, log_left(self.law.q), up)[0].tolist()
        return float(one - two)

    def mix(self, plain: Floats, shifted: Floats, opposite: Floats) -> tuple[Floats, Floats]:
        """P and Q of cells."""
        common = self.left * plain
        return common + self.q * shifted, common + self.q * opposite

    def beyond(self, x: float) -> tuple[arb, arb]:
        """P and Q of everything right of x."""
        mu, q, place = ball(self.law.mu), ball(self.law.q), arb(x)
        plain = left_of(self.law.q) * normal_tail(place)
        return plain + q * normal_tail(place - mu), plain + q * normal_tail(place + mu)

    def shared(self) -> arb:
        """The atom at 0."""
        return arb(0)


class GluedSide(PositiveSide):
    """Samples without replacement: μx = log(1 + (e^g - 1)/q) + μ²/2, from x = μ/2 on."""

    def __init__(self, law: GluedNormalLaw) -> None:
        super().__init__(law.mu, law.q)
        self.law = law

    def edges(self, loss: Floats) -> tuple[Floats, Floats]:
        """By expm1, log and log1p alone, so that nothing cancels."""
        grown = np.expm1(np.minimum(loss, _MOST_EXPONENT)) / self.q
        up = np.log1p(grown)
        moved = U * ((LIBM + 6) * (np.minimum(grown, 1.0) + up) + 6 * self.mu**2)
        share = self.q + self.left * -np.expm1(-loss)
        return up / self.mu + 0.5 * self.mu, 1.02 * share * moved

    def loss(self, x: float) -> float:
        """About the loss at x."""
        return float(log_mixed(self.q, log_left(self.law.q), np.array([self.mu * x - 0.5 * self.mu**2]))[0][0])

    def mix(self, plain: Floats, shifted: Floats, opposite: Floats) -> tuple[Floats, Floats]:
        """P and Q of cells."""
        return self.left * plain + self.q * shifted, plain

    def beyond(self, x: float) -> tuple[arb, arb]:
        """P and Q of everything right of x."""
        mu, q, plain = ball(self.law.mu), ball(self.law.q), normal_tail(arb(x))
        return left_of(self.law.q) * plain + q * normal_tail(arb(x) - mu), plain

    def shared(self) -> arb:
        """The atom at 0."""
        return self.law.atoms()[0][1]


def side_of(law: ReplacedNormalLaw | GluedNormalLaw) -> PositiveSide:
    """The positive side of a law."""
    return ReplacedSide(law) if isinstance(law, ReplacedNormalLaw) else GluedSide(law)


def _narrow(x: Floats, mu: float) -> int:
    """From which cell on all are narrow, as seen from 0, μ and -μ."""
    far = np.abs(x) + mu
    wide = np.flatnonzero(~((far[1:] + far[:-1] + 6) * np.diff(x) <= 4 * normal_cells.NARROW))
    return int(wide[-1]) + 1 if wide.size else 0


def _logistic(z: Floats) -> Floats:
    return np.asarray(np.exp(np.minimum(z, 0.0)) / (1 + np.exp(-np.abs(z))))
