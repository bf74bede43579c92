"""DKMMN06, basic composition: the parameters add up."""

from __future__ import annotations

import math

from optcomp.instances import Parts, delta_sum, epsilon_sum, total_delta, within
from optcomp.numerics import Exact
from optcomp.theorems.bound import Bound, upper_bound

ID, METHOD = "DKMMN06", "basic"


def epsilon_at(parts: Parts, delta: Exact) -> Bound:
    """Σε_i, if Σδ_i is within δ; otherwise nothing is proved and ε is infinite."""
    feasible = total_delta(parts) <= delta
    upper = epsilon_sum(parts).upper if feasible else math.inf
    notes = () if feasible else ("the δ_i add up to more than δ",)
    return upper_bound("epsilon", upper, delta, theorem=ID, method=METHOD, count=parts.count, notes=notes)


def delta_at(parts: Parts, epsilon: Exact) -> Bound:
    """Σδ_i, if Σε_i is within ε; otherwise nothing is proved and δ is 1."""
    feasible = within(parts, epsilon)
    upper = delta_sum(parts) if feasible else 1.0
    notes = () if feasible else ("the ε_i add up to more than ε",)
    return upper_bound("delta", upper, epsilon, theorem=ID, method=METHOD, count=parts.count, notes=notes)
