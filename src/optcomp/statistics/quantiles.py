r"""Quantiles by the exponential mechanism: a candidate c is better the fewer rows it is off the rank that is asked for.

For the probability p = a/b among n rows the score of c is

    -max(0, b·#{x < c} - a·n, a·n - b·#{x <= c}),

a whole number, 0 at a true quantile also where there are ties and gaps.  Each of the three changes by at most
max(a, b-a) with one row more or less, and by b if one is exchanged, so their maximum does, too.  Choosing c with
probability proportional to e^{score/s} has a loss that ranges over an interval of length 2Δ/s.

The best score is 0, so a score below -t is chosen with probability at most |C|·e^{-t/s} among |C| candidates: with
probability 1 - β the rank is off by at most s·ln(|C|/β)/b rows, whatever the data are.

In groups one choice is made for each, with the same s.  The losses add up, and so do the intervals over which they
range: one person's rows over all groups are bounded, and Σ 2Δ_g/s is what they change all scores by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from optcomp.errors import InvalidInput
from optcomp.numerics import Number, exact, whole
from optcomp.statistics import fragments
from optcomp.statistics.audited import FEW, AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Integers, Numbers
from optcomp.statistics.entries import Entries, as_written, number_text
from optcomp.statistics.groups import BY, Columns, Groups, columns_by, each_confidence
from optcomp.statistics.joint_noise import UP, Noises
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
_MOST_SCORES = 5_000_000
"""Of all groups together: more take minutes."""
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
    candidates, where = entries.take("candidates", int, None), entries.condition()
    return Quantiles(column, probabilities, candidates, where, entries.by())


def _read_median(entries: Entries) -> Quantiles:
    candidates, where = entries.take("candidates", int, None), entries.condition()
    return Median(entries.take("median", str), candidates, where, entries.by())


@dataclass(frozen=True, repr=False)
class Quantiles(Statistic):
    """Values below which given shares of the rows lie, each chosen from evenly spaced candidates; perhaps by groups."""

    column: str
    probabilities: tuple[Fraction, ...]
    candidates: int | None = None
    where: str | None = None
    by: Columns = ()
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
                **BY,
            },
            ("present",),
        ),
        Keyword(
            "median",
            _read_median,
            {"median": fragments.text(fragments.COLUMN), "candidates": _SCHEMA, **BY},
            ("present",),
        ),
    )

    def __init__(
        self,
        column: str,
        probabilities: Sequence[Number] = _DEFAULT,
        candidates: int | None = None,
        where: str | None = None,
        by: Columns = (),
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
        object.__setattr__(self, "by", columns_by(by))

    def groups(self, table: Declared) -> Groups:
        """The groups; depends on declarations only."""
        return Groups.of(table, tuple(self.by))

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
        found = self.groups(table)
        shapes = {**found.keys, "place": (self.column, self._place(table))}
        rows = table.rows(shapes, self.where, found.bounded(table))
        counted = rows.filter(rows.place.notnull())
        return counted.group_by(list(shapes)).aggregate(count=counted.count())

    def _place(self, table: Declared) -> Callable[[Any], Any]:
        """The candidate nearest to a cell: candidates are spread evenly from the first cell to the last."""
        (_, step, count), domain = self.grid(table), table.domain(self.column, Numbers)
        if step == domain.step and count == domain.top + 1:
            return lambda cell: cell
        return lambda cell: (cell * (2 * (count - 1)) + domain.top) // (2 * domain.top)

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """For each probability the change of its scores, the same for all candidates; of all groups together."""
        _, _, count = self.grid(table)
        found = self.groups(table)
        cells = found.cells if self.by else ("score",)
        if len(cells) * count > _MOST_SCORES:
            raise InvalidInput("by", list(self.by), f"make {len(cells) * count} scores, more than {_MOST_SCORES}")
        share = Fraction(1, len(self.probabilities))
        return tuple(
            Part(cells, change, change * change, share=share)
            for change in (self.change(table, p) for p in self.probabilities)
        )

    def check_size(self, table: Declared, most: int) -> None:
        """Refuse more scores than `most`: one for each group, probability and candidate."""
        _, _, count = self.grid(table)
        choices = len(self.probabilities) * (len(self.groups(table).cells) if self.by else 1)
        if choices * count > most:
            made = f"{count:,}, for {choices:,} quantiles in all groups: {choices * count:,} scores"
            fit = f"at most {most // choices:,} candidates fit" if most >= 2 * choices else "name fewer groups"
            raise InvalidInput("candidates", made, f"must make at most {most:,} scores here: {fit}")

    def change(self, table: Declared, probability: Fraction) -> int:
        """The most that one person can change a score; summed up over groups, in which old and new rows may differ."""
        a, b = probability.numerator, probability.denominator
        if self.by:
            return self.groups(table).contribution(table).cells_l1 * max(a, b - a)
        return table.contribution.rows * (b if table.contribution.replace else max(a, b - a))

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """The scores of all candidates, for each probability; one group after another."""
        (_, _, count), found = self.grid(table), self.groups(table)
        counts = [[0] * count for _ in (found.cells if self.by else ("",))]
        for *keys, place, here in rows:
            counts[found.place(keys)][min(max(int(place), 0), count - 1)] += int(here)
        return tuple(
            tuple(score for group in counts for score in _scores(group, probability))
            for probability in self.probabilities
        )

    def value(self, table: Declared, amounts: Amounts) -> Any:
        """The chosen candidates, in the order of the probabilities; one number if one was asked for.

        By groups: for each group, or for each group and probability.
        """
        (low, step, _), domain = self.grid(table), table.domain(self.column, Numbers)
        chosen = [[domain.told(low + step * index) for index in part] for part in amounts]
        if not self.by:
            return self._told([part[0] for part in chosen])
        found: dict[Any, Any] = {}
        for cell, *own in zip(self.groups(table).cells, *chosen, strict=True):
            told = self._told(own)
            if not isinstance(told, dict):
                found[cell] = told
                continue
            names = cell if isinstance(cell, tuple) else (cell,)
            found |= {(*names, p): value for p, value in told.items()}
        return found

    def _told(self, found: list[Any]) -> Any:
        """In order: values that are no farther off in rank than the farthest was."""
        if len(found) == 1:
            return found[0]
        ranked = sorted(found)
        order = sorted(range(len(found)), key=lambda i: self.probabilities[i])
        values = dict(zip(order, ranked, strict=True))
        return {float(p): values[i] for i, p in enumerate(self.probabilities)}

    def cell_names(self) -> tuple[str, ...]:
        """Groups, and the probability if there are several."""
        return (*self.by, "probability") if len(self.probabilities) > 1 else tuple(self.by)

    def __str__(self) -> str:
        """Median, or quantiles with their probabilities."""
        if self.probabilities == (Fraction(1, 2),):
            return super().__str__().replace("quantiles", "median", 1)
        shown = ", ".join(f"{float(p):g}" for p in self.probabilities)
        return super().__str__().replace("quantiles", f"quantiles {shown}", 1)

    @property
    def value_unit(self) -> str:
        """That of the column; errors are in rows."""
        return self.column

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Any:
        """None in the column's unit; `rows_off` says how far the rank may be off."""
        return None

    def rows_off(self, table: Declared, scales: Sequence[float], confidence: float) -> float:
        """By how many rows the ranks of all choices together may be off, with this confidence: for all data.

        At most that many rows more than the share p of all rows lie below what is told, or above it.  Rows lie at the
        candidate nearest to them.
        """
        _, _, count = self.grid(table)
        choices = len(scales) * (len(self.groups(table).cells) if self.by else 1)
        log = math.log(count / (1 - each_confidence(confidence, choices)))
        pairs = zip(self.probabilities, scales, strict=True)
        return max(scale / p.denominator for p, scale in pairs) * log * UP

    @classmethod
    def noises(cls) -> tuple[Noise, ...]:
        """A choice by scores."""
        return (EXPONENTIAL,)

    def stated(self, setting: Setting) -> StatedError:
        """By how many rows its rank is off: for all data."""
        return RankError(self, setting, self.parts(setting.table))

    def document(self) -> dict[str, Any]:
        """Such as: quantiles: income, probabilities: [1/4, 1/2, 3/4]; a median is the quantile 1/2."""
        shares = [number_text(share, "probabilities") for share in self.probabilities]
        return self.worded(
            quantiles=self.column, probabilities=shares, candidates=self.candidates, by=list(self.by) or None
        )

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """One quantile, added and exchanged, two, and one in each group."""
        return {
            "median": AuditCase(Median("score", where=FEW), {"epsilon": 2}, trials=11_000),
            "median-replaced": AuditCase(Median("score", where=FEW), {"epsilon": 2}, "replaced", trials=11_000),
            "quantiles": AuditCase(Quantiles("score", ["1/2", "3/4"]), {"epsilon": 3}, trials=6_000),
            "median-by": AuditCase(Median("score", where=FEW, by="region"), {"epsilon": 2}, "groups", trials=6_000),
        }


