"""The limit on memory of a process that answers: what takes too much ends alone, and tells nothing by that."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp.center.failures import NOT_ANSWERED, Stopped
from optcomp.center.processes import keep_loaded
from optcomp.center.runners import Runners
from optcomp.statistics import Contingency, Count
from tests.unit.center.center_place import SmallCenter, form, small_center
from tests.unit.center.held import processes_that_hold

MUCH = Contingency(("place", "time", "region"))
"""A hundred and fifty thousand cells with noise: far more than 75 megabytes, where a count takes less than 50."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts private memory")

_ALLOCATES = """
import sys
from optcomp.center.processes import limit_memory
limit_memory(int(sys.argv[1]))
try:
    held = bytearray(int(sys.argv[2]) << 20)
except MemoryError:
    print("refused")
else:
    print(len(held) >> 20)
"""
"""Sets a limit, and asks for memory."""


@pytest.mark.parametrize(("limit", "asked", "told"), [(64, 16, "16"), (64, 128, "refused"), (0, 128, "128")])
def test_the_system_refuses_what_is_beyond_the_limit(limit: int, asked: int, told: str) -> None:
    """Megabytes; 0 is no limit."""
    command = [sys.executable, "-c", _ALLOCATES, str(limit), str(asked)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip() == told


@asynccontextmanager
async def started(center: SmallCenter, **settings: Any) -> AsyncIterator[Runners]:
    """A process, ended afterwards."""
    with processes_that_hold():
        runners = Runners(replace(center.settings, **settings), 1)
    try:
        await runners.start()
        yield runners
    finally:
        await runners.close()


async def told_of(runners: Runners, arguments: dict[str, Any]) -> str:
    """The words in which there is no answer."""
    try:
        found = await runners.call("ask", arguments)
    except Stopped as error:
        return str(error)
    return str(found.get("words", "an answer"))


@pytest.mark.slow
def test_a_question_that_takes_too_much_fails_alone(tmp_path: Path) -> None:
    """Paid, in the words of every such failure; others go on, and with more memory the same key has the answer."""
    center: SmallCenter = small_center(tmp_path)
    much = {"seat": center.seat(), "question": form(MUCH, epsilon="1/8"), "key": "much"}

    async def run() -> None:
        async with started(center, memory=75) as small:
            for number in range(2):
                assert await told_of(small, much) == NOT_ANSWERED
                assert (center.waiting(), center.spent()) == (1, Fraction(1, 8))
                little = {"seat": center.seat("ben"), "question": form(Count(), epsilon="1/100"), "key": f"{number}"}
                assert await told_of(small, little) == "an answer"
        async with started(center) as large:  # with the default
            lines = Path(f"/proc/{large.processes[0]}/limits").read_text().splitlines()
            assert "unlimited" not in next(line for line in lines if line.startswith("Max data size"))
            assert next(line for line in lines if line.startswith("Max core file")).split()[4:6] == ["0", "0"]
            assert await told_of(large, much) == "an answer"

    asyncio.run(run())
    assert (center.waiting(), center.spent()) == (0, Fraction(1, 8))


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_no_working_folder_outlasts_its_process(killed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine may have written rows there."""
    center: SmallCenter = small_center(tmp_path)
    question = {"seat": center.seat(), "question": form(Count(), epsilon="1/8"), "key": "first"}
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    async def run() -> None:
        async with started(center) as runners:
            assert await told_of(runners, question) == "an answer"
            before = set(folder.glob("optcomp-rows-*"))
            assert before
            if killed:
                os.kill(runners.processes[0], signal.SIGKILL)
                assert await told_of(runners, question | {"key": "next"}) == NOT_ANSWERED
                await runners.start()
                assert not before & set(folder.glob("optcomp-rows-*"))

    asyncio.run(run())
    assert not list(folder.glob("optcomp-*"))


def test_what_is_loaded_is_not_looked_through_again() -> None:
    try:
        keep_loaded()
        assert gc.get_freeze_count() > 10_000
        assert len(gc.get_objects()) < 1_000
    finally:
        gc.unfreeze()
    assert gc.get_freeze_count() == 0
