"""Snapshots on disk and in databases: the same table again, verified; never overwritten, never half written."""

from __future__ import annotations

import gc
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.statistics import Categories, Count, Histogram, Integers, Mean, Median, Reals, Statistic, Sum, Table
from optcomp.statistics.engines import VIEW, DuckdbRows

COLUMNS = {"age": Integers(0, 99), "income": Reals("-1/3", "1000/7", unit="1/3"), "town": Categories(["a", "it's"])}
PEOPLE = {
    "who": ["ann", "ann", "ann", "bob", "é", None, "é"],
    "age": [31, 32, None, 140, 7, 9, 7],
    "income": [1.5, 2.5, -9.0, 700.0, float("nan"), 3.0, 0.25],
    "town": ["a", "it's", None, "zz", "a", "a", "it's"],
}
STATISTICS: list[Statistic] = [
    Count(),
    Count(where="income > 1 or town == 'a'"),
    Sum("income"),
    Mean("age", where="town is not None"),
    Histogram("town"),
    Median("age"),
]
KEY = bytes(range(32))
FILES = ["declaration.json", "keys.json", "rows.parquet"]


def people(**declared: Any) -> Table:
    limits: dict[str, Any] = {
        "person": "who",
        "rows_per_person": 2,
        "groups_per_person": 1,
        "population": "town",
        "name": "people",
    }
    return Table(pa.table(PEOPLE), COLUMNS, **limits, lot_key=KEY, **declared)


def answers(table: Table) -> list[Any]:
    return [statistic.measure(table) for statistic in STATISTICS]


def same(one: Table, other: Table) -> None:
    """Everything that is declared, and every answer."""
    for entry in ("person", "neighbours", "name", "population", "contribution", "grouped_by"):
        assert getattr(one, entry) == getattr(other, entry), entry
    assert dict(one.columns) == dict(other.columns)
    assert answers(one) == answers(other)
    assert one._frozen.lot == other._frozen.lot


def test_a_snapshot_is_the_same_table_again(tmp_path: Path) -> None:
    table = people()
    path = table.save(tmp_path / "deep" / "it's")
    assert sorted(each.name for each in path.iterdir()) == FILES
    same(Table.open(path), table)
    again = Table.open(str(path), memory="200MB").save(tmp_path / "again")
    same(Table.open(again), table)
    everybody = Table(pa.table(PEOPLE), COLUMNS, neighbours="replace")
    same(Table.open(everybody.save(tmp_path / "everybody")), everybody)
    nothing = Table(pa.table(PEOPLE), {})
    assert Count().measure(Table.open(nothing.save(tmp_path / "nothing"))) == ((7,),)


@pytest.mark.parametrize("name", ["x" * 300, "file/below", "..", "a\0b", "", "locked/one"])
def test_a_path_that_cannot_be_written_is_refused_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf8")
    (tmp_path / "locked").symlink_to(tmp_path / "locked")
    with pytest.raises(InvalidInput, match=r"^path: "):
        people().save(tmp_path / name)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "locked"]


def test_a_database_that_may_not_be_changed_keeps_no_rows(tmp_path: Path) -> None:
    ibis.duckdb.connect(tmp_path / "rows.duckdb").disconnect()
    reader = ibis.duckdb.connect(tmp_path / "rows.duckdb", read_only=True)
    with pytest.raises(
        InvalidInput, match=r"^connection: cannot keep the rows .*: may it create tables\?, got 'duckdb'"
    ):
        people().save(tmp_path / "snapshot", connection=reader)
    assert [each.name for each in tmp_path.iterdir()] == ["rows.duckdb"]


