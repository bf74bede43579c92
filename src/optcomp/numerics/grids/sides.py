"""F(y) from above and from below: the sum on the grid, moved by its slip, and what the rests add."""

from __future__ import annotations

import math
from collections.abc import Callable

from optcomp.numerics.blocked import LIBM, U
from optcomp.numerics.grids.beyond import Beyond
from optcomp.numerics.grids.grid_curve import GridCurve, Kernel
from optcomp.numerics.grids.grid_sum import Counted, GridSum, Kept, log_masses
from optcomp.numerics.grids.guess import Setting

_LOOKS = 2
"""For about a root: what it leaves open takes no more than one look of a search."""


def summed(
    laws: Counted, h: float, setting: Setting, *, long: bool, kernel: Kernel | None = None, kept: Kept | None = None
) -> GridSum | None:
    """The sum for a setting, with a period that is a power of two of places; None if a law has no mass on the grid.

    With a kernel it has one window for all places; what is kept of the laws is not computed again.
    """
    if not all(law.masses.any() for law, _ in laws):
        return None
    others = [log_masses(laws, h, c, kept) for c in dict.fromkeys(setting.others)]
    if kernel is not None:
        return GridCurve(laws, kernel, others, kept=kept)
    return GridSum(laws, h, setting.tilt, setting.places(h), others, long=long, kept=kept)


class Above:
    """F from above."""

    def __init__(
        self,
        laws: Counted,
        h: float,
        setting: Setting,
        *,
        long: bool,
        kernel: Kernel | None = None,
        kept: Kept | None = None,
    ) -> None:
        self.sum, self._beyond = summed(laws, h, setting, long=long, kernel=kernel, kept=kept), Beyond(laws)

    def log(self, y: float) -> float:
        """At least log F(y)."""
        value = self.sum.sides(y - self.sum.slip * (1 + 4 * U) - 2 * U * abs(y))[1] if self.sum else -math.inf
        rest = self._beyond.most(y)
        return _sum_of_logs(value, _log(rest, +1), +1)

    def near(self, y: float, log_t: float) -> float:
        """About the root of log F = log t, from y: a guess."""
        return _near(self.sum, +1, self._beyond.most, y, log_t)

    def rounding(self, y: float) -> float:
        """About how far round-off moves log F(y)."""
        return self.sum.noise(y) * math.exp(min(self.sum.sides(y)[1] - self.log(y), 0.0)) if self.sum else 0.0


class Below:
    """F from below."""

    def __init__(
        self,
        laws: Counted,
        h: float,
        setting: Setting,
        *,
        long: bool,
        kernel: Kernel | None = None,
        kept: Kept | None = None,
    ) -> None:
        self._sum, self._beyond = summed(laws, h, setting, long=long, kernel=kernel, kept=kept), Beyond(laws)

    def log(self, y: float) -> float:
        """At most log F(y)."""
        value = self._sum.sides(y + self._sum.slip * (1 + 4 * U) + 2 * U * abs(y))[0] if self._sum else -math.inf
        rest = self._beyond.least(y)
        return _sum_of_logs(value, _log(rest, -1), -1)

    def near(self, y: float, log_t: float) -> float:
        """About the root of log F = log t, from y: a guess."""
        return _near(self._sum, -1, self._beyond.least, y, log_t)


class Both:
    """F from above and from below by one sum: of the larger law, and of what is left of it where masses are smaller."""

    def __init__(self, laws: Counted, lower: Counted, h: float, setting: Setting, *, loss: float, long: bool) -> None:
        """`loss` is at least the log of the larger law over the lower one, for all copies together."""
        self._above, self._loss, self._under = Above(laws, h, setting, long=long), loss, Beyond(lower)

    def most(self, y: float) -> float:
        """At least log F(y)."""
        return self._above.log(y)

    def least(self, y: float) -> float:
        """At most log F(y)."""
        sums = self._above.sum
        if sums is None:
            return -math.inf
        value = sums.sides(y + sums.slip * (1 + 4 * U) + 2 * U * abs(y))[0]
        value -= self._loss + 2 * U * abs(value)
        return _sum_of_logs(value, _log(self._under.least(y), -1), -1)

    def near(self, y: float, log_t: float) -> float:
        """About the root of log F = log t, from y: a guess."""
        return self._above.sum.near(y, log_t) if self._above.sum else y


def _near(sums: GridSum | None, side: int, rest: Callable[[float], float], y: float, log_t: float) -> float:
    """About where what the grid adds to the rest is t."""
    for _ in range(_LOOKS if sums else 0):  # the rest is that of the place before
        left = math.exp(log_t) - rest(y)
        if sums and left > 0:
            y = sums.near(y, math.log(left)) + side * sums.slip
    return y


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
