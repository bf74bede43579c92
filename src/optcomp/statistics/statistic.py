"""What every statistic is: exact integers read off a table, how much one person can change them, and what they mean.

A statistic consists of parts.  A part is a vector of integers, counted in a unit, to which one kind of noise is added;
a share of the statistic's budget goes to each part.  Everything after the noise is arithmetic on noisy integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from optcomp.errors import InvalidInput, Written
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.entries import Entries
from optcomp.statistics.fragments import Schema
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.noise import AddedNoise, Noise, known_noises
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.stated import ReachError, Setting, StatedError
from optcomp.statistics.table import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

Amounts = Sequence[Sequence[Fraction]]
"""Noisy integers times their units, part by part."""
Interval = tuple[float, float]
"""Where a number lies."""


@dataclass(frozen=True)
class Keyword:
    """A word that names a statistic in a plan, and what may be said with it."""

    word: str
    read: Callable[[Entries], Statistic]
    """Takes the statistic's own entries."""
    entries: Mapping[str, Schema]
    """These entries, as JSON Schema says them."""
    facts: tuple[str, ...] = ()
    """What may be said about its values: present, centre, spread."""


class Told(NamedTuple):
    """What is told of a table before arithmetic: noisy amounts, and names of cells that were found in the data."""

    amounts: tuple[tuple[Fraction, ...], ...]
    names: tuple[str, ...] = ()


