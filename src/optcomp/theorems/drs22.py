r"""DRS22, Gaussian differential privacy: μ-GDP mechanisms compose to √(Σμ²)-GDP, exactly.

δ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2)
"""

from __future__ import annotations

import math

from flint import arb

from optcomp.instances import Mixture, slack, with_leaks
from optcomp.numerics import SUM_BITS, Exact, Side, ball, precision, side_of, told_down, told_root, told_up
from optcomp.numerics.laws import normal_excess
from optcomp.theorems.bound import Bound
from optcomp.theorems.mv18_1_5 import LEAK, UNDECIDED
from optcomp.theorems.target import Quantity

ID, METHOD = "DRS22", "closed form"
_MOST_BITS = 1 << 13
"""A side that so many bits do not decide stays undecided."""


def epsilon_at(mixture: Mixture, delta: Exact) -> Bound:
    """The least ε >= 0, between floats, from the closed form in balls."""
    t = slack(mixture.leaky, delta, SUM_BITS)
    if t < 0:
        return _bound("epsilon", mixture, delta, math.inf, math.inf, (LEAK,))
    if t.is_zero():
        return _bound("epsilon", mixture, delta, math.inf, math.inf)
    lower, upper = told_root(lambda y: _side(mixture, y, t))
    return _bound("epsilon", mixture, delta, lower, upper, () if t > 0 else (UNDECIDED,))


def delta_at(mixture: Mixture, epsilon: Exact) -> Bound:
    """The closed form."""
    bits = SUM_BITS
    while True:
        with precision(bits):
            value = with_leaks(mixture.leaky, normal_excess(mixture.squared_mu().sqrt(), ball(epsilon)))
            if value.rel_accuracy_bits() >= 60 or bits > _MOST_BITS:
                return _bound("delta", mixture, epsilon, max(told_down(value), 0.0), min(told_up(value), 1.0))
        bits *= 2


def _side(mixture: Mixture, y: Exact, t: arb) -> Side:
    """On which side of y the excess passes t; more bits as long as t itself leaves them something to decide."""
    bits = SUM_BITS
    while True:
        with precision(bits):
            excess = normal_excess(mixture.squared_mu().sqrt(), ball(y))
            side = side_of(excess - t)
            if side is not Side.UNDECIDED or bits > _MOST_BITS or excess.rad() < t.rad() / 16:
                return side
        bits *= 2


def _bound(
    quantity: Quantity, mixture: Mixture, given: Exact, lower: float, upper: float, notes: tuple[str, ...] = ()
) -> Bound:
    return Bound(
        quantity=quantity, lower=lower, upper=upper, given=given, theorem=ID, method=METHOD, count=mixture.count,
        notes=notes,
    )  # fmt: skip