def test_a_snapshot_says_how_its_source_was_read(tmp_path: Path) -> None:
    """What a record is, and what became of bad cells, is frozen with the rows, and part of the digest."""
    source = tmp_path / "people.csv"
    source.write_text('x;note\n1;"two\nlines"\nfive;b\n', encoding="utf8")
    table = Table(source, {"x": Integers(0, 4)}, bad_cells="missing", multiline=True)
    path = Table.open(table.save(tmp_path / "one")).save(tmp_path / "two")
    declared = json.loads((path / "declaration.json").read_text(encoding="utf8"))
    lines = {"delimiter": ";", "quote": '"', "multiline": True, "encoding": "utf-8", "decimal": ".", "thousands": ""}
    assert declared["preparation"] == {"bad_cells": "missing", **lines}
    declared["preparation"]["multiline"] = False
    (path / "declaration.json").write_text(json.dumps(declared), encoding="utf8")
    with pytest.raises(UnreadableData, match="its digest is another one"):
        Table.open(path)


def test_a_snapshot_goes_on_without_its_source_and_without_the_table(tmp_path: Path) -> None:
    source = tmp_path / "people.parquet"
    pq.write_table(pa.table(PEOPLE), source)
    table = Table(source, COLUMNS, person="who", rows_per_person=2, lot_key=KEY)
    expected, path = answers(table), table.save(tmp_path / "snapshot")
    source.unlink()
    assert answers(table) == expected
    del table
    assert answers(Table.open(path)) == expected


