"""Sums over many numbers with counts, as balls: in ball arithmetic when few, in floats with a counted error when many.

*The error in floats.*  A term is the function (2 LIBM + 2 units of round-off, by its contract) times a count that is a
float itself (one more); the terms are not negative, and folding n of them costs `fold_error(n)`, one unit for each
doubling of n.  The radius is the sum of these with a factor 1.01, which covers the higher orders, the change from an
error relative to the truth to one relative to the computed sum, and the rounding of the radius itself: relative 5e-15
for a million terms.  Plain sums have no error but that of the ball.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from flint import arb, ctx

from optcomp.numerics.balls import ball
from optcomp.numerics.blocked import LIBM, Floats, U, fold_error, folded_sum
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.tally import Tally

_FEW, _MANY = 200, 4000
"""Numbers from which floats are worth it, where speed is asked for and where it is not."""
_EVERYDAY = 160  # bits of working precision up to which answers are wanted as floats
_LEAST, _MOST = 1e-140, 600.0
"""Values whose squares, exponentials and products with counts neither overflow nor underflow."""

Groups = Sequence[tuple[Exact, int]]


def in_floats(groups: Groups, *, quick: bool) -> bool:
    """Whether sums over these may be taken in floats.

    `quick` asks for speed, for the sake of a decision or of a bound that may be a few units off; otherwise only
    thousands of numbers are, and only at a working precision that asks for no more than floats.
    """
    return len(groups) > (_FEW if quick else _MANY) and (quick or ctx.prec <= _EVERYDAY)


def ball_sum(
    function: Callable[[arb], arb], groups: Groups, fast: Callable[[Floats], Floats], *, quick: bool = False
) -> arb:
    """The sum of count * function(value); `quick` as in `in_floats`.

    `fast` is the same function on float arrays: for values between 1e-140 and 600 it neither overflows nor underflows
    (its results lie in 1e-300..1e280), is non-negative and within 2 LIBM + 2 units of round-off, relatively.
    """
    tally = Tally.of(groups)
    if in_floats(tally, quick=quick) and tally.exact:
        values, counts = tally.floats
        if values.min() >= _LEAST and values.max() <= _MOST:
            total = folded_sum(fast(values) * counts)
            return arb(total, total * 1.01 * (U * (2 * LIBM + 3) + fold_error(values.size)))
    return sum((function(ball(value)) * count for value, count in tally), arb(0))


def plain_sum(groups: Groups) -> arb:
    """The sum of count * value, exact but for the ball's own rounding (ten tenths are one) wherever that can be."""
    tally = Tally.of(groups)
    if tally.total is not None:
        return ball(tally.total)
    return ball_sum(lambda x: x, tally, lambda x: x)


def log_odds_sum(groups: Groups, *, quick: bool = False) -> arb:
    """The sum of count * log(1 + e^-x): minus the log-probability that every coin lands high."""
    return ball_sum(lambda x: (-x).exp().log1p(), groups, lambda x: np.log1p(np.exp(-x)), quick=quick)
