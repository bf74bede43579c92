"""Numbers a person writes, kept exactly: a float is its dyadic value, a string or Decimal its decimal value.

The result is a float or a Fraction; both are exact rationals, compare exactly with each other and hash alike.
"""

from __future__ import annotations

import math
from contextlib import suppress
from decimal import Decimal, Inexact, InvalidOperation, localcontext
from fractions import Fraction
from numbers import Rational, Real

from optcomp.errors import InvalidInput

_MOST_DIGITS = 4000  # below Python's own limit for turning text into integers; nobody writes more
_SHORT = 30
"""Digits up to which a decimal is still what a person would write."""

Exact = float | Fraction
Number = float | int | Fraction | Decimal | str


def exact(value: object, argument: str, error: type[InvalidInput] = InvalidInput) -> Exact:
    """The exact value of a finite number given as float, int, Fraction, Decimal or decimal string."""
    if type(value) is float and math.isfinite(value):  # what follows takes microseconds
        return value
    if isinstance(value, bool):
        raise error(argument, value, "must be a number, not a truth value")
    if isinstance(value, str | Decimal):
        return _from_decimal(value, argument, error)
    if isinstance(value, int | Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Real):  # float and every numpy real scalar
        number = float(value)
        if not math.isfinite(number):
            raise error(argument, value, "must be finite")
        return number if number == value else _from_wide(value)
    raise error(argument, value, "must be a float, int, Fraction, Decimal or decimal string")


def _from_wide(value: Real) -> Fraction:
    """A real of more than float precision, such as numpy's longdouble, exactly."""
    numerator, denominator = getattr(value, "as_integer_ratio")()  # noqa: B009 - Real does not declare it
    return Fraction(int(numerator), int(denominator))


def _from_decimal(value: str | Decimal, argument: str, error: type[InvalidInput]) -> Exact:
    try:
        decimal = Decimal(value)
    except InvalidOperation:
        return _from_ratio(str(value), argument, error)
    if not decimal.is_finite():
        raise error(argument, value, "must be finite")
    if abs(decimal.adjusted()) > _MOST_DIGITS:
        raise error(argument, value, f"must lie between 1e-{_MOST_DIGITS} and 1e{_MOST_DIGITS}")
    return Fraction(decimal)


def _from_ratio(value: str, argument: str, error: type[InvalidInput]) -> Exact:
    if "/" in value:
        with suppress(ValueError, ZeroDivisionError):
            return Fraction(value)
    raise error(argument, value, "must be a number such as 0.1, 1e-9 or 1/3")


def float_above(value: Exact) -> float:
    """The least float that is at least the number, read as a float and as its shortest decimal."""
    if isinstance(value, float):
        return value
    try:
        found = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0.0)
    while math.isfinite(found) and (found < value or (found != value and Fraction(repr(found)) < value)):
        found = math.nextafter(found, math.inf)
    return found


def decimal_up(value: float) -> float:
    """The float itself if its shortest decimal is no smaller, else the next one."""
    if not math.isfinite(value) or Decimal(repr(value)) >= Decimal(value):  # both exact, and so is the comparison
        return value
    return math.nextafter(value, math.inf)


def decimal_down(value: float) -> float:
    """The float itself if its shortest decimal is no larger, else the one before."""
    return -decimal_up(-value) + 0.0  # never minus zero


def float_below(value: Exact) -> float:
    """The greatest float that is at most the number, read as a float and as its shortest decimal."""
    return -float_above(-value) + 0.0  # never minus zero


def text_of(value: Exact) -> str:
    """The exact number as text: a float by its name, a short decimal as a person writes it, else n/d of any length.

    Python itself refuses to print integers of more than some thousand digits; Decimal does not.
    """
    if isinstance(value, float):
        return repr(value)
    top, bottom = Decimal(value.numerator), Decimal(value.denominator)
    if bottom == 1:
        return str(top)
    with localcontext(prec=_SHORT) as context:
        context.traps[Inexact] = True
        with suppress(Inexact):
            return format((top / bottom).normalize(), "g")
    return f"{top}/{bottom}"


def whole(value: object, argument: str, least: int, most: int) -> int:
    """A whole number in a range; floats are refused even when they happen to be whole."""
    if isinstance(value, bool) or not isinstance(value, int | Rational) or value.denominator != 1:
        raise InvalidInput(argument, value, "must be a whole number")
    number = int(value.numerator)
    if not least <= number <= most:
        raise InvalidInput(argument, value, f"must be at least {least} and at most {most}")
    return number


def ratio(value: Fraction) -> str:
    """A fraction of any length: Python refuses to print integers of many thousand digits, Decimal does not."""
    whole_parts = [str(Decimal(part)) for part in (value.numerator, value.denominator)]
    return whole_parts[0] if value.denominator == 1 else "/".join(whole_parts)


def plain(value: Exact) -> float | str:
    """A JSON number for a float, a string for any other fraction."""
    return value if isinstance(value, float) else ratio(value)
