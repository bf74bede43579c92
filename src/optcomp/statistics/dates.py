r"""Dates and times as a domain: whole numbers of years, months, days, hours, ... since 1970, in one time zone.

A cell becomes the unit that it falls into, on the calendar and clock of the zone: with `unit="month"` everything in
March 2024 is one value.  Times that say how far they are from UTC are moved to the zone; all others are taken to be
there already.  An hour that a clock shows twice is one value.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from optcomp.errors import InvalidInput
from optcomp.numerics import Exact, Number, exact
from optcomp.statistics.domains import MOST_UNITS, Coarse, Integers, nearest

TimeUnit = Literal["year", "month", "week", "day", "hour", "minute", "second"]
"""What dates and times are counted in; weeks begin on Monday."""
Ints = npt.NDArray[np.int64]
"""One for each cell."""
_ISO = (
    r"^(?P<Y>[0-9]{4})(?:-(?P<m>[0-9]{2})(?:-(?P<d>[0-9]{2})(?:[T ](?P<H>[0-9]{2})(?::(?P<M>[0-9]{2})"
    r"(?::(?P<S>[0-9]{2})(?:[.,][0-9]+)?)?)?(?P<z> ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?)?)?)?$"
)
"""How the standard ISO 8601 writes dates and times: year first."""
_TOKENS = {
    "%Y": r"(?P<Y>[0-9]{4})",
    "%y": r"(?P<y>[0-9]{2})",
    "%m": r"(?P<m>[0-9]{1,2})",
    "%d": r"(?P<d>[0-9]{1,2})",
    "%H": r"(?P<H>[0-9]{1,2})",
    "%M": r"(?P<M>[0-9]{1,2})",
    "%S": r"(?P<S>[0-9]{1,2})",
}
"""What a format may ask for."""
_FINER = {"year": "Y", "month": "m", "week": "d", "day": "d", "hour": "H", "minute": "M", "second": "S"}
"""The last part that a cell must have to be told apart in a unit."""
_SECONDS = {"hour": 3600, "minute": 60, "second": 1}
"""Of a unit shorter than a day."""
_DAY = 86_400
"""Seconds."""
_MONDAY = 3
"""Days from the Monday before 1970 to its first day."""
DATED = re.compile(r"\s*[0-9]{4}-[0-9]{2}")
"""How text begins that is a date and no number."""
_PARTS = "YmdHMS"
"""From the year to the second."""


@dataclass(frozen=True, repr=False)
class Dates(Integers):
    """Dates or times from `low` to `high`, both included, in steps of a unit, on the calendar of a time zone.

    Ends are text such as "2020-01-01", "2020-01" or "2020-01-01 12:00", or dates and times of Python.  `format` says
    how a file writes them, such as "%d.%m.%Y"; what ISO 8601 writes is always understood.
    """

    low: Fraction
    high: Fraction
    every: TimeUnit
    zone: str
    format: str | None

    def __init__(
        self,
        low: str | datetime.date,
        high: str | datetime.date,
        unit: TimeUnit = "day",
        zone: str = "UTC",
        format: str | None = None,
    ) -> None:
        if unit not in get_args(TimeUnit):
            raise InvalidInput("unit", unit, f"must be one of {', '.join(get_args(TimeUnit))}")
        object.__setattr__(self, "every", unit)
        object.__setattr__(self, "zone", _checked_zone(zone))
        object.__setattr__(self, "format", _checked_format(format, unit))
        first, last = (self._index(_moment(end, name)) for end, name in ((low, "low"), (high, "high")))
        if not first < last:
            raise InvalidInput("low", low, f"must be before high = {high}, by a {unit} at least")
        if last - first > MOST_UNITS:
            raise InvalidInput("unit", unit, f"is too short: the ends must lie within {MOST_UNITS} of them")
        object.__setattr__(self, "low", Fraction(first))
        object.__setattr__(self, "high", Fraction(last))

    @property
    def holds(self) -> type[str | bool | int | float]:
        """Constants are written as text."""
        return str

    @property
    def ends_shown(self) -> tuple[str, str]:
        """The bounds as text."""
        return self.label(int(self.low)), self.label(int(self.high))

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """How text is a date: as the format says, or as ISO 8601 does."""
        own = () if self.format is None else (_pattern(self.format),)
        return (*own, _ISO)

    def label(self, index: int) -> Any:
        """The beginning of a unit, as text."""
        every = self.every
        if every == "year":
            return f"{1970 + index:04d}"
        if every == "month":
            return f"{1970 + index // 12:04d}-{index % 12 + 1:02d}"
        if every in ("week", "day"):
            return _day(index * 7 - _MONDAY if every == "week" else index)
        day, rest = divmod(index * _SECONDS[every], _DAY)
        clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}" + (f":{rest % 60:02d}" if every == "second" else "")
        return f"{_day(day)} {clock}"

    def told(self, value: Fraction) -> Any:
        """The nearest unit, as text."""
        return self.label(nearest(value))

    def edge(self, value: Number | str) -> Exact:
        """The beginning of a unit, or of a year."""
        number = None if isinstance(value, str) else exact(value, "edges")
        text = f"{int(number):04d}" if number is not None and number == int(number) else str(value)
        try:
            return Fraction(self.index_of(text))
        except InvalidInput as error:
            raise InvalidInput("edges", value, error.problem) from None

    def even_edges(self, count: int) -> tuple[Exact, ...]:
        """Whole units, to the end of the last one."""
        size = int(self.high - self.low) + 1
        return tuple(self.low + size * place // count for place in range(count + 1))

    def edge_names(self, edges: Sequence[Exact]) -> list[str]:
        """The beginnings of units."""
        return [self.label(int(edge)) for edge in edges]

    def index_of(self, constant: str) -> int:
        """The unit that a constant names; it must be the beginning of one."""
        moment = _moment(constant, "where")
        index = self._index(moment)
        if _moment(self.label(index), "where") != moment:
            example = self.label(index)
            raise InvalidInput("where", constant, f"must be the beginning of a {self.every}, such as {example!r}")
        return index

    def _index(self, moment: datetime.datetime) -> int:
        parts = (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)
        return int(self.indices(*(np.array([part], np.int64) for part in parts))[0])

    def indices(self, year: Ints, month: Ints, day: Ints, hour: Ints, minute: Ints, second: Ints) -> Ints:
        """Units since 1970, of valid parts."""
        if self.every == "year":
            return year - 1970
        if self.every == "month":
            return (year - 1970) * 12 + month - 1
        days = days_since_1970(year, month, day)
        if self.every == "day":
            return days
        if self.every == "week":
            return (days + _MONDAY) // 7
        return (days * _DAY + hour * 3600 + minute * 60 + second) // _SECONDS[self.every]

    @property
    def precision(self) -> str:
        """The last part that a cell must have."""
        return _FINER[self.every]

    def coarse(self, most: int) -> Coarse:
        """Refused: dates are not added up."""
        raise _not_added(self)

    def around_middle(self, most: int) -> Coarse:
        """Refused likewise."""
        raise _not_added(self)

    def __repr__(self) -> str:
        low, high = self.ends_shown
        zone = "" if self.zone == "UTC" else f", zone={self.zone!r}"
        return f"Dates({low!r}, {high!r}, {self.every!r}{zone})"


def days_since_1970(year: Ints, month: Ints, day: Ints) -> Ints:
    """On the Gregorian calendar; months begin in March, so that a leap day is the last of its year."""
    shifted = year - (month <= 2)
    era, of_era = shifted // 400, shifted % 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    found: Ints = era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468
    return found


def _not_added(domain: Dates) -> InvalidInput:
    problem = "holds dates, which are not added up: ask for a count, a histogram or quantiles"
    return InvalidInput("column", repr(domain), problem)


def _day(day: int) -> str:
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).isoformat()


def _moment(value: object, argument: str) -> datetime.datetime:
    """A date or time without a zone."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            raise InvalidInput(argument, str(value), "must be a time of the column's own zone, without one of its own")
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    match = re.match(_ISO, value) if isinstance(value, str) else None
    if match is None or match["z"] is not None:
        raise InvalidInput(argument, value, "must be a date or time such as '2024-03-31' or '2024-03-31 12:00'")
    year, month, day, hour, minute, second = (
        int(match[part] or least) for part, least in zip(_PARTS, "111000", strict=True)
    )
    try:
        return datetime.datetime(year, month, day, hour, minute, second)
    except ValueError:
        raise InvalidInput(argument, value, "must be a date or time of the calendar") from None


