r"""Quantiles by the exponential mechanism: a candidate c is better the more evenly it splits the rows.

For the probability p = a/b the score of c is -|(b-a)·#{x < c} - a·#{x > c}|, a whole number that one row changes by at
most max(a, b-a), or by b if it may be exchanged.  Choosing c with probability proportional to e^{score/s} has a loss
that ranges over an interval of length 2Δ/s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from optcomp.errors import InvalidInput
from optcomp.numerics import Number, exact, whole
from optcomp.statistics import fragments
from optcomp.statistics.audited import FEW, AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Integers, Numbers
from optcomp.statistics.entries import Entries, as_written, number_text
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.noise import EXPONENTIAL, Noise
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.stated import Setting, StatedError
from optcomp.statistics.statistic import Amounts, Keyword, Statistic
from optcomp.statistics.table import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

_CANDIDATES = 1000
"""Of numbers that are not whole: a thousandth of the range is closer than most noise allows."""
_MOST_CANDIDATES = 100_000
"""Scores of more take seconds."""
_MOST_DENOMINATOR = 10_000
"""Scores are so many times as large as ranks."""
_DEFAULT = ("1/4", "1/2", "3/4")
"""The quartiles."""
_SCHEMA = fragments.whole(
    "So many values to choose from, evenly spaced; by default every whole number, or 1,000 values.",
    2,
    _MOST_CANDIDATES,
)
"""Of `candidates`."""


def _read_quantiles(entries: Entries) -> Quantiles:
    probabilities = [as_written(p) for p in entries.take("probabilities", Sequence, list(_DEFAULT))]
    column = entries.take("quantiles", str)
    return Quantiles(column, probabilities, entries.take("candidates", int, None), entries.condition())


def _read_median(entries: Entries) -> Quantiles:
    return Median(entries.take("median", str), entries.take("candidates", int, None), entries.condition())


@dataclass(frozen=True, repr=False)
class Quantiles(Statistic):
    """Values below which given shares of the rows lie, each chosen from evenly spaced candidates."""

    column: str
    probabilities: tuple[Fraction, ...]
    candidates: int | None = None
    where: str | None = None
    needs_rows = True
    assumes = ("values are spread evenly over the bounds",)
    keywords = (
        Keyword(
            "quantiles",
            _read_quantiles,
            {
                "quantiles": fragments.text(fragments.COLUMN),
                "probabilities": fragments.listed(
                    fragments.ANY_NUMBER, "Shares of the rows below; by default the quartiles."
                ),
                "candidates": _SCHEMA,
            },
            ("present",),
        ),
        Keyword(
            "median",
            _read_median,
            {"median": fragments.text(fragments.COLUMN), "candidates": _SCHEMA},
            ("present",),
        ),
    )

    def __init__(
        self,
        column: str,
        probabilities: Sequence[Number] = _DEFAULT,
        candidates: int | None = None,
        where: str | None = None,
    ) -> None:
        if isinstance(probabilities, str) or not isinstance(probabilities, Iterable):
            raise InvalidInput("probabilities", probabilities, "must be a list of numbers")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "probabilities", tuple(_probability(p) for p in probabilities))
        if not self.probabilities:
            raise InvalidInput("probabilities", probabilities, "must name at least one")
        least = None if candidates is None else whole(candidates, "candidates", 2, _MOST_CANDIDATES)
        object.__setattr__(self, "candidates", least)
        object.__setattr__(self, "where", where)

    def grid(self, table: Declared) -> tuple[Fraction, Fraction, int]:
        """The first candidate, the distance between two, and how many there are."""
        domain = table.domain(self.column, Numbers)
        width = domain.high - domain.low
        if self.candidates is None and isinstance(domain, Integers) and width < _MOST_CANDIDATES:
            return domain.low, Fraction(1), int(width) + 1
        count = self.candidates or _CANDIDATES
        return domain.low, width / (count - 1), count

    def expression(self, table: Table) -> ir.Table:
        """How many rows lie at each candidate, or nearest to it."""
        rows = table.rows({"place": (self.column, self._place(table))}, self.where)
        counted = rows.filter(rows.place.notnull())
        return counted.group_by("place").aggregate(count=counted.count())

    def _place(self, table: Declared) -> Callable[[Any], Any]:
        """The candidate nearest to a cell: candidates are spread evenly from the first cell to the last."""
        (_, step, count), domain = self.grid(table), table.domain(self.column, Numbers)
        if step == domain.step and count == domain.top + 1:
            return lambda cell: cell
        return lambda cell: (cell * (2 * (count - 1)) + domain.top) // (2 * domain.top)

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """For each probability the change of its score, which is the same for all candidates."""
        self.grid(table)  # refuses what is not declared
        share = Fraction(1, len(self.probabilities))
        return tuple(
            Part(("score",), change, change * change, share=share)
            for change in (self.change(table, p) for p in self.probabilities)
        )

    def change(self, table: Declared, probability: Fraction) -> int:
        """The most that one person can change a score."""
        a, b = probability.numerator, probability.denominator
        return table.contribution.rows * (b if table.contribution.replace else max(a, b - a))

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """The scores of all candidates, for each probability."""
        _, _, count = self.grid(table)
        counts = [0] * count
        for place, found in rows:
            counts[min(max(int(place), 0), count - 1)] += int(found)
        upto = list(accumulate(counts))
        total = upto[-1]
        return tuple(
            tuple(
                -abs((p.denominator - p.numerator) * (up - here) - p.numerator * (total - up))
                for up, here in zip(upto, counts, strict=True)
            )
            for p in self.probabilities
        )

    def value(self, table: Declared, amounts: Amounts) -> Any:
        """The chosen candidates, in the order of the probabilities; one number if one was asked for."""
        (low, step, _), domain = self.grid(table), table.domain(self.column, Numbers)
        found = [domain.told(low + step * index) for (index,) in amounts]
        if len(found) == 1:
            return found[0]
        ranked = sorted(found)
        order = sorted(range(len(found)), key=lambda i: self.probabilities[i])
        values = dict(zip(order, ranked, strict=True))
        return {float(p): values[i] for i, p in enumerate(self.probabilities)}

    def __str__(self) -> str:
        """Median, or quantiles with their probabilities."""
        if self.probabilities == (Fraction(1, 2),):
            return super().__str__().replace("quantiles", "median", 1)
        shown = ", ".join(f"{float(p):g}" for p in self.probabilities)
        return super().__str__().replace("quantiles", f"quantiles {shown}", 1)

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Any:
        """No interval follows from the choice alone."""
        return None

    @classmethod
    def noises(cls) -> tuple[Noise, ...]:
        """A choice by scores."""
        return (EXPONENTIAL,)

    def stated(self, setting: Setting) -> StatedError:
        """The distance of the choice from the true quantile, for rows spread evenly over the bounds."""
        return ChoiceError(self, setting, self.parts(setting.table))

    @property
    def error_unit(self) -> str:
        """That of the column."""
        return self.column

    def size(self, table: Declared, rows: float) -> float:
        """The range."""
        domain = table.domain(self.column, Numbers)
        return float(domain.high - domain.low)

    def document(self) -> dict[str, Any]:
        """Such as: quantiles: income, probabilities: [1/4, 1/2, 3/4]; a median is the quantile 1/2."""
        shares = [number_text(share, "probabilities") for share in self.probabilities]
        return self.worded(quantiles=self.column, probabilities=shares, candidates=self.candidates)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """One quantile, added and exchanged, and two."""
        return {
            "median": AuditCase(Median("score", where=FEW), {"epsilon": 2}, trials=11_000),
            "median-replaced": AuditCase(Median("score", where=FEW), {"epsilon": 2}, "replaced", trials=11_000),
            "quantiles": AuditCase(Quantiles("score", ["1/2", "3/4"]), {"epsilon": 3}, trials=6_000),
        }


class ChoiceError(StatedError):
    """The error of quantiles that are chosen."""

    hint = ": raise `candidates`"

    def __init__(self, quantiles: Quantiles, setting: Setting, parts: tuple[Part, ...]) -> None:
        super().__init__(setting, parts)
        self.probabilities, self.grid = quantiles.probabilities, quantiles.grid(setting.table)
        domain = setting.table.domain(quantiles.column, Numbers)
        self.on_integers = isinstance(domain, Integers) and self.grid[1] == 1

    @property
    def likeness(self) -> tuple[Hashable, ...]:
        """Candidates and probabilities."""
        return (*self.grid, self.probabilities, self.on_integers)

    def error(self, scales: Sequence[float]) -> float:
        """The choice among candidates for evenly spread rows, exactly."""
        _, step, count = self.grid
        each, whole_numbers, rows = (
            self.setting.confidence ** (1 / len(scales)),
            self.on_integers,
            self.setting.rows or 0,
        )
        pairs = zip(self.probabilities, scales, strict=True)
        return float(step) * max(_choice_error(p, count, whole_numbers, rows, scale, each) for p, scale in pairs)

    @cached_property
    def _ranks(self) -> float:
        """By how many candidates the worst choice is off at a budget of 1, if there were no gaps."""
        each = self.setting.confidence ** (1 / len(self.parts))
        pairs = zip(self.probabilities, self.unit_scales, strict=True)
        ranks = max(scale / p.denominator for p, scale in pairs) * -math.log1p(-each)
        return ranks * self.grid[2] / (self.setting.rows or 1)

    def smooth(self, times: float) -> float:
        """About: ranks fall off exponentially on both sides; candidates are half a step off anyway."""
        off = (self._ranks * times) ** 4 + 0.0625
        return float(float(self.grid[1]) * off**0.25)


def Median(column: str, candidates: int | None = None, where: str | None = None) -> Quantiles:  # noqa: N802
    """The middle value of a column: the quantile 1/2."""
    return Quantiles(column, ["1/2"], candidates, where)


def _probability(value: Number) -> Fraction:
    found = Fraction(exact(value, "probabilities")).limit_denominator(_MOST_DENOMINATOR)
    if not 0 < found < 1:
        raise InvalidInput("probabilities", value, "must lie strictly between 0 and 1")
    return found


@lru_cache(maxsize=4096)
def _choice_error(probability: Fraction, count: int, whole: bool, rows: int, scale: float, confidence: float) -> float:
    """How many candidates away the true quantile is; rows lie evenly on whole numbers, or from first to last."""
    place = np.arange(count, dtype=np.float64)
    covered = (place + 1) / count if whole else np.minimum((place + 0.5) / (count - 1), 1.0)
    upto = np.floor(rows * covered + 0.5)
    below, above = np.concatenate([[0.0], upto[:-1]]), rows - upto
    a, b = probability.numerator, probability.denominator
    score = -np.abs((b - a) * below - a * above)
    weight = np.exp((score - score.max()) / scale)
    true = float(np.searchsorted(upto, math.ceil(rows * probability)) if whole else probability * (count - 1))
    away = np.abs(place - true)
    order = np.argsort(away, kind="stable")
    reached = np.cumsum(weight[order]) / weight.sum()
    return float(away[order][min(int(np.searchsorted(reached, confidence)), count - 1)])
