r"""DRS22, Gaussian differential privacy: μ-GDP mechanisms compose to √(Σμ²)-GDP, exactly.

δ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2)
"""

from __future__ import annotations

import math

from flint import arb

from optcomp.numerics.balls import ball, float_down, float_up, precision
from optcomp.numerics.exact import Exact
from optcomp.numerics.laws.gaussian import normal_excess
from optcomp.theorems.bound import Bound, Quantity
from optcomp.theorems.leaks import target, with_leaks
from optcomp.theorems.mixture import Mixture
from optcomp.theorems.mv18_1_5 import LEAK

ID, METHOD = "DRS22", "closed form"
_BITS = 128
_MOST_BITS = 1 << 13


def epsilon_at(mixture: Mixture, delta: Exact) -> Bound:
    """The least ε >= 0, by bisection on the closed form in balls."""
    t = target(mixture.leaky, delta, _BITS)
    if t < 0:
        return _bound("epsilon", mixture, delta, math.inf, math.inf, (LEAK,))
    if not t > 0:
        return _bound("epsilon", mixture, delta, math.inf, math.inf)
    if _sign(mixture, 0.0, t) <= 0:
        return _bound("epsilon", mixture, delta, 0.0, 0.0)
    low, high = 0.0, 1.0
    while _sign(mixture, high, t) > 0:
        low, high = high, 2 * high
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return _bound("epsilon", mixture, delta, low, high)
        low, high = (middle, high) if _sign(mixture, middle, t) > 0 else (low, middle)


def delta_at(mixture: Mixture, epsilon: Exact) -> Bound:
    """The closed form."""
    bits = _BITS
    while True:
        with precision(bits):
            value = with_leaks(mixture.leaky, normal_excess(mixture.squared_mu().sqrt(), ball(epsilon)))
            if value.rel_accuracy_bits() >= 60 or bits > _MOST_BITS:
                return _bound("delta", mixture, epsilon, max(float_down(value), 0.0), min(float_up(value), 1.0))
        bits *= 2


def _sign(mixture: Mixture, y: float, t: arb) -> int:
    """Whether the excess at y is above t (1) or not (-1)."""
    bits = _BITS
    while True:
        with precision(bits):
            difference = normal_excess(mixture.squared_mu().sqrt(), arb(y)) - t
            if difference > 0:
                return 1
            if difference <= 0 or bits > _MOST_BITS:
                return -1 if difference <= 0 else 1
        bits *= 2


def _bound(
    quantity: Quantity, mixture: Mixture, given: Exact, lower: float, upper: float, notes: tuple[str, ...] = ()
) -> Bound:
    return Bound(
        quantity=quantity, lower=lower, upper=upper, given=given, theorem=ID, method=METHOD, count=mixture.count,
        notes=notes,
    )  # fmt: skip
