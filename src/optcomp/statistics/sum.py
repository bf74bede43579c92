"""The sum of a column, each value clamped to its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import MOST_UNITS, Coarse, Numbers
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.moments import steps
from optcomp.statistics.part import IntegerVector, Part, scalar
from optcomp.statistics.statistic import Amounts, Interval, Keyword, Statistic, first_row
from optcomp.statistics.table import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True, repr=False)
class Sum(Statistic):
    """The sum of a column, each value clamped to its bounds."""

    column: str
    where: str | None = None
    comparable = True
    keywords = (
        Keyword(
            "sum",
            lambda entries: Sum(entries.take("sum", str), entries.condition()),
            {"sum": fragments.text(fragments.COLUMN)},
        ),
    )

    def expression(self, table: Table) -> ir.Table:
        """How many, and the sum of whole units above the lowest."""
        rows = steps(table, self.column, self._coarse(table), self.where)
        return rows.aggregate(count=rows.steps.count(), total=rows.steps.sum())

    def _coarse(self, table: Declared) -> Coarse:
        domain: Numbers = table.domain(self.column, Numbers)
        return domain.coarse(MOST_UNITS)

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """One integer."""
        coarse = self._coarse(table)
        return (scalar("sum", table.contribution.sum_change(coarse.low, coarse.high), coarse.unit),)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """The sum."""
        count, total = first_row(rows)
        return ((total + self._coarse(table).low * count,),)

    def value(self, table: Declared, amounts: Amounts) -> float:
        """The noisy sum."""
        return float(amounts[0][0])

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Interval:
        """On either side."""
        off = noises.cells(1) * table.domain(self.column, Numbers).unit
        return float(amounts[0][0] - off), float(amounts[0][0] + off)

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
        return self.worded(sum=self.column)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """Of whole numbers and of others, with either noise, and exchanged."""
        return {
            "sum-integers": AuditCase(Sum("age"), {"epsilon": 2}, trials=10_000),
            "sum-reals": AuditCase(Sum("income"), {"epsilon": 2}, trials=8_000),
            "sum-gaussian": AuditCase(Sum("income"), {"epsilon": 2, "delta": "0.01"}, trials=2_000, delta=0.01),
            "sum-replaced": AuditCase(Sum("age"), {"epsilon": 2}, "replaced", trials=10_000),
        }