def test_what_everybody_may_see_holds_no_data_and_no_key(tmp_path: Path) -> None:
    path = people().save(tmp_path / "snapshot")
    shown, kept = (path / "declaration.json").read_text(), json.loads((path / "keys.json").read_text())
    assert set(kept) == {"format", "version", "lot", "digest_key", "digest"}
    assert kept["lot"] == KEY.hex()
    assert not any(kept[secret] in shown for secret in ("lot", "digest_key", "digest"))
    assert "ann" not in shown
    assert set(json.loads(shown)) == {"format", "version", "declaration", "preparation", "rows"}
    for name in FILES:
        assert stat.S_IMODE((path / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_two_snapshots_of_one_table_have_nothing_in_common_to_compare(tmp_path: Path) -> None:
    table = people()
    one, two = (json.loads((table.save(tmp_path / name) / "keys.json").read_text()) for name in "ab")
    assert one["digest"] != two["digest"]
    assert one["digest_key"] != two["digest_key"]


@pytest.mark.parametrize("kind", ["file", "folder", "link", "snapshot"])
def test_nothing_is_ever_overwritten(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "there"
    if kind == "file":
        target.write_text("mine")
    elif kind == "folder":
        target.mkdir()
    elif kind == "link":
        target.symlink_to(tmp_path / "nowhere")
    else:
        people().save(target)
    before = target.lstat()
    with pytest.raises(InvalidInput, match=r"^path: is there already"):
        people().save(target)
    after = target.lstat()
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (before.st_ino, before.st_mtime_ns, before.st_size)
    assert [each.name for each in tmp_path.iterdir()] == ["there"]


def edited(name: str, change: Callable[[Any], Any]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        document = json.loads((path / name).read_text())
        change(document)
        (path / name).write_text(json.dumps(document))

    return edit


def one_more_row(path: Path) -> None:
    rows = pq.read_table(path / "rows.parquet")
    pq.write_table(pa.concat_tables([rows, rows.slice(0, 1)]), path / "rows.parquet")


def one_bit(path: Path) -> None:
    content = bytearray((path / "rows.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (path / "rows.parquet").write_bytes(content)


DECLARED, KEYS = "declaration.json", "keys.json"
TAMPERED: dict[str, tuple[type[Exception], str, Callable[[Path], object]]] = {
    "one more row": (UnreadableData, "is not as it was prepared", one_more_row),
    "one bit": (UnreadableData, "is not as it was prepared", one_bit),
    "no rows": (InvalidInput, "changed by hand", lambda path: (path / "rows.parquet").unlink()),
    "more rows for each": (
        UnreadableData,
        "is not as it was prepared",
        edited(DECLARED, lambda d: d["declaration"].update(rows_per_person=3)),
    ),
    "another bound": (
        UnreadableData,
        "is not as it was prepared",
        edited(DECLARED, lambda d: d["declaration"]["columns"][0].update(integers=[0, 98])),
    ),
    "nonsense": (InvalidInput, "changed by hand", edited(DECLARED, lambda d: d["declaration"].update(columns=7))),
    "low above high": (
        InvalidInput,
        "changed by hand",
        edited(DECLARED, lambda d: d["declaration"]["columns"][0].update(integers=[9, 1])),
    ),
    "no declaration": (InvalidInput, "is not a snapshot", lambda path: (path / DECLARED).unlink()),
    "no keys": (InvalidInput, "is missing, or was changed by hand", lambda path: (path / KEYS).unlink()),
    "no JSON": (InvalidInput, "changed by hand", lambda path: (path / KEYS).write_text("{")),
    "deep JSON": (InvalidInput, "changed by hand", lambda path: (path / KEYS).write_text("[" * 10**5)),
    "another format": (InvalidInput, "changed by hand", edited(KEYS, lambda d: d.update(format="x"))),
    "another version": (InvalidInput, "has version 2", edited(DECLARED, lambda d: d.update(version=2))),
    "another key": (UnreadableData, "is not as it", edited(KEYS, lambda d: d.update(digest_key="00" * 32))),
    "a key that is none": (InvalidInput, "changed by hand", edited(KEYS, lambda d: d.update(digest_key="xyz"))),
    "another digest": (UnreadableData, "is not as it", edited(KEYS, lambda d: d.update(digest="0" * 64))),
    "a digest that is no text": (UnreadableData, "is not as it", edited(KEYS, lambda d: d.update(digest=["é"]))),
    "another engine": (InvalidInput, "connection", edited(DECLARED, lambda d: d["rows"].update(engine="duckdb"))),
    "rows that are none": (InvalidInput, "changed by hand", edited(DECLARED, lambda d: d.update(rows=[1]))),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_what_was_changed_by_hand_is_refused(how: str, tmp_path: Path) -> None:
    kind, problem, change = TAMPERED[how]
    path = people().save(tmp_path / "snapshot")
    change(path)
    with pytest.raises(kind, match=problem):
        Table.open(path)


def test_the_key_of_the_lot_is_part_of_what_is_verified(tmp_path: Path) -> None:
    path = people().save(tmp_path / "snapshot")
    edited(KEYS, lambda d: d.update(lot="11" * 32))(path)
    with pytest.raises(UnreadableData, match="is not as it was prepared"):
        Table.open(path)


@pytest.mark.parametrize("path", ["nowhere", "file", "."])
def test_what_is_no_snapshot_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match=r"^path: is not a snapshot"):
        Table.open(tmp_path / path)


def test_memory_that_makes_no_sense_is_refused_by_name(tmp_path: Path) -> None:
    path = people().save(tmp_path / "snapshot")
    attempts: list[Callable[[], Table]] = [
        lambda: people(memory="nonsense"),
        lambda: Table(pa.table(PEOPLE), COLUMNS, memory="nonsense"),
        lambda: Table.open(path, memory="nonsense"),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput, match=r"^memory: must be a size such as") as caught:
            attempt()
        assert caught.value.argument == "memory"


def test_a_save_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a folder nor a table: the last step fails here."""

    def fail(*_: object) -> None:
        raise OSError("no")

    connection, table = ibis.duckdb.connect(), people()
    monkeypatch.setattr(os, "rename", fail)
    for where in (None, connection):
        with pytest.raises(InvalidInput, match=r"^path: cannot be written \(no\)"):
            table.save(tmp_path / "snapshot", connection=where)
    assert list(tmp_path.iterdir()) == []
    assert connection.con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]


@pytest.mark.parametrize("connection", [5, "duckdb", object(), ibis.sqlite])
def test_a_connection_that_keeps_no_rows_is_refused(connection: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^connection: must be a connection of Ibis"):
        people().save(tmp_path / "snapshot", connection=connection)
    assert list(tmp_path.iterdir()) == []


def kept_by(path: Path) -> str:
    """The name of the table."""
    return str(json.loads((path / "declaration.json").read_text())["rows"]["table"])


def test_duckdb_keeps_rows_in_a_file(tmp_path: Path) -> None:
    table, connection = people(), ibis.duckdb.connect(tmp_path / "kept.duckdb")
    path = table.save(tmp_path / "snapshot", connection=connection)
    assert sorted(each.name for each in path.iterdir()) == FILES[:2]
    same(Table.open(path, connection=connection), table)
    name = kept_by(path)
    connection.disconnect()
    reading = ibis.duckdb.connect(tmp_path / "kept.duckdb", read_only=True)
    opened = Table.open(path, connection=reading)
    same(opened, table)
    same(Table.open(opened.save(tmp_path / "again")), table)
    other = ibis.duckdb.connect()
    same(Table.open(opened.save(tmp_path / "elsewhere", connection=other), connection=other), table)
    for wrong in (None, ibis.sqlite.connect()):
        with pytest.raises(InvalidInput, match=r"^connection: must be the connection to duckdb"):
            Table.open(path, connection=wrong)
    reading.disconnect()
    writing = ibis.duckdb.connect(tmp_path / "kept.duckdb")
    for change in (f"UPDATE {name} SET c2 = 2 - c2 WHERE c2 <> 1", f"INSERT INTO {name} FROM {name} LIMIT 1"):
        writing.con.execute(change)
        with pytest.raises(UnreadableData, match="is not as it was prepared"):
            Table.open(path, connection=writing)
    writing.con.execute(f"DROP TABLE {name}")
    with pytest.raises(UnreadableData, match="its rows cannot be read"):
        Table.open(path, connection=writing)


def test_a_name_of_a_table_is_no_way_into_a_query(tmp_path: Path) -> None:
    connection = ibis.duckdb.connect()
    path = people().save(tmp_path / "snapshot", connection=connection)
    edited(DECLARED, lambda d: d["rows"].update(table="people; DROP TABLE people"))(path)
    with pytest.raises(InvalidInput, match="changed by hand"):
        Table.open(path, connection=connection)


def test_the_engine_reads_its_file_and_nothing_else(tmp_path: Path) -> None:
    """No other file, no setting, no write, no extension."""
    other = tmp_path / "other.csv"
    other.write_text("x\n1\n")
    path = people().save(tmp_path / "snapshot")
    for table in (people(), Table.open(path)):
        assert table.run("SELECT count(*) FROM optcomp_rows") == [(Count().measure(table)[0][0],)]
        for forbidden in (
            f"FROM read_csv('{other}')",
            f"FROM read_text('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'written'}'",
            f"ATTACH '{tmp_path / 'other.duckdb'}'",
            "SET enable_external_access = true",
            "SET memory_limit = '10GB'",
            "SET lock_configuration = false",
            "RESET lock_configuration",
            "SET allowed_paths = ['/']",
            "INSTALL httpfs",
            "LOAD httpfs",
            f"FROM read_parquet('{path}/../*')",
        ):
            with pytest.raises(duckdb.Error):
                table.run(forbidden)
        assert answers(table) == answers(people())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.csv", "snapshot"]


def test_rows_of_an_engine_are_digested_as_a_set(tmp_path: Path) -> None:
    """In whatever order they are, but not with one twice."""
    connection = ibis.duckdb.connect()
    connection.con.execute("CREATE TABLE one AS SELECT i AS c0 FROM range(9) t(i)")
    connection.con.execute("CREATE TABLE two AS SELECT 8 - i AS c0 FROM range(9) t(i)")
    connection.con.execute("CREATE TABLE other AS SELECT greatest(i, 1) AS c0 FROM range(9) t(i)")
    one, two, other = (DuckdbRows(connection, name).digest(KEY, ["c0"]) for name in ("one", "two", "other"))
    assert one == two != other


@pytest.mark.parametrize("folder", ["c0=5", "g0=0/w0=0", "c2=1", "person=3", "it's; {a,b} ~ %20"])
def test_the_name_of_a_folder_is_not_a_cell(tmp_path: Path, folder: str) -> None:
    """DuckDB makes columns of folders that are named so, unless told not to."""
    table = people()
    same(Table.open(table.save(tmp_path / folder / "people")), table)
    connection = ibis.duckdb.connect()
    kept = table.save(tmp_path / folder / "kept", connection=connection)
    same(Table.open(kept, connection=connection), table)


def test_preparation_does_not_read_its_folder_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answers(people())
    (tmp_path / "c0=5").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "c0=5"))
    assert answers(people()) == expected


@pytest.mark.parametrize("letter", ["*", "?", "["])
def test_a_path_that_is_a_pattern_is_refused(tmp_path: Path, letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine would look for other files, too."""
    table, pattern = people(), tmp_path / f"a{letter}1]"
    with pytest.raises(InvalidInput, match="patterns"):
        table.save(pattern / "people")
    assert not pattern.exists()
    table.save(tmp_path / "plain" / "people")
    (tmp_path / "plain").rename(pattern)
    with pytest.raises(InvalidInput, match="patterns"):
        Table.open(pattern / "people")
    monkeypatch.setattr("tempfile.tempdir", str(pattern))
    with pytest.raises(InvalidInput, match="patterns"):
        people()


def test_a_snapshot_is_the_same_after_the_process_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = people()
    table.save("people")
    opened = Table.open("people")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    same(opened, table)


def test_another_snapshot_at_the_same_path_does_not_answer(tmp_path: Path) -> None:
    """A folder that is removed and prepared anew has other rows, of which the digest that was verified says nothing."""
    asked, waiting = (Table.open(people().save(tmp_path / name)) for name in ("asked", "waiting"))
    expected = answers(asked)
    for name, table in (("asked", asked), ("waiting", waiting)):
        shutil.rmtree(tmp_path / name)
        with pytest.raises(UnreadableData, match="not the file that was opened"):
            Count().measure(table)
        anew = people(bad_cells="missing").save(tmp_path / name)
        with pytest.raises(UnreadableData, match="not the file that was opened"):
            Count().measure(table)
        assert answers(Table.open(anew)) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_can_ask_what_its_parent_has_asked() -> None:
    """Engines run in threads, which a fork leaves behind: an inherited connection would wait for ever."""
    code = (
        "import os, signal, pyarrow as pa\n"
        "from optcomp.statistics import Integers, Sum, Table\n"
        "table = Table(pa.table({'x': pa.array([1] * 300_000)}), {'x': Integers(0, 3)})\n"
        "assert Sum('x').measure(table) == ((300_000,),)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    signal.alarm(120)\n"
        "    os._exit(0 if Sum('x').measure(table) == ((300_000,),) else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert Sum('x').measure(table) == ((300_000,),)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=300)


def test_a_link_may_go_elsewhere_and_an_open_snapshot_stays(tmp_path: Path) -> None:
    """Such as one named `current`; and `..` behind a link is where the system says, not where the text says."""
    table, other = people(), Table(pa.table({"x": [1]}), {"x": Integers(0, 1)})
    table.save(tmp_path / "deep" / "er" / "people")
    (tmp_path / "current").symlink_to(tmp_path / "deep" / "er")
    opened = [Table.open(tmp_path / "current" / "people"), Table.open(tmp_path / "current" / ".." / "er" / "people")]
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to(other.save(tmp_path / "other" / "people").parent)
    for each in opened:
        same(each, table)


@pytest.mark.slow
def test_what_does_not_fit_into_memory_goes_where_nobody_else_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default DuckDB would write it into the folder that the process is in."""
    monkeypatch.chdir(tmp_path)
    table = Table.open(people().save(tmp_path / "people"), memory="60MB")
    once = f"(SELECT count(*) AS c FROM {VIEW}) AS once"
    wide = f"SELECT n, min(md5(n::VARCHAR)) AS m FROM range(1000000) AS r(n), {once} GROUP BY n"
    asked = "current_setting('temp_directory'), current_setting('allowed_directories')"
    ((count, folder, allowed),) = table.run(f"SELECT count(m), {asked} FROM ({wide} ORDER BY m)")
    assert count == 1_000_000
    assert [os.path.realpath(each) for each in allowed] == [os.path.realpath(folder)]
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert sorted(each.name for each in tmp_path.iterdir()) == ["people"]
    del table
    gc.collect()
    assert not Path(folder).exists()
