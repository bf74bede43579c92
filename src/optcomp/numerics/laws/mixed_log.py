r"""log A, A = 1 - q + q e^u: the log of a mixture over one of its parts, also for rates q next to 1.

Where q > 1/2 and u is small nothing is left of 1 - q in q(e^u - 1): there both terms of A, which are positive, are
added.  1 - q is that of the exact rate; the double nearest to q may be 1.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import acb, arb

from optcomp.numerics.balls import QUICK_BITS, ball, precision
from optcomp.numerics.blocked import Floats
from optcomp.numerics.exact_numbers import Exact

_MOST, _SMALL = 600.0, -1.0
"""u beyond which A is its second term, and below which nothing may be left of 1 - q."""


def log_left(q: Exact) -> float:
    """log(1-q), within a few units of round-off."""
    if q <= 0.5:
        return math.log1p(-float(q))
    with precision(QUICK_BITS):
        return float(left_of(q).log().mid())


def log_mixed(q: float, left: float, up: Floats) -> tuple[Floats, Floats, Floats]:
    """log A, π = q e^u/A, and a bound on the error of log A, with `left` the log of 1 - q.

    The error is in units of round-off.  That of u, times π, and 8|log A| come on top of it.
    """
    grown = q * np.expm1(np.minimum(up, _MOST))
    if q <= 0.5:
        log_a = np.where(up < _MOST, np.log1p(grown), up + math.log(q))
        share = np.where(up < _MOST, q * np.exp(np.minimum(up, _MOST)) / (1 + grown), 1.0)
        return log_a, share, 20 * np.abs(grown / (1 + grown))
    small, second = up < _SMALL, up + math.log(q)
    grown = np.where(small, 0.0, grown)
    top = np.maximum(second, left)
    added = top + np.log1p(np.exp(np.minimum(second, left) - top))
    log_a = np.where(small, added, np.where(up < _MOST, np.log1p(grown), second))
    share = np.exp(np.minimum(second - log_a, 0.0))
    return log_a, share, np.where(small, 20 * (1 + abs(left)), 20 * np.abs(grown / (1 + grown)))


def log_mixed_ball(q: Exact, up: arb) -> arb:
    """log A in balls."""
    if q <= 0.5 or up > _SMALL:
        return (ball(q) * up.expm1()).log1p()
    return mixed_ball(q, up).log()


def mixed_ball(q: Exact, up: arb) -> arb:
    """A in balls, without cancellation."""
    return left_of(q) + ball(q) * up.exp()


def odds_at(q: Exact, y: arb) -> arb:
    """e^u where A = e^y; not positive if A is larger everywhere."""
    over = y.expm1() + ball(q) if q <= 0.5 else y.exp() - left_of(q)
    return over / ball(q)


def left_of(q: Exact) -> arb:
    """1 - q."""
    return ball(1 - Fraction(q))


def mixed_complex(q: Exact, up: acb) -> acb:
    """A at a complex place."""
    return left_of(q) + ball(q) * up.exp()
