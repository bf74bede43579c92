"""One number for each group of rows: groups are the declared cells of one or more columns, empty ones too.

Which groups there are follows from what is declared, never from the data.  A person's rows over all groups are at most
as many as a person may have, so all groups together cost what that many rows cost.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput, Written
from optcomp.statistics import fragments
from optcomp.statistics.count_tables import Axis, axis, cells_of, checked_axes, place_of
from optcomp.statistics.declared import Contribution, Declared
from optcomp.statistics.domains import Listed
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.part import IntegerVector, Part, scalar
from optcomp.statistics.stated import Setting
from optcomp.statistics.statistic import Amounts, Interval, Statistic, checked_columns, first_row
from optcomp.statistics.table import Shape, Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

BY: Mapping[str, fragments.Schema] = {
    "by": {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}],
        "description": "One number for each declared cell of this column, or for each combination of several.",
    }
}
"""The entry of plans."""
Columns = str | Sequence[str]
"""As people give them: a name, or several."""
_A_LITTLE = 1e-12
"""More than the rounding of a few floats."""
_SPREAD = "rows are spread evenly over the groups"
"""What an error takes for granted that depends on how many rows a group has."""


@dataclass(frozen=True, repr=False)
class Adds(Written):
    """What one row adds to a part, in whole units: something between two integers, or nothing."""

    name: str
    low: int
    high: int
    unit: Fraction = Fraction(1)
    share: Fraction = Fraction(1)


@dataclass(frozen=True)
class Groups:
    """The declared cells of the columns that a statistic is grouped by; one group without a name if there are none."""

    axes: Mapping[str, Axis]

    @classmethod
    def of(cls, table: Declared, by: Sequence[str]) -> Groups:
        """Of these columns; refused if there are too many cells in all."""
        return cls(checked_axes({name: axis(table.domain(name, Listed, "by")) for name in by}, "by"))

    @property
    def cells(self) -> tuple[Any, ...]:
        """The label of each group; a tuple of labels for several columns."""
        return cells_of(self.axes)

    @property
    def named(self) -> int:
        """How many groups there are without those of what is missing or not declared."""
        return math.prod(len(each.labels) - 1 for each in self.axes.values())

    @property
    def keys(self) -> dict[str, Shape]:
        """The place of a row in each column, for queries: never null, and within the declared cells."""
        return {f"key{i}": (name, partial(_key, each)) for i, (name, each) in enumerate(self.axes.items())}

    def place(self, keys: Sequence[Any]) -> int:
        """The place of a group among the cells."""
        return place_of(list(self.axes.values()), keys)

    def bounded(self, table: Declared) -> str | None:
        """The column whose groups are bounded for each person, if these are just its groups."""
        if len(self.axes) != 1:
            return None
        ((name, found),) = self.axes.items()
        return name if found.each and name in table.grouped_by else None

    def contribution(self, table: Declared) -> Contribution:
        """How much of them one person can be: by the number of rows alone, unless the lot bounds groups too."""
        return table.contribution.of_rows if self.bounded(table) is None else table.contribution


def _key(found: Axis, cell: Any) -> Any:
    """The last place is that of what is missing; a row that somebody changed has a place, too."""
    import ibis

    last, key = len(found.labels) - 1, found.key(cell).cast("int64")
    return ibis.cases((key.isnull(), last), (key > last, last), (key < 0, 0), else_=key)


def columns_by(by: Columns | None, argument: str = "by") -> tuple[str, ...]:
    """The columns that a statistic is grouped by, as people give them: none, a name, or several."""
    if by is None or (not isinstance(by, str) and isinstance(by, Sequence) and not by):
        return ()
    try:
        return checked_columns((by,) if isinstance(by, str) else by)
    except InvalidInput as error:
        raise InvalidInput(argument, by, error.problem) from None


def each_confidence(confidence: float, groups: int) -> float:
    """The confidence of each of so many independent numbers by which all of them have this one; rounded up."""
    if groups == 1:
        return confidence
    missed = -math.expm1(math.log(confidence) / groups)
    return min(math.nextafter(1 - missed, 1) + missed * _A_LITTLE, 1 - 2**-53)


class Grouped(Statistic):
    """Numbers that follow from sums over rows: one of all rows, or one of each group."""

    by: Columns

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", columns_by(self.by))

    @property
    def grouped(self) -> tuple[str, ...]:
        """The columns that it is grouped by."""
        return tuple(self.by)

    @abstractmethod
    def adds(self, table: Declared) -> tuple[Adds, ...]:
        """What a row adds to each part."""

    @abstractmethod
    def shapes(self, table: Table) -> dict[str, Shape]:
        """The columns that its sums are made of."""

    @abstractmethod
    def sums(self, rows: ir.Table, table: Table) -> dict[str, Any]:
        """What is summed up over the rows of a group."""

    @abstractmethod
    def group_integers(self, table: Declared, sums: IntegerVector) -> IntegerVector:
        """The integer of each part, from the sums of a group."""

    @abstractmethod
    def group_value(self, table: Declared, amounts: Sequence[Fraction]) -> Any:
        """What is told of a group: a function of its noisy amounts, one for each part."""

    @abstractmethod
    def group_interval(self, table: Declared, amounts: Sequence[Fraction], noises: Noises) -> Interval:
        """Where the number of a group lies, with the confidence of the noises."""

    def groups(self, table: Declared) -> Groups:
        """The groups; depends on declarations only."""
        return Groups.of(table, self.grouped)

    def change(self, bounds: Contribution, adds: Adds, cells: int) -> tuple[int, int]:
        """The most that one person changes a part over all groups, and the same for the sum of squares."""
        return bounds.cells_change(adds.low, adds.high)

    def expression(self, table: Table) -> ir.Table:
        """Sums of all rows, or GROUP BY the cell."""
        found = self.groups(table)
        keys = found.keys
        rows = table.rows({**keys, **self.shapes(table)}, self.where, found.bounded(table), whose=self._whose(table))
        rows = self.complete(rows, table)
        sums = self.sums(rows, table)
        return rows.group_by(list(keys)).aggregate(**sums) if keys else rows.aggregate(**sums)

    def complete(self, rows: ir.Table, table: Table) -> ir.Table:
        """The rows that it is about, of those that satisfy the condition: all of them."""
        return rows

    def _whose(self, table: Declared) -> bool:
        """Whether it asks whose row it is."""
        return False

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """For each sum one integer, or one of each group."""
        added = self.adds(table)
        if not self.by:
            return tuple(self.whole_part(table, each) for each in added)
        found = self.groups(table)
        cells, bounds = found.cells, found.contribution(table)
        changes = [self.change(bounds, each, len(cells)) for each in added]
        return tuple(
            Part(cells, l1, squares, each.unit, each.share) for each, (l1, squares) in zip(added, changes, strict=True)
        )

    def whole_part(self, table: Declared, adds: Adds) -> Part:
        """The part of all rows."""
        return scalar(adds.name, table.contribution.sum_change(adds.low, adds.high), adds.unit, adds.share)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """One for each part, or one for each part and group; a group without rows has zeros."""
        if not self.by:
            return tuple((each,) for each in self.group_integers(table, first_row(rows)))
        found = self.groups(table)
        width, cells = len(self.by), len(found.cells)
        vectors = [[0] * cells for _ in self.adds(table)]
        for row in rows:
            place = found.place(row[:width])
            for vector, value in zip(vectors, self.group_integers(table, first_row([row[width:]])), strict=True):
                vector[place] += value
        return tuple(map(tuple, vectors))

    def value(self, table: Declared, amounts: Amounts) -> Any:
        """One number, or one for each group."""
        return self._each(table, amounts, lambda own: self.group_value(table, own))

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Any:
        """Of the number, or of those of all groups together: their noise is independent."""
        each = replace(noises, confidence=each_confidence(noises.confidence, len(amounts[0])))
        return self._each(table, amounts, lambda own: self.group_interval(table, own, each))

    def _each(self, table: Declared, amounts: Amounts, told: Callable[[Sequence[Fraction]], Any]) -> Any:
        if not self.by:
            return told([part[0] for part in amounts])
        return {cell: told(own) for cell, *own in zip(self.groups(table).cells, *amounts, strict=True)}

    def group_setting(self, setting: Setting) -> Setting:
        """What the error of each group is stated for, so that all of them together have the confidence."""
        public = getattr(self, "public_rows", None)
        if public is not None:
            return replace(setting, rows=public)
        if not self.by:
            return setting
        found = self.groups(setting.table)
        rows = None if setting.rows is None else max(setting.rows // found.named, 1)
        sure = each_confidence(setting.confidence, len(found.cells))
        return replace(setting, rows=rows, confidence=sure, where=" in each group")

    def granted(self) -> tuple[str, ...]:
        """What its class takes for granted, and how large groups are if that matters."""
        return (*self.assumes, _SPREAD) if self.by and self.needs_rows else self.assumes

    def compares(self) -> bool:
        """Not if there is a number for each group."""
        return self.comparable and not self.by
