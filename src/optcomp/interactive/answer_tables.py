"""Answers as tables: one row for each number, for data frames, for notebooks and for spreadsheets.

Only what was told is in them: cells are the declared ones, in their order.
"""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from optcomp.extras import needed
from optcomp.numerics import Number
from optcomp.statistics import Question

NUMBERS = ("value", "low", "high", "rows_off")
"""What is told of each cell; `rows_off` is how far the rank of a choice may be off."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""With these a spreadsheet begins what it computes, or skips to what it computes."""


class Tellable(Protocol):
    """An answer, as far as tables need it."""

    @property
    def question(self) -> Question:
        """What was asked."""

    @property
    def value(self) -> Any:
        """What was told."""

    @property
    def invented(self) -> bool:
        """Whether it is about invented data."""

    def interval(self, confidence: Number = 0.95) -> Any:
        """Where the truth lies."""

    def rows_off(self, confidence: Number = 0.95) -> float | None:
        """By how many rows ranks may be off."""


@dataclass(frozen=True)
class AnswerRow:
    """One number of an answer: its cell, and where the truth lies, as far as that follows from the noise."""

    cell: tuple[Any, ...]
    """Empty if there is but one number."""
    value: Any
    low: float | None
    high: float | None
    rows_off: float | None

    @property
    def numbers(self) -> tuple[Any, ...]:
        """In the order of `NUMBERS`."""
        return self.value, self.low, self.high, self.rows_off


def answer_rows(answer: Tellable, confidence: Number = 0.95) -> list[AnswerRow]:
    """All numbers of an answer."""
    off = answer.rows_off(confidence)
    interval = None if answer.question.noise.chooses else answer.interval(confidence)
    if not isinstance(answer.value, Mapping):
        low, high = interval or (None, None)
        return [AnswerRow((), answer.value, low, high, off)]
    ends: Mapping[Any, Any] = interval if isinstance(interval, Mapping) else {}
    found = []
    for cell, value in answer.value.items():
        low, high = ends.get(cell) or (None, None)
        found.append(AnswerRow(cell if isinstance(cell, tuple) else (cell,), value, low, high, off))
    return found


def answer_columns(answer: Tellable, confidence: Number = 0.95) -> dict[str, list[Any]]:
    """The same as columns: those that cells are of, and the numbers; a number that nobody has is left out."""
    rows, names = answer_rows(answer, confidence), answer.question.statistic.cell_names()
    width = len(rows[0].cell) if rows else 0
    heads = _apart(names if len(names) == width else tuple(f"cell {i + 1}" for i in range(width)))
    found = {head: _alike([row.cell[place] for row in rows]) for place, head in enumerate(heads)}
    found |= {name: [row.numbers[place] for row in rows] for place, name in enumerate(NUMBERS)}
    return {name: column for name, column in found.items() if name == "value" or set(column) != {None}}


def _apart(names: Iterable[str]) -> list[str]:
    """Names that none of the numbers has: a column of the data may be named value."""
    return [f"{name} (column)" if name in NUMBERS else name for name in names]


def _alike(labels: list[Any]) -> list[Any]:
    """Text where labels are of several kinds, such as whole numbers and (missing)."""
    return labels if len({type(label) for label in labels}) < 2 else [str(label) for label in labels]


def to_pandas(answer: Tellable, confidence: Number = 0.95) -> Any:
    """A data frame of pandas."""
    return needed("pandas", "data").DataFrame(answer_columns(answer, confidence))


def to_polars(answer: Tellable, confidence: Number = 0.95) -> Any:
    """A data frame of polars."""
    return needed("polars", "data").DataFrame(answer_columns(answer, confidence))


def to_csv(answer: Tellable, confidence: Number = 0.95) -> str:
    """Text with commas; numbers stay numbers, and no cell is a formula."""
    columns, out = answer_columns(answer, confidence), io.StringIO()
    lines = csv.writer(out, lineterminator="\r\n")
    lines.writerow([never_a_formula(name) for name in columns])
    for row in zip(*columns.values(), strict=True):
        lines.writerow([never_a_formula(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def to_html(answer: Tellable, confidence: Number = 0.95) -> str:
    """A table for notebooks, with what was asked above it."""
    columns = answer_columns(answer, confidence)
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_shown(cell))}</td>" for cell in row) + "</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    about = html.escape(f"{answer.question}{' (invented data)' if answer.invented else ''}")
    return f"<table><caption>{about}</caption><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _shown(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:,.6g}" if isinstance(cell, float) else str(cell)


def never_a_formula(text: str) -> str:
    """Text that stays text: an apostrophe before what would be a formula, also after blanks."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
