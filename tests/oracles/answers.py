"""The exact integers of every statistic from the stored rows, in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product

from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Declared,
    Frequent,
    Histogram,
    Integers,
    Mean,
    Means,
    Numbers,
    People,
    Quantiles,
    Regression,
    Statistic,
    Sum,
    Text,
    Variance,
)
from tests.oracles.cells import grid, half_up
from tests.oracles.snapshots import Codes

Vectors = tuple[tuple[int, ...], ...]
Row = Mapping[str, int | None]
WHO = "whose row it is"
"""Beside the columns."""


def answers(
    statistic: Statistic, declared: Declared, stored: Sequence[Codes], holds: Callable[[Row], bool] | None
) -> Vectors:
    """Of the stored rows that satisfy a condition."""
    names = list(declared.columns)
    start = 0 if declared.person is None else 1
    rows = list[Row]()
    for number, codes in enumerate(stored):
        row = dict(zip(names, codes[start : start + len(names)], strict=True))
        if _counted(statistic, declared, codes[start + len(names) :]) and (holds is None or holds(row)):
            rows.append(row | {WHO: codes[0] if start else number})
    by = getattr(statistic, "by", ())
    if not by:
        return _vectors(statistic, declared, rows)
    groups = dict[tuple[int, ...], list[Row]]()
    edges = {name: _group_edges(declared, name) for name in by}
    for cell in product(*(range(_size(declared, name, edges[name])) for name in by)):
        groups[cell] = []
    for each_row in rows:
        groups[tuple(_place(declared, name, edges[name], each_row[name]) for name in by)].append(each_row)
    each = [_vectors(statistic, declared, group) for group in groups.values()]
    return tuple(tuple(value for vector in part for value in vector) for part in zip(*each, strict=True))


def _group_edges(declared: Declared, name: str) -> Edges:
    """Groups of whole numbers are the numbers themselves, of others ten bins."""
    domain = declared.columns[name]
    if isinstance(domain, Categories | Integers):
        return None
    assert isinstance(domain, Numbers)
    return [domain.low + (domain.high - domain.low) * i / 10 for i in range(11)]


def _counted(statistic: Statistic, declared: Declared, places: Codes) -> bool:
    """Histograms of columns whose groups are bounded leave out the rest; so do statistics by these groups."""
    by = getattr(statistic, "by", ())
    if not by and (not isinstance(statistic, Histogram | Contingency | Frequent) or isinstance(statistic, CDF)):
        return True
    if isinstance(statistic, Histogram | Contingency | Frequent):
        names = statistic.columns if isinstance(statistic, Contingency) else (statistic.column,)
    else:
        names = tuple(by)
    if len(names) != 1 or names[0] not in declared.grouped_by or not _each(statistic, declared, names[0]):
        return True
    rank = declared.grouped_by.index(names[0])
    group, within = places[2 * rank : 2 * rank + 2]
    assert group is not None
    assert within is not None
    return group < declared.contribution.groups and within < declared.contribution.rows_per_group


def _each(statistic: Statistic, declared: Declared, name: str) -> bool:
    """Whether each value has a cell of its own."""
    if isinstance(declared.columns[name], Categories | Text):
        return True
    if not isinstance(statistic, Histogram | Contingency):
        return isinstance(declared.columns[name], Integers)
    edges = statistic.edges if isinstance(statistic, Histogram) else statistic.edges.get(name)
    bins = statistic.bins if isinstance(statistic, Histogram) else None
    return isinstance(declared.columns[name], Integers) and edges is None and bins is None


def _vectors(statistic: Statistic, declared: Declared, rows: list[Row]) -> Vectors:
    if isinstance(statistic, Count):
        return ((len(rows),),)
    if isinstance(statistic, People):
        return ((len({row[WHO] for row in rows}),),)
    if isinstance(statistic, Sum | Mean | Variance):
        return _moments(statistic, declared, rows)
    if isinstance(statistic, Means):
        return _several(statistic, declared, rows)
    if isinstance(statistic, Regression):
        return _products(statistic, declared, rows)
    if isinstance(statistic, Quantiles):
        return _scores(statistic, declared, rows)
    if isinstance(statistic, Frequent):
        return _frequencies(statistic, rows)
    if isinstance(statistic, Histogram | CDF):
        return (_counts(declared, rows, {statistic.column: _edges(statistic, declared, statistic.column)}),)
    assert isinstance(statistic, Contingency)
    return (_counts(declared, rows, {name: _edges(statistic, declared, name) for name in statistic.columns}),)


def _frequencies(statistic: Frequent, rows: list[Row]) -> Vectors:
    """The texts that some row has, by the oracle's integers, and how many rows or people have each."""
    having = defaultdict[int, list[int | None]](list)
    for row in rows:
        code = row[statistic.column]
        if code is not None:
            having[code].append(row[WHO])
    found = {code: len(set(who) if statistic.of == "people" else who) for code, who in sorted(having.items())}
    return tuple(found), tuple(found.values())


