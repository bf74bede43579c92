"""Questions that stand still between their debit and their answer, for as long as a test wants them to.

As long as the file `hold` is in the home of a centre, a process that has debited a question makes the file `held` there
and waits.  So a test can stop, kill or overtake a question that is paid for, whatever the speed of the machine.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

from optcomp.center import runners
from optcomp.center.processes import Runner, Workplace, serve
from optcomp.interactive import answer
from optcomp.ledger import session

PATIENCE = 120.0  # seconds after which a test that waits for a question to be debited fails
_PAUSE = 0.005  # seconds between two looks for a file


def holding(home: Path) -> Callable[..., Any]:
    """What answers questions after their debit, and waits while they are held."""
    parent = os.getppid()

    def held(*question: Any) -> Any:
        while (home / "hold").exists() and os.getppid() == parent:
            (home / "held").touch()
            time.sleep(_PAUSE)
        return answer(*question)

    return held


def serve_and_hold(connection: Connection, place: Workplace) -> None:
    """The main loop of a process whose questions can be held."""
    session.answer = holding(place.home)  # type: ignore[attr-defined]
    serve(connection, place)


class _Holding(Runner):
    """A process whose questions can be held."""

    def __init__(self, place: Workplace) -> None:
        super().__init__(place, serve_and_hold)


@contextmanager
def processes_that_hold() -> Iterator[None]:
    """Runners that are made in this block have processes whose questions can be held."""
    with patch.object(runners, "Runner", _Holding):
        yield


@contextmanager
def held_questions(home: Path) -> Iterator[None]:
    """In this block no question about this home is answered after its debit."""
    (home / "hold").touch()
    try:
        yield
    finally:
        (home / "hold").unlink(missing_ok=True)
        (home / "held").unlink(missing_ok=True)


def go_on(home: Path) -> None:
    """Let the questions be answered that are held."""
    (home / "hold").unlink()


async def until_held(home: Path) -> None:
    """Wait until a question is paid for and held."""
    end = time.monotonic() + PATIENCE
    while not (home / "held").exists():
        assert time.monotonic() < end, f"no question was debited within {PATIENCE} seconds"
        await asyncio.sleep(_PAUSE)
