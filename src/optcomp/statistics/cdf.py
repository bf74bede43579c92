"""The cumulative distribution of a column at the upper edge of each bin, from a noisy histogram."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil
from typing import Any

from optcomp.numerics import Number
from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.count_tables import BINS, EDGES, Axis, Bins, Counts, binned, binning, listed_edges
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Integers, Numbers
from optcomp.statistics.entries import Entries
from optcomp.statistics.joint_noise import UP, Noises
from optcomp.statistics.part import Part
from optcomp.statistics.stated import Setting, StatedError
from optcomp.statistics.statistic import Amounts, Interval, Keyword, clamped

_NARROWER = 2
"""How often a bound on an error is put into itself: after that it hardly moves."""
_TYPICAL, _LEAST_TYPICAL = 20, 1e-3
"""Errors count as proportional to noise, from where it is this part of the rows in a cell, or at least so large."""


def _read(entries: Entries) -> CDF:
    column, edges = entries.take("cdf", str), entries.edges()
    return CDF(column, edges, entries.take("bins", int, None), entries.condition())


@dataclass(frozen=True, repr=False)
class CDF(Counts):
    """The cumulative distribution of a column at the upper edge of each bin, from a noisy histogram."""

    column: str
    edges: tuple[Number, ...] | None = None
    bins: int | None = None
    where: str | None = None
    needs_rows = True
    assumes = ("values are spread evenly over the bounds",)
    keywords = (
        Keyword("cdf", _read, {"cdf": fragments.text(fragments.COLUMN), "edges": EDGES, "bins": BINS}, ("present",)),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", listed_edges(self.edges))

    def _bins(self, table: Declared) -> Bins:
        return Bins.of(table.domain(self.column, Numbers), self.edges, self.bins)

    def _axes(self, table: Declared) -> dict[str, Axis]:
        return {self.column: binned(table.domain(self.column, Numbers), self._bins(table))}

    def adds_up(self) -> bool:
        """Shares do not."""
        return False

    def value(self, table: Declared, amounts: Amounts) -> dict[Any, float]:
        """The share of the noisy counts up to each edge, made monotone; missing values are left out.

        Halfway between the largest share so far and the smallest to come: no farther off than the farthest share was.
        """
        upto = list(accumulate(amounts[0][:-1]))
        total = max(upto[-1], Fraction(1))
        shares = [float(min(max(up, Fraction(0)), total) / total) for up in upto]
        above, below = accumulate(shares, max), list(accumulate(shares[::-1], min))[::-1]
        told = (0.5 * (high + low) for high, low in zip(above, below, strict=True))
        return dict(zip(self._ends(table), told, strict=True))

    def _ends(self, table: Declared) -> list[Any]:
        domain = table.domain(self.column, Numbers)
        return [domain.told(Fraction(edge)) for edge in self._bins(table).edges[1:]]

    def off(self, table: Declared, noises: Noises, shares: Sequence[float], rows: float) -> float:
        """How far off the shares of so many rows up to each edge may be, at all edges together.

        For plans they are the true shares, for releases the noisy ones (see `bands.py`).
        """
        lows, highs, off = [0.0] * (len(shares) - 1), [1.0] * (len(shares) - 1), 0.0
        for _ in range(1 + _NARROWER):
            off = noises.band(lows, highs) / rows
            lows, highs = ([min(max(f + side * off, 0.0), 1.0) for f in shares[:-1]] for side in (-1, 1))
        return min(off * UP, 1.0)

    def even(self, table: Declared) -> tuple[float, ...]:
        """The shares up to each edge of rows that are spread evenly over the bounds."""
        domain, edges = table.domain(self.column, Numbers), self._bins(table).edges[1:-1]
        whole_numbers = isinstance(domain, Integers)
        size = Fraction(domain.high - domain.low + (1 if whole_numbers else 0))
        below = (Fraction((ceil(edge) if whole_numbers else edge) - domain.low) / size for edge in edges)
        return (*(float(clamped(share, Fraction(0), Fraction(1))) for share in below), 1.0)

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> dict[Any, Interval]:
        """For all edges together; at the last one the share is 1."""
        told, rows = self.value(table, amounts), float(sum(amounts[0][:-1]))
        if rows < 1:
            return dict.fromkeys(told, (0.0, 1.0))
        off = self.off(table, noises, list(told.values()), rows)
        ends = {edge: (max(share - off, 0.0), min(share + off, 1.0)) for edge, share in told.items()}
        return ends | {self._ends(table)[-1]: (1.0, 1.0)}

    def stated(self, setting: Setting) -> StatedError:
        """By `off`, for rows spread evenly over the bounds."""
        return DistributionError(self, setting, self.parts(setting.table))

    @property
    def error_unit(self) -> str:
        """Shares are of all rows."""
        return "share of rows"

    def size(self, table: Declared, rows: float) -> float:
        """Shares are of 1."""
        return 1.0

    def document(self) -> dict[str, Any]:
        """Such as: cdf: income, bins: 20."""
        return self.worded(cdf=self.column, **binning(self.edges, self.bins))

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """In two bins."""
        return {"cdf": AuditCase(CDF("age", bins=2), {"epsilon": 2}, trials=6_500)}


class DistributionError(StatedError):
    """The error of a cumulative distribution, at all edges together."""

    def __init__(self, distribution: CDF, setting: Setting, parts: tuple[Part, ...]) -> None:
        super().__init__(setting, parts)
        self.distribution, self.even = distribution, distribution.even(setting.table)

    @property
    def likeness(self) -> tuple[Hashable, ...]:
        """The shares of evenly spread rows."""
        return self.even

    def error(self, scales: Sequence[float]) -> float:
        """For rows spread evenly."""
        scale, rows = scales[0], self.setting.rows or 0
        sure = self.setting.confidence + self.noise.none_left(scale, len(self.even), rows)
        if not sure < 1:
            return 1.0
        return self.distribution.off(self.setting.table, self.noises((scale,), sure), self.even, rows)

    @cached_property
    def _per_scale(self) -> float:
        """About the error at a budget of 1, if it were in proportion to the noise."""
        typical = max((self.setting.rows or 1) / len(self.parts[0].cells) / _TYPICAL, _LEAST_TYPICAL)
        return self.error((typical,)) * self.unit_scales[0] / typical

    def smooth(self, times: float) -> float:
        """In proportion to the noise."""
        return self._per_scale * times

    def otherwise(self, scales: Sequence[float]) -> tuple[str, float] | None:
        """Wherever the values lie."""
        scale, rows, inner = scales[0], self.setting.rows or 0, len(self.parts[0].cells) - 2
        sure = self.setting.confidence + self.noise.none_left(scale, inner + 1, rows)
        error = 1.0
        if sure < 1:
            error = min(self.noises((scale,), sure).band([0.0] * inner, [1.0] * inner) / rows, 1.0)
        return "wherever the values lie", error
