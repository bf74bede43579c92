"""DRV10, advanced composition of k equal mechanisms: drift kε(e^ε - 1)."""

from __future__ import annotations

from flint import arb

from optcomp.instances import Parts
from optcomp.numerics import SUM_BITS, Exact, ball, precision
from optcomp.theorems.bound import Bound
from optcomp.theorems.tail import split_delta, split_epsilon

ID, METHOD = "DRV10", "advanced"


def _drift(parts: Parts) -> arb:
    with precision(SUM_BITS):
        return sum((ball(eps) * ball(eps).expm1() * count for eps, count in parts.coins), arb(0))


def epsilon_at(parts: Parts, delta: Exact) -> Bound:
    """ε√(2k ln(1/δ')) + kε(e^ε - 1) with δ' = δ - kδ_0."""
    return split_epsilon(parts, delta, _drift(parts), ID, METHOD)


def delta_at(parts: Parts, epsilon: Exact) -> Bound:
    """kδ_0 + δ' with the least δ' that reaches ε."""
    return split_delta(parts, epsilon, _drift(parts), ID, METHOD)
