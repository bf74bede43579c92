"""Statements that go to the driver as they are, and what PostgreSQL is told about commits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, bindparam, insert, select, text
from sqlalchemy.exc import IntegrityError

from optcomp.errors import InvalidInput
from optcomp.ledger.database import Database, Statement, run_together
from tests.servers import postgres_address

_ALL = MetaData()
_THINGS = Table("things", _ALL, Column("id", Integer, primary_key=True), Column("key", Text))
_PUT = Statement(insert(_THINGS).returning(_THINGS.c.id))
_GET = Statement(select(_THINGS.c.id, _THINGS.c.key).where(_THINGS.c.key == bindparam("key")))
_WRONG = Statement(text("SELECT secret FROM nowhere"))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    if request.param == "sqlite":
        yield _made(tmp_path_factory.mktemp("ledger") / "things.db")
        return
    with postgres_address() as address:
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
    with database.write() as connection:
        assert _PUT.run(connection, {"id": 10, "key": key}).fetchall() == [(10,)]
        assert database.row(_GET, {"key": key}) is None
    assert database.row(_GET, {"key": key}) == (10, key)


def test_statements_that_are_run_together_each_have_their_rows(database: Database) -> None:
    runs = [(_PUT, {"id": 20 + place, "key": f"together {place}"}) for place in range(3)]
    with database.write() as connection:
        found = run_together(connection, [*runs, (_GET, {"key": "together 1"})])
        assert [each.fetchone() for each in found] == [(20,), (21,), (22,), (21, "together 1")]
    with pytest.raises(IntegrityError):
        _put_together(database, [*runs[:1], *runs[:1]])
    assert database.row(_GET, {"key": "together 2"}) == (22, "together 2")


def _put_together(database: Database, runs: list[tuple[Statement, dict[str, object]]]) -> None:
    with database.write() as connection:
        run_together(connection, runs)


def test_a_number_that_is_taken_is_told_as_sqlalchemy_tells_it_and_nothing_is_kept(database: Database) -> None:
    with pytest.raises(IntegrityError):
        _put_twice(database)
    assert database.row(_GET, {"key": "first"}) is None


def _put_twice(database: Database) -> None:
    with database.write() as connection:
        for key in ("first", "second"):
            _PUT.run(connection, {"id": 1, "key": key})


def test_an_error_of_the_driver_is_told_by_its_type_alone(database: Database) -> None:
    with pytest.raises(InvalidInput, match="cannot be used now") as told:
        database.row(_WRONG, {})
    assert "secret" not in str(told.value)
    with pytest.raises(InvalidInput, match="cannot be used now"), database.write() as connection:
        _WRONG.run(connection)


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
