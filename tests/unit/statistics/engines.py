"""The same rows in another engine: the same snapshot, and the same exact integers where it keeps one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from optcomp.errors import UnreadableData
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
from optcomp.statistics.snapshot import columns_of_rows

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
KEY = bytes(range(100, 132))
PEOPLE: list[dict[str, Any]] = [
    {},
    {"person": "who", "rows_per_person": 3},
    {"person": "who", "rows_per_person": 1},
    {"person": "Te xt", "rows_per_person": 2, "groups_per_person": 1},
    {"person": "b", "rows_per_person": 3, "groups_per_person": 1, "rows_per_group": 2, "grouped_by": ["i", "b"]},
]
"""Ways to tell people apart, with bounds that some exceed and that nobody does."""


def plain() -> pa.Table:
    """The rows for the engine that the others are compared with."""
    cells = zip(*ROWS, strict=True)
    return pa.table({name: pa.array(each, kind) for (name, kind), each in zip(TYPES.items(), cells, strict=True)})


def prepared(source: Any, declared: dict[str, Any]) -> Table:
    """With one key for all engines; some of the cells are hostile."""
    return Table(source, COLUMNS, **declared, lot_key=KEY, bad_cells="missing")


def stored(table: Table) -> list[tuple[Any, ...]]:
    """All rows of a snapshot, in an order that depends on nothing else."""
    columns = ", ".join(columns_of_rows(table))
    found = [tuple(row) for row in table.run(f"SELECT {columns} FROM {table._rows.name}")]
    return sorted(found, key=lambda row: [(cell is None, cell or 0) for cell in row])


def check(relation: Any) -> None:
    """An Ibis table with these columns and rows, of whatever engine: the same snapshot, row by row."""
    for declared in PEOPLE:
        check_snapshot(relation, declared)
    check_refused(relation)


def check_snapshot(relation: Any, declared: dict[str, Any]) -> None:
    """For one way to tell people apart."""
    theirs, ours = prepared(relation, declared), prepared(plain(), declared)
    found = stored(theirs)
    assert found == stored(ours), declared
    assert len(found) >= 3, declared


def check_refused(relation: Any) -> None:
    """Cells that cannot be read are counted, and by default no table is made."""
    with pytest.raises(UnreadableData) as caught:
        Table(relation, COLUMNS)
    assert caught.value.count == 2


def check_kept(connection: Any, folder: Path) -> None:
    """An engine that keeps the rows of a snapshot: the same rows, and the same exact integers."""
    for number, declared in enumerate(PEOPLE):
        ours = prepared(plain(), declared)
        path = ours.save(folder / str(number), connection=connection)
        theirs = Table.open(path, connection=connection)
        assert stored(theirs) == stored(ours), declared
        for statistic in STATISTICS[2::3] if declared else STATISTICS:
            found = statistic.measure(theirs)
            assert found == statistic.measure(ours), statistic
            assert all(type(value) is int for vector in found for value in vector), statistic
        if number % 3 == 0:  # without people, and with groups
            assert stored(Table.open(theirs.save(folder / f"{number} again"))) == stored(ours), declared


def check_tampered(table: Table, path: Path, connection: Any, change: Callable[[str], None]) -> None:
    """What somebody did to the rows is found when the snapshot is opened."""
    name = str(json.loads((path / "declaration.json").read_text())["rows"]["table"])
    assert Count().measure(Table.open(path, connection=connection)) == Count().measure(table)
    change(name)
    with pytest.raises(UnreadableData, match="is not as it was prepared"):
        Table.open(path, connection=connection)
