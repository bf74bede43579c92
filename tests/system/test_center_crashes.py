"""Servers that are killed under load, and servers that share a database: nothing lost, nothing free, sums exact."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from optcomp.center import Settings
from tests.campaign import crash_records
from tests.servers import new_database, postgres_address
from tests.system.served_centers import (
    PATIENCE,
    Home,
    Server,
    call,
    call_over,
    connections_of,
    killed_at_the_end,
    make_home,
    no_answer_is_stored,
    serving,
    until,
)

CLIENTS, REQUESTS = 8, 15
"""Processes, and how many keys each of them asks under; every fifth key is one that all of them use."""
PRICE, SLOT = Fraction(1, 100), Fraction(1, 2)
"""Of a question, and of the slot: fifty fit."""
SHARED = 5
QUESTION = {"statistic": {"count": "rows"}, "noise": "laplace", "epsilon": "1/2"}
"""Half of a slot of 1."""


@pytest.fixture(params=["sqlite", "postgresql"])
def given(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Where the databases of a home are."""
    if request.param == "sqlite":
        yield {}
        return
    with postgres_address() as address:
        yield {"ledger": new_database(address), "database": new_database(address)}


def keys_of(number: int) -> list[str]:
    return [f"all-{n}" if n % SHARED == 0 else f"{number}-{n}" for n in range(REQUESTS)]


DISTINCT = {key for number in range(CLIENTS) for key in keys_of(number)}
FIT = int(SLOT / PRICE)


