"""Pictures as inline SVG: curves, and answers with their intervals.  Colours come from the style sheet, by class.

Every picture has a title and a description for whoever cannot see it; pages show its numbers as a table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

_WIDTH, _HEIGHT = 640, 320
"""Of a picture, in its own units; it is as wide as its place."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 14, 46
"""Margins for the numbers at the axes."""
_ROW = 30
"""Height of one answer in a picture of intervals."""
_NAMES = 190
"""Width for the names of answers."""
_LETTER = 9
"""Room for one letter of a name, on a phone too, where letters are larger."""
_COLOURS = 6
"""Colours there are in the style sheet."""
_TICKS = 6
"""About as many numbers at an axis."""
_THOUSAND, _BILLION = 1e3, 1e9
"""Between them numbers are written in full."""


@dataclass(frozen=True)
class Curve:
    """A name and points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Whisker:
    """A name, a value, and how far below and above it the truth may lie."""

    name: str
    low: float
    value: float
    high: float


@dataclass(frozen=True)
class _Axis:
    """Numbers on one side of a picture."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    whole: bool = False

    def place(self, value: float) -> float:
        scale: Callable[[float], float] = math.log10 if self.log else float
        low, high = scale(self.low), scale(self.high)
        share = (scale(value) - low) / (high - low) if high > low else 0.5
        return self.start + (self.end - self.start) * share

    def ticks(self) -> list[float]:
        if self.log:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            powers = range(first, last + 1, max(1, math.ceil((last - first) / _TICKS)))
            return [10.0**power for power in powers if self.low <= 10.0**power <= self.high]
        step = max(_step((self.high - self.low) / _TICKS), 1.0 if self.whole else 0.0)
        first = math.ceil(self.low / step - 1e-9)
        return [step * number for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def line_chart(
    curves: Sequence[Curve],
    *,
    title: str,
    across: str,
    up: str,
    log_across: bool = False,
    log_up: bool = False,
    whole_across: bool = False,
) -> Markup:
    """Curves over one axis, each with its own colour and dashes, named in a legend; over counts it is marked whole."""
    points = [point for curve in curves for point in curve.points if _drawn(point, log_across, log_up)]
    if not points:
        return Markup("")
    xs, ys = [x for x, _ in points], [y for _, y in points]
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    top = _TOP + 18 * math.ceil(len(curves) / 3)
    x_axis = _Axis(*_range(xs, log_across, False), _LEFT, right, log_across, whole_across)
    y_axis = _Axis(*_range(ys, log_up, True), bottom, top, log_up)
    drawn = [_grid(x_axis, y_axis), _names(across, up)]
    for number, curve in enumerate(curves, 1):
        kept = [point for point in curve.points if _drawn(point, log_across, log_up)]
        path = " ".join(f"{x_axis.place(x):.1f},{y_axis.place(y):.1f}" for x, y in kept)
        colour = (number - 1) % _COLOURS + 1
        drawn.append(
            Markup('<polyline class="line series-{} dash-{}" points="{}"></polyline>').format(colour, number, path)
        )
        drawn.append(_legend(number, colour, curve.name))
    return _picture(drawn, _HEIGHT, title, ", ".join(curve.name for curve in curves))


def interval_chart(answers: Sequence[Whisker], *, title: str, unit: str = "") -> Markup:
    """Answers below each other, each with its interval."""
    shown = [each for each in answers if all(map(math.isfinite, (each.low, each.value, each.high)))]
    if not shown:
        return Markup("")
    height = _TOP + _ROW * len(shown) + _BOTTOM
    ends = [end for each in shown for end in (each.low, each.high)]
    left = min(_NAMES, 16 + _LETTER * max(len(_cut(each.name)) for each in shown))
    axis = _Axis(*_range(ends, False, False), left, _WIDTH - _RIGHT)
    bottom = height - _BOTTOM
    drawn = [_tick_below(axis, tick, bottom, _TOP) for tick in axis.ticks()]
    for number, each in enumerate(shown):
        middle = _TOP + _ROW * (number + 0.5)
        low, value, high = (axis.place(end) for end in (each.low, each.value, each.high))
        drawn.append(
            Markup(
                '<text x="{}" y="{}" text-anchor="end">{}</text>'
                '<path class="whisker series-1" d="M{:.1f} {}v{}m0 {}H{:.1f}m0 {}v{}"></path>'
                '<circle class="dot fill-1" cx="{:.1f}" cy="{}" r="3"></circle>'
            ).format(left - 10, middle + 4, _cut(each.name), low, middle - 6, 12, -6, high, -6, 12, value, middle)
        )
    drawn.append(_text((left + _WIDTH) / 2, height - 6, unit))
    return _picture(drawn, height, title, ", ".join(each.name for each in shown[:20]), "chart intervals")


def _drawn(point: tuple[float, float], log_across: bool, log_up: bool) -> bool:
    x, y = point
    return math.isfinite(x) and math.isfinite(y) and (x > 0 or not log_across) and (y > 0 or not log_up)


def _range(values: Sequence[float], log: bool, from_zero: bool) -> tuple[float, float]:
    low, high = min(values), max(values)
    if log:
        return (low, high) if high > low else (low / 2, high * 2)
    low = min(low, 0.0) if from_zero else low
    room = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
    return (low if from_zero else low - room), high + room


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= rough * 0.999)


