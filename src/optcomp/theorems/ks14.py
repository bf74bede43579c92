r"""KS14, what (ε, δ) says about a guess: how sure a reader may become, and with what probability.

Let P and Q be the laws of a release about two neighbouring tables, and L = log P/Q the loss where P is the truth.  If
the release is (ε, rδ)-DP with 0 <= r < 1, then E(1 - e^{ε-L})_+ <= rδ.  Where L > y >= ε the bracket is more than
1 - e^{ε-y}, so by Markov's inequality P(L > y) <= rδ/(1 - e^{ε-y}).  Hence

    P(L > y) <= δ   for   y = ε + log 1/(1 - r).

Who gave both tables 1/2 before believes in the true one with 1/(1 + e^{-L}) afterwards.  With r = 1, which is all that
(ε, δ) by itself gives, there is no such y.  The same holds for whoever sees only a part of the release, or does not
know the other rows, because (ε, rδ)-DP holds for that too; P(L > y) itself may grow when less is seen.
"""

from __future__ import annotations

import math
from fractions import Fraction

from optcomp.errors import InvalidInput
from optcomp.guarantees import ApproxDP
from optcomp.numerics import SUM_BITS, Exact, ball, float_up, precision

ID = "KS14"
_MOST = 10_000
"""A loss beyond which a float cannot tell the posterior from 1."""


def loss_at(guarantee: ApproxDP, probability: Exact) -> float:
    """A y that the loss exceeds with at most this probability, rounded up; infinite if (ε, δ) gives none."""
    ratio = Fraction(0) if not guarantee.delta else _ratio(guarantee.delta, probability)
    if ratio >= 1:
        return math.inf
    with precision(SUM_BITS):
        return float_up(ball(guarantee.epsilon) - (-ball(ratio)).log1p())


def posterior(loss: float) -> float:
    """1/(1 + e^{-y}), rounded up: the belief in the truth at this loss, if it was 1/2 before."""
    if loss > _MOST:
        return 1.0
    with precision(SUM_BITS):
        return min(1.0, float_up(1 / (1 + (-ball(loss)).exp())))


def _ratio(delta: Exact, probability: Exact) -> Fraction:
    if probability < 0:
        raise InvalidInput("probability", probability, "must not be negative")
    return Fraction(delta) / Fraction(probability) if probability else Fraction(1)
