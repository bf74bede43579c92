"""A centre to try, in a process of its own: what `optcomp serve --demo` starts, for programs and pages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from optcomp.errors import OptcompError

_COMMAND = "from optcomp.cli.main import run; run()"
"""The command `optcomp`, wherever it is installed."""
_ENDS_WITHIN = 60.0
"""Seconds in which a server ends that was asked to."""


class DidNotStart(OptcompError):
    """A server ended before it answered."""


@contextmanager
def demo_server(*arguments: str) -> Iterator[dict[str, Any]]:
    """A server that answers, and is stopped at the end: its `url`, and the tokens of everybody.

    >>> with demo_server() as told:
    ...     session = optcomp.Client(told["url"], told["analysts"][0]).open("survey")
    """
    command = [sys.executable, "-c", _COMMAND, "serve", "--demo", "--port", "0", "--json", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            line = server.stdout.readline() if server.stdout is not None else ""
            if not line:
                raise DidNotStart("the server ended before it answered: run `optcomp serve --demo` to see why")
            told = json.loads(line)
            if "error" in told:
                raise DidNotStart(f"{told['error']}: run `optcomp serve --demo` to see more")
            yield told
        finally:
            server.terminate()
            server.wait(_ENDS_WITHIN)