class Statistic(Written, ABC):
    """A question about a table."""

    where: str | None
    keywords: ClassVar[tuple[Keyword, ...]] = ()
    """The words for it in plans."""
    assumes: ClassVar[tuple[str, ...]] = ()
    """What a stated error takes for granted about the values, for people."""
    comparable: ClassVar[bool] = False
    """Whether it is one number that may be whole, so that thresholds can be compared with it."""

    finds: ClassVar[bool] = False
    """Whether its cells are found in the data and told by name, and not declared."""

    @property
    def needs_rows(self) -> bool:
        """Whether its error depends on how many rows have a value in its column."""
        return False

    @property
    def all_rows(self) -> bool:
        """Whether it is about all rows at once: what is known about a column is true of them."""
        return self.where is None and not getattr(self, "by", ())

    @abstractmethod
    def expression(self, table: Table) -> ir.Table:
        """The query that the engine runs: at most one row for each cell, never one for each person."""

    @abstractmethod
    def parts(self, table: Declared) -> tuple[Part, ...]:
        """The vectors that get noise; depends on declarations only."""

    def check_size(self, table: Declared, most: int) -> None:
        """Refuse what is computed from more numbers than `most`; depends on declarations only."""
        found = sum(len(part.cells) for part in self.parts(table))
        if found > most:
            problem = f"must have at most {most:,} cells here: name fewer columns, or coarser ones"
            raise InvalidInput("statistic", f"{found:,} cells", problem)

    @abstractmethod
    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """The exact integers of every part, from the rows of the query."""

    @abstractmethod
    def value(self, table: Declared, amounts: Amounts) -> Any:
        """What is told: a function of the noisy amounts (integers times units)."""

    @abstractmethod
    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Any:
        """Where the statistic of the bounded data lies, with the confidence of the noises; what is told lies there too.

        None if that does not follow from the noises.
        """

    def tell(self, table: Table, integers: Sequence[IntegerVector], noise: Noise, scales: Sequence[float]) -> Told:
        """The exact integers with noise, in units of the column."""
        parts = self.parts(table)
        return Told(
            tuple(
                tuple(value * part.unit for value in noise.tell(values, scale, len(part.cells)))
                for values, part, scale in zip(integers, parts, scales, strict=True)
            )
        )

    def named(self, names: Sequence[str]) -> Statistic:
        """Itself, with the names that were told if it finds its cells."""
        return self

    def check_told(self, table: Declared, told: Told, noise: Noise, scales: Sequence[float]) -> None:
        """Refuse names and amounts that it cannot have told; for what is declared that is checked by others."""

    def also_told(self, table: Declared, noise: Noise, scales: Sequence[float]) -> dict[str, Any]:
        """What else a release says of it, ready for JSON; it follows from what is declared and the noise."""
        return {}

    def rows_off(self, table: Declared, scales: Sequence[float], confidence: float) -> float | None:
        """By how many rows the rank of what was chosen may be off; None of what is no choice by rank."""
        return None

    @classmethod
    def noises(cls) -> tuple[Noise, ...]:
        """How it can be answered, the default first: with all noise that is added to numbers."""
        return tuple(noise for noise in known_noises() if isinstance(noise, AddedNoise))

    def stated(self, setting: Setting) -> StatedError:
        """How far off it will be: the reach of the noise, unless it has an error of its own."""
        return ReachError(setting, self.parts(setting.table))

    @property
    def error_unit(self) -> str:
        """What an error is counted in, for people."""
        return "rows"

    @property
    def value_unit(self) -> str:
        """What its values are counted in, for people: as its errors, unless it says otherwise."""
        return self.error_unit

    def size(self, table: Declared, rows: float) -> float:
        """What an error is relative to: the rows for counts, the range for values."""
        return rows

    def granted(self) -> tuple[str, ...]:
        """What its stated error takes for granted about the values, for people."""
        return self.assumes

    def compares(self) -> bool:
        """Whether it is one number that thresholds can be compared with."""
        return self.comparable

    def grows(self, table: Declared) -> bool:
        """Whether it never becomes less if a person is added."""
        return False

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """How it is audited, by name."""
        return {}

    def audit_feature(self, value: Any) -> Hashable | None:
        """What an audit keeps of an answer; None: what the noise says."""
        return None

    @property
    def values_of(self) -> str | None:
        """The column whose values it is about, if it is one."""
        found = getattr(self, "column", None)
        return found if isinstance(found, str) else None

    @property
    def value_columns(self) -> tuple[str, ...]:
        """The columns whose values it is about."""
        return () if self.values_of is None else (self.values_of,)

    def cell_names(self) -> tuple[str, ...]:
        """What the cells of an answer are of, one name for each of their labels."""
        return tuple(getattr(self, "by", ()))

    def adds_up(self) -> bool:
        """Whether its cells are counts of rows, each row in one of them, so that they add up to the number of rows."""
        return False

    def measure(self, table: Table) -> tuple[IntegerVector, ...]:
        """The exact integers: for mechanisms that add noise, not for publication."""
        return self.integers(table, table.run(table.prepared(self, self.expression)))

    def __str__(self) -> str:
        """Such as: mean of income where age >= 18."""
        about = getattr(self, "column", None) or ", ".join(getattr(self, "columns", ()))
        name = type(self).__name__.lower() + (f" of {about}" if about else "")
        grouped = ", ".join(getattr(self, "by", ()))
        name = f"{name} by {grouped}" if grouped else name
        return f"{name} where {self.where}" if self.where else name

    def document(self) -> dict[str, Any]:
        """Itself in the words of plans, ready for JSON and exact: its keyword reads an equal statistic back."""
        kind = type(self).__name__
        raise InvalidInput("statistic", kind, "cannot be written down: its class has no method `document`")

    def worded(self, **words: Any) -> dict[str, Any]:
        """Words of a plan that say something, and the condition if there is one."""
        return {name: value for name, value in {**words, "where": self.where}.items() if value is not None}

    def check(self, table: Table) -> None:
        """Refuses what the table does not declare; looks at no data."""
        self.parts(table)
        table.prepared(self, self.expression)


def first_row(rows: list[tuple[Any, ...]]) -> IntegerVector:
    """The sums in the one row of an aggregate; a sum over no rows is null, and counts as zero."""
    return tuple(int(value or 0) for value in rows[0])


def checked_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """At least one name, none twice."""
    names = () if isinstance(columns, str) or not isinstance(columns, Iterable) else tuple(columns)
    if not names or any(not isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InvalidInput("columns", columns, "must be different names of columns, at least one")
    return names


def around_count(count: Fraction, off: int) -> Interval:
    """As far as a count may be off, cut off at 0 but never short of the noisy count itself."""
    return float(min(max(count - off, Fraction(0)), count)), float(max(count + off, Fraction(0)))


def clamped(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """The nearest number within the ends."""
    return min(max(value, low), high)
