r"""What can be said about F(y) without adding up anything long.

y >= Σε                     F(y) = 0
Σε > y >= Σε - 2 min ε      F(y) = P_max (1 - e^{y-Σε}),   P_max = \prod 1/(1+e^{-ε_i})
always                      0 <= F(y) <= F(0) <= Σ tanh(ε_i/2)   (total variation distances add up at most)

Gaussian noise alone, L ~ N(v/2, v) and Φ the normal distribution function, has

    F(y) = Φ(√v/2 - y/√v) - e^y Φ(-√v/2 - y/√v),        F(0) = erf(√(v/8)),

which is also a lower bound with coins, because leaving out mechanisms cannot increase F; F(0) joins the sum above.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from optcomp.checker.balls import ball
from optcomp.checker.effort import looked
from optcomp.checker.instance import Instance, Range

_MANY = 20_000  # coins: their sum of tanh is above 1 in all likelihood, and takes long


def closed_form(instance: Instance, y: Fraction) -> Range | None:
    """F(y) when at most the largest value of L lies above y, or there is nothing but Gaussian noise."""
    if instance.gaussians:
        return None if instance.coins else gaussian_alone(instance, y)
    if y >= instance.coin_total:
        return Range(arb(0), arb(0))
    if y < instance.coin_total - 2 * Fraction(instance.coins[0].size):
        return None
    log_top = arb(0)
    for size, copies in looked(instance.coins):
        log_top -= copies * (-ball(size)).exp().log1p()
    value = log_top.exp() * -(ball(y - instance.coin_total)).expm1()
    return Range(value, value)


def distance(instance: Instance) -> Range:
    """What holds at every y >= 0."""
    if len(instance.coins) > _MANY:
        return Range(arb(0), arb(1))
    total = (instance.variance() / 8).sqrt().erf()
    for size, copies in looked(instance.coins):
        total += copies * (ball(size) / 2).tanh()
    return Range(arb(0), total.min(arb(1)))


def gaussian_alone(instance: Instance, y: Fraction) -> Range:
    """F(y) of the Gaussian noise without the coins."""
    value = normal_excess(instance.variance().sqrt(), ball(y))
    return Range(value, value)


def normal_excess(mu: arb, y: arb) -> arb:
    """E(1 - e^{y-L})_+ for L ~ N(μ²/2, μ²); y may be negative."""
    root = arb(2).sqrt()
    place, half = y / (mu * root), mu / (2 * root)
    return ((place - half).erfc() - y.exp() * (place + half).erfc()) / 2
