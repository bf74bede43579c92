"""Sums over the parts that the closed forms share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.numerics.balls import ball, float_up, precision
from optcomp.numerics.exact import Exact
from optcomp.numerics.sums import ball_sum, plain_sum
from optcomp.theorems.parts import Parts

BITS = 128
_FEW = 4000


def total_epsilon(parts: Parts) -> arb:
    r"""\sum ε_i."""
    return plain_sum(parts.coins)


def within(parts: Parts, epsilon: Exact) -> bool:
    r"""Whether \sum ε_i is at most ε: decided exactly when different ε are few, and otherwise only when certain."""
    if len(parts.coins) <= _FEW:
        return sum((Fraction(eps) * count for eps, count in parts.coins), Fraction(0)) <= epsilon
    with precision(BITS):
        return bool(total_epsilon(parts) <= ball(epsilon))


def total_delta(parts: Parts) -> Fraction:
    r"""\sum δ_i, exactly."""
    return sum((Fraction(delta) * count for delta, count in parts.leaks), Fraction(0))


def squares(parts: Parts) -> arb:
    r"""S = \sum ε_i²."""
    return ball_sum(lambda x: x * x, parts.coins, np.square)


def mean_loss(parts: Parts) -> arb:
    r"""A = \sum ε_i (e^{ε_i} - 1)/(e^{ε_i} + 1) = \sum ε_i tanh(ε_i/2)."""
    return ball_sum(lambda x: x * (x / 2).tanh(), parts.coins, lambda x: x * np.tanh(x / 2))


def at_most_one(delta: arb) -> float:
    """A δ rounded up; no δ above 1 says anything."""
    return min(1.0, float_up(delta))
