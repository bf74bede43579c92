r"""The privacy loss as people look at it: numbers and curves, each safe to publish.

δ(ε)  = sup over events of P(E) - e^ε Q(E) = E(1 - e^{ε-L})_+        the hockey-stick curve, rounded up
f(α)  = least type II error of a test of level α                     the trade-off curve (f-DP), rounded down
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from optcomp.errors import InvalidInput
from optcomp.numerics.balls import float_down, float_up, precision
from optcomp.numerics.exact import exact
from optcomp.numerics.laws.law import Law

_BITS = 96
_ROUNDS = 80


class PrivacyLoss:
    """The loss of one mechanism; where the two directions differ, the worse one counts."""

    def __init__(self, laws: Sequence[Law], infinite: float = 0.0) -> None:
        self._laws = tuple(laws)
        self.infinite = infinite
        """The probability that everything is revealed: an infinite loss."""

    @property
    def directions(self) -> tuple[PrivacyLoss, ...]:
        """One loss, or one for removing and one for adding a person."""
        return tuple(PrivacyLoss((law,), self.infinite) for law in self._laws)

    @property
    def most(self) -> float:
        """The largest finite loss; infinite if there is none."""
        return max(law.most for law in self._laws)

    @property
    def mean(self) -> float:
        """E L of the finite part, in the direction in which it is larger."""
        with precision(_BITS):
            return max(float(law.mean().mid()) for law in self._laws)

    @property
    def variance(self) -> float:
        """Var L of the finite part, in the direction in which it is larger."""
        with precision(_BITS):
            return max(float(law.variance().mid()) for law in self._laws)

    def cdf(self, x: float) -> float:
        """P(L <= x), in the first direction."""
        place = _number(x, "x")
        with precision(_BITS):
            return float(((1 - self._laws[0].tail(place)) * (1 - self.infinite)).mid())

    def delta(self, epsilon: float) -> float:
        """The hockey-stick curve δ(ε), rounded up."""
        place = _number(epsilon, "epsilon")
        with precision(_BITS):
            finite = max(float_up(law.excess(place)) for law in self._laws)
        return min(
            max(self.infinite + (1 - self.infinite) * max(finite, 0.0), 0.0) * (1 + (1e-15 if self.infinite else 0)),
            1.0,
        )

    def tradeoff(self, alpha: float) -> float:
        """The trade-off curve f(α), rounded down: no test of level α has a smaller type II error.

        f(α) = sup over t of 1 - δ(t) - e^t α, so every t gives a bound that holds.
        """
        level = _number(alpha, "alpha")
        if not 0 <= level <= 1:
            raise InvalidInput("alpha", alpha, "must lie in [0, 1]")
        return min(self._tradeoff(law, level) for law in self._laws)

    def _tradeoff(self, law: Law, level: float) -> float:
        kept = 1 - self.infinite

        def value(t: float) -> float:
            with precision(_BITS):
                finite = law.excess(t)
                return float_down(kept * (1 - finite) - level * _exp(t))

        low, high = -60.0, 60.0
        for _ in range(_ROUNDS):  # concave in e^t, so unimodal in t
            left, right = low + (high - low) / 3, high - (high - low) / 3
            if value(left) < value(right):
                low = left
            else:
                high = right
        return max(value(0.5 * (low + high)), value(low), value(high), 0.0)


def _exp(t: float) -> float:
    """e^t, rounded up."""
    return math.exp(t) * (1 + 1e-15)


def _number(value: object, argument: str) -> float:
    return float(exact(value, argument))
