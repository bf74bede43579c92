r"""KOV15-3.4 (equal) and KOV15-3.5 (different parameters): the best closed form, min of three.

With t = 1 - (1 - δ_g)/\prod(1 - δ_i) in the place of δ̃:

    ε_g = min{ Σε_i,  A + √(2S ln(e + √S/t)),  A + √(2S ln(1/t)) }
"""

from __future__ import annotations

import math

from flint import arb

from optcomp.instances import Parts, at_most_one, epsilon_sum, mean_loss, slack, squares, with_leaks, within
from optcomp.numerics import SUM_BITS, Exact, ball, precision, told_up
from optcomp.theorems.bound import Bound, upper_bound
from optcomp.theorems.tail import tail_delta, tail_epsilon

METHOD = "kov"


def _id(parts: Parts) -> str:
    return "KOV15-3.4" if parts.all_equal else "KOV15-3.5"


def epsilon_at(parts: Parts, delta: Exact) -> Bound:
    """The least of the three forms at a total δ."""
    t = slack(parts, delta, SUM_BITS)
    notes: tuple[str, ...] = ()
    with precision(SUM_BITS):
        if t >= 0:
            upper = min((told_up(form) for form in _epsilons(parts, t)), default=epsilon_sum(parts).upper)
            upper = min(upper, epsilon_sum(parts).upper)
        else:
            upper, notes = math.inf, ("δ is below the probability that some mechanism leaks everything",)
    return upper_bound("epsilon", upper, delta, theorem=_id(parts), method=METHOD, count=parts.count, notes=notes)


def _epsilons(parts: Parts, t: arb) -> list[arb]:
    if not parts.kinds:
        return []
    forms = []
    if t > 0:
        mean, spread = mean_loss(parts), squares(parts)
        forms.append(tail_epsilon(mean, spread, t))
        forms.append(mean + (2 * spread * (arb(1).exp() + spread.sqrt() / t).log()).sqrt())
    return forms


def delta_at(parts: Parts, epsilon: Exact) -> Bound:
    """The total δ from the least δ̃ that brings one of the three forms down to ε."""
    with precision(SUM_BITS):
        slip = min((at_most_one(form) for form in _slips(parts, epsilon)), default=0.0)
        upper = at_most_one(with_leaks(parts, arb(slip)))
    return upper_bound("delta", upper, epsilon, theorem=_id(parts), method=METHOD, count=parts.count)


def _slips(parts: Parts, epsilon: Exact) -> list[arb]:
    if within(parts, epsilon):
        return []
    mean, spread = mean_loss(parts), squares(parts)
    slips = [tail_delta(mean, spread, epsilon)]
    gap = (ball(epsilon) - mean).nonnegative_part()
    reach = (gap * gap / (2 * spread)).exp() - arb(1).exp()  # e^z - e = √S/δ̃
    if reach > 0:
        slips.append(spread.sqrt() / reach)
    return slips
