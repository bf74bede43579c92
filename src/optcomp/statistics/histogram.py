"""How many rows fall into each category, each whole number, or each bin of a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optcomp.numerics import Number
from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.count_tables import BINS, EDGES, Axis, Counts, axis, binning, listed_edges
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Listed
from optcomp.statistics.entries import Entries
from optcomp.statistics.statistic import Keyword


def _read(entries: Entries) -> Histogram:
    column, edges = entries.take("histogram", str), entries.edges()
    return Histogram(column, edges, entries.take("bins", int, None), entries.condition())


@dataclass(frozen=True, repr=False)
class Histogram(Counts):
    """How many rows fall into each category, each whole number, or each bin of a column."""

    column: str
    edges: tuple[Number, ...] | None = None
    bins: int | None = None
    where: str | None = None
    keywords = (
        Keyword("histogram", _read, {"histogram": fragments.text(fragments.COLUMN), "edges": EDGES, "bins": BINS}),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", listed_edges(self.edges))

    def _axes(self, table: Declared) -> dict[str, Axis]:
        return {self.column: axis(table.domain(self.column, Listed), self.edges, self.bins)}

    def document(self) -> dict[str, Any]:
        """Such as: histogram: region."""
        return self.worded(histogram=self.column, **binning(self.edges, self.bins))

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """With either noise, exchanged, and with rows in one cell or in two."""
        return {
            "histogram-laplace": AuditCase(Histogram("region"), {"epsilon": 1}, trials=10_000),
            "histogram-gaussian": AuditCase(Histogram("region"), {"rho": "1/2"}, "groups", trials=9_000, delta=0.01),
            "histogram-replaced": AuditCase(Histogram("region"), {"epsilon": 2}, "replaced", trials=10_000),
            "histogram-rows": AuditCase(Histogram("region"), {"epsilon": 2}, "rows", trials=10_000),
        }
