"""Which unit to round to, and what its table costs.  Guesses about cost, never about the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from optcomp.numerics.blocked import Floats
from optcomp.numerics.exact_numbers import Exact

_MOST_STEPS = 10**7  # a unit that is a smaller part of the largest size makes too long a table
_MOST_CELLS = 5e7  # table entries, 400 MB
_LONG = 20_000  # so many sizes take a while to look at: a unit within a thousandth of the finest will do


def common_unit(sizes: Sequence[Exact]) -> float | None:
    """The greatest number that divides every size, if it is not absurdly small: sizes as people write them (0.1, 0.25,
    ...), or else as the floats they are.
    """
    largest = max(sizes, default=0.0)
    return _divisor(map(_written, sizes), largest) or _divisor((Fraction(size) for size in sizes), largest)


def _divisor(sizes: Iterable[Fraction], largest: Exact) -> float | None:
    unit = Fraction(0)
    for size in sizes:
        bottom = math.lcm(unit.denominator, size.denominator)
        unit = Fraction(math.gcd(int(unit * bottom), int(size * bottom)), bottom)
        if largest > unit * _MOST_STEPS:
            return None
    return float(unit) if unit else None


def _written(x: Exact) -> Fraction:
    """The short decimal that a float was meant to be, 0.03 for 0.030000000000000002; the float itself otherwise."""
    if not isinstance(x, float):
        return x
    short = Fraction(f"{x:.12g}")
    return short if abs(short - Fraction(x)) <= short / 10**14 else Fraction(x)


def table_cost(sizes: Floats, counts: Floats, unit: float) -> float:
    """About how many additions a knapsack table with this unit takes."""
    steps, copies = _grouped(np.ceil(sizes / unit), counts)
    many = copies > 8
    passes = np.where(many, np.minimum(copies, 14 * np.sqrt(copies)), copies)
    before = np.concatenate(([0.0], np.cumsum(copies * steps * steps)))
    spread = np.sqrt(np.where(many, before[:-1], (before[:-1] + before[1:]) / 2))
    cells = np.minimum(12 * spread, float(copies @ steps) / 2) + 1
    widest = min(12 * math.sqrt(float(before[-1])), float(copies @ steps) / 2)
    return float(passes @ cells) if widest <= _MOST_CELLS else math.inf


def _grouped(steps: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Distinct steps, smallest first, with their counts; quick where the largest come first."""
    if not (steps[1:] <= steps[:-1]).all():
        order = np.argsort(steps)[::-1]
        steps, counts = steps[order], counts[order]
    starts = np.flatnonzero(np.concatenate(([True], steps[1:] != steps[:-1])))
    return steps[starts][::-1], np.add.reduceat(counts, starts)[::-1]


def finest_unit(sizes: Floats, counts: Floats, work: float) -> float:
    """The smallest unit, or nearly, whose table costs at most `work`."""
    low, high = math.log(float(sizes.max()) * 1e-9), math.log(float(sizes.max()) * 4)
    for _ in range(30 if sizes.size <= _LONG else 14):
        middle = (low + high) / 2
        low, high = (middle, high) if table_cost(sizes, counts, math.exp(middle)) > work else (low, middle)
    return math.exp(high)
