"""Exact counts for whoever holds the data, before the lot and after it: those of plain Python, the lot by hashlib."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optcomp import InvalidInput, UnreadableData
from optcomp.statistics import Categories, Declared, ExactCounts, Integers, Preparation

KEY = bytes(range(32))
COLUMNS = {"age": Integers(10, 99), "ward": Categories(["A", "B"])}
Row = tuple[str | None, int | None, str | None]
Codes = tuple[str, int | None, int | None]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "r", None]),
        st.one_of(st.none(), st.integers(5, 105)),
        st.sampled_from(["A", "B", "C", None]),
    ),
    max_size=14,
)


def encoded(rows: list[Row]) -> list[Codes]:
    """Rows of somebody as integers; a category that is not declared is 2."""
    wards = {"A": 0, "B": 1, "C": 2, None: None}
    return [
        (who, None if age is None else min(max(age, 10), 99) - 10, wards[ward])
        for who, age, ward in rows
        if who is not None
    ]


def left(rows: list[Codes], allowed: int) -> list[Codes]:
    """What the lot leaves."""
    mine, seen = defaultdict(list), Counter[Codes]()
    for row in rows:
        seen[row] += 1
        cells = "/".join("" if cell is None else str(cell) for cell in row[1:])
        words = f"{KEY.hex()}/lot/{row[0]}/{cells}/{seen[row]}"
        mine[row[0]].append((hashlib.sha256(words.encode()).hexdigest(), row))
    return [row for drawn in mine.values() for _, row in sorted(drawn, key=lambda pair: pair[0])[:allowed]]


def preparation(rows: list[Row], declared: Declared, *, everything: bool = True) -> Preparation:
    names = dict(zip(("id", "age", "ward"), zip(*rows, strict=True) if rows else ((), (), ()), strict=True))
    kinds = {"id": pa.string(), "age": pa.int64(), "ward": pa.string()}
    table = pa.table({name: pa.array(cells, kinds[name]) for name, cells in names.items()})
    return Preparation(table, declared, lot_key=KEY, keep_everything=everything)


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(rows=ROWS, allowed=st.integers(1, 3))
def test_counts_are_those_of_plain_python(rows: list[Row], allowed: int) -> None:
    check_counts(rows, allowed)


def test_counts_of_one_table_are_those_of_plain_python() -> None:
    many: list[Row] = [
        ("p", 5, "A"),
        ("p", 60, "A"),
        ("p", None, "B"),
        ("q", 70, "C"),
        ("q", 49, None),
        (None, 20, "A"),
    ]
    check_counts(many + [("r", 50 + i, "AB"[i % 2]) for i in range(5)], allowed=2)


def check_counts(rows: list[Row], allowed: int) -> None:
    """Before the lot and after it."""
    found = preparation(rows, Declared(COLUMNS, person="id", rows_per_person=allowed))
    everything = encoded(rows)
    for counts, expected in (
        (ExactCounts(found, before_the_lot=True), everything),
        (ExactCounts(found), left(everything, allowed)),
    ):
        old = [row for row in expected if row[1] is not None and row[1] >= 40]
        assert (counts.rows(), counts.people()) == (len(expected), len({row[0] for row in expected}))
        assert counts.rows("age >= 50") == len(old)
        assert counts.people("age >= 50") == len({row[0] for row in old})
        in_a = [row for row in expected if row[2] == 0]
        assert counts.rows("ward == 'A'", value_of="age") == sum(row[1] is not None for row in in_a)
        ages = [row[1] + 10 for row in expected if row[1] is not None]
        assert counts.mean("age") == (Fraction(sum(ages), len(ages)) if ages else None)
        wards = Counter(2 if row[2] is None else row[2] for row in expected)
        assert counts.cells("ward") == {"A": wards[0], "B": wards[1], "(other)": wards[2]}
        each = Counter(row[0] for row in expected)
        told = counts.rows_each()
        assert (told.people, told.most) == (len(each), max(each.values(), default=0))
        assert told.over == sum(count > allowed for count in each.values())


def test_every_row_is_a_person_where_nobody_is_named() -> None:
    counts = ExactCounts(preparation([("p", 20, "A"), ("p", 60, None)], Declared(COLUMNS)))
    each = counts.rows_each()
    assert (counts.rows(), counts.people(), counts.people("age > 50")) == (2, 2, 1)
    assert (each.people, each.most, each.over) == (2, 1, 0)


def test_rows_within_the_bounds_on_groups() -> None:
    declared = Declared(COLUMNS, person="id", rows_per_person=4, rows_per_group=1)
    rows: list[Row] = [("p", 20, "A"), ("p", 30, "A"), ("p", 30, "B"), ("q", 30, "C"), ("q", 30, None)]
    assert ExactCounts(preparation(rows, declared)).rows(grouped="ward") == 3  # C and nothing are one group


def test_rows_before_the_lot_must_have_been_kept() -> None:
    found = preparation([("p", 20, "A")], Declared(COLUMNS, person="id"), everything=False)
    with pytest.raises(InvalidInput, match="needs a preparation that keeps everything"):
        ExactCounts(found, before_the_lot=True)
    with pytest.raises(InvalidInput, match="is not a declared column"):
        ExactCounts(found).rows("height > 3")


def test_the_first_place_is_the_first_in_the_file(tmp_path: Path) -> None:
    """A line that cannot be read comes before a cell of the line after it."""
    path = tmp_path / "people.csv"
    path.write_text("age,ward\n20,A\n20,A\n20\nx,A\n", encoding="utf8")
    with pytest.raises(UnreadableData) as error:
        Preparation(path, Declared(COLUMNS))
    assert (error.value.place, error.value.reason, error.value.count) == ("people.csv, line 4", "too few cells", 2)
