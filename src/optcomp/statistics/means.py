"""The means of several columns at once: one noisy number of rows serves all of their noisy sums.

Counted are the rows that have a value in every column.  With k columns, the number of rows has 1/(k + 3) of the budget,
and the sums share the rest evenly: for one column that is what `Mean` does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput
from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import MOST_UNITS, Coarse, Numbers
from optcomp.statistics.groups import BY, Adds, Columns, Grouped
from optcomp.statistics.joint_noise import UP, Noises, continuous_together
from optcomp.statistics.moments import mean_off, most_from_middle, ratio
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.stated import Setting, StatedError
from optcomp.statistics.statistic import Amounts, Interval, Keyword, checked_columns, clamped
from optcomp.statistics.table import Shape, Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

_MOST_COLUMNS = 20
"""Columns of one question: with more, hardly any budget is left for each."""
_OF_COUNT = 3
"""The number of rows has one share of k + 3: a quarter for one column, and less for each further one."""


@dataclass(frozen=True, repr=False)
class Means(Grouped):
    """The means of several columns over the rows that have a value in each of them; in all, or in each group.

    The number of rows gets noise once and not for each column, so that they cost less than as many questions.
    """

    columns: tuple[str, ...]
    where: str | None = None
    by: Columns = ()
    needs_rows = True
    keywords = (
        Keyword(
            "means",
            lambda entries: Means(tuple(entries.take("means", Sequence)), entries.condition(), entries.by()),
            {"means": fragments.listed({"type": "string"}, "The columns."), **BY},
            ("present",),
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "columns", checked_columns(self.columns))
        if len(self.columns) > _MOST_COLUMNS:
            raise InvalidInput("columns", list(self.columns), f"must be at most {_MOST_COLUMNS} columns")

    @property
    def value_columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.columns

    def domains(self, table: Declared) -> list[Numbers]:
        """What is declared of the columns."""
        return [table.domain(name, Numbers) for name in self.columns]

    def coarse(self, table: Declared) -> list[Coarse]:
        """The units of the columns."""
        return [domain.around_middle(MOST_UNITS) for domain in self.domains(table)]

    def shapes(self, table: Table) -> dict[str, Shape]:
        """Whole units above the lowest."""
        pairs = zip(self.columns, self.coarse(table), strict=True)
        return {f"steps{place}": (name, each.of) for place, (name, each) in enumerate(pairs)}

    def complete(self, rows: ir.Table, table: Table) -> ir.Table:
        """The rows that have all values."""
        return rows.filter(*(rows[name].notnull() for name in self.shapes(table)))

    def sums(self, rows: ir.Table, table: Table) -> dict[str, Any]:
        """How many, and how far above the lowest in all."""
        return {"count": rows.count(), **{f"total{name}": rows[name].sum() for name in self.shapes(table)}}

    def adds(self, table: Declared) -> tuple[Adds, ...]:
        """One to a count, and a distance to each sum."""
        many = len(self.columns)
        count = Fraction(1, many + _OF_COUNT)
        share = (1 - count) / many
        return Adds("count", 0, 1, share=count), *(
            Adds(f"sum of {name} from the middle", each.low, each.high, each.unit, share)
            for name, each in zip(self.columns, self.coarse(table), strict=True)
        )

    def group_integers(self, table: Declared, sums: IntegerVector) -> IntegerVector:
        """One for each part."""
        count, *totals = sums
        return count, *(total + each.low * count for total, each in zip(totals, self.coarse(table), strict=True))

    def group_value(self, table: Declared, amounts: Sequence[Fraction]) -> dict[str, float]:
        """Each within its bounds."""
        count, *totals = amounts
        return {
            name: float(clamped(domain.middle + ratio(total, count), domain.low, domain.high))
            for name, domain, total in zip(self.columns, self.domains(table), totals, strict=True)
        }

    def group_interval(self, table: Declared, amounts: Sequence[Fraction], noises: Noises) -> Any:
        """For all columns together: each may miss with its share of the probability, since they share one count."""
        count, *totals = amounts
        found, share = dict[str, Interval](), 1 / len(self.columns)
        pairs = zip(self.columns, self.domains(table), self.coarse(table), totals, strict=True)
        for place, (name, domain, coarse, total) in enumerate(pairs, 1):
            low, high = domain.low, domain.high
            if count >= 1:
                own, most = of_column(noises, place), most_from_middle(domain, coarse)
                there = total / count
                off = Fraction(mean_off(own, float(abs(there)) * UP, most, float(coarse.unit), float(count), share))
                low, high = (clamped(domain.middle + there + side * off, domain.low, domain.high) for side in (-1, 1))
            found[name] = float(low), float(high)
        return found

    def _each(self, table: Declared, amounts: Amounts, told: Callable[[Sequence[Fraction]], Any]) -> Any:
        """One number for each column, or for each group and column."""
        found = super()._each(table, amounts, told)
        if not self.by:
            return found
        return {
            (*(cell if isinstance(cell, tuple) else (cell,)), name): value
            for cell, own in found.items()
            for name, value in own.items()
        }

    def cell_names(self) -> tuple[str, ...]:
        """The columns of groups, and which column it is the mean of."""
        return (*self.grouped, "mean of")

    def stated(self, setting: Setting) -> StatedError:
        """By the same bounds, for means anywhere within the bounds."""
        return MeansError(self, self.group_setting(setting), self.parts(setting.table))

    @property
    def error_unit(self) -> str:
        """Columns have units of their own: what they share is that they have a range."""
        return "of the range of each column"

    @property
    def value_unit(self) -> str:
        """Those of the columns."""
        return "units of each column"

    def size(self, table: Declared, rows: float) -> float:
        """The range."""
        return 1.0

    def document(self) -> dict[str, Any]:
        """Such as: means: [age, income], by: [region]."""
        return self.worded(means=list(self.columns), by=list(self.by) or None)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """Of two columns, in all and by groups."""
        return {
            "means": AuditCase(Means(("age", "income")), {"epsilon": 2}, trials=4_000),
            "means-by": AuditCase(Means(("age", "income"), by="region"), {"epsilon": 2}, trials=4_000),
        }


def of_column(noises: Noises, place: int) -> Noises:
    """The noise of the count and of one sum."""
    return replace(noises, scales=(noises.scales[0], noises.scales[place]))


class MeansError(StatedError):
    """The largest error of a mean in parts of its range; all columns together have the confidence."""

    def __init__(self, means: Means, setting: Setting, parts: tuple[Part, ...]) -> None:
        super().__init__(setting, parts)
        self.means = means

    @cached_property
    def ranges(self) -> list[tuple[float, float, float]]:
        """Of each column: the most that a value is from the middle, the unit, and the range."""
        table = self.setting.table
        return [
            (most_from_middle(domain, coarse), float(coarse.unit), float(domain.high - domain.low))
            for domain, coarse in zip(self.means.domains(table), self.means.coarse(table), strict=True)
        ]

    @property
    def likeness(self) -> tuple[Hashable, ...]:
        """Ranges and rows."""
        return (*self.ranges, self.setting.rows)

    @property
    def stated_for(self) -> str:
        """It is stated for the worst means."""
        return self.setting.where + ", wherever the means lie"

    def error(self, scales: Sequence[float]) -> float:
        """For the noise that is drawn, within the bounds."""
        rows, share = self.setting.rows or 0, 1 / len(self.ranges)
        sure = self.setting.confidence + self.noise.below_one(scales[0], rows)
        if not sure < 1:
            return 1.0
        noises = self.noises(scales, sure)
        offs = [
            mean_off(of_column(noises, place), most, most, unit, float(max(rows, 1)), share) / wide
            for place, (most, unit, wide) in enumerate(self.ranges, 1)
        ]
        return min(max(offs) * UP, 1.0)

    @cached_property
    def _at_one(self) -> float:
        missed = (1 - self.setting.confidence) / len(self.ranges)
        count, *sums = self.unit_scales
        return max(
            continuous_together(self.noise, (count, scale), (most, unit), missed) / wide
            for scale, (most, unit, wide) in zip(sums, self.ranges, strict=True)
        )

    def smooth(self, times: float) -> float:
        """About the same."""
        rows = self.setting.rows or 1
        return (self._at_one * times + max(most / wide for most, _, wide in self.ranges) / 2) / rows
