r"""What can be said about F(y) without adding up anything long.

y >= Σε                     F(y) = 0
Σε > y >= Σε - 2 min ε      F(y) = P_max (1 - e^{y-Σε}),   P_max = \prod 1/(1+e^{-ε_i})
always                      0 <= F(y) <= F(0) <= Σ tanh(ε_i/2)   (total variation distances add up at most)
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from optcomp.checker.balls import ball
from optcomp.checker.instance import Instance, Range

_MANY = 20_000


def closed_form(instance: Instance, y: Fraction) -> Range | None:
    """F(y) when at most the largest value of L lies above y."""
    if y >= instance.total:
        return Range(arb(0), arb(0))
    if y < instance.total - 2 * Fraction(instance.coins[0].size):
        return None
    log_top = arb(0)
    for size, copies in instance.coins:
        log_top -= copies * (-ball(size)).exp().log1p()
    value = log_top.exp() * -(ball(y - instance.total)).expm1()
    return Range(value, value)


def distance(instance: Instance) -> Range:
    """What holds at every y >= 0."""
    if len(instance.coins) > _MANY:
        return Range(arb(0), arb(1))
    total = arb(0)
    for size, copies in instance.coins:
        total += copies * (ball(size) / 2).tanh()
    return Range(arb(0), total.min(arb(1)))
