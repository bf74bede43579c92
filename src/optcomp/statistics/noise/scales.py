"""Scales of noise for a sensitivity and a budget, rounded up to floats: an answer costs at most what it says."""

from __future__ import annotations

from fractions import Fraction

from optcomp.errors import InvalidInput
from optcomp.numerics.balls import SUM_BITS, ball, float_up, precision

LEAST_SCALE, MOST_SCALE = 1e-3, 1e15
"""What can be sampled: in units of the part."""


def laplace_scale(l1: int, epsilon: Fraction, asked: str = "epsilon") -> float:
    """The least float at or above Δ/ε."""
    with precision(SUM_BITS):
        return _sampled(float_up(ball(l1 / epsilon)), asked)


def gaussian_sigma(l2_squared: int, rho: Fraction, asked: str = "rho") -> float:
    """The least float at or above √(Δ²/2ρ)."""
    with precision(SUM_BITS):
        return _sampled(float_up((ball(l2_squared / (2 * rho))).sqrt()), asked)


def _sampled(scale: float, asked: str) -> float:
    if scale > MOST_SCALE:
        problem = f"is too small: noise may have scales up to {MOST_SCALE:g}"
        raise InvalidInput(asked, f"a scale of {scale:.3g}", problem)
    return max(scale, LEAST_SCALE)
