"""Sums over the parts that the closed forms share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.instances.parts import Parts
from optcomp.numerics import (
    SUM_BITS,
    Enclosure,
    Exact,
    ball,
    ball_sum,
    float_above,
    float_below,
    plain_sum,
    precision,
    told_up,
)


def total_epsilon(parts: Parts) -> arb:
    r"""\sum ε_i."""
    return plain_sum(parts.coin_tally)


def epsilon_sum(parts: Parts) -> Enclosure:
    r"""\sum ε_i between floats: the best ones where the sum is known exactly."""
    total = parts.coin_tally.total
    if total is not None:
        return Enclosure(float_below(total), float_above(total))
    with precision(SUM_BITS):
        return Enclosure.of(total_epsilon(parts))


def within(parts: Parts, epsilon: Exact) -> bool:
    r"""Whether \sum ε_i is at most ε: decided exactly, but for thousands of fractions only when certain."""
    total = parts.coin_tally.total
    if total is not None:
        return total <= epsilon
    with precision(SUM_BITS):
        return bool(total_epsilon(parts) <= ball(epsilon))


def total_delta(parts: Parts) -> Fraction:
    r"""\sum δ_i, exactly."""
    total = parts.leak_tally.total
    return total if total is not None else sum((Fraction(d) * count for d, count in parts.leaks), Fraction(0))


def squares(parts: Parts) -> arb:
    r"""S = \sum ε_i²."""
    return ball_sum(lambda x: x * x, parts.coin_tally, np.square, quick=True)


def mean_loss(parts: Parts) -> arb:
    r"""A = \sum ε_i (e^{ε_i} - 1)/(e^{ε_i} + 1) = \sum ε_i tanh(ε_i/2)."""
    return ball_sum(lambda x: x * (x / 2).tanh(), parts.coin_tally, lambda x: x * np.tanh(x / 2), quick=True)


def delta_sum(parts: Parts) -> float:
    r"""\sum δ_i rounded up; no δ above 1 says anything."""
    return min(1.0, float_above(total_delta(parts)))


def at_most_one(delta: arb) -> float:
    """A δ rounded up; no δ above 1 says anything."""
    return min(1.0, told_up(delta))
