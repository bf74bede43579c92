"""Statements that go to the driver as they are, and what PostgreSQL is told about commits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, bindparam, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from optcomp.errors import InvalidInput
from optcomp.ledger.database import Database
from optcomp.ledger.transactions import Overtaken, Run, Statement
from tests.servers import empty_database, postgres_address

_ALL = MetaData()
_THINGS = Table("things", _ALL, Column("id", Integer, primary_key=True), Column("key", Text))
_PUT = Statement(insert(_THINGS).returning(_THINGS.c.id), returns=True)
_COUNT = Statement(select(func.count()).select_from(_THINGS))
_RENAME = Statement(
    update(_THINGS).where(_THINGS.c.key == bindparam("known")).values(key=bindparam("new")), changes_one=True
)
_GET = Statement(select(_THINGS.c.id, _THINGS.c.key).where(_THINGS.c.key == bindparam("key")))
_WRONG = Statement(text("SELECT secret FROM nowhere"))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    if request.param == "sqlite":
        made = _made(tmp_path_factory.mktemp("ledger") / "things.db")
    else:
        address: str = request.getfixturevalue("postgres_database")
        empty_database(address)
        made = _made(address)
    yield made
    made.close()


def _made(address: str | Path) -> Database:
    made = Database(address, create=True)
    with made.write() as connection:
        _ALL.create_all(connection)
    return made


def test_what_was_written_is_read_by_another_connection(database: Database) -> None:
    key = "it's %s :key"
    with database.transaction() as transaction:
        assert transaction.run([(_PUT, {"id": 10, "key": key})]) == [(10,)]
        assert database.row(_GET, {"key": key}) is None
    assert database.row(_GET, {"key": key}) == (10, key)


def test_a_transaction_begins_with_its_reads(database: Database) -> None:
    reads: list[Run] = [(_GET, {"key": "begun"}), (_COUNT, {})]
    with database.transaction(reads) as transaction:
        nothing, (before,) = transaction.first  # type: ignore[misc]
        assert nothing is None
        transaction.finish([(_PUT, {"id": 15, "key": "begun"})])
    with database.transaction(reads) as transaction:
        assert transaction.first == [(15, "begun"), (before + 1,)]


def test_statements_that_are_run_together_each_tell_what_they_return(database: Database) -> None:
    runs: list[Run] = [(_PUT, {"id": 20 + place, "key": f"together {place}"}) for place in range(3)]
    with database.transaction() as transaction:
        assert transaction.finish(runs) == [(20,), (21,), (22,)]
    with pytest.raises(IntegrityError):
        _finish(database, [*runs[:1], *runs[:1]])
    assert database.row(_GET, {"key": "together 2"}) == (22, "together 2")


def test_a_write_may_have_thousands_of_statements(database: Database) -> None:
    runs: list[Run] = [(_PUT, {"id": 10_000 + place, "key": f"many {place}"}) for place in range(3_000)]
    with database.transaction() as transaction:
        assert transaction.finish(runs) == [(10_000 + place,) for place in range(3_000)]
    with pytest.raises(IntegrityError):
        _finish(database, [(_PUT, {"id": 20_000 + place % 999, "key": "twice"}) for place in range(1_000)])
    assert database.row(_GET, {"key": "twice"}) is None


def _finish(database: Database, runs: list[Run]) -> None:
    with database.transaction() as transaction:
        transaction.finish(runs)


def _fail_after(database: Database, runs: list[Run]) -> None:
    with database.transaction() as transaction:
        transaction.finish(runs)
        raise ZeroDivisionError


@pytest.mark.parametrize("last", [False, True])
def test_a_change_that_changes_nothing_takes_everything_back(database: Database, *, last: bool) -> None:
    put: Run = _PUT, {"id": 30 + last, "key": "overtaken"}
    rename: Run = _RENAME, {"known": "nobody's", "new": "mine"}
    with pytest.raises(Overtaken):
        _finish(database, [put, rename] if last else [rename, put])
    assert database.row(_GET, {"key": "overtaken"}) is None
    _finish(database, [(_PUT, {"id": 32 + last, "key": f"nobody's {last}"})])
    _finish(database, [(_RENAME, {"known": f"nobody's {last}", "new": f"mine {last}"})])
    assert database.row(_GET, {"key": f"mine {last}"}) == (32 + last, f"mine {last}")


def test_what_is_finished_is_there_although_the_block_fails_afterwards(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        _fail_after(database, [(_PUT, {"id": 40, "key": "finished"})])
    assert database.row(_GET, {"key": "finished"}) == (40, "finished")


def test_a_number_that_is_taken_is_told_as_sqlalchemy_tells_it_and_nothing_is_kept(database: Database) -> None:
    with pytest.raises(IntegrityError):
        _put_twice(database)
    assert database.row(_GET, {"key": "first"}) is None


def _put_twice(database: Database) -> None:
    with database.transaction() as transaction:
        for key in ("first", "second"):
            transaction.run([(_PUT, {"id": 1, "key": key})])


def test_an_error_of_the_driver_is_told_by_its_type_alone(database: Database) -> None:
    with pytest.raises(InvalidInput, match="cannot be used now") as told:
        database.row(_WRONG, {})
    assert "secret" not in str(told.value)
    with pytest.raises(InvalidInput, match="cannot be used now"), database.transaction() as transaction:
        transaction.run([(_WRONG, {})])
    with pytest.raises(InvalidInput, match="cannot be used now"), database.transaction([(_WRONG, {})]):
        pass


def test_writers_take_turns(database: Database) -> None:
    _take_turns(database, 1000)


def _take_turns(database: Database, first: int) -> None:
    def add(_: int) -> None:
        with database.transaction([(_COUNT, {})]) as transaction:
            (found,) = transaction.first[0] or ()
            time.sleep(0.001)
            transaction.finish([(_PUT, {"id": first + found, "key": "in turn"})])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))


def test_a_write_sees_what_was_written_while_it_waited() -> None:
    """Whatever the server's own default is: a snapshot from before the lock would be too old."""
    with postgres_address() as address:
        first = _made(address)
        with first.write() as connection:
            stricter = "SET default_transaction_isolation = 'serializable'"
            connection.exec_driver_sql(f'ALTER DATABASE "{first.url.database}" {stricter}')
        first.close()
        other = Database(address, create=False)
        try:
            _take_turns(other, 3000)
        finally:
            other.close()


def test_every_commit_is_waited_for(database: Database) -> None:
    if database.sqlite:
        with database.write() as connection:
            assert connection.scalar(text("PRAGMA synchronous")) == 2
            assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
        return
    with database.write() as connection:
        shown = [connection.scalar(text(f"SHOW {name}")) for name in ("synchronous_commit", "fsync")]
    with database.read() as connection:
        shown.append(connection.scalar(text("SHOW transaction_isolation")))
    assert shown == ["on", "on", "repeatable read"]