class RankError(StatedError):
    """The error of quantiles that are chosen: in rows, for all data."""

    def __init__(self, quantiles: Quantiles, setting: Setting, parts: tuple[Part, ...]) -> None:
        super().__init__(setting, parts)
        self.quantiles, self.grid = quantiles, quantiles.grid(setting.table)
        self.probabilities = quantiles.probabilities

    @property
    def likeness(self) -> tuple[Hashable, ...]:
        """Candidates, probabilities and choices."""
        return (*self.grid, self.probabilities, len(self.parts[0].cells))

    def error(self, scales: Sequence[float]) -> float:
        """How far the ranks of all choices may be off."""
        return self.quantiles.rows_off(self.setting.table, scales, self.setting.confidence)

    def smooth(self, times: float) -> float:
        """In proportion to the noise."""
        return self._at_one * times

    @cached_property
    def _at_one(self) -> float:
        return self.error(self.unit_scales)

    def otherwise(self, scales: Sequence[float]) -> tuple[str, float] | None:
        """In the unit of the column, for rows spread evenly over the bounds: the choice among candidates, exactly."""
        if self.setting.rows is None:
            return None
        table, column = self.setting.table, self.quantiles.column
        _, step, count = self.grid
        groups = self.quantiles.groups(table)
        rows = max(self.setting.rows // groups.named, 1) if self.quantiles.by else self.setting.rows
        each = each_confidence(self.setting.confidence, len(scales) * len(self.parts[0].cells))
        on_integers = isinstance(table.domain(column, Numbers), Integers) and step == 1
        pairs = zip(self.probabilities, scales, strict=True)
        off = float(step) * max(_choice_error(p, count, on_integers, rows, scale, each) for p, scale in pairs)
        evenly = " and over the groups" if self.quantiles.by else ""
        return f"in {column} if {rows:,} rows are spread evenly over the bounds{evenly}", off


def Median(  # noqa: N802
    column: str, candidates: int | None = None, where: str | None = None, by: Columns = ()
) -> Quantiles:
    """The middle value of a column: the quantile 1/2."""
    return Quantiles(column, ["1/2"], candidates, where, by)


def _scores(counts: Sequence[int], probability: Fraction) -> Iterator[int]:
    """Of all candidates, with so many rows at each."""
    a, b = probability.numerator, probability.denominator
    asked, upto = a * sum(counts), 0
    for here in counts:
        below, upto = upto, upto + here
        yield -max(0, b * below - asked, asked - b * upto)


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
    below, asked = np.concatenate([[0.0], upto[:-1]]), probability.numerator * rows
    b = probability.denominator
    score = -np.maximum(np.maximum(b * below - asked, asked - b * upto), 0)
    weight = np.exp((score - score.max()) / scale)
    true = float(np.searchsorted(upto, math.ceil(rows * probability)) if whole else probability * (count - 1))
    away = np.abs(place - true)
    order = np.argsort(away, kind="stable")
    reached = np.cumsum(weight[order]) / weight.sum()
    return float(away[order][min(int(np.searchsorted(reached, confidence)), count - 1)])
