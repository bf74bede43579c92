"""Statistics of one number: count, sum, mean, variance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ibis.expr.types as ir

from optcomp.statistics.domains import Numbers, power_of_two
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.part import IntegerVector, Part, scalar
from optcomp.statistics.statistic import Amounts, Interval, Statistic, first_row
from optcomp.statistics.table import Declared, Table

_QUARTER, _FIFTH = Fraction(1, 4), Fraction(1, 5)
_MOST_SQUARED = 2**15
_NARROWER, _UP = 3, 1 + 1e-12
FOR_SQUARE = 0.05
"""The share of what may be missed that goes to the square of the mean's error in a variance."""
Ends = tuple[float, float]


@dataclass(frozen=True)
class Count(Statistic):
    """How many rows there are, or satisfy a condition."""

    where: str | None = None

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


@dataclass(frozen=True)
class Sum(Statistic):
    """The sum of a column, each value clamped to its bounds."""

    column: str
    where: str | None = None

    def expression(self, table: Table) -> ir.Table:
        """The sum of whole units."""
        domain = table.domain(self.column, Numbers)
        rows = _steps(table, self, Fraction(0), domain.unit)
        return rows.aggregate(total=rows.steps.sum())

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """One integer."""
        domain = table.domain(self.column, Numbers)
        change = table.contribution.sum_change(*domain.reach(Fraction(0), domain.unit))
        return (scalar("sum", change, domain.unit),)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """The sum."""
        return (first_row(rows),)

    def value(self, table: Declared, amounts: Amounts) -> float:
        """The noisy sum."""
        return float(amounts[0][0])

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Interval:
        """On either side."""
        off = noises.cells(1) * table.domain(self.column, Numbers).unit
        return float(amounts[0][0] - off), float(amounts[0][0] + off)


@dataclass(frozen=True)
class Mean(Statistic):
    """The mean of a column where it is not missing: a noisy sum of distances from the middle over a noisy count."""

    column: str
    where: str | None = None

    def expression(self, table: Table) -> ir.Table:
        """How many, and how far from the middle in all."""
        domain = table.domain(self.column, Numbers)
        rows = _steps(table, self, domain.middle, domain.unit)
        return rows.aggregate(count=rows.steps.count(), total=rows.steps.sum())

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """The count needs less of the budget: its error matters only as far as the mean is from the middle."""
        domain, bounds = table.domain(self.column, Numbers), table.contribution
        change = bounds.sum_change(*domain.reach(domain.middle, domain.unit))
        count = scalar("count", bounds.sum_change(0, 1), share=_QUARTER)
        return count, scalar("sum from the middle", change, domain.unit, 1 - _QUARTER)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """One for each part."""
        count, total = first_row(rows)
        return (count,), (total,)

    def value(self, table: Declared, amounts: Amounts) -> float:
        """Within the bounds."""
        domain = table.domain(self.column, Numbers)
        return float(clamped(domain.middle + _ratio(amounts[1][0], amounts[0][0]), domain.low, domain.high))

    def most(self, table: Declared) -> float:
        """The most that a value on the grid of its unit, or an answer, differs from the middle."""
        domain = table.domain(self.column, Numbers)
        return _most(domain, domain.unit)

    def off(self, table: Declared, noises: Noises, far: float, rows: float) -> float:
        """How far off the mean of so many rows may be that lies so far from the middle.

        For plans `far` is that of the true mean m.  It is told above m + e only if s - (m + e)·t > e·rows, with the
        noise s of the sum and t of the count, and m + e is within the bounds.  For releases it is that of the noisy
        mean: the true one has |s - m·t| = |m - noisy|·(noisy rows).
        """
        unit = float(table.domain(self.column, Numbers).unit)
        return _mean_off(noises, far, self.most(table), unit, rows)

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Interval:
        """As far as the answer may be off, within the bounds."""
        domain = table.domain(self.column, Numbers)
        (count,), (total,) = amounts
        if count < 1:
            return float(domain.low), float(domain.high)
        found = total / count
        off = Fraction(self.off(table, noises, float(abs(found)) * _UP, float(count)))
        ends = (domain.middle + found + side * off for side in (-1, 1))
        first, last = (float(clamped(end, domain.low, domain.high)) for end in ends)
        return first, last


