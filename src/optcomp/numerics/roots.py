r"""One certified root finder, over a side that may be undecided.

The root is where something that falls as y grows passes a goal.  All that is known of it is a function `side`: for a
place y it *proves* that the root is not before y (`RIGHT`: keep looking to the right), or that it is not beyond y
(`LEFT`), or it proves neither (`UNDECIDED`).  Proofs come from balls or from counted rounding, so an answer of either
kind is final; an undecided place is no answer at all and never moves an end.  Hence

    low <= root <= high,   low the last place proved RIGHT (or the start), high the first one proved LEFT (or the end)

whatever places are looked at.  Where to look is a guess: proposals first, then bisection.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from fractions import Fraction
from typing import Any

from optcomp.numerics.exact_numbers import Exact

Place = Any
"""A float, or an exact ball (`arb` of radius zero)."""


class Side(Enum):
    """Where the root is, as seen from a place."""

    RIGHT = "the root is at this place or to the right of it"
    LEFT = "the root is at this place or to the left of it"
    UNDECIDED = "neither is proved"


_FARTHEST = 2.0**60
"""Beyond this place no root is looked for."""
_EDGE = 8
"""The edge of an undecided stretch is looked for until it is known to this part of the whole stretch."""


def side_of(difference: Any) -> Side:
    """From a ball around (value at the place) - goal, for a value that falls as the place moves right."""
    if difference >= 0:
        return Side.RIGHT
    return Side.LEFT if difference <= 0 else Side.UNDECIDED


def certified_root(
    side: Callable[[Place], Side],
    low: Place,
    high: Place,
    proposals: Iterable[Place] = (),
    middle: Callable[[Place, Place], Place | None] = lambda low, high: None,
    *,
    edges: bool = False,
) -> tuple[Place, Place]:
    """The ends between which the root is proved to lie; it must lie between `low` and `high` to begin with.

    `middle` gives a place strictly between two others, or None where they are close enough.  The edges of an undecided
    stretch are looked for roughly, or as long as `middle` has a place to offer.
    """
    search = _Search(low, high, edges)
    for place in proposals:
        if search.low <= place <= search.high:
            search.learn(place, side(place))
    while (next_place := search.place(middle)) is not None:
        search.learn(next_place, side(next_place))
    return search.low, search.high


class _Search:
    """What is proved so far, and the places between the ends that turned out undecided."""

    def __init__(self, low: Place, high: Place, edges: bool) -> None:
        self.low, self.high, self._edges = low, high, edges
        self._undecided: list[Place] = []

    def learn(self, place: Place, side: Side) -> None:
        """Move an end to a place that is proved; remember one that is not, as long as it lies between the ends."""
        if side is Side.RIGHT:
            self.low = place if place > self.low else self.low
        elif side is Side.LEFT:
            self.high = place if place < self.high else self.high
        else:
            self._undecided.append(place)
        if self.low > self.high:
            raise ArithmeticError(f"contradictory sides: the root is right of {self.low} and left of {self.high}")
        self._undecided = [known for known in self._undecided if self.low <= known <= self.high]

    def place(self, middle: Callable[[Place, Place], Place | None]) -> Place | None:
        """The next place to look at: between the ends, or at the edges of the undecided stretch."""
        if not self._undecided:
            return middle(self.low, self.high)
        first, last = min(self._undecided), max(self._undecided)
        stretch = self.high - self.low
        for before, after in ((self.low, first), (last, self.high)):
            if after > before and (self._edges or not (after - before) * _EDGE <= stretch):
                found = middle(before, after)
                if found is not None:
                    return found
        return None


def between_floats(low: float, high: float) -> float | None:
    """The float halfway between two that are not negative, counted in floats; None if they are neighbours."""
    first, last = _ordinal(low), _ordinal(high)
    return _float((first + last) // 2) if last - first > 1 else None


def _ordinal(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _float(ordinal: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", ordinal))[0])


def float_root(side: Callable[[float], Side]) -> tuple[float, float]:
    """The root between neighbouring floats, 0 at the least; further apart only where the side is undecided.

    Beyond the last place that was tried it may be anywhere: then the upper end is infinite.
    """
    low, high = certified_root(side, 0.0, math.inf, _doubling(side))
    return certified_root(side, low, high, (), between_floats) if math.isfinite(high) else (low, high)


def _doubling(side: Callable[[float], Side]) -> Iterator[float]:
    """0, 1, 2, 4, ... until the root is proved to lie before."""
    place = 0.0
    while place <= _FARTHEST:
        yield place
        if side(place) is Side.LEFT:
            return
        place = max(2 * place, 1.0)


def told_root(side: Callable[[Exact], Side]) -> tuple[float, float]:
    """`float_root` with ends that are true as decimals too, for people know a float by its shortest decimal."""
    low, high = float_root(side)
    if math.isfinite(high) and side(Fraction(repr(high))) is not Side.LEFT:
        high = math.nextafter(high, math.inf)
    if low > 0 and side(Fraction(repr(low))) is not Side.RIGHT:
        low = math.nextafter(low, 0.0)
    return low, high
