"""How many rows fall into each combination of cells of several columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.count_tables import EDGES, Axis, Counts, Edges, axis, edges_text, listed_edges
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Listed
from optcomp.statistics.entries import Entries, as_written
from optcomp.statistics.fixed import Fixed
from optcomp.statistics.statistic import Keyword, checked_columns


def _read(entries: Entries) -> Contingency:
    given = Entries(entries.take("edges", Mapping, {}), entries.path("edges"))
    edges = {name: tuple(map(as_written, given.take(name, Sequence))) for name in given.names()}
    return Contingency(tuple(entries.take("contingency", Sequence)), edges, entries.condition())


@dataclass(frozen=True, repr=False)
class Contingency(Counts):
    """How many rows fall into each combination of cells of several columns; numbers need edges, or few values."""

    columns: tuple[str, ...]
    edges: Mapping[str, Edges | None] = field(default_factory=dict)
    where: str | None = None
    keywords = (
        Keyword(
            "contingency",
            _read,
            {
                "contingency": fragments.listed({"type": "string"}, "The columns."),
                "edges": {
                    "type": "object",
                    "description": "Edges for columns of numbers.",
                    "additionalProperties": {"type": "array", "items": EDGES["items"], "minItems": 2},
                },
            },
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", checked_columns(self.columns))
        if not isinstance(self.edges, Mapping):
            raise InvalidInput("edges", self.edges, "must map names of columns to lists of numbers")
        unknown = set(self.edges) - set(self.columns)
        if unknown:
            raise InvalidInput("edges", sorted(unknown), "belong to no column of the table of counts")
        given = {name: listed_edges(edges) for name, edges in self.edges.items() if edges is not None}
        object.__setattr__(self, "edges", Fixed(given))

    def _axes(self, table: Declared) -> dict[str, Axis]:
        return {name: axis(table.domain(name, Listed), self.edges.get(name)) for name in self.columns}

    def document(self) -> dict[str, Any]:
        """Such as: contingency: [region, age], edges: {age: [0, 65, 110]}."""
        edges = {name: edges_text(found) for name, found in self.edges.items()}
        return self.worded(contingency=list(self.columns), edges=edges or None)

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        """Of two columns."""
        counts = Contingency(("region", "age"), {"age": (0, 6, 10)})
        return {"contingency": AuditCase(counts, {"epsilon": 2}, trials=5_500)}
