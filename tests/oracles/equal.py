"""k equal mechanisms by the regularised incomplete beta function: exact at any k, also 10^9.

Pr[Bin(k, p) >= j] = I_p(j, k - j + 1), so with j the least number of high coins for which the loss exceeds y,
h(y) = I_p(j, k-j+1) - e^y I_{1-p}(j, k-j+1).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx, fmpz

from tests.oracles.truth import Rational, Truth, real


class Equal(Truth):
    """k mechanisms, each (eps, delta)-DP."""

    def __init__(self, k: int, eps: Rational, delta: Rational = 0) -> None:
        super().__init__([(eps, delta, k)])
        self._k, self._eps = k, Fraction(eps)
        self._known: dict[tuple[int, int], tuple[arb, arb]] = {}

    def excess(self, y: Fraction, bits: int) -> arb:
        """The two binomial tails above y, which the two ends of a bracket mostly share."""
        high = math.floor((y / self._eps + self._k) / 2) + 1
        if (high, ctx.prec) not in self._known:
            self._known[high, ctx.prec] = self._tails(high)
        above, damped = self._known[high, ctx.prec]
        return above - real(y).exp() * damped

    def _tails(self, high: int) -> tuple[arb, arb]:
        a, b = arb(fmpz(high)), arb(fmpz(self._k - high + 1))
        odds = real(self._eps).exp()
        return (odds / (1 + odds)).beta_lower(a, b, 1), (1 / (1 + odds)).beta_lower(a, b, 1)
