"""Names that people give to columns, categories, people and files are data to the engine, never text of a query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Domain,
    Histogram,
    Integers,
    Mean,
    Quantiles,
    Statistic,
    Sum,
    Table,
    Variance,
)
from tests.unit.statistics.people import made

NAMES = [
    "select",
    "ORDER BY",
    'quo"te',
    "it's",
    "a; DROP TABLE optcomp_people; --",
    "é ☃",
    "person",
    "PERSON",
    "optcomp_person",
    "optcomp_draw",
    "optcomp_test0",
    "optcomp_cell0",
    "optcomp_rows",
    "key0",
    "steps",
    "place",
    "count",
    "x y\tz",
    "{path}",
    "%s",
    "$1",
    "?",
    "t0.x",
    "1",
]


@pytest.mark.parametrize("name", NAMES)
def test_columns_may_have_any_name(name: str, tmp_path: Path) -> None:
    kind = "csv" if name in NAMES[:6] else "arrow"
    columns: dict[str, Domain] = {name: Integers(0, 3), "who": Integers(0, 9), "other one": Categories(["a"])}
    data: dict[str, list[Any]] = {"who": [1, 2, 2, None], name: [1, 2, 7, 3], "other one": ["a", "b", None, "a"]}
    condition = f" and {name} > 0" if name.isidentifier() and name != "select" else ""
    statistics: list[tuple[Statistic, object]] = [
        (Count(where=f"who >= 0{condition}"), ((3,),)),
        (Sum(name), ((6,),)),
        (Mean(name, where="who < 5"), ((3,), (0,))),
        (Variance(name), ((3,), (0,), (2,))),
        (Histogram(name), ((0, 1, 1, 1, 0),)),
        (CDF(name, edges=(0, 2, 3)), ((1, 2, 0),)),
        (Contingency(("other one", name), {name: (0, 2, 3)}, where=f"who > 0{condition}"), ((1, 0, 0, 0, 2, 0),)),
    ]
    table = made(kind, tmp_path, data, columns, person="who", rows_per_person=3, groups_per_person=2)
    for statistic, expected in statistics:
        assert statistic.measure(table) == expected, statistic
    Quantiles(name).measure(table)
    plain = made(kind, tmp_path, data, columns, person=name)
    assert Histogram(name).measure(plain) == ((0, 1, 1, 2, 0),)


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(st.lists(st.text(max_size=8), min_size=1, max_size=5, unique=True), st.booleans())
@example(["' OR 1=1 --", "a'); DROP TABLE optcomp_people; --", "\\'", "\\", "%", "_"], True)
@example(["\x00", "\x00\x00", "\n", " ", "a ", "A", "a"], False)
def test_categories_may_be_any_text(values: list[str], personal: bool) -> None:
    held = [*values, None, *values, "x" * 20]
    data = pa.table({"c": pa.array(held, pa.string()), "who": range(len(held))})
    table = Table(data, {"c": Categories(values)}, person="who" if personal else None)
    (counts,) = Histogram("c").measure(table)
    assert counts == (*[2] * len(values), 2)
    for value in values[:2]:
        assert Count(where=f"c == {value!r}").measure(table) == ((2,),)


def test_files_may_have_names_with_quotes(tmp_path: Path) -> None:
    for name in ("it's.csv", "a 'b' \"c\".csv", "é.CSV", "x;y--.csv"):
        (tmp_path / name).write_text("x\n1\n2\n")
        table = Table(str(tmp_path / name), {"x": Integers(0, 1)})
        assert Sum("x").measure(table) == ((2,),)
        assert table.name == name.rsplit(".", 1)[0]
