"""Text as dates and times: each cell by itself, by pattern, on the calendar and clock of the column's zone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from optcomp.statistics.dates import Dates, Ints, days_since_1970

_PIVOT, _CENTURY = 69, 100
"""Years of two digits: from here on of the last century."""
_DAYS = np.array([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
"""Of months, in leap years."""
_PARTS = "YmdHMS"
"""From the year to the second."""
_LEAST = (1, 1, 1, 0, 0, 0)
"""What a part is that is not said."""


def read_dates(domain: Dates, words: Any) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The unit of each word, and whether it is a date at all; words are trimmed, and null ones are none."""
    indices, found = np.zeros(len(words), np.int64), np.zeros(len(words), np.bool_)
    for pattern in domain.patterns:
        if found.all():
            break
        places, good = _by_pattern(domain, words, pattern)
        fresh = good & ~found
        indices[fresh], found = places[fresh], found | good
    return indices, found


def _by_pattern(domain: Dates, words: Any, pattern: str) -> tuple[Ints, npt.NDArray[np.bool_]]:
    import pyarrow.compute as pc

    matched = pc.extract_regex(words, pattern)
    good = matched.is_valid().to_numpy(zero_copy_only=False).copy()
    names = [field.name for field in matched.type]
    parts = []
    for part, least in zip(_PARTS, _LEAST, strict=True):
        own = "y" if part == "Y" and "y" in names else part
        values, said = _numbers(pc.struct_field(matched, own), least) if own in names else (_full(words, least), None)
        if own == "y":
            values = values + np.where(values >= _PIVOT, 1900, 2000)
        if said is not None and part in _PARTS[: _PARTS.index(domain.precision) + 1]:
            good &= said
        parts.append(values)
    good &= _valid(*parts)
    parts = [np.where(good, values, least) for values, least in zip(parts, _LEAST, strict=True)]
    if "z" in names:
        parts = _in_zone(domain, parts, pc.struct_field(matched, "z"), good)
    return domain.indices(*parts), good


def _full(words: Any, value: int) -> Ints:
    return np.full(len(words), value, np.int64)


def _numbers(column: Any, least: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Digits as integers, and where there are any: Arrow gives empty text where a group is not there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    said = pc.fill_null(pc.not_equal(column, ""), False)
    digits = pc.if_else(said, column, pa.scalar(str(least), column.type))
    return (
        digits.cast(pa.int64()).to_numpy(zero_copy_only=False),
        said.to_numpy(zero_copy_only=False),
    )


def _valid(year: Ints, month: Ints, day: Ints, hour: Ints, minute: Ints, second: Ints) -> npt.NDArray[np.bool_]:
    """What calendar and clock have; a leap second is none."""
    months = (month >= 1) & (month <= 12)
    leap = (year % 4 == 0) & ((year % _CENTURY != 0) | (year % 400 == 0))
    last = _DAYS[np.where(months, month - 1, 0)] - ((month == 2) & ~leap)
    clock = (hour <= 23) & (minute <= 59) & (second <= 59)
    found: npt.NDArray[np.bool_] = months & (day >= 1) & (day <= last) & clock & (year >= 1)
    return found


def _in_zone(domain: Dates, parts: list[Ints], offsets: Any, good: npt.NDArray[np.bool_]) -> list[Ints]:
    """Times that say how far they are from UTC, moved to the zone of the column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    moved = pc.fill_null(pc.not_equal(offsets, ""), False).to_numpy(zero_copy_only=False) & good
    if not moved.any():
        return parts
    year, month, day, hour, minute, second = (part[moved] for part in parts)
    away = np.array([_seconds(text) for text in offsets.filter(pa.array(moved)).to_pylist()], np.int64)
    instants = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - away
    local = pc.local_timestamp(pa.array(instants, pa.timestamp("s", tz=domain.zone)))
    named = (pc.year, pc.month, pc.day, pc.hour, pc.minute, pc.second)
    for part, of in zip(parts, named, strict=True):
        part[moved] = of(local).to_numpy(zero_copy_only=False)
    return parts


def _seconds(text: str) -> int:
    """From UTC to the east."""
    said = text.strip()
    if said == "Z":
        return 0
    digits = said[1:].replace(":", "")
    return (1 if said[0] == "+" else -1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)
