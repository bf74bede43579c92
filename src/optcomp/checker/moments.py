r"""Σ log cosh(ε_i z) for very many coins: by bins of neighbouring sizes and their power sums.

For b at most β = 5/4 away from πZ, |tanh(a+ib)| <= max(1, |tan b|) <= tan β.  Let μ + x, |x| <= h, be the sizes of one
bin and R = (β - dist(Im μz, πZ))/|z| > h.  On the disc |x| <= R, Im (μ+x)z stays within β of πZ, so log cosh((μ+x)z)
is analytic there and differs from log cosh(μz) by at most B = R|z| tan β.  Cauchy's estimate bounds its coefficients
f_r in x by B/R^r for r >= 1, hence

    | Σ_i m_i log cosh(ε_i z) - Σ_{r<d} f_r S_r |  <=  S_0 B ρ^d/(1-ρ),     ρ = h/R,   S_r = Σ_i m_i (ε_i - μ)^r.

The coefficients follow from u = tanh((μ+x)z): f' = z u and u' = z(1 - u²).  Which branch of the logarithm is taken
does not matter, because sums are used only under exp and S_0 is a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from flint import acb, arb

from optcomp.checker.balls import ball, near, spread
from optcomp.checker.effort import looked
from optcomp.checker.instance import Coin

TERMS = 9  # a ratio of 1/50 to the ninth is below 1e-15
_BINS = 600  # bins at most: as many as there may be coins without bins
_TOGETHER = 25
"""Coins in a bin on average, unless there would be too many bins."""
_REACH = 1.25  # β: how near to iπ/2 the discs come
_FINE = 0.02  # ratio of a bin's half-width to its disc from which the expansion is used


@dataclass(frozen=True)
class Bin:
    """Coins of neighbouring sizes: their middle, the greatest distance from it, and the power sums S_0, S_1, ..."""

    middle: arb
    reach: arb
    sums: tuple[arb, ...]
    coins: Sequence[Coin]

    def log_cosh(self, z: acb) -> acb | None:
        """Σ m log cosh(ε z) over the bin, or None where the expansion is no good."""
        place, pi = self.middle * z, arb.pi()
        turn = abs(place.imag - pi * round(near(place.imag) / math.pi))
        room = _REACH - turn
        if not self.reach * z.abs_upper() < room * _FINE:
            return None
        share = self.reach * z.abs_upper() / room
        error = self.sums[0] * room * arb(_REACH).tan() * share**TERMS / (1 - share)
        total = place.cosh().log() * self.sums[0]
        tanh = [place.tanh()]
        for order in range(1, TERMS):
            total += z * tanh[-1] / order * self.sums[order]
            square = acb(0)
            for left in range(order):
                square += tanh[left] * tanh[order - 1 - left]
            tanh.append(z * ((1 if order == 1 else 0) - square) / order)
        return total + acb(spread(error), spread(error))


def bins(coins: Sequence[Coin]) -> list[Bin]:
    """The coins in bins whose sizes differ by some constant factor at most, at the working precision."""
    logs = np.log(np.array([float(coin.size) for coin in coins]))
    width = max((logs[-1] - logs[0]) / min(_BINS, max(8, len(coins) // _TOGETHER)), 1e-12)
    cuts = np.flatnonzero(np.diff(np.floor((logs - logs[0]) / width))) + 1
    edges = [0, *cuts.tolist(), len(coins)]
    return [_bin(coins[first:last]) for first, last in pairwise(edges)]


def _bin(coins: Sequence[Coin]) -> Bin:
    middle = arb((float(coins[0].size) + float(coins[-1].size)) / 2)
    sums = [arb(0)] * TERMS
    for size, copies in looked(coins):
        offset, power = ball(size) - middle, arb(copies)
        for order in range(TERMS):
            sums[order] = sums[order] + power
            power = power * offset
    ends = [abs(ball(coin.size) - middle) for coin in (coins[0], coins[-1])]
    return Bin(middle, ends[0].max(ends[1]), tuple(sums), coins)


def direct(coins: Sequence[Coin], z: acb) -> acb:
    """The same sum, coin by coin."""
    total = acb(0)
    for size, copies in looked(coins):
        total += copies * (ball(size) * z).cosh().log()
    return total
