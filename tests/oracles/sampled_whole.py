"""Discrete Gaussian noise on a Poisson sample from first principles: the two laws of the answer, number by number.

N_a has the weight e^{-(x-a)²/2σ²} at x, divided by the sum of all weights.  What lies beyond the listed numbers is
counted: as a ball in moments, as more mass in sums over several rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Literal

from flint import acb, arb, ctx

from tests.oracles.losses import Hockey, Moment
from tests.oracles.truth import Rational, real

Side = Literal["towards", "away", "replaced"]
Pair = list[tuple[arb, arb]]
_FAR = 45
"""Deviations beyond which nothing is left at all: e^{-45²/2} is 1e-440."""
_NOTHING = arb(2) ** -400
"""More than what is left beyond, also where the loss is tilted a few times."""


def plain(sigma: Rational, centre: int, reach: int) -> list[arb]:
    """N_centre at -reach, …, reach; its normalisation is a sum of its own."""
    square = 2 * real(Fraction(sigma) ** 2)
    whole = sum((arb(-(x * x)) / square).exp() for x in range(-_far(sigma), _far(sigma) + 1)) + _NOTHING * arb(0, 1)
    return [(arb(-((x - centre) ** 2)) / square).exp() / whole for x in range(-reach, reach + 1)]


def pair(sigma: Rational, shift: int, q: Rational, side: Side, reach: int) -> Pair:
    """P and Q at -reach, …, reach."""
    rate = real(q)
    none, right, left = (plain(sigma, centre, reach) for centre in (0, shift, -shift))
    mixture = [(1 - rate) * a + rate * b for a, b in zip(none, right, strict=True)]
    if side == "replaced":
        other = [(1 - rate) * a + rate * b for a, b in zip(none, left, strict=True)]
        return list(zip(mixture, other, strict=True))
    return list(zip(mixture, none, strict=True) if side == "towards" else zip(none, mixture, strict=True))


def whole_moment(sigma: Rational, shift: int, q: Rational, side: Side) -> Moment:
    """E e^{sL} = sum of P (P/Q)^s."""

    def moment(s: acb) -> acb:
        listed = _losses(sigma, shift, q, side, ctx.prec)
        return sum((p * (s * loss).exp() for p, loss in listed), acb(0)) + acb(arb(0, 1), arb(0, 1)) * _NOTHING

    return moment


def whole_hockey(sigma: Rational, shift: int, q: Rational, side: Side) -> Hockey:
    """The sum of all (P - e^y Q)_+."""

    def hockey(y: arb) -> arb:
        grown = y.exp()
        listed = _all(sigma, shift, q, side, ctx.prec)
        return sum(((p - grown * r).max(arb(0)) for p, r in listed), arb(0)) + _NOTHING * arb(0, 1)

    return hockey


def whole_rounds(pairs: Sequence[Pair], eps: Rational) -> tuple[arb, arb]:
    """δ(ε) of rounds with these pairs, between two numbers: every sequence of answers on its own.

    Sequences with an answer that is not listed add at least nothing, at most their mass under P.
    """
    joint: Pair = [(arb(1), arb(1))]
    for known in pairs:
        joint = [(p * a, r * b) for p, r in joint for a, b in known]
    grown = real(eps).exp()
    listed = sum(((p - grown * r).max(arb(0)) for p, r in joint), arb(0))
    return listed, listed + 1 - sum((p for p, _ in joint), arb(0))


@cache
def _all(sigma: Rational, shift: int, q: Rational, side: Side, bits: int) -> Pair:
    """P and Q at every number that counts, computed once for each working precision."""
    assert bits == ctx.prec
    return pair(sigma, shift, q, side, _far(sigma) + 8 * shift)


@cache
def _losses(sigma: Rational, shift: int, q: Rational, side: Side, bits: int) -> Pair:
    """P and log P/Q at every number that counts."""
    return [(p, (p / r).log()) for p, r in _all(sigma, shift, q, side, bits)]


def _far(sigma: Rational) -> int:
    return math.ceil(_FAR * float(sigma)) + 4
