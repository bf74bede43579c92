"""Mechanisms with a known privacy loss: more than an (ε, δ) pair, so their composition can be tighter.

The privacy loss of a pair of neighbouring data sets is L = log(P(output)/Q(output)), the output drawn under P.  For
each mechanism here one pair, or one for each direction, is the worst for every ε: it dominates all others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache

from optcomp.errors import InvalidGuarantee, Written
from optcomp.guarantees.loss import PrivacyLoss
from optcomp.guarantees.neighbours import Neighbours
from optcomp.numerics import Exact, exact
from optcomp.numerics.laws import Law


class KnownLoss(Written, ABC):
    """Anything whose privacy loss is known exactly."""

    @property
    @abstractmethod
    def laws(self) -> tuple[Law, ...]:
        """The law of the loss when a person's data are removed and, if it differs, when they are added."""

    @property
    def neighbours(self) -> Neighbours | None:
        """Which neighbours it is about; None where the sensitivity alone says what neighbours can change."""
        return None

    @property
    def attained(self) -> KnownLoss:
        """A mechanism whose loss some two neighbouring tables have: this one, unless its law is only an upper bound."""
        return self

    @property
    def pure(self) -> Exact | None:
        """The ε of its pure guarantee, if it has one."""
        return None

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss: mean, variance, distribution function, hockey-stick and trade-off curves."""
        return PrivacyLoss(self.laws)


@lru_cache(maxsize=4096)
def kept(maker: type[Law], *arguments: object) -> Law:
    """A law made once for each set of parameters: it remembers what is costly about itself."""
    return maker(*arguments)


LEAST_RATIO, MOST_RATIO = 1e-6, 1e3
"""Sensitivity over noise: outside this range a mechanism is a mistake."""
_LIMITS = Fraction(LEAST_RATIO), Fraction(MOST_RATIO)
"""The same as fractions: comparing one with a float makes a fraction of the float each time."""


def positive(value: object, argument: str) -> Exact:
    """A finite number above zero."""
    number = exact(value, argument, InvalidGuarantee)
    if not number > 0:
        raise InvalidGuarantee(argument, value, "must be positive")
    return number


def within_reason(ratio: Exact, argument: str, value: object) -> Exact:
    """A ratio of sensitivity to noise that the engine can work with."""
    least, most = (LEAST_RATIO, MOST_RATIO) if isinstance(ratio, float) else _LIMITS
    if not least <= ratio <= most:
        size, limits = "large" if ratio > 1 else "small", f"[{LEAST_RATIO:g}, {MOST_RATIO:g}]"
        raise InvalidGuarantee(argument, value, f"makes sensitivity/noise too {size}: it must lie in {limits}")
    return ratio
