"""Real numbers as balls (Arb through python-flint), and the way back to floats with a named direction.

Every ball contains the real number it stands for whatever the working precision, and the one way to drop a
radius (`float_near`) refuses balls that are not tight: a change of precision by other code that uses
python-flint can widen a result or make it fail, but never falsify it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq

from optcomp.numerics.exact_numbers import Exact

_LEAST = 1e-300
"""Below this, floats are too coarse for their decimals to matter."""
QUICK_BITS = 80
"""A float and 27 bits more: for thousands of terms that are summed again and again."""
FLOAT_BITS = 96
"""A float and 43 bits more: for closed forms, which lose few bits before they are rounded to floats."""
SUM_BITS = 128
"""A float and 75 bits more: for sums with counts of up to 2^53, and for differences of them."""
DEEP_BITS = 192
"""For differences of which a hundred bits may cancel, and for the end of a ball, which is never to become a float."""
_lock = threading.RLock()


class OutOfRange(ArithmeticError):
    """Floats cannot hold the numbers on the way; another method may."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with `bits` bits; one thread at a time, because the setting is global in python-flint."""
    with _lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Exact | int) -> arb:
    """A ball around an exact number: radius zero for floats and integers, an ulp for other rationals."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return arb(value)


def fraction(point: arb) -> Fraction:
    """The exact rational value of a ball of radius zero."""
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def float_near(value: arb) -> float:
    """A float within 2^-53 (1 + |value|) of every number of the ball; refuses balls too wide for that."""
    if not value.rad() <= (1 + abs(value.mid())) * arb(2) ** -60:
        raise OutOfRange(f"a ball is too wide to stand for a float: {value}")
    return float(value)


def float_up(value: arb) -> float:
    """The least float at or above the whole ball (inf when there is none)."""
    if not value.is_finite():
        return math.inf
    return _at_or_above(value.upper())


def float_down(value: arb) -> float:
    """The greatest float at or below the whole ball (-inf when there is none)."""
    if not value.is_finite():
        return -math.inf
    return -_at_or_above(-value.lower()) + 0.0  # never minus zero


def told_up(value: arb) -> float:
    """The least float above the whole ball that is above it as a decimal too: for upper sides that people read.

    People and files know a float by its shortest decimal, which may be smaller than the float: 0.1 stands for a float
    above 0.1000000000000000005, but nobody who reads 0.1 would know.
    """
    if not value.is_finite():
        return math.inf
    with precision(DEEP_BITS):
        return _told(value.upper())


def told_down(value: arb) -> float:
    """The greatest float below the whole ball, as a decimal too: for lower sides that people read."""
    if not value.is_finite():
        return -math.inf
    with precision(DEEP_BITS):
        return -_told(-value.lower()) + 0.0  # never minus zero


def _told(point: arb) -> float:
    found = _at_or_above(point)
    if not _LEAST < abs(found) < math.inf or arb(found) == point:
        return found
    return found if Fraction(repr(found)) >= fraction(point) else math.nextafter(found, math.inf)


def _at_or_above(point: arb) -> float:
    guess = _nearby(point)
    while math.isfinite(guess) and arb(guess) < point:
        guess = math.nextafter(guess, math.inf)
    below = math.nextafter(guess, -math.inf)
    while math.isfinite(below) and arb(below) >= point:
        guess, below = below, math.nextafter(below, -math.inf)
    return guess


def _nearby(point: arb) -> float:
    """A float within a few ulp of an exact point; beyond the float range, the last float or infinity."""
    mantissa, exponent = point.man_exp()
    size, exponent = int(mantissa), int(exponent)
    shift = max(0, abs(size).bit_length() - 60)
    try:
        return math.ldexp(size >> shift, exponent + shift)
    except OverflowError:
        return math.inf if size > 0 else -math.nextafter(math.inf, 0.0)
