"""The rate of advanced composition as a filter (WRRW23).  The proof is in docs/filters.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from optcomp.guarantees import ApproxDP
from optcomp.interactive.filters.admission import Filter
from optcomp.interactive.filters.caps import priced_in_rho, root_down, split_delta
from optcomp.interactive.filters.cost import Cost
from optcomp.interactive.filters.requests import Request
from optcomp.numerics import Number
from optcomp.theorems import wrrw23


@dataclass(frozen=True, init=False, repr=False)
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
    takes = "ρ-zCDP, Gaussian noise and (ε, δ)-DP"

    def __init__(self, epsilon: Number, delta: Number, delta_parts: Number = 0) -> None:
        eps, tail, parts = split_delta(epsilon, delta, delta_parts)
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
        rho, delta = priced_in_rho(self.theorem, request)
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
