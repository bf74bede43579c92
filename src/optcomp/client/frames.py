"""Answers as a table with error bars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from optcomp.extras import needed
from optcomp.interactive import Answer
from optcomp.numerics import Number


def frame(answers: Iterable[Answer], confidence: Number = 0.95) -> Any:
    """A data frame of pandas: statistic, cell, value, low, high, rows_off, invented.

    `low` and `high` are empty where no interval follows, `rows_off` but for choices by rank; `invented` is true of dry
    runs.
    """
    pandas = needed("pandas", "data")
    rows = [row for answer in answers for row in _rows(answer, confidence)]
    return pandas.DataFrame(rows, columns=["statistic", "cell", "value", "low", "high", "rows_off", "invented"])


def _rows(answer: Answer, confidence: Number) -> list[tuple[Any, ...]]:
    what = str(answer.question.statistic)
    return [
        (what, _cell(row.cell), row.value, row.low, row.high, row.rows_off, answer.invented)
        for row in answer.rows(confidence)
    ]


def _cell(cell: tuple[Any, ...]) -> Any:
    """A label, or several; nothing if there is one number."""
    return cell if len(cell) > 1 else cell[0] if cell else None
