"""Balls around exact numbers (Arb through python-flint), and the working precision.

A ball contains the number it stands for; `a <= b` between balls is true only when it holds for all their numbers.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq

from optcomp.checker.effort import precise, reducible

Exact = float | Fraction
"""A float stands for its dyadic value."""

Group = tuple[Exact, Exact, int]
"""ε, δ and how many mechanisms promise them."""

Noise = tuple[Exact, int]
"""μ of Gaussian mechanisms, whose loss is N(μ²/2, μ²), and how many there are."""

GUESS_BITS = 64
"""For numbers that become floats and serve guesses."""
FEW_BITS = 42
"""Of F on a lattice, at first: as many as doubles give, and enough for twelve digits of ε."""
TABLE_BITS = 55
"""Relative accuracy of a ball that is rounded to a double: a little more than it keeps."""
LEAST_BITS = 128
"""For claims: a float's bits, and what long sums lose."""
COIN_BITS = 192
"""For the coins of an instance, which serve several attempts: most of them need no more."""
LEAK_BITS = 256
"""For the product of the leaks, of which a claim about a small δ may cancel most."""

_alone = threading.RLock()


@contextmanager
def working(bits: int) -> Iterator[None]:
    """Ball arithmetic with this many bits; the setting is global, so one thread at a time, and put back at the end."""
    precise(bits)
    with _alone:
        before = ctx.prec
        ctx.prec = max(32, int(bits))
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Exact | int) -> arb:
    """A ball around an exact number."""
    return arb(fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else arb(value)


def spread(radius: arb) -> arb:
    """The ball of all numbers at most `radius` away from zero."""
    return arb(0, radius.abs_upper())


def enclosing(value: arb) -> tuple[Fraction, Fraction]:
    """Rational numbers between which a finite ball lies."""
    low, high = (_rational(end) for end in (value.lower(), value.upper()))
    return low, high


def _rational(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def near(value: arb) -> float:
    """A float near the ball's middle, for choices and never for claims; infinite where floats end."""
    middle = value.mid()
    if not middle.is_finite():
        return math.inf
    try:
        return float(middle)
    except OverflowError:
        return math.inf if middle > 0 else -math.inf


def log_near(value: arb) -> float:
    """The logarithm of a positive number, roughly, for choices; minus infinity for what may be zero."""
    middle = value.mid()
    return near(middle.log()) if middle > 0 else -math.inf


def exact_sum(values: Iterable[tuple[Exact, int]]) -> Fraction:
    """The sum of value * count, exactly: numerators are added up by denominator first."""
    numerators: dict[int, int] = {}
    for value, count in values:
        numerator, denominator = value.as_integer_ratio()
        numerators[denominator] = numerators.get(denominator, 0) + numerator * count
    total = Fraction(0)
    for denominator, numerator in numerators.items():
        reducible(total.denominator.bit_length() + denominator.bit_length())
        total += Fraction(numerator, denominator)
    return total
