"""What the columns of a source seem to hold, by a look at its first rows: a proposal for its owner.

Without leave no value leaves: a column is said to hold whole numbers, numbers, dates or categories, and nothing more.
If the owner says that the ends of the data are public, all rows are read, and ends and categories are told, too.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optcomp.errors import InvalidInput
from optcomp.statistics import cells
from optcomp.statistics.column_types import fits
from optcomp.statistics.date_cells import read_dates
from optcomp.statistics.dates import Dates
from optcomp.statistics.sources import Reading, Source, opened

_MOST_VALUES = 60
"""Different values that are told of a column of categories."""
_MOST = 0.9
"""The share of cells that must fit a kind: some are always misspelled."""
_FORMATS = (None, "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d", "%d.%m.%y")
"""How dates are written, the standard first."""
_WIDE = ("0001-01-01", "9999-12-31")
"""All days that there are."""


@dataclass
class SeenColumn:
    """One column; ends and values only where they are public."""

    name: str
    kind: str = ""
    """integers, reals, dates, categories, truth; or nothing, if all cells are empty."""
    format: str | None = None
    """How dates are written."""
    low: float | str | None = None
    high: float | str | None = None
    values: set[str] = field(default_factory=set)
    many: bool = False
    """Whether there are too many values to tell."""


def seen_columns(source: object, reading: Reading, *, public: bool) -> list[SeenColumn]:
    """What the columns of a source seem to hold; `public` tells their ends and categories."""
    with closing(opened(source, (), (), reading)) as header:
        names = header.columns
    found = [SeenColumn(name) for name in names]
    with closing(opened(source, dict.fromkeys(names), (), reading)) as rows:
        batches = rows.batches()
        with closing(batches):
            for place, batch in enumerate(batches):
                for each in found:
                    _look(each, batch.column(each.name), rows, first=place == 0, public=public)
                if not public:
                    break
    return found


def _look(seen: SeenColumn, raw: Any, source: Source, *, first: bool, public: bool) -> None:
    import pyarrow as pa

    try:
        fits(seen.name, None, raw.type)
    except InvalidInput:
        return
    if first and pa.types.is_boolean(raw.type):
        seen.kind = "truth"
    plain = cells.plain(raw)
    words = _words(plain)
    if first and not seen.kind:
        seen.kind, seen.format = _kind(source.in_numbers(plain), words)
    if public:
        _ends(seen, source.in_numbers(plain), words)


def _words(column: Any) -> Any:
    """Cells that are there, as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.utf8_trim(cells.as_words(column), " ")
    missing = pa.array(["", *(word for word in cells.NOTHING if word)], words.type)
    return words.filter(pc.invert(pc.fill_null(pc.is_in(pc.ascii_lower(words), missing), True))).drop_null()


def _kind(column: Any, words: Any) -> tuple[str, str | None]:
    size = len(words)
    if not size:
        return "", None
    numbers = _numbers(column)
    if len(numbers) >= _MOST * size:
        return ("integers" if np.all(np.floor(numbers) == numbers) else "reals"), None
    for each in _FORMATS:
        _, good = read_dates(Dates(*_WIDE, format=each), words)
        if good.sum() >= _MOST * size:
            return "dates", each
    return "categories", None


def _numbers(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = column.cast(pa.float64()).drop_null().to_numpy(zero_copy_only=False)
    elif pa.types.is_boolean(kind):
        return np.zeros(0)
    else:
        values, _, _ = cells.read_text(column)
    return values[np.isfinite(values)]


def _ends(seen: SeenColumn, column: Any, words: Any) -> None:
    """Wider by what is in this batch."""
    import pyarrow.compute as pc

    if seen.kind in ("integers", "reals"):
        numbers = _numbers(column)
        if len(numbers):
            _widen(seen, float(numbers.min()), float(numbers.max()))
    elif seen.kind == "dates":
        domain = Dates(*_WIDE, format=seen.format)
        places, good = read_dates(domain, words)
        if good.any():
            _widen(seen, domain.label(int(places[good].min())), domain.label(int(places[good].max())))
    elif seen.kind == "categories" and not seen.many:
        seen.values |= {word for word in pc.unique(words).to_pylist() if "\x00" not in word}
        if len(seen.values) > _MOST_VALUES:
            seen.values, seen.many = set(), True


def _widen(seen: SeenColumn, low: Any, high: Any) -> None:
    seen.low = low if seen.low is None else min(seen.low, low)
    seen.high = high if seen.high is None else max(seen.high, high)
