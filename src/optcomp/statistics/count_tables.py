"""Statistics of many counts: histogram, contingency table, cumulative distribution.

Every declared cell gets noise, also the empty ones; a cell that is not declared does not exist.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, prod
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput, Written
from optcomp.numerics import Exact, Number, exact, whole
from optcomp.statistics import fragments
from optcomp.statistics.dates import DATED
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import MOST_BOUND, Categories, Domain, Integers, Numbers
from optcomp.statistics.entries import number_text
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.statistic import Amounts, Statistic, around_count
from optcomp.statistics.table import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

MISSING = "(missing)"
"""The cell of rows without a number."""
MOST_CELLS = 1_000_000
"""A release with more of them would be a table of noise, and take minutes."""
MOST_VALUES = 100_000
"""Whole numbers that have a cell each, unless bins are asked for."""
MOST_BINS = 1_000
"""A query with more of them takes seconds to write."""
DEFAULT_BINS = 10
"""Where neither edges nor bins are given."""
Edges = Sequence[Number]
"""As people give them."""
EDGES = fragments.listed(
    {"anyOf": [fragments.ANY_NUMBER, {"type": "string", "pattern": r"^\s*[0-9]{4}-[0-9]{2}"}]},
    "Ascending edges that cover the bounds; of dates their text.",
    2,
    MOST_BINS,
)
"""As JSON Schema says them."""
BINS = fragments.whole("So many bins of equal width.", 1, MOST_BINS)
"""As JSON Schema says them."""


@dataclass(frozen=True, repr=False)
class Bins(Written):
    """Bins between ascending edges; the last one holds its upper edge too."""

    edges: tuple[Exact, ...]

    @classmethod
    def of(cls, domain: Numbers, edges: Edges | None, bins: int | None) -> Bins:
        """By edges that cover the bounds, or so many of equal width."""
        if edges is not None and bins is not None:
            raise InvalidInput("bins", bins, "cannot be given together with edges")
        if edges is not None:
            return cls(_checked_edges(edges, domain))
        count = whole(DEFAULT_BINS if bins is None else bins, "bins", 1, MOST_BINS)
        found = domain.even_edges(count)
        if not _ascend(found):
            raise InvalidInput("bins", bins, "are too many: floats cannot tell their edges apart")
        return cls(found)

    def labels(self, domain: Numbers) -> tuple[str, ...]:
        """Such as [18, 65)."""
        pairs = list(pairwise(domain.edge_names(self.edges)))
        return tuple(f"[{a}, {b}{']' if i == len(pairs) - 1 else ')'}" for i, (a, b) in enumerate(pairs))

    def firsts(self, domain: Numbers) -> list[int]:
        """The least integer of the column at or above each edge."""
        return [ceil(Fraction(edge) / domain.step) - domain.first for edge in self.edges]

    def place(self, domain: Numbers, cell: Any) -> Any:
        """The number of the bin of a cell, null where that is missing: a search by halves.

        Edges are compared exactly with what the cells stand for.
        """
        firsts = self.firsts(domain)

        def search(low: int, high: int) -> Any:
            if high - low == 1:
                return low
            middle = (low + high) // 2
            return (cell < firsts[middle]).ifelse(search(low, middle), search(middle, high))

        found = search(0, len(firsts) - 1)
        return cell.isnull().ifelse(None, found).cast("int64")


def _checked_edges(edges: Edges, domain: Numbers) -> tuple[Exact, ...]:
    found = tuple(domain.edge(edge) for edge in edges)
    if any(abs(Fraction(edge)) > MOST_BOUND for edge in found):
        raise InvalidInput("edges", edges, f"must lie within {float(MOST_BOUND):g} of zero")
    if not 2 <= len(found) <= MOST_BINS or not _ascend(found):
        raise InvalidInput("edges", edges, f"must ascend, and be 2 to {MOST_BINS}")
    if found[0] > domain.low or found[-1] < domain.high:
        raise InvalidInput("edges", edges, f"must cover the bounds of the column, {domain!r}")
    return found


def listed_edges(edges: Edges | None) -> tuple[Exact | int | str, ...] | None:
    """A copy, in exact numbers: whoever gave the edges may change them, and 1/2 is the edge 0.5.  Dates stay text."""
    if edges is None:
        return None
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InvalidInput("edges", edges, "must be a list of numbers")
    return tuple(_plain_edge(edge) for edge in edges)


def _plain_edge(edge: Number) -> Exact | int | str:
    """Exact, and an integer where it is whole, as people write it; there is one zero."""
    if isinstance(edge, str) and DATED.match(edge):
        return edge.strip()
    found = exact(edge, "edges")
    return int(found) if not found or (isinstance(found, Fraction) and found.denominator == 1) else found


def edges_text(edges: Edges | None) -> list[str] | None:
    """Edges as exact rationals in text."""
    return None if edges is None else [_edge_text(edge) for edge in edges]


def _edge_text(edge: Number) -> str:
    return edge if isinstance(edge, str) and DATED.match(edge) else number_text(edge, "edges")


def binning(edges: Edges | None, bins: int | None) -> dict[str, Any]:
    """How a column is cut into bins, in the words of plans."""
    return {"edges": edges_text(edges), "bins": None if bins is None else whole(bins, "bins", 1, MOST_BINS)}


def _ascend(edges: tuple[Exact, ...]) -> bool:
    """As floats, too: that is what the engine compares with, and what a distribution is told at."""
    return all(float(a) < float(b) for a, b in pairwise(edges))


@dataclass(frozen=True)
class Axis:
    """One side of a table of counts: the key that a cell has in the query, and the place that each key means."""

    labels: tuple[Any, ...]
    key: Callable[[Any], Any]
    each: bool
    """Whether every value has a place of its own."""
    starts: Sequence[int]
    """The least integer of the column at each place; a last place without one is that of missing values."""

    def index(self, key: int | None) -> int:
        """The last place is that of what is missing; nothing else is beyond the others."""
        last = len(self.labels) - 1
        return last if key is None else min(max(int(key), 0), last)


def axis(domain: Domain, edges: Edges | None = None, bins: int | None = None) -> Axis:
    """The cells of a column: its categories, its whole numbers, or bins."""
    if isinstance(domain, Categories):
        if edges is not None or bins is not None:
            raise InvalidInput("edges", edges if edges is not None else bins, "are for numbers, not for categories")
        return Axis(domain.cells, _same, each=True, starts=range(domain.top + 1))
    assert isinstance(domain, Numbers)
    if edges is None and bins is None and isinstance(domain, Integers) and domain.high - domain.low < MOST_VALUES:
        labels = (*map(domain.label, range(int(domain.low), int(domain.high) + 1)), MISSING)
        return Axis(labels, _same, each=True, starts=range(domain.top + 1))
    return binned(domain, Bins.of(domain, edges, bins))


def binned(domain: Numbers, bins: Bins) -> Axis:
    """Bins, and a cell for missing values."""
    labels, starts = (*bins.labels(domain), MISSING), (0, *bins.firsts(domain)[1:-1])
    return Axis(labels, lambda cell: bins.place(domain, cell), each=False, starts=starts)


def _same(key: Any) -> Any:
    return key


def checked_axes(axes: dict[str, Axis], argument: str) -> dict[str, Axis]:
    """The cells of every column; refused if there are too many in all."""
    size = prod(len(each.labels) for each in axes.values())
    if size > MOST_CELLS:
        raise InvalidInput(argument, list(axes), f"make {size} cells, more than {MOST_CELLS}")
    return axes


def cells_of(axes: Mapping[str, Axis]) -> tuple[Any, ...]:
    """The label of each cell; a tuple of labels for several columns."""
    labels = [each.labels for each in axes.values()]
    return labels[0] if len(labels) == 1 else tuple(product(*labels))


def place_of(axes: Sequence[Axis], keys: Sequence[Any]) -> int:
    """The place among all cells of what has these keys in a query."""
    place = 0
    for each, key in zip(axes, keys, strict=True):
        place = place * len(each.labels) + each.index(key)
    return place


class Counts(Statistic):
    """Counts of the cells of one or more columns."""

    def cell_names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(getattr(self, "columns", ())) or (self.values_of or "cell",)

    def adds_up(self) -> bool:
        """Each row is in one cell, unless some are left out because a person has many."""
        return True

    @abstractmethod
    def _axes(self, table: Declared) -> dict[str, Axis]:
        """The cells of every column."""

    def axes(self, table: Declared) -> dict[str, Axis]:
        """The cells of every column; refused if there are too many in all."""
        return checked_axes(self._axes(table), "columns")

    def cells(self, table: Declared) -> tuple[Any, ...]:
        """The label of each cell; a tuple of labels for several columns."""
        return cells_of(self.axes(table))

    def expression(self, table: Table) -> ir.Table:
        """GROUP BY the cell."""
        axes = self.axes(table)
        keys = {f"key{i}": (name, each.key) for i, (name, each) in enumerate(axes.items())}
        rows = table.rows(keys, self.where, self._grouped(table))
        return rows.group_by(list(keys)).aggregate(count=rows.count())

    def _grouped(self, table: Declared) -> str | None:
        """The column whose groups are bounded for each person, if the counts are about just that."""
        axes = self.axes(table)
        (name, found), *others = axes.items()
        return name if not others and found.each and name in table.grouped_by else None

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """One vector; a row adds one to one cell."""
        bounds = table.contribution if self._grouped(table) is not None else table.contribution.of_rows
        return (Part(self.cells(table), bounds.cells_l1, bounds.cells_l2_squared),)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """The counts in the order of the cells."""
        axes = list(self.axes(table).values())
        counts = [0] * prod(len(each.labels) for each in axes)
        for *keys, count in rows:
            counts[place_of(axes, keys)] += int(count)
        return (tuple(counts),)

    def value(self, table: Declared, amounts: Amounts) -> Any:
        """The noisy count of each cell."""
        return dict(zip(self.cells(table), map(int, amounts[0]), strict=True))

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Any:
        """For all cells together."""
        cells = self.cells(table)
        off = noises.cells(len(cells))
        return dict(zip(cells, (around_count(amount, off) for amount in amounts[0]), strict=True))
