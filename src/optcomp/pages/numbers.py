"""Numbers and times as people read them; a side of a bound is rounded in the direction in which it stays true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from optcomp.interactive import short_down, short_up

_SEEN = 7
"""Digits of values: noise leaves no more to see."""


def up(value: float | str | Fraction, digits: int = 6) -> str:
    """At least the value: for costs and upper sides."""
    return short_up(Fraction(value), digits)


def down(value: float | str | Fraction, digits: int = 6) -> str:
    """At most the value: for what is left, and lower sides."""
    return short_down(Fraction(value), digits)


def near(value: float | str | Fraction, digits: int = 4) -> str:
    """About the value: for what is no claim."""
    return format(float(Fraction(value)), f".{digits}g")


def when(seconds: float) -> str:
    """A time by the clock of the database, as UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def moment(seconds: float) -> str:
    """The same for programs, in the attribute of a time element."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def amount(value: float | str) -> str:
    """A value with its thousands apart, and no more digits than noise leaves to see; a date as it is."""
    if isinstance(value, str):
        return value
    return _grouped(format(value, f".{_SEEN}g") if abs(value) < 10**_SEEN else format(value, ".0f"))


def low_end(value: float) -> str:
    """The lower end of an interval, rounded down."""
    return _grouped(down(value, _SEEN))


def high_end(value: float) -> str:
    """The upper end of an interval, rounded up."""
    return _grouped(up(value, _SEEN))


def reach(value: float) -> str:
    """How far off something may be, rounded up to few digits."""
    return _grouped(up(value, 4))


def _grouped(text: str) -> str:
    whole, point, rest = text.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return f"{sign}{int(digits):,}{point}{rest}" if digits.isdigit() else text


def pairs(options: Iterable[str]) -> list[tuple[str, str]]:
    """Options that are their own words, for a choice."""
    return [(each, each) for each in options]


FILTERS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (up, down, near, when, moment, amount, low_end, high_end, reach, pairs)
}
"""What templates call them."""
