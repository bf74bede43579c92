r"""Where to put a contour for a sum of laws, how far apart its nodes, how many of them: guesses, and any is sound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optcomp.checker.balls import GUESS_BITS, near, working
from optcomp.checker.effort import looked
from optcomp.checker.guess import Floats, short
from optcomp.checker.laws import Spotted, TooMuch
from optcomp.checker.sums.total import Total

_RIGHT: Floats = 10 ** np.linspace(-5, 6, 240)
_BETWEEN: Floats = -1 / (1 + np.exp(np.linspace(-12, 12, 121)))
_OFFSETS: Floats = 10 ** np.linspace(-4, 4, 120)
"""How far from c exponents for the aliases are looked for, in units of 1 + c; the nearest that does is taken."""
_LONGEST = 1e7  # a longer period has too many nodes
_REFINED = 41  # places between two neighbours of a grid
_MOST_NODES = 1 << 20  # of a rule: about a minute
_MOST_SWEPT = 1 << 30  # of a rule most of whose nodes are left out
_GROWTH = 1.06  # of a period, and of the end of the nodes, from one look to the next


@dataclass(frozen=True)
class Plan:
    """A contour, its period Λ, exponents for the aliases on either side, what may be neglected, and the last node.

    The tolerance is the logarithm of what may be neglected, in units of M(c) e^{-cy}.
    """

    c: float
    period: float
    below: float
    above: float
    log_tolerance: float
    size: float
    """About the largest of the numbers whose differences count, for the precision."""


class Sketch:
    """A sum of laws in floats."""

    def __init__(self, total: Total) -> None:
        self._total = total
        with working(GUESS_BITS):
            self.variance = near(total.variance())
            self._clouds = [(law.cloud(), copies) for law, copies in looked(total.laws)]

    def cumulants(self, tilts: Floats, extra: float = 0.0) -> tuple[Floats, Floats, Floats]:
        """K, K' and K'' at each tilt, with this much more normal variance."""
        variance = self.variance + extra
        found = [variance * tilts * (tilts + 1) / 2, variance * (tilts + 0.5), variance + 0 * tilts]
        for cloud, copies in looked(self._clouds):
            for place, part in enumerate(cloud.cumulants(tilts)):
                found[place] = found[place] + copies * part
        return found[0], found[1], found[2]

    def mean(self) -> float:
        """K'(0)."""
        return float(self.cumulants(np.array([0.0]))[1][0])

    def contour(self, y: float, extra: float = 0.0, right: bool = False) -> float:
        """To the right of both poles where F is small, or if that is asked for; between them where it is large."""
        grid = _RIGHT if right or y >= self.mean() else _BETWEEN
        for _ in range(3):
            values = self.cumulants(grid, extra)[0] - grid * y - np.log(np.abs(grid) * (1 + grid))
            best = int(np.nanargmin(values))
            grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)], _REFINED)
        return short(float(grid[_REFINED // 2]))

    def log_excess(self, y: float) -> float:
        """About log F(y)."""
        c = self.contour(y, right=True)
        k, _, spread = (float(part[0]) for part in self.cumulants(np.array([c])))
        return k - c * y + _log_share(c, spread)

    def plan(self, y: float, bits: float, width: float = 0.0, right: bool = False) -> Plan:
        """For `bits` correct bits of F, or of F smoothed by this width."""
        extra = width**2
        c = self.contour(y, extra, right)
        k, _, curvature = (float(part[0]) for part in self.cumulants(np.array([c]), extra))
        log_tolerance = _log_share(c, curvature) - bits * math.log(2)
        period, below, above = self._period(c, y, k, curvature, extra, log_tolerance)
        return Plan(c, period, below, above, log_tolerance, 1 + abs(k) + abs(c * y))

    def _period(
        self, c: float, y: float, k: float, curvature: float, extra: float, log_tolerance: float
    ) -> tuple[float, float, float]:
        room = (1 + abs(c)) * _OFFSETS
        tilts = np.concatenate([c - room, c + room])
        sizes = self.cumulants(tilts, extra)[0] - tilts * y - (k - c * y)
        away, count = np.concatenate([room, room]), room.size
        period = 4 * math.sqrt(curvature) + 1e-9
        while period < _LONGEST:
            fits = sizes - away * period < log_tolerance - 1
            if fits[:count].any() and fits[count:].any():
                below, above = int(np.argmax(fits[:count])), count + int(np.argmax(fits[count:]))
                return period, short(float(tilts[below])), short(float(tilts[above]))
            period *= _GROWTH
        raise TooMuch

    def end(self, plan: Plan, width: float = 0.0) -> float:
        """From where on the nodes may be neglected."""
        theta, variance = 2 * math.pi / plan.period, self.variance + width**2
        most = _MOST_SWEPT if any(isinstance(law, Spotted) for law, _ in self._total.laws) else _MOST_NODES
        while theta * plan.period / (2 * math.pi) < most:
            log_fade = -variance * theta**2 / 2 - math.log(math.pi * theta)
            for law, copies in looked(self._total.laws):
                log_fade += copies * math.log(max(law.fade_guess(plan.c, theta), 1e-300))
            if log_fade < plan.log_tolerance - 1:
                return theta
            theta *= _GROWTH
        raise TooMuch


def _log_share(c: float, curvature: float) -> float:
    """About log F in units of M(c) e^{-cy}, or of 1 - F between the poles."""
    spread = curvature + 1 / c**2 + 1 / (1 + c) ** 2
    return -math.log(abs(c) * (1 + c)) - 0.5 * math.log(2 * math.pi * spread)
