r"""The loss towards a mixture of normals, counted only where x lies between two ends: E[e^{sL}; low < x <= high].

Rounds are labelled by x.  With one label only, nothing is far out, and the tilt can be what the excess asks for.
Panels end where the label does, so an end costs nothing, however large the integrand is there.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from optcomp.numerics.balls import QUICK_BITS, ball, float_up, precision
from optcomp.numerics.blocked import Floats
from optcomp.numerics.laws.cut_normal import CutNormalLaw
from optcomp.numerics.laws.gaussian import normal_tail
from optcomp.numerics.laws.mixed_log import log_mixed_ball
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw
from optcomp.numerics.laws.panels import Atoms, PanelLaw
from optcomp.numerics.laws.pieces import Piece

_SMALL = 0.1
"""Logs below this are taken from what is left of the mass, which is exact to more digits."""


class PartNormalLaw(PanelLaw):
    """The part of a loss towards the mixture with low < x <= high; both ends are short binary fractions, or none."""

    whole = False
    first_octave = 6.0  # up to θ = 64 panels are hardly ever narrower than for θ = 0

    def __init__(self, law: MixedNormalLaw, low: float, high: float, *, quick: bool = False) -> None:
        """If quick, exponential moments are computed in floats: to 14 digits or so, enough for some hundred rounds."""
        super().__init__()
        self._quick, self._means = quick, dict[tuple[float, int], arb]()
        self.mu, self.q, self.low, self.high = law.mu, law.q, low, high
        self.pieces = (
            Piece(law.mu, Fraction(law.mu) ** 2 / 2, law.q, 1, "one", normal=True, origin=0.0, low=low, high=high),
        )
        self._lifted = CutNormalLaw(law, high) if math.isinf(low) else None
        with precision(QUICK_BITS):
            self.most = float_up(self._loss(high))
            self._missing = 1.0 - float(self._mass().mid())

    def _loss(self, x: float) -> arb:
        mu = ball(self.mu)
        return log_mixed_ball(self.q, mu * arb(x) - mu * mu / 2)

    def _mass(self) -> arb:
        mu, q = ball(self.mu), ball(self.q)
        own = arb(1) if math.isinf(self.low) else tails(mu, q, self.low)[0]
        return own - tails(mu, q, self.high)[0]

    def atoms(self) -> Atoms:
        return []

    def log_mean(self, c: float) -> arb:
        key = c, int(ctx.prec)
        if key not in self._means:
            self._means[key] = self.quick_log_mean(c) if self._quick else super().log_mean(c)
        return self._means[key]

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """As for all panels; but small logs know what is missing of the mass."""
        place, log_p = self._guessed(np.where(np.isfinite(c), c, 0.0))
        with np.errstate(all="ignore"):
            grown = c[:, np.newaxis] * place
            large = np.logaddexp.reduce(log_p + grown, axis=-1)
            share = np.exp(log_p + grown - large[:, np.newaxis])
            change = (np.exp(log_p) * np.expm1(np.clip(grown, -700, 700))).sum(axis=-1)
            mean = (share * place).sum(axis=-1)
            square = (share * (place - mean[:, np.newaxis]) ** 2).sum(axis=-1)
            small = np.log1p(np.maximum(change - self._missing, -0.5))
        return np.where(np.abs(large) < _SMALL, small, large), mean, square

    def fade(self, c: float, theta: float) -> float:
        """By parts; and, where there is no lower end, on a lifted line, which is good for many rounds."""
        by_parts = super().fade(c, theta)
        return by_parts if self._lifted is None else min(by_parts, self._lifted.fade(c, theta))

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        raise ArithmeticError("a part of a law has no tail of its own")

    def _moment(self, order: int) -> arb:
        raise ArithmeticError("a part of a law has no moments of its own")


def tails(mu: arb, q: arb, x: float) -> tuple[arb, arb]:
    """P(x or more) under the mixture and under the plain normal."""
    plain, shifted = normal_tail(arb(x)), normal_tail(arb(x) - mu)
    return (1 - q) * plain + q * shifted, plain
