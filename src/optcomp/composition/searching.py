"""Where something stops to fit, on a logarithmic scale: between a number that fits and one that does not.

Only whether a number fits decides.  By how much it does proposes the next one: a straight line, or a parabola, through
the logs of costs against the logs of numbers.  Where that does not help, because costs jump or are not known, the
interval is halved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

LEAST, MOST = 1e-9, 1e15
"""Where numbers are looked for if no ends are given: beyond lies no noise, ε, rate or count that anybody asks for."""
_DOUBLINGS = 120
"""More than lie between those two."""
_JUMPS, _LONGEST = 6, math.log(1024)
"""Steps towards a predicted place, and how far one goes; after that numbers are doubled and halved."""
_BEYOND = 0.05
"""The part of such a step that is added, so as to end on the other side."""
_NEAR = 0.02
"""How far beyond the predicted place the next number is, in distances of that place from the nearest known one."""
_INSIDE = 0.35
"""The same at the end, in tolerances: two such numbers are close enough."""
_PATIENCE, _LIMIT = 2, 3
"""Looks that may pass before the interval is half as long; and how often it may take longer, before lines are left."""


@dataclass(frozen=True)
class Look:
    """Whether a number fits, and about the log of its cost over what may be spent; infinite where that is not known."""

    fits: bool
    log_ratio: float


class Search:
    """A search among all numbers, or among whole ones."""

    def __init__(self, look: Callable[[float], Look], whole: bool) -> None:
        self._look, self._whole = look, whole
        self._known: dict[float, Look] = {}
        self._drawn = self._halved = 0

    @property
    def method(self) -> str:
        """How the interval was made small: by lines, by halving, or by both."""
        if not self._halved:
            return "secant"
        return "secant and bisection" if self._drawn else "bisection"

    def bracket(self, low: float | None, high: float | None) -> tuple[float, float] | None:
        """One number that fits and one that does not, starting from the ends or from 1; None if there are none."""
        least = low if low is not None else (1.0 if self._whole else LEAST)
        most = high if high is not None else MOST
        start = low if low is not None else high if high is not None else 1.0
        fits = self._fits(start)
        numbers = _outwards(start, least, most, self._whole)
        for number in self._tried(numbers, least, most):
            if self._fits(number) != fits:
                ends = min(start, number), max(start, number)
                alike = [x for x, look in self._known.items() if look.fits == fits and ends[0] <= x <= ends[1]]
                nearest = min(alike, key=lambda x: abs(math.log(x / number)))
                return (nearest, number) if fits else (number, nearest)
        return None

    def narrowed(self, good: float, bad: float, rtol: float) -> tuple[float, float]:
        """Two numbers as close as that, or neighbours, of which the first fits and the second does not."""
        slow, since, length = 0, 0, _distance(good, bad)
        while not self._close(good, bad, rtol):
            halving = slow >= _LIMIT or since >= _PATIENCE
            number = None if halving else self._proposed(good, bad, rtol)
            if number is None:
                number = self._between(good, bad)
                self._halved += 1
            else:
                self._drawn += 1
            if number in (good, bad):
                break
            good, bad = (number, bad) if self._fits(number) else (good, number)
            since += 1
            if _distance(good, bad) <= 0.5 * length:
                slow, since, length = slow + halving, 0, _distance(good, bad)
        return good, bad

    def _fits(self, number: float) -> bool:
        if number not in self._known:
            self._known[number] = self._look(number)
        return self._known[number].fits

    def _points(self) -> list[tuple[float, float]]:
        """The logs of numbers and of their costs, where both are finite, as they were looked at."""
        looks = ((x, look.log_ratio) for x, look in self._known.items())
        return [(math.log(x), log) for x, log in looks if math.isfinite(log)]

    def _tried(self, numbers: Sequence[float], least: float, most: float) -> Iterator[float]:
        """Numbers further and further away; as soon as two costs are known, those that a line leads to first."""
        lines = True
        for number in numbers:
            yield number
            if lines and len(self._points()) > 1:
                yield from self._towards(least, most)
                lines = False

    def _towards(self, least: float, most: float) -> Iterator[float]:
        """Numbers in the direction in which costs come closer to what may be spent, as far as a line tells."""
        for _ in range(_JUMPS):
            (before, cost), (here, now) = self._points()[-2:]
            if now == cost or not math.isfinite([*self._known.values()][-1].log_ratio):
                return
            step = (1 + _BEYOND) * now * (here - before) / (cost - now)
            number = min(max(math.exp(here + min(max(step, -_LONGEST), _LONGEST)), least), most)
            if self._whole:
                number = float(math.ceil(number) if step > 0 else math.floor(number))
            if number in self._known:
                return
            yield number

    def _proposed(self, good: float, bad: float, rtol: float) -> float | None:
        """A little beyond where costs seem to be what may be spent, on the side that is known less well."""
        ends = [(math.log(x), self._known[x].log_ratio) for x in (good, bad)]
        if not all(math.isfinite(log) for _, log in ends):
            return None
        place = _crossing(ends, self._points())
        near, far = sorted((x for x, _ in ends), key=lambda x: abs(x - place))
        side = math.copysign(1.0, far - near)
        number = math.exp(place + side * max(_INSIDE * rtol, _NEAR * abs(place - near)))
        if self._whole:
            number = float(math.floor(number) + 1 if side > 0 else math.ceil(number) - 1)
            number = min(max(number, min(good, bad) + 1), max(good, bad) - 1)
        return number if min(good, bad) < number < max(good, bad) else None

    def _between(self, good: float, bad: float) -> float:
        if self._whole:
            return float((int(good) + int(bad)) // 2)
        return math.sqrt(good) * math.sqrt(bad)

    def _close(self, good: float, bad: float, rtol: float) -> bool:
        return abs(good - bad) <= (1 if self._whole else rtol * min(good, bad))


def _distance(one: float, other: float) -> float:
    return abs(math.log(one / other))


def _crossing(ends: Sequence[tuple[float, float]], points: Sequence[tuple[float, float]]) -> float:
    """About where costs are what may be spent: by a parabola through the last point too, if that lies between."""
    (a, f), (b, g) = ends
    straight = a - f * (b - a) / (g - f) if f != g else 0.5 * (a + b)
    for c, h in reversed(points):
        if len({f, g, h}) == 3 and c not in (a, b):
            curved = a * g * h / ((f - g) * (f - h)) + b * f * h / ((g - f) * (g - h)) + c * f * g / ((h - f) * (h - g))
            return curved if min(a, b) < curved < max(a, b) else straight
    return straight


def _outwards(start: float, least: float, most: float, whole: bool) -> list[float]:
    """Numbers further and further away from the start, within the limits."""
    numbers: list[float] = []
    up = down = start
    for _ in range(_DOUBLINGS):
        up, down = min(2 * up, most), max(down / 2, least)
        if whole:
            up, down = float(math.floor(up)), float(math.ceil(down))
        numbers += [number for number in (up, down) if number not in (start, *numbers[-2:])]
        if up >= most and down <= least:
            break
    return numbers
