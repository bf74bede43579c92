"""What a column may hold, declared by people and never read off the data.

Preparation turns every cell into an integer: a number of steps above the lowest value, or the code of a category; or
into nothing, if it is missing.  Values outside the bounds are clamped, unknown categories fall into a bucket of their
own.  Everything that a question does later is arithmetic on these integers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from optcomp.errors import InvalidInput, Written
from optcomp.numerics import Exact, Number, exact, ratio, whole

OTHER = "(other)"
"""The cell of everything that is not declared, unless it is named."""
MOST_UNITS = 2**22
"""Integers that are summed are at most this large: the sum over 2^40 rows fits 62 bits."""
MOST_BOUND = Fraction(10**100)
"""Bounds, and distances between bounds, that floats can compute with: at most this, and at least its inverse."""
DEFAULT_TEXT, MOST_TEXT = 64, 1000
"""Characters of a text that nobody declared: by default, and at most."""
_STEPS = 2**20
"""Steps within the range of a column by default: finer than noise allows to see."""
_MOST_INTEGER = 2**62
"""Sums and differences of two stay within 64 bits."""


class Domain(ABC):
    """The declared values of a column."""

    @property
    @abstractmethod
    def holds(self) -> type[str | bool | int | float]:
        """The type of its values."""

    @property
    @abstractmethod
    def top(self) -> int:
        """The largest integer that a cell becomes; the least is 0."""

    @property
    def of_numbers(self) -> bool:
        """Whether text in its cells is read as numbers."""
        return self.holds in (int, float)


class Listed(Domain):
    """A domain whose values are declared, so that they can be groups and cells."""


@dataclass(frozen=True, repr=False)
class Coarse(Written):
    """A column in steps so many times as long: integers `(cell + shift) // times + low`, from `low` to `high`."""

    times: int
    shift: int
    low: int
    high: int
    unit: Fraction
    """What one of them is worth."""

    def of(self, cell: Any) -> Any:
        """Counted from 0, so that no engine divides what is negative."""
        if self.times == 1:
            return cell
        return (cell + self.shift) // self.times


class Numbers(Listed):
    """Numbers between two bounds, on a grid: whole multiples of a step."""

    low: Fraction
    high: Fraction

    @property
    @abstractmethod
    def step(self) -> Fraction:
        """Every cell is rounded to a whole multiple of this."""

    @property
    def unit(self) -> Fraction:
        """What sums are counted in: the step, or a multiple that keeps the sums of 2^40 rows within 62 bits."""
        return self.coarse(MOST_UNITS).unit

    @cached_property
    def first(self) -> int:
        """The multiple of the step that the cell 0 stands for."""
        return nearest(self.low / self.step)

    @cached_property
    def top(self) -> int:
        """That of the upper bound."""
        return nearest(self.high / self.step) - self.first

    @cached_property
    def middle_cell(self) -> int:
        """Half way between the bounds, about."""
        return min(max(nearest((self.low + self.high) / 2 / self.step) - self.first, 0), self.top)

    @cached_property
    def middle(self) -> Fraction:
        """What that cell stands for."""
        return (self.first + self.middle_cell) * self.step

    def told(self, value: Fraction) -> Any:
        """A value of the column as people are told it."""
        return float(value)

    def edge(self, value: Number | str) -> Exact:
        """An edge of bins, as people give it."""
        return exact(value, "edges")

    def even_edges(self, count: int) -> tuple[Exact, ...]:
        """Those of so many bins of equal width, from bound to bound."""
        return tuple(self.low + (self.high - self.low) * place / count for place in range(count + 1))

    def edge_names(self, edges: Sequence[Exact]) -> list[str]:
        """What edges are called: with twelve digits, or exactly where that is not enough."""
        names = [f"{float(edge):.12g}" for edge in edges]
        return names if len(set(names)) == len(names) else [_exact_name(edge) for edge in edges]

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest float within the bounds; if there is none, one that is near, twice."""
        low, high = _float_above(self.low), -_float_above(-self.high)
        return (low, high) if low <= high else (low, low)

    def coarse(self, most: int) -> Coarse:
        """As multiples, counted from zero, of the least unit for which they stay within `most`."""
        return _from_zero(self, most)

    def around_middle(self, most: int) -> Coarse:
        """As distances from the middle, in the least unit for which they stay within `most`."""
        return _from_middle(self, most)