def _moments(statistic: Sum | Mean | Variance, declared: Declared, rows: list[Row]) -> Vectors:
    domain = declared.columns[statistic.column]
    assert isinstance(domain, Numbers)
    codes = [code for row in rows if (code := row[statistic.column]) is not None]
    if isinstance(statistic, Sum):
        return ((sum(_units(domain, codes, 2**22, from_middle=False)),),)
    counted: Vectors = ((len(codes),),) if statistic.public_rows is None else ()
    if isinstance(statistic, Mean):
        return *counted, (sum(_units(domain, codes, 2**22, from_middle=True)),)
    found = _units(domain, codes, 2**11, from_middle=True)
    return *counted, (sum(found),), (sum(each * each for each in found),)


def _several(statistic: Means, declared: Declared, rows: list[Row]) -> Vectors:
    """How many rows have all values, and how far each column is from its middle in them."""
    full = [row for row in rows if all(row[name] is not None for name in statistic.columns)]
    found: list[tuple[int, ...]] = [(len(full),)]
    for name in statistic.columns:
        domain = declared.columns[name]
        assert isinstance(domain, Numbers)
        codes = [code for row in full if (code := row[name]) is not None]
        found.append((sum(_units(domain, codes, 2**22, from_middle=True)),))
    return tuple(found)


def _products(statistic: Regression, declared: Declared, rows: list[Row]) -> Vectors:
    """All products of 1, the columns and what is explained, but for the square of that."""
    names = (*statistic.on, statistic.column)
    full = [row for row in rows if all(row[name] is not None for name in names)]
    columns = [[1] * len(full)]
    for name in names:
        domain = declared.columns[name]
        assert isinstance(domain, Numbers)
        columns.append(
            _units(domain, [code for row in full if (code := row[name]) is not None], 2**11, from_middle=True)
        )
    last = len(names)
    pairs = [(i, j) for i in range(last + 1) for j in range(i, last + 1) if (i, j) != (last, last)]
    return tuple((sum(a * b for a, b in zip(columns[i], columns[j], strict=True)),) for i, j in pairs)


def _units(domain: Numbers, codes: Sequence[int], most: int, *, from_middle: bool) -> list[int]:
    """Multiples of the least unit for which both ends stay within `most`, from zero or from the middle."""
    step, first, top = grid(domain)
    middle = min(max(half_up((domain.low + domain.high) / 2 / step) - first, 0), top)
    origin, times = -middle if from_middle else first, 1
    while any(abs(_coarse(origin + end, times)) > most for end in (0, top)):
        times *= 2
    return [_coarse(origin + code, times) for code in codes]


def _coarse(place: int, times: int) -> int:
    return (place + times // 2) // times


Edges = list[Fraction] | None
"""None if each value has a cell of its own."""


def _edges(statistic: Histogram | CDF | Contingency, declared: Declared, name: str) -> Edges:
    domain = declared.columns[name]
    if isinstance(domain, Categories):
        return None
    assert isinstance(domain, Numbers)
    edges = statistic.edges.get(name) if isinstance(statistic, Contingency) else statistic.edges
    bins = None if isinstance(statistic, Contingency) else statistic.bins
    if edges is not None:
        return [Fraction(str(edge)) for edge in edges]
    if isinstance(domain, Integers) and bins is None and not isinstance(statistic, CDF):
        return None
    count = bins or 10
    return [domain.low + (domain.high - domain.low) * i / count for i in range(count + 1)]


def _counts(declared: Declared, rows: list[Row], axes: Mapping[str, Edges]) -> tuple[int, ...]:
    sizes = [_size(declared, name, edges) for name, edges in axes.items()]
    found = dict.fromkeys(product(*map(range, sizes)), 0)
    for row in rows:
        found[tuple(_place(declared, name, edges, row[name]) for name, edges in axes.items())] += 1
    return tuple(found.values())


def _size(declared: Declared, name: str, edges: Edges) -> int:
    """What is missing has a cell too: that of other categories, or one of its own."""
    domain = declared.columns[name]
    if edges is not None:
        return len(edges)
    if isinstance(domain, Categories):
        return len(domain.values) + 1
    assert isinstance(domain, Numbers)
    return int(domain.high - domain.low) + 2


def _place(declared: Declared, name: str, edges: Edges, code: int | None) -> int:
    domain, last = declared.columns[name], _size(declared, name, edges) - 1
    if code is None or edges is None:
        return last if code is None else code
    assert isinstance(domain, Numbers)
    step, first, _ = grid(domain)
    value = (first + code) * step
    return min(max(sum(value >= edge for edge in edges) - 1, 0), last - 1)


def _scores(statistic: Quantiles, declared: Declared, rows: list[Row]) -> Vectors:
    """How many rows each candidate is off the rank that is asked for, times the denominator."""
    domain = declared.columns[statistic.column]
    assert isinstance(domain, Numbers)
    _, _, top = grid(domain)
    count = statistic.candidates
    if count is None:
        count = int(domain.high - domain.low) + 1 if isinstance(domain, Integers) else 1000
    codes = [code for row in rows if (code := row[statistic.column]) is not None]
    places = [half_up(Fraction(code * (count - 1), top)) for code in codes]
    return tuple(
        tuple(
            -max(
                0,
                p.denominator * sum(place < c for place in places) - p.numerator * len(places),
                p.numerator * len(places) - p.denominator * sum(place <= c for place in places),
            )
            for c in range(count)
        )
        for p in statistic.probabilities
    )
