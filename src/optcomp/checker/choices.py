"""The free choices of a trapezoid rule: contour, step, number of nodes, precision.  Guesses; any choice is sound."""

from __future__ import annotations

import math
from dataclasses import dataclass

from optcomp.checker.guess import Sketch, short

_ERROR = 0.02
"""Share of the smoothing's own width that aliases, and nodes left out, may add."""


@dataclass(frozen=True)
class Trapezoid:
    """A contour, the period Λ, exponents for the aliases on either side, and the logarithm of what may be neglected."""

    c: float
    period: float
    below: float
    above: float
    log_tolerance: float


def contour(sketch: Sketch, y: float) -> float:
    """To the right of both poles where F is small, between them where it is large."""
    return short(sketch.right_of_poles(y) if y >= sketch.slope(0.0) else sketch.between_poles(y))


def log_density(sketch: Sketch, c: float, width: float = 0.0) -> float:
    """About the logarithm of the density of the tilted, smoothed loss at its middle."""
    return -0.5 * math.log(2 * math.pi * (sketch.curvature(c) + width**2) + 1e-300)


def log_unit(sketch: Sketch, c: float, y: float, width: float = 0.0) -> float:
    """log of M(c) e^{w²(c²+c)/2} e^{-cy}."""
    return sketch.log_moment(c) + width**2 * c * (c + 1) / 2 - c * y


def smoothed_trapezoid(sketch: Sketch, y: float, width: float) -> Trapezoid:
    """For the smoothed integral."""
    c = contour(sketch, y)
    log_tolerance = math.log(_ERROR) + 2 * math.log(width) + log_density(sketch, c, width)
    return _with_period(sketch, y, c, width, log_tolerance)


def plain_trapezoid(sketch: Sketch, y: float, bits: int) -> Trapezoid:
    """Without smoothing: `bits` correct bits of the smaller of F and 1 - F."""
    c = contour(sketch, y)
    spread = sketch.curvature(c) + 1 / c**2 + 1 / (1 + c) ** 2
    log_size = -math.log(abs(c) * (1 + c)) - 0.5 * math.log(2 * math.pi * spread)
    return _with_period(sketch, y, c, 0.0, log_size - bits * math.log(2))


def _with_period(sketch: Sketch, y: float, c: float, width: float, log_tolerance: float) -> Trapezoid:
    """The least period for which both aliases are small enough."""
    scale = math.sqrt(sketch.curvature(c) + width**2) + 1e-300
    reach = max(100 * (1 + abs(c)), 1000 / scale)
    base, period = log_unit(sketch, c, y, width), 4 * scale
    for _ in range(200):
        above = max(short(sketch.tilt(y + period, c, c + reach)), c + 1e-6 * abs(c))
        below = min(short(sketch.tilt(y - period, c - reach, c)), c - 1e-6 * abs(c))
        logs = [log_unit(sketch, x, y, width) - base - abs(x - c) * period for x in (below, above)]
        if max(logs) < log_tolerance:
            break
        period *= 1.1
    return Trapezoid(c, period, below, above, log_tolerance)


def cutoff(width: float, log_tolerance: float) -> float:
    """T such that the nodes beyond may be neglected: e^{-x²/2} w/(π x³) small at x = wT."""
    x, most = 2.0, 2 + math.sqrt(2 * abs(log_tolerance) + 2 * abs(math.log(width)))
    while x < most and -x * x / 2 + math.log(width / math.pi) - 3 * math.log(x) > log_tolerance:
        x += 0.1
    return x / width
