"""Real servers: `optcomp serve` on a home, its processes by number, and how they are killed.

A server is killed between a debit and its answer when no answer can be stored: see `no_answer_is_stored`.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow
import pyarrow.parquet

from optcomp.center import Catalogue, People, Settings, Store
from optcomp.ledger import Ledger
from optcomp.statistics import Categories, Integers

OWNER, ANALYSTS, AUDITOR = "olga", ("ada", "ben"), "ruth"
"""Who there is."""
DATASET = "survey"
COLUMNS = {"age": Integers(0, 99), "region": Categories(["north", "south"])} | dict.fromkeys(
    ("place", "time"), Integers(0, 449)
)
ROWS = 300
_KEY = "a key for digests of data"
"""What a release asks the ledger for before its debit, and what costs nothing."""
_COMMAND = [sys.executable, "-c", "from optcomp.cli.main import run; run()", "serve"]
PATIENCE = 180.0
"""Seconds after which something that is awaited fails the test: on a busy machine processes take long to start."""
_HELD_BACK = (
    "CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
    "CREATE TRIGGER held_back BEFORE UPDATE OF state ON requests"
    " WHEN NEW.state = 'answered' AND NEW.kind IN ('question', 'release') BEGIN SELECT count(*) FROM endless; END",
)
"""Statements after which SQLite never comes to the end of storing an answer."""
_ESTABLISHED = "01"
"""How Linux writes the state of an open connection in its tables."""


@dataclass(frozen=True)
class Home:
    """A home with one dataset, and everybody's token."""

    settings: Settings
    tokens: dict[str, str]
    seat: int
    slot: str

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.settings.home

    def ledger(self) -> Ledger:
        """The same ledger, opened here."""
        return Ledger(self.settings.ledger, private=self.settings.private, create=False)

    def waiting(self) -> int:
        """How many questions and releases are paid for and have no answer."""
        with self.ledger() as ledger:
            return _waiting(ledger)

    def until_waiting(self, count: int) -> None:
        """Wait until so many questions and releases are paid for and have no answer."""
        with self.ledger() as ledger:
            until(lambda: _waiting(ledger) == count, f"{count} requests that are paid for and not answered")


def _waiting(ledger: Ledger) -> int:
    return sum(each.what != _KEY for each in ledger.waiting())


def until(is_so: Callable[[], bool], awaited: str) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"waited in vain for {awaited}"
        time.sleep(0.01)


@contextmanager
def no_answer_is_stored(home: Home) -> Iterator[None]:
    """Whoever stores an answer in a ledger in SQLite goes on for ever, after the debit; until killed, or stopped.

    All who do so must be gone at the end.
    """
    with closing(sqlite3.connect(home.settings.ledger, timeout=PATIENCE)) as ledger:
        for statement in _HELD_BACK:
            ledger.execute(statement)
        ledger.commit()
        yield
        for statement in ("DROP TRIGGER held_back", "DROP VIEW endless"):
            ledger.execute(statement)
        ledger.commit()


def make_home(folder: Path, epsilon: str = "1", word: str = "islands", **given: Any) -> Home:
    """A new home below a folder, with a slot of ada; `word` is in cells that no declaration names."""
    files = folder / "files"
    files.mkdir()
    regions = ["north", "south", word]
    table = {"who": [f"{word} {row}" for row in range(ROWS)], "region": [regions[row % 3] for row in range(ROWS)]}
    numbers = {name: [row % 100 for row in range(ROWS)] for name in ("age", "place", "time")}
    pyarrow.parquet.write_table(pyarrow.table({**table, **numbers}), files / "people.parquet")
    limits = {"rate": 10**6, "free_processor_seconds": 10**6}
    given = {"runners": 1, "readers": 0, "calculators": 0, "folders": [str(files)], **limits, **given}
    settings = Settings.write(folder / "home", **given)
    with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
        people, catalogue = People(store), Catalogue(store, ledger)
        people.add(OWNER, "owner", by=None)
        for name, role in (*((each, "analyst") for each in ANALYSTS), (AUDITOR, "auditor")):
            people.add(name, role, by=OWNER)
        budget: dict[str, Any] = {"account": DATASET, "epsilon": "100", "delta": "1e-3"}
        catalogue.register(DATASET, "people.parquet", COLUMNS, person="who", **budget, free=True, by=OWNER)
        catalogue.cut(DATASET, "first", {"ada": (epsilon, "0")}, delta="1e-9", by=OWNER)
        (seat,) = catalogue.seats("ada")
        tokens = {name: people.token(name, by=OWNER) for name in (OWNER, *ANALYSTS, AUDITOR)}
    return Home(settings, tokens, seat.id, seat.slot)


