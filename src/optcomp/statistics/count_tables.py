"""Statistics of many counts: histogram, contingency table, cumulative distribution.

Every declared cell gets noise, also the empty ones; a cell that is not declared does not exist.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import ceil, prod
from typing import Any

import ibis.expr.types as ir

from optcomp.errors import InvalidInput
from optcomp.numerics.exact import Exact, Number, exact, whole
from optcomp.statistics.domains import MOST_BOUND, Categories, Domain, Integers, Numbers
from optcomp.statistics.fixed import Fixed
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.part import IntegerVector, Part
from optcomp.statistics.scalars import around_count, clamped
from optcomp.statistics.statistic import Amounts, Interval, Statistic, checked_columns
from optcomp.statistics.table import Declared, Table

MISSING = "(missing)"
MOST_CELLS = 1_000_000
MOST_VALUES = 100_000
MOST_BINS = 1_000
"""A query with more of them takes seconds to write."""
_NARROWER, _UP = 2, 1 + 1e-12
Edges = Sequence[Number]


@dataclass(frozen=True)
class Bins:
    """Bins between ascending edges; the last one holds its upper edge too."""

    edges: tuple[Exact, ...]

    @classmethod
    def of(cls, domain: Numbers, edges: Edges | None, bins: int | None) -> Bins:
        """By edges that cover the bounds, or so many of equal width."""
        if edges is not None and bins is not None:
            raise InvalidInput("bins", bins, "cannot be given together with edges")
        if edges is not None:
            return cls(_checked_edges(edges, domain))
        count = whole(10 if bins is None else bins, "bins", 1, MOST_BINS)
        found = tuple(domain.low + (domain.high - domain.low) * i / count for i in range(count + 1))
        if not _ascend(found):
            raise InvalidInput("bins", bins, "are too many: floats cannot tell their edges apart")
        return cls(found)

    @property
    def labels(self) -> tuple[str, ...]:
        """Such as [18, 65)."""
        ends = [f"{float(edge):.12g}" for edge in self.edges]
        if len(set(ends)) < len(ends):
            ends = [str(edge) for edge in self.edges]
        pairs = list(pairwise(ends))
        return tuple(f"[{a}, {b}{']' if i == len(pairs) - 1 else ')'}" for i, (a, b) in enumerate(pairs))

    def place(self, cleaned: ir.Value) -> ir.Value:
        """The number of the bin, null where the value is missing: a search by halves."""
        values = [float(edge) for edge in self.edges]

        def search(low: int, high: int) -> Any:
            if high - low == 1:
                return low
            middle = (low + high) // 2
            return (cleaned < values[middle]).ifelse(search(low, middle), search(middle, high))

        found = search(0, len(values) - 1)
        return cleaned.isnull().ifelse(None, found).cast("int64")


def _checked_edges(edges: Edges, domain: Numbers) -> tuple[Exact, ...]:
    found = tuple(exact(edge, "edges") for edge in edges)
    if any(abs(Fraction(edge)) > MOST_BOUND for edge in found):
        raise InvalidInput("edges", edges, f"must lie within {float(MOST_BOUND):g} of zero")
    if not 2 <= len(found) <= MOST_BINS or not _ascend(found):
        raise InvalidInput("edges", edges, f"must ascend, and be 2 to {MOST_BINS}")
    if found[0] > domain.low or found[-1] < domain.high:
        raise InvalidInput("edges", edges, f"must cover the bounds of the column, {domain!r}")
    return found


def _listed(edges: Edges | None) -> tuple[Number, ...] | None:
    """A copy, in numbers that never change: whoever gave the edges may change them."""
    if edges is None:
        return None
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InvalidInput("edges", edges, "must be a list of numbers")
    return tuple(edge if isinstance(edge, Number) else exact(edge, "edges") for edge in edges)


def _ascend(edges: tuple[Exact, ...]) -> bool:
    """As floats, too: that is what the engine compares with, and what a distribution is told at."""
    return all(float(a) < float(b) for a, b in pairwise(edges))


@dataclass(frozen=True)
class Axis:
    """One side of a table of counts: the key of a row in the query, in two steps, and the cell that each key means."""

    labels: tuple[Any, ...]
    raw: Callable[[ir.Value], ir.Value]
    key: Callable[[ir.Value], ir.Value]
    index: Callable[[Any], int]


def axis(domain: Domain, edges: Edges | None = None, bins: int | None = None) -> Axis:
    """The cells of a column: its categories, its whole numbers, or bins."""
    if isinstance(domain, Categories):
        if edges is not None or bins is not None:
            raise InvalidInput("edges", edges if edges is not None else bins, "are for numbers, not for categories")
        places: dict[Any, int] = {value: i for i, value in enumerate(domain.values)}
        return Axis(domain.cells, domain.typed, domain.clean, lambda key: places.get(key, len(places)))
    assert isinstance(domain, Numbers)
    if edges is None and bins is None and isinstance(domain, Integers) and domain.high - domain.low < MOST_VALUES:
        low, count = int(domain.low), int(domain.high - domain.low) + 1
        labels = (*range(low, low + count), MISSING)
        return Axis(labels, domain.clean, _same, lambda key: count if key is None else int(key) - low)
    return binned(domain, Bins.of(domain, edges, bins))


def binned(domain: Numbers, bins: Bins) -> Axis:
    """Bins, and a cell for missing values."""
    size = len(bins.labels)
    return Axis(
        (*bins.labels, MISSING),
        lambda column: bins.place(domain.clean(column)),
        _same,
        lambda key: size if key is None else int(key),
    )


def _same(key: ir.Value) -> ir.Value:
    return key


class Counts(Statistic):
    """Counts of the cells of one or more columns."""

    @abstractmethod
    def _axes(self, table: Declared) -> dict[str, Axis]:
        """The cells of every column."""

    def axes(self, table: Declared) -> dict[str, Axis]:
        """The cells of every column; refused if there are too many in all."""
        found = self._axes(table)
        size = prod(len(each.labels) for each in found.values())
        if size > MOST_CELLS:
            raise InvalidInput("columns", list(found), f"make {size} cells, more than {MOST_CELLS}")
        return found

    def cells(self, table: Declared) -> tuple[Any, ...]:
        """The label of each cell; a tuple of labels for several columns."""
        labels = [each.labels for each in self.axes(table).values()]
        return labels[0] if len(labels) == 1 else tuple(product(*labels))

    def expression(self, table: Table) -> ir.Table:
        """GROUP BY the cell, with persons bounded by cell."""
        axes, keys = self.axes(table), [f"key{i}" for i in range(len(self.axes(table)))]
        if table.person is None:  # group first, so that each category is looked up once and not in every row
            rows = table.rows(
                {key: (name, each.raw) for key, (name, each) in zip(keys, axes.items(), strict=True)}, self.where
            )
            grouped = rows.group_by(keys).aggregate(optcomp_rows=rows.count())
            named = grouped.mutate(
                **{key: each.key(grouped[key]) for key, each in zip(keys, axes.values(), strict=True)}
            )
            return named.group_by(keys).aggregate(count=named.optcomp_rows.sum())
        cells = [f"optcomp_cell{i}" for i in range(len(axes))]
        shapes = {cell: (name, each.raw) for cell, (name, each) in zip(cells, axes.items(), strict=True)}
        rows = table.rows(shapes, self.where, {cell: each.key for cell, each in zip(cells, axes.values(), strict=True)})
        return rows.group_by(keys).aggregate(count=rows.count())

    def parts(self, table: Declared) -> tuple[Part, ...]:
        """One vector; a row adds one to one cell."""
        bounds = table.contribution
        return (Part(self.cells(table), bounds.cells_l1, bounds.cells_l2_squared),)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        """The counts in the order of the cells."""
        axes = list(self.axes(table).values())
        counts = [0] * prod(len(each.labels) for each in axes)
        for *keys, count in rows:
            place = 0
            for each, key in zip(axes, keys, strict=True):
                place = place * len(each.labels) + each.index(key)
            counts[place] += int(count)
        return (tuple(counts),)

    def value(self, table: Declared, amounts: Amounts) -> Any:
        """The noisy count of each cell."""
        return dict(zip(self.cells(table), map(int, amounts[0]), strict=True))

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Any:
        """For all cells together."""
        cells = self.cells(table)
        off = noises.cells(len(cells))
        return dict(zip(cells, (around_count(amount, off) for amount in amounts[0]), strict=True))


@dataclass(frozen=True)
class Histogram(Counts):
    """How many rows fall into each category, each whole number, or each bin of a column."""

    column: str
    edges: tuple[Number, ...] | None = None
    bins: int | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _listed(self.edges))

    def _axes(self, table: Declared) -> dict[str, Axis]:
        return {self.column: axis(table.domain(self.column, Domain), self.edges, self.bins)}


@dataclass(frozen=True)
class Contingency(Counts):
    """How many rows fall into each combination of cells of several columns; numbers need edges, or few values."""

    columns: tuple[str, ...]
    edges: Mapping[str, Edges | None] = field(default_factory=dict)
    where: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", checked_columns(self.columns))
        if not isinstance(self.edges, Mapping):
            raise InvalidInput("edges", self.edges, "must map names of columns to lists of numbers")
        object.__setattr__(self, "edges", Fixed({name: _listed(edges) for name, edges in self.edges.items()}))
        unknown = set(self.edges) - set(self.columns)
        if unknown:
            raise InvalidInput("edges", sorted(unknown), "belong to no column of the table of counts")

    def _axes(self, table: Declared) -> dict[str, Axis]:
        return {name: axis(table.domain(name, Domain), self.edges.get(name)) for name in self.columns}


@dataclass(frozen=True)
class CDF(Counts):
    """The cumulative distribution of a column at the upper edge of each bin, from a noisy histogram."""

    column: str
    edges: tuple[Number, ...] | None = None
    bins: int | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _listed(self.edges))

    def _bins(self, table: Declared) -> Bins:
        return Bins.of(table.domain(self.column, Numbers), self.edges, self.bins)

    def _axes(self, table: Declared) -> dict[str, Axis]:
        return {self.column: binned(table.domain(self.column, Numbers), self._bins(table))}

    def value(self, table: Declared, amounts: Amounts) -> dict[float, float]:
        """The share of the noisy counts up to each edge, made monotone; missing values are left out.

        Halfway between the largest share so far and the smallest to come: no farther off than the farthest share was.
        """
        upto = list(accumulate(amounts[0][:-1]))
        total = max(upto[-1], Fraction(1))
        shares = [float(min(max(up, Fraction(0)), total) / total) for up in upto]
        above, below = accumulate(shares, max), list(accumulate(shares[::-1], min))[::-1]
        told = (0.5 * (high + low) for high, low in zip(above, below, strict=True))
        return dict(zip(self._ends(table), told, strict=True))

    def _ends(self, table: Declared) -> list[float]:
        return [float(edge) for edge in self._bins(table).edges[1:]]

    def off(self, table: Declared, noises: Noises, shares: Sequence[float], rows: float) -> float:
        """How far off the shares of so many rows up to each edge may be, at all edges together.

        For plans they are the true shares, for releases the noisy ones (see `bands.py`).
        """
        lows, highs, off = [0.0] * (len(shares) - 1), [1.0] * (len(shares) - 1), 0.0
        for _ in range(1 + _NARROWER):
            off = noises.band(lows, highs) / rows
            lows, highs = ([min(max(f + side * off, 0.0), 1.0) for f in shares[:-1]] for side in (-1, 1))
        return min(off * _UP, 1.0)

    def even(self, table: Declared) -> tuple[float, ...]:
        """The shares up to each edge of rows that are spread evenly over the bounds."""
        domain, edges = table.domain(self.column, Numbers), self._bins(table).edges[1:-1]
        whole_numbers = isinstance(domain, Integers)
        size = Fraction(domain.high - domain.low + (1 if whole_numbers else 0))
        below = (Fraction((ceil(edge) if whole_numbers else edge) - domain.low) / size for edge in edges)
        return (*(float(clamped(share, Fraction(0), Fraction(1))) for share in below), 1.0)

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> dict[float, Interval]:
        """For all edges together; at the last one the share is 1."""
        told, rows = self.value(table, amounts), float(sum(amounts[0][:-1]))
        if rows < 1:
            return dict.fromkeys(told, (0.0, 1.0))
        off = self.off(table, noises, list(told.values()), rows)
        ends = {edge: (max(share - off, 0.0), min(share + off, 1.0)) for edge, share in told.items()}
        return ends | {self._ends(table)[-1]: (1.0, 1.0)}
