"""Smith25-1.1, strong composition: drift Σε_i tanh(ε_i/2), equal or different parameters."""

from __future__ import annotations

from flint import arb

from optcomp.instances import Parts, mean_loss
from optcomp.numerics import SUM_BITS, Exact, precision
from optcomp.theorems.bound import Bound
from optcomp.theorems.tail import split_delta, split_epsilon

ID, METHOD = "Smith25-1.1", "strong"


def _drift(parts: Parts) -> arb:
    with precision(SUM_BITS):
        return mean_loss(parts)


def epsilon_at(parts: Parts, delta: Exact) -> Bound:
    """Σε_i tanh(ε_i/2) + √(2 ln(1/δ') Σε_i²) with δ' = δ - Σδ_i."""
    return split_epsilon(parts, delta, _drift(parts), ID, METHOD)


def delta_at(parts: Parts, epsilon: Exact) -> Bound:
    """Σδ_i + δ' with the least δ' that reaches ε."""
    return split_delta(parts, epsilon, _drift(parts), ID, METHOD)
