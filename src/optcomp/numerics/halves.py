r"""Meeting in the middle: two sorted lists of atoms stand for all their pairwise sums.

Coins (x_j, m_j), m_j copies of size x_j, are dealt into two halves; a half's atoms are its possible sums, prod(m_j+1)
of them instead of 2^{sum m_j}.  The tail sums of L = A + B above z are sums over A's atoms of suffix sums of B's.

This module decides the split and what it costs; `float_halves` and `ball_halves` carry it out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from optcomp.numerics.tally import Pair

_HOPELESS = 60.0  # log of the number of pairs beyond which no split is worth finding


def log_atoms(coins: Sequence[Pair], windowed: bool = False) -> float:
    """log of the number of atoms of a half; `windowed` counts only those of non-negligible probability."""
    return sum(math.log(min(m + 1, window(m)) if windowed else m + 1) for _, m in coins)


def window(m: int) -> float:
    """How many of the m + 1 values of a binomial law hold all but 2 e^-760 of it."""
    return 2 * math.sqrt(m * 380.0) + 4


def split(coins: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Two halves of nearly equal size; the copies of one size may be divided between them."""
    first: list[Pair] = []
    second: list[Pair] = []
    lead = 0.0  # by how much the first half is larger, in logs
    for coin in sorted(coins, key=lambda c: (c[1], c[0]), reverse=True):
        growth = math.log(coin[1] + 1)
        (first if lead <= 0 else second).append(coin)
        lead += growth if lead <= 0 else -growth
    return _rebalance(first, second) if lead >= 0 else _rebalance(second, first)


def _rebalance(big: list[Pair], small: list[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Move copies of the one size in the larger half that evens the two out best."""
    size_big, size_small = log_atoms(big), log_atoms(small)
    best, choice = size_big, None
    for place, (_, m) in enumerate(big):
        ratio = math.exp(min(size_big - size_small - math.log(m + 1), 700.0))
        moved = min(max(round((ratio * (m + 1) - 1) / (ratio + 1)), 0), m)
        larger = max(size_big + math.log((m - moved + 1) / (m + 1)), size_small + math.log(moved + 1))
        if larger < best - 1e-9:
            best, choice = larger, (place, moved)
    if choice is None:
        return big, small
    place, moved = choice
    x, m = big[place]
    rest = [*big[:place], *big[place + 1 :]]
    return ([*rest, (x, m - moved)] if m > moved else rest), [*small, (x, moved)]


def pairs_cost(coins: Sequence[Pair], windowed: bool = False) -> float:
    """Atoms to be listed when the coins are split: the memory and time of meeting in the middle."""
    total = len(coins) * math.log(2)
    if total <= _HOPELESS:
        total = log_atoms(coins, windowed)
    if total > _HOPELESS:
        return 2 * math.exp(min(total / 2, 700.0))  # at least
    return sum(math.exp(log_atoms(half, windowed)) for half in split(coins))
