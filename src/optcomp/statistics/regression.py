r"""Linear regression by noisy moments, with intervals for the noise alone.

Columns are counted from the middle of their bounds, in parts z of half their range, so that |z| <= 1; 1 stands for the
intercept.  With A = Σ z zᵀ and c = Σ z y over the rows that have all values, the coefficients b solve A b = c.  Told is
the solution for A + E and c + e, with the noise E, e.  So (A + E)(told - b) = e - E b, and for any combination w

    |wᵀ(told - b)| <= |(A + E)⁻¹ w| · (|e| + |E| (|told| + d)),   d = N (|e| + |E| |told|) / (1 - N |E|),

with N the norm of (A + E)⁻¹, which is known.  Where N |E| may be 1 or more, the least eigenvalue of A may be 0, and the
intervals are infinite.  |e| and |E| are bounded entry by entry, all entries together with the confidence.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from optcomp.errors import InvalidInput
from optcomp.numerics import Floats
from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Coarse, Numbers
from optcomp.statistics.entries import Entries
from optcomp.statistics.groups import Columns, columns_by
from optcomp.statistics.joint_noise import UP, Noises
from optcomp.statistics.noise import AddedNoise
from optcomp.statistics.part import IntegerVector, Part, scalar
from optcomp.statistics.stated import Setting, StatedError
from optcomp.statistics.statistic import Amounts, Interval, Keyword, Statistic, clamped, first_row
from optcomp.statistics.table import Shape, Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

INTERCEPT = "(intercept)"
"""The name of the constant."""
_MOST_SQUARED = 2**11
"""Units from the middle whose products are summed: those of 2^40 rows stay within 62 bits."""
_MOST_ON = 10
"""Columns that a regression may be on: with more, hardly any budget is left for each product."""
_MOST_EFFECT = Fraction(1000)
"""Half the ranges of what is explained that one column is told to move it by at most, on half of its own range."""
_EVENLY = "its columns are spread evenly over their bounds, each by itself"
"""What a stated error takes for granted."""
_FLOATS = 1 + 1e-9
"""More than the rounding of norms of small matrices."""


def _read(entries: Entries) -> Regression:
    column, on = entries.take("regression", str), entries.take("on", object, ())
    if not isinstance(on, Sequence):
        raise InvalidInput(entries.path("on"), on, "must be a column, or a list of columns")
    return Regression(column, on, entries.condition())


@dataclass(frozen=True, repr=False)
class Regression(Statistic):
    """The coefficients of the linear regression of one column on others, over rows that have all of their values."""

    column: str
    on: Columns = ()
    where: str | None = None
    needs_rows = True
    assumes = (_EVENLY,)
    keywords = (
        Keyword(
            "regression",
            _read,
            {
                "regression": fragments.text("The column that is to be explained."),
                "on": {
                    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": _MOST_ON}],
                    "description": "The columns by which it is explained.",
                },
            },
        ),
    )

    def __post_init__(self) -> None:
        on = columns_by(self.on, "on")
        if self.column in on or len(on) > _MOST_ON:
            raise InvalidInput("on", list(on), f"must be other columns than {self.column!r}, at most {_MOST_ON}")
        object.__setattr__(self, "on", on)

    def _coarse(self, table: Declared) -> list[Coarse]:
        """Of the columns, and of the one that is explained last."""
        return [self._domain(table, name).around_middle(_MOST_SQUARED) for name in (*self.on, self.column)]

    def _domain(self, table: Declared, name: str) -> Numbers:
        found: Numbers = table.domain(name, Numbers, "column" if name == self.column else "on")
        return found

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """Which products are summed: places of columns, from 1; 0 is the constant, and the last is explained."""
        last = len(self.on) + 1
        return [pair for pair in combinations_with_replacement(range(last + 1), 2) if pair != (last, last)]

    def expression(self, table: Table) -> ir.Table:
        """The sums of all products."""
        shapes: dict[str, Shape] = {
            f"z{i}": (name, each.of)
            for i, (name, each) in enumerate(zip((*self.on, self.column), self._coarse(table), strict=True), 1)
        }
        rows = table.rows(shapes, self.where)
        rows = rows.filter(*(rows[name].notnull() for name in shapes))
        away = [rows[f"z{i}"].cast("int64") + each.low for i, each in enumerate(self._coarse(table), 1)]
        sums = {f"s{i}_{j}": (away[j - 1] if not i else away[i - 1] * away[j - 1]).sum() for i, j in self._pairs if j}
        return rows.aggregate(count=rows.count(), **sums)

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """One number for each product, each with the same share."""
        ends = [(1, 1, Fraction(1)), *((each.low, each.high, each.unit) for each in self._coarse(table))]
        names, share = ("1", *self.on, self.column), Fraction(1, len(self._pairs))
        found = []
        for i, j in self._pairs:
            corners = [a * b for a in ends[i][:2] for b in ends[j][:2]]
            low, high = (0, max(corners)) if i == j else (min(corners), max(corners))
            change = table.contribution.sum_change(low, high)
            found.append(scalar(f"{names[i]} × {names[j]}", change, ends[i][2] * ends[j][2], share))
        return tuple(found)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """One for each part."""
        return tuple((each,) for each in first_row(rows))

    def _halves(self, table: Declared) -> list[Fraction]:
        """By what columns are divided: 1 for the constant, else the most that a value is from the middle."""
        return [Fraction(1), *(max(-each.low, each.high) * each.unit for each in self._coarse(table))]

    def _system(self, table: Declared, amounts: Amounts) -> tuple[_Matrix, list[Fraction]]:
        """A + E and c + e, of columns in parts of half their range."""
        halves, last = self._halves(table), len(self.on) + 1
        found = {(i, j): part[0] / (halves[i] * halves[j]) for (i, j), part in zip(self._pairs, amounts, strict=True)}
        square = [[found[min(i, j), max(i, j)] for j in range(last)] for i in range(last)]
        return square, [found[i, last] for i in range(last)]

    def _told(self, table: Declared) -> dict[str, list[Fraction]]:
        """Each coefficient as a combination of those of columns in parts, in units of the data."""
        halves, size = self._halves(table), len(self.on) + 1
        middles = [self._domain(table, name).middle for name in self.on]
        top = halves[-1]
        first = [top, *(-top * middle / half for middle, half in zip(middles, halves[1:-1], strict=True))]
        found = {INTERCEPT: first}
        for place, name in enumerate(self.on, 1):
            found[name] = [top / halves[place] if i == place else Fraction(0) for i in range(size)]
        return found

    def _value(self, table: Declared, solved: Sequence[Fraction]) -> dict[str, float]:
        moved = self._domain(table, self.column).middle
        found = {name: _dot(way, solved) for name, way in self._told(table).items()}
        return {name: float(value + (moved if name == INTERCEPT else 0)) for name, value in found.items()}

    def value(self, table: Declared, amounts: Amounts) -> dict[str, float]:
        """The coefficients; all 0, and the middle as intercept, where the noisy sums have no solution."""
        square, right = self._system(table, amounts)
        inverse = _inverse(square)
        solved = [Fraction(0)] * len(right) if inverse is None else _times(inverse, right)
        return self._value(table, [clamped(each, -_MOST_EFFECT, _MOST_EFFECT) for each in solved])

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> dict[str, Interval]:
        """For all coefficients together; infinite where the least eigenvalue may be 0."""
        square, right = self._system(table, amounts)
        inverse, told = _inverse(square), self.value(table, amounts)
        if inverse is None:
            return dict.fromkeys(told, (-math.inf, math.inf))
        wide, off = self.norms(table, noises)
        middle = self._value(table, _times(inverse, right))
        solved = _norm(_times(inverse, right))
        norm = float(np.linalg.norm(np.array(inverse, dtype=np.float64), 2)) * _FLOATS
        if not norm * wide < 1:
            return dict.fromkeys(told, (-math.inf, math.inf))
        moved = norm * (off + wide * solved) / (1 - norm * wide)
        most = (off + wide * (solved + moved)) * _FLOATS
        reaches = {name: most * _norm(_times(inverse, way)) for name, way in self._told(table).items()}
        return {
            name: (min(middle[name] - each, told[name]), max(middle[name] + each, told[name]))
            for name, each in reaches.items()
        }

    def norms(self, table: Declared, noises: Noises) -> tuple[float, float]:
        """What |E| and |e| stay within, for all entries together."""
        return _norms(self, table, noises.noise, noises.scales, noises.confidence)

    def stated(self, setting: Setting) -> StatedError:
        """By the same bound, for columns that are spread evenly."""
        return RegressionError(self, setting, self.parts(setting.table))

    @property
    def error_unit(self) -> str:
        """What a column does on the way from the middle of its bounds to an end."""
        return f"{self.column}, for half the range of a column"

    @property
    def value_unit(self) -> str:
        """That of the column; slopes are for one unit of theirs."""
        return f"{self.column}; slopes for 1 of their column"

    def size(self, table: Declared, rows: float) -> float:
        """Half the range."""
        return float(self._halves(table)[-1])

    def __str__(self) -> str:
        """Such as: regression of income on age, hours."""
        about = f"regression of {self.column}" + (f" on {', '.join(self.on)}" if self.on else "")
        return f"{about} where {self.where}" if self.where else about

    def cell_names(self) -> tuple[str, ...]:
        """The columns, and the constant."""
        return ("coefficient",)

    def document(self) -> dict[str, Any]:
        """Such as: regression: income, on: [age, hours]."""
        return self.worded(regression=self.column, on=list(self.on))

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """On one column; no single exchange of two people moves all of its sums at once."""
        return {"regression": AuditCase(Regression("income", ("age",)), {"epsilon": 3}, trials=3_000)}


class RegressionError(StatedError):
    """The error of coefficients, times half the range of their columns; all of them together.

    Columns that are spread evenly, each by itself, have A = n·diag(1, 1/3, …), and b² for the constant plus a third of
    the other b² is at most 1: |b| is at most √3.
    """

    def __init__(self, regression: Regression, setting: Setting, parts: tuple[Part, ...]) -> None:
        super().__init__(setting, parts)
        self.regression, self.top = regression, float(regression._halves(setting.table)[-1])
        self.least = (self.setting.rows or 1) / (3 if regression.on else 1)
        self.longest = math.sqrt(3) if regression.on else 1.0

    @property
    def likeness(self) -> tuple[Hashable, ...]:
        """Ranges, and how many columns."""
        return (*self.regression._halves(self.setting.table), self.setting.rows)

    def _norms(self, scales: Sequence[float]) -> tuple[float, float]:
        return _norms(self.regression, self.setting.table, self.noise, scales, self.setting.confidence)

    def error(self, scales: Sequence[float]) -> float:
        """By the norms of the noise."""
        wide, off = self._norms(scales)
        left = self.least - wide
        most = float(_MOST_EFFECT) + self.longest
        return self.top * min((off + wide * self.longest) / left * UP if left > 0 else most, most)

    @cached_property
    def _at_one(self) -> float:
        wide, off = self._norms(self.unit_scales)
        return self.top * (off + wide * self.longest) / self.least

    def smooth(self, times: float) -> float:
        """In proportion to the noise."""
        return self._at_one * times


_Matrix = list[list[Fraction]]
"""Rows of exact numbers."""


def _norms(
    about: Regression, table: Declared, noise: AddedNoise, scales: Sequence[float], confidence: float
) -> tuple[float, float]:
    """The most that the matrix and the right side of noise measure, by the sum of squares of all entries."""
    halves, last, pairs = about._halves(table), len(about.on) + 1, about._pairs
    wide, off = 0.0, 0.0
    for (i, j), part, scale in zip(pairs, about.parts(table), scales, strict=True):
        reach = noise.reach(scale, confidence, len(pairs)) * float(part.unit / (halves[i] * halves[j]))
        if j == last:
            off += reach**2
        else:
            wide += reach**2 * (1 if i == j else 2)
    return math.sqrt(wide) * UP, math.sqrt(off) * UP


def _norm(values: Sequence[Fraction]) -> float:
    found: Floats = np.array([float(value) for value in values])
    return float(np.linalg.norm(found)) * _FLOATS


def _times(matrix: _Matrix, values: Sequence[Fraction]) -> list[Fraction]:
    return [_dot(row, values) for row in matrix]


def _dot(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(first, second, strict=True)), Fraction(0))


def _inverse(matrix: _Matrix) -> _Matrix | None:
    """Exactly; None if there is none."""
    size = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next((i for i in range(column, size) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [value / head for value in rows[column]]
        for i in range(size):
            if i != column and rows[i][column]:
                times = rows[i][column]
                rows[i] = [a - times * b for a, b in zip(rows[i], rows[column], strict=True)]
    return [row[size:] for row in rows]
