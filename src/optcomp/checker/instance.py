r"""The composition that a certificate is about, and the comparison its claim comes down to.

Each mechanism is a leaky randomized response: with probability δ_i everything leaks, else its loss is ±ε_i with
P(+ε_i) = e^{ε_i}/(1+e^{ε_i}).  With L the sum of the losses and F(y) = E(1 - e^{y-L})_+,

    δ(y) = 1 - (1 - F(y)) \prod(1 - δ_i),        so   δ(y) <= δ   if and only if   F(y) <= t,
    t(δ) = 1 - (1 - δ) / \prod(1 - δ_i).

Gaussian mechanisms add losses N(μ²/2, μ²), together N(v/2, v) with v = Σμ².  F is continuous, positive and strictly
decreasing below the largest loss, and zero from there on: Σε_i without Gaussian mechanisms, infinity with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from flint import arb, fmpz

from optcomp.checker.balls import LEAK_BITS, Exact, Group, Noise, ball, exact_sum, working
from optcomp.checker.effort import looked

_EXACT_BITS = 2_000_000  # bits of a product that is multiplied out, in a second
_MOST_BITS = 1 << 13  # here doubling ends: what is undecided then is a tie

Tell = Callable[[str, float], None]
"""Called with what is being done and the share done."""


class Coin(NamedTuple):
    """`copies` losses of plus or minus `size`."""

    size: Exact
    copies: int


class Range(NamedTuple):
    """Two balls: F(y) is at least what `low` and at most what `high` stands for."""

    low: arb
    high: arb


@dataclass(frozen=True)
class Instance:
    """Coins of distinct positive sizes, the smallest first, the distinct positive leaks, and Gaussian mechanisms."""

    coins: tuple[Coin, ...]
    leaks: tuple[tuple[Exact, int], ...]
    gaussians: tuple[Noise, ...] = ()

    @classmethod
    def of(cls, groups: Sequence[Group], gaussians: Sequence[Noise] = ()) -> Instance:
        """The composition of these mechanisms."""
        sizes: dict[Exact, int] = {}
        leaks: dict[Exact, int] = {}
        for eps, delta, copies in groups:
            if eps:
                sizes[eps] = sizes.get(eps, 0) + copies
            if delta:
                leaks[delta] = leaks.get(delta, 0) + copies
        coins = tuple(Coin(*coin) for coin in sorted(sizes.items()))
        return cls(coins, tuple(sorted(leaks.items())), tuple(gaussians))

    @cached_property
    def coin_total(self) -> Fraction:
        """Σε_i, exactly."""
        return exact_sum(self.coins)

    @property
    def total(self) -> Exact:
        """The largest loss, from which on F is zero: Σε_i, or infinity where there is Gaussian noise."""
        return math.inf if self.gaussians else self.coin_total

    def variance(self) -> arb:
        """v = Σμ² at the working precision."""
        return sum((copies * ball(mu) ** 2 for mu, copies in looked(self.gaussians)), arb(0))

    def target(self, delta: Exact, bits: int) -> arb:
        """t(δ) to about `bits` bits; exactly zero where that can be seen; a ball around zero where it cannot."""
        if not self.leaks:
            with working(bits):
                return ball(delta)
        precision = max(bits, LEAK_BITS)
        while True:
            with working(precision):
                kept = arb(0)
                for leak, copies in looked(self.leaks):
                    kept += copies * (-ball(leak)).log1p()
                t = -((-ball(delta)).log1p() - kept).expm1()
            if t < 0 or (t > 0 and t.rel_accuracy_bits() >= bits - 20) or precision >= _MOST_BITS:
                return t
            if not t > 0 and self._leaks_exactly(delta):
                return arb(0)
            precision *= 2

    def _leaks_exactly(self, delta: Exact) -> bool:
        r"""Whether 1 - δ = \prod(1 - δ_i), by exact arithmetic, where the product is not too long."""
        ratios = [(leak.as_integer_ratio(), copies) for leak, copies in self.leaks]
        if sum(bottom.bit_length() * copies for (_, bottom), copies in ratios) > _EXACT_BITS:
            return False
        top, bottom = delta.as_integer_ratio()
        kept = _product([fmpz(under - over) ** copies for (over, under), copies in ratios])
        whole = _product([fmpz(under) ** copies for (_, under), copies in ratios])
        return bool(kept * bottom == whole * (bottom - top))


def _product(factors: list[fmpz]) -> fmpz:
    """The product of long integers, in pairs."""
    while len(factors) > 1:
        factors = [math.prod(factors[place : place + 2], start=fmpz(1)) for place in range(0, len(factors), 2)]
    return factors[0]
