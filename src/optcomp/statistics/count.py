"""How many rows there are, or satisfy a condition."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.entries import Entries
from optcomp.statistics.groups import BY, Adds, Columns, Grouped
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.part import IntegerVector
from optcomp.statistics.statistic import Interval, Keyword, around_count
from optcomp.statistics.table import Shape, Table

if TYPE_CHECKING:
    import ibis.expr.types as ir


def _read(entries: Entries) -> Count:
    said = entries.take("count", object)
    if said not in ("rows", None):
        raise InvalidInput(entries.path("count"), said, "must be rows, or nothing; a condition belongs to `where`")
    return Count(entries.condition(), entries.by())


@dataclass(frozen=True, repr=False)
class Count(Grouped):
    """How many rows there are, or satisfy a condition; in all, or in each group."""

    where: str | None = None
    by: Columns = ()
    comparable = True
    keywords = (
        Keyword(
            "count",
            _read,
            {"count": {"enum": ["rows", None], "description": "How many rows there are: say rows, or nothing."}, **BY},
        ),
    )

    def shapes(self, table: Table) -> dict[str, Shape]:
        """None: rows are counted, whatever they hold."""
        return {}

    def sums(self, rows: ir.Table, table: Table) -> dict[str, Any]:
        """COUNT(*)."""
        return {"count": rows.count()}

    def adds(self, table: Declared) -> tuple[Adds, ...]:
        """One."""
        return (Adds("count", 0, 1),)

    def group_integers(self, table: Declared, sums: IntegerVector) -> IntegerVector:
        """The count."""
        return sums

    def group_value(self, table: Declared, amounts: Sequence[Fraction]) -> int:
        """The noisy count."""
        return int(amounts[0])

    def group_interval(self, table: Declared, amounts: Sequence[Fraction], noises: Noises) -> Interval:
        """No count is negative; but the noisy one, which may be, is inside."""
        return around_count(amounts[0], noises.cells(1))

    def adds_up(self) -> bool:
        """Each row is in one group."""
        return bool(self.by)

    def grows(self, table: Declared) -> bool:
        """If people are added, and not exchanged."""
        return not table.contribution.replace

    def document(self) -> dict[str, Any]:
        """Such as: count: rows."""
        return self.worded(count="rows", by=list(self.by) or None)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """With either noise, exchanged, and with two rows."""
        return {
            "count-laplace": AuditCase(Count(), {"epsilon": 1}, trials=14_000),
            "count-gaussian": AuditCase(Count(), {"rho": "1/2"}, trials=14_000, delta=1e-3),
            "count-replaced": AuditCase(Count("region == 'south'"), {"epsilon": 1}, "replaced", trials=14_000),
            "count-rows": AuditCase(Count(), {"epsilon": 1}, "rows", trials=14_000),
            "count-by": AuditCase(Count(by="region"), {"epsilon": 1}, "rows", trials=10_000),
        }

    def audit_feature(self, value: Any) -> Hashable | None:
        """The count itself: all that there is."""
        return None if self.by else int(value)
