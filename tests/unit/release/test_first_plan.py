"""A plan to begin with: types from the first rows, bounds from nobody unless they are public."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from optcomp.errors import InvalidInput
from optcomp.planner import read
from optcomp.planner.source import parsed
from optcomp.release import first_plan, preflight
from optcomp.statistics import Categories, Dates, Integers, Reals

TEXT = (
    "Kunden-Nr;Alter (Jahre);Straße;Lohn (€);Eintritt;leer\n"
    "7341;34;Müllerweg;1.234,50;31.12.2020;\n7341;35;Ring;;01.02.2021;\n8822;17;Ring;999,5;03.04.2022;\n"
)
PRIVATE = ("7341", "8822", "34", "35", "17", "Müllerweg", "Ring", "1234", "1.234", "999", "2020", "2021", "2022")


@pytest.fixture
def dirty(tmp_path: Path) -> Path:
    path = tmp_path / "wages.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    return path


def test_no_cell_is_in_it(dirty: Path) -> None:
    text = first_plan(dirty)
    for cell in PRIVATE:
        assert cell not in text, cell
    assert '"encoding": "cp1252"' in text
    assert "{integers: [LOW, HIGH]}" in text
    with pytest.raises(InvalidInput, match=r"columns\.Alter \(Jahre\)"):
        read(parsed(text, "plan"))


def test_filled_in_it_is_a_plan(dirty: Path) -> None:
    text = first_plan(dirty)
    for old, new in (
        ("# person", "person"),
        ("# rows_per_person: 1", "rows_per_person: 2"),
        ('"Alter (Jahre)": {integers: [LOW, HIGH]}', '"Alter (Jahre)": {integers: [0, 120]}'),
        ('"leer": {integers: [LOW, HIGH]}', '"leer": {integers: [0, 1]}'),
        ("reals: [LOW, HIGH]", "reals: [0, 5000]"),
        ("dates: [LOW, HIGH]", "dates: [2000-01-01, 2030-12-31]"),
        ("[VALUE, VALUE]", "[Ring, Weg]"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    plan = read(parsed(text, "plan"))
    assert plan.table.person == "Kunden-Nr"
    assert plan.table.columns["Eintritt"] == Dates("2000-01-01", "2030-12-31", format="%d.%m.%Y")
    found = preflight(plan, dirty)
    assert [each.unreadable for each in found.columns] == [0] * 5
    assert [each.missing for each in found.columns] == [0, 0, 1, 0, 3]


def test_public_ends_are_read_off_the_data(dirty: Path) -> None:
    text = first_plan(dirty, public=True)
    columns: dict[str, Any] = dict(read(parsed(text.replace("LOW", "0").replace("HIGH", "1"), "plan")).table.columns)
    assert columns == {
        "Alter (Jahre)": Integers(17, 35),
        "Straße": Categories(["Müllerweg", "Ring"]),
        "Lohn (€)": Reals("999.5", "1234.5"),
        "Eintritt": Dates("2020-12-31", "2022-04-03", format="%d.%m.%Y"),
        "leer": Integers(0, 1),
    }


def test_several_files_by_a_pattern(tmp_path: Path) -> None:
    for month in ("01", "02"):
        (tmp_path / f"pay-{month}.csv").write_bytes(TEXT.encode("cp1252"))
    text = first_plan(tmp_path / "pay-*.csv")
    assert 'name: "pay"' in text
    assert '"encoding": "cp1252"' in text
    assert "Eintritt" in text


@pytest.mark.parametrize(
    ("name", "whose"),
    [("Pers.-Nr. [intern]", True), ("person_id", True), ("Nr", True), ("Kundennummer", True), ("paid", False)],
)
def test_a_column_that_may_say_whose_row_it_is(name: str, whose: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{name};Lohn\n1;2\n", encoding="utf8")
    assert (f'person: "{name}"' in first_plan(path)) == whose
    assert (f'mean: "{name}"' in first_plan(path)) != whose


def test_other_sources(tmp_path: Path) -> None:
    pd.DataFrame(
        {"id": [1], "day": pd.to_datetime(["2024-02-29"]), "works": [True], "x": [1.5], "t": ["a"]}
    ).to_parquet(tmp_path / "p.parquet")
    text = first_plan(tmp_path / "p.parquet")
    assert '"works": {categories: [true, false]}' in text
    assert '"day": {dates: [LOW, HIGH], unit: day, zone: UTC}' in text
    assert '"x": {reals: [LOW, HIGH]}' in text
    assert '"t": {categories: [VALUE, VALUE]}' in text
    assert '# person: "id"' in text
    with sqlite3.connect(tmp_path / "s.sqlite") as connection:
        connection.execute("CREATE TABLE a (n)")
        connection.execute("CREATE TABLE b (n)")
        connection.execute("INSERT INTO b VALUES (5)")
    connection.close()
    with pytest.raises(InvalidInput, match="a, b"):
        first_plan(tmp_path / "s.sqlite")
    assert '"n": {integers: [LOW, HIGH]}' in first_plan(tmp_path / "s.sqlite", table="b")
