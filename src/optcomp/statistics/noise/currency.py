"""What noise is paid in: ε, or ρ of zero-concentrated privacy.

An *amount* is what the planner moves: ε, or √(2ρ).  The scale of the noise is in proportion to its inverse.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import Written
from optcomp.guarantees import ZCDP, ApproxDP, Exponential, PureDP
from optcomp.numerics import Exact

AnswerCost = PureDP | ApproxDP | ZCDP | Exponential
"""A guarantee that an answer spends."""


@dataclass(frozen=True, repr=False)
class Allowance(Written):
    """What may be spent on a statistic: ε, or ρ, or (ε, δ)."""

    epsilon: Exact | None = None
    delta: Exact | None = None
    rho: Exact | None = None

    @property
    def asked(self) -> str:
        """The argument that says how much."""
        return "rho" if self.epsilon is None else "epsilon"

    @property
    def whole_epsilon(self) -> Fraction:
        """ε for all parts together."""
        return Fraction(self.epsilon or 0)

    @property
    def whole_rho(self) -> Fraction:
        """ρ for all parts together; with ε and δ the largest one that they allow (CKS20)."""
        if self.rho is not None:
            return Fraction(self.rho)
        from optcomp.theorems import fz21  # a plan is read without a theorem

        return fz21.largest_rho(self.whole_epsilon, Fraction(self.delta or 0))


class Currency(ABC):
    """What a kind of noise is paid in."""

    __slots__ = ()
    name: str
    """The entry of a plan or a release that holds a budget."""
    pure: bool
    """Whether a budget bounds the loss by itself, without δ."""
    least_amount: float
    """Amounts below are of no use: the noise could not be drawn."""

    @abstractmethod
    def amount(self, budget: Fraction) -> float:
        """What the planner moves."""

    @abstractmethod
    def budget_at(self, amount: float) -> float:
        """The budget with this amount."""

    @abstractmethod
    def noise_at(self, budget: float) -> float:
        """How large noise is, relative to that at a budget of 1."""

    @abstractmethod
    def allowance(self, budget: Fraction) -> Allowance:
        """A budget as a question takes it."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class InEpsilon(Currency):
    """ε."""

    __slots__ = ()
    name, pure, least_amount = "epsilon", True, 1e-9

    def amount(self, budget: Fraction) -> float:
        """ε."""
        return float(budget)

    def budget_at(self, amount: float) -> float:
        """ε."""
        return amount

    def noise_at(self, budget: float) -> float:
        """1/ε."""
        return 1 / budget

    def allowance(self, budget: Fraction) -> Allowance:
        """ε."""
        return Allowance(epsilon=budget)


class InRho(Currency):
    """ρ."""

    __slots__ = ()
    name, pure, least_amount = "rho", False, 2e-6

    def amount(self, budget: Fraction) -> float:
        """√(2ρ)."""
        return math.sqrt(2 * budget)

    def budget_at(self, amount: float) -> float:
        """ρ."""
        return amount * amount / 2

    def noise_at(self, budget: float) -> float:
        """1/√ρ."""
        return 1 / math.sqrt(budget)

    def allowance(self, budget: Fraction) -> Allowance:
        """ρ."""
        return Allowance(rho=budget)


EPSILON, RHO = InEpsilon(), InRho()
"""Each once: they hold nothing."""
