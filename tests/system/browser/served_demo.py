"""The demonstration with its pages on a real socket, served by a thread of this process, which answers questions too.

For tests in which processes are not the point: that `optcomp serve --demo` is the same application, in processes of its
own, is seen where `demo_server` is used.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from optcomp.center import make_demo, runners
from optcomp.pages import desk_questions, office_jobs
from optcomp.pages.app import make_app
from tests.unit.center.served import InThisProcess

_PATIENCE = 180.0
"""Seconds after which a server that does not start or end fails the test."""
_LIMITS = {"seconds": 600, "free_seconds": 600, "calculator_seconds": 60} | dict.fromkeys(
    ("rate", "logins", "calculations", "free_processor_seconds"), 10**6
)
"""Limits of time and of requests that are far away, however busy the machine is."""


@contextmanager
def served_demo(folder: Path) -> Iterator[dict[str, Any]]:
    """A server that answers, and is stopped at the end: what `optcomp serve --demo --json` prints."""
    made = make_demo(folder / "center", runners=1, readers=0, **_LIMITS)
    with pytest.MonkeyPatch.context() as patch, socket.socket() as bound:
        patch.setenv("OMP_NUM_THREADS", "1")  # as `optcomp serve` does
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        patch.setattr(runners, "Runner", InThisProcess)
        patch.setattr(desk_questions, "_PATIENCE", _PATIENCE)  # a page waits for its answer, instead of being reloaded
        patch.setattr(office_jobs, "PATIENCE", _PATIENCE)
        bound.bind(("127.0.0.1", 0))
        app = make_app(made.settings)
        app.state.service._calculates = False  # a calculator starts when somebody calculates
        server = uvicorn.Server(uvicorn.Config(app, ws="none", log_config=None, access_log=False))
        thread = threading.Thread(target=server.run, args=([bound],), name="served-demo")
        thread.start()
        try:
            _until_started(server, thread)
            yield {"url": f"http://127.0.0.1:{bound.getsockname()[1]}", **made.document()}
        finally:
            server.should_exit = True
            thread.join(_PATIENCE)
            assert not thread.is_alive(), "the server does not end"


def _until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    until = time.monotonic() + _PATIENCE
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < until, "the server has not started yet"
        time.sleep(0.01)
