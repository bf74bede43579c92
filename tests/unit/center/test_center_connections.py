"""Connections that are held: by slow headers, by none, by a body that nobody waits for, by too many at once.

A real server on a real socket, with an application of two lines: only the connections are looked at.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import uvicorn

from optcomp.center import Settings
from optcomp.center.connections import LimitedConfig, LimitedConnection
from optcomp.center.serving import INTERFACE, Listening, _config

SECONDS = 0.6
"""That headers may take here."""
MOST = 4
"""Connections of one address."""
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""A request."""


async def answers(scope: Any, receive: Any, send: Any) -> None:
    """Answers what it is asked; /slow after a while, and /early before the body is there."""
    if scope["type"] != "http":
        return
    if scope["path"] != "/early":
        while (await receive()).get("more_body", False):
            pass
    if scope["path"] == "/slow":
        await asyncio.sleep(3 * SECONDS)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


class Limited(uvicorn.Server):
    """A server in a thread."""

    def install_signal_handlers(self) -> None:
        """None, in a thread."""


@pytest.fixture(scope="module")
def where() -> Iterator[tuple[str, int]]:
    """The address of a server."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        name = f"{__name__}:answers"
        config = LimitedConfig(
            name, header_seconds=SECONDS, connections=MOST, log_config=None, timeout_keep_alive=2, lifespan="off"
        )
        server = Limited(config)
        thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
        thread.start()
        until = time.monotonic() + 30
        while not server.started:
            assert time.monotonic() < until
            time.sleep(0.01)
        yield bound.getsockname()
        server.should_exit = True
        thread.join(30)


def got(connection: socket.socket) -> bytes:
    """A response, which comes in pieces; less of it if the connection was closed."""
    found = b""
    try:
        while not found.endswith(b"ok") and (piece := connection.recv(65536)):
            found += piece
    except ConnectionResetError:
        pass
    return found


def closed_after(connection: socket.socket, piece: bytes, pause: float = SECONDS / 5) -> float:
    """Seconds until the server closes a connection on which a piece is sent again and again."""
    begun = time.monotonic()
    connection.settimeout(pause)
    while time.monotonic() - begun < 20 * SECONDS:
        try:
            if piece:
                connection.sendall(piece)
            if not connection.recv(65536):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - begun


@pytest.mark.parametrize("piece", [b"X-Slow: 1\r\n", b"x", b""], ids=["lines", "bytes", "nothing"])
@pytest.mark.parametrize("before", [b"", GET], ids=["first", "second"])
def test_slow_headers_are_not_waited_for(where: tuple[str, int], before: bytes, piece: bytes) -> None:
    """Neither those of the first request of a connection nor those of the next."""
    with socket.create_connection(where, timeout=30) as connection:
        if before:
            connection.sendall(before)
            assert got(connection).endswith(b"ok")
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert 0.8 * SECONDS < closed_after(connection, piece) < 4 * SECONDS


def test_silent_connections_are_closed(where: tuple[str, int]) -> None:
    """Without a byte; and between two requests later, when uvicorn's own time has passed."""
    with socket.create_connection(where, timeout=30) as connection:
        assert 0.8 * SECONDS < closed_after(connection, b"") < 3 * SECONDS
    with socket.create_connection(where, timeout=30) as connection:
        connection.sendall(GET)
        assert got(connection).endswith(b"ok")
        assert 2 * SECONDS < closed_after(connection, b"") < 8 * SECONDS


def test_a_slow_answer_is_waited_for(where: tuple[str, int]) -> None:
    """The time is that of headers alone, and a connection goes on after it."""
    with socket.create_connection(where, timeout=30) as connection:
        for _ in range(2):
            connection.sendall(GET.replace(b"/ ", b"/slow ", 1))
            assert got(connection).endswith(b"ok")
        connection.sendall(GET[:20])
        time.sleep(SECONDS / 3)
        connection.sendall(GET[20:])
        assert got(connection).endswith(b"ok")


def test_a_body_after_its_response_is_not_waited_for(where: tuple[str, int]) -> None:
    """Whoever was refused goes on sending, byte by byte."""
    with socket.create_connection(where, timeout=30) as connection:
        connection.sendall(b"POST /early HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        assert got(connection).endswith(b"ok")
        assert 0.8 * SECONDS < closed_after(connection, b"x") < 4 * SECONDS


def test_one_address_holds_so_many_connections(where: tuple[str, int]) -> None:
    """One more is closed at once; when one is given back, the next is taken.  Another address is not counted."""
    with ExitStack() as held:
        connections = [held.enter_context(socket.create_connection(where, timeout=30)) for _ in range(MOST)]
        for connection in connections:
            connection.sendall(GET)
            assert got(connection).endswith(b"ok")
        with socket.create_connection(where, timeout=30) as more:
            assert closed_after(more, b"") < 0.5 * SECONDS
        with socket.create_connection(where, timeout=30, source_address=("127.0.0.2", 0)) as other:
            other.sendall(GET)
            assert got(other).endswith(b"ok")
        connections[0].close()
        time.sleep(0.2)
        with socket.create_connection(where, timeout=30) as again:
            again.sendall(GET)
            assert got(again).endswith(b"ok")


def test_the_settings_reach_the_server(tmp_path: Any) -> None:
    """Behind a proxy all connections are the proxy's: it counts them itself."""
    settings = Settings.write(tmp_path / "home", header_seconds=7, connections=9)
    for behind_proxy, connections in ((False, 9), (True, 0)):
        found = _config(Listening(behind_proxy=behind_proxy), settings, INTERFACE)
        assert isinstance(found, LimitedConfig)
        assert (found.header_seconds, found.connections, found.http) == (7.0, connections, LimitedConnection)
