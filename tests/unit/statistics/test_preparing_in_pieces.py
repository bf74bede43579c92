"""Files are read and written in pieces: where one piece ends and the next begins changes nothing."""

from __future__ import annotations

import csv
from collections.abc import Collection
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest

from optcomp.statistics import Categories, Count, Histogram, Integers, Sum, Table, preparing
from optcomp.statistics.sources import Reading, lines, opened

COLUMNS = {"age": Integers(0, 100), "region": Categories(["north", "south"])}


def _file(folder: Path, multiline: bool, seed: int) -> tuple[Path, list[list[str]]]:
    """A file with quoted cells, empty lines and carriage returns, and its records as Python reads them."""
    random = Random(seed)
    cells = ["north", "south", '"a, ""b"""', "", "x" * 30, '"c\nd"' if multiline else '"e"']
    ends = ["\n", "\r\n"]
    text = "".join(
        f"{random.randrange(120)},{random.choice(cells)},p{random.randrange(40)}{random.choice(ends)}"
        + ("\n" if random.random() < 0.1 else "")
        for _ in range(300)
    )
    path = folder / "people.csv"
    path.write_bytes(b"age,region,who\n" + text.encode())
    return path, [record for record in csv.reader(StringIO(text, newline="")) if record]


def _cells(path: Path, used: Collection[str], multiline: bool) -> list[list[str]]:
    batches = opened(path, used, set(), Reading(multiline=multiline)).batches()
    rows = (row for batch in batches for row in batch.to_pylist())
    return [[row[name].decode() for name in used] for row in rows]


@pytest.mark.parametrize("multiline", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, 64, 1000, 1 << 22])
def test_where_blocks_end_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, multiline: bool
) -> None:
    path, records = _file(tmp_path, multiline, seed=7)
    monkeypatch.setattr(lines, "_CHUNK", chunk)
    assert _cells(path, ["age", "region", "who"], multiline) == records
    assert _cells(path, ["who", "age"], multiline) == [[who, age] for age, _, who in records]


@pytest.mark.parametrize("chunk", [1, 9, 1 << 22])
def test_bad_lines_are_found_in_every_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,who\n1,a\n\n2\n3,b\nx,c\n4,d,e\n5,f", encoding="utf8")
    monkeypatch.setattr(lines, "_CHUNK", chunk)
    source = opened(path, ["age", "who"], {"age"}, Reading())
    rows = [row for batch in source.batches() for row in batch.to_pylist()]
    assert [row["age"] for row in rows] == [b"1", b"", b"3", b"x", b"", b"5"]
    assert source.lines.bad == {"too few cells": 1, "too many cells": 1}
    assert source.lines.first == (4, "too few cells")
    assert [source.place(row) for row in range(6)] == [f"line {line}" for line in (2, 4, 5, 6, 7, 8)]


@pytest.mark.parametrize("person", [None, "who"])
def test_where_groups_of_rows_end_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, person: str | None
) -> None:
    path, records = _file(tmp_path, False, seed=7)
    ages = [min(int(age), 100) for age, _, _ in records]
    regions = [region for _, region, _ in records]
    expected = sum(region == "north" for region in regions), sum(region == "south" for region in regions)
    for size in (1, 10, 299, 300, 1 << 17):
        monkeypatch.setattr(preparing, "_GROUP", size)
        table = Table(path, COLUMNS, person=person, rows_per_person=1 if person is None else 300)
        assert Count().measure(table) == ((300,),)
        assert Sum("age").measure(table) == ((sum(ages),),)
        assert Histogram("region").measure(table)[0][:2] == expected


def test_nothing_but_the_rows_is_left_over(tmp_path: Path) -> None:
    table: Any = Table(_file(tmp_path, False, seed=7)[0], COLUMNS, person="who", memory="100MB")
    assert [path.name for path in table._rows.path.parent.iterdir() if path.is_file()] == ["rows.parquet"]


def test_the_settings_that_make_questions_quick_reach_every_question(tmp_path: Path) -> None:
    """A question runs on a connection of its own, which settings of the session would not reach."""
    table = Table(_file(tmp_path, False, seed=7)[0], COLUMNS)
    for name, value in (
        ("perfect_ht_threshold", 0),
        ("disabled_optimizers", "compressed_materialization"),
        ("parquet_metadata_cache", True),
    ):
        assert table.run(f"SELECT current_setting('{name}')") == [(value,)]
