"""Numbers as people read them, rounded in the direction in which they stay true."""

from __future__ import annotations

import math
from decimal import Context

import optcomp as oc
from optcomp.composition import shown_down


def shown_near(value: float, digits: int = 6) -> str:
    """About the value: for what is no claim."""
    return format(Context(prec=digits).create_decimal(value).normalize(), "g")


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
