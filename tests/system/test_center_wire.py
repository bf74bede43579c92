"""A real server on real sockets: odd requests byte by byte, what a log tells, and noise that no processes share."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.servers import new_database, postgres_address
from tests.system.served_centers import PATIENCE, Home, Server, call, make_home, serving

pytestmark = pytest.mark.slow
PASSWORD, WORD = "hunter2secret", "zanzibar"
"""A password of the databases, and a word of the table: neither is told to anybody."""
HEADERS = 3
"""Seconds that headers may take here."""
LOGINS = 5
"""Tokens that are not known, from one address in a minute."""


@dataclass(frozen=True)
class Running:
    """A server with its home and its log."""

    home: Home
    server: Server
    log: Path

    def connected(self, seconds: float = PATIENCE) -> socket.socket:
        """A connection of its own, on which nothing is waited for longer than some seconds."""
        where = urlsplit(self.server.url)
        return socket.create_connection((where.hostname, where.port), timeout=seconds)

    def send(self, raw: bytes) -> bytes:
        """Everything that comes back on a connection of its own, until the server closes it."""
        with self.connected() as connection:
            connection.sendall(raw)
            return _received(connection)

    def head(self) -> object:
        """Of the ledger."""
        with self.home.ledger() as ledger:
            return ledger.head


def _received(connection: socket.socket) -> bytes:
    """Everything, until the other side closes the connection, or resets it."""
    found = b""
    with suppress(ConnectionError):
        while piece := connection.recv(65536):
            found += piece
    return found


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Two workers with a runner each, on PostgreSQL, with a password in both addresses."""
    folder = tmp_path_factory.mktemp("wire")
    with postgres_address() as address:
        given = {name: f"{new_database(address)}&password={PASSWORD}" for name in ("ledger", "database")}
        home = make_home(folder, "1", WORD, header_seconds=HEADERS, logins=LOGINS, **given)
        log = folder / "log"
        with serving(home.path, 2, log) as server:
            server.until_complete(2, 2)
            yield Running(home, server, log)


def request(running: Running, *headers: str, method: str = "POST", path: str = "", body: bytes = b"") -> bytes:
    """A request with a token and these headers."""
    seat = running.home.seat
    first = f"{method} {path or f'/api/v1/seats/{seat}/questions'} HTTP/1.1"
    known = [f"Authorization: Bearer {running.home.tokens['ada']}", "Content-Type: application/json"]
    return "\r\n".join([first, *known, *headers, "", ""]).encode() + body


def statuses(raw: bytes) -> list[int]:
    return [int(found) for found in re.findall(rb"HTTP/1\.1 (\d{3})", raw)]


def body_of(running: Running) -> bytes:
    return json.dumps({"question": {"statistic": {"count": "rows"}, "noise": "laplace", "epsilon": "1/8"}}).encode()


