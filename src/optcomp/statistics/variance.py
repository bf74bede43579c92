"""The variance of a column over the rows where it is not missing, from noisy moments about the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Coarse, Numbers
from optcomp.statistics.entries import Entries
from optcomp.statistics.groups import BY, Adds, Columns, Grouped
from optcomp.statistics.joint_noise import UP, Noises, continuous_together
from optcomp.statistics.known import FACTS
from optcomp.statistics.moments import (
    NARROWER,
    PUBLIC_ROWS,
    Ends,
    RatioError,
    anywhere,
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

_FIFTH = Fraction(1, 5)
"""The count's share of the budget; each moment has two."""
_MOST_SQUARED = 2**11
"""Units from the middle whose squares are summed: those of 2^40 rows stay within 62 bits."""
FOR_SQUARE = 0.05
"""The share of what may be missed that goes to the square of the mean's error."""
_A_LITTLE = 1 + 1e-10
"""How far beyond its bound an error is tried next, so that the search ends."""


def _read(entries: Entries) -> Variance:
    column, where, by = entries.take("variance", str), entries.condition(), entries.by()
    return Variance(column, where, by, entries.take("public_rows", int, None))


@dataclass(frozen=True, repr=False)
class Variance(Grouped):
    """The variance of a column over the rows where it is not missing, from noisy moments about the middle.

    In all, or in each group.  With `public_rows`, how many rows have a value if everybody may know that, the sums are
    divided by this number, and have all of the budget.
    """

    column: str
    where: str | None = None
    by: Columns = ()
    public_rows: int | None = None
    keywords = (Keyword("variance", _read, {"variance": fragments.text(fragments.COLUMN), **BY, **PUBLIC_ROWS}, FACTS),)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "public_rows", checked_rows(self.public_rows, bool(self.by)))

    @property
    def needs_rows(self) -> bool:
        """Unless it says so itself."""
        return self.public_rows is None

    def _coarse(self, table: Declared) -> Coarse:
        """Squares, too, must stay small enough to be summed."""
        domain: Numbers = table.domain(self.column, Numbers)
        return domain.around_middle(_MOST_SQUARED)

    def shapes(self, table: Table) -> dict[str, Shape]:
        """Whole units above the lowest."""
        return steps(self.column, self._coarse(table))

    def sums(self, rows: ir.Table, table: Table) -> dict[str, Any]:
        """How many, how far above the lowest, and how far from the middle squared."""
        away: Any = rows.steps.cast("int64") + self._coarse(table).low
        return {"count": rows.steps.count(), "total": rows.steps.sum(), "squares": (away * away).sum()}

    def adds(self, table: Declared) -> tuple[Adds, ...]:
        """A fifth for the count, two fifths for each moment; half for each if the count is public."""
        coarse = self._coarse(table)
        unit, most = coarse.unit, max(coarse.low**2, coarse.high**2)
        share = 2 * _FIFTH if self.public_rows is None else Fraction(1, 2)
        moments = (
            Adds("sum from the middle", coarse.low, coarse.high, unit, share),
            Adds("sum of squares", 0, most, unit * unit, share),
        )
        return moments if self.public_rows is not None else (Adds("count", 0, 1, share=_FIFTH), *moments)

    def group_integers(self, table: Declared, sums: IntegerVector) -> IntegerVector:
        """One for each part."""
        count, total, squares = sums
        found = total + self._coarse(table).low * count
        return (count, found, squares) if self.public_rows is None else (found, squares)

    def _moments(self, amounts: Sequence[Fraction]) -> tuple[Fraction, Fraction, Fraction]:
        """Count, sum and sum of squares."""
        if self.public_rows is None:
            return amounts[0], amounts[1], amounts[2]
        return Fraction(self.public_rows), amounts[0], amounts[1]

    def group_value(self, table: Declared, amounts: Sequence[Fraction]) -> float:
        """Between 0 and the square of half the range."""
        count, total, squares = self._moments(amounts)
        return float(clamped(ratio(squares, count) - ratio(total, count) ** 2, Fraction(0), self._greatest(table)))

    def _greatest(self, table: Declared) -> Fraction:
        domain = table.domain(self.column, Numbers)
        return Fraction((domain.high - domain.low) ** 2 / 4)

    def most(self, table: Declared) -> float:
        """The most that a value on the grid of its unit differs from the middle."""
        return most_from_middle(table.domain(self.column, Numbers), self._coarse(table))

    def off(self, table: Declared, noises: Noises, means: Ends, variances: Ends, rows: float) -> float:
        """How far off the variance of so many rows may be, but for the square of the mean's error.

        Means m, from the middle, and variances v lie in these intervals.  With noise q of the sum of squares,
        q - 2m·s + (m² - v)·t is what the noisy parts come to in place of 0; t is 0 where the count is public.
        """
        most, unit = self.most(table), float(self._coarse(table).unit)
        if self.public_rows is not None:
            return noises.together((2 * min(max(map(abs, means)), most) * unit, unit**2), 1 - FOR_SQUARE) / rows
        far, near = max(map(abs, means)), 0.0 if means[0] <= 0 <= means[1] else min(map(abs, means))
        off, factor = 0.0, most**2
        for _ in range(1 + NARROWER):
            factors = factor, 2 * min(far, most) * unit, unit**2
            off = noises.together(factors, 1 - FOR_SQUARE) / rows
            factor = min(max(far**2 - variances[0], variances[1] - near**2) + off, most**2)
        return off

    def moved(self, table: Declared, noises: Noises, mean: float, rows: float) -> float:
        """How far off the mean may be whose square is told."""
        unit = float(self._coarse(table).unit)
        if self.public_rows is not None:
            return noises.together((unit,), FOR_SQUARE) / rows
        return mean_off(noises, abs(mean) * UP, self.most(table), unit, rows, FOR_SQUARE)

    def group_interval(self, table: Declared, amounts: Sequence[Fraction], noises: Noises) -> Interval:
        """As far as the answer may be off; above it the mean's error squared comes on top."""
        count, total, squares = self._moments(amounts)
        greatest = self._greatest(table)
        if count < 1:
            return 0.0, float(greatest)
        mean, rows = float(total / count), float(count)
        moved = self.moved(table, noises, mean, rows)
        found = squares / count - (total / count) ** 2
        near, means = float(found), (mean - moved, mean + moved)
        off = self.off(table, noises, means, (near, near + moved**2), rows)
        low, high = found - Fraction(off), found + Fraction(off) + Fraction(moved) ** 2
        return float(clamped(low, Fraction(0), greatest)), float(clamped(high, Fraction(0), greatest))

    def stated(self, setting: Setting) -> StatedError:
        """By `off`, for all means and variances that the plan says are possible; and (the mean's error)²."""
        domain, own = setting.table.domain(self.column, Numbers), self.group_setting(setting)
        return VarianceError(self, own, self.parts(setting.table), domain, self.most(setting.table))

    @property
    def error_unit(self) -> str:
        """The square of that of the column."""
        return f"{self.column}, squared"

    def size(self, table: Declared, rows: float) -> float:
        """The square of half the range."""
        domain = table.domain(self.column, Numbers)
        return float(domain.high - domain.low) ** 2 / 4

    def document(self) -> dict[str, Any]:
        """Such as: variance: income."""
        return self.worded(variance=self.column, by=list(self.by) or None, public_rows=self.public_rows)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """With Laplace noise; in groups, and with a public number of rows."""
        return {
            "variance-laplace": AuditCase(Variance("income"), {"epsilon": 3}, trials=3_000),
            "variance-by": AuditCase(Variance("income", by="region"), {"epsilon": 3}, trials=3_000),
            "variance-public": AuditCase(Variance("income", public_rows=21), {"epsilon": 3}, trials=3_000),
        }


