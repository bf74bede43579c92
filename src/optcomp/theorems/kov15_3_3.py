"""KOV15-3.3 (also MV18-1.4), optimal composition of k equal mechanisms: binomial tails, exact to rounding at any k."""

from __future__ import annotations

from optcomp.instances import Parts
from optcomp.numerics import Exact
from optcomp.theorems import mv18_1_5
from optcomp.theorems.bound import Bound
from optcomp.theorems.register import theorem

ID = mv18_1_5.ID_EQUAL


def epsilon_at(parts: Parts, delta: Exact) -> Bound:
    """The least ε_g at δ_g."""
    theorem(ID).require(parameters="fixed", all_equal=parts.all_equal)
    return mv18_1_5.epsilon_at(parts, delta)


def delta_at(parts: Parts, epsilon: Exact) -> Bound:
    """The least δ_g at ε_g."""
    theorem(ID).require(parameters="fixed", all_equal=parts.all_equal)
    return mv18_1_5.delta_at(parts, epsilon)
