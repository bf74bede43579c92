"""What requests cost, as exact rationals in the currencies of the filters, and numbers in words.

A cost may only ever be rounded up.  Sums stay exact while their denominators have fewer than 14 000 bits, which
floats and decimals written by people never reach; beyond that they are rounded up to multiples of 2^-13400, so that a
budget's state cannot be made to grow without end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from optcomp.errors import InvalidInput, Written
from optcomp.numerics import Exact

MOST_BITS, GRID_BITS = 14_000, 13_400
"""Of denominators: below what Python writes as decimals, and finer than any float; beyond, sums are rounded up."""
PLACES = 30
"""Decimal places of the amounts that a ledger keeps: far below every ε, ρ and δ in use, and short to write."""
_NOISE = Fraction(1, 10**12)
"""Within this a float is what people meant."""
SYMBOLS = {"epsilon": "ε", "rho": "ρ", "squares": "Σε²", "divergence": "D_α", "delta": "δ"}
"""How people read the names of the currencies."""


@dataclass(frozen=True, slots=True, repr=False)
class Cost(Written):
    """Amounts in several currencies; None for a currency that is not counted, or no longer."""

    epsilon: Fraction | None = None
    """Σε_i of pure ε_i-DP."""
    rho: Fraction | None = None
    """Σρ_i of zCDP."""
    squares: Fraction | None = None
    """Σε_i², where ρ-zCDP counts as 2ρ."""
    divergence: Fraction | None = None
    """ΣD_α at the order of the filter."""
    delta: Fraction = Fraction(0)
    """Σδ_i."""

    def get(self, currency: str) -> Fraction | None:
        """The amount in a currency."""
        amount: Fraction | None = getattr(self, currency)
        return amount

    def plus(self, other: Cost) -> Cost:
        """Both together; a currency that one of them does not count is counted no longer."""
        sums = {}
        for name in CURRENCIES:
            one, two = self.get(name), other.get(name)
            sums[name] = None if one is None or two is None else bounded_up(one + two)
        return Cost(**sums)  # type: ignore[arg-type]

    def times(self, count: int) -> Cost:
        """So many of it together: what as many steps of `plus` come to, or less where these round up."""
        if count == 1:
            return self
        amounts = {name: self.get(name) for name in CURRENCIES}
        known = {name: None if amount is None else bounded_up(amount * count) for name, amount in amounts.items()}
        return Cost(**known)  # type: ignore[arg-type]

    def rounded_up(self, places: int = PLACES) -> Cost:
        """Every amount up to the next multiple of 10^-places, so that sums of many requests stay short."""
        grid = 10**places
        return Cost(**{name: _on_grid_up(self.get(name), grid) for name in CURRENCIES})  # type: ignore[arg-type]

    def __str__(self) -> str:
        """For people, rounded up."""
        shown = ((SYMBOLS[name], self.get(name)) for name in CURRENCIES)
        return ", ".join(f"{symbol} = {short_up(amount)}" for symbol, amount in shown if amount is not None)


CURRENCIES = tuple(entry.name for entry in fields(Cost))
"""The names of all amounts that a cost may have."""


def _on_grid_up(amount: Fraction | None, grid: int) -> Fraction | None:
    if amount is None or grid % amount.denominator == 0:
        return amount
    return Fraction(-(-amount.numerator * grid // amount.denominator), grid)


def kept(value: Exact, argument: str) -> Fraction:
    """A budget as a fraction that can be written and read again."""
    number = Fraction(value)
    if number.denominator.bit_length() > MOST_BITS:
        raise InvalidInput(argument, "a fraction", f"must have a denominator of at most {MOST_BITS} bits")
    return number


def bounded_up(value: Fraction) -> Fraction:
    """The same number, or the next multiple of 2^-13400 above it where its denominator is too long to keep."""
    if value.denominator.bit_length() <= MOST_BITS:
        return value
    return Fraction(-((-value.numerator << GRID_BITS) // value.denominator), 1 << GRID_BITS)


def short_down(value: Fraction, digits: int = 6) -> str:
    """A few digits for people, not more than the number (but for the noise of a float)."""
    return _short(value, digits, ROUND_FLOOR)


def short_up(value: Fraction, digits: int = 6) -> str:
    """A few digits for people, not less than the number (but for the noise of a float)."""
    return _short(value, digits, ROUND_CEILING)


@lru_cache(maxsize=4096)
def _short(value: Fraction, digits: int, rounding: str) -> str:
    near = _rounded(value, digits, ROUND_HALF_EVEN)
    shown = near if abs(Fraction(near) - value) <= value * _NOISE else _rounded(value, digits, rounding)
    return f"{shown:f}" if -5 < shown.adjusted() < 12 else f"{shown:e}"


def _rounded(value: Fraction, digits: int, rounding: str) -> Decimal:
    """By whole numbers first: decimals of as many digits as a fraction may have take seconds."""
    power = 0 if not value else math.floor(math.log10(abs(value.numerator)) - math.log10(value.denominator))
    scaled = value * Fraction(10) ** (digits + 1 - power)  # two digits more than are shown, or three
    near = math.floor(scaled)
    with localcontext() as context:
        context.prec, context.rounding = digits, rounding
        context.Emin, context.Emax = MIN_EMIN, MAX_EMAX
        several = Decimal(10 * near + (scaled != near))  # a last digit says whether anything follows
        return context.plus(several).scaleb(power - digits - 2).normalize()
