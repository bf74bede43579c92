r"""Few values of the coins, and Gaussian noise: every value with the closed form of the noise.

With C the sum of the coins and N_v the excess of Gaussian noise alone, which may be asked for at negative places too,

    F(y) = Σ_l P(C = l) N_v(y - l).

All terms are positive.  Sums of rational sizes are whole multiples of 1/grid, so equal values of C are recognised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb, ctx, fmpz

from optcomp.checker.balls import ball, working
from optcomp.checker.closed import normal_excess
from optcomp.checker.effort import looked
from optcomp.checker.instance import Coin, Instance, Range, Tell
from optcomp.checker.listing import grid_of, short_grid

MOST = 1 << 18
"""The most values that are added up."""
_BUILD, _EACH = 1e-6, 3e-5
"""Seconds for a value of the coins, and for the closed form at it."""
_LOOK = 1023  # a mask: progress is told every 1024 values


def cost(instance: Instance) -> float:
    """How many seconds it takes, roughly; infinite where there are too many values."""
    grid = short_grid(instance.coins)
    if grid is None:
        return math.inf
    values, end, build = 1.0, Fraction(0), 0.0
    for size, copies in instance.coins:
        build += _BUILD * values * (copies + 1)
        end += Fraction(size) * grid * copies  # values are two steps of the grid apart, at least
        values = min(values * (copies + 1), float(end) + 1 if end < MOST else math.inf)
        if values > MOST:
            return math.inf
    return build + _EACH * values


class Noisy:
    """The values of the coins with their probabilities, at the working precision; build once, ask at many y."""

    def __init__(self, instance: Instance, tell: Tell) -> None:
        self._grid, self._tell = grid_of(instance.coins), tell
        self._mu = instance.variance().sqrt()
        self._values = {0: arb(1)}
        for coin in instance.coins:
            self._add(coin)

    def _add(self, coin: Coin) -> None:
        unit = int(Fraction(coin.size) * self._grid)
        masses = _masses(coin)
        grown: dict[int, arb] = {}
        for place, mass in looked(self._values.items()):
            for high, share in enumerate(masses):
                there = place + unit * (2 * high - coin.copies)
                part = mass * share
                grown[there] = grown[there] + part if there in grown else part
        self._values = grown

    def excess(self, y: Fraction) -> Range:
        """F(y)."""
        total, middle = arb(0), ball(y)
        for number, (place, mass) in enumerate(looked(self._values.items())):
            total += mass * normal_excess(self._mu, middle - arb(fmpz(place)) / self._grid)
            if not number & _LOOK:
                self._tell("adding up", number / len(self._values))
        return Range(total, total)


def _masses(coin: Coin) -> Sequence[arb]:
    """P(J = 0), ..., P(J = k) for the number J of high coins."""
    with working(ctx.prec + 2 * coin.copies.bit_length()):
        odds = ball(coin.size).exp()
        masses = [(1 + odds) ** -coin.copies]
        for high in looked(range(coin.copies)):
            masses.append(masses[-1] * odds * (coin.copies - high) / (high + 1))
        return masses
