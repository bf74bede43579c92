"""Basic composition as a filter (RRUV16).  The proof is in docs/filters.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from optcomp.guarantees import ApproxDP, checked_delta, mechanism_epsilon
from optcomp.interactive.filters.admission import Filter, unaccountable
from optcomp.interactive.filters.cost import Cost, kept
from optcomp.interactive.filters.requests import Request, pair
from optcomp.numerics import Number


@dataclass(frozen=True, init=False, repr=False)
class SumFilter(Filter):
    """Basic composition as a filter: Σε_i <= ε and Σδ_i <= δ (RRUV16).

    The right one for a few requests, and the only one that promises pure differential privacy.
    """

    epsilon: Fraction
    delta: Fraction

    kind = "sum"
    ways = (("epsilon", "delta"),)
    takes = "(ε, δ)-DP"

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
