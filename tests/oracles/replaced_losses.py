"""Losses where a record is replaced, from the two distributions themselves: see `losses.py`."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, arb

from tests.oracles.losses import (
    Hockey,
    Moment,
    Way,
    normal_above,
    subsampled_gaussian_hockey,
    subsampled_laplace_hockey,
)
from tests.oracles.truth import Rational, real


def replaced_gaussian_moment(mu: Rational, q: Rational) -> Moment:
    """Rigorous integration of P^{s+1} Q^{-s} over the line."""

    def moment(s: acb) -> acb:
        m, rate, c = real(mu), real(q), float(s.real.mid())
        reach = 20 + (2 * abs(c) + 1) * float(mu)

        def density(x: acb, analytic: bool) -> acb:
            one, other = (1 - rate + rate * (sign * m * x - m * m / 2).exp() for sign in (1, -1))
            logs = (s + 1) * one.log(analytic=analytic) - s * other.log(analytic=analytic)
            return (logs - x * x / 2).exp()

        return acb.integral(density, -reach, reach, eval_limit=10**7) / (2 * arb.pi()).sqrt()

    return moment


_BENT = arb(10)
"""Cells are so much narrower about 0, where most losses are."""
Sides = Callable[[arb], tuple[arb, arb]]
"""y to P(L > y) and Q(L > y)."""


def replaced_gaussian_sides(mu: Rational, q: Rational) -> Sides:
    """P/Q = e^y is a quadratic equation for e^{μx}; beyond its root P is larger."""

    def sides(y: arb) -> tuple[arb, arb]:
        m, rate = real(mu), real(q)
        small, half = rate * (-m * m / 2).exp(), (1 - rate) * (y.exp() - 1) / 2
        root = (half * half + small * small * y.exp()).sqrt()
        grown = (half + root) / small if half >= 0 else small * y.exp() / (root - half)
        edge = grown.log() / m
        plain, one, other = normal_above(edge), normal_above(edge - m), normal_above(edge + m)
        return (1 - rate) * plain + rate * one, (1 - rate) * plain + rate * other

    return sides


def hockey_of(sides: Sides) -> Hockey:
    """P - e^y Q of the event that the loss is larger than y."""

    def hockey(y: arb) -> arb:
        own, other = sides(y)
        return own - y.exp() * other

    return hockey


def replaced_gaussian_hockey(mu: Rational, q: Rational) -> Hockey:
    return hockey_of(replaced_gaussian_sides(mu, q))


def _laplaces(eps: Rational, q: Rational) -> tuple[arb, arb, arb]:
    """ε, q, and the mixture's density over the plain one where the shift only shrinks it."""
    x, rate = real(eps), real(q)
    return x, rate, 1 - rate + rate * (-x).exp()


def replaced_laplace_moment(eps: Rational, q: Rational) -> Moment:
    """Constant ratios beyond the shifts, at -1 and 1; rigorous integration on both sides of 0."""

    def moment(s: acb) -> acb:
        x, rate, low = _laplaces(eps, q)
        high = 1 - rate + rate * x.exp()

        def density(t: acb, analytic: bool, power: acb) -> acb:
            """At distance t from 0, on the side where the ratio P/plain, or Q/plain, to this power is not constant."""
            ratio = 1 - rate + rate * (x * (2 * t - 1)).exp()
            return (power * ratio.log(analytic=analytic) - x * t).exp()

        right = acb.integral(lambda t, a: density(t, a, s + 1), 0, 1, eval_limit=10**7) * (-s * low.log()).exp()
        left = acb.integral(lambda t, a: density(t, a, -s), 0, 1, eval_limit=10**7) * ((s + 1) * low.log()).exp()
        ends = ((s + 1) * high.log() - s * low.log()).exp() + ((s + 1) * low.log() - s * high.log()).exp()
        return x / 2 * (left + right) + (-x).exp() / 2 * ends

    return moment


def replaced_laplace_sides(eps: Rational, q: Rational) -> Sides:
    """The ratio grows along the line, from 1/top to top; on each side of 0 one of the two densities is a constant."""

    def sides(y: arb) -> tuple[arb, arb]:
        x, rate, low = _laplaces(eps, q)
        top = ((1 - rate + rate * x.exp()) / low).log()
        if y >= top:
            return arb(0), arb(0)
        if y <= -top:
            return arb(1), arb(1)
        if y < 0:  # the mirror image
            own, other = sides(-y)
            return 1 - other, 1 - own
        place = ((y.exp() * low - 1 + rate) / rate).log() / (2 * x) + arb(0.5)
        plain, one, other = (-x * place).exp() / 2, 1 - (x * (place - 1)).exp() / 2, (-x * (place + 1)).exp() / 2
        return (1 - rate) * plain + rate * one, (1 - rate) * plain + rate * other

    return sides


def replaced_laplace_hockey(eps: Rational, q: Rational) -> Hockey:
    return hockey_of(replaced_laplace_sides(eps, q))


