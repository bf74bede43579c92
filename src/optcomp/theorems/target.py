"""What is asked: one of ε and δ is given, the other is sought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from optcomp.numerics import Exact

Quantity = Literal["epsilon", "delta"]
"""What is asked for: ε at a given δ, or δ at a given ε."""
_Way = TypeVar("_Way")


@dataclass(frozen=True)
class Target:
    """`quantity` is sought, at the value `given` of the other one."""

    quantity: Quantity
    given: Exact

    def pick(self, for_epsilon: _Way, for_delta: _Way) -> _Way:
        """Whichever of the two belongs to what is sought."""
        return for_epsilon if self.quantity == "epsilon" else for_delta
