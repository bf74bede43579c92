r"""The filters: sums, zCDP, one Rényi order, the rate of advanced composition, and the best of sums and zCDP.

Caps that are not rational are rounded down when the filter is made; from then on all comparisons are exact.  The
proofs are in docs/filters.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from optcomp.errors import InvalidInput
from optcomp.guarantees.approximate import ApproxDP, checked_delta, mechanism_epsilon
from optcomp.guarantees.notions import ZCDP, ApproxZCDP, RenyiDP
from optcomp.interactive.filters.admission import Filter, unaccountable
from optcomp.interactive.filters.cost import Cost, kept
from optcomp.interactive.filters.requests import Request, concentrated, divergence, pair
from optcomp.numerics.exact import Number, exact
from optcomp.theorems import fz21, wrrw23

_LEAST_ORDER, _MOST_ORDER = 1 + 2.0**-40, 2.0**40


@dataclass(frozen=True, init=False)
class SumFilter(Filter):
    """Basic composition as a filter: Σε_i <= ε and Σδ_i <= δ (RRUV16).

    The right one for a few requests, and the only one that promises pure differential privacy.
    """

    epsilon: Fraction
    delta: Fraction

    kind = "sum"
    ways = (("epsilon", "delta"),)

    def __init__(self, epsilon: Number, delta: Number = 0) -> None:
        object.__setattr__(self, "epsilon", kept(mechanism_epsilon(epsilon), "epsilon"))
        object.__setattr__(self, "delta", kept(checked_delta(delta), "delta"))
        self._open(Cost(epsilon=Fraction(0)))

    @property
    def theorem(self) -> str:
        """Basic composition as a filter."""
        return "RRUV16"

    @property
    def total(self) -> ApproxDP:
        """(ε, δ)-DP."""
        return ApproxDP(self.epsilon, self.delta)

    @property
    def caps(self) -> Cost:
        """ε and δ."""
        return Cost(epsilon=self.epsilon, delta=self.delta)

    def price(self, request: Request) -> Cost:
        """Its ε and δ."""
        known = pair(request)
        if known is None:
            advice = "convert it to ApproxDP at a delta, or use a BestFilter, ZCDPFilter or RenyiFilter"
            raise unaccountable(self.theorem, request, "(ε, δ) of its own", advice)
        return Cost(epsilon=known[0], delta=known[1])

    def parameters(self) -> dict[str, str]:
        """ε and δ."""
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}

    def _largest(self) -> Fraction:
        return self._left("epsilon")


@dataclass(frozen=True, init=False)
class ZCDPFilter(Filter):
    """Concentrated privacy as a filter: Σρ_i <= ρ, and Σδ_i <= δ where requests hold with probability 1 - δ_i (FZ21).

    A pure ε costs ε²/2, so many small requests cost little.  The total is ρ-zCDP, or δ-approximate ρ-zCDP.
    """

    rho: Fraction
    delta: Fraction

    kind = "zcdp"
    ways = (("rho", "delta"),)

    def __init__(self, rho: Number, delta: Number = 0) -> None:
        object.__setattr__(self, "rho", kept(ZCDP(rho).rho, "rho"))
        object.__setattr__(self, "delta", kept(checked_delta(delta), "delta"))
        self._open(Cost(rho=Fraction(0)))

    @classmethod
    def within(cls, epsilon: Number, delta: Number, delta_parts: Number = 0) -> ZCDPFilter:
        """The largest ρ that is (ε, δ)-DP in the end, by CKS20; `delta_parts` of δ is kept for requests with a δ_i."""
        eps, tail, parts = _split(epsilon, delta, delta_parts)
        rho = fz21.largest_rho(eps, tail / (1 - parts))
        if not rho:
            raise InvalidInput("epsilon", epsilon, "is too small for a filter of this kind; use a SumFilter")
        return cls(rho, parts)

    @property
    def theorem(self) -> str:
        """FZ21; WRRW23 where requests may have a δ."""
        return wrrw23.ID if self.delta else fz21.ID

    @property
    def total(self) -> ZCDP | ApproxZCDP:
        """ρ-zCDP, given an event of probability 1 - δ."""
        return ApproxZCDP(self.rho, self.delta) if self.delta else ZCDP(self.rho)

    def at(self, delta: Number) -> float:
        """The ε that the whole budget implies at δ (CKS20), rounded up; infinite if δ is below that of the requests."""
        tail = kept(checked_delta(delta), "delta") - self.delta
        return fz21.epsilon_at(self.rho, tail / (1 - self.delta)) if tail > 0 else float("inf")

    @property
    def caps(self) -> Cost:
        """ρ and δ."""
        return Cost(rho=self.rho, delta=self.delta)

    def price(self, request: Request) -> Cost:
        """Its ρ: ε²/2 of a pure request, Δ²/2σ² of Gaussian noise."""
        rho, delta = _concentrated(self.theorem, request)
        return Cost(rho=rho, delta=delta)

    def parameters(self) -> dict[str, str]:
        """ρ and δ."""
        return {"rho": str(self.rho), "delta": str(self.delta)}

    def _largest(self) -> Fraction:
        return root_down(2 * self._left("rho"))


@dataclass(frozen=True, init=False)
class RenyiFilter(Filter):
    """Rényi divergence of one fixed order as a filter: ΣD_α <= ε (FZ21).

    Knows every mechanism by its exact loss at that order, subsampled ones too.
    """

    order: Fraction
    epsilon: Fraction

    kind = "renyi"
    ways = (("divergence",),)

    def __init__(self, order: Number, epsilon: Number) -> None:
        alpha = Fraction(exact(order, "order"))
        if not _LEAST_ORDER <= alpha <= _MOST_ORDER or Fraction(float(alpha)) != alpha:
            raise InvalidInput("order", order, "must be greater than 1, at most 2**40 and, exactly, a float")
        object.__setattr__(self, "order", alpha)
        object.__setattr__(self, "epsilon", kept(mechanism_epsilon(epsilon), "epsilon"))
        self._open(Cost(divergence=Fraction(0)))

    @classmethod
    def within(cls, epsilon: Number, delta: Number, order: Number | None = None) -> RenyiFilter:
        """The largest budget at an order that is (ε, δ)-DP in the end, by CKS20.

        Without an order the one that is best for many small requests.
        """
        eps, tail, _ = _split(epsilon, delta, 0)
        alpha = fz21.best_order(eps, tail) if order is None else float(cls(order, 0).order)
        budget = fz21.renyi_budget(alpha, eps, tail)
        if budget <= 0:
            raise InvalidInput("order", alpha, f"proves nothing for epsilon = {epsilon} and delta = {delta}")
        return cls(alpha, budget)

    @property
    def theorem(self) -> str:
        """The Rényi filter."""
        return fz21.ID

    @property
    def total(self) -> RenyiDP:
        """D_α <= ε."""
        return RenyiDP(self.order, self.epsilon)

    @property
    def caps(self) -> Cost:
        """ε."""
        return Cost(divergence=self.epsilon)

    def price(self, request: Request) -> Cost:
        """Its D_α, rounded up where it is not rational."""
        value = divergence(request, float(self.order))
        if value is None:
            advice = "this filter takes no request with a δ, and counts only what is promised at its own order"
            raise unaccountable(self.theorem, request, f"Rényi divergence of order {float(self.order):g}", advice)
        return Cost(divergence=value)

    def parameters(self) -> dict[str, str]:
        """The order and ε."""
        return {"order": str(self.order), "epsilon": str(self.epsilon)}

    def _largest(self) -> Fraction:
        left, order = self._left("divergence"), float(self.order)
        low, high = Fraction(0), max(left, root_down(2 * left)) * 2  # D_α <= left for ε = left
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if fz21.response_divergence(middle, order) <= left else (low, middle)
        return low


@dataclass(frozen=True, init=False)
class AdaptiveFilter(Filter):
    """Advanced composition as a filter: √(2 ln(1/δ') Σε_i²) + ½Σε_i² <= ε and Σδ_i <= δ'' (WRRW23).

    δ'' is `delta_parts`, kept for requests with a δ_i, and δ' = δ - δ'' the rest.  A ρ-zCDP request counts as ε² = 2ρ.
    """

    epsilon: Fraction
    delta: Fraction
    delta_parts: Fraction
    cap: Fraction
    """What Σε_i² may come to."""

    kind = "adaptive"
    ways = (("squares", "delta"),)

    def __init__(self, epsilon: Number, delta: Number, delta_parts: Number = 0) -> None:
        eps, tail, parts = _split(epsilon, delta, delta_parts)
        object.__setattr__(self, "epsilon", eps)
        object.__setattr__(self, "delta", tail + parts)
        object.__setattr__(self, "delta_parts", parts)
        object.__setattr__(self, "cap", wrrw23.square_cap(eps, tail))
        self._open(Cost(squares=Fraction(0)))

    @property
    def theorem(self) -> str:
        """Fully adaptive composition."""
        return wrrw23.ID

    @property
    def total(self) -> ApproxDP:
        """(ε, δ)-DP."""
        return ApproxDP(self.epsilon, self.delta)

    @property
    def caps(self) -> Cost:
        """The cap of Σε_i², and δ''."""
        return Cost(squares=self.cap, delta=self.delta_parts)

    def price(self, request: Request) -> Cost:
        """ε² of an (ε, δ) request, 2ρ of one known by its ρ."""
        rho, delta = _concentrated(self.theorem, request)
        return Cost(squares=2 * rho, delta=delta)

    def parameters(self) -> dict[str, str]:
        """ε, δ, δ'' and the cap in use."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "delta_parts": str(self.delta_parts),
            "cap": str(self.cap),
        }

    def _largest(self) -> Fraction:
        return root_down(self._left("squares"))


@dataclass(frozen=True, init=False)
class BestFilter(Filter):
    """Sums or concentration, whichever still holds: Σε_i <= ε or Σρ_i <= ρ, and Σδ_i <= δ''.

    ρ is the largest with ρ-zCDP within (ε, δ') by CKS20.  Never worse than SumFilter or ZCDPFilter with the same total;
    why the alternative is sound is in docs/filters.md.
    """

    epsilon: Fraction
    delta: Fraction
    delta_parts: Fraction
    cap: Fraction
    """What Σρ_i may come to."""

    kind = "best"
    ways = (("epsilon", "delta"), ("rho", "delta"))

    def __init__(self, epsilon: Number, delta: Number, delta_parts: Number = 0) -> None:
        eps, tail, parts = _split(epsilon, delta, delta_parts)
        object.__setattr__(self, "epsilon", eps)
        object.__setattr__(self, "delta", tail + parts)
        object.__setattr__(self, "delta_parts", parts)
        object.__setattr__(self, "cap", fz21.largest_rho(eps, tail / (1 - parts)))
        self._open(Cost(epsilon=Fraction(0), rho=Fraction(0)))

    @property
    def theorem(self) -> str:
        """FZ21; WRRW23 where requests may have a δ."""
        return wrrw23.ID if self.delta_parts else fz21.ID

    @property
    def total(self) -> ApproxDP:
        """(ε, δ)-DP."""
        return ApproxDP(self.epsilon, self.delta)

    @property
    def caps(self) -> Cost:
        """ε, the cap of Σρ_i, and δ''."""
        return Cost(epsilon=self.epsilon, rho=self.cap, delta=self.delta_parts)

    def price(self, request: Request) -> Cost:
        """Its ρ, and its ε if it has one."""
        rho, delta = _concentrated(self.theorem, request)
        known = pair(request)
        return Cost(epsilon=None if known is None else known[0], rho=rho, delta=delta)

    def parameters(self) -> dict[str, str]:
        """ε, δ, δ'' and the cap in use."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "delta_parts": str(self.delta_parts),
            "cap": str(self.cap),
        }

    def _largest(self) -> Fraction:
        return max(self._left("epsilon"), root_down(2 * self._left("rho")))


def _split(epsilon: Number, delta: Number, delta_parts: Number) -> tuple[Fraction, Fraction, Fraction]:
    """ε, δ' and δ'': both ε and δ' must be positive."""
    eps, whole = kept(mechanism_epsilon(epsilon), "epsilon"), kept(checked_delta(delta), "delta")
    parts = kept(checked_delta(delta_parts, "delta_parts"), "delta_parts")
    if not eps:
        raise InvalidInput("epsilon", epsilon, "must be positive")
    if not parts < whole:
        wrong, value = ("delta_parts", delta_parts) if whole else ("delta", delta)
        raise InvalidInput(wrong, value, "must be less than delta" if whole else "must be positive")
    return eps, whole - parts, parts


def _concentrated(theorem: str, request: Request) -> tuple[Fraction, Fraction]:
    known = concentrated(request)
    if known is None:
        advice = "use a RenyiFilter at an order for which it is promised"
        raise unaccountable(theorem, request, "ρ of zero-concentrated privacy", advice)
    return known


def root_down(value: Fraction) -> Fraction:
    """At most the square root, to some 30 digits."""
    bits = 200 + max(0, value.denominator.bit_length() - value.numerator.bit_length())
    return Fraction(isqrt((value.numerator << 2 * bits) // value.denominator), 1 << bits)