def glued(towards: Hockey, away: Hockey) -> Hockey:
    """The larger of two curves."""
    return lambda y: towards(y).max(away(y))


def glued_gaussian_hockey(mu: Rational, q: Rational) -> Hockey:
    return glued(subsampled_gaussian_hockey(mu, q, "towards"), subsampled_gaussian_hockey(mu, q, "away"))


def glued_laplace_hockey(eps: Rational, q: Rational) -> Hockey:
    return glued(subsampled_laplace_hockey(eps, q, "towards"), subsampled_laplace_hockey(eps, q, "away"))


def glued_gaussian_moment(mu: Rational, q: Rational) -> Moment:
    """Right of μ/2 the mixture is larger: there it is P once and Q once; all the rest is alike."""

    def moment(s: acb) -> acb:
        m, rate, c = real(mu), real(q), float(s.real.mid())
        reach = 20 + (abs(c) + 2) * float(mu)

        def density(x: acb, analytic: bool) -> acb:
            log = (1 - rate + rate * (m * x - m * m / 2).exp()).log(analytic=analytic)
            return (((s + 1) * log).exp() + (-s * log).exp()) * (-x * x / 2).exp()

        inner = acb.integral(density, acb(m / 2), acb(reach), eval_limit=10**7) / (2 * arb.pi()).sqrt()
        plain, shifted = normal_above(m / 2), normal_above(-m / 2)
        return inner + 1 - plain - (1 - rate) * plain - rate * shifted

    return moment


def glued_laplace_moment(eps: Rational, q: Rational) -> Moment:
    """The same for Laplace noise: right of the middle between the two centres."""

    def moment(s: acb) -> acb:
        x, rate = real(eps), real(q)
        high = (1 - rate + rate * x.exp()).log()

        def density(t: acb, analytic: bool) -> acb:
            log = (1 - rate + rate * (x * (2 * t - 1)).exp()).log(analytic=analytic)
            return (((s + 1) * log).exp() + (-s * log).exp()) * (-x * t).exp()

        inner = x / 2 * acb.integral(density, 0.5, 1, eval_limit=10**7)
        ends = (-x).exp() / 2 * (((s + 1) * high).exp() + (-s * high).exp())
        plain = (-x / 2).exp() / 2
        return inner + ends + 1 - plain - (1 - rate) * plain - rate * (1 - plain)

    return moment


def glued_sides(towards: Sides, away: Sides) -> Sides:
    """The event of a positive loss as for the one law, of a negative one as for the other."""
    return lambda y: towards(y) if y >= 0 else away(y)


def subsampled_gaussian_sides(mu: Rational, q: Rational, way: Way) -> Sides:
    """N(0, 1) and its mixture with N(μ, 1), whichever comes first."""

    def sides(y: arb) -> tuple[arb, arb]:
        m, rate = real(mu), real(q)
        level = ((y if way == "towards" else -y).exp() - 1 + rate) / rate
        if level <= 0:
            return (arb(1), arb(1)) if way == "towards" else (arb(0), arb(0))
        edge = level.log() / m + m / 2
        if way == "towards":
            plain, shifted = normal_above(edge), normal_above(edge - m)
            return (1 - rate) * plain + rate * shifted, plain
        plain, shifted = normal_above(-edge), normal_above(m - edge)
        return plain, (1 - rate) * plain + rate * shifted

    return sides


def glued_gaussian_sides(mu: Rational, q: Rational) -> Sides:
    return glued_sides(*(subsampled_gaussian_sides(mu, q, way) for way in ("towards", "away")))


def two_rounds(sides: Sides, y: Rational, reach: float, cells: int) -> tuple[arb, arb]:
    """F of two rounds, from below and from above: the first in cells of losses, the second exactly.

    A cell whose mass is put onto its ends, so that both laws keep theirs, only makes F larger; one that is merged into
    log P/Q only makes it smaller.
    """
    at, hockey = real(y), hockey_of(sides)
    edges = [
        real(reach) * (_BENT * (2 * k - cells + arb(1) / 7) / cells).sinh() / _BENT.sinh() for k in range(cells + 1)
    ]
    known = [sides(edge) for edge in edges]
    ends = [hockey(at - edge) for edge in edges]
    below, above = arb(0), known[-1][0] + (1 - known[0][0]) * ends[0]
    for k in range(cells):
        (own, other), (own_next, other_next) = known[k], known[k + 1]
        p, q = own - own_next, other - other_next
        if not (p > 0 and q > 0 and abs(p / q).rad() < 1e-9 * abs(p / q)):  # far out, where digits are lost
            above += p.abs_upper()
            continue
        up = (p - edges[k].exp() * q) / (1 - (edges[k] - edges[k + 1]).exp())
        above += up * ends[k + 1] + (p - up) * ends[k]
        below += p * hockey(at - (p / q).log())
    return below, above
