"""Numbers a person writes, kept exactly: a float is its dyadic value, a string or Decimal its decimal value.

The result is a float or a Fraction; both are exact rationals, compare exactly with each other and hash alike.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real

from optcomp.errors import InvalidInput

Exact = float | Fraction
Number = float | int | Fraction | Decimal | str


def exact(value: object, argument: str, error: type[InvalidInput] = InvalidInput) -> Exact:
    """The exact value of a finite number given as float, int, Fraction, Decimal or decimal string."""
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
        return number
    raise error(argument, value, "must be a float, int, Fraction, Decimal or decimal string")


def _from_decimal(value: str | Decimal, argument: str, error: type[InvalidInput]) -> Exact:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise error(argument, value, "must be finite")
        return Fraction(value)
    if value.strip().lower().lstrip("+-") in {"inf", "infinity", "nan"}:
        raise error(argument, value, "must be finite")
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise error(argument, value, "must be a number such as 0.1, 1e-9 or 1/3") from None


def whole(value: object, argument: str, least: int, error: type[InvalidInput] = InvalidInput) -> int:
    """A whole number, at least `least`; floats are refused even when they happen to be whole."""
    if isinstance(value, bool) or not isinstance(value, int | Rational) or value.denominator != 1:
        raise error(argument, value, "must be a whole number")
    if value < least:
        raise error(argument, value, f"must be at least {least}")
    return int(value.numerator)
