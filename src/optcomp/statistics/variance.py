"""The variance of a column over the rows where it is not missing, from noisy moments about the middle."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Coarse, Numbers
from optcomp.statistics.joint_noise import UP, Noises, continuous_together
from optcomp.statistics.known import FACTS
from optcomp.statistics.moments import NARROWER, Ends, RatioError, anywhere, mean_off, most_from_middle, ratio, steps
from optcomp.statistics.part import IntegerVector, Part, scalar
from optcomp.statistics.stated import Setting, StatedError
from optcomp.statistics.statistic import Amounts, Interval, Keyword, Statistic, clamped, first_row
from optcomp.statistics.table import Table

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


@dataclass(frozen=True, repr=False)
class Variance(Statistic):
    """The variance of a column over the rows where it is not missing, from noisy moments about the middle."""

    column: str
    where: str | None = None
    needs_rows = True
    keywords = (
        Keyword(
            "variance",
            lambda entries: Variance(entries.take("variance", str), entries.condition()),
            {"variance": fragments.text(fragments.COLUMN)},
            FACTS,
        ),
    )

    def _coarse(self, table: Declared) -> Coarse:
        """Squares, too, must stay small enough to be summed."""
        domain: Numbers = table.domain(self.column, Numbers)
        return domain.around_middle(_MOST_SQUARED)

    def expression(self, table: Table) -> ir.Table:
        """How many, how far above the lowest, and how far from the middle squared."""
        coarse = self._coarse(table)
        rows = steps(table, self.column, coarse, self.where)
        away = rows.steps.cast("int64") + coarse.low
        return rows.aggregate(count=rows.steps.count(), total=rows.steps.sum(), squares=(away * away).sum())

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """A fifth for the count, two fifths for each moment."""
        coarse, bounds = self._coarse(table), table.contribution
        unit, most = coarse.unit, max(coarse.low**2, coarse.high**2)
        return (
            scalar("count", bounds.sum_change(0, 1), share=_FIFTH),
            scalar("sum from the middle", bounds.sum_change(coarse.low, coarse.high), unit, 2 * _FIFTH),
            scalar("sum of squares", bounds.sum_change(0, most), unit * unit, 2 * _FIFTH),
        )

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """One for each part."""
        count, total, squares = first_row(rows)
        return (count,), (total + self._coarse(table).low * count,), (squares,)

    def value(self, table: Declared, amounts: Amounts) -> float:
        """Between 0 and the square of half the range."""
        (count,), (total,), (squares,) = amounts
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
        q - 2m·s + (m² - v)·t is what the noisy parts come to in place of 0.
        """
        most, unit = self.most(table), float(self._coarse(table).unit)
        far, near = max(map(abs, means)), 0.0 if means[0] <= 0 <= means[1] else min(map(abs, means))
        off, factor = 0.0, most**2
        for _ in range(1 + NARROWER):
            factors = factor, 2 * min(far, most) * unit, unit**2
            off = noises.together(factors, 1 - FOR_SQUARE) / rows
            factor = min(max(far**2 - variances[0], variances[1] - near**2) + off, most**2)
        return off

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Interval:
        """As far as the answer may be off; above it the mean's error squared comes on top."""
        (count,), (total,), (squares,) = amounts
        greatest = self._greatest(table)
        if count < 1:
            return 0.0, float(greatest)
        mean, rows, unit = float(total / count), float(count), float(self._coarse(table).unit)
        moved = mean_off(noises, abs(mean) * UP, self.most(table), unit, rows, FOR_SQUARE)
        found = squares / count - (total / count) ** 2
        near, means = float(found), (mean - moved, mean + moved)
        off = self.off(table, noises, means, (near, near + moved**2), rows)
        low, high = found - Fraction(off), found + Fraction(off) + Fraction(moved) ** 2
        return float(clamped(low, Fraction(0), greatest)), float(clamped(high, Fraction(0), greatest))

    def stated(self, setting: Setting) -> StatedError:
        """By `off`, for all means and variances that the plan says are possible; and (the mean's error)²."""
        domain = setting.table.domain(self.column, Numbers)
        return VarianceError(self, setting, self.parts(setting.table), domain, self.most(setting.table))

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
        return self.worded(variance=self.column)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """With Laplace noise."""
        return {"variance-laplace": AuditCase(Variance("income"), {"epsilon": 3}, trials=3_000)}


class VarianceError(RatioError):
    """The error of a variance."""

    def __init__(
        self, variance: Variance, setting: Setting, parts: tuple[Part, ...], domain: Numbers, half: float
    ) -> None:
        super().__init__(setting, parts, domain, half)
        self.variance = variance

    def elsewhere(self, setting: Setting) -> StatedError:
        """The same variance in another setting."""
        return self.variance.stated(setting)

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
        low, high = self.means
        near = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        count = min(max(far**2 - self.variances[0], self.variances[1] - near**2), self.half**2)
        return [count, 2 * far * units[1], units[2]]

    def _unbounded(self, noises: Noises) -> float:
        """The error of a mean that no bounds hold back: it adds to the factor of the count's noise itself."""
        error, unit = 0.0, float(self.parts[1].unit)
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
        factors = [self.far, float(self.parts[1].unit)]
        square = continuous_together(self.noise, scales[:2], factors, FOR_SQUARE * missed)
        return continuous_together(self.noise, scales, self.factors, (1 - FOR_SQUARE) * missed), square
