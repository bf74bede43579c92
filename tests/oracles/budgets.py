"""Budgets in plain fractions: what a ledger must hold after everything that happened, by adding up."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

GRID = 10**30
"""Amounts are rounded up to multiples of its inverse when they enter a ledger."""
FULL = 2**62
"""The guard of a budget that is all spent."""
ZERO = Fraction(0)


def entered(amount: Fraction) -> Fraction:
    """An amount as a ledger debits it."""
    return Fraction(-(-amount.numerator * GRID // amount.denominator), GRID)


@dataclass
class Request:
    """One key of a holder."""

    form: Any
    answered: bool = False
    told: Any = None
    """What was revealed; None as long as nobody has seen it."""


@dataclass(eq=False)
class Holder:
    """An account or a session: Σε <= ε; or, where there is a cap of ρ, Σε <= ε or Σε²/2 <= ρ."""

    name: str
    epsilon: Fraction
    rho_cap: Fraction | None = None
    account: Holder | None = None
    """The account of a session."""
    slot: str | None = None
    spent: Fraction = ZERO
    rho: Fraction = ZERO
    admitted: int = 0
    recorded: Fraction = ZERO
    """Σε of everything that was ever entered in an account."""
    open: bool = True
    requests: dict[str, Request] = field(default_factory=dict)
    sessions: dict[str, Holder] = field(default_factory=dict)

    @property
    def is_account(self) -> bool:
        return self.account is None

    def fits(self, eps: Fraction) -> bool:
        """Whether a pure request of this ε is within what is left."""
        return self.share(entered(eps), entered(eps * eps / 2)) <= 1

    def share(self, eps: Fraction = ZERO, rho: Fraction = ZERO) -> Fraction:
        """How much of the budget is used, after so much more."""
        pure = (self.spent + eps) / self.epsilon
        return pure if self.rho_cap is None else min(pure, (self.rho + rho) / self.rho_cap)

    def pay(self, eps: Fraction) -> None:
        self.spent += entered(eps)
        self.rho += entered(eps * eps / 2)
        self.recorded += entered(eps)
        self.admitted += 1

    @property
    def guard(self) -> int:
        share = self.share()
        return FULL * share.numerator // share.denominator

    def admits(self, eps: Fraction) -> bool:
        """Whether a request of this ε would be debited."""
        return self.open and self.fits(eps)

    def all(self) -> list[Holder]:
        """Itself and everything inside."""
        return [self, *(inner for session in self.sessions.values() for inner in session.all())]


@dataclass
class Slot:
    """A share of a batch."""

    epsilon: Fraction
    account: str
    state: str = "free"