SMUGGLED = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""A request inside of another one."""


@pytest.mark.parametrize(
    "headers",
    [
        ["Content-Length: 2", "Content-Length: 44"],
        ["Content-Length: 2, 44"],
        ["Content-Length: +2"],
        ["Content-Length: -1"],
        ["Content-Length: 0x2"],
        ["Content-Length: 2 2"],
        ["Content-Length : 2"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: xchunked"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ["Transfer-Encoding\t: chunked"],
        [" Transfer-Encoding: chunked"],
        ["Bad Header: 1"],
        ["X: a\x00b"],
        ["Host: localhost"],
    ],
)
def test_requests_that_two_servers_could_read_differently(running: Running, headers: list[str]) -> None:
    """Nothing is asked, neither by the request nor by what follows it on the connection."""
    before = running.head()
    found = running.send(request(running, "Host: localhost", *headers, body=b"{}" + SMUGGLED))
    assert statuses(found) in ([400], [501], [421, 400]), found[:500]  # a folded line is part of the one before
    assert running.head() == before


def test_chunks_win_over_a_length(running: Running) -> None:
    """Both lengths at once: whatever is answered, the bytes after the chunks do not ask anything of their own."""
    before = running.head()
    both = ["Host: localhost", "Content-Length: 6", "Transfer-Encoding: chunked", "Connection: close"]
    found = running.send(request(running, *both, body=b"0\r\n\r\n" + SMUGGLED))
    assert len(statuses(found)) == 1
    assert statuses(found)[0] in (400, 422)
    assert running.head() == before


@pytest.mark.parametrize("host", [[], ["Host: evil.example"], ["Host:"], ["Host: localhost@evil.example"]])
def test_names_of_hosts(running: Running, host: list[str]) -> None:
    body = body_of(running)
    before = running.head()
    found = running.send(request(running, *host, "Connection: close", f"Content-Length: {len(body)}", body=body))
    assert statuses(found) in ([400], [421])
    assert running.head() == before


def test_another_host_in_the_first_line(running: Running) -> None:
    raw = b"GET http://evil.example/health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert statuses(running.send(raw)) in ([400], [421])


def test_bodies_without_an_end(running: Running) -> None:
    """Too many bytes in chunks, and headers that go on and on."""
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    head = request(running, "Host: localhost", "Transfer-Encoding: chunked")
    assert statuses(_pushed(running, head, chunk, 40)) == [413]
    assert statuses(_pushed(running, b"GET /health HTTP/1.1\r\n", b"X-Long: " + b"x" * 1000 + b"\r\n", 60)) == [400]


def test_headers_without_an_end_are_not_waited_for(running: Running) -> None:
    """A line now and then; the server ends it when the time is over, and not before; others are answered."""
    begun, is_open = time.monotonic(), True  # before the server begins to count, so that it cannot seem to end early
    with running.connected(seconds=HEADERS / 10) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        while is_open:
            assert time.monotonic() - begun < PATIENCE, "the server goes on waiting for headers"
            try:
                connection.sendall(b"X-Slow: 1\r\n")
                is_open = bool(connection.recv(65536))
            except TimeoutError:
                continue
            except OSError:
                is_open = False
    assert time.monotonic() - begun > 0.99 * HEADERS
    assert call(running.server.url, "GET", "me", running.home.tokens["ada"])[0] == 200


def _pushed(running: Running, head: bytes, piece: bytes, times: int) -> bytes:
    """Send until the server has enough; what it says."""
    with running.connected() as connection:
        with suppress(ConnectionError):
            connection.sendall(head)
            for _ in range(times):
                connection.sendall(piece)
        return _received(connection)


def test_forwarded_addresses_are_not_believed(running: Running) -> None:
    """Without --behind-proxy whoever guesses cannot be somebody else every time."""
    raw = (
        "GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: 10.0.0.{0}\r\n"
        "Forwarded: for=10.0.0.{0}\r\nX-Real-IP: 10.0.0.{0}\r\nAuthorization: Bearer oc_{0:043d}\r\n\r\n"
    )
    told = [statuses(running.send(raw.format(number).encode()))[0] for number in range(8 * LOGINS)]
    assert 429 in told  # unless they take more than seven minutes
    assert call(running.server.url, "GET", "me", running.home.tokens["ada"])[0] == 200


def test_processes_draw_different_noise(running: Running) -> None:
    """Two processes that were started alike.

    Two draws with this ε are equal with probability ε / 4, so any of 780 pairs with probability below 2e-10.
    """
    question = {"statistic": {"count": "rows"}, "noise": "laplace", "epsilon": "1e-12"}
    path, token = f"seats/{running.home.seat}/questions", running.home.tokens["ada"]

    def ask(number: int) -> float:
        status, found = call(running.server.url, "POST", path, token, {"question": question, "key": f"n{number}"})
        assert status == 200, found
        return float(found["value"])

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(ask, range(40)))
    assert len(set(told)) == len(told)


_FORKED = """
import os, sys
import pyarrow
from optcomp.interactive import Session, SumFilter
from optcomp.statistics import Count, Integers, Table
table = Table(pyarrow.table({"age": [1, 2, 3]}), {"age": Integers(0, 9)})
def draw(): return Session(table, SumFilter(1)).ask(Count(), epsilon=1e-12).value
draw()
for _ in range(4):
    child = os.fork()
    if child == 0:
        print(draw(), draw(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print(draw(), draw())
"""
"""Draws, forks, and draws in every process."""


def test_forked_processes_draw_different_noise(tmp_path: Path) -> None:
    """Any of 45 pairs of draws is equal with probability below 2e-11."""
    command, environment = [sys.executable, "-W", "ignore", "-c", _FORKED], {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    told = ended.stdout.split()
    assert len(told) == 10, ended.stderr
    assert len(set(told)) == 10


def test_nothing_tells_the_password_or_a_word_of_the_table(running: Running) -> None:
    """Every GET by everybody, and the whole log: the last test here, after all that came before."""
    url, tokens = running.server.url, running.home.tokens
    paths = ["me", "datasets", "datasets/survey", "datasets/survey/free", "seats", f"seats/{running.home.seat}"]
    paths += [f"seats/{running.home.seat}/transcript", "owner/people", "owner/changes", "owner/wishes"]
    paths += ["owner/confirmations", "audit/accounts", "audit/changes", "audit/verification", "audit/export"]
    told = [json.dumps(call(url, "GET", path, token)) for path in paths for token in tokens.values()]
    told += [json.dumps(running.server.told), running.log.read_text()]
    assert len(running.log.read_text().splitlines()) > 50
    assert not [text[:200] for text in told if PASSWORD in text or WORD in text]
    assert not [text[:200] for text in told[:-1] for token in tokens.values() if token in text]
    assert not [token for token in tokens.values() if token in running.log.read_text()]
