"""What is asked: ε at a total δ, or δ at a total ε, of mechanisms with fixed or adaptive parameters."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import optcomp as oc
from optcomp.cli.failures import Complaint
from optcomp.cli.writing.wording import explained, with_given
from optcomp.composition import proves
from optcomp.reading import MechanismCounts, plain
from optcomp.theorems import Parameters


@dataclass(frozen=True)
class SoughtTotal:
    """Exactly one of `delta` and `epsilon`, as the person wrote it."""

    delta: str | None = None
    epsilon: str | None = None
    parameters: Parameters = "fixed"

    def __post_init__(self) -> None:
        if (self.delta is None) == (self.epsilon is None):
            raise Complaint("give exactly one of --delta and --epsilon")
        plain(self.given, "--delta" if self.delta is not None else "--epsilon")

    @property
    def given(self) -> str:
        """The number that was given."""
        return self.delta if self.delta is not None else str(self.epsilon)

    @property
    def sought(self) -> str:
        """The symbol of what is computed."""
        return "ε" if self.delta is not None else "δ"

    @property
    def condition(self) -> str:
        """The given side as people read it."""
        return f"δ = {self.delta}" if self.delta is not None else f"ε = {self.epsilon}"

    def compose(
        self,
        counts: MechanismCounts,
        method: str = "auto",
        rtol: float | None = None,
        eta: str | None = None,
        bits: int | None = None,
    ) -> oc.Bound:
        """The library's answer."""
        try:
            return oc.compose(
                counts,
                delta=self.delta,
                epsilon=self.epsilon,
                method=method,
                rtol=rtol,
                eta=eta,
                bits=bits,
                parameters=self.parameters,
            )
        except oc.NotAffordable as error:
            raise Complaint(with_given(explained(error), bits=bits, eta=eta)) from None

    def basic(self, counts: MechanismCounts) -> oc.Bound | None:
        """What basic composition says; nothing where a mechanism has no (ε, δ) of its own."""
        try:
            return self.compose(counts, "basic")
        except oc.HypothesisNotMet:
            return None

    def proves(self, counts: MechanismCounts, bound: oc.Bound, value: Decimal) -> bool:
        """Whether the library also proves this value, by asking it the other way round."""
        return proves(counts, bound, value, parameters=self.parameters)

    def compare(self, counts: MechanismCounts) -> list[oc.Bound]:
        """The answer of every theorem that applies."""
        return oc.compare(counts, delta=self.delta, epsilon=self.epsilon, parameters=self.parameters)
