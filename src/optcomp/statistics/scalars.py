"""Statistics of one number: count, sum, mean, variance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ibis.expr.types as ir

from optcomp.statistics.domains import Numbers, power_of_two
from optcomp.statistics.statistic import Amounts, Integers, Interval, Part, Statistic, first_row, scalar
from optcomp.statistics.table import Declared, Table

_QUARTER, _FIFTH = Fraction(1, 4), Fraction(1, 5)
_MOST_SQUARED = 2**15
_NARROWER, _UP = 3, 1 + 1e-12
Reach = Callable[[Sequence[float]], float]
"""How far a sum of the noises of all parts reaches, each times its factor."""


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

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[Integers, ...]:
        """The count."""
        return (first_row(rows),)

    def value(self, table: Declared, amounts: Amounts) -> int:
        """The noisy count."""
        return int(amounts[0][0])

    def interval(self, table: Declared, amounts: Amounts, off: Sequence[Fraction]) -> Interval:
        """No count is negative."""
        return max(float(amounts[0][0] - off[0]), 0.0), max(float(amounts[0][0] + off[0]), 0.0)


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

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[Integers, ...]:
        """The sum."""
        return (first_row(rows),)

    def value(self, table: Declared, amounts: Amounts) -> float:
        """The noisy sum."""
        return float(amounts[0][0])

    def interval(self, table: Declared, amounts: Amounts, off: Sequence[Fraction]) -> Interval:
        """On either side."""
        return float(amounts[0][0] - off[0]), float(amounts[0][0] + off[0])


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

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[Integers, ...]:
        """One for each part."""
        count, total = first_row(rows)
        return (count,), (total,)

    def value(self, table: Declared, amounts: Amounts) -> float:
        """Within the bounds."""
        domain = table.domain(self.column, Numbers)
        return float(_clamped(domain.middle + _ratio(amounts[1][0], amounts[0][0]), domain.low, domain.high))

    def interval(self, table: Declared, amounts: Amounts, off: Sequence[Fraction]) -> Interval:
        """All ratios that the two intervals allow; `sharp_interval` knows more about the noise."""
        domain = table.domain(self.column, Numbers)
        (count,), (total,) = amounts
        if count - off[0] < 1:
            return float(domain.low), float(domain.high)
        ratios = [(total + s) / (count + n) for s in (-off[1], off[1]) for n in (-off[0], off[0])]
        low, high = domain.middle + min(ratios), domain.middle + max(ratios)
        return float(_clamped(low, domain.low, domain.high)), float(_clamped(high, domain.low, domain.high))

    def sharp_interval(self, table: Declared, amounts: Amounts, reach: Reach) -> Interval:
        """All means m, from the middle, with |sum - m·count| no more than the noises reach with factors m and 1.

        For the true mean that is what the noises come to.  The factor is at most the largest |m| that is still
        possible.
        """
        domain = table.domain(self.column, Numbers)
        (count,), (total,) = amounts
        if count < 1:
            return float(domain.low), float(domain.high)
        unit, middle = float(domain.unit), domain.middle
        low, high = domain.reach(middle, domain.unit)
        most = float(max(-low * domain.unit, high * domain.unit)) * _UP
        for _ in range(_NARROWER):
            off = Fraction(reach((most, unit))) / count
            most = min(most, float(abs(total / count) + off) * _UP)
        ends = (middle + total / count + side * off for side in (-1, 1))
        first, last = (float(_clamped(end, domain.low, domain.high)) for end in ends)
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

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[Integers, ...]:
        """One for each part."""
        count, total, squares = first_row(rows)
        return (count,), (total,), (squares,)

    def value(self, table: Declared, amounts: Amounts) -> float:
        """Between 0 and the square of half the range."""
        (count,), (total,), (squares,) = amounts
        return float(_clamped(_ratio(squares, count) - _ratio(total, count) ** 2, Fraction(0), self._most(table)))

    def _most(self, table: Declared) -> Fraction:
        domain = table.domain(self.column, Numbers)
        return Fraction((domain.high - domain.low) ** 2 / 4)

    def interval(self, table: Declared, amounts: Amounts, off: Sequence[Fraction]) -> Interval:
        """The extremes of q/n - (s/n)² over the box: q at an end, |s| at an end or zero, n at an end or between."""
        (count,), (total,), (squares,) = amounts
        low_n, high_n = count - off[0], count + off[0]
        most = self._most(table)
        if low_n < 1:
            return 0.0, float(most)
        least_s = max(abs(total) - off[1], Fraction(0))
        most_s = abs(total) + off[1]
        high = _greatest(squares + off[2], least_s, low_n, high_n)
        low = min((squares - off[2]) / n - (most_s / n) ** 2 for n in (low_n, high_n))
        return float(_clamped(low, Fraction(0), most)), float(_clamped(high, Fraction(0), most))


def _steps(table: Table, statistic: Sum | Mean | Variance, origin: Fraction, unit: Fraction) -> ir.Table:
    """The rows of a statistic, its column in whole units above the origin."""
    domain = table.domain(statistic.column, Numbers)
    return table.rows({"steps": (statistic.column, lambda column: domain.steps(column, origin, unit))}, statistic.where)


def _greatest(q: Fraction, s: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """The greatest q/n - (s/n)² for n in an interval: concave in 1/n, greatest at n = 2s²/q."""
    places = [low, high]
    if q > 0 and low < 2 * s * s / q < high:
        places.append(2 * s * s / q)
    return max(q / n - (s / n) ** 2 for n in places)


def _ratio(total: Fraction, count: Fraction) -> Fraction:
    """A noisy count may be zero or less; there is at least one row then, or the ratio is of no use anyway."""
    return total / max(count, Fraction(1))


def _clamped(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    return min(max(value, low), high)
