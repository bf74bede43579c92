r"""Sound steps from one notion of privacy to another, each with its theorem; together they form a graph.

A step never promises more than its source does.  Parameters that are not rational are rounded outwards, so what comes
out is valid in floats.

Where several chains lead to one notion, the shortest is the tightest, up to the rounding of a curve:

    exponential to zCDP       ε²/8 at once, ε²/2 by way of its ε; so also to what follows from zCDP
    a known loss to Rényi     at once D_α of the loss itself, which no other bound on D_α is below
    exponential to Rényi      min(ε²α/8, ε) at once, ε²α/8 by way of zCDP
    zCDP to Rényi             ρα at once; by way of tCDP only for orders below ω

Chains differ nowhere else.  A step that breaks this fails a test that goes through all chains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from optcomp.guarantees import (
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    KnownLoss,
    Laplace,
    NameAndShame,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    SparseVectorDP,
    WithoutReplacement,
)
from optcomp.numerics import FLOAT_BITS, float_up, precision


@dataclass(frozen=True)
class Conversion:
    """One step: which kinds it takes, which kind it gives, and why."""

    source: type | tuple[type, ...]
    target: type
    theorem: str
    step: Callable[[Any], Any]


def pure_to_approx(value: PureDP) -> ApproxDP:
    """ε-DP is (ε, 0)-DP."""
    return ApproxDP(value.epsilon, 0)


def mechanism_to_pure(value: Laplace | DiscreteLaplace | RandomizedResponse | Exponential) -> PureDP:
    """A mechanism by its ε."""
    return PureDP(value.pure)


def sparse_vector_to_pure(value: SparseVectorDP) -> PureDP:
    """The two parts of its ε."""
    return PureDP(value.epsilon)


def shame_to_approx(value: NameAndShame) -> ApproxDP:
    """(0, δ)."""
    return ApproxDP(0, value.delta)


def pure_to_zcdp(value: PureDP) -> ZCDP:
    """ε-DP is ε²/2-zCDP."""
    return ZCDP(Fraction(value.epsilon) ** 2 / 2)


def exponential_to_zcdp(value: Exponential) -> ZCDP:
    """Bounded range ε is ε²/8-zCDP."""
    return ZCDP(value.rho)


def gaussian_to_gdp(value: Gaussian) -> GaussianDP:
    """Noise σ for sensitivity Δ is Δ/σ-GDP."""
    return GaussianDP(value.mu)


def gdp_to_zcdp(value: GaussianDP) -> ZCDP:
    """μ-GDP is μ²/2-zCDP."""
    return ZCDP(Fraction(value.mu) ** 2 / 2)


def discrete_gaussian_to_zcdp(value: DiscreteGaussian) -> ZCDP:
    """Δ²/2σ²-zCDP, as for continuous noise."""
    return ZCDP(Fraction(value.sensitivity) ** 2 / Fraction(value.sigma) ** 2 / 2)


def zcdp_to_tcdp(value: ZCDP) -> TCDP:
    """All orders, so also those below any ω."""
    return TCDP(value.rho, 10**15)


def zcdp_to_approx_zcdp(value: ZCDP) -> ApproxZCDP:
    """With δ = 0."""
    return ApproxZCDP(value.rho, 0)


def notion_to_renyi(value: ZCDP | TCDP | Exponential) -> RenyiDP:
    """The curve of a notion."""
    return RenyiDP(_Curve(value.renyi))


def losses_to_renyi(value: KnownLoss) -> RenyiDP:
    """The optimal curve log E e^{(α-1)L}/(α-1), in the worse direction."""
    laws = value.laws

    def curve(alpha: float) -> Any:
        return max((law.log_mean(alpha - 1) / (alpha - 1) for law in laws), key=lambda ball: float(ball.upper()))

    return RenyiDP(_Curve(curve))


@dataclass(frozen=True)
class _Curve:
    """A curve as a function of floats, rounded up."""

    at: Callable[[float], Any]

    def __call__(self, alpha: float) -> float:
        """ε(α)."""
        with precision(FLOAT_BITS):
            return max(float_up(self.at(alpha)), 0.0)


STEPS = (
    Conversion(PureDP, ApproxDP, "DKMMN06", pure_to_approx),
    Conversion((Laplace, DiscreteLaplace, RandomizedResponse, Exponential), PureDP, "KOV15-3.3", mechanism_to_pure),
    Conversion(SparseVectorDP, PureDP, "DKMMN06", sparse_vector_to_pure),
    Conversion(NameAndShame, ApproxDP, "DKMMN06", shame_to_approx),
    Conversion(PureDP, ZCDP, "BS16", pure_to_zcdp),
    Conversion(Exponential, ZCDP, "CR21", exponential_to_zcdp),
    Conversion(Gaussian, GaussianDP, "DRS22", gaussian_to_gdp),
    Conversion(GaussianDP, ZCDP, "BS16", gdp_to_zcdp),
    Conversion(DiscreteGaussian, ZCDP, "CKS20", discrete_gaussian_to_zcdp),
    Conversion(ZCDP, TCDP, "BDRS18", zcdp_to_tcdp),
    Conversion(ZCDP, ApproxZCDP, "BS16", zcdp_to_approx_zcdp),
    Conversion((ZCDP, TCDP, Exponential), RenyiDP, "M17", notion_to_renyi),
    Conversion(
        (
            Laplace,
            DiscreteLaplace,
            Gaussian,
            GaussianDP,
            DiscreteGaussian,
            RandomizedResponse,
            PoissonSubsampled,
            WithoutReplacement,
        ),
        RenyiDP,
        "M17",
        losses_to_renyi,
    ),
)
"""Every step between notions that needs no δ; the step to (ε, δ) at a given δ is `compose` of one mechanism."""
