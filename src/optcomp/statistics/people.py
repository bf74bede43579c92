"""How many people there are, or have a row that satisfies a condition."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Contribution, Declared
from optcomp.statistics.encoding import PERSON
from optcomp.statistics.entries import Entries
from optcomp.statistics.groups import BY, Adds, Columns, Grouped
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.part import IntegerVector, Part, scalar
from optcomp.statistics.statistic import Interval, Keyword, around_count
from optcomp.statistics.table import Shape, Table

if TYPE_CHECKING:
    import ibis.expr.types as ir


def _read(entries: Entries) -> People:
    said = entries.take("people", object)
    if said not in ("all", None):
        raise InvalidInput(entries.path("people"), said, "must be all, or nothing; a condition belongs to `where`")
    return People(entries.condition(), entries.by())


@dataclass(frozen=True, repr=False)
class People(Grouped):
    """How many people there are, or have a row that satisfies a condition; in all, or in each group.

    A person with several such rows counts once, or once in each group.  Without a column of people each row is one.
    """

    where: str | None = None
    by: Columns = ()
    comparable = True
    keywords = (
        Keyword(
            "people",
            _read,
            {"people": {"enum": ["all", None], "description": "How many people there are: say all, or nothing."}, **BY},
        ),
    )

    def shapes(self, table: Table) -> dict[str, Shape]:
        """None: rows are told apart by their person."""
        return {}

    def _whose(self, table: Declared) -> bool:
        return table.person is not None

    def sums(self, rows: ir.Table, table: Table) -> dict[str, Any]:
        """COUNT(DISTINCT person)."""
        return {"people": rows.count() if table.person is None else rows[PERSON].nunique()}

    def adds(self, table: Declared) -> tuple[Adds, ...]:
        """A person adds one, however many rows there are."""
        return (Adds("people", 0, 1),)

    def whole_part(self, table: Declared, adds: Adds) -> Part:
        """One person more or less, also if one is exchanged: who was counted may not be, or the other way round."""
        return scalar(adds.name, 1)

    def change(self, bounds: Contribution, adds: Adds, cells: int) -> tuple[int, int]:
        """By one in each group that the person has a row in, before or after."""
        touched = min(bounds.groups * (2 if bounds.replace else 1), cells)
        return touched, touched

    def group_integers(self, table: Declared, sums: IntegerVector) -> IntegerVector:
        """The number of people."""
        return sums

    def group_value(self, table: Declared, amounts: Sequence[Fraction]) -> int:
        """The noisy number."""
        return int(amounts[0])

    def group_interval(self, table: Declared, amounts: Sequence[Fraction], noises: Noises) -> Interval:
        """No number of people is negative; but the noisy one, which may be, is inside."""
        return around_count(amounts[0], noises.cells(1))

    @property
    def error_unit(self) -> str:
        """What is counted."""
        return "people"

    def size(self, table: Declared, rows: float) -> float:
        """As many as there are if all have as many rows as one may have."""
        return max(rows / table.contribution.rows, 1.0)

    def grows(self, table: Declared) -> bool:
        """If people are added, and not exchanged."""
        return not table.contribution.replace

    def document(self) -> dict[str, Any]:
        """Such as: people: all."""
        return self.worded(people="all", by=list(self.by) or None)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """One person with several rows; exchanged; and in two groups."""
        return {
            "people": AuditCase(People(), {"epsilon": 1}, "rows", trials=14_000),
            "people-replaced": AuditCase(People("region == 'south'"), {"epsilon": 1}, "replaced", trials=14_000),
            "people-by": AuditCase(People(by="region"), {"epsilon": 2}, "groups", trials=10_000),
        }

    def audit_feature(self, value: Any) -> Hashable | None:
        """The number itself: all that there is."""
        return None if self.by else int(value)
