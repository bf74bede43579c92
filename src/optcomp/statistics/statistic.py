"""What every statistic is: exact integers read off a table, how much one person can change them, and what they mean.

A statistic consists of parts.  A part is a vector of integers, counted in a unit, to which one kind of noise is added;
a share of the statistic's budget goes to each part.  Everything after the noise is arithmetic on noisy integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import ibis.expr.types as ir

from optcomp.errors import InvalidInput
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.noise import GAUSSIAN, LAPLACE, Noise
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.table import Declared, Table

Amounts = Sequence[Sequence[Fraction]]
Interval = tuple[float, float]


class Statistic(ABC):
    """A question about a table."""

    where: str | None
    noises: tuple[Noise, ...] = (LAPLACE, GAUSSIAN)
    """How it can be answered; the first is the default."""

    @abstractmethod
    def expression(self, table: Table) -> ir.Table:
        """The query that the engine runs: at most one row for each cell, never one for each person."""

    @abstractmethod
    def parts(self, table: Declared) -> tuple[Part, ...]:
        """The vectors that get noise; depends on declarations only."""

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

    def measure(self, table: Table) -> tuple[IntegerVector, ...]:
        """The exact integers: for mechanisms that add noise, not for publication."""
        return self.integers(table, table.run(table.prepared(self, self.expression)))

    def __str__(self) -> str:
        """Such as: mean of income where age >= 18."""
        about = getattr(self, "column", None) or ", ".join(getattr(self, "columns", ()))
        name = type(self).__name__.lower() + (f" of {about}" if about else "")
        return f"{name} where {self.where}" if self.where else name

    def check(self, table: Table) -> None:
        """Refuses what the table does not declare; looks at no data."""
        self.parts(table)
        table.prepared(self, self.expression)


def first_row(rows: list[tuple[Any, ...]]) -> IntegerVector:
    """The sums in the one row of an aggregate; a sum over no rows is null, and counts as zero."""
    return tuple(int(value or 0) for value in rows[0])


def checked_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """At least one name, none twice."""
    names = tuple(columns)
    if not names or any(not isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InvalidInput("columns", columns, "must be different names of columns, at least one")
    return names
