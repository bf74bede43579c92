"""Copies of a ledger, made as people make them, beside real processes: none spends twice unnoticed.

Each program is a process of its own; most are forked from one that has imported everything and opened nothing.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests import servers
from tests.system.campaigns import ROOT
from tests.system.programs import Programs

pytestmark = pytest.mark.slow

START = """
import json, os, shutil, sys, time
from pathlib import Path
from optcomp import CannotBeShared
from optcomp.interactive import SparseVector, SumFilter
from optcomp.ledger import Ledger, LedgerCopied
from optcomp.statistics import Count, Integers, Table

home = Path(sys.argv[1])
ledger = home / "people.ledger"

def opened(path=ledger, snapshot=home / "people"):
    account = Ledger(path).open("people", SumFilter("2"))
    return account, account.session(Table.open(snapshot), SumFilter("1"), name="ada")

def told(answer):
    return json.dumps(answer.document(), sort_keys=True)
"""
"""What every program begins with."""
MODULES = (
    *("cryptography.fernet", "duckdb", "ibis", "ibis.backends.duckdb", "ibis.backends.sql.compilers.duckdb"),
    *("opendp.prelude", "optcomp.statistics.noise", "pandas", "polars", "psycopg", "pyarrow.csv", "pyarrow.compute"),
    *("pyarrow.pandas_compat", "pyarrow.parquet", "_strptime"),
)
"""What programs import later."""
Run = Callable[..., str]

FIRST = """
rows = home / "people.csv"
rows.write_text("age\\n" + "".join(f"{20 + n % 50}\\n" for n in range(60)))
Table(rows, {"age": Integers(0, 110)}).save(home / "people")
account, session = opened()
print(told(session.ask(Count(), epsilon="0.1", key="first")))
run = session.open(SparseVector(10, epsilon="0.2", positives=9), key="above")
print(run.ask(Count("age > 60"), key="one"))
session.close()
"""
"""A ledger with an answer and a mechanism."""

AGAIN = """
account, session = opened(Path(sys.argv[2]))
print(told(session.ask(Count(), epsilon="0.1", key="first")))
before = session.budget
for ask in (
    lambda: session.ask(Count("age > 30"), epsilon="0.1", key="second"),
    lambda: session.open(SparseVector(10, epsilon="0.2", positives=9), key="another"),
    lambda: session.open(SparseVector(10, epsilon="0.2", positives=9), key="above").ask(Count("age > 25"), key="two"),
    lambda: session.delegate(SumFilter("0.1"), name="bob"),
    lambda: account.cut({"a": "0.1"}, delta=0),
    lambda: account.session(session.table, SumFilter("0.1"), name="eve"),
):
    try:
        ask()
    except LedgerCopied as error:
        assert error.reason
    else:
        sys.exit("spent from a copy")
