"""Sums over many groups as balls: in ball arithmetic when they are few, in floats with a counted error when many."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.numerics.balls import ball
from optcomp.numerics.blocked import LIBM, Floats, U
from optcomp.numerics.exact import Exact

_FEW = 4000


def ball_sum(
    function: Callable[[arb], arb], groups: Sequence[tuple[Exact, int]], fast: Callable[[Floats], Floats]
) -> arb:
    """The sum of count * function(value).

    `fast` is the same function on float arrays: non-negative and within 2 LIBM + 2 units of round-off, relatively.
    """
    if len(groups) <= _FEW or any(not isinstance(value, float) for value, _ in groups):
        return sum((function(ball(value)) * count for value, count in groups), arb(0))
    values = np.array([value for value, _ in groups])
    counts = np.array([count for _, count in groups], dtype=np.float64)
    total = math.fsum(fast(values) * counts)  # fsum rounds once
    return arb(total, total * U * (2 * LIBM + 6))


def plain_sum(groups: Sequence[tuple[Exact, int]]) -> arb:
    """The sum of count * value, exact when the groups are few: ten tenths are one."""
    if len(groups) <= _FEW:
        return ball(sum((Fraction(value) * count for value, count in groups), Fraction(0)))
    return ball_sum(lambda x: x, groups, lambda x: x)


def log_odds_sum(groups: Sequence[tuple[Exact, int]]) -> arb:
    """The sum of count * log(1 + e^-x): minus the log-probability that every coin lands high."""
    return ball_sum(lambda x: (-x).exp().log1p(), groups, lambda x: np.log1p(np.exp(-x)))
