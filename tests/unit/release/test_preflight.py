"""Counts before a release: those of plain Python, for files of every kind, and one line for each problem."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from fractions import Fraction
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
from optcomp.release import Preflight, preflight
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


def missing(cell: str) -> bool:
    """What people and programs write where there is nothing."""
    return cell.strip(" ").lower() in ("", "na", "n/a", "nan", "null", "none")


def number(cell: str) -> float | None:
    """A number, None for what is none."""
    if missing(cell):
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def counted(cells: list[str], low: float, high: float, whole: bool) -> Plain:
    """The oracle: one cell after the other."""
    there = [cell for cell in cells if not missing(cell)]
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
    owned = [(row[0], age is not None and age >= 64.5) for row in rows if row[0] for age in [number(row[1])]]
    satisfied = Counter(owner for owner, holds in owned if holds)  # rounded first
    assert (old.rows_before, old.people_before) == (satisfied.total(), len(satisfied))
    least = sum(max(satisfied[each] - max(owners[each] - 2, 0), 0) for each in owners)
    most = sum(min(satisfied[each], 2) for each in owners)
    assert least <= old.rows <= most
    assert (old.rows + 1) // 2 <= old.people <= min(old.rows, len(satisfied))
    ages = [
        min(max(math.floor(age + 0.5), 18), 90) if math.isfinite(age) else (90 if age > 0 else 18)
        for row in rows
        if row[0]
        for age in [number(row[1])]
        if age is not None
    ]
    assert column(found, "age")["mean"] == (float(Fraction(sum(ages), len(ages))) if ages else None)


CELLS = st.sampled_from(
    [
        "",
        " ",
        "18",
        "17",
        "17.5",
        "64.5",
        "90",
        "91",
        "99.6",
        "-11",
        "inf",
        "-inf",
        "nan",
        "1e300",
        "x",
        "NA",
        "none",
        "1d",
    ]
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
    document = plan(person="id", rows_per_person=2, multiline=True)
    path = written(tmp_path / f"people{suffix}", rows)
    found = preflight(document, path)
    assert (found.file.rows, found.file.unread, found.file.first_unread) == (len(rows), {}, None)
    assert found.file.size == path.stat().st_size
    assert found.file.unmentioned == ("note",)
    assert found.file.longest_record == 1 + max((row[5].count("\n") for row in rows), default=0)
    same(found, rows)


def test_a_release_finds_what_was_counted(tmp_path: Path) -> None:
    rows = [["1", age, "5", ward, "0", ""] for age in ("20", "x", "", "99") for ward in ("A", "b")]
    path, document = written(tmp_path / "people.csv", rows), plan(bad_cells="missing")
    found, table = preflight(document, path), table_of(document, path)
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
    assert (found.person, found.file.unread, found.file.unmentioned, found.file.rows) == (None, {}, (), 5)
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


REFUSED = "preparation will refuse, unless bad_cells: missing"


def test_a_file_in_latin_1(tmp_path: Path) -> None:
    """Only cells that are declared matter."""
    lines = [f"20,1,{'Ä' if i % 3 == 2 else 'A'},0,é" for i in range(30)]
    found = looked(tmp_path, HEADER + "\n".join(lines).encode("latin1"))
    assert (found.file.rows, found.file.unread) == (30, {})
    ward = column(found, "ward")
    assert (ward["unreadable"], ward["unknown"], ward["other"], ward["first_unread"]) == (
        10,
        0,
        10,
        "people.csv, line 4",
    )
    assert found.advice[0] == (
        f"ward: 10 cells cannot be read, first people.csv, line 4 (text that is not UTF-8: 10); {REFUSED}; "
        "name the encoding, e.g. dialect: {encoding: latin-1}, or let `optcomp plan init` propose it"
    )
    right = looked(tmp_path, HEADER + "\n".join(lines).encode())
    assert (column(right, "ward")["unreadable"], column(right, "ward")["unknown"]) == (0, 10)


def test_lines_that_cannot_be_read(tmp_path: Path) -> None:
    lines = [
        *(b"20,1,A,0,fine", b"20,1,A", b"20,1,A,0,a,b", b'20,1,A,0,"a"b', b'20,1,A,0,"a', b"", b"30,1,B,1,\xff"),
        *(b"x" * 5_000_000, b"20,1,A\r,0,"),
    ]
    expected = {
        "too few cells": 1,
        "too many cells": 1,
        "a quotation mark in the middle of a cell": 1,
        "a quotation mark that is not closed": 1,
        "too long": 1,
        "a carriage return inside it": 1,
    }
    found = looked(tmp_path, HEADER + b"\n".join(lines) + b"\n")
    assert (found.file.rows, dict(found.file.unread)) == (8, expected)
    assert [column(found, name)["missing"] for name in ("age", "ward")] == [6, 6]
    start = "6 lines of the file cannot be read, first people.csv, line 3 ("
    assert found.advice[0].startswith(start)
    assert found.advice[0].endswith(f"); {REFUSED}")
    told = looked(tmp_path, HEADER + b"\n".join(lines) + b"\n", bad_cells="missing").advice[0]
    assert told.startswith(start)
    assert told.endswith("); they will count as rows without a value")


def test_a_quotation_mark_that_is_not_closed(tmp_path: Path) -> None:
    """It spoils its own line; where cells may have line breaks, it swallows others, and that is told."""
    lost = HEADER + b'20,1,A,0,"oh\n' + b"20,1,A,0,\n" * 150
    found = looked(tmp_path, lost, rows=151)
    assert (found.file.rows, dict(found.file.unread)) == (151, {"a quotation mark that is not closed": 1})
    closed = looked(tmp_path, lost + b'20,1,A,0,"\n', rows=2, multiline=True)
    assert (closed.file.rows, closed.file.longest_record) == (1, 152)
    assert closed.advice[0] == "one record goes on over 152 lines: is a quotation mark not closed?"


def test_people_who_cannot_be_read(tmp_path: Path) -> None:
    content = b"id,age,income,ward,floor\n" + b"".join(
        who + b",70,1,A,0\n" for who in (b"a", b"\xff", b"", b"b" * 5000, b"c")
    )
    found = looked(tmp_path, content, person="id").person
    assert found is not None
    assert (found.people, found.rows, found.nobody, found.unreadable, found.dropped) == (2, 2, 3, 2, 0)
    assert found.reasons == {"text that is not UTF-8": 1, "longer than 4,096 characters": 1}
    assert found.first_unread == "people.csv, line 3"


def test_what_the_lot_does_to_conditions_and_means(tmp_path: Path) -> None:
    """One of eleven people has half of the rows; all rows of a person are alike, so that every lot is the same."""
    rows = [[str(i), "20", "0", "A", "0", ""] for i in range(10)] + [["x", "80", "64", "B", "1", ""]] * 10
    found = preflight(plan(person="id", rows_per_person=2, rows=12), written(tmp_path / "people.csv", rows))
    assert found.person is not None
    assert (found.person.people, found.person.most, found.person.over, found.person.dropped) == (11, 10, 1, 8)
    (old,) = found.conditions
    assert (old.rows, old.rows_before, old.people, old.people_before) == (2, 10, 1, 1)
    means = [(column(found, name)["mean"], column(found, name)["mean_kept"]) for name in ("age", "income")]
    assert means == [(50.0, 30.0), (32.0, float(Fraction(32, 3)))]
    assert column(found, "ward")["moved"] == {"category": "A", "everything": 0.5, "kept": 10 / 12}
    assert [line for line in found.advice if "the lot" in line] == [
        "age: the mean is 50 over all rows, and 30 over those that the lot leaves",
        "income: the mean is 32 over all rows, and 10.6667 over those that the lot leaves",
        "ward: 'A' is 50 % of all rows, and 83.3 % of those that the lot leaves",
        "floor: '0' is 50 % of all rows, and 83.3 % of those that the lot leaves",
        "old: 10 rows satisfy age >= 65, and the lot leaves 2 of them; its entry `rows` says 3",
    ]


def test_people_whom_a_condition_loses(tmp_path: Path) -> None:
    """Each of 400 people has one old row among ten, of which one is left: about 360 people are lost."""
    rows = [[str(i // 10), "70" if i % 10 == 0 else "30", "0", "A", "0", ""] for i in range(4000)]
    found = preflight(plan(person="id"), written(tmp_path / "people.csv", rows))
    (old,) = found.conditions
    assert (old.rows_before, old.people_before) == (400, 400)
    assert 5 <= old.rows == old.people <= 90  # 40 are expected; each side is impossible but for one in 10^9
    lost = 400 - old.people
    assert f"old: {lost} of 400 people who satisfy age >= 65 do so in no row that is left" in found.advice


def test_rows_beyond_the_bounds_on_groups(tmp_path: Path) -> None:
    rows = [["1", "30", "0", ward, floor, ""] for ward, floor in (("A", "0"), ("A", "0"), ("A", "1"), ("B", "1"))]
    bounds = {"person": "id", "rows_per_person": 4, "rows_per_group": 2}
    found = preflight(plan(**bounds), written(tmp_path / "people.csv", rows))
    assert [column(found, name)["counted"] for name in ("ward", "floor", "age")] == [3, 4, None]
    beyond = [line for line in found.advice if "beyond" in line]
    assert beyond == ["ward: 1 row of 4 are beyond the bounds on groups, and count in no histogram of it"]
    one = preflight(plan(**bounds, grouped_by=["floor"]), tmp_path / "people.csv")
    assert [column(one, name)["counted"] for name in ("ward", "floor", "age")] == [None, 4, None]


def test_a_snapshot_was_checked_already(tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", [["1", "30", "0", "A", "0", ""]])
    table_of(plan(), path).save(tmp_path / "people.snapshot")
    with pytest.raises(InvalidInput, match=r"^source: is a snapshot, of a file that was read already"):
        preflight(plan(), tmp_path / "people.snapshot")


def test_a_header_only(tmp_path: Path) -> None:
    for content in (HEADER, HEADER.strip()):
        found = looked(tmp_path, content, rows=100)
        assert found.file.rows == 0
        assert found.advice == ["the file has no rows"]
        assert all(each.least is None for each in found.columns)


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
            [f"age: 2 cells cannot be read, first people.csv, line 5 (not a number: 2; such as 'forty'); {REFUSED}"],
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
        ({"age": ["70"] * 100 + ["40"] * 100}, ["old: 100 rows satisfy age >= 65; its entry `rows` says 3"]),
        (
            {"id": ["1"] * 5 + [str(i) for i in range(5, 200)], "age": ["40"] * 5 + ["70"] * 3 + ["40"] * 192},
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
    assert not any(line.startswith("data.rows") or "will count" in line for line in kept)
    neither = preflight(plan(rows=140, person="id", rows_per_person=2), tmp_path / "people.csv").advice
    assert neither[0] == "data.rows: 140 are declared and 200 were read; is it the right file?"


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
    with pytest.raises(InvalidInput, match=r"^source: does not fit the plan: column '\w+' is not in the table"):
        looked(tmp_path, b"age,income\n1,2\n")
    pq.write_table(pa.table({name: pa.array([0], pa.date32()) for name in COLUMNS}), tmp_path / "people.parquet")
    with pytest.raises(InvalidInput, match=r"^source: does not fit the plan: column '\w+' must hold numbers"):
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
