"""Cells that are Python objects, as text: each by itself, whatever is beside it."""

from __future__ import annotations

import datetime
import decimal
import fractions
import sys
import uuid
from typing import Any

import numpy as np

from optcomp.statistics.cells import LONG, STRANGE, mark

_MOST_DIGITS = 4096
"""Integers of more digits are too long, as text is."""
_WRITTEN = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    complex,
    np.complexfloating,
    np.datetime64,
)
"""Types of cells whose text says all."""


def as_text(cell: Any, number: bool) -> str | None:
    """A cell as text, such that reading the text gives what a column of the cell's own type would give."""
    try:
        return _text(cell, number)
    except Exception:  # whatever a cell does when it is looked at, it is this cell alone that cannot be read
        return mark(STRANGE)


def text_array(cells: Any, number: bool) -> Any:
    """An Arrow array of these cells as text."""
    import pyarrow as pa

    return pa.array([as_text(cell, number) for cell in cells], type=pa.large_string())


def _text(cell: Any, number: bool) -> str | None:
    if isinstance(cell, str):
        cell.encode()  # half a letter is no text
        return str(cell)
    if cell is None or _is_missing(cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return str(int(cell)) if number else str(bool(cell)).lower()
    if isinstance(cell, np.timedelta64):  # an integer by its class, and none by what it means
        return mark(STRANGE)
    if isinstance(cell, int | np.integer):
        return str(int(cell)) if abs(int(cell)) < 10**_MOST_DIGITS else mark(LONG)
    if isinstance(cell, float | np.floating):
        return float_text(float(cell))  # a short one would warn of numbers that are too large for it
    if isinstance(cell, _WRITTEN):
        return str(cell)
    return mark(STRANGE)


def _is_missing(cell: Any) -> bool:
    """NaN, and what pandas and numpy write where nothing is."""
    if isinstance(cell, float | np.floating | decimal.Decimal | np.datetime64 | np.timedelta64 | datetime.datetime):
        return bool(cell != cell)  # NaN and NaT are unlike themselves
    pandas = sys.modules.get("pandas")
    return pandas is not None and (cell is pandas.NA or cell is pandas.NaT)


def float_text(value: float) -> str:
    """Whole numbers as such; others in the digits that a column of floats would get, so that a person has one id."""
    import pyarrow as pa

    if abs(value) <= 2**53 and value == int(value):
        return str(int(value))
    return str(pa.array([value]).cast(pa.large_string())[0].as_py())
