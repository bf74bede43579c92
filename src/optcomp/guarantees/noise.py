"""Mechanisms that add noise to a number: Laplace, Gaussian, and their discrete forms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from optcomp.errors import InvalidGuarantee
from optcomp.guarantees.known_loss import KnownLoss, kept, positive, within_reason
from optcomp.numerics import Exact, Number, ball, whole
from optcomp.numerics.laws import (
    LEAST_SIGMA,
    MOST_SIGMA,
    AtomicLaw,
    Atoms,
    DiscreteGaussianLaw,
    LaplaceLaw,
    Law,
    NormalLaw,
)

_MOST_SHIFT = 1000  # a law of so many atoms is listed one by one


@dataclass(frozen=True, slots=True, repr=False)
class Laplace(KnownLoss):
    """Laplace noise: density e^{-|x|/scale}/(2 scale), added to a number that one person changes by `sensitivity`.

    It is ε-differentially private with ε = sensitivity/scale, and its loss is known exactly.
    """

    scale: Exact
    sensitivity: Exact

    def __init__(self, scale: Number, sensitivity: Number = 1.0) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        within_reason(self.pure, "scale", scale)

    @property
    def pure(self) -> Fraction:
        """ε = sensitivity/scale."""
        return Fraction(self.sensitivity) / Fraction(self.scale)

    @property
    def laws(self) -> tuple[Law, ...]:
        """Symmetric: one law."""
        return (kept(LaplaceLaw, self.pure),)


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(KnownLoss):
    """Gaussian noise of standard deviation `sigma` added to numbers that one person moves by `sensitivity` in ℓ2.

    It is μ-GDP with μ = sensitivity/sigma; its loss is N(μ²/2, μ²).
    """

    sigma: Exact
    sensitivity: Exact

    def __init__(self, sigma: Number, sensitivity: Number = 1.0) -> None:
        object.__setattr__(self, "sigma", positive(sigma, "sigma"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        within_reason(self.mu, "sigma", sigma)

    @property
    def mu(self) -> Fraction:
        """μ = sensitivity/sigma."""
        return Fraction(self.sensitivity) / Fraction(self.sigma)

    @property
    def laws(self) -> tuple[Law, ...]:
        """Symmetric: one law."""
        return (kept(normal, self.mu),)


def normal(mu: Exact) -> NormalLaw:
    """The law N(μ²/2, μ²)."""
    return NormalLaw(lambda: ball(mu) ** 2)


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteLaplace(KnownLoss):
    """Two-sided geometric noise: weight e^{-|x|/scale} on whole numbers, for a count of whole sensitivity.

    It is ε-differentially private with ε = sensitivity/scale.
    """

    scale: Exact
    sensitivity: int

    def __init__(self, scale: Number, sensitivity: int = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", whole(sensitivity, "sensitivity", 1, _MOST_SHIFT))
        within_reason(self.pure, "scale", scale)

    @property
    def pure(self) -> Fraction:
        """ε = sensitivity/scale."""
        return Fraction(self.sensitivity) / Fraction(self.scale)

    @property
    def laws(self) -> tuple[Law, ...]:
        """Symmetric: one law, of sensitivity + 1 values."""
        return (kept(discrete_laplace, self.scale, self.sensitivity),)


def discrete_laplace(scale: Exact, shift: int) -> AtomicLaw:
    """x of weight e^{-|x|/b}: the loss (|x-Δ| - |x|)/b is Δ/b for x <= 0, -Δ/b for x >= Δ."""

    def atoms() -> Atoms:
        b = ball(scale)
        r = (-1 / b).exp()
        end = 1 / (1 + r)
        inner = [((shift - 2 * x) / b, (1 - r) / (1 + r) * (-x / b).exp()) for x in range(1, shift)]
        return [(shift / b, end), *inner, (-shift / b, end * (-arb(shift) / b).exp())]

    return AtomicLaw(atoms)


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteGaussian(KnownLoss):
    """Discrete Gaussian noise: weight e^{-x²/2σ²} on whole numbers, for a count of whole sensitivity."""

    sigma: Exact
    sensitivity: int

    def __init__(self, sigma: Number, sensitivity: int = 1) -> None:
        object.__setattr__(self, "sigma", positive(sigma, "sigma"))
        object.__setattr__(self, "sensitivity", whole(sensitivity, "sensitivity", 1, _MOST_SHIFT))
        if not LEAST_SIGMA <= self.sigma <= MOST_SIGMA:
            raise InvalidGuarantee("sigma", sigma, f"must lie in [{LEAST_SIGMA:g}, {MOST_SIGMA:g}]")
        within_reason(Fraction(self.sensitivity) / Fraction(self.sigma), "sigma", sigma)

    @property
    def laws(self) -> tuple[Law, ...]:
        """Symmetric: one law."""
        return (kept(DiscreteGaussianLaw, self.sigma, self.sensitivity),)