class VarianceError(RatioError):
    """The error of a variance."""

    def __init__(
        self, variance: Variance, setting: Setting, parts: tuple[Part, ...], domain: Numbers, half: float
    ) -> None:
        super().__init__(setting, parts, domain, half, counted=variance.public_rows is None)
        self.variance = variance

    def elsewhere(self, setting: Setting) -> StatedError:
        """The same variance in another setting."""
        return VarianceError(self.variance, setting, self.parts, self.domain, self.half)

    @property
    def stated_for(self) -> str:
        """For which means, and for which standard deviations if the plan says."""
        spread = self.setting.known.spread
        return super().stated_for + ("" if spread is None else f", with a standard deviation {anywhere(spread)}")

    def off(self, noises: Noises, rows: float) -> float:
        """With the square of the mean's error."""
        off = self.variance.off(self.setting.table, noises, self.means, self.variances, rows)
        return off + self._unbounded(noises) ** 2

    @property
    def most(self) -> float:
        """The square of half the range."""
        return (self.width / 2) ** 2

    @cached_property
    def factors(self) -> list[float]:
        """That of the count's noise is how far the square of the mean may be from the variance."""
        far, units = min(self.far, self.half), [float(part.unit) for part in self.parts]
        if not self.counted:
            return [2 * far * units[0], units[1]]
        low, high = self.means
        near = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        count = min(max(far**2 - self.variances[0], self.variances[1] - near**2), self.half**2)
        return [count, 2 * far * units[1], units[2]]

    def _unbounded(self, noises: Noises) -> float:
        """The error of a mean that no bounds hold back: it adds to the factor of the count's noise itself."""
        error, unit = 0.0, float(self.parts[-2].unit)
        if not self.counted:
            return noises.together([unit], FOR_SQUARE) / (self.setting.rows or 1)
        while error < self.half:
            bound = noises.together([self.far + error, unit], FOR_SQUARE) / (self.setting.rows or 1)
            if bound <= error:
                break
            error = bound * _A_LITTLE
        return error

    @cached_property
    def unit_reaches(self) -> Ends:
        """Of the variance, and of its mean."""
        missed, scales = 1 - self.setting.confidence, self.unit_scales
        factors = [self.far, float(self.parts[1].unit)] if self.counted else [float(self.parts[0].unit)]
        square = continuous_together(self.noise, scales[: len(factors)], factors, FOR_SQUARE * missed)
        return continuous_together(self.noise, scales, self.factors, (1 - FOR_SQUARE) * missed), square
