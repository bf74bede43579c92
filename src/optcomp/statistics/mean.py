"""The mean of a column where it is not missing: a noisy sum of distances from the middle over a noisy count."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import MOST_UNITS, Coarse, Numbers
from optcomp.statistics.joint_noise import UP, Noises, continuous_together
from optcomp.statistics.moments import Ends, RatioError, mean_off, most_from_middle, ratio, steps
from optcomp.statistics.part import IntegerVector, Part, scalar
from optcomp.statistics.stated import Setting, StatedError
from optcomp.statistics.statistic import Amounts, Interval, Keyword, Statistic, clamped, first_row
from optcomp.statistics.table import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

_QUARTER = Fraction(1, 4)
"""The count's share of the budget: its error matters only as far as the mean is from the middle."""


@dataclass(frozen=True, repr=False)
class Mean(Statistic):
    """The mean of a column where it is not missing: a noisy sum of distances from the middle over a noisy count."""

    column: str
    where: str | None = None
    needs_rows = True
    keywords = (
        Keyword(
            "mean",
            lambda entries: Mean(entries.take("mean", str), entries.condition()),
            {"mean": fragments.text(fragments.COLUMN)},
            ("present", "centre"),
        ),
    )

    def expression(self, table: Table) -> ir.Table:
        """How many, and how far from the middle in all."""
        rows = steps(table, self.column, self._coarse(table), self.where)
        return rows.aggregate(count=rows.steps.count(), total=rows.steps.sum())

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """A count, and a sum."""
        coarse, bounds = self._coarse(table), table.contribution
        change = bounds.sum_change(coarse.low, coarse.high)
        count = scalar("count", bounds.sum_change(0, 1), share=_QUARTER)
        return count, scalar("sum from the middle", change, coarse.unit, 1 - _QUARTER)

    def _coarse(self, table: Declared) -> Coarse:
        domain: Numbers = table.domain(self.column, Numbers)
        return domain.around_middle(MOST_UNITS)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """One for each part."""
        count, total = first_row(rows)
        return (count,), (total + self._coarse(table).low * count,)

    def value(self, table: Declared, amounts: Amounts) -> float:
        """Within the bounds."""
        domain = table.domain(self.column, Numbers)
        return float(clamped(domain.middle + ratio(amounts[1][0], amounts[0][0]), domain.low, domain.high))

    def most(self, table: Declared) -> float:
        """The most that a value on the grid of its unit, or an answer, differs from the middle."""
        return most_from_middle(table.domain(self.column, Numbers), self._coarse(table))

    def off(self, table: Declared, noises: Noises, far: float, rows: float) -> float:
        """How far off the mean of so many rows may be that lies so far from the middle.

        For plans `far` is that of the true mean m.  It is told above m + e only if s - (m + e)·t > e·rows, with the
        noise s of the sum and t of the count, and m + e is within the bounds.  For releases it is that of the noisy
        mean: the true one has |s - m·t| = |m - noisy|·(noisy rows).
        """
        unit = float(self._coarse(table).unit)
        return mean_off(noises, far, self.most(table), unit, rows)

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Interval:
        """As far as the answer may be off, within the bounds."""
        domain = table.domain(self.column, Numbers)
        (count,), (total,) = amounts
        if count < 1:
            return float(domain.low), float(domain.high)
        found = total / count
        off = Fraction(self.off(table, noises, float(abs(found)) * UP, float(count)))
        ends = (domain.middle + found + side * off for side in (-1, 1))
        first, last = (float(clamped(end, domain.low, domain.high)) for end in ends)
        return first, last

    def stated(self, setting: Setting) -> StatedError:
        """By `off`, for all means that the plan says are possible."""
        domain = setting.table.domain(self.column, Numbers)
        return MeanError(self, setting, self.parts(setting.table), domain, self.most(setting.table))

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
        return self.worded(mean=self.column)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """With either noise, and with two rows."""
        return {
            "mean-laplace": AuditCase(Mean("age"), {"epsilon": 2}, trials=5_000),
            "mean-gaussian": AuditCase(Mean("age"), {"rho": "1/2"}, trials=5_000, delta=0.01),
            "mean-rows": AuditCase(Mean("income"), {"epsilon": 2}, "rows", trials=4_500),
        }


class MeanError(RatioError):
    """The error of a mean."""

    def __init__(self, mean: Mean, setting: Setting, parts: tuple[Part, ...], domain: Numbers, half: float) -> None:
        super().__init__(setting, parts, domain, half)
        self.mean = mean

    def elsewhere(self, setting: Setting) -> StatedError:
        """The same mean in another setting."""
        return self.mean.stated(setting)

    def off(self, noises: Noises, rows: float) -> float:
        """For the mean that is farthest from the middle: `Mean.off`, with what it needs of the table known."""
        return mean_off(noises, self.far, self.half, self.unit, rows)

    @cached_property
    def unit(self) -> float:
        """In which the sum is counted."""
        return float(self.mean._coarse(self.setting.table).unit)

    @property
    def most(self) -> float:
        """The range."""
        return self.width

    @cached_property
    def factors(self) -> list[float]:
        """The count's noise counts as much as the mean is far from the middle."""
        return [min(self.far, self.half), float(self.parts[1].unit)]

    @cached_property
    def unit_reaches(self) -> Ends:
        """No square is added."""
        missed = 1 - self.setting.confidence
        return continuous_together(self.noise, self.unit_scales, self.factors, missed), 0.0
