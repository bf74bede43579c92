"""Processes that answer: killed, cancelled, stopped by the clock, and never paid for twice.

What is about turns, limits and arguments alone is tested without processes.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from optcomp.center.failures import NOT_ANSWERED, Busy, Cancelled, CannotStart, RunnerDied, Stopped, TookTooLong
from optcomp.center.runners import Runners, token_of
from optcomp.errors import InvalidInput
from optcomp.ledger import session
from optcomp.statistics import Count
from tests.servers import postgres_address
from tests.unit.center.center_place import SmallCenter, form, small_center
from tests.unit.center.held import PATIENCE, go_on, held_questions, holding, processes_that_hold, until_held
from tests.unit.center.served import in_this_process

TINY = "1/1000000000000"
"""ε with noise of scale 10^12: two draws are equal with probability 1/(4 * 10^12), some two of twelve with 2e-11."""


@asynccontextmanager
async def started(center: SmallCenter, **settings: Any) -> AsyncIterator[Runners]:
    """A process whose questions can be held, ended afterwards."""
    with processes_that_hold():
        runners = Runners(replace(center.settings, **settings), 1)
    try:
        await runners.start()
        yield runners
    finally:
        await runners.close()


@asynccontextmanager
async def started_here(center: SmallCenter, **settings: Any) -> AsyncIterator[Runners]:
    """A runner without a process, whose questions can be held."""
    with in_this_process():
        runners = Runners(replace(center.settings, **settings), 1)
    with patch.object(session, "answer", holding(center.settings.home)):
        try:
            await runners.start()
            yield runners
        finally:
            await runners.close()


@asynccontextmanager
async def held(center: SmallCenter) -> AsyncIterator[None]:
    """Questions are held, until somebody lets them go on."""
    with held_questions(center.settings.home):
        yield


def question(center: SmallCenter) -> dict[str, Any]:
    """A question of ε = 1/8."""
    return {"seat": center.seat(), "question": form(Count(), epsilon="1/8"), "key": "held"}


async def stopped(center: SmallCenter, runners: Runners, stop: Callable[[], object], kind: type[Stopped]) -> None:
    """Stop a question when it is paid for; then ask again under the same key."""
    with held_questions(center.settings.home):
        call = asyncio.ensure_future(runners.call("ask", question(center)))
        await until_held(center.settings.home)
        stop()
        with pytest.raises(kind) as error:
            await call
    assert str(error.value) == NOT_ANSWERED
    assert (center.waiting(), center.spent()) == (1, Fraction(1, 8))  # paid, and without an answer
    first = await runners.call("ask", question(center))
    again = await runners.call("ask", question(center))
    assert first["answer"]["amounts"] == again["answer"]["amounts"]
    assert first["request"] == again["request"]
    assert (center.waiting(), center.spent()) == (0, Fraction(1, 8))  # once, to the last digit
    with center.ledger() as ledger:
        assert ledger.verify().ok


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_process_is_replaced_and_its_question_is_paid_once(kind: str, tmp_path: Path) -> None:
    """SIGKILL while a question runs, with either kind of ledger."""
    if kind == "sqlite":
        _killed(small_center(tmp_path))
        return
    with postgres_address() as database:
        _killed(small_center(tmp_path, ledger=database))


def _killed(center: SmallCenter) -> None:

    async def run() -> None:
        async with started(center) as runners:
            before = runners.processes
            await stopped(center, runners, lambda: os.kill(before[0], signal.SIGKILL), RunnerDied)
            assert len(runners.processes) == 1
            assert runners.processes != before

    asyncio.run(run())


@pytest.mark.slow
def test_what_is_cancelled_stays_paid(center: SmallCenter) -> None:
    """By the seat and the key; another token is nobody's."""

    async def run() -> None:
        async with started(center, readers=1) as runners:
            assert (len(runners.processes), len(runners.readers)) == (1, 1)
            assert set(runners.processes).isdisjoint(runners.readers)
            token = token_of(center.seat(), "held")
            assert not runners.cancel(token)
            assert not runners.cancel("")
            await stopped(center, runners, lambda: runners.cancel(token), Cancelled)

    asyncio.run(run())


