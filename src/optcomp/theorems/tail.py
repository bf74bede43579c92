r"""The shape that DRV10 and Smith25-1.1 share: a drift D, a sub-Gaussian tail, and a slip δ' beside the Σδ_i.

    ε = D + √(2 S ln(1/δ')),   δ = Σδ_i + δ',   S = \sum ε_i²

The caller gives the total; all of δ that the δ_i leave over goes to δ', which is the best split because ε falls in δ'.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from optcomp.instances import Parts, at_most_one, squares, total_delta
from optcomp.numerics import SUM_BITS, Exact, ball, precision, told_up
from optcomp.theorems.bound import Bound, upper_bound


def tail_epsilon(drift: arb, spread: arb, slip: arb) -> arb:
    """D + √(2 S ln(1/δ')) for 0 < δ' <= 1."""
    return drift + (2 * spread * (-slip.log()).nonnegative_part()).sqrt()


def tail_delta(drift: arb, spread: arb, epsilon: Exact) -> arb:
    """The δ' at which `tail_epsilon` is ε: exp(-(ε - D)²/2S), or 1 when ε is not above D."""
    gap = (ball(epsilon) - drift).nonnegative_part()
    return (-gap * gap / (2 * spread)).exp()


def split_epsilon(parts: Parts, delta: Exact, drift: arb, theorem: str, method: str) -> Bound:
    """ε at a total δ."""
    with precision(SUM_BITS):
        slip = Fraction(delta) - total_delta(parts)  # float minus Fraction would round
        if slip < 0 or (slip == 0 and parts.kinds):
            upper = math.inf
        else:
            upper = told_up(tail_epsilon(drift, squares(parts), ball(slip))) if parts.kinds else 0.0
    notes = ("the δ_i use up all of δ, and nothing is left for δ'",) if math.isinf(upper) else ()
    return upper_bound("epsilon", upper, delta, theorem=theorem, method=method, count=parts.count, notes=notes)


def split_delta(parts: Parts, epsilon: Exact, drift: arb, theorem: str, method: str) -> Bound:
    """Total δ at ε."""
    with precision(SUM_BITS):
        slip = tail_delta(drift, squares(parts), epsilon) if parts.kinds else arb(0)
        upper = at_most_one(ball(total_delta(parts)) + slip)
    return upper_bound("delta", upper, epsilon, theorem=theorem, method=method, count=parts.count)
