"""The same rows in another engine: the same exact integers, no errors, and people within their bounds."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Domain,
    Histogram,
    Integers,
    Mean,
    Median,
    Quantiles,
    Reals,
    Statistic,
    Sum,
    Table,
    Variance,
)

TYPES = {
    "who": pa.int64(),
    "r": pa.float64(),
    "f": pa.float32(),
    "i": pa.int64(),
    "Te xt": pa.string(),
    "n": pa.string(),
    "b": pa.bool_(),
}
NAN, INF, FAR = math.nan, math.inf, 2**63 - 1
ROWS: list[tuple[Any, ...]] = [
    (1, 0.5, 0.5, 0, "north", "1", True),
    (1, NAN, NAN, FAR, "it's", "2.5", False),
    (1, INF, INF, -FAR, "\\", " 3 ", None),
    (2, -INF, -INF, None, 'q"', "1e400", True),
    (2, None, None, 7, None, "x", None),
    (3, 1.5, 1.5, -1, "", "", True),
    (3, 2.5, 2.5, 3, "NORTH", "nan", False),
    (3, -0.0, -0.0, 4, "é☃", "-7", False),
    (4, 1e300, 1e30, 2**60, "--'; DROP TABLE people", "0.1", True),
    (4, 9.999999, 9.999999, -(2**40), "north", None, True),
    (5, 3.3333333333, 3.3333333333, 12, " north", "5e-324", None),
    (None, 5.0, 5.0, 5, "north", "5", True),
]
COLUMNS: dict[str, Domain] = {
    "r": Reals(-1, 10),
    "f": Reals(0.1, 9.3, unit="1/7"),
    "i": Integers(-3, 9),
    "Te xt": Categories(["north", "it's", "\\", 'q"', "é☃", "--'; DROP TABLE people"]),
    "n": Reals(-5, 5, unit="1/2"),
    "b": Categories([True, False]),
}
STATISTICS: list[Statistic] = [
    Count(where="r > 2 and not i < 3 or b is None"),
    Sum("r"),
    Mean("f", where="b != False"),
    Mean("n"),
    Variance("i"),
    Variance("r"),
    Histogram("Te xt"),
    Histogram("i", where="n is not None"),
    Contingency(("b", "r"), {"r": (-1, 0, 2.5, 10)}),
    CDF("f", bins=5),
    Quantiles("i"),
    Median("r", candidates=50),
]
ALL: list[dict[str, Any]] = [{}, {"person": "who", "rows_per_person": 3}]
FEW: dict[str, Any] = {"rows_per_person": 2, "groups_per_person": 2, "rows_per_group": 1}


def plain() -> pa.Table:
    """The rows for the engine that the others are compared with."""
    cells = zip(*ROWS, strict=True)
    return pa.table({name: pa.array(each, kind) for (name, kind), each in zip(TYPES.items(), cells, strict=True)})


def check(relation: Any) -> None:
    """An Ibis table with these columns and rows, of whatever engine."""
    same_integers(relation)
    bounded(relation)


def same_integers(relation: Any) -> None:
    """With and without people, none of whom has too many rows."""
    for declared in ALL:
        theirs, ours = Table(relation, COLUMNS, **declared), Table(plain(), COLUMNS, **declared)
        for statistic in STATISTICS[2::3] if declared else STATISTICS:
            found = statistic.measure(theirs)
            assert found == statistic.measure(ours), statistic
            assert all(type(value) is int for vector in found for value in vector), statistic


def bounded(relation: Any) -> None:
    """Of people with too many rows as many stay as may."""
    table = Table(relation, COLUMNS, person="who", **FEW)
    assert Count().measure(table) == ((9,),)
    assert sum(Histogram("b").measure(table)[0]) == 8
    assert sum(Contingency(("Te xt", "b")).measure(table)[0]) == 9
    table = Table(relation, COLUMNS, person="b", rows_per_person=3, groups_per_person=1, rows_per_group=2)
    outcomes = {Histogram("i").measure(table)[0] for _ in range(2)}
    for counts in outcomes:
        assert 2 <= sum(counts) <= 4
        assert max(counts) <= 4
        assert sum(map(bool, counts)) <= 2
