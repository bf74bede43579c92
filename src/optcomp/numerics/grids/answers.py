"""Brackets that grids give, and how a root is found between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

LOOKS, NEAR = 40, 1e-13
"""Looks for a root, and how near its two ends are to come, relatively."""
NOTHING = 1e-13
"""An ε that nobody can tell from 0."""


@dataclass(frozen=True)
class Found:
    """lower <= the answer <= upper; how fine the grid was, and whether it ended before the aim was reached.

    Without a grid `places` are the nodes of an integral.
    """

    lower: float
    upper: float
    places: int
    capped: bool
    gridded: bool = True


class Way(Protocol):
    """A way to the answers for some laws."""

    def root(self, log_t: tuple[float, float], rtol: float, work: float, known: float = 0.0) -> Found | None:
        """The y >= 0 with F(y) = t."""

    def excess(self, y: float, rtol: float, work: float) -> Found | None:
        """log F(y)."""


def given_up(best: Found | None) -> Found | None:
    """What is known when no finer grid can be made."""
    return None if best is None else replace(best, capped=True)


def meet(one: Found | None, other: Found) -> Found:
    """What both say."""
    if one is None:
        return other
    return Found(max(one.lower, other.lower), min(one.upper, other.upper), other.places, False)


def root(log: Callable[[float], float], goal: float, y: float, tilt: float, side: int, near: float = NEAR) -> float:
    """Where log F, which falls, passes the goal: the end behind it (side 1) or before it (side -1), each proved.

    Infinite if no place behind it was found, 0 if there is none before it.  By secants, each a little too long.
    """
    low, high, at_low, at_high = 0.0, math.inf, math.nan, math.nan
    slope, before = -tilt, (math.nan, math.nan)
    for _ in range(LOOKS):
        value = log(y) - goal
        if value >= 0:
            low, at_low = y, value
        else:
            high, at_high = y, value
        if y == 0 and value <= 0:
            return 0.0
        if math.isfinite(high) and high - low <= max(near * high, NOTHING):
            break
        steep = (value - before[1]) / (y - before[0]) if y != before[0] else math.nan
        slope, before = (steep if -math.inf < steep < 0 else slope), (y, value)
        after = y - value / slope if math.isfinite(value) else math.nan
        spare = 0.02 * abs(after - y) + near / 3 * y
        after += spare if value >= 0 else -spare
        if math.isfinite(at_low + at_high) and math.isfinite(high):
            after = low + (high - low) * min(max(at_low / (at_low - at_high), 0.0), 1.0)
            after += (spare if side > 0 else -spare) if abs(after - y) < 10 * near * y else 0.0
        if not low < after < high:
            after = 2 * y + 1 / tilt if math.isinf(high) else 0.5 * (low + high)
        if after - low < near * 0.5 * after and low > 0:
            after = low + near * after
        if high - after < near * 0.5 * after:
            after = max(high - near * after, 0.5 * (low + high))
        y = after if after > 1e-300 else 0.0
    if side > 0 and high <= NOTHING and log(0.0) <= goal:
        return 0.0
    return high if side > 0 else low
