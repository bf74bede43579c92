"""Numbers as people read them, rounded in the direction in which they stay true."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import optcomp as oc

SHOWN = 10
"""Significant digits of an answer."""


def shown_up(value: float, digits: int = SHOWN) -> str:
    """At least the value: for upper sides."""
    return _shown(value, digits, ROUND_CEILING)


def shown_down(value: float, digits: int = SHOWN) -> str:
    """At most the value: for lower sides."""
    return _shown(value, digits, ROUND_FLOOR)


def _shown(value: float, digits: int, rounding: str) -> str:
    if math.isinf(value):
        return "∞"
    short = Decimal(repr(value))
    if value != int(value) and len(short.as_tuple().digits) <= digits:
        return format(short, "g")  # what a person would write for this very float
    return format(Context(prec=digits, rounding=rounding).plus(Decimal(value)), "g")


def shown_near(value: float, digits: int = 6) -> str:
    """About the value: for what is no claim."""
    return format(Context(prec=digits).create_decimal(value).normalize(), "g")


def published(bound: oc.Bound, proves: Callable[[oc.Bound, Decimal], bool], digits: int = SHOWN) -> str:
    """The upper side: the short decimal just below the float where that too is proved, else rounded up.

    The float above 0.3 is 0.30000000000000004; a person who adds 0.1 three times wants to read 0.3.
    """
    shown = shown_up(bound.upper, digits)
    if math.isinf(bound.upper) or float(shown) == bound.upper:
        return shown
    near = Context(prec=digits).plus(Decimal(bound.upper)).normalize()
    close = 0 < Decimal(bound.upper) - near <= 4 * Decimal(math.ulp(bound.upper))
    return format(near, "f" if near >= 1 else "g") if close and proves(bound, near) else shown


def excess(value: float, best: float) -> str:
    """How much more than the best a value is, in percent, or as a factor where percents would be silly."""
    if math.isinf(value) or (best == 0 and value > 0):
        return "—"
    ratio = value / best if best else 1.0
    return f"×{shown_up(ratio, 3)}" if ratio >= 10 else f"+{shown_up(round((ratio - 1) * 100, 9), 3)}%"


def saving(value: float, basic: float) -> str:
    """How much less than basic composition a value is, in percent rounded down."""
    return f"{shown_down((1 - value / basic) * 100, 3)}%"


def decimal_ends(bound: oc.Bound, bits: int) -> tuple[str, str]:
    """Both exact ends with as many digits as the bits are worth."""
    whole = max(0, math.ceil(math.log10(bound.upper))) if 0 < bound.upper < math.inf else 0
    return bound.decimal(whole + math.ceil(bits * math.log10(2)) + 1)


def mechanisms(count: int) -> str:
    """The number of mechanisms with its noun."""
    return f"{count:,} mechanism{'' if count == 1 else 's'}"
