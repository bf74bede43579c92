"""How many rows there are, or satisfy a condition."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.entries import Entries
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.part import IntegerVector, Part, scalar
from optcomp.statistics.statistic import Amounts, Interval, Keyword, Statistic, around_count, first_row
from optcomp.statistics.table import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir


def _read(entries: Entries) -> Count:
    said = entries.take("count", object)
    if said not in ("rows", None):
        raise InvalidInput(entries.path("count"), said, "must be rows, or nothing; a condition belongs to `where`")
    return Count(entries.condition())


@dataclass(frozen=True, repr=False)
class Count(Statistic):
    """How many rows there are, or satisfy a condition."""

    where: str | None = None
    comparable = True
    keywords = (
        Keyword(
            "count",
            _read,
            {"count": {"enum": ["rows", None], "description": "How many rows there are: say rows, or nothing."}},
        ),
    )

    def expression(self, table: Table) -> ir.Table:
        """COUNT(*)."""
        rows = table.rows({}, self.where)
        return rows.aggregate(count=rows.count())

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """One integer."""
        return (scalar("count", table.contribution.sum_change(0, 1)),)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """The count."""
        return (first_row(rows),)

    def value(self, table: Declared, amounts: Amounts) -> int:
        """The noisy count."""
        return int(amounts[0][0])

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Interval:
        """No count is negative; but the noisy one, which may be, is inside."""
        return around_count(amounts[0][0], noises.cells(1))

    def grows(self, table: Declared) -> bool:
        """If people are added, and not exchanged."""
        return not table.contribution.replace

    def document(self) -> dict[str, Any]:
        """Such as: count: rows."""
        return self.worded(count="rows")

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """With either noise, exchanged, and with two rows."""
        return {
            "count-laplace": AuditCase(Count(), {"epsilon": 1}, trials=14_000),
            "count-gaussian": AuditCase(Count(), {"rho": "1/2"}, trials=14_000, delta=1e-3),
            "count-replaced": AuditCase(Count("region == 'south'"), {"epsilon": 1}, "replaced", trials=14_000),
            "count-rows": AuditCase(Count(), {"epsilon": 1}, "rows", trials=14_000),
        }

    def audit_feature(self, value: Any) -> Hashable | None:
        """The count itself: all that there is."""
        return int(value)
