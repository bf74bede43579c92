"""What a column may hold, declared by people and never read off the data.

A domain turns whatever a cell of the table holds into a value of the domain or a null, inside the query engine: values
outside bounds are clamped, NaN and text that is no number count as missing, unknown categories fall into a bucket of
their own.  No value can raise an error, so none can be recognised by one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput
from optcomp.numerics import Number, exact, ratio, whole
from optcomp.statistics import casts

if TYPE_CHECKING:
    import ibis.expr.types as ir

OTHER = "(other)"
"""The cell of everything that is not declared, unless it is named."""
MOST_UNITS = 2**30
"""Values are summed as integers of at most this size: 2^33 rows of them stay within 64 bits."""
MOST_BOUND = Fraction(10**100)
"""Bounds, and distances between bounds, that floats can compute with: at most this, and at least its inverse."""
_STEPS = 2**20
"""Steps within the range of a column by default; their sums are exact in floats."""
_MOST_INTEGER = 2**62
"""Sums and differences of two stay within 64 bits."""


class Domain(ABC):
    """The declared values of a column."""

    @property
    @abstractmethod
    def holds(self) -> type[str | bool | int | float]:
        """The type of its values."""

    @abstractmethod
    def clean(self, column: ir.Value) -> ir.Value:
        """The column with every cell inside the domain, or null."""


class Numbers(Domain):
    """Numbers between two bounds; sums are taken in whole multiples of a unit."""

    low: Fraction
    high: Fraction

    @property
    @abstractmethod
    def unit(self) -> Fraction:
        """Every value counts as a whole multiple of this."""

    @property
    def middle(self) -> Fraction:
        """A multiple of the unit half way between the bounds, about."""
        return round((self.low + self.high) / 2 / self.unit) * self.unit

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest float within the bounds; if there is none, one that is near, twice."""
        low, high = _float_above(self.low), -_float_above(-self.high)
        return (low, high) if low <= high else (low, low)

    def steps(self, column: ir.Value, origin: Fraction, unit: Fraction) -> ir.Value:
        """How many units each cell lies above the origin: whole, and within `reach`; null where there is no number.

        Cells are clamped first: engines may compute a branch of a CASE also for the cells of another one, so nothing
        may come after a CASE that could fail before it.  Then the engine subtracts, scales and rounds; each of these
        is monotone, so nothing gets beyond what the bounds themselves become.  Steps of up to 2^20 stay floats, whose
        sums are exact up to 2^33 rows.
        """
        number = casts.number(column)
        if number.type().is_integer() and unit == 1 and origin.denominator == 1 and self._integral:
            inside = _clamped(number, int(self.low), int(self.high))
            return inside - int(origin) if origin else inside
        inside = _clamped(number.cast("float64"), *self.ends)
        moved = inside - float(origin) if origin else inside
        found = ((moved * float(1 / unit) if _short(unit) else moved / float(unit)) + 0.5).floor()
        return found if max(map(abs, self.reach(origin, unit))) > _STEPS else found.cast("float64")

    def reach(self, origin: Fraction, unit: Fraction) -> tuple[int, int]:
        """The least and the greatest number of units above the origin, as the engine computes them in floats."""
        moved = [end - float(origin) for end in self.ends]
        low, high = (end * float(1 / unit) if _short(unit) else end / float(unit) for end in moved)
        return math.floor(low + 0.5), math.floor(high + 0.5)

    @property
    def _integral(self) -> bool:
        return all(end.denominator == 1 and abs(end) <= _MOST_INTEGER for end in (self.low, self.high))


def _short(unit: Fraction) -> bool:
    """A power of two, so that multiplying by its inverse is exact."""
    return unit.numerator & (unit.numerator - 1) == 0 and unit.denominator & (unit.denominator - 1) == 0


@dataclass(frozen=True)
class Integers(Numbers):
    """Whole numbers from `low` to `high`, both included."""

    low: Fraction
    high: Fraction

    def __init__(self, low: int, high: int) -> None:
        far = _MOST_INTEGER
        least, most = whole(low, "low", -far, far), whole(high, "high", -far, far)
        _ascending(least, most)
        object.__setattr__(self, "low", Fraction(least))
        object.__setattr__(self, "high", Fraction(most))

    @property
    def unit(self) -> Fraction:
        """1, or a power of two when the bounds are very far apart."""
        return _unit(max(abs(self.low), abs(self.high)), Fraction(1))

    @property
    def holds(self) -> type[str | bool | int | float]:
        """Integers."""
        return int

    def clean(self, column: ir.Value) -> ir.Value:
        """Rounded, clamped, null where there is no number."""
        number = casts.number(column)
        if not number.type().is_integer():
            number = (_clamped(number, *self.ends) + 0.5).floor()
        return _clamped(number, int(self.low), int(self.high))

    def __repr__(self) -> str:
        return f"Integers({int(self.low)}, {int(self.high)})"


