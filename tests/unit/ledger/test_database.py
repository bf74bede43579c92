"""The database under a ledger: durable, one process each, the right file, and the right version."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from optcomp import InvalidInput
from optcomp.interactive import SumFilter
from optcomp.ledger import Ledger, LedgerCopied
from optcomp.ledger.database import LOCK
from optcomp.ledger.schema import FACTS, VERSION
from optcomp.statistics import Count
from tests.unit.ledger.people import kinds, people, spent

Place = tuple[str, Path]
ROOT = Path(__file__).parents[3]


def asked(ledger: Ledger, *questions: str) -> list[Any]:
    """What the database answers, in a transaction of the ledger's own."""
    with ledger._books.database.read() as connection:
        return [connection.exec_driver_sql(question).scalar() for question in questions]


def test_commits_are_durable(ledger_place: Place) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        if ledger._books.database.sqlite:
            pragmas = asked(ledger, "PRAGMA journal_mode", "PRAGMA synchronous", "PRAGMA foreign_keys")
            assert pragmas == ["wal", 2, 1]
        else:
            assert asked(ledger, "SHOW synchronous_commit", "SHOW fsync") == ["on", "on"]


def test_a_write_has_the_lock_from_its_first_statement(ledger_place: Place) -> None:
    """While one writes, another one cannot even begin to."""
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger, ledger._books.writing():
        if ledger._books.database.sqlite:
            with (
                closing(sqlite3.connect(ledger_place[0], timeout=0.05)) as other,
                pytest.raises(sqlite3.OperationalError),
            ):
                other.execute("BEGIN IMMEDIATE")
        else:
            import psycopg

            with psycopg.connect(ledger_place[0]) as other:
                taken = other.execute(f"SELECT pg_try_advisory_xact_lock({LOCK})").fetchone()
            assert taken == (False,)


def test_an_error_takes_a_write_back(ledger_place: Place) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        head = ledger.head
        with suppress(ZeroDivisionError), ledger._books.writing() as writing:
            writing.append("cap", None, {})
            writing.connection.execute(update(FACTS).values(sequence=99))
            raise ZeroDivisionError
        assert writing.sequence == head.sequence + 1
        assert ledger.head == head


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        private = tmp_path / "a.ledger.private"
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a.ledger", *private.iterdir())}
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
        assert modes == {"a.ledger": 0o600, "keys.json": 0o600, "anchor": 0o600}
        assert repr(ledger) == f"Ledger({str(tmp_path / 'a.ledger')!r})"


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is not a database, but it is long enough\n")
    (tmp_path / "folder").mkdir()
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("CREATE TABLE people (age INTEGER)")
    for address in (tmp_path / "text", tmp_path / "folder", tmp_path / "other", tmp_path / "missing" / "a.ledger", ""):
        with pytest.raises(InvalidInput, match="ledger"):
            Ledger(address)
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        assert [name for (name,) in other.execute("SELECT name FROM sqlite_master")] == ["people"]
    with pytest.raises(InvalidInput, match="does not exist"):
        Ledger(tmp_path / "new", create=False)
    assert not (tmp_path / "new").exists()
    for strange in ("mysql://somebody:secret@host/base", "postgresql://somebody:secret@:x:/", 7, b"path", "a\0b"):
        with pytest.raises(InvalidInput) as refusal:
            Ledger(strange)  # type: ignore[arg-type]
        assert "secret" not in str(refusal.value)


def test_a_server_that_does_not_answer_is_told_without_its_password() -> None:
    with pytest.raises(InvalidInput, match="cannot be used now") as refusal:
        Ledger("postgresql://ada:secret@127.0.0.1:1/people")
    assert "secret" not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_a_newer_version_is_refused(ledger_place: Place) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger, ledger._books.writing() as writing:
        writing.connection.exec_driver_sql(f"UPDATE facts SET version = {VERSION + 1}")
    with pytest.raises(InvalidInput, match=f"has a version that this program does not know; it knows {VERSION}"):
        Ledger(ledger_place[0], private=ledger_place[1])


def test_the_database_refuses_more_than_the_cap(ledger_place: Place) -> None:
    """Whatever a program writes: the guard is checked by the database itself."""
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        ledger.open("people", SumFilter(1))
        with pytest.raises(Exception, match=r"(?i)check"), ledger._books.writing() as writing:
            writing.connection.exec_driver_sql(f"UPDATE holders SET guard = {2**62 + 1}")


FORK = """
import os, sys
from optcomp.ledger import Ledger
from optcomp.interactive import SumFilter
ledger = Ledger(sys.argv[1], private=sys.argv[2])
account = ledger.open("people", SumFilter(1))
def tried(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"
child = os.fork()
if child == 0:
    ended = [tried(lambda: ledger.head), tried(lambda: account.budget), tried(lambda: account.cut({"a": 1}, delta=0))]
    print(*ended, flush=True)
    ledger.close()
    os._exit(0)
os.waitpid(child, 0)
account.cut({"a": 1}, delta=0)
print(account.budget.spent.epsilon)
ledger.close()
"""


def test_a_fork_has_no_ledger(ledger_place: Place) -> None:
    command = [sys.executable, "-c", FORK, ledger_place[0], str(ledger_place[1])]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert found == ["CannotBeShared"] * 3 + ["1"]


def test_a_file_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    Ledger(path).close()
    path.unlink()
    with pytest.raises(InvalidInput, match="is gone, but its private folder is here"):
        Ledger(path)


def test_an_anchor_that_is_gone_makes_a_copy(ledger_place: Place) -> None:
    address, private = ledger_place
    with Ledger(address, private=private) as ledger:
        session = ledger.open("people", SumFilter(1)).session(people(), SumFilter(1))
        answer = session.ask(Count(), epsilon="0.1")
    (private / "anchor").unlink()
    with Ledger(address, private=private) as ledger:
        assert ledger.doubt is not None
        session = ledger.account("people").session(people(), SumFilter(1))
        assert session.ask(Count(), epsilon="0.1") == answer
        with pytest.raises(LedgerCopied, match="there is no anchor"):
            session.ask(Count(), epsilon="0.2")
        assert 10 * spent(session) == 1
        assert kinds(ledger)[-1] == "answered"
