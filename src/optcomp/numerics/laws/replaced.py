r"""Losses where one person's record is replaced by another one.

Poisson samples (`REPLACE`): both records may be in the sample, and pull to opposite sides.

    normal:   P = (1-q) N(0, 1) + q N(μ, 1),   Q = (1-q) N(0, 1) + q N(-μ, 1),   L = log A(x)/A(-x)
    Laplace:  the same with Laplace noise: atoms at both ends, where x is beyond either shift

Samples without replacement (`ZDW22-11`): the law towards the mixture where the loss is positive, the law away from it
where it is negative, and all the rest at 0.  Each of these laws is its own mirror image, so one direction is enough.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from optcomp.numerics.balls import FLOAT_BITS, ball, float_down, float_up, precision
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.laws.gaussian import normal_tail
from optcomp.numerics.laws.law import Law
from optcomp.numerics.laws.mixed_laplace import MixedLaplaceLaw
from optcomp.numerics.laws.mixed_log import left_of, mixed_ball
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw
from optcomp.numerics.laws.panels import Atoms, PanelLaw
from optcomp.numerics.laws.pieces import Piece

_MOST_REACH = 300.0
"""Deviations from 0 at which a tilted law may lie; farther out it costs too much."""
_MOST_TILT = 1e7
"""Of bounded losses."""


class ReplacedNormalLaw(PanelLaw):
    """Two samples of Gaussian noise that pull to opposite sides, 0 < q < 1."""

    def __init__(self, mu: Exact, q: Exact) -> None:
        super().__init__()
        self.mu, self.q = mu, q
        self.most_tilt = _MOST_REACH / (2 * float(mu)) + 1
        self.pieces = (
            Piece(mu, Fraction(mu) ** 2 / 2, q, +1, "mirror", normal=True, origin=0.0, low=-math.inf, high=math.inf),
        )

    def atoms(self) -> Atoms:
        return []

    def crossing(self, y: arb) -> arb:
        """The x with L = y: μx = y/2 + arsinh((1-q)/q e^{μ²/2} sinh(y/2))."""
        mu, q = ball(self.mu), ball(self.q)
        return (y / 2 + (left_of(self.q) / q * (mu * mu / 2).exp() * (y / 2).sinh()).asinh()) / mu

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        mu, q, x = ball(self.mu), ball(self.q), self.crossing(arb(y))
        plain, shifted, opposite = normal_tail(x), normal_tail(x - mu), normal_tail(x + mu)
        left = left_of(self.q)
        return left * plain + q * shifted, left * plain + q * opposite


class ReplacedLaplaceLaw(PanelLaw):
    """Two samples of Laplace noise that pull to opposite sides, 0 < q < 1; ε the shift in scales."""

    def __init__(self, eps: Exact, q: Exact) -> None:
        super().__init__()
        self.eps, self.q = eps, q
        self.most_tilt = _MOST_TILT
        self.pieces = tuple(
            Piece(eps, 0.0, q, way, "constant", normal=False, origin=0.0, low=-1.0, high=1.0) for way in (1, -1)
        )
        with precision(FLOAT_BITS):
            (top, p), _ = self.atoms()
            self.most, self.log_top = float_up(top), float_down(p.log())

    def _ends(self) -> tuple[arb, arb, arb]:
        """e^{-ε}/2, A(ε) and A(-ε)."""
        eps, q = ball(self.eps), ball(self.q)
        return (-eps).exp() / 2, 1 + q * eps.expm1(), mixed_ball(self.q, -eps)

    def atoms(self) -> Atoms:
        mass, high, low = self._ends()
        top = (high / low).log()
        return [(top, mass * high), (-top, mass * low)]

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        place = arb(y)
        if place >= 0:
            return self._above(place, strictly=True)
        if place < 0:
            own, other = self._above(-place, strictly=False)
            return 1 - other, 1 - own
        parts = [self._above(arb(0), strictly=True), self._above(place.abs_upper(), strictly=False)]
        return parts[0][0].union(1 - parts[1][1]), parts[0][1].union(1 - parts[1][0])

    def _above(self, y: arb, *, strictly: bool) -> tuple[arb, arb]:
        """P and Q of L > y, or of L >= y, for y >= 0."""
        eps, q = ball(self.eps), ball(self.q)
        mass, high, low = self._ends()
        top = (high / low).log()
        if y > top or (strictly and y >= top):
            return arb(0), arb(0)
        if not (y <= top and (not strictly or y < top)):  # undecided: all that is left, or nothing
            return (mass * high).union(arb(0)), (mass * low).union(arb(0))
        left = left_of(self.q)
        x = (((y.exp() * low - left) / q).log() + eps) / 2  # of the noise, times ε, between 0 and ε
        plain, shifted, opposite = (-x).exp() / 2, 1 - (x - eps).exp() / 2, (-x - eps).exp() / 2
        return left * plain + q * shifted, left * plain + q * opposite


class GluedLaw(PanelLaw):
    """Towards the mixture where the loss is positive, away from it where it is negative, and all the rest at 0."""

    def __init__(self, towards: Law, away: Law) -> None:
        super().__init__()
        self.towards, self.away = towards, away
        self.most, self.log_top, self.most_tilt = towards.most, towards.log_top, towards.most_tilt

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        place = arb(y)
        if place >= 0:
            return self.towards.sides(place)
        if place < 0:
            return self.away.sides(place)
        (one, two), (three, four) = self.towards.sides(place), self.away.sides(place)
        return one.union(three), two.union(four)

    def excess(self, y: float | arb) -> arb:
        """The one law's from 0 on, the other's before it; at 0 they agree."""
        place = arb(y)
        if place >= 0:
            return self.towards.excess(place)
        if place < 0:
            return self.away.excess(place)
        return self.towards.excess(place).union(self.away.excess(place))

    def excess_over(self, y: float | arb, t: arb) -> arb:
        place = arb(y)
        return self.towards.excess_over(place, t) if place >= 0 else self.excess(place) - t


class GluedNormalLaw(GluedLaw):
    """Gaussian noise on a sample without replacement, 0 < q < 1; t = x - μ/2, so that A is 1 at t = 0."""

    def __init__(self, mu: Exact, q: Exact) -> None:
        super().__init__(MixedNormalLaw(mu, q, "towards"), MixedNormalLaw(mu, q, "away"))
        self.mu, self.q = mu, q
        self.pieces = tuple(
            Piece(mu, 0.0, q, way, "one", normal=True, origin=Fraction(mu) / 2, low=0.0, high=math.inf)
            for way in (1, -1)
        )

    def atoms(self) -> Atoms:
        return [(arb(0), left_of(self.q) * (1 - 2 * normal_tail(ball(self.mu) / 2)))]


class GluedLaplaceLaw(GluedLaw):
    """Laplace noise on a sample without replacement, 0 < q < 1; ε the shift in scales."""

    def __init__(self, eps: Exact, q: Exact) -> None:
        super().__init__(MixedLaplaceLaw(eps, q, "towards"), MixedLaplaceLaw(eps, q, "away"))
        self.eps, self.q = eps, q
        self.pieces = tuple(
            Piece(eps, 0.0, q, way, "one", normal=False, origin=0.0, low=0.0, high=1.0) for way in (1, -1)
        )

    def atoms(self) -> Atoms:
        eps, q = ball(self.eps), ball(self.q)
        top, end = (q * eps.expm1()).log1p(), (-eps).exp() / 2
        return [(top, end * (1 + q * eps.expm1())), (arb(0), -left_of(self.q) * (-eps / 2).expm1()), (-top, end)]