def _grid(x_axis: _Axis, y_axis: _Axis) -> Markup:
    below = [_tick_below(x_axis, tick, y_axis.start, y_axis.end) for tick in x_axis.ticks()]
    beside = [_tick_beside(y_axis, tick, x_axis) for tick in y_axis.ticks()]
    return Markup("").join([*below, *beside])


def _tick_below(axis: _Axis, tick: float, bottom: float, top: float) -> Markup:
    place = axis.place(tick)
    line = Markup('<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"></line>').format(
        place, place, top, bottom
    )
    return line + _text(place, bottom + 16, _number(tick))


def _tick_beside(axis: _Axis, tick: float, across: _Axis) -> Markup:
    place = axis.place(tick)
    return Markup(
        '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"></line>'
        '<text x="{}" y="{:.1f}" text-anchor="end">{}</text>'
    ).format(across.start, across.end, place, place, across.start - 6, place + 4, _number(tick))


def _number(tick: float) -> str:
    """Short: 1e-4 and not 0.0001, 1e-7 and not 1e-07; large counts in full, 15,000."""
    if _THOUSAND <= abs(tick) < _BILLION:
        return f"{tick:,.0f}"
    text = f"{tick:.0e}" if 0 < abs(tick) < 0.001 else f"{tick:.4g}"
    return text.replace("e-0", "e-").replace("e+0", "e")


def _names(across: str, up: str) -> Markup:
    turned = Markup('<text transform="translate(14 {}) rotate(-90)" text-anchor="middle">{}</text>')
    return _text((_LEFT + _WIDTH) / 2, _HEIGHT - 8, across) + turned.format(_HEIGHT / 2, up)


def _legend(number: int, colour: int, name: str) -> Markup:
    column, row = (number - 1) % 3, (number - 1) // 3
    left, middle = _LEFT + column * (_WIDTH - _LEFT) / 3, _TOP + 18 * row
    return Markup(
        '<line class="line series-{} dash-{}" x1="{:.0f}" x2="{:.0f}" y1="{}" y2="{}"></line>'
        '<text x="{:.0f}" y="{}">{}</text>'
    ).format(colour, number, left, left + 26, middle, middle, left + 32, middle + 4, _cut(name))


def _text(x: float, y: float, words: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>').format(x, y, words)


def _cut(name: str) -> str:
    return name if len(name) <= 26 else name[:25] + "…"


def _picture(drawn: Iterable[Markup], height: float, title: str, description: str, kind: str = "chart") -> Markup:
    return Markup('<svg class="{}" viewBox="0 0 {} {}" role="img"><title>{}</title><desc>{}</desc>{}</svg>').format(
        kind, _WIDTH, height, title, description, Markup("").join(drawn)
    )
