"""Answers as people read and publish them: decimals, rounded in the direction in which they stay true."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from optcomp.composition.entry import METHODS, compose
from optcomp.composition.reading import Items
from optcomp.errors import OptcompError
from optcomp.theorems import Bound, Parameters

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


def published(bound: Bound, proves: Callable[[Bound, Decimal], bool], digits: int = SHOWN) -> str:
    """The upper side: the short decimal just below the float where that too is proved, else rounded up.

    The float above 0.3 is 0.30000000000000004; a person who adds 0.1 three times wants to read 0.3.
    """
    shown = shown_up(bound.upper, digits)
    if math.isinf(bound.upper) or float(shown) == bound.upper:
        return shown
    near = Context(prec=digits).plus(Decimal(bound.upper)).normalize()
    close = 0 < Decimal(bound.upper) - near <= 4 * Decimal(math.ulp(bound.upper))
    return format(near, "f" if near >= 1 else "g") if close and proves(bound, near) else shown


def proves(items: Items, bound: Bound, value: Decimal, *, parameters: Parameters = "fixed") -> bool:
    """Whether this value is proved too, by asking the other way round."""
    method = bound.method if bound.method in METHODS else "auto"
    eps, delta = (str(value), None) if bound.quantity == "epsilon" else (None, str(value))
    try:
        back = compose(items, epsilon=eps, delta=delta, method=method, parameters=parameters)
    except (OptcompError, ArithmeticError):
        return False
    return back.upper <= bound.given


def excess(value: float, best: float) -> str:
    """How much more than the best a value is, in percent, or as a factor where percents would be silly."""
    if math.isinf(value) or (best == 0 and value > 0):
        return "—"
    ratio = value / best if best else 1.0
    return f"×{shown_up(ratio, 3)}" if ratio >= 10 else f"+{shown_up(round((ratio - 1) * 100, 9), 3)}%"
