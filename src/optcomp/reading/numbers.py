"""Numbers as a person writes them, before the library reads them exactly.

The library's reading is wider than what a person means: it takes underscores and the digits of every script.  Here
those are refused, and common mistakes get a hint.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from optcomp.errors import InvalidInput
from optcomp.reading.complaints import Complaint

_PROBLEM = "must be a number such as 0.1, 1e-9 or 1/3"
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+(?:[eE][+-]?\d+)?)")


def plain(text: str, what: str) -> str:
    """The text itself, unless no person would call it a number; its value is checked by the library."""
    hint = _hint(text)
    if hint or "_" in text or not text.isascii():
        raise Complaint(f"{what}: {_PROBLEM}, got {text!r}{hint}")
    return text


def _hint(text: str) -> str:
    comma = _DECIMAL_COMMA.fullmatch(text)
    if comma:
        return f" (decimal comma? write {comma[1]}.{comma[2]})"
    if text.endswith("%") and text.isascii():
        try:
            return f" (percent? write {Decimal(text[:-1]).scaleb(-2).normalize():f})"
        except InvalidOperation:
            return ""
    return ""


def whole_number(text: str, what: str, least: int, most: int) -> int:
    """A whole number in a range, also when it is written 3.0 or 5e1."""
    from optcomp.numerics import exact

    try:
        number = Fraction(exact(plain(text, what), what))
    except (InvalidInput, Complaint):
        number = Fraction(1, 2)
    if number.denominator != 1 or not least <= number <= most:
        raise Complaint(f"{what}: must be a whole number between {_power(least)} and {_power(most)}, got {text!r}")
    return int(number)


def real_number(text: str, what: str) -> float:
    """A finite number as the nearest float."""
    from optcomp.numerics import exact

    return float(exact(plain(text, what), what))


def _power(number: int) -> str:
    """10^15 for a number with many noughts."""
    noughts = len(str(number)) - 1
    return f"10^{noughts}" if noughts > 5 and number == 10**noughts else str(number)
