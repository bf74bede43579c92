"""PostgreSQL, a real server from a wheel: the same snapshots and integers as the engine that is shipped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pytest

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.statistics import Categories, Count, Histogram, Integers, Mean, Median, Reals, Sum, Table, Variance
from tests import servers
from tests.unit.statistics import engines
from tests.unit.statistics.engines import COLUMNS
from tests.unit.statistics.test_connections import take_turns


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server of its own."""
    with servers.postgres() as connection:
        yield connection


def filled(server: Any, name: str, types: str, rows: list[tuple[Any, ...]]) -> Any:
    places = ", ".join(["%s"] * len(rows[0]))
    with server.con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({types})")
        cursor.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
    server.con.commit()
    return server.table(name)


def test_postgres_gives_the_same_snapshot_and_never_raises(server: Any) -> None:
    types = 'who bigint, r double precision, f real, i bigint, "Te xt" text, n text, b boolean'
    engines.check(filled(server, "people", types, engines.ROWS))


def test_tables_on_one_connection_take_turns(server: Any, tmp_path: Path) -> None:
    relation = filled(server, "crowd", "x bigint", [(i,) for i in range(100)])
    tables = [Table(relation, {"x": Integers(0, 50 + i)}) for i in range(3)]
    take_turns(tables)
    paths = [table.save(tmp_path / str(i), connection=server) for i, table in enumerate(tables)]
    take_turns([Table.open(path, connection=server) for path in paths])


def test_decimals_of_any_size_are_numbers(server: Any) -> None:
    """But for those beyond floats, which cannot be read."""
    cells = ["1.25", "NaN", "Infinity", "-Infinity", "1e300", "-1e300", "1e-400", "2", None, "0." + "0" * 500 + "1"]
    relation = filled(server, "decimals", "x numeric, y numeric(8, 2)", [(cell, "1.5") for cell in cells])
    table = Table(relation, {"x": Reals(0, 3, unit="1/4"), "y": Categories([1, 2])})
    assert Mean("x").measure(table) == ((8,), (5 + 12 + 12 + 8 - 8 * 6,))
    assert Histogram("y").measure(table) == ((0, 0, 10),)
    assert Histogram("x").measure(Table(relation, {"x": Categories([2])})) == ((1, 9),)
    far = filled(server, "far", "x numeric", [("1e400",), ("-1e400",), ("1",)])
    with pytest.raises(UnreadableData, match="a number beyond the range of floats") as caught:
        Table(far, {"x": Reals(0, 3)})
    assert caught.value.count == 2
    assert Sum("x").measure(Table(far, {"x": Reals(0, 3, unit=1)}, bad_cells="missing")) == ((1,),)


def test_texts_that_are_no_numbers_are_missing(server: Any) -> None:
    numbers = {"1": 1, "1e1": 5, "+2.": 2, " .5 ": 1, "-3": -3, "1e99": 5, "0" * 190 + "4": 4, "1e-400": 0, "-inf": -5}
    missing = ["", "NaN", None]
    others = ["1e400", "1e999999", "9" * 400, "x", "1,5", "1_0", "0x1", "--1", "1\n2", "é", "1'", "x" * 5000]
    rows = [(cell,) for cell in (*numbers, *missing, *others)]
    relation = filled(server, "texts", "x text", rows)
    with pytest.raises(UnreadableData) as caught:
        Table(relation, {"x": Integers(-5, 5)})
    assert caught.value.count == len(others)
    table = Table(relation, {"x": Integers(-5, 5)}, bad_cells="missing")
    assert Mean("x").measure(table) == ((len(numbers),), (sum(numbers.values()),))
    keys = Table(relation, {"x": Categories([1, 2, -3, 10])}, bad_cells="missing")
    assert Histogram("x").measure(keys) == ((1, 1, 1, 1, len(rows) - 4),)
    truths = Table(relation, {"x": Categories([True, False])}, bad_cells="missing")
    assert Histogram("x").measure(truths) == ((1, 0, len(rows) - 1),)
    words = Table(relation, {"x": Categories(["1\n2", "é"])}, bad_cells="missing")
    assert Count(where="x == '1\\n2'").measure(words) == ((1,),)


def test_large_integers_next_to_nulls_stay_exact(server: Any) -> None:
    """Cells and results must not pass through floats."""
    low = 2**60 + 1
    relation = filled(server, "large", "x bigint", [(low,), (low + 1,), (low + 1,), (None,), (low + 9,)])
    table = Table(relation, {"x": Integers(low, low + 3)})
    assert Histogram("x").measure(table) == ((1, 2, 0, 1, 1),)
    assert Median("x").measure(table) == ((-2, 0, -2, -2),)
    many = Table(relation, {"x": Integers(0, 2**22)})
    assert Sum("x").measure(many) == ((4 * 2**22,),)
    assert Variance("x").measure(many)[0] == (4,)


