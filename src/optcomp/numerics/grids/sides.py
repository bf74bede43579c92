"""F(y) from above and from below: the sum on the grid, moved by its slip, and what the rests add."""

from __future__ import annotations

import math

from optcomp.numerics.blocked import LIBM, U
from optcomp.numerics.grids.beyond import Beyond
from optcomp.numerics.grids.grid_curve import GridCurve, Kernel
from optcomp.numerics.grids.grid_sum import Chernoff, Counted, GridSum, log_masses
from optcomp.numerics.grids.guess import Setting


def summed(laws: Counted, h: float, setting: Setting, *, long: bool) -> GridSum | None:
    """The sum for a setting, with a period that is a power of two of places; None if a law has no mass on the grid."""
    if not all(law.masses.any() for law, _ in laws):
        return None
    return GridSum(laws, h, setting.tilt, setting.places(h), _chernoffs(laws, h, setting), long=long)


def curved(laws: Counted, kernel: Kernel, setting: Setting) -> GridSum | None:
    """The same with one window for all places."""
    if not all(law.masses.any() for law, _ in laws):
        return None
    return GridCurve(laws, kernel, _chernoffs(laws, kernel.h, setting))


def _chernoffs(laws: Counted, h: float, setting: Setting) -> list[Chernoff]:
    return [log_masses(laws, h, c) for c in dict.fromkeys(setting.others)]


class Above:
    """F from above."""

    def __init__(self, laws: Counted, made: GridSum | None) -> None:
        self._sum, self._beyond = made, Beyond(laws)

    def log(self, y: float) -> float:
        """At least log F(y)."""
        value = self._sum.sides(y - self._sum.slip * (1 + 4 * U) - 2 * U * abs(y))[1] if self._sum else -math.inf
        rest = self._beyond.most(y)
        return _sum_of_logs(value, _log(rest, +1), +1)

    def rounding(self, y: float) -> float:
        """About how far round-off moves log F(y)."""
        return self._sum.noise(y) * math.exp(min(self._sum.sides(y)[1] - self.log(y), 0.0)) if self._sum else 0.0


class Below:
    """F from below."""

    def __init__(self, laws: Counted, made: GridSum | None) -> None:
        self._sum, self._beyond = made, Beyond(laws)

    def log(self, y: float) -> float:
        """At most log F(y)."""
        value = self._sum.sides(y + self._sum.slip * (1 + 4 * U) + 2 * U * abs(y))[0] if self._sum else -math.inf
        rest = self._beyond.least(y)
        return _sum_of_logs(value, _log(rest, -1), -1)


def _log(value: float, direction: int) -> float:
    """The log, rounded in a direction."""
    if not value:
        return -math.inf
    log = math.log(value)
    return log + direction * (LIBM + 2) * U * abs(log)


def _sum_of_logs(one: float, two: float, direction: int) -> float:
    """log(e^one + e^two), rounded in a direction.

    e^{low-high} <= 1 is within (LIBM + |low-high|)u of itself, and x e^{-x} < 1/2; log1p is within LIBM u of at most 1.
    """
    high, low = max(one, two), min(one, two)
    if low == -math.inf:
        return high
    value = high + math.log1p(math.exp(low - high))
    return value + direction * U * (2 * LIBM + 4) * (abs(value) + abs(high) + 1)
