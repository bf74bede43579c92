"""k equal mechanisms by the regularised incomplete beta function: exact at any k, also 10^9.

Pr[Bin(k, p) >= j] = I_p(j, k - j + 1), so with j the least number of high coins for which the loss exceeds y,
h(y) = I_p(j, k-j+1) - e^y I_{1-p}(j, k-j+1).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, fmpz

from tests.oracles.truth import Rational, Truth, real


class Equal(Truth):
    """k mechanisms, each (eps, delta)-DP."""

    def __init__(self, k: int, eps: Rational, delta: Rational = 0) -> None:
        super().__init__([(eps, delta, k)])
        self._k, self._eps = k, Fraction(eps)

    def excess(self, y: Fraction, bits: int) -> arb:
        """The two binomial tails above y."""
        high = math.floor((y / self._eps + self._k) / 2) + 1
        a, b = arb(fmpz(high)), arb(fmpz(self._k - high + 1))
        odds = real(self._eps).exp()
        return (odds / (1 + odds)).beta_lower(a, b, 1) - real(y).exp() * (1 / (1 + odds)).beta_lower(a, b, 1)
