"""Concentrated privacy as a filter (FZ21, WRRW23).  The proof is in docs/filters.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import InvalidInput
from optcomp.guarantees import ZCDP, ApproxZCDP, checked_delta
from optcomp.interactive.filters.admission import Filter
from optcomp.interactive.filters.caps import priced_in_rho, root_down, split_delta
from optcomp.interactive.filters.cost import Cost, kept
from optcomp.interactive.filters.requests import Request
from optcomp.numerics import Number
from optcomp.theorems import fz21, wrrw23


@dataclass(frozen=True, init=False, repr=False)
class ZCDPFilter(Filter):
    """Concentrated privacy as a filter: Σρ_i <= ρ, and Σδ_i <= δ where requests hold with probability 1 - δ_i (FZ21).

    A pure ε costs ε²/2, so many small requests cost little.  The total is ρ-zCDP, or δ-approximate ρ-zCDP.
    """

    rho: Fraction
    delta: Fraction

    kind = "zcdp"
    ways = (("rho", "delta"),)
    takes = "ρ-zCDP, Gaussian noise and (ε, δ)-DP"

    def __init__(self, rho: Number, delta: Number = 0) -> None:
        object.__setattr__(self, "rho", kept(ZCDP(rho).rho, "rho"))
        object.__setattr__(self, "delta", kept(checked_delta(delta), "delta"))
        self._open(Cost(rho=Fraction(0)))

    @classmethod
    def within(cls, epsilon: Number, delta: Number, delta_parts: Number = 0) -> ZCDPFilter:
        """The largest ρ that is (ε, δ)-DP in the end, by CKS20; `delta_parts` of δ is kept for requests with a δ_i."""
        eps, tail, parts = split_delta(epsilon, delta, delta_parts)
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
        rho, delta = priced_in_rho(self.theorem, request)
        return Cost(rho=rho, delta=delta)

    def parameters(self) -> dict[str, str]:
        """ρ and δ."""
        return {"rho": str(self.rho), "delta": str(self.delta)}

    def _largest(self) -> Fraction:
        return root_down(2 * self._left("rho"))