@dataclass(frozen=True)
class Reals(Numbers):
    """Numbers from `low` to `high`, which are summed on a grid of `unit`: by default a millionth of the range."""

    low: Fraction
    high: Fraction
    given_unit: Fraction | None

    def __init__(self, low: Number, high: Number, unit: Number | None = None) -> None:
        least, most = Fraction(exact(low, "low")), Fraction(exact(high, "high"))
        _ascending(least, most)
        if max(-least, most) > MOST_BOUND or most - least < 1 / MOST_BOUND:
            problem = f"must lie within {float(MOST_BOUND):g} of zero, and {float(1 / MOST_BOUND):g} apart"
            raise InvalidInput("high" if abs(most) >= abs(least) else "low", (low, high), problem)
        step = None if unit is None else Fraction(exact(unit, "unit"))
        if step is not None and not 0 < step <= most - least:
            raise InvalidInput("unit", unit, "must be positive, and no larger than the distance between the bounds")
        if step is not None and max(abs(least), abs(most), most - least) / step > MOST_UNITS:
            raise InvalidInput("unit", unit, f"is too small: the bounds must lie within {MOST_UNITS} units of zero")
        object.__setattr__(self, "low", least)
        object.__setattr__(self, "high", most)
        object.__setattr__(self, "given_unit", step)

    @property
    def unit(self) -> Fraction:
        """As given, or a power of two."""
        if self.given_unit is not None:
            return self.given_unit
        return _unit(max(abs(self.low), abs(self.high)), power_of_two((self.high - self.low) / _STEPS))

    @property
    def holds(self) -> type[str | bool | int | float]:
        """Floats."""
        return float

    def clean(self, column: ir.Value) -> ir.Value:
        """Clamped, null where there is no number."""
        return _clamped(casts.number(column).cast("float64"), *self.ends)

    def __repr__(self) -> str:
        return f"Reals({float(self.low):g}, {float(self.high):g})"


@dataclass(frozen=True)
class Categories(Domain):
    """One of a few values; everything else, nulls included, falls into the bucket `other`."""

    values: tuple[str | int | bool, ...]
    other: str

    def __init__(self, values: Iterable[str | int | bool], other: str = OTHER) -> None:
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InvalidInput("values", values, "must be a list of categories")
        found = tuple(values)
        if not found:
            raise InvalidInput("values", found, "must name at least one category")
        if any(not isinstance(value, str | int) for value in found) or len({type(value) for value in found}) > 1:
            raise InvalidInput("values", found, "must be all text, all integers or all truth values")
        if not all(casts.writable(value) for value in found):
            raise InvalidInput("values", found, "must be text in UTF-8, or integers of 63 bits")
        if len(set(found)) < len(found):
            raise InvalidInput("values", found, "must not repeat a category")
        if not isinstance(other, str):
            raise InvalidInput("other", other, "must be text")
        if other in found:
            raise InvalidInput("other", other, "must not be one of the categories")
        object.__setattr__(self, "values", found)
        object.__setattr__(self, "other", other)

    @property
    def cells(self) -> tuple[str | int | bool, ...]:
        """The categories and the bucket for the rest."""
        return (*self.values, self.other)

    @property
    def holds(self) -> type[str | bool | int | float]:
        """That of the categories."""
        return type(self.values[0])

    def typed(self, column: ir.Value) -> ir.Value:
        """The column in the type of the categories, null where a value has no such form."""
        first = self.values[0]
        cast = casts.text if isinstance(first, str) else casts.truth if isinstance(first, bool) else casts.integer
        return cast(column)

    def clean(self, column: ir.Value) -> ir.Value:
        """The category, or null for the bucket."""
        import ibis

        value = self.typed(column)
        return value.isin(self.values).ifelse(value, ibis.null(value.type()))

    def __repr__(self) -> str:
        return f"Categories({list(self.values)!r})"


def _clamped(number: Any, low: float, high: float) -> Any:
    """Between the bounds, or null.

    A comparison with a null is not true, so a null falls through; NaN is caught first, as engines differ about it.
    """
    import ibis

    missing = [(number.isnan(), ibis.null(number.type()))] if number.type().is_floating() else []
    return ibis.cases(*missing, (number > high, high), (number < low, low), else_=number)


def _float_above(value: Fraction) -> float:
    """The least float at or above."""
    near = float(value)
    return near if near >= value else math.nextafter(near, math.inf)


def power_of_two(value: Fraction) -> Fraction:
    """The greatest power of two that is no larger."""
    power = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() + 1)
    while power > value:
        power /= 2
    return power


def _unit(largest: Fraction, wished: Fraction) -> Fraction:
    while largest / wished > MOST_UNITS:
        wished *= 2
    return wished


def _ascending(low: Fraction | int, high: Fraction | int) -> None:
    if not low < high:
        raise InvalidInput("low", low, f"must be below high = {ratio(Fraction(high))}")
