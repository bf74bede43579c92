r"""Few values of L: all of them, met in the middle, at exact places.

Coins with rational sizes have sums that are whole multiples of 1/grid: places are integers, so which atoms lie above
y is decided exactly.  An atom at l with n patterns of signs has probability n e^{l/2}/Z, Z = \prod(e^{ε/2}+e^{-ε/2}).
The coins are split into three parts; with tails of the last one as running sums over its places from the top,

    F(y) = (1/Z) Σ_o Σ_a n_o n_a ( e^{(o+a)/2} U(y-o-a) - e^y e^{-(o+a)/2} D(y-o-a) ),
    U(z) = Σ_{b>z} n_b e^{b/2},     D(z) = Σ_{b>z} n_b e^{-b/2}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb, fmpz

from optcomp.checker.balls import ball
from optcomp.checker.effort import look, looked
from optcomp.checker.instance import Coin, Instance, Range, Tell

HALF = 1 << 19
"""The most places of one part that is held in memory."""
_OUTER = 1 << 6  # patterns of the coins that are left to a loop
_GRID_BITS = 3000  # a finer grid makes places too long to be compared quickly
_WAYS_SIZE = 1 << 31  # of the numbers of patterns of all places of a part: a quarter of a gigabyte
_LOOK = 63  # a mask: the time that is left is looked at every 64 places
_BUILD, _COMBINE = 7e-6, 1e-6
"""Seconds for an atom of a half, and for a meeting of two."""

Places = dict[int, int]
"""How many patterns of signs lead to each place."""


def cost(instance: Instance) -> float:
    """How many seconds it takes, roughly; infinite where memory or the grid forbids it."""
    parts = split(instance.coins)
    sizes = [math.prod(coin.copies + 1.0 for coin in part) for part in parts]
    if max(sizes[1:]) > HALF or sizes[0] > _OUTER or short_grid(instance.coins) is None:
        return math.inf
    if max(sizes) * sum(coin.copies for coin in instance.coins) > _WAYS_SIZE:
        return math.inf
    return (_BUILD + _COMBINE * sizes[0]) * (sizes[1] + sizes[2])


def split(coins: Sequence[Coin]) -> tuple[list[Coin], list[Coin], list[Coin]]:
    """A small outer part and two halves of about equally many atoms."""
    halves: tuple[list[Coin], list[Coin]] = ([], [])
    counts, outer = [1.0, 1.0], []
    for coin in sorted(coins, key=lambda coin: -coin.copies):
        smaller = 0 if counts[0] <= counts[1] else 1
        if counts[smaller] * (coin.copies + 1) <= HALF:
            halves[smaller].append(coin)
            counts[smaller] *= coin.copies + 1
        else:
            outer.append(coin)
    return outer, *halves


def grid_of(coins: Sequence[Coin]) -> int:
    """The least number of which every size is a whole multiple of the inverse."""
    return math.lcm(1, *(size.as_integer_ratio()[1] for size, _ in coins))


def short_grid(coins: Sequence[Coin]) -> int | None:
    """The same if it is not too long."""
    grid = 1
    for size, _ in coins:
        grid = math.lcm(grid, size.as_integer_ratio()[1])
        if grid.bit_length() > _GRID_BITS:
            return None
    return grid


class Listing:
    """The atoms of an instance at the working precision; build once, ask at many y."""

    def __init__(self, instance: Instance, tell: Tell) -> None:
        self._grid, self._tell = grid_of(instance.coins), tell
        self._outer, first, second = (self._places(part) for part in split(instance.coins))
        norm = arb(0)
        for size, copies in instance.coins:
            norm += copies * (ball(size) / 2 + (-ball(size)).exp().log1p())
        self._scale = (-norm).exp()
        self._first = sorted(first)
        self._up, self._down = self._weights(self._first, first)
        self._second = sorted(second, reverse=True)
        up, down = self._weights(self._second, second)
        self._tail_up, self._tail_down = _running(up), _running(down)

    def _places(self, coins: Sequence[Coin]) -> Places:
        places = {0: 1}
        for size, copies in coins:
            unit = int(Fraction(size) * self._grid)
            moves = [(unit * (2 * high - copies), math.comb(copies, high)) for high in range(copies + 1)]
            grown: Places = {}
            for place, ways in looked(places.items()):
                for move, choices in moves:
                    grown[place + move] = grown.get(place + move, 0) + ways * choices
            places = grown
        return places

    def _weights(self, order: Sequence[int], places: Places) -> tuple[list[arb], list[arb]]:
        """n e^{l/2} and n e^{-l/2} for each place."""
        half = ball(Fraction(1, 2 * self._grid))
        up, down = [], []
        for number, place in enumerate(order):
            if not number & _LOOK:
                look()
            height = (arb(fmpz(place)) * half).exp()
            ways = places[place]
            up.append(height if ways == 1 else height * ways)
            down.append(ways / height)
            if not number & 0xFFFF:
                self._tell("listing", 0.5 * number / len(order))
        return up, down

    def excess(self, y: Fraction) -> Range:
        """F(y)."""
        level, rise = math.floor(y * self._grid), ball(y).exp()
        up, down = arb(0), arb(0)
        half = ball(Fraction(1, 2 * self._grid))
        for place, ways in self._outer.items():
            height = (arb(fmpz(place)) * half).exp()
            part_up, part_down = self._above(level - place)
            up += ways * height * part_up
            down += ways / height * part_down
        value = self._scale * (up - rise * down)
        return Range(value, value)

    def _above(self, level: int) -> tuple[arb, arb]:
        """The sums over all pairs of places that add up to more than `level`."""
        up, down, above, second = arb(0), arb(0), 0, self._second
        last = len(second)
        for number, place in enumerate(self._first):
            if not number & _LOOK:
                look()
            rest = level - place
            while above < last and second[above] > rest:
                above += 1
            if above:
                up += self._up[number] * self._tail_up[above]
                down += self._down[number] * self._tail_down[above]
            if not number & 0xFFFF:
                self._tell("adding up", 0.5 + 0.5 * number / len(self._first))
        return up, down


def _running(terms: Sequence[arb]) -> list[arb]:
    """0, the first, the first two, ... added up."""
    sums, total = [arb(0)], arb(0)
    for term in terms:
        total = total + term
        sums.append(total)
    return sums
