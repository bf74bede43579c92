"""(ε, δ)-differential privacy: P(E) <= e^ε Q(E) + δ for all events E and neighbouring data sets, both ways.

A guarantee is plain data: frozen, hashable, checked when made.  Parameters keep the exact value they were given: a
float is its dyadic value, a string, Decimal, int or Fraction its rational value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from optcomp.errors import InvalidGuarantee, Written
from optcomp.numerics import Exact, Number, exact


@runtime_checkable
class Guarantee(Protocol):
    """Anything that promises (epsilon, delta)-differential privacy."""

    @property
    def epsilon(self) -> Exact:
        """The multiplicative loss, at least 0."""

    @property
    def delta(self) -> Exact:
        """The additive loss, in [0, 1)."""


LEAST_EPSILON, MOST_EPSILON = 1e-100, 1e12
"""An ε outside this range is a mistake: it promises everything or nothing."""


def mechanism_epsilon(value: object, argument: str = "epsilon") -> Exact:
    """The ε of a mechanism: zero, or a number within reason."""
    number = checked_epsilon(value, argument)
    if number and not LEAST_EPSILON <= number <= MOST_EPSILON:
        raise InvalidGuarantee(argument, value, f"must be 0 or between {LEAST_EPSILON:g} and {MOST_EPSILON:g}")
    return number


def checked_epsilon(value: object, argument: str = "epsilon") -> Exact:
    """A finite number at or above zero."""
    number = exact(value, argument, InvalidGuarantee)
    if number < 0:
        raise InvalidGuarantee(argument, value, "must not be negative")
    return number + 0  # turns -0.0 into 0.0


def checked_delta(value: object, argument: str = "delta") -> Exact:
    """A number in [0, 1)."""
    number = exact(value, argument, InvalidGuarantee)
    if not 0 <= number < 1:
        raise InvalidGuarantee(argument, value, "must be at least 0 and less than 1")
    return number + 0


@dataclass(frozen=True, slots=True, repr=False)
class PureDP(Written):
    """Pure differential privacy: no output is more than e^ε times likelier for one person's data than without it.

    The same as (ε, 0)-differential privacy.
    """

    epsilon: Exact

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", mechanism_epsilon(epsilon))

    @property
    def delta(self) -> Exact:
        """Always 0."""
        return 0.0


@dataclass(frozen=True, slots=True, repr=False)
class ApproxDP(Written):
    """Approximate differential privacy: no event becomes more than e^ε times as likely, give or take δ.

    P(E) <= e^ε Q(E) + δ for every event E.
    """

    epsilon: Exact
    delta: Exact

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", mechanism_epsilon(epsilon))
        object.__setattr__(self, "delta", checked_delta(delta))
