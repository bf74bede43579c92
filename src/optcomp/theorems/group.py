r"""GROUP, privacy of groups: what a guarantee about neighbours says about tables that are k steps apart.

Let P_0, ..., P_k be the laws along a path of neighbours.  From P_{j}(E) <= e^ε P_{j+1}(E) + δ for each step

    P_0(E) <= e^{kε} P_k(E) + δ (1 + e^ε + ... + e^{(k-1)ε}),

by induction over k; some path attains it.  The losses of the steps add up, so a loss that ranges over an interval of
length ε in each step does so over one of length kε in all.  For ρ-zCDP the path costs k²ρ (BS16), for μ-GDP kμ (DRS22);
a number that moves by Δ in each step moves by kΔ in all.

To replace a person is to remove one and to add one: k = 2.
"""

from __future__ import annotations

from fractions import Fraction

from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.guarantees import (
    ZCDP,
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Guarantee,
    KnownLoss,
    Laplace,
    PureDP,
    RenyiBounded,
)
from optcomp.numerics import SUM_BITS, Exact, ball, float_up, precision

ID = "GROUP"
_MOST = 1000
"""Steps of a path: the δ of more is out of reach, and sensitivities of whole noise end there as well."""

Grouped = PureDP | ApproxDP | ZCDP | Exponential | KnownLoss
"""What a guarantee becomes."""


def for_groups(guarantee: object, size: int) -> Grouped:
    """What the guarantee says about tables that are `size` neighbours apart; HypothesisNotMet if that is not known."""
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _MOST:
        raise InvalidInput("size", size, f"must be a whole number from 1 to {_MOST}")
    if isinstance(guarantee, ZCDP):
        return ZCDP(size**2 * Fraction(guarantee.rho))
    if isinstance(guarantee, Exponential):
        return Exponential(size * Fraction(guarantee.epsilon))
    noisy = _moved(guarantee, size)
    if noisy is not None:
        return noisy
    pure = guarantee.pure if isinstance(guarantee, KnownLoss | RenyiBounded) else None
    if pure is not None:
        return PureDP(size * Fraction(pure))
    if isinstance(guarantee, KnownLoss | RenyiBounded) or not isinstance(guarantee, Guarantee):
        name = type(guarantee).__name__
        raise HypothesisNotMet(ID, f"no bound for groups is known here for {name}; give an (ε, δ), a ρ or a μ of it")
    return _pair(guarantee.epsilon, guarantee.delta, size)


def delta_of_group(epsilon: Exact, delta: Exact, size: int) -> Fraction:
    """δ(1 + e^ε + ... + e^{(k-1)ε}), rounded up; exact where ε or δ is 0."""
    if not epsilon or not delta or size == 1:
        return size * Fraction(delta)
    with precision(SUM_BITS):
        whole = sum((ball(step * Fraction(epsilon)).exp() for step in range(size)), ball(0)) * ball(delta)
        value = float_up(whole)
    return Fraction(value) if value < 1 else Fraction(1)


def _pair(epsilon: Exact, delta: Exact, size: int) -> PureDP | ApproxDP:
    eps, slip = size * Fraction(epsilon), delta_of_group(epsilon, delta, size)
    if slip >= 1:
        raise HypothesisNotMet(
            ID, f"δ = {float(delta):g} at ε = {float(epsilon):g} would be a δ of 1 or more for groups of {size}"
        )
    return ApproxDP(eps, slip) if slip else PureDP(eps)


def _moved(guarantee: object, size: int) -> KnownLoss | None:
    """The same noise on a number that moves as far as all steps together."""
    match guarantee:
        case Gaussian():
            return Gaussian(guarantee.sigma, size * Fraction(guarantee.sensitivity))
        case GaussianDP():
            return GaussianDP(size * Fraction(guarantee.mu))
        case Laplace():
            return Laplace(guarantee.scale, size * Fraction(guarantee.sensitivity))
        case DiscreteLaplace():
            return DiscreteLaplace(guarantee.scale, size * guarantee.sensitivity)
        case DiscreteGaussian():
            return DiscreteGaussian(guarantee.sigma, size * guarantee.sensitivity)
    return None