@pytest.mark.slow
def test_a_quick_question_is_not_killed(center: SmallCenter, monkeypatch: pytest.MonkeyPatch) -> None:
    """To start a process takes longer than its answer: it is told, and the process goes on."""
    monkeypatch.setattr("optcomp.center.runners.QUICK", PATIENCE)

    async def run() -> None:
        async with started(center) as runners:
            before = runners.processes
            with held_questions(center.settings.home):
                call = asyncio.ensure_future(runners.call("ask", question(center)))
                await until_held(center.settings.home)
                assert runners.cancel(token_of(center.seat(), "held"))
                go_on(center.settings.home)
                assert "answer" in await call
            assert runners.processes == before

    asyncio.run(run())


@pytest.mark.slow
def test_the_limit_on_time_stops_a_question_and_not_the_next_one(center: SmallCenter) -> None:
    """The same key with more time costs nothing more."""

    async def run() -> None:
        async with started(center, seconds=0.3) as runners:
            with (
                held_questions(center.settings.home),
                pytest.raises(TookTooLong, match="Ask again with the same key"),
            ):
                await runners.call("ask", question(center))
            quick = {"seat": center.seat("ben"), "question": form(Count(), epsilon="1/100")}
            assert "answer" in await runners.call("ask", quick, seconds=PATIENCE)
            spent = center.spent()
            assert spent in (0, Fraction(1, 8))  # it may have been stopped before its debit, too
            found = await runners.call("finish_waiting", {"seats": [center.seat()]}, seconds=PATIENCE)
            assert (len(found["finished"]), found["left"]) == (1 if spent else 0, [])
            assert "answer" in await runners.call("ask", question(center), seconds=PATIENCE)
            assert center.spent() == Fraction(1, 8)

    asyncio.run(run())


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Callable[..., Any]], None]]:
    """Runs a coroutine function with a centre and two processes, which some tests share."""
    center = small_center(tmp_path_factory.mktemp("two"))
    with asyncio.Runner() as loop:
        with processes_that_hold():
            runners = Runners(center.settings, 2)
        try:
            loop.run(runners.start())
            yield lambda test: loop.run(test(center, runners))
        finally:
            loop.run(runners.close())


def test_noise_differs_between_processes_and_repeats(two: Callable[[Callable[..., Any]], None]) -> None:
    """Two processes that were started at once, the same question again and again."""

    async def run(center: SmallCenter, runners: Runners) -> None:
        assert len(set(runners.processes)) == 2
        before = center.spent("ada"), center.spent("ben")
        told = []
        for repeat in range(0, 12, 2):
            calls = [
                runners.call("ask", {"seat": seat, "question": form(Count(), epsilon=TINY), "repeat": repeat})
                for seat in (center.seat("ada"), center.seat("ben"))
            ]
            told += [result["value"] for result in await asyncio.gather(*calls)]
        assert len(set(told)) == 12
        assert (center.spent("ada") - before[0], center.spent("ben") - before[1]) == (6 * Fraction(TINY),) * 2

    two(run)


def test_the_same_key_at_once_in_two_processes_is_one_request(two: Callable[[Callable[..., Any]], None]) -> None:
    """The first answer that is stored is that of both."""

    async def run(center: SmallCenter, runners: Runners) -> None:
        before = center.spent()
        same = {"seat": center.seat(), "question": form(Count(), epsilon=TINY), "key": "both"}
        told = await asyncio.gather(*(runners.call("ask", same) for _ in range(8)))
        assert len({result["value"] for result in told}) == 1
        assert center.spent() - before == Fraction(TINY)

    two(run)


def test_arguments_are_plain_json_and_known(two: Callable[[Callable[..., Any]], None]) -> None:
    """Nothing else crosses the pipe."""

    async def run(center: SmallCenter, runners: Runners) -> None:
        with pytest.raises(InvalidInput, match="plain JSON"):
            await runners.call("accounts", {"of": object()})
        with pytest.raises(InvalidInput, match="plain JSON"):
            await runners.call("accounts", {"of": float("nan")})
        assert (await runners.call("no such job", {}))["error"] == "InvalidInput"
        assert (await runners.call("accounts", {"of": 1}))["error"] == "InvalidInput"

    two(run)


