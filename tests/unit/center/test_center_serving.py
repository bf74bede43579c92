"""The socket that the server listens on."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from optcomp.center import Settings, serving
from optcomp.center.serving import INTERFACE, Listening, _bound, _config, _tell
from optcomp.errors import InvalidInput


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_responses_are_sent_without_delay(host: str) -> None:
    """Else a response in two pieces waits for 40 ms, until the client has acknowledged the first."""
    assert asyncio.run(_delay_is_off(Listening(host, 0)))


async def _delay_is_off(listening: Listening) -> bool:
    found = asyncio.get_running_loop().create_future()

    async def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken = writer.get_extra_info("socket")
        found.set_result(bool(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        writer.close()

    with _bound(listening) as bound:
        async with await asyncio.start_server(accepted, sock=bound):
            _, writer = await asyncio.open_connection(*bound.getsockname()[:2])
            off = await asyncio.wait_for(found, 60)
            writer.close()
            await writer.wait_closed()
    return bool(off)


def test_two_servers_that_start_at_once_do_not_share_a_port() -> None:
    """The second is refused at once, and does not take the answers of the first for its own."""
    with _bound(Listening("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(InvalidInput, match="cannot be listened on"):
            _bound(Listening("127.0.0.1", port))


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def test_it_is_told_that_a_server_answers_however_long_that_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many more looks than fit into any limit of seconds, before anybody answers."""
    looks, told, ended = [], threading.Event(), threading.Event()
    looked, listening = serving._answers, Listening("127.0.0.1", 0)
    monkeypatch.setattr(serving, "_ASK_EVERY", 0.0)
    server = HTTPServer(("127.0.0.1", 0), _Answers)

    def later(listening: Listening, port: int) -> bool:
        looks.append(port)
        return len(looks) > 5000 and looked(listening, port)

    monkeypatch.setattr(serving, "_answers", later)
    with server:
        serves = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serves.start()
        try:
            _tell("http://here", listening, server.server_port, lambda _: told.set(), ended)
        finally:
            server.shutdown()
            serves.join()
    assert told.is_set()
    assert len(looks) == 5001


def test_nothing_is_told_of_a_server_that_has_ended() -> None:
    told, ended = threading.Event(), threading.Event()
    ended.set()
    _tell("http://here", Listening("127.0.0.1", 1), 1, lambda _: told.set(), ended)
    assert not told.is_set()


_NOWHERE = """
import sys
from optcomp.cli.main import run
from optcomp.cli.serve import command
command._WITH_PAGES = "nowhere:app"
sys.argv = ["optcomp", "serve", *sys.argv[1:]]
if __name__ == "__main__":
    run()
"""
"""A server that cannot start: there is no such application."""


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_that_cannot_start_says_so_in_json(tmp_path: Path, workers: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(_NOWHERE, encoding="utf8")
    home = str(Settings.write(tmp_path / "home").home)
    command = [sys.executable, str(program), home, "--port", "0", "--json", "--workers", workers]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2, ended.stderr
    (line,) = ended.stdout.splitlines()
    assert json.loads(line) == {"error": "the server could not start; its log says why"}


def test_a_proxy_needs_the_public_address(tmp_path: Path) -> None:
    settings = Settings.write(tmp_path / "home")
    with pytest.raises(InvalidInput, match=r"address: must be set for --behind-proxy.*https://") as told:
        serving.serve(settings, Listening(port=0, behind_proxy=True), lambda _: None)
    assert told.value.argument == "address"


def test_browsers_are_kept_to_tls_where_it_ends_here(tmp_path: Path) -> None:
    settings, file = Settings.write(tmp_path / "home"), tmp_path / "pem"
    headers = {
        path: dict(_config(Listening(tls_certificate=path, tls_key=path), settings, INTERFACE).headers)
        for path in (None, file)
    }
    assert headers == {None: {}, file: {"Strict-Transport-Security": "max-age=31536000"}}
