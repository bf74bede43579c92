"""One Rényi order as a filter (FZ21).  The proof is in docs/filters.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import InvalidInput
from optcomp.guarantees import RenyiDP, mechanism_epsilon
from optcomp.interactive.filters.admission import Filter, unaccountable
from optcomp.interactive.filters.caps import root_down, split_delta
from optcomp.interactive.filters.cost import Cost, kept
from optcomp.interactive.filters.requests import Request, divergence
from optcomp.numerics import Number, exact
from optcomp.theorems import fz21

_LEAST_ORDER, _MOST_ORDER = 1 + 2.0**-40, 2.0**40
"""Orders that floats tell apart from 1, and that no bound is asked for beyond."""


@dataclass(frozen=True, init=False, repr=False)
class RenyiFilter(Filter):
    """Rényi divergence of one fixed order as a filter: ΣD_α <= ε (FZ21).

    Knows every mechanism by its exact loss at that order, subsampled ones too.
    """

    order: Fraction
    epsilon: Fraction

    kind = "renyi"
    ways = (("divergence",),)
    takes = "pure ε-DP, ρ-zCDP, noise whose loss is known, and a Rényi divergence of its own order"

    def __init__(self, order: Number, epsilon: Number) -> None:
        object.__setattr__(self, "order", checked_order(order))
        object.__setattr__(self, "epsilon", kept(mechanism_epsilon(epsilon), "epsilon"))
        self._open(Cost(divergence=Fraction(0)))

    @classmethod
    def within(cls, epsilon: Number, delta: Number, order: Number | None = None) -> RenyiFilter:
        """The largest budget at an order that is (ε, δ)-DP in the end, by CKS20.

        Without an order the one that is best for many small requests.
        """
        eps, tail, _ = split_delta(epsilon, delta, 0)
        alpha = fz21.best_order(eps, tail) if order is None else float(cls(order, 0).order)
        budget = fz21.renyi_budget(alpha, eps, tail)
        if budget <= 0:
            raise InvalidInput("order", alpha, f"proves nothing for epsilon = {epsilon} and delta = {delta}")
        return cls(alpha, budget)

    @property
    def measure(self) -> str:
        """The order, too."""
        return f"{self.kind} of order {self.order}"

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


def checked_order(value: Number, argument: str = "order") -> Fraction:
    """An order at which divergences can be asked for."""
    alpha = Fraction(exact(value, argument))
    if not _LEAST_ORDER <= alpha <= _MOST_ORDER or Fraction(float(alpha)) != alpha:
        raise InvalidInput(argument, value, "must be greater than 1, at most 2**40 and, exactly, a float")
    return alpha
