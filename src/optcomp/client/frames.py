"""Answers as a table with error bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.extras import needed
from optcomp.interactive import Answer
from optcomp.numerics import Number


def frame(answers: Iterable[Answer], confidence: Number = 0.95) -> Any:
    """A data frame of pandas: statistic, cell, value, low, high, invented.

    `low` and `high` are empty where no interval follows; `invented` is true of dry runs.
    """
    pandas = needed("pandas", "data")
    rows = [row for answer in answers for row in _rows(answer, confidence)]
    return pandas.DataFrame(rows, columns=["statistic", "cell", "value", "low", "high", "invented"])


def _rows(answer: Answer, confidence: Number) -> list[tuple[Any, ...]]:
    what, value = str(answer.question.statistic), answer.value
    try:
        interval = answer.interval(confidence)
    except InvalidInput:
        interval = None
    if not isinstance(value, Mapping):
        return [(what, None, value, *(interval or (None, None)), answer.invented)]
    bars = interval if isinstance(interval, Mapping) else {}
    return [(what, cell, each, *(bars.get(cell) or (None, None)), answer.invented) for cell, each in value.items()]
