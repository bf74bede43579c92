"""Tables that share a connection are read in turns, and asked from whatever thread."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest

from optcomp.errors import UnreadableData
from optcomp.interactive import Session, SumFilter
from optcomp.statistics import Categories, Count, Histogram, Integers, Sum, Table
from optcomp.statistics.engines import connection_lock


def take_turns(tables: Sequence[Table], rounds: int = 25) -> None:
    """Every table is asked from a thread of its own, all at once; nothing fails, and nothing is mixed up."""
    expected = [(Count().measure(table), Sum("x").measure(table)) for table in tables]
    barrier = threading.Barrier(len(tables))

    def work(table: Table) -> list[Any]:
        barrier.wait()
        return [(Count().measure(table), Sum("x").measure(table)) for _ in range(rounds)]

    with ThreadPoolExecutor(len(tables)) as pool:
        for found, wanted in zip(pool.map(work, tables), expected, strict=True):
            assert found == [wanted] * rounds


@pytest.fixture
def connection() -> Any:
    found = ibis.duckdb.connect()
    found.create_table("people", pa.table({"x": list(range(100))}))
    return found


def test_tables_on_one_connection(connection: Any) -> None:
    take_turns([Table(connection.table("people"), {"x": Integers(0, 50 + i)}) for i in range(4)])


def test_snapshots_on_one_connection(connection: Any, tmp_path: Path) -> None:
    tables = [Table(connection.table("people"), {"x": Integers(0, 50 + i)}) for i in range(4)]
    paths = [table.save(tmp_path / str(i), connection=connection) for i, table in enumerate(tables)]
    take_turns([Table.open(path, connection=connection) for path in paths])


def test_tables_are_read_in_turns_on_one_connection(connection: Any) -> None:
    """Larger than a batch, so that two readers would get in each other's way."""
    connection.con.execute("CREATE TABLE crowd AS SELECT i % 7 AS x, i // 2 AS who FROM range(300000) t(i)")
    relation, expected = connection.table("crowd"), sum(i % 7 for i in range(300_000))

    def read(number: int) -> Any:
        people: dict[str, Any] = {"person": "who", "rows_per_person": 2} if number % 2 else {}
        return Sum("x").measure(Table(relation, {"x": Integers(0, 6 + number)}, **people))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(4))) == [((expected,),)] * 4


def test_a_table_that_cannot_be_read_gives_its_connection_back(connection: Any) -> None:
    connection.con.execute("CREATE TABLE words AS SELECT 'x' AS x, CAST(18446744073709551615 AS UBIGINT) AS who")
    ways: list[dict[str, Any]] = [{}, {"person": "who"}]
    for people in ways:
        with pytest.raises(UnreadableData) as caught:
            Table(connection.table("words"), {"x": Integers(0, 9)}, **people)
        assert connection_lock(connection).acquire(blocking=False), caught
        connection_lock(connection).release()
    assert Count().measure(Table(connection.table("people"), {"x": Integers(0, 9)})) == ((100,),)


@pytest.mark.parametrize("people", [{}, {"person": "who", "rows_per_person": 2}], ids=["rows", "people"])
def test_sqlite_is_read_at_once_and_asked_from_any_thread(people: dict[str, Any]) -> None:
    """Cell by cell: a missing one makes no floats of the integers beside it; and text may be hostile."""
    low, source = 2**60, ibis.sqlite.connect()
    cells: list[Any] = [low + 1, None, low + 3, 2.0**60, str(low + 2), "x", b"\xff", " ", 1e999, "nan"]
    source.con.execute("CREATE TABLE people (who, x, word)")
    rows = [(i // 2, cell, cell) for i, cell in enumerate(cells)]
    source.con.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    columns = {"x": Integers(low, low + 4), "word": Categories(["x", str(low + 1)])}
    with pytest.raises(UnreadableData):
        Table(source.table("people"), columns, **people)
    table = Table(source.table("people"), columns, bad_cells="missing", **people)
    source.con.execute("DELETE FROM people")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(Histogram("x").measure, table).result() == ((1, 1, 1, 1, 1, 5),)
        assert pool.submit(Histogram("word").measure, table).result()[0][:2] == (1, 1)
    assert Count().measure(table) == ((len(cells),),)


def test_backends_on_one_connection(connection: Any) -> None:
    others = [connection, *(ibis.duckdb.from_connection(connection.con) for _ in range(3))]
    assert len({id(connection_lock(other)) for other in others}) == 1
    take_turns([Table(other.table("people"), {"x": Integers(0, 50 + i)}) for i, other in enumerate(others)])
    assert connection_lock(ibis.duckdb.connect()) is not connection_lock(connection)


@pytest.mark.slow_cases("40")
@pytest.mark.parametrize("tables", [10, 40])
def test_tables_are_opened_while_others_are_asked(connection: Any, tables: int) -> None:
    """At least so many, and until another one was asked twice meanwhile."""
    relation, asked, done = connection.table("people"), list[int](), threading.Event()
    first = Table(relation, {"x": Integers(0, 9)})

    def ask() -> None:
        while not done.is_set():
            assert Count().measure(first) == ((100,),)
            asked.append(1)

    with ThreadPoolExecutor(1) as pool:
        asking, opened = pool.submit(ask), 0
        try:
            while (opened < tables or len(asked) < 2) and not asking.done():
                opened += 1
                high = 1 + opened % 40
                total = sum(min(x, high) for x in range(100))
                assert Sum("x").measure(Table(relation, {"x": Integers(0, high)})) == ((total,),)
                assert opened < 5000, "no table was asked twice while 5,000 others were opened"
        finally:
            done.set()
        asking.result()


def test_no_session_pays_for_the_queries_of_another(connection: Any) -> None:
    sessions = [Session(Table(connection.table("people"), {"x": Integers(0, 9)}), SumFilter(100)) for _ in range(4)]

    def ask(session: Session) -> None:
        for _ in range(25):
            session.ask(Count(), epsilon=1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, sessions))
    assert {entry.outcome for session in sessions for entry in session.transcript} == {"answered"}