@lru_cache(maxsize=1024)
def _from_zero(domain: Numbers, most: int) -> Coarse:
    times, first, last = 1, domain.first, domain.first + domain.top
    while True:
        low, high = ((end + times // 2) // times for end in (first, last))
        if max(abs(low), abs(high)) <= most:
            return Coarse(times, first + times // 2 - low * times, low, high, domain.step * times)
        times *= 2


@lru_cache(maxsize=1024)
def _from_middle(domain: Numbers, most: int) -> Coarse:
    times, middle, top = 1, domain.middle_cell, domain.top
    while True:
        shift = (times // 2 - middle) % times
        place = (middle + shift) // times
        if max(place, (top + shift) // times - place) <= most:
            return Coarse(times, shift, -place, (top + shift) // times - place, domain.step * times)
        times *= 2


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

    @cached_property
    def step(self) -> Fraction:
        """1, or a power of two when the bounds are very far apart."""
        return _step(self.high - self.low, Fraction(1))

    @property
    def holds(self) -> type[str | bool | int | float]:
        """Integers."""
        return int

    def label(self, index: int) -> Any:
        """What a whole number is called in tables of counts."""
        return index

    def __repr__(self) -> str:
        return f"Integers({int(self.low)}, {int(self.high)})"


@dataclass(frozen=True)
class Reals(Numbers):
    """Numbers from `low` to `high`, on a grid of `unit`: by default a millionth of the range, and never much finer."""

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
        if step is not None and max(abs(least), abs(most), most - least) / step > _FINEST:
            raise InvalidInput("unit", unit, f"is too small: the bounds must lie within {_FINEST} units of zero")
        object.__setattr__(self, "low", least)
        object.__setattr__(self, "high", most)
        object.__setattr__(self, "given_unit", step)

    @cached_property
    def step(self) -> Fraction:
        """As given, or a power of two; twice, four times, ... that where the bounds are too far apart for it."""
        width = self.high - self.low
        return _step(width, power_of_two(width / _STEPS) if self.given_unit is None else self.given_unit)

    @property
    def holds(self) -> type[str | bool | int | float]:
        """Floats."""
        return float

    def __repr__(self) -> str:
        return f"Reals({float(self.low):g}, {float(self.high):g})"


_FINEST = 2**30
"""Units within the bounds that may be asked for; they become coarser where sums would not fit 62 bits."""


@dataclass(frozen=True)
class Categories(Listed):
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
        if not all(writable(value) for value in found):
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

    @cached_property
    def top(self) -> int:
        """The code of what is there and not declared."""
        return len(self.values)

    @property
    def holds(self) -> type[str | bool | int | float]:
        """That of the categories."""
        return type(self.values[0])

    def __repr__(self) -> str:
        return f"Categories({list(self.values)!r})"


@dataclass(frozen=True)
class Text(Domain):
    """Text of at most `most` characters whose values nobody declares; longer text is cut.

    Its texts are kept by the owner, and none is told but by `Frequent`.
    """

    most: int

    def __init__(self, most: int = DEFAULT_TEXT) -> None:
        object.__setattr__(self, "most", whole(most, "most", 1, MOST_TEXT))

    @property
    def top(self) -> int:
        """A cell becomes the place of its text in the owner's list: no table has more cells."""
        return 2**52 - 1

    @property
    def holds(self) -> type[str | bool | int | float]:
        """Text."""
        return str

    def __repr__(self) -> str:
        return f"Text({self.most})"


def writable(value: str | int) -> bool:
    """Whether it can be a cell of a table."""
    if isinstance(value, int):
        return abs(value) < 2**63
    return all(not 0xD800 <= ord(letter) <= 0xDFFF for letter in value)


def _exact_name(edge: Exact) -> str:
    """Two edges have one name only if they are equal, as floats or as fractions."""
    return repr(float(edge)) if float(edge) == edge and edge != int(edge) else ratio(Fraction(edge))


def nearest(value: Fraction) -> int:
    """The nearest integer, the greater of two."""
    return math.floor(value + Fraction(1, 2))


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


def _step(width: Fraction, wished: Fraction) -> Fraction:
    while width / wished > MOST_UNITS:
        wished *= 2
    return wished


def _ascending(low: Fraction | int, high: Fraction | int) -> None:
    if not low < high:
        raise InvalidInput("low", low, f"must be below high = {ratio(Fraction(high))}")
