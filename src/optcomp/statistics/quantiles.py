r"""Quantiles by the exponential mechanism: a candidate c is better the more evenly it splits the rows.

For the probability p = a/b the score of c is -|(b-a)·#{x < c} - a·#{x > c}|, a whole number that one row changes by at
most max(a, b-a), or by b if it may be exchanged.  Choosing c with probability proportional to e^{score/s} has a loss
that ranges over an interval of length 2Δ/s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import ibis.expr.types as ir

from optcomp.errors import InvalidInput
from optcomp.numerics.exact import Number, exact, whole
from optcomp.statistics.domains import Integers, Numbers
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.noise import EXPONENTIAL
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.statistic import Amounts, Statistic
from optcomp.statistics.table import Declared, Table

_CANDIDATES = 1000
_MOST_CANDIDATES = 100_000
_MOST_DENOMINATOR = 10_000


@dataclass(frozen=True)
class Quantiles(Statistic):
    """Values below which given shares of the rows lie, each chosen from evenly spaced candidates."""

    column: str
    probabilities: tuple[Fraction, ...]
    candidates: int | None = None
    where: str | None = None
    noises = (EXPONENTIAL,)

    def __init__(
        self,
        column: str,
        probabilities: Sequence[Number] = ("1/4", "1/2", "3/4"),
        candidates: int | None = None,
        where: str | None = None,
    ) -> None:
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
        low, step, _ = self.grid(table)
        domain = table.domain(self.column, Numbers)
        rows = table.rows({"place": (self.column, lambda column: domain.steps(column, low, step))}, self.where)
        counted = rows.filter(rows.place.notnull())
        return counted.group_by("place").aggregate(count=counted.count())

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
        low, step, _ = self.grid(table)
        found = [float(low + step * index) for (index,) in amounts]
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


def Median(column: str, candidates: int | None = None, where: str | None = None) -> Quantiles:  # noqa: N802
    """The middle value of a column: the quantile 1/2."""
    return Quantiles(column, ["1/2"], candidates, where)


def _probability(value: Number) -> Fraction:
    found = Fraction(exact(value, "probabilities")).limit_denominator(_MOST_DENOMINATOR)
    if not 0 < found < 1:
        raise InvalidInput("probabilities", value, "must lie strictly between 0 and 1")
    return found
