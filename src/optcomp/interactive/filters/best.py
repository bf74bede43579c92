"""Sums or concentration, whichever still holds, as one filter.  The proof is in docs/filters.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from optcomp.guarantees import ApproxDP
from optcomp.interactive.filters.admission import Filter
from optcomp.interactive.filters.caps import priced_in_rho, root_down, split_delta
from optcomp.interactive.filters.cost import Cost
from optcomp.interactive.filters.requests import Request, pair
from optcomp.numerics import Number
from optcomp.theorems import fz21


@dataclass(frozen=True, init=False, repr=False)
class BestFilter(Filter):
    """Sums or concentration, whichever still holds: Σε_i <= ε or Σρ_i <= ρ, and Σδ_i <= δ''.

    ρ is the largest with ρ-zCDP within (ε, δ') by CKS20.  Never worse than SumFilter or ZCDPFilter with the same total.
    """

    epsilon: Fraction
    delta: Fraction
    delta_parts: Fraction
    cap: Fraction
    """What Σρ_i may come to."""

    kind = "best"
    ways = (("epsilon", "delta"), ("rho", "delta"))
    takes = "ρ-zCDP, Gaussian noise and (ε, δ)-DP"

    def __init__(self, epsilon: Number, delta: Number, delta_parts: Number = 0) -> None:
        eps, tail, parts = split_delta(epsilon, delta, delta_parts)
        object.__setattr__(self, "epsilon", eps)
        object.__setattr__(self, "delta", tail + parts)
        object.__setattr__(self, "delta_parts", parts)
        object.__setattr__(self, "cap", fz21.largest_rho(eps, tail / (1 - parts)))
        self._open(Cost(epsilon=Fraction(0), rho=Fraction(0)))

    @property
    def theorem(self) -> str:
        """That either account proves the total."""
        return "BEST-FILTER"

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
        rho, delta = priced_in_rho(self.theorem, request)
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