class Clients:
    """Processes that ask, and what was told to them."""

    def __init__(self, folder: Path) -> None:
        self._paths = [folder / f"client-{number}" for number in range(CLIENTS)]
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, home: Home, files: list[Path]) -> None:
        """Start all of them; each reads the address of its server from one of the files."""
        script = Path(__file__).with_name("slot_client.py")
        for number, path in enumerate(self._paths):
            url, keys = files[number % len(files)], ",".join(keys_of(number))
            words = [str(url), home.tokens["ada"], str(home.seat), keys, str(PRICE)]
            with open(path, "wb") as out:
                self._running.append(subprocess.Popen([sys.executable, "-S", str(script), *words], stdout=out))

    def lines(self) -> list[dict[str, Any]]:
        """Whole lines so far."""
        texts = [path.read_text() for path in self._paths]
        return [json.loads(line) for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def until(self, count: int) -> None:
        """Wait until so many requests have ended."""
        until(lambda: len(self.lines()) >= count, f"{count} requests of the clients")

    def finish(self) -> list[dict[str, Any]]:
        """Everything that was told."""
        for process in self._running:
            assert process.wait(PATIENCE) == 0
        return self.lines()

    def kill(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()


@contextmanager
def clients(folder: Path, home: Home, files: list[Path]) -> Iterator[Clients]:
    """They are ended with the test, however that ends."""
    found = Clients(folder)
    try:
        found.start(home, files)
        yield found
    finally:
        found.kill()


def granted(lines: list[dict[str, Any]]) -> dict[str, str]:
    """Answers by key; one for each key, and nothing else than answers and refusals."""
    assert len(lines) == CLIENTS * REQUESTS
    odd = [line for line in lines if (line["status"], line["error"]) not in ((200, None), (409, "budget_exceeded"))]
    assert not odd, odd[:3]
    told: dict[str, set[str]] = {}
    for line in lines:
        if line["status"] == 200:
            told.setdefault(line["key"], set()).add(json.dumps(line["answer"], sort_keys=True))
    assert all(len(answers) == 1 for answers in told.values()), "two answers under one key"
    return {key: answer for key, (answer,) in told.items()}


def check_ledger(home: Home, told: dict[str, str]) -> None:
    """By the rows alone, with the servers stopped: the slot is spent to the last grain, and for these answers."""
    records = crash_records.read(home.settings.ledger)
    assert records.chain_breaks() == []
    rows = [row for row in records.requests if row["kind"] == "question"]
    stored = {row["key"].removeprefix("key "): json.dumps(json.loads(row["answer"]), sort_keys=True) for row in rows}
    assert len(stored) == len(rows) == FIT
    assert stored == told
    debited = records.debited()
    for row in records.holders:
        budget = json.loads(row["budget"])
        assert Fraction(budget["spent"]["epsilon"]) == debited[row["id"]]
    (payer,) = {row["holder"] for row in rows}
    assert debited[payer] == SLOT == PRICE * len(told)
    with home.ledger() as ledger:
        assert ledger.verify().findings == ()
        assert list(ledger.waiting()) == []


def check_retries(url: str, home: Home, told: dict[str, str]) -> None:
    """The same key again gives the same answer; any other is refused."""
    question = {"statistic": {"count": "rows"}, "noise": "laplace", "epsilon": str(PRICE)}
    for key in sorted(DISTINCT):
        body = {"question": question, "key": key}
        status, found = call(url, "POST", f"seats/{home.seat}/questions", home.tokens["ada"], body)
        if key in told:
            assert (status, json.dumps(found["answer"], sort_keys=True)) == (200, told[key]), found
        else:
            assert (status, found["error"]) == (409, "budget_exceeded")


@pytest.mark.slow
def test_killed_under_load(given: dict[str, str], tmp_path: Path) -> None:
    """Eight clients on one slot, two workers: a runner is killed, then a worker, then everything, or the first."""
    home = make_home(tmp_path, str(SLOT), **given)
    url, log = tmp_path / "url", tmp_path / "log"
    server = Server(home.path, 2, log)
    try:
        server.until_complete(2, 2)
        url.write_text(server.url)
        with clients(tmp_path, home, [url]) as asking:
            asking.until(8)
            os.kill(server.runners()[0], signal.SIGKILL)
            asking.until(18)
            os.kill(server.workers()[0], signal.SIGKILL)
            asking.until(30)
            (server.behead if given else server.kill)()
            server = Server(home.path, 1, log)
            url.write_text(server.url)
            told = granted(asking.finish())
        assert len(told) == FIT
        check_retries(server.url, home, told)
    finally:
        if not server.ended:
            server.stop()
    check_ledger(home, told)


@pytest.mark.slow
def test_two_servers_on_one_database(tmp_path: Path) -> None:
    """Each has a home of its own; ledger, keys and database are shared, and so is the slot."""
    with postgres_address() as address:
        shared = {"ledger": new_database(address), "database": new_database(address)}
        home = make_home(tmp_path, str(SLOT), **shared)
        few = {"runners": 1, "readers": 0, "calculators": 0, "rate": 10**6}
        other = Settings.write(tmp_path / "other", private=str(home.settings.private), **few, **shared)
        shutil.rmtree(other.snapshots)
        shutil.copytree(home.settings.snapshots, other.snapshots)
        files = [tmp_path / "url-0", tmp_path / "url-1"]
        with serving(home.path, 1, tmp_path / "log-0") as first, serving(other.home, 1, tmp_path / "log-1") as second:
            for file, server in zip(files, (first, second), strict=True):
                file.write_text(server.url)
            with clients(tmp_path, home, files) as asking:
                told = granted(asking.finish())
            assert len(told) == FIT
            check_retries(first.url, home, told)
            check_retries(second.url, home, told)
        check_ledger(home, told)


@pytest.mark.smoke("kill -9 of a server, and its restart")
def test_what_was_paid_is_finished_by_the_next_server(tmp_path: Path) -> None:
    """Everything is killed between the debit and the answer; nobody asks again, and the answer is there."""
    home, log = make_home(tmp_path, "1"), tmp_path / "log"
    body = {"question": QUESTION, "key": "once"}
    path, token = f"seats/{home.seat}/questions", home.tokens["ada"]
    with no_answer_is_stored(home), ThreadPoolExecutor(1) as beside:
        with killed_at_the_end(home.path, 1, log) as server:
            lost = beside.submit(call, server.url, "POST", path, token, body)
            home.until_waiting(1)
        with pytest.raises((OSError, ValueError)):  # nobody answers: the server was killed meanwhile
            lost.result(PATIENCE)
    assert home.waiting() == 1
    with serving(home.path, 1, log) as server:
        home.until_waiting(0)
        told = [call(server.url, "POST", path, token, body) for _ in range(2)]
        assert told[0][0] == 200
        assert told[0][1]["answer"] == told[1][1]["answer"]
        status, seat = call(server.url, "GET", f"seats/{home.seat}", token)
        assert (status, seat["left"]["amounts"]["epsilon"]["left"]) == (200, "1/2")


@pytest.mark.slow
def test_cancelling_reaches_the_other_worker(tmp_path: Path) -> None:
    """A question is at work in one of two workers, and is cancelled over a connection that the other one has."""
    home, log = make_home(tmp_path, "1"), tmp_path / "log"
    body = {"question": QUESTION, "key": "once"}
    path, token = f"seats/{home.seat}", home.tokens["ada"]
    with serving(home.path, 2, log) as server, ThreadPoolExecutor(1) as beside:
        server.until_complete(2, 2)
        with no_answer_is_stored(home):
            asking = beside.submit(call, server.url, "POST", f"{path}/questions", token, body)
            home.until_waiting(1)
            (busy,) = [worker for worker in server.workers() if connections_of(worker, server.url)]
            with _connected(server, busy) as connection:
                status, found = call_over(connection, "POST", f"{path}/cancel", token, {"key": "once"})
            assert (status, found) == (200, {"cancelled": True})
            status, found = asking.result(PATIENCE)
            assert (status, found["error"]) == (424, "not_answered")
        assert home.waiting() == 1  # it is paid
        status, found = call(server.url, "POST", f"{path}/questions", token, body)
        assert status == 200, found
        status, seat = call(server.url, "GET", path, token)
        assert (status, seat["left"]["amounts"]["epsilon"]["left"]) == (200, "1/2")
    with home.ledger() as ledger:
        assert ledger.verify().findings == ()


@contextmanager
def _standing_still(processes: list[int]) -> Iterator[None]:
    """Processes that do nothing meanwhile; those that are alive at the end go on."""
    try:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


@contextmanager
def _connected(server: Server, busy: int) -> Iterator[http.client.HTTPConnection]:
    """A connection that another worker than the busy one has: the busy one stands still while it is accepted."""
    where = urlsplit(server.url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=PATIENCE)
    try:
        with _standing_still([busy]):
            connection.request("GET", "/health")
            connection.getresponse().read()
        port = connection.sock.getsockname()[1]
        assert port not in connections_of(busy, server.url)
        assert any(port in connections_of(each, server.url) for each in server.workers())
        yield connection
    finally:
        connection.close()
