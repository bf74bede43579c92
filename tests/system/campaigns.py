"""Campaigns in an interpreter of their own: workers are forked from it, and it must have no threads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from tests.servers import postgres_address

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE = 1800.0
"""Seconds after which a campaign that does not end fails the test."""


def campaign(name: str, *arguments: str) -> tuple[int, str]:
    """The exit code and everything that was printed."""
    command = [sys.executable, "-m", f"tests.campaign.{name}", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    return ended.returncode, ended.stdout + ended.stderr


@contextmanager
def server(database: str) -> Iterator[list[str]]:
    """Arguments that tell a campaign where PostgreSQL runs, if it needs one."""
    with postgres_address() if database == "postgres" else nullcontext() as address:
        yield [] if address is None else ["--server", address]