assert session.budget == before
mechanism = session.open(SparseVector(10, epsilon="0.2", positives=9), key="above")
print(mechanism.ask(Count("age > 60"), key="one"))
"""
"""A copy: what is stored is told, and nothing else."""

SPEND = """
account, session = opened()
session.ask(Count("age > 40"), epsilon="0.1", key="later")
session.close()
"""


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    with Programs(imports=START.partition("\n\n")[0], modules=MODULES) as found:
        yield found


@pytest.fixture
def run(programs: Programs) -> Run:
    """Run a program in a process of its own; what it printed."""

    def ran(home: Path, body: str, *arguments: str) -> str:
        return programs.run(START + textwrap.dedent(body), str(home), *arguments)

    return ran


@pytest.fixture
def answer(run: Run, tmp_path: Path) -> str:
    """A ledger is there; the first answer of it."""
    return run(tmp_path, FIRST)


def test_the_original_goes_on(run: Run, tmp_path: Path, answer: str) -> None:
    run(tmp_path, SPEND)
    again = run(tmp_path, 'print(told(opened()[1].ask(Count(), epsilon="0.1", key="first")))')
    assert again == answer.splitlines(keepends=True)[0]


def test_a_copied_file(run: Run, tmp_path: Path, answer: str) -> None:
    copy = tmp_path / "copy.ledger"
    shutil.copy(tmp_path / "people.ledger", copy)
    shutil.copytree(tmp_path / "people.ledger.private", tmp_path / "copy.ledger.private")
    assert run(tmp_path, AGAIN, str(copy)) == answer


def test_a_copied_file_in_the_place_of_the_original(run: Run, tmp_path: Path, answer: str) -> None:
    ledger, copy = tmp_path / "people.ledger", tmp_path / "copy.ledger"
    shutil.copy(ledger, copy)
    copy.replace(ledger)
    assert run(tmp_path, AGAIN, str(ledger)) == answer


def test_a_restored_backup(run: Run, tmp_path: Path, answer: str) -> None:
    """`cp backup ledger`: the same inode, and the ledger goes back in time."""
    ledger, backup = tmp_path / "people.ledger", tmp_path / "backup"
    with closing(sqlite3.connect(ledger)) as source, closing(sqlite3.connect(backup)) as target:
        source.backup(target)
    run(tmp_path, SPEND)
    inode = ledger.stat().st_ino
    subprocess.run(["cp", str(backup), str(ledger)], check=True)
    for beside in ("people.ledger-wal", "people.ledger-shm"):
        (tmp_path / beside).unlink(missing_ok=True)
    assert ledger.stat().st_ino == inode
    assert run(tmp_path, AGAIN, str(ledger)) == answer


def test_a_file_without_its_wal(run: Run, tmp_path: Path, answer: str) -> None:
    """Copied while a process holds the WAL open, and put back over the original after that process was killed."""
    ledger, copy = tmp_path / "people.ledger", tmp_path / "copy"
    hold = SPEND.replace("session.close()", 'print("spent", flush=True)\ntime.sleep(3600)')
    command = [sys.executable, "-c", START + hold, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == "spent\n"
        assert (tmp_path / "people.ledger-wal").stat().st_size > 0
        shutil.copy(ledger, copy)
        holding.kill()
    (tmp_path / "people.ledger-wal").unlink()
    (tmp_path / "people.ledger-shm").unlink()
    with open(ledger, "r+b") as file:
        file.truncate()
        file.write(copy.read_bytes())
    assert run(tmp_path, AGAIN, str(ledger)) == answer


def test_the_whole_folder_copied(run: Run, tmp_path: Path) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    home.mkdir()
    answer = run(home, FIRST)
    shutil.copytree(home, copy)
    assert run(copy, AGAIN, str(copy / "people.ledger")) == answer
    run(home, SPEND)


def test_a_copied_database_of_postgres(run: Run, tmp_path: Path) -> None:
    """A database made from the template of another one: with the same private folder it is another place."""
    place = """
    def opened(path=None, snapshot=home / "people"):
        path = sys.argv[2]
        account = Ledger(path, private=home / "private").open("people", SumFilter("2"))
        return account, account.session(Table.open(snapshot), SumFilter("1"), name="ada")
    """
    with servers.postgres_address() as first:
        place = textwrap.dedent(place)
        answer = run(tmp_path, place + FIRST, first)
        second = servers.copied_database(first, first)
        try:
            assert run(tmp_path, place + AGAIN, second) == answer
            run(tmp_path, place + SPEND, first)
        finally:
            servers.drop_database(first, second)


FORK = """
account, session = opened()
mechanism = session.open(SparseVector(10, epsilon="0.2", positives=9), key="above")
head = account._holder.books.id
uses = {
    "ledger": lambda: owner.open("people"),
    "head": lambda: owner.head,
    "account": lambda: account.session(session.table, SumFilter("0.1"), name="eve"),
    "budget": lambda: account.budget,
    "cut": lambda: account.cut({"a": "0.1"}, delta=0),
    "session": lambda: session.ask(Count("age > 30"), epsilon="0.1", key="second"),
    "stored": lambda: session.ask(Count(), epsilon="0.1", key="first"),
    "open": lambda: session.open(SparseVector(10, epsilon="0.2", positives=9), key="another"),
    "commit": lambda: session.commit([]),
    "run": lambda: mechanism.ask(Count("age > 25"), key="two"),
    "told": lambda: mechanism.positives_left,
    "flush": lambda: session.close(),
}
owner = Ledger(ledger)
child = os.fork()
if child == 0:
    code = 0
    for name, use in uses.items():
        try:
            use()
        except CannotBeShared:
            continue
        except BaseException as error:
            print(name, repr(error), file=sys.stderr)
        else:
            print(name, "was used in a forked process", file=sys.stderr)
        code = 1
    os._exit(code)
assert os.waitpid(child, 0)[1] == 0
session.ask(Count("age > 30"), epsilon="0.1", key="second")
"""


def test_a_fork_of_the_process(run: Run, tmp_path: Path, answer: str) -> None:
    assert answer
    run(tmp_path, FORK)


NOISE = """
from multiprocessing import get_context

def drawn(n, pipe):
    from optcomp.statistics.noise import with_gaussian, with_laplace
    pipe.send(with_laplace([0] * 8, 1e9) + with_gaussian([0] * 8, 1e9))

def children(kind):
    context, found = get_context(kind), []
    for n in range(3):
        mine, theirs = context.Pipe()
        process = context.Process(target=drawn, args=(n, theirs))
        process.start()
        found.append(tuple(mine.recv()))
        process.join()
    return found

if __name__ == "__main__":
    from optcomp.statistics.noise import with_gaussian, with_laplace
    with_laplace([0] * 8, 1e9), with_gaussian([0] * 8, 1e9)  # the generator is awake before the fork
    found = children("fork") + children("spawn") + [tuple(with_laplace([0] * 8, 1e9) + with_gaussian([0] * 8, 1e9))]
    numbers = [number for draws in found for number in draws]
    assert len(numbers) == 7 * 16
    assert len(set(numbers)) > len(numbers) - 3, "two processes drew the same noise"
"""


def test_forked_and_spawned_processes_draw_other_noise(tmp_path: Path) -> None:
    program = tmp_path / "noise.py"
    program.write_text(NOISE)
    where = os.pathsep.join([*filter(None, sys.path)])
    command = [sys.executable, str(program)]
    environment = os.environ | {"PYTHONPATH": where}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert ended.returncode == 0, ended.stderr
