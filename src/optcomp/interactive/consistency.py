"""Counts that could be counts: none below zero, and all together a total that everybody knows.

It is arithmetic on what was told, so it costs nothing.  Intervals stay those of the raw noisy counts, intersected with
what must be true: they hold for all cells together, so each is narrowed by what the others leave of the total.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.interactive.answers import Answer
from optcomp.numerics import Number, whole
from optcomp.statistics import MOST_ROWS

Ends = tuple[float, float]
"""Two numbers between which something lies."""


@dataclass(frozen=True)
class Consistent:
    """Counts that are not negative and, with a total, add up to it; and where the true ones lie."""

    value: Mapping[Any, int]
    interval: Mapping[Any, Ends]
    """With the confidence that was asked for, for all cells together."""


def consistent(answer: Answer, total: int | None = None, confidence: Number = 0.95) -> Consistent:
    """The counts of an answer, made consistent; `total` is public: how many rows all cells have together."""
    counts = answer.value
    if not isinstance(counts, Mapping) or any(not isinstance(each, int) for each in counts.values()):
        raise InvalidInput(
            "answer", str(answer.question.statistic), "must be counts of cells: a Histogram, or Count by"
        )
    if total is not None and not answer.question.statistic.adds_up():
        reason = "is not the sum of these cells: one person may count in several"
        raise InvalidInput("total", total, reason)
    raw = {cell: _least(ends) for cell, ends in answer.interval(confidence).items()}
    if total is None:
        return Consistent({cell: max(count, 0) for cell, count in counts.items()}, raw)
    asked = whole(total, "total", 0, MOST_ROWS)
    return Consistent(_adding_up(counts, asked), _narrowed(raw, asked))


def _least(ends: Ends) -> Ends:
    """No count is negative."""
    return max(ends[0], 0.0), max(ends[1], 0.0)


def _adding_up(counts: Mapping[Any, int], total: int) -> dict[Any, int]:
    """The nearest counts from 0 upwards with this sum: each less the same amount, rounded so that the sum is right."""
    ranked = sorted(counts.values(), reverse=True)
    less, upto = 0.0, 0
    for place, count in enumerate(ranked, 1):
        upto += count
        if place == 1 or count > (upto - total) / place:
            less = (upto - total) / place
    exact = {cell: max(count - less, 0.0) for cell, count in counts.items()}
    found = {cell: int(value) for cell, value in exact.items()}
    missing = total - sum(found.values())
    order = sorted(found, key=lambda cell: found[cell] - exact[cell])
    for cell in order[: max(missing, 0)]:
        found[cell] += 1
    return found


def _narrowed(intervals: Mapping[Any, Ends], total: int) -> dict[Any, Ends]:
    """What the other cells leave of the total; as it was where nothing would be left, which the noise allows rarely."""
    lows, highs = (sum(ends[side] for ends in intervals.values()) for side in (0, 1))
    found = {}
    for cell, (low, high) in intervals.items():
        least, most = max(low, total - (highs - high)), min(high, total - (lows - low))
        found[cell] = (least, most) if least <= most else (low, high)
    return found
