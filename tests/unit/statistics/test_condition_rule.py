"""One rule for `!=`, `not ==`, `not in`, missing cells and the rest, on every engine that keeps rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest

from optcomp.statistics import Categories, Count, Dates, Domain, Integers, Table
from tests import servers

ROWS: dict[str, list[Any]] = {
    "region": ["north", "south", "elsewhere", None, ""],
    "size": [1, 2, 3, None, 99],
    "day": ["2024-01-01", "2024-01-02", "2024-01-03", None, "2030-01-01"],
    "works": [True, False, None, None, True],
}
COLUMNS: dict[str, Domain] = {
    "region": Categories(["north", "south"]),
    "size": Integers(0, 9),
    "day": Dates("2024-01-01", "2024-01-09"),
    "works": Categories([True, False]),
}
RULE = {
    "region == 'north'": {0},
    "region != 'north'": {1},
    "not region == 'north'": {1, 2, 3, 4},
    "region in ('north', 'south')": {0, 1},
    "region not in ('north',)": {1},
    "not region in ('north',)": {1, 2, 3, 4},
    "region is None": {2, 3, 4},
    "region is not None": {0, 1},
    "not region is None": {0, 1},
    "region < 'o'": {0},
    "not region < 'o'": {1, 2, 3, 4},
    "size == 1": {0},
    "size != 1": {1, 2, 4},
    "not size == 1": {1, 2, 3, 4},
    "size not in (1, 2)": {2, 4},
    "not size in (1, 2)": {2, 3, 4},
    "size is None": {3},
    "size == 9": {4},
    "size != 500": {0, 1, 2, 4},
    "day == '2024-01-02'": {1},
    "day != '2024-01-02'": {0, 2, 4},
    "not day == '2024-01-02'": {0, 2, 3, 4},
    "day not in ('2024-01-02',)": {0, 2, 4},
    "day is None": {3},
    "works": {0, 4},
    "not works": {1, 2, 3},
    "works != True": {1},
    "works is None": {2, 3},
    "not (region == 'north' or size is None)": {1, 2, 4},
    "region != 'north' and size != 1": {1},
}
"""Which rows satisfy a condition, by hand.

A missing cell satisfies no comparison; `is None` finds it.  What is in no declared category is like missing.  `not`
turns the whole condition round, so that what satisfies no comparison satisfies its opposite.
"""


def measured(table: Table) -> dict[str, Any]:
    return {where: Count(where).measure(table)[0][0] for where in RULE}


WANTED = {where: len(rows) for where, rows in RULE.items()}


def source() -> Any:
    return pa.table({**ROWS, "who": list(range(5))})


@contextmanager
def kept_by(engine: str, folder: Path) -> Iterator[Any]:
    if engine == "duckdb":
        connection = ibis.duckdb.connect(folder / "rows.duckdb")
        yield connection
        connection.disconnect()
    elif engine == "postgres":
        with servers.postgres() as connection:
            yield connection
    else:
        yield None


@pytest.mark.parametrize("engine", ["file", "duckdb", "postgres"])
def test_the_rule_on_every_engine(engine: str, tmp_path: Path) -> None:
    table = Table(source(), COLUMNS, person="who")
    assert measured(table) == WANTED
    with kept_by(engine, tmp_path) as connection:
        path = table.save(tmp_path / "kept", connection=connection)
        assert measured(Table.open(path, connection=connection)) == WANTED


def test_each_row_by_itself() -> None:
    """So that no two rows make up for one another."""
    for row in range(5):
        table = Table(source().slice(row, 1), COLUMNS)
        assert measured(table) == {where: int(row in rows) for where, rows in RULE.items()}
