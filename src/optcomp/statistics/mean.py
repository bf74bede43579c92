"""The mean of a column where it is not missing: a noisy sum of distances from the middle over a noisy count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import MOST_UNITS, Coarse, Numbers
from optcomp.statistics.entries import Entries
from optcomp.statistics.groups import BY, Adds, Columns, Grouped
from optcomp.statistics.joint_noise import UP, Noises, continuous_together
from optcomp.statistics.moments import (
    PUBLIC_ROWS,
    Ends,
    RatioError,
    checked_rows,
    mean_off,
    most_from_middle,
    ratio,
    steps,
)
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.stated import Setting, StatedError
from optcomp.statistics.statistic import Interval, Keyword, clamped
from optcomp.statistics.table import Shape, Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

_QUARTER = Fraction(1, 4)
"""The count's share of the budget: its error matters only as far as the mean is from the middle."""


def _read(entries: Entries) -> Mean:
    column, where, by = entries.take("mean", str), entries.condition(), entries.by()
    return Mean(column, where, by, entries.take("public_rows", int, None))


@dataclass(frozen=True, repr=False)
class Mean(Grouped):
    """The mean of a column where it is not missing: a noisy sum of distances from the middle over a noisy count.

    In all, or in each group.  With `public_rows`, how many rows have a value if everybody may know that, the sum is
    divided by this number, and has all of the budget.
    """

    column: str
    where: str | None = None
    by: Columns = ()
    public_rows: int | None = None
    keywords = (
        Keyword(
            "mean",
            _read,
            {"mean": fragments.text(fragments.COLUMN), **BY, **PUBLIC_ROWS},
            ("present", "centre"),
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "public_rows", checked_rows(self.public_rows, bool(self.by)))

    @property
    def needs_rows(self) -> bool:
        """Unless it says so itself."""
        return self.public_rows is None

    def shapes(self, table: Table) -> dict[str, Shape]:
        """Whole units above the lowest."""
        return steps(self.column, self._coarse(table))

    def sums(self, rows: ir.Table, table: Table) -> dict[str, Any]:
        """How many, and how far above the lowest in all."""
        return {"count": rows.steps.count(), "total": rows.steps.sum()}

    def adds(self, table: Declared) -> tuple[Adds, ...]:
        """One to a count, and a distance to a sum."""
        coarse = self._coarse(table)
        total = Adds("sum from the middle", coarse.low, coarse.high, coarse.unit)
        if self.public_rows is not None:
            return (total,)
        return Adds("count", 0, 1, share=_QUARTER), replace(total, share=1 - _QUARTER)

    def _coarse(self, table: Declared) -> Coarse:
        domain: Numbers = table.domain(self.column, Numbers)
        return domain.around_middle(MOST_UNITS)

    def group_integers(self, table: Declared, sums: IntegerVector) -> IntegerVector:
        """One for each part."""
        count, total = sums
        found = total + self._coarse(table).low * count
        return (count, found) if self.public_rows is None else (found,)

    def group_value(self, table: Declared, amounts: Sequence[Fraction]) -> float:
        """Within the bounds."""
        domain = table.domain(self.column, Numbers)
        count, total = self._count_and_sum(amounts)
        return float(clamped(domain.middle + ratio(total, count), domain.low, domain.high))

    def _count_and_sum(self, amounts: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
        """Both with noise, unless the count is public."""
        return (amounts[0], amounts[1]) if self.public_rows is None else (Fraction(self.public_rows), amounts[0])

    def most(self, table: Declared) -> float:
        """The most that a value on the grid of its unit, or an answer, differs from the middle."""
        return most_from_middle(table.domain(self.column, Numbers), self._coarse(table))

    def off(self, table: Declared, noises: Noises, far: float, rows: float) -> float:
        """How far off the mean of so many rows may be that lies so far from the middle.

        For plans `far` is that of the true mean m.  It is told above m + e only if s - (m + e)·t > e·rows, with the
        noise s of the sum and t of the count, and m + e is within the bounds.  For releases it is that of the noisy
        mean: the true one has |s - m·t| = |m - noisy|·(noisy rows).  Where the count is public, t is 0.
        """
        unit = float(self._coarse(table).unit)
        if self.public_rows is not None:
            return noises.together((unit,)) / rows
        return mean_off(noises, far, self.most(table), unit, rows)

    def group_interval(self, table: Declared, amounts: Sequence[Fraction], noises: Noises) -> Interval:
        """As far as the answer may be off, within the bounds."""
        domain = table.domain(self.column, Numbers)
        count, total = self._count_and_sum(amounts)
        if count < 1:
            return float(domain.low), float(domain.high)
        found = total / count
        off = Fraction(self.off(table, noises, float(abs(found)) * UP, float(count)))
        ends = (domain.middle + found + side * off for side in (-1, 1))
        first, last = (float(clamped(end, domain.low, domain.high)) for end in ends)
        return first, last

    def stated(self, setting: Setting) -> StatedError:
        """By `off`, for all means that the plan says are possible."""
        domain, own = setting.table.domain(self.column, Numbers), self.group_setting(setting)
        return MeanError(self, own, self.parts(setting.table), domain, self.most(setting.table))

    @property
    def error_unit(self) -> str:
        """That of the column."""
        return self.column

    def size(self, table: Declared, rows: float) -> float:
        """The range."""
        domain = table.domain(self.column, Numbers)
        return float(domain.high - domain.low)

    def document(self) -> dict[str, Any]:
        """Such as: mean: income."""
        return self.worded(mean=self.column, by=list(self.by) or None, public_rows=self.public_rows)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """With either noise, and with two rows."""
        return {
            "mean-laplace": AuditCase(Mean("age"), {"epsilon": 2}, trials=5_000),
            "mean-gaussian": AuditCase(Mean("age"), {"rho": "1/2"}, trials=5_000, delta=0.01),
            "mean-rows": AuditCase(Mean("income"), {"epsilon": 2}, "rows", trials=4_500),
            "mean-by": AuditCase(Mean("age", by="region"), {"epsilon": 2}, "replaced", trials=4_000),
            "mean-public": AuditCase(Mean("age", public_rows=21), {"epsilon": 2}, trials=5_000),
        }


class MeanError(RatioError):
    """The error of a mean."""

    def __init__(self, mean: Mean, setting: Setting, parts: tuple[Part, ...], domain: Numbers, half: float) -> None:
        super().__init__(setting, parts, domain, half, counted=mean.public_rows is None)
        self.mean = mean

    def elsewhere(self, setting: Setting) -> StatedError:
        """The same mean in another setting."""
        return MeanError(self.mean, setting, self.parts, self.domain, self.half)

    def off(self, noises: Noises, rows: float) -> float:
        """For the mean that is farthest from the middle: `Mean.off`, with what it needs of the table known."""
        if not self.counted:
            return noises.together((self.unit,)) / rows
        return mean_off(noises, self.far, self.half, self.unit, rows)

    @property
    def stated_for(self) -> str:
        """Where the count is public, for all means."""
        return super().stated_for if self.counted else ""

    def otherwise(self, scales: Sequence[float]) -> tuple[str, float] | None:
        """Where the mean lies does not matter if the count is public."""
        return super().otherwise(scales) if self.counted else None

    @cached_property
    def unit(self) -> float:
        """In which the sum is counted."""
        return float(self.parts[-1].unit)

    @property
    def most(self) -> float:
        """The range."""
        return self.width

    @cached_property
    def factors(self) -> list[float]:
        """The count's noise counts as much as the mean is far from the middle."""
        return [min(self.far, self.half), self.unit] if self.counted else [self.unit]

    @cached_property
    def unit_reaches(self) -> Ends:
        """No square is added."""
        missed = 1 - self.setting.confidence
        return continuous_together(self.noise, self.unit_scales, self.factors, missed), 0.0
