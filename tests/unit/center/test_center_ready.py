"""Whether a centre says that it is ready: only while ledger, database and processes do what a question needs."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from optcomp.center import readiness
from optcomp.center.failures import CannotStart
from optcomp.center.tables import TOKENS
from tests.unit.center.held import go_on, held_questions, until_held
from tests.unit.center.served import PATIENCE, QUESTION, Served, served


@pytest.fixture
def centre(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "home", processes=False) as found:
        yield found


def state(centre: Served) -> str:
    """What the centre says, with the status that belongs to it."""
    found = centre.call("get", "/ready")
    assert set(found.json()) == {"ok", "state"}
    assert (found.status_code, found.json()["ok"]) == (
        (200, True) if found.json()["state"] == "ready" else (503, False)
    )
    return str(found.json()["state"])


def looked(centre: Served) -> str:
    centre.wait(centre.service.readiness.look())
    return state(centre)


def test_the_request_itself_tries_nothing(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody can have work done by it."""

    def never(*_: object, **__: object) -> Any:
        raise AssertionError("nobody asked for that")

    for owner, name in ((centre.service.people, "who"), (centre.service.ledger, "watch"), (centre.service, "call")):
        monkeypatch.setattr(owner, name, never)
    monkeypatch.setattr(centre.service.runners, "call", never)
    assert [state(centre) for _ in range(5)] == ["ready"] * 5


def test_a_database_that_cannot_be_read(centre: Served) -> None:
    """By a table that is gone, as seen by whoever looks a token up."""
    with centre.service.store.write() as connection:
        connection.exec_driver_sql(f"ALTER TABLE {TOKENS.name} RENAME TO moved")
    assert looked(centre) == "database"
    with centre.service.store.write() as connection:
        connection.exec_driver_sql(f"ALTER TABLE moved RENAME TO {TOKENS.name}")
    assert looked(centre) == "ready"


def test_threads_that_all_wait(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """No request could be answered, and the server said that it was ready."""
    monkeypatch.setattr(readiness, "_LIMIT", 0.05)
    free = threading.Event()

    async def crowded() -> None:
        limiter = anyio.to_thread.current_default_thread_limiter()
        most, limiter.total_tokens = limiter.total_tokens, 1
        waiting = asyncio.ensure_future(anyio.to_thread.run_sync(free.wait, PATIENCE))
        try:
            await asyncio.sleep(0)
            await centre.service.readiness.look()
        finally:
            limiter.total_tokens = most
            free.set()
            await waiting

    centre.wait(crowded())
    assert state(centre) == "unreachable"
    monkeypatch.setattr(readiness, "_LIMIT", PATIENCE)
    assert looked(centre) == "ready"


def test_a_process_that_does_not_start(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = centre.service.runners._all[0]  # one that answers questions

    def fails() -> None:
        raise CannotStart("for a reason")

    runner.kill()
    with monkeypatch.context() as broken:
        broken.setattr(runner, "ensure", fails)
        assert looked(centre) == "processes"
    assert looked(centre) == "ready"


def test_a_process_that_cannot_read_the_ledger(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = centre.service.runners._all[0]  # one that answers questions
    monkeypatch.setattr(runner._ledger._books.database, "read", None)  # type: ignore[attr-defined]
    assert looked(centre) == "processes"


def test_a_look_that_was_long_ago(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert state(centre) == "ready"
    monkeypatch.setattr(readiness, "_STALE", -1.0)
    assert state(centre) == "unreachable"


def test_failures_are_logged_once(centre: Served, capfd: pytest.CaptureFixture[str]) -> None:
    with centre.service.store.write() as connection:
        connection.exec_driver_sql(f"ALTER TABLE {TOKENS.name} RENAME TO moved")
    capfd.readouterr()
    for _ in range(3):
        assert looked(centre) == "database"
    lines = [line for line in capfd.readouterr().err.splitlines() if '"not ready"' in line]
    assert len(lines) == 1
    assert '"state": "database"' in lines[0]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_process_that_stands_still_or_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    """It is replaced, and the centre says that it is not ready until then."""
    with served(tmp_path / "home") as centre:
        assert looked(centre) == "ready"
        (process,) = centre.service.runners.processes
        os.kill(process, how)
        with monkeypatch.context() as short:
            short.setattr(readiness, "_LIMIT", 0.05)  # in which no process starts
            assert looked(centre) == "processes"
        monkeypatch.setattr(readiness, "_LIMIT", PATIENCE)
        assert "ready" in (looked(centre), looked(centre))  # the first look may see how the try before ended
        assert centre.service.runners.processes != [process]


@pytest.mark.slow
def test_being_busy_is_not_unready(tmp_path: Path) -> None:
    """All processes are at work on a question that takes as long as the test wants."""
    with served(tmp_path / "home") as centre, held_questions(centre.settings.home):
        body, path = {"question": QUESTION}, f"/api/v1/seats/{centre.seat()}/questions"
        asked = asyncio.run_coroutine_threadsafe(centre.acall("post", path, "ada", body), centre.loop)
        centre.wait(until_held(centre.settings.home))
        for _ in range(3):
            assert looked(centre) == "ready"
        go_on(centre.settings.home)
        assert asked.result(PATIENCE).status_code == 200
