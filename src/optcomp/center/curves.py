"""Curves of the public calculator: totals over the number of mechanisms, over δ and over ε.

Points are computed from coarse to fine until the time is used up, so a slow list has fewer points and never none of the
answer.  Every point is a proved bound.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, TypeVar

from optcomp.center.calculations import Asked, Document, asked_of
from optcomp.composition import growing, shown_down, shown_up
from optcomp.errors import OptcompError, PrecisionNotReached
from optcomp.reading import MechanismCounts
from optcomp.theorems import Bound, theorem

Place = TypeVar("Place")
METHODS = ("auto", "renyi", "kov", "strong", "advanced", "basic")
"""Quick enough to be asked dozens of times; the first is the best there is."""
_POINTS = 13
"""Of a curve at most: more would not be told apart, and its table would be long."""
_USUAL = -6
"""The power of ten of a usual δ."""
_BELOW, _ABOVE = 6, 5
"""Powers of ten below and above a given δ."""
_LEAST = -290
"""The least power of ten that is drawn: floats end soon below it."""
_ROOM = Decimal("1.25")
"""How far the curve over ε goes beyond the answer."""
_END = Decimal(10)
"""Where the curve over ε ends if there is no finite ε."""
_SLOW, _COARSE = 0.05, 1e-3
"""If the answer took so many seconds, points of curves are proved to this relative width only: nobody sees more."""
_DIGITS = 6
"""Significant digits in the tables."""


@dataclass(frozen=True)
class Clock:
    """Until when a curve is worked on, and how long a point is likely to take."""

    until: float
    cost: float

    def allows(self, cost: float = 0.0) -> bool:
        """Whether there is time for another point, when one took so long so far."""
        return time.monotonic() + (cost or self.cost) <= self.until


def curves(given: Mapping[str, Any], seconds: float, cost: float = 0.0) -> Document:
    """All three, within about this time; `cost` is what the answer took."""
    asked = asked_of(given)
    started = time.monotonic()
    return {name: draw(asked, Clock(started + seconds * share, cost)) for name, (draw, share) in _CURVES.items()}


def _over_k(asked: Asked, clock: Clock) -> Document:
    """The total of ever more of the mechanisms."""

    def at(part: MechanismCounts) -> dict[str, Bound]:
        return _answers(lambda method, rtol: asked.bound(part, None, method, rtol), clock)

    steps = list(growing(asked.counts, _POINTS))
    sizes = [(f"{sum(part.values()):,}", float(sum(part.values())), part) for part in steps]
    return _drawn(sizes, at, clock, asked.quantity)


def _over_delta(asked: Asked, clock: Clock) -> Document:
    """ε at several δ."""
    question = asked if asked.quantity == "epsilon" else asked.turned("1e-6")
    middle = _power(asked.at) if asked.quantity == "epsilon" else _USUAL
    first, last = max(_LEAST, middle - _BELOW), min(-1, middle + _ABOVE)
    places = [(f"1e{power}", 10.0**power, f"1e{power}") for power in range(first, last + 1)]

    def at(delta: str) -> dict[str, Bound]:
        return _answers(lambda method, rtol: question.bound(None, delta, method, rtol), clock)

    return _drawn(places, at, clock, "epsilon")


def _over_epsilon(asked: Asked, clock: Clock) -> Document:
    """δ at several ε."""
    question = asked if asked.quantity == "delta" else asked.turned("1")
    places = [(text, float(text), text) for text in (_epsilons(asked) if clock.allows() else ())]

    def at(eps: str) -> dict[str, Bound]:
        return _answers(lambda method, rtol: question.bound(None, eps, method, rtol), clock)

    return _drawn(places, at, clock, "delta")


_CURVES: dict[str, tuple[Callable[[Asked, Clock], Document], float]] = {
    "k": (_over_k, 0.34),
    "delta": (_over_delta, 0.67),
    "epsilon": (_over_epsilon, 1.0),
}
"""Every curve, and until which share of the time it is worked on."""


def _epsilons(asked: Asked) -> list[str]:
    """ε from 0 to a little beyond the answer, or beyond what was given."""
    end = asked.bound().upper if asked.quantity == "epsilon" else float(_number(asked.at))
    wanted = _ROOM * Decimal(end) if 0 < end < math.inf else _END
    step = Context(prec=2).divide(wanted, Decimal(_POINTS - 1))
    return [format((step * number).normalize(), "f") for number in range(_POINTS)]


def _number(text: str) -> Decimal:
    top, _, bottom = text.partition("/")
    return Decimal(top) / Decimal(bottom or 1)


def _power(text: str) -> int:
    number = _number(text)
    return number.adjusted() if number > 0 else _USUAL


def _answers(ask: Callable[[str, float | None], Bound], clock: Clock) -> dict[str, Bound]:
    """What every quick method says; those without an answer are left out."""
    found: dict[str, Bound] = {}
    for method in METHODS:
        try:
            found[method] = ask(method, _COARSE if method == "auto" and clock.cost > _SLOW else None)
        except PrecisionNotReached as error:
            found |= {method: error.bound} if isinstance(error.bound, Bound) else {}
        except (OptcompError, ArithmeticError):
            continue
    return found


def _drawn(
    places: Sequence[tuple[str, float, Place]], at: Callable[[Place], dict[str, Bound]], clock: Clock, quantity: str
) -> Document:
    """The points that there was time for, from left to right, and the curves that they make."""
    found: dict[int, dict[str, Bound]] = {}
    begun = time.monotonic()
    for number in spread(len(places)):
        if not clock.allows((time.monotonic() - begun) / max(1, len(found))):
            break
        found[number] = at(places[number][2])
    points = [(places[number][:2], found[number]) for number in sorted(found)]
    methods = [method for method in METHODS if points and method in points[-1][1]]
    kept = _different(methods, [bounds for _, bounds in points])
    return {
        "quantity": quantity,
        "curves": [_named(method, [bounds for _, bounds in points]) for method in kept],
        "points": [_point(label, x, bounds, kept) for (label, x), bounds in points],
        "whole": bool(places) and len(points) == len(places),
    }


def _different(methods: Sequence[str], answers: Sequence[Mapping[str, Bound]]) -> list[str]:
    """The methods without those that say the same everywhere as one before."""
    kept: dict[tuple[float | None, ...], str] = {}
    for method in methods:
        kept.setdefault(tuple(bounds[method].upper if method in bounds else None for bounds in answers), method)
    return list(kept.values())


def _named(method: str, answers: Sequence[Mapping[str, Bound]]) -> Document:
    """A curve by the theorem behind the last of its points."""
    last = next(bounds[method] for bounds in reversed(answers) if method in bounds)
    return {"method": method, "theorem": last.theorem, "name": theorem(last.theorem).name}


def _point(label: str, x: float, answers: Mapping[str, Bound], methods: Sequence[str]) -> Document:
    bounds = {method: answers[method] for method in methods if method in answers}
    return {
        "label": label,
        "x": x,
        "lower": shown_down(bounds["auto"].lower, _DIGITS) if "auto" in bounds else None,
        "upper": {method: shown_up(bound.upper, _DIGITS) for method, bound in bounds.items()},
        "y": {method: bound.upper if math.isfinite(bound.upper) else None for method, bound in bounds.items()},
    }


def spread(number: int) -> Iterator[int]:
    """0 … number − 1: the last first, then the middle, then the first, then always in the middle of what is left."""
    if number:
        yield number - 1
    if number > 2:
        yield (number - 1) // 2
    if number > 1:
        yield 0
    between = [(0, (number - 1) // 2), ((number - 1) // 2, number - 1)]
    while between:
        middles = [(low, (low + high) // 2, high) for low, high in between if high - low > 1]
        yield from (middle for _, middle, _ in middles)
        between = [half for low, middle, high in middles for half in ((low, middle), (middle, high))]
