r"""Guarantees stated as a bound on Rényi divergences, D_α(P‖Q) <= ε(α), both ways: Rényi, concentrated, truncated.

They bound the moments of the loss, not its law; the worst law that satisfies them is not known in general.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite, nextafter

from flint import arb

from optcomp.errors import InvalidGuarantee, Written
from optcomp.guarantees.approximate import checked_delta, checked_epsilon
from optcomp.guarantees.known_loss import KnownLoss, kept, positive, within_reason
from optcomp.guarantees.noise import normal
from optcomp.numerics import Exact, Number, ball, exact
from optcomp.numerics.laws import Law


class RenyiBounded(Written, ABC):
    """Anything known by a bound on its Rényi divergences."""

    @abstractmethod
    def renyi(self, alpha: float) -> arb:
        """At least D_α, for α > 1; infinite where nothing is promised."""

    @property
    def most_order(self) -> float:
        """Nothing is promised for orders beyond this one."""
        return inf

    @property
    def leak(self) -> Exact:
        """The probability δ of an event on which nothing is promised."""
        return 0.0

    @property
    def pure(self) -> Exact | None:
        """The ε of a pure guarantee that comes with it, if any."""
        return None

    @property
    def gaussian(self) -> Exact:
        """μ² of Gaussian noise that satisfies the notion, for lower sides; 0 if none is known."""
        return 0.0

    @property
    def response(self) -> Exact:
        """ε of a randomized response that satisfies the notion; 0 if none is known."""
        return 0.0


@dataclass(frozen=True, slots=True, repr=False)
class ZCDP(RenyiBounded):
    """Zero-concentrated differential privacy: D_α <= ρα for every α > 1 (BS16)."""

    rho: Exact

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", _rho(rho))

    def renyi(self, alpha: float) -> arb:
        """ρα."""
        return ball(self.rho) * arb(alpha)

    @property
    def gaussian(self) -> Exact:
        """Gaussian noise with μ² = 2ρ is ρ-zCDP and no better."""
        return 2 * Fraction(self.rho)


@dataclass(frozen=True, slots=True, repr=False)
class ApproxZCDP(RenyiBounded):
    """Approximate zCDP: ρ-zCDP given an event of probability 1 - δ (BS16, section 8)."""

    rho: Exact
    delta: Exact

    def __init__(self, rho: Number, delta: Number) -> None:
        object.__setattr__(self, "rho", _rho(rho))
        object.__setattr__(self, "delta", checked_delta(delta))

    def renyi(self, alpha: float) -> arb:
        """ρα, given that event."""
        return ball(self.rho) * arb(alpha)

    @property
    def leak(self) -> Exact:
        """δ."""
        return self.delta

    @property
    def gaussian(self) -> Exact:
        """μ² = 2ρ."""
        return 2 * Fraction(self.rho)


@dataclass(frozen=True, slots=True, repr=False)
class TCDP(RenyiBounded):
    """Truncated concentrated differential privacy: D_α <= ρα for 1 < α < ω (BDRS18)."""

    rho: Exact
    omega: Exact

    def __init__(self, rho: Number, omega: Number) -> None:
        object.__setattr__(self, "rho", _rho(rho))
        order = exact(omega, "omega", InvalidGuarantee)
        if not order > 1:
            raise InvalidGuarantee("omega", omega, "must be greater than 1")
        object.__setattr__(self, "omega", order)

    def renyi(self, alpha: float) -> arb:
        """ρα below ω."""
        return ball(self.rho) * arb(alpha) if alpha < self.omega else arb.pos_inf()

    @property
    def most_order(self) -> float:
        """ω."""
        return _float_down(self.omega)

    @property
    def gaussian(self) -> Exact:
        """μ² = 2ρ."""
        return 2 * Fraction(self.rho)


@dataclass(frozen=True, slots=True, repr=False)
class GaussianDP(KnownLoss):
    """Gaussian differential privacy: no easier to break than telling N(0, 1) from N(μ, 1) (DRS22)."""

    mu: Exact

    def __init__(self, mu: Number) -> None:
        object.__setattr__(self, "mu", within_reason(positive(mu, "mu"), "mu", mu))

    @property
    def laws(self) -> tuple[Law, ...]:
        """That of Gaussian noise."""
        return (kept(normal, self.mu),)


RenyiCurve = Callable[[float], float]


@dataclass(frozen=True, slots=True, repr=False)
class RenyiDP(RenyiBounded):
    """Rényi differential privacy: D_α <= ε(α) (M17), for one order, for several, or as a function of the order.

    RenyiDP(8, 0.3) promises one order; RenyiDP({2: 0.1, 8: 0.3}) several, and in between what follows, because
    (α-1) D_α is convex and 0 at α = 1; RenyiDP(lambda alpha: ...) what the function says, for all α > 1.
    """

    orders: tuple[tuple[Exact, Exact], ...]
    curve: RenyiCurve | None = field(default=None)

    def __init__(self, order: Number | Mapping[Number, Number] | RenyiCurve, epsilon: Number | None = None) -> None:
        curve: RenyiCurve | None = None
        points: tuple[tuple[Exact, Exact], ...] = ()
        if isinstance(order, Mapping):
            points = tuple(sorted((_order(a), checked_epsilon(e)) for a, e in order.items()))
        elif callable(order):
            curve = order
        elif epsilon is not None:
            points = ((_order(order), checked_epsilon(epsilon)),)
        if not (points or curve) or (epsilon is not None and (curve or isinstance(order, Mapping))):
            raise InvalidGuarantee("order", order, "give one order with its epsilon, a mapping, or a function")
        object.__setattr__(self, "orders", points)
        object.__setattr__(self, "curve", curve)

    def renyi(self, alpha: float) -> arb:
        """ε(α): as the function says, or on the chord of (α-1) ε(α) between the orders given."""
        if self.curve is not None:
            return _curve_value(self.curve, alpha)
        before: tuple[Exact, Exact] = (1.0, 0.0)
        for order, eps in self.orders:
            if alpha <= order:
                high = ball(Fraction(order) - 1) * ball(eps)
                low = ball(Fraction(before[0]) - 1) * ball(before[1])
                share = (arb(alpha) - ball(before[0])) / ball(Fraction(order) - Fraction(before[0]))
                chord = (low + (high - low) * share) / (arb(alpha) - 1)
                return chord.min(ball(eps))  # D_α grows with α
            before = order, eps
        return arb.pos_inf()

    @property
    def most_order(self) -> float:
        """The largest order given; none for a function."""
        return inf if self.curve is not None else _float_down(self.orders[-1][0])


def _float_down(value: Exact) -> float:
    near = float(value)
    return near if near <= value else nextafter(near, 0.0)


def _curve_value(curve: RenyiCurve, alpha: float) -> arb:
    value = curve(alpha)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or value != value or value < 0:
        raise InvalidGuarantee("curve", value, f"must be a number at or above 0 (at order {alpha:g})")
    return ball(Fraction(value)) if isfinite(value) else arb.pos_inf()


def _order(value: Number) -> Exact:
    order = exact(value, "order", InvalidGuarantee)
    if not order > 1:
        raise InvalidGuarantee("order", value, "must be greater than 1")
    return order


def _rho(value: object) -> Exact:
    rho = positive(value, "rho")
    if not 1e-12 <= rho <= 1e6:
        raise InvalidGuarantee("rho", value, "must lie in [1e-12, 1e6]")
    return rho
