"""Sums over the parts that the closed forms share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.numerics.balls import float_up
from optcomp.numerics.sums import ball_sum, plain_sum
from optcomp.theorems.parts import Parts

BITS = 128


def total_epsilon(parts: Parts) -> arb:
    r"""\sum ε_i."""
    return plain_sum(parts.coins)


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
