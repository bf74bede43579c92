"""The numbers of a release as CSV: a line for each number, text that no program takes for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from optcomp.interactive import never_a_formula
from optcomp.release.pictures import label

HEADINGS = (
    "name",
    "statistic",
    "cell",
    "value",
    "low",
    "high",
    "confidence",
    "mechanism",
    "epsilon",
    "rho",
    "theorem",
    "rows_off",
)
"""The columns; `low` and `high` are the interval of this confidence, and of ε and ρ there is one.

`rows_off` is by how many rows the rank of a choice may be off, with the same confidence."""
_UP = Context(prec=17, rounding=ROUND_CEILING)
"""As many digits as a float needs, rounded up: what is spent is never told as less."""


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
            off = entry.get("rows_off")
            lines.writerow((*before, _text(entry["mechanism"]), *budgets, _text(entry["theorem"]), off))
    return out.getvalue()


def _numbers(entry: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Cell, value and interval of each number of a statistic."""
    if "cells" not in entry:
        yield None, entry["value"], entry["interval"]
        return
    for each in entry["cells"]:
        yield _cell(each["cell"]), each["value"], each["interval"]


def _amount(exact: str | None) -> str | None:
    """A budget as a decimal, not below it: the exact fraction, which is in the record, would be read as a date."""
    if exact is None:
        return None
    value = Fraction(exact)
    near = Decimal(repr(float(value)))
    return str(near if Fraction(near) >= value else _UP.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _cell(cell: Any) -> Any:
    number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return cell if number else _text(label(cell))


def _text(value: object) -> str | None:
    return None if value is None else never_a_formula(str(value))