def _checked_zone(zone: object) -> str:
    try:
        if isinstance(zone, str) and zone:
            ZoneInfo(zone)
            return zone
    except (KeyError, ValueError, OSError):
        pass
    raise InvalidInput("zone", zone, "must be a time zone such as Europe/Berlin or UTC")


def _checked_format(format: object, unit: TimeUnit) -> str | None:
    if format is None:
        return None
    if not isinstance(format, str) or not re.sub(r"%[YymdHMS]", "", format).count("%") == 0:
        raise InvalidInput("format", format, f"may have {', '.join(_TOKENS)} and the text between them")
    tokens = re.findall(r"%[YymdHMS]", format)
    wanted = ["%Y", *(f"%{part}" for part in _PARTS[1 : _PARTS.index(_FINER[unit]) + 1])]
    own = ["%Y" if token == "%y" else token for token in tokens]
    if len(set(own)) < len(own) or not set(wanted) <= set(own):
        raise InvalidInput("format", format, f"must have each of {', '.join(wanted)} once")
    match = re.match(_pattern(format), "2001-02-03")
    if match is not None and (match["m"], match["d"]) != ("02", "03"):
        raise InvalidInput("format", format, "must not look like the standard one with day and month exchanged")
    return format


def _pattern(format: str) -> str:
    pieces = re.split(r"(%[YymdHMS])", format)
    return "^" + "".join(_TOKENS.get(piece) or re.escape(piece) for piece in pieces) + "$"
