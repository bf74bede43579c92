"""Starting the server: a socket, workers of uvicorn, and a word to whoever waits when it answers.

Each worker is a process of its own, with its own connections and runners; what they share is in the databases.  One
that dies is started again.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from optcomp.extras import needed

needed("uvicorn", "center")  # looked for here, so that its absence is told in one place

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from optcomp.center.app import HOME
from optcomp.center.connections import LimitedConfig
from optcomp.center.failures import CannotStart
from optcomp.center.settings import Settings
from optcomp.center.store import Store
from optcomp.errors import InvalidInput
from optcomp.ledger import Ledger

_HSTS = ("Strict-Transport-Security", "max-age=31536000")
"""Where TLS ends here, browsers use no plain HTTP for this name for a year."""
_ASK_EVERY = 0.05
"""Seconds between two looks whether the server answers."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""How many threads linear algebra takes in each process: there are as many processes as there is work for."""
INTERFACE = "optcomp.center.app:from_environment"
"""What workers run: the HTTP interface alone."""
_IDLE = 15
"""Seconds that a connection may stay open between two requests: clients open a new one when they need it."""


@dataclass(frozen=True)
class Listening:
    """Where and how a server listens."""

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    """Whether a proxy on this machine tells who asks, in X-Forwarded-For and X-Forwarded-Proto."""

    def check(self) -> None:
        """Refuses what cannot work."""
        if not 0 <= self.port < 65536:
            raise InvalidInput("port", self.port, "must lie between 0 and 65535")
        if not 1 <= self.workers <= 256:
            raise InvalidInput("workers", self.workers, "must lie between 1 and 256")
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise InvalidInput("tls", "one of two", "needs both a certificate and its key")
        for path in (self.tls_certificate, self.tls_key):
            if path is not None and not path.is_file():
                raise InvalidInput("tls", str(path), "is not a file")


def serve(
    settings: Settings, listening: Listening, answering: Callable[[str], None], *, application: str = INTERFACE
) -> None:
    """Serve until a signal ends it; `answering` is called once with the address, when the server answers.

    `application` names what workers run, as module:function.
    """
    listening.check()
    if listening.behind_proxy and settings.address is None:
        problem = "must be set for --behind-proxy: the address that browsers use, such as https://center.example.org"
        raise InvalidInput("address", None, problem)
    with Store(settings), Ledger(settings.ledger, **settings.beside_ledger):
        pass  # what does not open is told here, and not by every worker
    os.environ[HOME] = str(settings.home)
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    config = _config(listening, settings, application)
    with _bound(listening) as bound:
        port = bound.getsockname()[1]
        url = f"{'https' if listening.tls_key else 'http'}://{_shown(listening.host)}:{port}"
        answered, ended = threading.Event(), threading.Event()

        def told(address: str) -> None:
            answered.set()
            answering(address)

        threading.Thread(target=_tell, args=(url, listening, port, told, ended), daemon=True).start()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)  # the server ends by itself, and what follows here is done
        try:
            started = _served(config, bound, answered)
        finally:
            ended.set()
        if not started:
            raise CannotStart("the server could not start; its log says why")


def _served(config: uvicorn.Config, bound: socket.socket, answered: threading.Event) -> bool:
    """Whether it served, until a signal ended it."""
    if config.workers == 1:
        server = uvicorn.Server(config)
        try:
            server.run(sockets=[bound])
        except SystemExit:  # in this way uvicorn says that it could not start
            return False
        return bool(server.started)
    supervisor = _Workers(config, [bound], answered)
    supervisor.run()
    return not supervisor.failed


class _Workers(Multiprocess):
    """Workers that may take as long as they need to start; if one ends before the server answers, starting failed."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], answered: threading.Event) -> None:
        super().__init__(config, sockets)
        self._answered, self.failed = answered, False

    def keep_subprocess_alive(self) -> None:
        """Start again what died or hangs, once the server has answered."""
        if self._answered.is_set():
            super().keep_subprocess_alive()
            self.failed = any(process.exitcode == STARTUP_FAILURE for process in self.processes)
        elif any(process.exitcode is not None for process in self.processes) and not self.should_exit.is_set():
            self.failed = True
            self.should_exit.set()


def _config(listening: Listening, settings: Settings, application: str) -> uvicorn.Config:
    return LimitedConfig(
        application,
        header_seconds=settings.header_seconds,
        connections=0 if listening.behind_proxy else settings.connections,  # all of them are those of the proxy
        factory=True,
        host=listening.host,
        port=listening.port,
        workers=listening.workers,
        ssl_certfile=None if listening.tls_certificate is None else str(listening.tls_certificate),
        ssl_keyfile=None if listening.tls_key is None else str(listening.tls_key),
        proxy_headers=listening.behind_proxy,
        forwarded_allow_ips="127.0.0.1,::1" if listening.behind_proxy else "",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        headers=[_HSTS] if listening.tls_certificate is not None else [],
        timeout_keep_alive=_IDLE,
        timeout_worker_healthcheck=60,  # a machine at work may let a process wait
        timeout_graceful_shutdown=30,
        h11_max_incomplete_event_size=16 * 1024,
    )


def _bound(listening: Listening) -> socket.socket:
    """A socket that listens; port 0 picks one."""
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, else asyncio leaves Nagle's delay on
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((listening.host, listening.port))
        made.listen()  # now, else another server that starts at the same time has the port too
    except OSError as error:
        made.close()
        where = f"{listening.host}:{listening.port}"
        raise InvalidInput("port", where, f"cannot be listened on ({error.strerror})") from None
    made.set_inheritable(True)
    return made


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else "127.0.0.1" if host == "0.0.0.0" else host


def _tell(url: str, listening: Listening, port: int, answering: Callable[[str], None], ended: threading.Event) -> None:
    """Ask until the server answers, however long that takes, and say so; give up when it has ended."""
    while not ended.wait(_ASK_EVERY):
        if _answers(listening, port):
            answering(url)
            return


def _answers(listening: Listening, port: int) -> bool:
    host = _shown(listening.host).strip("[]")
    if listening.tls_key is None:
        asked = http.client.HTTPConnection(host, port, timeout=5)
    else:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # our own server, on our own machine
        asked = http.client.HTTPSConnection(host, port, timeout=5, context=context)
    try:
        asked.request("GET", "/health", headers={"Host": "localhost"})
        return asked.getresponse().status in (200, 421)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        asked.close()
