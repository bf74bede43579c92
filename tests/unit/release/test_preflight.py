"""Counts before a release: those of plain Python, for files of every kind, and one line for each problem."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.planner import read
from optcomp.release.first_look import Preflight, first_bad_line, preflight
from optcomp.release.released import table_of
from optcomp.statistics import Count, Histogram, Mean
from tests.plans import Plain

COLUMNS: Plain = {
    "age": {"integers": [18, 90]},
    "income": {"reals": [-10, "99.5"]},
    "ward": {"categories": ["A", "B"]},
    "floor": {"categories": [0, 1, 2]},
}


def plan(**data: Any) -> Any:
    return read(
        {
            "plan": 1,
            "data": data,
            "columns": COLUMNS,
            "budget": {"epsilon": 1},
            "statistics": {"n": {"count": "rows"}, "old": {"mean": "age", "where": "age >= 65", "rows": 3}},
        }
    )


def written(path: Path, rows: list[list[str]], header: str = "id,age,income,ward,floor,note") -> Path:
    """A CSV or TSV file as programs write them."""
    delimiter = "\t" if path.suffix == ".tsv" else ","
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([header.split(","), *rows])
    path.write_text(text.getvalue(), encoding="utf8", newline="")
    return path


def number(cell: str) -> float | None:
    """A number, None for text; the cells of these tests are read the same by Python and by the engine."""
    try:
        return float(cell)
    except ValueError:
        return None


def counted(cells: list[str], low: float, high: float, whole: bool) -> Plain:
    """The oracle: one cell after the other."""
    there = [cell for cell in cells if cell.strip() and cell != "nan"]
    values = [value for value in map(number, there) if value is not None]
    finite = [value for value in values if math.isfinite(value)]
    return {
        "rows": len(cells),
        "missing": len(cells) - len(there),
        "unreadable": len(there) - len(values),
        "rounded": sum(not value.is_integer() for value in finite) if whole else 0,
        "below": sum(value < low for value in values),
        "above": sum(value > high for value in values),
        "least": min(finite, default=None),
        "greatest": max(finite, default=None),
    }


def column(found: Preflight, name: str) -> Plain:
    (entry,) = (entry for entry in found.as_dict()["columns"] if entry["name"] == name)
    return dict(entry)


def same(found: Preflight, rows: list[list[str]]) -> None:
    """What was found, against the oracle, for everything that can be counted in these rows."""
    for name, place, low, high in (("age", 1, 18, 90), ("income", 2, -10, 99.5)):
        expected = counted([row[place] for row in rows], low, high, name == "age")
        assert {key: column(found, name)[key] for key in expected} == expected
    for name, place, known in (("ward", 3, {"A", "B"}), ("floor", 4, {"0", "1", "2", "0.0", " 1"})):
        cells = [row[place] for row in rows]
        blank = sum(not cell.strip() for cell in cells)
        other = sum(cell not in known for cell in cells)
        entry = column(found, name)
        assert (entry["rows"], entry["missing"], entry["other"]) == (len(rows), blank, other)
        assert entry["unknown"] == other - blank
    owners = Counter(row[0] for row in rows if row[0])
    person = found.person
    assert person is not None
    assert (person.people, person.rows, person.most) == (len(owners), owners.total(), max(owners.values(), default=0))
    assert person.nobody == len(rows) - owners.total()
    assert person.over == sum(count > 2 for count in owners.values())
    assert person.dropped == sum(max(count - 2, 0) for count in owners.values())
    (old,) = found.conditions
    ages = [number(row[1]) for row in rows if row[0]]
    assert old.rows == sum(age is not None and age >= 64.5 for age in ages)  # rounded first


CELLS = st.sampled_from(
    ["", " ", "18", "17", "17.5", "64.5", "90", "91", "99.6", "-11", "inf", "-inf", "nan", "1e300", "x", "NA"]
)
ROW = st.tuples(
    st.sampled_from(["", "1", "2", "3", "4"]),
    CELLS,
    CELLS,
    st.sampled_from(["A", "B", "b", "", "A ", "it's"]),
    st.sampled_from(["0", "1", "2", "3", "0.0", " 1", "1.5", "", "x"]),
    st.sampled_from(["", "a, b", 'say "hi"', "two\nlines", "é"]),
).map(list)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@settings(max_examples=7, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(ROW, max_size=12))
def test_counts_are_those_of_plain_python(suffix: str, tmp_path: Path, rows: list[list[str]]) -> None:
    document = plan(person="id", rows_per_person=2)
    path = written(tmp_path / f"people{suffix}", rows)
    found = preflight(document, path)
    assert (found.file.rows, found.file.unread, found.file.cut, found.file.not_utf8) == (len(rows), {}, {}, None)
    assert found.file.size == path.stat().st_size
    assert found.file.unmentioned == ("note",)
    assert found.file.longest_cell == max((row[5].count("\n") for row in rows), default=0)
    same(found, rows)


def test_a_release_finds_what_was_counted(tmp_path: Path) -> None:
    rows = [["1", age, "5", ward, "0", ""] for age in ("20", "x", "", "99") for ward in ("A", "b")]
    path = written(tmp_path / "people.csv", rows)
    found, table = preflight(plan(), path), table_of(plan(), path)
    ((count,), _) = Mean("age").measure(table)
    ((_, _, other),) = Histogram("ward").measure(table)
    assert (count, other) == (found.columns[0].values, found.columns[2].other) == (4, 4)
    assert Count(where="age >= 65").measure(table) == ((found.conditions[0].rows,),) == ((2,),)


def test_parquet_with_columns_of_its_own_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "age": pa.array([17, 18, None, 2**62, 90], pa.int64()),
            "income": pa.array([math.nan, -math.inf, None, 99.5, 1e300]),
            "ward": pa.array(["A", None, "", "B", "Ä"]),
            "floor": pa.array([0.0, 1.0, 1.5, math.nan, None]),
        }
    )
    pq.write_table(table, tmp_path / "people.parquet")
    found = preflight(plan(), tmp_path / "people.parquet")
    assert (found.person, found.file.not_utf8, found.file.unmentioned, found.file.rows) == (None, None, (), 5)
    numbers = ("missing", "unreadable", "below", "above", "least", "greatest")
    assert [column(found, "age")[name] for name in numbers] == [1, 0, 1, 1, 17, 2**62]
    assert [column(found, "income")[name] for name in numbers] == [2, 0, 1, 1, 99.5, 1e300]
    categories = ("missing", "unknown", "other", "examples", "unseen")
    assert [column(found, "ward")[name] for name in categories] == [2, 1, 3, ("Ä",), ()]
    assert [column(found, "floor")[name] for name in categories] == [2, 1, 3, ("1.5",), ("2",)]


HEADER = b"age,income,ward,floor,note\n"


def looked(folder: Path, content: bytes, **data: Any) -> Preflight:
    path = folder / "people.csv"
    path.write_bytes(content)
    return preflight(plan(**data), path)


def test_a_file_in_latin_1(tmp_path: Path) -> None:
    lines = [f"20,1,A,0,{'é' if i % 3 == 2 else 'e'}" for i in range(30)]
    found = looked(tmp_path, HEADER + "\n".join(lines).encode("latin1"))
    assert (found.file.rows, found.file.unread, found.file.not_utf8) == (20, {"not UTF-8": 10}, 4)
    assert found.advice[0] == (
        "the file is not UTF-8, first in line 4: 10 lines cannot be read for that; "
        "convert it, e.g. iconv -f latin1 -t utf8"
    )
    right = looked(tmp_path, HEADER + "\n".join(lines).encode())
    assert (right.file.rows, right.file.unread, right.file.not_utf8) == (30, {}, None)


def test_lines_that_are_lost_or_cut(tmp_path: Path) -> None:
    lines = [
        *(b"20,1,A,0,fine", b"20,1,A", b"20,1,A,0,a,b", b'20,1,A,0,"a"b', b'20,1,A,0,"a\nb"', b"", b"30,1,B,1,"),
        *(b"20,1,A,0,\xff,too", b"20,1,\xff,0", b"x" * 3_000_000),
    ]
    found = looked(tmp_path, HEADER + b"\n".join(lines) + b"\n")
    assert found.file.rows == 5
    assert found.file.unread["too long"] == 1
    assert sum(found.file.unread.values()) == 4
    assert found.file.cut == {"something after a closing quotation mark": 1, "too many cells": 1}
    assert found.file.not_utf8 == 10
    assert any(line.startswith("2 lines of the file will be read only in part (") for line in found.advice)


def test_a_quotation_mark_that_is_not_closed(tmp_path: Path) -> None:
    found = looked(tmp_path, HEADER + b'20,1,A,0,"oh\n' + b"20,1,A,0,\n" * 150, rows=151)
    assert (found.file.rows, found.file.longest_cell) == (1, 150)
    assert found.advice[0] == "one cell goes on over 151 lines: is a quotation mark not closed?"


def test_a_header_only(tmp_path: Path) -> None:
    for content in (HEADER, HEADER.strip()):
        found = looked(tmp_path, content, rows=100)
        assert found.file.rows == 0
        assert found.advice == ["the file has no rows"]
        assert all(each.least is None for each in found.columns)


@pytest.mark.parametrize("chunk", [1, 3, 2**20])
def test_the_first_line_that_is_not_utf8(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optcomp.release.first_look._CHUNK", chunk)
    good = "é€😀\n\n".encode()
    for content, line in (
        (b"", None),
        (good * 5, None),
        (good * 5 + b"a\xe9\n", 11),
        (b"\xff\n" + good, 1),
        (good + b"\xc3", 3),
        (good + b"ab\n\xc3\n" + good, 4),
    ):
        (tmp_path / "text").write_bytes(content)
        assert first_bad_line(tmp_path / "text") == line


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(content=st.binary(max_size=12) | st.lists(st.sampled_from([b"\n", b"\xc3", b"\xa9", b"a"])).map(b"".join))
def test_lines_are_decoded_one_by_one_by_the_oracle(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "text").write_bytes(content)
    bad = []
    for place, line in enumerate(content.split(b"\n"), 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            bad.append(place)
    assert first_bad_line(tmp_path / "text") == min(bad, default=None)


def many(count: int, **changed: list[str]) -> dict[str, list[str]]:
    found = {"id": [str(i) for i in range(count)], "age": ["70"] * 3 + ["40"] * (count - 3)}
    found |= {"income": ["5"] * count, "ward": ["A", "B"] * (count // 2), "floor": ["0"] * count}
    return {name: changed.get(name, cells)[:count] for name, cells in found.items()}


@pytest.mark.parametrize(
    ("changed", "advice"),
    [
        ({}, []),
        ({"age": ["70"] * 2 + ["40"] * 197 + ["95"]}, []),  # a half percent is what bounds are for
        (
            {"income": ["100"] * 50 + ["5"] * 150},
            ["income: 50 of 200 values lie above 99.5 and will be clamped; are the bounds right?"],
        ),
        (
            {"income": ["-10.1"] * 3 + [""] * 100 + ["5"] * 97},
            ["income: 3 of 100 values lie below -10 and will be clamped; are the bounds right?"],
        ),
        (
            {"age": ["70"] * 3 + ["forty"] * 2 + ["40"] * 195},
            ["age: 2 of 200 rows hold something that is not a number (such as 'forty'), and will count as missing"],
        ),
        ({"age": ["70"] * 3 + ["40.5"] + ["40"] * 196}, ["age: 1 of 200 values are not whole, and will be rounded"]),
        (
            {"ward": ["A"] * 138 + ["b"] * 40 + ["c"] * 22},
            ["ward: 31 % of rows are in no declared category (such as 'b', 'c'); never seen: 'B'"],
        ),
        ({"income": [""] * 200}, ["income: all cells are empty"]),
        ({"ward": [""] * 150 + ["A", "B"] * 25}, ["ward: 75 % of cells are empty"]),
        (
            {"age": ["40"] * 200},
            ["old: no row satisfies age >= 65"],
        ),
        ({"age": ["70"] * 100 + ["40"] * 100}, ["old: 100 rows satisfy age >= 65; its entry rows says 3"]),
        (
            {"id": ["1"] * 5 + [str(i) for i in range(5, 200)]},
            ["id: 1 person has more than 2 rows, up to 5; 3 of 200 rows will be dropped"],
        ),
        (
            {"id": [""] + [str(i) for i in range(1, 200)], "age": ["70"] * 4 + ["40"] * 196},
            ["id: 1 row belongs to nobody"],
        ),
    ],
)
def test_every_problem_is_one_line(changed: dict[str, list[str]], advice: list[str], tmp_path: Path) -> None:
    pa_csv.write_csv(pa.table(many(200, **changed)), tmp_path / "people.csv")
    found = preflight(plan(rows=200, person="id", rows_per_person=2), tmp_path / "people.csv").advice
    assert len(found) == len(advice)
    assert all(line.startswith(expected) for line, expected in zip(found, advice, strict=True))


@pytest.mark.parametrize(
    ("empty", "present", "advice"),
    [
        (10, None, []),
        (40, None, ["age: 80 % of rows have a value, and errors are stated for 100 %; is `present` right?"]),
        (40, "0.8", []),
        (40, "0.5", ["age: 80 % of rows have a value, and errors are stated for 50 %; is `present` right?"]),
        (120, "0.4", []),
        (120, "0.6", ["age: 40 % of rows have a value, and errors are stated for 60 %; is `present` right?"]),
    ],
)
def test_errors_are_stated_for_the_values_that_there_are(
    empty: int, present: str | None, advice: list[str], tmp_path: Path
) -> None:
    pa_csv.write_csv(pa.table(many(200, age=[""] * empty + ["40"] * (200 - empty))), tmp_path / "people.csv")
    said = {} if present is None else {"present": present}
    document = {
        "plan": 1,
        "data": {"rows": 200},
        "columns": {"age": {"integers": [18, 90], **said}, "income": {"reals": [0, 9]}},
        "budget": {"epsilon": 1},
        "statistics": {"age": {"mean": "age"}, "total": {"sum": "income"}},
    }
    assert preflight(read(document), tmp_path / "people.csv").advice == advice
    some = {"age": {"mean": "age", "where": "income > 4", "rows": 200}}
    (condition,) = preflight(read(document | {"statistics": some}), tmp_path / "people.csv").conditions
    reckoned = 200 if present is None else int(200 * float(present))
    assert (condition.rows, condition.values, condition.reckoned) == (200, 200 - empty, reckoned)
    told = preflight(read(document | {"statistics": some}), tmp_path / "people.csv").advice
    assert any("of these rows have a value, and its error is stated for" in line for line in told) == bool(advice)


def test_rows_that_are_dropped_are_not_reckoned_with(tmp_path: Path) -> None:
    pa_csv.write_csv(pa.table(many(200, id=[str(i // 5) for i in range(200)])), tmp_path / "people.csv")
    found = preflight(plan(rows=200, person="id", rows_per_person=2), tmp_path / "people.csv").advice
    assert "data.rows: errors are stated for 200 rows, and 80 will count" in found
    kept = preflight(plan(rows=80, person="id", rows_per_person=2), tmp_path / "people.csv").advice
    assert not any("will count" in line for line in kept)


@pytest.mark.parametrize(("declared", "far"), [(180, False), (179, True), (220, False), (221, True), (None, False)])
def test_the_number_of_rows(declared: int | None, far: bool, tmp_path: Path) -> None:
    pa_csv.write_csv(pa.table(many(200)), tmp_path / "people.csv")
    data = {} if declared is None else {"rows": declared}
    assert bool(preflight(plan(**data), tmp_path / "people.csv").advice) == far


def test_the_size_of_a_sample_is_exact(tmp_path: Path) -> None:
    pa_csv.write_csv(pa.table(many(200)), tmp_path / "people.csv")
    sample = {"rows": 180, "rows_public": True, "population": 1000, "neighbours": "replace"}
    assert preflight(plan(**sample), tmp_path / "people.csv").advice == [
        "data.rows: 180 are declared and 200 were read; the release will refuse"
    ]


def test_what_a_release_would_refuse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^source: is not a file"):
        preflight(plan(), tmp_path / "nothing.csv")
    with pytest.raises(InvalidInput, match=r"^source: is empty"):
        looked(tmp_path, b"")
    with pytest.raises(InvalidInput, match=r"^source: does not fit the plan \(columns: is not in the table"):
        looked(tmp_path, b"age,income\n1,2\n")
    pq.write_table(pa.table({name: pa.array([0], pa.date32()) for name in COLUMNS}), tmp_path / "people.parquet")
    with pytest.raises(InvalidInput, match=r"^source: does not fit the plan \(columns: must hold numbers"):
        preflight(plan(), tmp_path / "people.parquet")


def test_an_empty_cell_may_be_a_category(tmp_path: Path) -> None:
    document = read(
        {
            "plan": 1,
            "columns": {"ward": {"categories": ["A", ""]}},
            "budget": {"epsilon": 1},
            "statistics": {"wards": {"histogram": "ward"}},
        }
    )
    pq.write_table(pa.table({"ward": ["A", "", None, "", " "]}), tmp_path / "people.parquet")
    (ward,) = preflight(document, tmp_path / "people.parquet").columns
    assert (ward.missing, ward.unknown, ward.other) == (2, 0, 2)
    ((_, empty, other),) = Histogram("ward").measure(table_of(document, tmp_path / "people.parquet"))
    assert (empty, other) == (2, ward.other)