def test_runners_that_are_closed_take_no_jobs(center: SmallCenter) -> None:
    async def run() -> None:
        async with started_here(center) as runners:
            assert "accounts" in await runners.call("accounts", {})
        with pytest.raises(Busy, match="closing"):
            await runners.call("accounts", {})

    asyncio.run(run())


def test_too_many_that_wait_are_told_so_and_what_waits_can_be_cancelled(center: SmallCenter) -> None:
    """Four for each process, and 64."""

    async def run() -> None:
        async with started_here(center) as runners, held(center):
            first = asyncio.ensure_future(runners.call("ask", question(center)))
            wait: dict[str, Any] = {"seats": []}
            waiting = [asyncio.ensure_future(runners.call("finish_waiting", wait, token="crowd")) for _ in range(68)]
            await until_held(center.settings.home)
            assert (runners.working, runners.waiting) == (1, 68)
            with pytest.raises(Busy, match="nothing was spent"):
                await runners.call("finish_waiting", wait)
            assert runners.cancel("crowd")
            told = await asyncio.gather(*waiting, return_exceptions=True)
            assert {type(each) for each in told} == {Cancelled}
            go_on(center.settings.home)
            assert "answer" in await first
            assert "accounts" in await runners.call("accounts", {})

    asyncio.run(run())


def test_whoever_stops_waiting_does_not_stop_what_was_paid_for(center: SmallCenter) -> None:
    """The answer is stored, and the process is free again."""

    async def run() -> None:
        async with started_here(center) as runners, held(center):
            call = asyncio.ensure_future(runners.call("ask", question(center)))
            await until_held(center.settings.home)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            go_on(center.settings.home)
            await runners.call("finish_waiting", {"seats": []})  # waits for its turn
            found = await runners.call("transcript", {"seat": center.seat()})
            assert [line["outcome"] for line in found["requests"]] == ["answered"]
            assert center.spent() == Fraction(1, 8)

    asyncio.run(run())


@pytest.mark.slow
def test_processes_that_do_not_start_are_an_error_and_not_a_loop(center: SmallCenter) -> None:
    """A ledger that is not there."""

    async def run() -> None:
        lost = replace(center.settings, ledger=str(center.settings.home / "lost.ledger"))
        runners = Runners(lost, 1)
        try:
            with pytest.raises(CannotStart, match="ended 2 times"):
                await runners.call("accounts", {})
            assert (runners.working, runners.processes) == (0, [])
        finally:
            await runners.close()

    asyncio.run(run())


@pytest.mark.slow
def test_processes_end_with_a_service_that_was_killed(center: SmallCenter, tmp_path: Path) -> None:
    """Nobody is left behind."""
    script = tmp_path / "service.py"
    script.write_text(
        textwrap.dedent("""
        import asyncio, sys, time
        from pathlib import Path
        sys.path.insert(0, sys.argv[1])
        from tests.unit.center.center_place import PlaceOfTests
        from optcomp.center.runners import Runners

        async def main():
            home = Path(sys.argv[2])
            runners = Runners(PlaceOfTests(home, str(home / "center.ledger"), home / "center.ledger.private"), 1)
            await runners.start()
            print(*runners.processes, flush=True)
            await asyncio.sleep(600)

        if __name__ == "__main__":
            asyncio.run(main())
        """)
    )
    command = [sys.executable, str(script), str(Path(__file__).parents[3]), str(center.settings.home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            process = int(service.stdout.readline())
            assert Path(f"/proc/{process}").exists()
        finally:
            service.kill()
    end = time.monotonic() + PATIENCE
    while Path(f"/proc/{process}/exe").exists():
        assert time.monotonic() < end, f"a process did not end within {PATIENCE} seconds of its service"
        time.sleep(0.05)
