"""The numbers of a release as CSV: a line for each number, text that no program takes for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from optcomp.release.pictures import label

HEADINGS = ("name", "statistic", "cell", "value", "low", "high", "confidence", "mechanism", "epsilon", "rho", "theorem")
"""The columns; `low` and `high` are the interval of this confidence, and of ε and ρ there is one."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""With these a spreadsheet begins what it computes, or skips to what it computes."""


def csv_text(release: Mapping[str, Any]) -> str:
    """The released numbers of a record; numbers stay numbers, and text is never a formula."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\r\n")
    lines.writerow(HEADINGS)
    confidence = release["facts"]["confidence"]
    for entry in release["statistics"]:
        for cell, value, interval in _numbers(entry):
            low, high = (None, None) if interval is None else interval
            before = _text(entry["name"]), _text(entry["statistic"]), cell, value, low, high, confidence
            budgets = (_amount(entry.get(name)) for name in ("epsilon", "rho"))
            lines.writerow((*before, _text(entry["mechanism"]), *budgets, _text(entry["theorem"])))
    return out.getvalue()


def _numbers(entry: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Cell, value and interval of each number of a statistic."""
    if "cells" not in entry:
        yield None, entry["value"], entry["interval"]
        return
    for each in entry["cells"]:
        yield _cell(each["cell"]), each["value"], each["interval"]


def _amount(exact: str | None) -> float | None:
    """A budget as a number: the exact fraction, which is in the record, would be read as a date."""
    return None if exact is None else float(Fraction(exact))


def _cell(cell: Any) -> Any:
    number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return cell if number else _text(label(cell))


def _text(value: object) -> str | None:
    """Text that stays text: an apostrophe before what would be a formula, also after blanks."""
    if value is None:
        return None
    text = str(value)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
