r"""The privacy loss as people look at it: numbers and curves, each safe to publish.

δ(ε)  = sup over events of P(E) - e^ε Q(E) = E(1 - e^{ε-L})_+        the hockey-stick curve, rounded up
f(α)  = least type II error of a test of level α                     the trade-off curve (f-DP), rounded down
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from optcomp.errors import InvalidInput
from optcomp.numerics import SUM_BITS, Exact, ball, exact, float_down, float_up, precision
from optcomp.numerics.laws import Law

_ROUNDS = 90  # thirds of an interval of 20000, to 1e-12: and every t proves a bound
_STEEPEST = 1e4  # t of the steepest slope e^t that is looked at: beyond, a curve is a corner


class PrivacyLoss:
    """The loss of one mechanism; where the two directions differ, the worse one counts."""

    def __init__(self, laws: Sequence[Law], infinite: Exact = 0.0) -> None:
        self._laws = tuple(laws)
        self._leak = infinite

    @property
    def infinite(self) -> float:
        """The probability that everything is revealed: an infinite loss."""
        return float(self._leak)

    @property
    def directions(self) -> tuple[PrivacyLoss, ...]:
        """One loss, or one for removing and one for adding a person."""
        return tuple(PrivacyLoss((law,), self._leak) for law in self._laws)

    @property
    def most(self) -> float:
        """The largest finite loss; infinite if there is none."""
        return max(law.most for law in self._laws)

    @property
    def mean(self) -> float:
        """E L of the finite part, in the direction in which it is larger."""
        with precision(SUM_BITS):
            return max(float(law.mean().mid()) for law in self._laws)

    @property
    def variance(self) -> float:
        """Var L of the finite part, in the direction in which it is larger."""
        with precision(SUM_BITS):
            return max(float(law.variance().mid()) for law in self._laws)

    def cdf(self, x: float) -> float:
        """P(L <= x), in the first direction."""
        place = _number(x, "x")
        with precision(SUM_BITS):
            return float(((1 - self._laws[0].tail(place)) * (1 - ball(self._leak))).mid())

    def delta(self, epsilon: float) -> float:
        """The hockey-stick curve δ(ε), rounded up."""
        place = _number(epsilon, "epsilon")
        with precision(SUM_BITS):
            leak = ball(self._leak)
            finite = [law.excess(place).max(arb(0)) for law in self._laws]
            return min(max(float_up(leak + (1 - leak) * value) for value in finite), 1.0)

    def tradeoff(self, alpha: float) -> float:
        """The trade-off curve f(α), rounded down: no test of level α has a smaller type II error.

        f(α) = sup over t of 1 - δ(t) - e^t α, so every t gives a bound that holds.
        """
        level = _number(alpha, "alpha")
        if not 0 <= level <= 1:
            raise InvalidInput("alpha", alpha, "must lie in [0, 1]")
        return min(self._tradeoff(law, level) for law in self._laws)

    def _tradeoff(self, law: Law, level: float) -> float:
        def value(t: float) -> float:
            with precision(SUM_BITS):
                return float_down((1 - ball(self._leak)) * (1 - law.excess(t)) - arb(level) * arb(t).exp())

        low, high = -_STEEPEST, _STEEPEST
        for _ in range(_ROUNDS):  # concave in e^t, so unimodal in t: about 0 far left, far below 0 far right
            left, right = low + (high - low) / 3, high - (high - low) / 3
            if -1 < value(right) >= value(left):
                low = left
            else:
                high = right
        return max(value(0.5 * (low + high)), value(low), value(high), 0.0)


def _number(value: object, argument: str) -> float:
    return float(exact(value, argument))