@dataclass(frozen=True)
class Variance(Statistic):
    """The variance of a column over the rows where it is not missing, from noisy moments about the middle."""

    column: str
    where: str | None = None

    def _unit(self, domain: Numbers) -> Fraction:
        """Squares must stay within 2^30 units."""
        half = max(domain.high - domain.middle, domain.middle - domain.low)
        return max(domain.unit, 2 * power_of_two(half / _MOST_SQUARED))

    def expression(self, table: Table) -> ir.Table:
        """How many, how far from the middle, and how far squared."""
        domain = table.domain(self.column, Numbers)
        rows = _steps(table, self, domain.middle, self._unit(domain))
        whole = rows.steps.cast("int64")  # sums of squares outgrow what floats hold exactly
        return rows.aggregate(count=rows.steps.count(), total=rows.steps.sum(), squares=(whole * whole).sum())

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """A fifth for the count, two fifths for each moment."""
        domain, bounds = table.domain(self.column, Numbers), table.contribution
        unit = self._unit(domain)
        low, high = domain.reach(domain.middle, unit)
        most = max(low * low, high * high)
        return (
            scalar("count", bounds.sum_change(0, 1), share=_FIFTH),
            scalar("sum from the middle", bounds.sum_change(low, high), unit, 2 * _FIFTH),
            scalar("sum of squares", bounds.sum_change(0, most), unit * unit, 2 * _FIFTH),
        )

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """One for each part."""
        count, total, squares = first_row(rows)
        return (count,), (total,), (squares,)

    def value(self, table: Declared, amounts: Amounts) -> float:
        """Between 0 and the square of half the range."""
        (count,), (total,), (squares,) = amounts
        return float(clamped(_ratio(squares, count) - _ratio(total, count) ** 2, Fraction(0), self._greatest(table)))

    def _greatest(self, table: Declared) -> Fraction:
        domain = table.domain(self.column, Numbers)
        return Fraction((domain.high - domain.low) ** 2 / 4)

    def most(self, table: Declared) -> float:
        """The most that a value on the grid of its unit differs from the middle."""
        domain = table.domain(self.column, Numbers)
        return _most(domain, self._unit(domain))

    def off(self, table: Declared, noises: Noises, means: Ends, variances: Ends, rows: float) -> float:
        """How far off the variance of so many rows may be, but for the square of the mean's error.

        Means m, from the middle, and variances v lie in these intervals.  With noise q of the sum of squares,
        q - 2m·s + (m² - v)·t is what the noisy parts come to in place of 0.
        """
        most, unit = self.most(table), float(self._unit(table.domain(self.column, Numbers)))
        far, near = max(map(abs, means)), 0.0 if means[0] <= 0 <= means[1] else min(map(abs, means))
        off, factor = 0.0, most**2
        for _ in range(1 + _NARROWER):
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
        mean, rows, unit = float(total / count), float(count), float(self._unit(table.domain(self.column, Numbers)))
        moved = _mean_off(noises, abs(mean) * _UP, self.most(table), unit, rows, FOR_SQUARE)
        found = squares / count - (total / count) ** 2
        near, means = float(found), (mean - moved, mean + moved)
        off = self.off(table, noises, means, (near, near + moved**2), rows)
        low, high = found - Fraction(off), found + Fraction(off) + Fraction(moved) ** 2
        return float(clamped(low, Fraction(0), greatest)), float(clamped(high, Fraction(0), greatest))


def around_count(count: Fraction, off: int) -> Interval:
    """As far as a count may be off, cut off at 0 but never short of the noisy count itself."""
    return float(min(max(count - off, Fraction(0)), count)), float(max(count + off, Fraction(0)))


def _most(domain: Numbers, unit: Fraction) -> float:
    low, high = domain.reach(domain.middle, unit)
    return float(max(-low * unit, high * unit, domain.high - domain.middle, domain.middle - domain.low)) * _UP


def _mean_off(noises: Noises, far: float, most: float, unit: float, rows: float, share: float = 1.0) -> float:
    """An e with e·rows no less than the reach of (far + e)·t + s: from the largest factor downwards."""
    off = noises.together((most, unit), share) / rows
    for _ in range(_NARROWER):
        off = noises.together((min(far + off, most), unit), share) / rows
    return off


def _steps(table: Table, statistic: Sum | Mean | Variance, origin: Fraction, unit: Fraction) -> ir.Table:
    """The rows of a statistic, its column in whole units above the origin."""
    domain = table.domain(statistic.column, Numbers)
    return table.rows({"steps": (statistic.column, lambda column: domain.steps(column, origin, unit))}, statistic.where)


def _ratio(total: Fraction, count: Fraction) -> Fraction:
    """A noisy count may be zero or less; there is at least one row then, or the ratio is of no use anyway."""
    return total / max(count, Fraction(1))


def clamped(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """The nearest number within the ends."""
    return min(max(value, low), high)
