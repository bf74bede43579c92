"""Data frames and Arrow tables."""

from __future__ import annotations

import sys
from collections.abc import Collection, Generator
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput
from optcomp.statistics.cells import LONG, STRANGE, mark
from optcomp.statistics.sources.source import BATCH, Source, all_known

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_DIGITS = 4096
"""Integers of more digits are too long, as text is."""


class Frame(Source):
    """A table in memory: what is read of it is copied at once.

    Columns of pandas that hold Python objects, whose type would follow from what is in them, become text cell by cell.
    """

    def __init__(self, source: Any, used: Collection[str], numbers: Collection[str]) -> None:
        super().__init__()
        self.name = "table"
        self._table = _arrow(source, used, numbers)
        self.columns = tuple(self._table.column_names)
        self.kinds = {field.name: field.type for field in self._table.schema}

    def batches(self) -> Generator[Any]:
        """Slices."""
        yield from self._table.to_batches(BATCH)


def _arrow(source: Any, used: Collection[str], numbers: Collection[str]) -> pa.Table:
    """The columns that are used, as an Arrow table."""
    import pyarrow as pa

    pandas = sys.modules.get("pandas")
    try:
        if pandas is not None and isinstance(source, pandas.DataFrame):
            all_known(used, list(source.columns))
            if not used:
                return pa.table({"0": pa.nulls(len(source))})
            _once(used, list(source.columns))
            return pa.table({name: _from_pandas(source[name], name in numbers) for name in used})
        if isinstance(source, dict):
            raise InvalidInput("source", "dict", "has no types but those of its values: make it a data frame")
        found = pa.table(source)
        all_known(used, found.column_names)
        _once(used, found.column_names)
        return found.select(list(used)) if used else found.slice(0)
    except InvalidInput:
        raise
    except Exception as error:
        wanted = "must be the path of a file, a data frame, or a table of Arrow or Ibis"
        raise InvalidInput("source", type(source).__name__, f"{wanted} ({type(error).__name__})") from None


def _once(used: Collection[str], known: list[Any]) -> None:
    """Refuses a column whose name stands twice."""
    for name in used:
        if known.count(name) > 1:
            raise InvalidInput("columns", name, "is in the table twice")


def _from_pandas(series: Any, number: bool) -> Any:
    import pyarrow as pa

    pandas = sys.modules["pandas"]
    if series.dtype.kind == "O":  # objects, text, categories
        cells = series.astype(object).tolist()
        return pa.array([_text(cell, number, pandas) for cell in cells], type=pa.large_string())
    return pa.array(series, from_pandas=True)


def _text(cell: Any, number: bool, pandas: Any) -> str | None:
    """A cell as text, such that reading the text gives what a column of the cell's own type would give."""
    try:
        if isinstance(cell, str):
            cell.encode()  # half a letter is no text
            return str(cell)
        types = pandas.api.types
        if types.is_scalar(cell) and pandas.isna(cell):
            return None
        if types.is_bool(cell):
            return str(int(cell)) if number else str(bool(cell)).lower()
        if types.is_integer(cell):
            return str(int(cell)) if abs(int(cell)) < 10**_MOST_DIGITS else mark(LONG)
        if types.is_float(cell):
            value = float(cell)  # a short one would warn of numbers that are too large for it
            return str(int(value)) if abs(value) <= 2**53 and value == int(value) else _as_arrow_writes(value)
        if types.is_number(cell) or _dated(cell):
            return str(cell)
    except Exception:  # whatever a cell does when it is looked at, it is this cell alone that cannot be read
        return mark(STRANGE)
    return mark(STRANGE)


def _as_arrow_writes(value: float) -> str:
    """A float in the digits that a column of floats would get, so that a person has one id."""
    import pyarrow as pa

    return str(pa.array([value]).cast(pa.large_string())[0].as_py())


def _dated(cell: Any) -> bool:
    """Dates, times, and decimals, which pandas does not call numbers."""
    import datetime
    import decimal
    import fractions
    import uuid

    known = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction, uuid.UUID)
    return isinstance(cell, known)
