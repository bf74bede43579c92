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
_LEAST, _MOST = 1e-140, 600.0


def ball_sum(
    function: Callable[[arb], arb], groups: Sequence[tuple[Exact, int]], fast: Callable[[Floats], Floats] | None
) -> arb:
    """The sum of count * function(value).

    `fast`, if given, is the same function on float arrays: for values between 1e-140 and 600 it neither overflows nor
    underflows, is non-negative and within 2 LIBM + 2 units of round-off, relatively.
    """
    if fast is None or len(groups) <= _FEW or not all(type(x) is float and _LEAST <= x <= _MOST for x, _ in groups):
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
