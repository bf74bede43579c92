"""The inverse of composition: the parameter that just fits a budget, never beyond it.

`calibrate` asks for whatever a function makes of a number: noise, an ε per query, a sampling rate, a number of rounds.
Privacy must get steadily better or steadily worse as the number grows; which of the two is found out.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from optcomp.composition.entry import compose
from optcomp.composition.reading import Items
from optcomp.errors import InvalidGuarantee, InvalidInput, NotAffordable
from optcomp.guarantees import checked_delta, checked_epsilon
from optcomp.numerics import Number, exact
from optcomp.theorems import Bound

_LEAST, _MOST = 1e-9, 1e15
"""Where numbers are looked for if no ends are given: beyond lies no noise, ε, rate or count that anybody asks for."""
_DOUBLINGS = 120
"""More than lie between those two."""


class Calibrated(float):
    """The number found.  `bound` proves that it is within the budget; `other` is the nearest number that was not."""

    bound: Bound
    other: float

    def __new__(cls, value: float, bound: Bound, other: float) -> Calibrated:
        """A float that remembers its proof."""
        number = super().__new__(cls, value)
        number.bound, number.other = bound, other
        return number


def calibrate(
    build: Callable[[float], Items],
    *,
    epsilon: Number,
    delta: Number,
    low: float | None = None,
    high: float | None = None,
    whole: bool = False,
    rtol: float = 1e-6,
    method: str = "auto",
) -> Calibrated:
    """The least noise, or the most of anything else, for which `build(number)` costs at most (epsilon, delta).

    The answer is always within the budget, and within `rtol` (relatively) of a number that is not.  `low` and `high`
    limit the search; `whole=True` looks among whole numbers, for counts.
    """
    search = _Search(build, epsilon, delta, whole, method)
    ends = _checked_end(low, "low", whole), _checked_end(high, "high", whole)
    if ends[0] is not None and ends[1] is not None and not ends[0] < ends[1]:
        raise InvalidInput("low", low, f"must be below high = {high}")
    width = float(exact(rtol, "rtol"))
    if not 0 < width < 1:
        raise InvalidInput("rtol", rtol, "must lie between 0 and 1")
    return search.run(ends, width)


class _Search:
    """Bracketing, then bisection on a logarithmic scale."""

    def __init__(
        self, build: Callable[[float], Items], epsilon: Number, delta: Number, whole: bool, method: str
    ) -> None:
        if not callable(build):
            raise InvalidInput("build", build, "must be a function from a number to a list of mechanisms")
        self._build, self._whole, self._method = build, whole, method
        self._epsilon, self._delta = checked_epsilon(epsilon), checked_delta(delta)
        self._known: dict[float, Bound | None] = {}

    def run(self, ends: tuple[float | None, float | None], rtol: float) -> Calibrated:
        """A number within the budget next to one that is not."""
        good, bad = self._bracket(ends)
        while not self._close(good, bad, rtol):
            middle = self._between(good, bad)
            if middle in (good, bad):
                break
            good, bad = (middle, bad) if self._fits(middle) else (good, middle)
        bound = self._known[good]
        assert bound is not None
        return Calibrated(good, bound, bad)

    def _fits(self, number: float) -> bool:
        """Whether the proved cost is within the budget; a number that makes no mechanism does not fit."""
        if number not in self._known:
            try:
                parts = self._build(int(number) if self._whole else number)
                self._known[number] = compose(parts, delta=self._delta, method=self._method)
            except (InvalidGuarantee, NotAffordable):
                self._known[number] = None
        bound = self._known[number]
        return bound is not None and bound.upper <= self._epsilon

    def _bracket(self, ends: tuple[float | None, float | None]) -> tuple[float, float]:
        """One number that fits and one that does not, starting from the ends or from 1."""
        low, high = ends
        start = low if low is not None else high if high is not None else 1.0
        fits = self._fits(start)
        for number in _outwards(start, low, high, self._whole):
            if self._fits(number) != fits:
                return (start, number) if fits else (number, start)
        limits = f"between {low if low is not None else 'any'} and {high if high is not None else 'any'}"
        if fits:
            raise InvalidInput("epsilon", float(self._epsilon), f"every number {limits} that was tried is within it")
        raise InvalidInput("epsilon", float(self._epsilon), f"no number {limits} that was tried is within it")

    def _between(self, good: float, bad: float) -> float:
        if self._whole:
            return float((int(good) + int(bad)) // 2)
        return math.sqrt(good) * math.sqrt(bad)

    def _close(self, good: float, bad: float, rtol: float) -> bool:
        return abs(good - bad) <= (1 if self._whole else rtol * min(good, bad))


def _outwards(start: float, low: float | None, high: float | None, whole: bool) -> list[float]:
    """Numbers further and further away from the start, within the limits."""
    least = low if low is not None else (1.0 if whole else _LEAST)
    most = high if high is not None else _MOST
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


def _checked_end(value: float | None, argument: str, whole: bool) -> float | None:
    if value is None:
        return None
    number = float(exact(value, argument))
    if not number > 0 or (whole and number != int(number)):
        raise InvalidInput(argument, value, "must be positive" + (" and whole" if whole else ""))
    return number
