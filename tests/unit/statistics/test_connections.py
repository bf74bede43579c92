"""Tables that share a connection take turns, from whatever thread they are asked."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ibis
import pyarrow as pa
import pytest

from optcomp.interactive import Session, SumFilter
from optcomp.statistics import Count, Integers, Sum, Table
from optcomp.statistics.sources import connection_lock


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


def test_backends_on_one_connection(connection: Any) -> None:
    others = [connection, *(ibis.duckdb.from_connection(connection.con) for _ in range(3))]
    assert len({id(connection_lock(other)) for other in others}) == 1
    take_turns([Table(other.table("people"), {"x": Integers(0, 50 + i)}) for i, other in enumerate(others)])
    assert connection_lock(ibis.duckdb.connect()) is not connection_lock(connection)


def test_tables_are_opened_while_others_are_asked(connection: Any) -> None:
    relation, done = connection.table("people"), threading.Event()
    first = Table(relation, {"x": Integers(0, 9)})

    def ask() -> int:
        asked = 0
        while not done.is_set():
            assert Count().measure(first) == ((100,),)
            asked += 1
        return asked

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        try:
            for high in range(1, 40):
                total = sum(min(x, high) for x in range(100))
                assert Sum("x").measure(Table(relation, {"x": Integers(0, high)})) == ((total,),)
        finally:
            done.set()
        assert asking.result() > 1


def test_no_session_pays_for_the_queries_of_another(connection: Any) -> None:
    sessions = [Session(Table(connection.table("people"), {"x": Integers(0, 9)}), SumFilter(100)) for _ in range(4)]

    def ask(session: Session) -> None:
        for _ in range(25):
            session.ask(Count(), epsilon=1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, sessions))
    assert {entry.outcome for session in sessions for entry in session.transcript} == {"answered"}
