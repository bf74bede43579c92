"""Processes that read sources and stand still at a step of registering, for as long as a test wants them to."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fastapi import FastAPI

from optcomp.center import Settings, changes, datasets, make_app, preparers, source_jobs
from optcomp.center.processes import Runner
from optcomp.center.source_jobs import serve
from optcomp.statistics import Table
from tests.unit.center.held import PATIENCE

STEPS = {
    "read": (datasets, "new_folder"),
    "frozen": (datasets.Datasets, "_opened"),
    "account opened": (Table, "bind"),
    "noted": (changes.Changes, "note"),
    "registered": (source_jobs, "registered"),
}
"""For each step what is called next."""
_PAUSE = 0.005  # seconds between two looks for a file


def _holding(home: Path, call: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    parent = os.getppid()

    def held(*given: Any, **more: Any) -> Any:
        found = call(*given, **more) if after else None
        while (home / "hold").exists() and os.getppid() == parent:
            (home / "held").touch()
            time.sleep(_PAUSE)
        return found if after else call(*given, **more)

    return held


def serve_and_hold(connection: Connection, settings: Settings) -> None:
    """The main loop of a process that stands still at the step in the file `step` of the home; or wants a gigabyte."""
    step = (settings.home / "step").read_text()
    if step == "gigabyte":
        datasets.new_folder = lambda *_: bytearray(1 << 30)  # type: ignore[attr-defined,assignment]
        serve(connection, settings)
    where, name = STEPS[step]
    setattr(where, name, _holding(settings.home, getattr(where, name), after=step == "noted"))
    serve(connection, settings)


class _Holding(Runner):
    def __init__(self, place: Any, main: Any) -> None:
        super().__init__(place, serve_and_hold)


Make = Callable[[Settings], FastAPI]
"""Makes the application of a centre."""


def with_processes(settings: Settings, make: Make = make_app, kind: type[Runner] = Runner) -> FastAPI:
    """A centre whose processes that read sources are real ones, whatever the others are."""
    with patch.object(preparers, "Runner", kind):
        return make(settings)


def with_processes_held(settings: Settings, make: Make = make_app) -> FastAPI:
    """The same; they stand still at the step that the file `step` in the home names, while there is a file `hold`."""
    return with_processes(settings, make, _Holding)


def hold(home: Path, step: str) -> None:
    """Have the next process stand still at a step."""
    (home / "step").write_text(step)
    (home / "hold").touch()


def go_on(home: Path) -> None:
    """No process stands still any more."""
    (home / "hold").unlink()
    (home / "held").unlink(missing_ok=True)


async def until_held(home: Path) -> None:
    """Wait until a process stands still."""
    end = time.monotonic() + PATIENCE
    while not (home / "held").exists():
        assert time.monotonic() < end, f"no process came to the step within {PATIENCE} seconds"
        await asyncio.sleep(_PAUSE)
