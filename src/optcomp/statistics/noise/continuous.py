r"""Discrete Gaussian noise as continuous noise that is rounded: what a vector of whole numbers costs for large σ.

Round u to a whole number x with probability proportional to e^{-(x-u)²/2τ²}.  Where u ~ N(0, σ² - τ²), x has weights

    ∫ φ(u) e^{-(x-u)²/2τ²}/θ(u) du  with  θ(u) = Σ_y e^{-(y-u)²/2τ²} = τ√(2π)(1 ± η),   η = 2Σ_{m>=1} e^{-2π²τ²m²}

by Poisson summation: e^{-x²/2σ²}/(σ√(2π)) but for a factor of 1 ± η.  So the discrete Gaussian N_Z(0, σ²) is at least
(1 - η)/(1 + η) >= 1 - 2η times that, everywhere: it *is* the rounded noise, but for probability 2η, in which it may be
anything.  Rounding commutes with whole shifts, so it is post-processing of the noisy answer.  Hence d whole numbers of
ℓ2-sensitivity Δ with noise N_Z(0, σ²) cost no more than the continuous Gaussian mechanism of √(σ² - τ²) together with a
leak of 2dη; the smoothing argument of lattice cryptography.  With τ² = 2, 2η is 3e-17.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from optcomp.guarantees import ApproxDP, Gaussian
from optcomp.numerics.balls import SUM_BITS, ball, float_down, float_up, fraction, precision
from optcomp.numerics.exact import Exact

_OF_DELTA = 1e-7
"""The leak may be this share of δ."""
_LEAST_LEAK = 1e-290
"""Below, a leak is a fraction: floats end soon."""


def log_of(delta: Exact) -> float:
    """log δ, also where no float is as small as δ."""
    exact = Fraction(delta)
    return math.log(exact.numerator) - math.log(exact.denominator)


@lru_cache(maxsize=1024)
def smoothing(delta: Exact, cells: int) -> Fraction:
    """A τ² for which the leak of so many numbers is negligible beside δ, at least 3/2."""
    wanted = (math.log(8 * cells / _OF_DELTA) - log_of(delta)) / (2 * math.pi**2) if delta else 0.0
    return Fraction(math.ceil(max(wanted, 1.5) * 64), 64)


def as_continuous(sigma: float, l2_squared: int, cells: int, tau_squared: Fraction) -> tuple[Gaussian, ApproxDP]:
    """What discrete Gaussian noise of σ on so many whole numbers costs at most; σ² must exceed τ²."""
    with precision(SUM_BITS):
        less = float_down(ball(Fraction(sigma) ** 2 - tau_squared).sqrt())
        root = math.isqrt(l2_squared)
        change = root if root * root == l2_squared else float_up(ball(l2_squared).sqrt())
    return Gaussian(less, change), leak(cells, tau_squared)


@lru_cache(maxsize=1024)
def leak(cells: int, tau_squared: Fraction) -> ApproxDP:
    """What may be told by so many numbers that are not what rounded noise would be."""
    with precision(SUM_BITS):
        first = (-2 * arb.pi() ** 2 * ball(tau_squared)).exp()
        eta = 2 * first / (1 - first**3)  # Σ first^{m²}, m² >= 1 + 3(m - 1)
        told = 2 * cells * eta
        return ApproxDP(0, float_up(told) if told > _LEAST_LEAK else fraction(told.upper()))


@lru_cache(maxsize=1024)
def leak_share(cells: int, tau_squared: Fraction, delta: Exact) -> float:
    """The leak over δ, about."""
    return float(Fraction(leak(cells, tau_squared).delta) / Fraction(delta))
