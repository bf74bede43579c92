"""What owners may choose from, what its columns are, and the look at the data before anything is registered."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from optcomp.center import Settings
from optcomp.center.choices import Choices
from optcomp.center.engines import connected
from optcomp.center.refusals import Forbidden
from optcomp.center.shares import gains
from optcomp.errors import InvalidInput
from optcomp.statistics import Count, Integers, Table
from tests.unit.center.homes import Centre


@pytest.fixture
def place(tmp_path: Path) -> Centre:
    data = tmp_path / "data"
    (data / "deep" / "er").mkdir(parents=True)
    return Centre(tmp_path / "home", data)


def test_files_below_the_folders_are_listed_and_nothing_else(place: Centre, tmp_path: Path) -> None:
    (place.data / "b.csv").write_text("x\n1\n", encoding="utf8")
    (place.data / "deep" / "er" / "a.TSV").write_text("x\ty\n", encoding="utf8")
    (place.data / "notes.txt").write_text("x", encoding="utf8")
    (tmp_path / "secret.csv").write_text("x\n", encoding="utf8")
    (place.data / "link.csv").symlink_to(tmp_path / "secret.csv")
    (place.data / "far").symlink_to(tmp_path)
    Table(pyarrow.table({"x": [1]}), {"x": Integers(0, 1)}, name="x").save(place.data / "kept.snapshot")
    found = Choices(place.store).sources()
    assert [each["source"] for each in found] == ["b.csv", "deep/er/a.TSV"]
    assert [each["bytes"] for each in found] == [4, 4]


def test_tables_and_dialects_of_files(place: Centre) -> None:
    with sqlite3.connect(place.data / "two.sqlite") as database:
        database.execute("CREATE TABLE a (x)")
        database.execute("CREATE TABLE b (y)")
        database.execute("INSERT INTO b VALUES (7)")
    database.close()
    (place.data / "broken.xlsx").write_bytes(b"no workbook")
    (place.data / "german.csv").write_bytes("Größe;Wohnort\n1,5;Köln\n".encode("latin-1"))
    choices = Choices(place.store)
    found = [(each["source"], each["table"]) for each in choices.sources()]
    assert found == [("broken.xlsx", None), ("german.csv", None), ("two.sqlite", "a"), ("two.sqlite", "b")]
    assert choices.columns("two.sqlite", "b") == {"y": ""}
    assert choices.dialect("two.sqlite") is None
    proposed = choices.dialect("german.csv")
    assert proposed is not None
    assert (proposed.delimiter, proposed.decimal, proposed.encoding) == (";", ",", "latin-1")
    assert list(choices.columns("german.csv", dialect=proposed.written)) == ["Größe", "Wohnort"]
    about = {"columns": [{"name": "size", "reals": [0, 9]}]}
    rename = {"Größe": "size"}
    looked = choices.check("german.csv", about, dialect=proposed.written, rename=rename, by="olga")
    assert (looked["file"]["rows"], looked["columns"][0]["unreadable"]) == (1, 0)
    with pytest.raises(InvalidInput, match="table"):
        choices.columns("two.sqlite", "c")


def test_tables_of_listed_databases_are_listed_without_passwords(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE visits (patient TEXT, age INTEGER)")
        database.executemany("INSERT INTO visits VALUES (?, ?)", [("a", 3), ("a", 4), ("b", "old"), (None, 7)])
    listed = [f"sqlite://{path}", "postgresql://me:hidden@127.0.0.1:1/none"]
    centre = Centre(tmp_path / "home", tmp_path, databases=listed)
    found = {each["source"]: each for each in Choices(centre.store).sources() if "://" in each["source"]}
    assert found[f"sqlite://{path}"]["table"] == "visits"
    broken = found["postgresql://127.0.0.1:1/none"]
    assert broken["table"] is None
    assert "cannot be opened" in broken["problem"]
    assert "hidden" not in str(found)
    assert list(Choices(centre.store).columns(f"sqlite://{path}", "visits")) == ["patient", "age"]
    about = {"person": "patient", "columns": [{"name": "age", "integers": [0, 120]}]}
    looked = Choices(centre.store).check(f"sqlite://{path}", about, table="visits", by="olga")
    assert looked["file"]["rows"] == 4
    assert (looked["person"]["people"], looked["person"]["over"], looked["person"]["nobody"]) == (2, 1, 1)
    assert looked["columns"][0]["unreadable"] == 1


def test_tables_of_duckdb_are_listed_and_nothing_is_fetched(tmp_path: Path) -> None:
    path, other = tmp_path / "rows.duckdb", tmp_path / "other.duckdb"
    with duckdb.connect(path) as database:
        database.execute("CREATE TABLE visits AS SELECT range AS age FROM range(30)")
    centre = Centre(tmp_path / "home", tmp_path / "none", databases=[f"duckdb://{path}", f"duckdb://{other}"])
    listed = Choices(centre.store).sources()
    assert [(each["source"], each["table"]) for each in listed][:1] == [(f"duckdb://{path}", "visits")]
    assert "cannot be opened" in listed[1]["problem"]
    assert not other.exists()  # nothing is made by looking
    assert list(Choices(centre.store).columns(f"duckdb://{path}", "visits")) == ["age"]
    connection = connected(f"duckdb://{path}?access_mode=READ_WRITE")
    for name in ("autoinstall_known_extensions", "autoload_known_extensions", "enable_external_access"):
        assert connection.con.execute(f"SELECT current_setting('{name}')").fetchone() == (False,)
    with pytest.raises(duckdb.Error):
        connection.con.execute("CREATE TABLE more (x INTEGER)")
    connection.disconnect()
    about = {"columns": [{"name": "age", "integers": [0, 120]}]}
    made = centre.catalogue.register(
        "visits", f"duckdb://{path}", declaration=about, table="visits", epsilon="1", delta="1e-6", by="olga"
    )
    assert Count("age < 10").measure(Table.open(made.snapshot)) == ((10,),)


def test_several_files_are_one_table(place: Centre) -> None:
    for number in range(3):
        lines = ["who,Alter (Jahre)", *(f"p{number}{each},{10 * number + each}" for each in range(10))]
        (place.data / "deep" / f"part-{number}.csv").write_text("\n".join(lines) + "\n", encoding="utf8")
    choices = Choices(place.store)
    pattern = "deep/part-[01].csv"
    assert choices.files(pattern) == ["part-0.csv", "part-1.csv"]
    assert list(choices.columns(pattern)) == ["who", "Alter (Jahre)"]
    assert choices.dialect(pattern) == choices.dialect("deep/part-0.csv")
    about = {"person": "who", "columns": [{"name": "age", "integers": [0, 120]}]}
    rename = {"Alter (Jahre)": "age"}
    assert choices.check(pattern, about, rename=rename, by="olga")["file"]["rows"] == 20
    given: dict[str, Any] = {"declaration": about, "rename": rename, "epsilon": "1", "delta": "1e-6", "by": "olga"}
    made = place.catalogue.register("parts", pattern, **given)
    assert Count("age >= 5").measure(Table.open(made.snapshot)) == ((15,),)
    renewed = place.catalogue.renew("parts", "deep/part-*.csv", by="olga")
    assert Count("age >= 5").measure(Table.open(renewed.snapshot)) == ((25,),)
    (place.data / "odd[1].csv").write_text("x\n1\n", encoding="utf8")
    assert choices.files("odd[1].csv") == ["odd[1].csv"]  # a name that looks like a pattern


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_columns_of_a_file_of_lines(place: Centre, sign: str) -> None:
    (place.data / "a.csv").write_text(sign.join(("one", "two, and", "three")) + "\n", encoding="utf8")
    names = ["one", "two", "and", "three"] if sign == "," else ["one", "two, and", "three"]
    found = Choices(place.store).columns("a.csv")
    assert [name.strip() for name in found] == names
    assert set(found.values()) == {""}


def test_columns_of_a_parquet_file_have_kinds(place: Centre) -> None:
    cells = {"a": [1], "b": [1.5], "c": ["x"], "d": [True], "e": [b"x"]}
    pyarrow.parquet.write_table(pyarrow.table(cells), place.data / "a.parquet")
    kinds = ["integers", "reals", "categories", "categories", ""]
    assert list(Choices(place.store).columns("a.parquet").values()) == kinds


def test_a_look_counts_and_tells_no_cell(place: Centre) -> None:
    lines = ["who,age", "p1,30", "p1,31", "p1,9999", "p2,zanzibar", "p3,-4", ",5", "p4,6,7", "p5,"]
    (place.data / "a.csv").write_text("\n".join(lines) + "\n", encoding="utf8")
    about = {"person": "who", "rows_per_person": 2, "columns": [{"name": "age", "integers": [0, 120]}]}
    found = Choices(place.store).check("a.csv", about, by="olga")
    assert found["file"]["rows"] == 8
    assert sum(found["file"]["unread"].values()) == 1
    person, (age,) = found["person"], found["columns"]
    assert (person["people"], person["nobody"], person["over"], person["dropped"]) == (4, 2, 1, 1)
    assert (age["unreadable"], age["below"], age["above"], age["missing"]) == (1, 1, 1, 2)
    assert "zanzibar" not in str(found)
    assert "9999" not in str(found)
    assert found["notice"].startswith("Exact numbers")
    note = place.changes.all()[-1]
    assert (note.who, note.what, note.detail) == ("olga", "checked the data", {"source": "a.csv", "table": None})


def test_who_may_look_and_at_what(place: Centre, tmp_path: Path) -> None:
    (place.data / "a.csv").write_text("age\n1\n", encoding="utf8")
    (tmp_path / "b.csv").write_text("age\n1\n", encoding="utf8")
    about = {"columns": [{"name": "age", "integers": [0, 120]}]}
    choices = Choices(place.store)
    with pytest.raises(Forbidden):
        choices.check("a.csv", about, by="ada")
    for source in ("../b.csv", str(tmp_path / "b.csv"), "none.csv"):
        with pytest.raises(InvalidInput):
            choices.check(source, about, by="olga")
        with pytest.raises(InvalidInput):
            choices.columns(source)
    with pytest.raises(InvalidInput):
        choices.check("a.csv", about, bad_cells="x", by="olga")
    assert [each for each in place.changes.all() if each.what == "checked the data"] == []


def test_no_folder_no_file(tmp_path: Path) -> None:
    centre = Centre(tmp_path / "home", tmp_path)
    centre.open(centre.settings.rewrite())
    assert isinstance(centre.settings, Settings)
    assert Choices(centre.store).sources() == []


def test_few_slots_gain_nothing_and_many_gain() -> None:
    found = {count: (float(best), float(split)) for count, best, split in gains("1", "1e-7")}
    for count, (best, split) in found.items():
        assert split <= 1 / count
        assert best >= split
    assert found[2] == (0.5, 0.5)
    assert found[120][0] > 2 * found[120][1]
