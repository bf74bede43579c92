"""Connections that are held: by slow headers, by none, by a body that nobody waits for, by too many at once.

A real server on a real socket, with an application of two lines: only the connections are looked at.  The clock of its
event loop is moved by hand; what is waited for takes an hour by that clock, and so never ends by itself.
"""

from __future__ import annotations

import asyncio
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import pytest
import uvicorn

from optcomp.center import Settings
from optcomp.center.connections import LimitedConfig, LimitedConnection
from optcomp.center.serving import INTERFACE, Listening, _config

HOUR = 3600.0
"""Seconds that headers may take here."""
KEPT = 3 * HOUR
"""Seconds that a connection is kept between two requests."""
MOST = 4
"""Connections of one address."""
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""A request."""
PATIENCE = 60.0
"""Seconds after which a test that waits for the server fails."""


class MovedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock can be moved forward."""

    moved = 0.0

    def time(self) -> float:
        return super().time() + self.moved


class Server:
    """A server in a thread, and what a test must know of it."""

    def __init__(self) -> None:
        self.received = self.slow = 0
        self.loop, self.socket = MovedLoop(), socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self.socket.getsockname()
        more: dict[str, Any] = {"log_config": None, "lifespan": "off", "interface": "asgi3"}
        config = LimitedConfig("", header_seconds=HOUR, connections=MOST, timeout_keep_alive=int(KEPT), **more)
        config.app = self.answers
        self.server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.server.serve([self.socket]))

    async def answers(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers what it is asked; /slow after three hours, and /early before the body is there."""
        if scope["path"] != "/early":
            while (await receive()).get("more_body", False):
                pass
        if scope["path"] == "/slow":
            self.slow += 1
            await asyncio.sleep(3 * HOUR)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    def start(self) -> None:
        self._thread.start()
        self.until(lambda: self.server.started, "the server to start")

    def stop(self) -> None:
        self.server.should_exit = True
        self._thread.join(PATIENCE)
        self.loop.close()
        self.socket.close()

    @property
    def open(self) -> int:
        """Connections that the server holds."""
        return len(self.server.server_state.connections)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"waited {PATIENCE} seconds for {what}"
            time.sleep(0.001)

    def move(self, seconds: float) -> None:
        """Move the clock forward; what was due is done when this returns."""

        async def forward() -> None:
            self.loop.moved += seconds
            for _ in range(3):
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(forward(), self.loop).result(PATIENCE)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that counts the bytes that it has read."""
    made, read = Server(), LimitedConnection.data_received

    def counted(connection: LimitedConnection, data: bytes) -> None:
        read(connection, data)
        made.received += len(data)

    with patch.object(LimitedConnection, "data_received", counted):
        made.start()
        yield made
        made.stop()


class Client:
    """A connection to the server."""

    def __init__(self, server: Server, source: str = "127.0.0.1") -> None:
        self._server = server
        self._socket = socket.create_connection(server.address, timeout=PATIENCE, source_address=(source, 0))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send it; the server has read it when this returns."""
        before = self._server.received
        self._socket.sendall(data)
        self._server.until(lambda: self._server.received >= before + len(data), "the server to read")

    def got(self) -> bool:
        """Whether a whole response comes, and nothing else."""
        found = b""
        while not found.endswith(b"ok") and (piece := self._socket.recv(65536)):
            found += piece
        return found.startswith(b"HTTP/1.1 200 OK") and found.endswith(b"ok")

    def asked(self, request: bytes = GET) -> bool:
        """Whether a request is answered."""
        self.send(request)
        return self.got()

    def is_open(self) -> bool:
        """Whether neither a response nor an end is there."""
        return not select.select([self._socket], [], [], 0)[0]

    def is_closed(self) -> bool:
        """Whether the server ends the connection, without another byte."""
        try:
            return self._socket.recv(1) == b""
        except ConnectionResetError:
            return True


@pytest.mark.parametrize("piece", [b"X-Slow: 1\r\n", b"x", b""], ids=["lines", "bytes", "nothing"])
@pytest.mark.parametrize("before", [b"", GET], ids=["first", "second"])
def test_slow_headers_are_not_waited_for(server: Server, before: bytes, piece: bytes) -> None:
    """Neither those of the first request of a connection nor those of the next."""
    with Client(server) as connection:
        if before:
            assert connection.asked(before)
        connection.send(b"GET / HTTP/1.1\r\n")
        for _ in range(3):
            server.move(0.3 * HOUR)
            connection.send(piece)
            assert connection.is_open()
        server.move(0.2 * HOUR)
        assert connection.is_closed()


def test_silent_connections_are_closed(server: Server) -> None:
    """Without a byte; and between two requests later, when uvicorn's own time has passed."""
    with Client(server) as connection:
        server.until(lambda: server.open == 1, "the connection")
        server.move(0.9 * HOUR)
        assert connection.is_open()
        server.move(0.2 * HOUR)
        assert connection.is_closed()
    with Client(server) as connection:
        assert connection.asked()
        server.move(0.9 * KEPT)
        assert connection.is_open()
        server.move(0.2 * KEPT)
        assert connection.is_closed()


def test_a_slow_answer_is_waited_for(server: Server) -> None:
    """The time is that of headers alone, and a connection goes on after it."""
    with Client(server) as connection:
        for _ in range(2):
            before = server.slow
            connection.send(GET.replace(b"/ ", b"/slow ", 1))
            server.until(lambda before=before: server.slow > before, "the application")  # type: ignore[misc]
            server.move(2.9 * HOUR)
            assert connection.is_open()
            server.move(0.2 * HOUR)
            assert connection.got()
        connection.send(GET[:20])
        server.move(0.9 * HOUR)
        assert connection.asked(GET[20:])


def test_a_body_after_its_response_is_not_waited_for(server: Server) -> None:
    """Whoever was refused goes on sending, byte by byte."""
    with Client(server) as connection:
        assert connection.asked(b"POST /early HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        for _ in range(3):
            server.move(0.3 * HOUR)
            connection.send(b"x")
            assert connection.is_open()
        server.move(0.2 * HOUR)
        assert connection.is_closed()


def test_one_address_holds_so_many_connections(server: Server) -> None:
    """One more is closed, though no time passes; when one is given back, the next is taken.

    Another address is not counted.
    """
    server.until(lambda: server.open == 0, "the connections of other tests to end")
    with ExitStack() as held:
        connections = [held.enter_context(Client(server)) for _ in range(MOST)]
        assert all(connection.asked() for connection in connections)
        with Client(server) as more:
            assert more.is_closed()
        with Client(server, "127.0.0.2") as other:
            assert other.asked()
        server.until(lambda: server.open == MOST, "the other connection to end")
        held.pop_all().close()
        server.until(lambda: server.open < MOST, "a connection to be given back")
        with Client(server) as again:
            assert again.asked()


def test_the_settings_reach_the_server(tmp_path: Any) -> None:
    """Behind a proxy all connections are the proxy's: it counts them itself."""
    settings = Settings.write(tmp_path / "home", header_seconds=7, connections=9)
    for behind_proxy, connections in ((False, 9), (True, 0)):
        found = _config(Listening(behind_proxy=behind_proxy), settings, INTERFACE)
        assert isinstance(found, LimitedConfig)
        assert (found.header_seconds, found.connections, found.http) == (7.0, connections, LimitedConnection)
