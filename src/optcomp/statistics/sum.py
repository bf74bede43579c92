"""The sum of a column, each value clamped to its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import MOST_UNITS, Coarse, Numbers
from optcomp.statistics.groups import BY, Adds, Columns, Grouped
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.moments import steps
from optcomp.statistics.part import IntegerVector
from optcomp.statistics.statistic import Interval, Keyword
from optcomp.statistics.table import Shape, Table

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True, repr=False)
class Sum(Grouped):
    """The sum of a column, each value clamped to its bounds; in all, or in each group."""

    column: str
    where: str | None = None
    by: Columns = ()
    comparable = True
    keywords = (
        Keyword(
            "sum",
            lambda entries: Sum(entries.take("sum", str), entries.condition(), entries.by()),
            {"sum": fragments.text(fragments.COLUMN), **BY},
        ),
    )

    def shapes(self, table: Table) -> dict[str, Shape]:
        """Whole units above the lowest."""
        return steps(self.column, self._coarse(table))

    def sums(self, rows: ir.Table, table: Table) -> dict[str, Any]:
        """How many, and the sum of whole units above the lowest."""
        return {"count": rows.steps.count(), "total": rows.steps.sum()}

    def _coarse(self, table: Declared) -> Coarse:
        domain: Numbers = table.domain(self.column, Numbers)
        return domain.coarse(MOST_UNITS)

    def adds(self, table: Declared) -> tuple[Adds, ...]:
        """A value within the bounds."""
        coarse = self._coarse(table)
        return (Adds("sum", coarse.low, coarse.high, coarse.unit),)

    def group_integers(self, table: Declared, sums: IntegerVector) -> IntegerVector:
        """The sum."""
        count, total = sums
        return (total + self._coarse(table).low * count,)

    def group_value(self, table: Declared, amounts: Sequence[Fraction]) -> float:
        """The noisy sum."""
        return float(amounts[0])

    def group_interval(self, table: Declared, amounts: Sequence[Fraction], noises: Noises) -> Interval:
        """On either side."""
        off = noises.cells(1) * table.domain(self.column, Numbers).unit
        return float(amounts[0] - off), float(amounts[0] + off)

    @property
    def error_unit(self) -> str:
        """That of the column."""
        return self.column

    def size(self, table: Declared, rows: float) -> float:
        """The largest value in every row."""
        domain = table.domain(self.column, Numbers)
        return rows * float(max(abs(domain.low), abs(domain.high)))

    def grows(self, table: Declared) -> bool:
        """If people are added, and no value is negative."""
        return not table.contribution.replace and not table.domain(self.column, Numbers).low < 0

    def document(self) -> dict[str, Any]:
        """Such as: sum: income."""
        return self.worded(sum=self.column, by=list(self.by) or None)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """Of whole numbers and of others, with either noise, and exchanged."""
        return {
            "sum-integers": AuditCase(Sum("age"), {"epsilon": 2}, trials=10_000),
            "sum-reals": AuditCase(Sum("income"), {"epsilon": 2}, trials=8_000),
            "sum-gaussian": AuditCase(Sum("income"), {"epsilon": 2, "delta": "0.01"}, trials=2_000, delta=0.01),
            "sum-replaced": AuditCase(Sum("age"), {"epsilon": 2}, "replaced", trials=10_000),
            "sum-by": AuditCase(Sum("age", by="region"), {"epsilon": 2}, "rows", trials=8_000),
        }
