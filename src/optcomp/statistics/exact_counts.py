"""Exact numbers about the rows of a preparation, for whoever holds the data: they are not private.

Conditions are those of questions, built by the same code; but here nothing gets noise, and rows before the lot can be
counted too.  So no table is handed out that a session could be opened on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.statistics.domains import Categories, Domain, Numbers
from optcomp.statistics.encoding import PERSON
from optcomp.statistics.preparing import engine_errors, out_of_engine
from optcomp.statistics.table import Preparation, Table

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class RowsEach:
    """How many rows people have."""

    people: int
    most: int
    over: int
    """People with more rows than they may have."""


class ExactCounts:
    """Counts of the rows that the lot leaves, or, with `before_the_lot`, of all rows of somebody."""

    def __init__(self, preparation: Preparation, *, before_the_lot: bool = False) -> None:
        rows = preparation.everything if before_the_lot else preparation.rows
        if rows is None:
            raise InvalidInput("before_the_lot", before_the_lot, "needs a preparation that keeps everything")
        self._table = Table._held(preparation.declared, replace(preparation.frozen, rows=rows))

    def rows(self, where: str | None = None, *, value_of: str | None = None, grouped: str | None = None) -> int:
        """Rows that satisfy a condition; that have a value in a column; that count in its histograms."""
        return self._asked(lambda found: found.count(), where, value_of, grouped)

    def people(self, where: str | None = None) -> int:
        """People with a row that satisfies the condition."""
        if self._table.person is None:
            return self.rows(where)
        return self._asked(lambda found: found[PERSON].nunique(), where)

    def rows_each(self) -> RowsEach:
        """Of all people."""
        if self._table.person is None:
            rows = self.rows()
            return RowsEach(rows, min(rows, 1), 0)
        found = self._table.rows({})
        each = found.group_by(owner=found[PERSON]).aggregate(rows=found.count())
        over = (each.rows > self._table.contribution.rows).cast("int64").sum()
        return RowsEach(*self._run(each.aggregate(people=each.count(), most=each.rows.max(), over=over))[0])

    def mean(self, column: str) -> Fraction | None:
        """Of the numbers in a column as they count, exactly; None if there is none."""
        domain = self._table.domain(column, Numbers)
        found = self._table.rows({"cell": (column, lambda cell: cell)})
        ((count, total),) = self._run(found.aggregate(count=found.cell.count(), total=found.cell.sum()))
        return (domain.first + Fraction(total, count)) * domain.step if count else None

    def cells(self, column: str) -> dict[str | int | bool, int]:
        """How many rows each category has, and the bucket for the rest."""
        domain = self._table.domain(column, Categories)
        found = self._table.rows({"cell": (column, lambda cell: cell.fill_null(domain.top))})
        counts = {row[0]: row[1] for row in self._run(found.group_by("cell").aggregate(rows=found.count()))}
        return {name: counts.get(code, 0) for code, name in enumerate(domain.cells)}

    def _asked(
        self,
        made: Callable[[Any], Any],
        where: str | None,
        value_of: str | None = None,
        grouped: str | None = None,
    ) -> int:
        found = self._table.rows({}, where, grouped)
        if value_of is not None:
            self._table.domain(value_of, Domain)
            found = found.filter(self._table._cell(found, value_of).notnull())
        return int(self._run(found.aggregate(found=made(found)))[0][0])

    def _run(self, query: ir.Table) -> list[tuple[int, ...]]:
        """Integers; of no rows they are null, and count as zero."""
        try:
            rows = self._table.run(self._table.prepared(None, lambda _: query))
        except engine_errors() as error:
            raise UnreadableData("the rows", f"{out_of_engine(error)}; it may need more memory") from None
        return [tuple(int(value or 0) for value in row) for row in rows]