def test_postgres_keeps_snapshots(server: Any, tmp_path: Path) -> None:
    engines.check_kept(server, tmp_path)
    table = engines.prepared(engines.plain(), engines.PEOPLE[1])
    path = table.save(tmp_path / "tampered", connection=server)
    engines.check_tampered(table, path, server, lambda name: done(server, f"DELETE FROM {name} WHERE c5 = 0"))


def test_a_question_can_change_nothing(server: Any, tmp_path: Path) -> None:
    """Not even on the connection of the owner, with or without a transaction under way."""
    table = engines.prepared(engines.plain(), {})
    path = table.save(tmp_path / "snapshot", connection=server)
    opened = Table.open(path, connection=server)
    name = json.loads((path / "declaration.json").read_text())["rows"]["table"]
    for _ in range(2):
        with pytest.raises(Exception, match="cannot execute DELETE in a read-only transaction"):
            opened.run(f"DELETE FROM {name} RETURNING c0")
        assert Count().measure(opened) == Count().measure(table)
        server.con.execute("SELECT 1")
    done(server, f"DELETE FROM {name}")
    assert Count().measure(opened) == ((0,),)


def done(server: Any, *statements: str) -> None:
    with server.con.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
    server.con.commit()


def test_a_role_that_may_only_read_opens_and_asks(server: Any, tmp_path: Path) -> None:
    """And can change nothing; a row outside its range is refused whoever writes it."""
    table = engines.prepared(engines.plain(), engines.PEOPLE[1])
    path = table.save(tmp_path / "snapshot", connection=server)
    name = json.loads((path / "declaration.json").read_text())["rows"]["table"]
    server.con.commit()
    info = server.con.info
    done(server, "CREATE ROLE reader LOGIN")
    reader = ibis.postgres.connect(user="reader", host=info.host, database=info.dbname)
    with pytest.raises(UnreadableData, match="its rows cannot be read"):  # not allowed to, yet
        Table.open(path, connection=reader)
    done(server, f"GRANT SELECT ON {name} TO reader")
    opened = Table.open(path, connection=reader)
    for statistic in engines.STATISTICS:
        assert statistic.measure(opened) == statistic.measure(table), statistic
    for change in (f"DELETE FROM {name}", f"UPDATE {name} SET c0 = 1", f"DROP TABLE {name}"):
        with pytest.raises(Exception, match=r"permission denied|must be owner"):
            done(reader, change)
        reader.con.rollback()
    reader.disconnect()
    tops = {"c0": COLUMNS["r"].top, "c2": COLUMNS["i"].top, "c3": COLUMNS["Te xt"].top, "person": 2**60 - 1}
    for column, top in tops.items():
        for wrong in (top + 1, -1):
            with pytest.raises(Exception, match="violates check constraint"):
                done(server, f"UPDATE {name} SET {column} = {wrong}")
            server.con.rollback()
        done(server, f"INSERT INTO {name} ({column}) VALUES ({top})", f"INSERT INTO {name} ({column}) VALUES (NULL)")


def test_a_save_that_fails_leaves_no_table(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tables() -> list[Any]:
        with server.con.cursor() as cursor:
            return list(cursor.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'optcomp%'").fetchall())

    before, table = tables(), engines.prepared(engines.plain(), {})

    def fail(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(InvalidInput, match=r"^path: cannot be written \(no\)"):
        table.save(tmp_path / "snapshot", connection=server)
    assert tables() == before
    assert list(tmp_path.iterdir()) == []


def test_a_byte_order_mark_in_the_first_cell_is_a_letter(server: Any) -> None:
    relation = filled(server, "marks", "x text", [("\ufeffa",), ("a",), ("\ufeffa",), (None,), ("",)])
    table = Table(relation, {"x": Categories(["a", "\ufeffa"])})
    assert Histogram("x").measure(table) == ((1, 2, 2),)
    assert Count("x is None").measure(table) == ((2,),)


def test_rows_of_many_long_cells_are_read(server: Any) -> None:
    """Wider than what a reader looks at by default."""
    names = [f"t{i}" for i in range(700)]
    long, short = ([f"{cell} AS {name}" for name in names] for cell in ("repeat('☃', 5000)", "'a'"))
    relation = server.sql(f"SELECT {', '.join([*long[:-1], short[-1]])} UNION ALL SELECT {', '.join(short)}")
    table = Table(relation, dict.fromkeys(names, Categories(["a"])), bad_cells="missing")
    assert Histogram("t0").measure(table) == ((1, 1),)
    assert Histogram("t699").measure(table) == ((2, 0),)