class Server:
    """A server that runs."""

    def __init__(self, home: Path, workers: int, log: Path, port: int = 0, more: Sequence[str] = ()) -> None:
        command = [*_COMMAND, str(home), "--port", str(port), "--json", "--workers", str(workers), *more]
        # who is killed leaves a folder for temporary files
        environment = {**os.environ, "TMPDIR": str(log.parent)}
        with open(log, "ab") as file:
            self._process = subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=file, text=True, start_new_session=True
            )
        assert self._process.stdout is not None
        try:
            line = self._process.stdout.readline()
            assert line, f"the server ended: {log.read_text()[-2000:]}"
            self.told: dict[str, Any] = json.loads(line)
            self.url: str = self.told["url"]
        except BaseException:
            self.kill()
            raise

    def workers(self) -> list[int]:
        """Processes that serve."""
        return _spawned(self._process.pid)

    def runners(self) -> list[int]:
        """Processes that answer questions."""
        return [each for worker in self.workers() for each in answering(_spawned(worker))]

    def until_complete(self, workers: int, runners: int) -> None:
        """Wait until so many processes run."""
        wanted = f"{workers} workers and {runners} runners"
        until(lambda: len(self.workers()) >= workers and len(self.runners()) >= runners, wanted)

    def kill(self) -> None:
        """kill -9 of everything at once."""
        for process in (self._process.pid, *_all_below(self._process.pid)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._end()

    def behead(self) -> None:
        """kill -9 of the first process alone; the others end by themselves."""
        others = _all_below(self._process.pid)
        self._process.kill()
        self._end()
        until(lambda: not any(map(is_running, others)), "the end of processes without the first one")

    def stop(self) -> None:
        """End it as an operator does."""
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self._end()

    def _end(self) -> None:
        self._process.wait(PATIENCE)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def everybody(self) -> list[int]:
        """All of its processes."""
        return [self._process.pid, *_all_below(self._process.pid)]

    @property
    def exit_code(self) -> int | None:
        """Of the first process, when it is gone."""
        return self._process.poll()

    @property
    def ended(self) -> bool:
        """Whether the first process is gone."""
        return self._process.poll() is not None


@contextmanager
def serving(home: Path, workers: int, log: Path, port: int = 0, more: Sequence[str] = ()) -> Iterator[Server]:
    """A server, which is stopped at the end."""
    server = Server(home, workers, log, port, more)
    try:
        yield server
    finally:
        if not server.ended:
            server.stop()


@contextmanager
def killed_at_the_end(home: Path, workers: int, log: Path, port: int = 0) -> Iterator[Server]:
    """A server, all of which is killed at the end."""
    server = Server(home, workers, log, port)
    try:
        yield server
    finally:
        server.kill()


def call(url: str, method: str, path: str, token: str, body: Any = None) -> tuple[int, Any]:
    """Status and body of a response."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=PATIENCE)
    try:
        return call_over(connection, method, path, token, body)
    finally:
        connection.close()


def call_over(
    connection: http.client.HTTPConnection, method: str, path: str, token: str, body: Any = None
) -> tuple[int, Any]:
    """The same over a connection that stays."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), headers)
    found = connection.getresponse()
    return found.status, json.loads(found.read())


def connections_of(process: int, url: str) -> set[int]:
    """Ports of the clients with which a process has an open connection, as a server at this address."""
    sockets = set()
    for opened in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):
            sockets.add(os.readlink(opened))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            mine, theirs = (int(words[place].rpartition(":")[2], 16) for place in (1, 2))
            if mine == urlsplit(url).port and words[3] == _ESTABLISHED and f"socket:[{words[9]}]" in sockets:
                found.add(theirs)
    return found


def is_running(process: int) -> bool:
    """Whether a process is there, and not one that has ended and that nobody has waited for."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _children(process: int) -> list[int]:
    """Of all its threads."""
    found: list[int] = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, thread.read_text().split())
    return found


def _all_below(process: int) -> list[int]:
    return [each for child in _children(process) for each in (child, *_all_below(child))]


def answering(processes: Sequence[int]) -> list[int]:
    """Those that answer questions: the others do free work, with a lower priority."""
    nice: dict[int, int] = {}
    for process in processes:
        with suppress(ProcessLookupError):
            nice[process] = os.getpriority(os.PRIO_PROCESS, process)
    return [process for process, value in nice.items() if value == min(nice.values())]


def _spawned(process: int) -> list[int]:
    """Children that were started to work, and not to keep track of others."""
    found = []
    for child in _children(process):
        with suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found
