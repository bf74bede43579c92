"""Processes that answer: killed, cancelled, stopped by the clock, and never paid for twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp.center.failures import NOT_ANSWERED, Busy, Cancelled, CannotStart, RunnerDied, Stopped, TookTooLong
from optcomp.center.runners import Runners, token_of, until_next
from optcomp.errors import InvalidInput
from optcomp.statistics import Count
from tests.servers import new_database, postgres_address
from tests.unit.center.center_place import SLOW, SmallCenter, form, small_center

TINY = "1/1000000000"
"""ε with noise of a billion: two equal answers are one draw, or a wonder."""


@pytest.fixture
def center(tmp_path: Path) -> SmallCenter:
    """A new one for each test."""
    return small_center(tmp_path)


@asynccontextmanager
async def started(center: SmallCenter, count: int = 1, **settings: Any) -> AsyncIterator[Runners]:
    """Processes, ended afterwards."""
    runners = Runners(replace(center.settings, **settings), count)
    try:
        await runners.start()
        yield runners
    finally:
        await runners.close()


def slow(center: SmallCenter) -> dict[str, Any]:
    """A question that takes seconds after its debit."""
    return {"seat": center.seat(), "question": form(SLOW, epsilon="1/8"), "key": "slow"}


async def stopped(center: SmallCenter, runners: Runners, stop: Callable[[], object], kind: type[Stopped]) -> None:
    """Ask what is slow; when it is paid for, stop it; then ask again under the same key."""
    call = asyncio.ensure_future(runners.call("ask", slow(center)))
    await asyncio.to_thread(center.until_reserved)
    stop()
    with pytest.raises(kind) as error:
        await call
    assert str(error.value) == NOT_ANSWERED
    assert (center.waiting(), center.spent()) == (1, Fraction(1, 8))  # paid, and without an answer
    first = await runners.call("ask", slow(center))
    again = await runners.call("ask", slow(center))
    assert first["answer"]["amounts"] == again["answer"]["amounts"]
    assert first["request"] == again["request"]
    assert (center.waiting(), center.spent()) == (0, Fraction(1, 8))  # once, to the last digit
    with center.ledger() as ledger:
        assert ledger.verify().ok


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_process_is_replaced_and_its_question_is_paid_once(kind: str, tmp_path: Path) -> None:
    """SIGKILL while a question runs, with either kind of ledger."""
    with postgres_address() if kind == "postgresql" else nullcontext() as server:
        _killed(small_center(tmp_path, ledger=None if server is None else new_database(server)))


def _killed(center: SmallCenter) -> None:

    async def run() -> None:
        async with started(center) as runners:
            before = runners.processes
            await stopped(center, runners, lambda: os.kill(before[0], signal.SIGKILL), RunnerDied)
            assert len(runners.processes) == 1
            assert runners.processes != before

    asyncio.run(run())


def test_what_is_cancelled_stays_paid(center: SmallCenter) -> None:
    """By the seat and the key; another token is nobody's."""

    async def run() -> None:
        async with started(center) as runners:
            token = token_of(center.seat(), "slow")
            assert not runners.cancel(token)
            assert not runners.cancel("")
            await stopped(center, runners, lambda: runners.cancel(token), Cancelled)

    asyncio.run(run())


def test_the_limit_on_time_stops_a_question_and_not_the_next_one(center: SmallCenter) -> None:
    """The same key with more time costs nothing more."""

    async def run() -> None:
        async with started(center, seconds=0.3) as runners:
            with pytest.raises(TookTooLong, match="Ask again with the same key"):
                await runners.call("ask", slow(center))
            quick = {"seat": center.seat("ben"), "question": form(Count(), epsilon="1/100")}
            assert "answer" in await runners.call("ask", quick, seconds=30)
            spent = center.spent()
            assert spent in (0, Fraction(1, 8))
            found = await runners.call("finish_waiting", {"seats": [center.seat()]}, seconds=60)
            assert (len(found["finished"]), found["left"]) == (1 if spent else 0, [])
            assert "answer" in await runners.call("ask", slow(center), seconds=60)
            assert center.spent() == Fraction(1, 8)

    asyncio.run(run())


def test_noise_differs_between_processes_and_repeats(center: SmallCenter) -> None:
    """Two processes that were started at once, the same question again and again."""

    async def run() -> None:
        async with started(center, 2) as runners:
            assert len(set(runners.processes)) == 2
            told = []
            for repeat in range(0, 12, 2):
                calls = [
                    runners.call("ask", {"seat": seat, "question": form(Count(), epsilon=TINY), "repeat": repeat})
                    for seat in (center.seat("ada"), center.seat("ben"))
                ]
                told += [result["value"] for result in await asyncio.gather(*calls)]
            assert len(set(told)) == 12
            assert center.spent("ada") == center.spent("ben") == 6 * Fraction(TINY)

    asyncio.run(run())


def test_the_same_key_at_once_in_two_processes_is_one_request(center: SmallCenter) -> None:
    """The first answer that is stored is that of both."""

    async def run() -> None:
        async with started(center, 2) as runners:
            same = {"seat": center.seat(), "question": form(Count(), epsilon=TINY), "key": "both"}
            told = await asyncio.gather(*(runners.call("ask", same) for _ in range(8)))
            assert len({result["value"] for result in told}) == 1
            assert center.spent() == Fraction(TINY)

    asyncio.run(run())


def test_too_many_that_wait_are_told_so_and_what_waits_can_be_cancelled(center: SmallCenter) -> None:
    """Four for each process, and 64."""

    async def run() -> None:
        async with started(center) as runners:
            first = asyncio.ensure_future(runners.call("ask", slow(center)))
            waiting = [asyncio.ensure_future(runners.call("accounts", {}, token="crowd")) for _ in range(68)]
            await asyncio.sleep(0.1)
            assert (runners.working, runners.waiting) == (1, 68)
            with pytest.raises(Busy, match="nothing was spent"):
                await runners.call("accounts", {})
            assert runners.cancel("crowd")
            told = await asyncio.gather(*waiting, return_exceptions=True)
            assert {type(each) for each in told} == {Cancelled}
            assert "answer" in await first
            assert "accounts" in await runners.call("accounts", {})

    asyncio.run(run())


def test_whoever_stops_waiting_does_not_stop_what_was_paid_for(center: SmallCenter) -> None:
    """The answer is stored, and the process is free again."""

    async def run() -> None:
        async with started(center) as runners:
            call = asyncio.ensure_future(runners.call("ask", slow(center)))
            await asyncio.to_thread(center.until_reserved)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            found = await runners.call("transcript", {"seat": center.seat()})  # waits for its turn
            assert [line["outcome"] for line in found["requests"]] == ["answered"]
            assert center.spent() == Fraction(1, 8)

    asyncio.run(run())


def test_processes_that_do_not_start_are_an_error_and_not_a_loop(center: SmallCenter) -> None:
    """A ledger that is not there."""

    async def run() -> None:
        lost = replace(center.settings, ledger=str(center.settings.home / "lost.ledger"))
        runners = Runners(lost, 1)
        with pytest.raises(CannotStart, match="ended 2 times"):
            await runners.call("accounts", {})
        assert (runners.working, runners.processes) == (0, [])
        await runners.close()

    asyncio.run(run())


def test_answers_leave_at_multiples_of_a_bucket(center: SmallCenter) -> None:
    """Refusals of the same kind of job too."""
    assert until_next(0.5, 0.25) == 0
    assert until_next(0.5625, 0.25) == 0.1875

    async def run() -> None:
        async with started(center, bucket=1.5) as runners:
            for epsilon in ("1/100", "100"):
                begun = time.monotonic()
                await runners.call("ask", {"seat": center.seat(), "question": form(Count(), epsilon=epsilon)})
                passed = time.monotonic() - begun
                assert passed >= 1.5
                assert passed % 1.5 < 0.9

    asyncio.run(run())


def test_arguments_are_plain_json_and_known(center: SmallCenter) -> None:
    """Nothing else crosses the pipe."""

    async def run() -> None:
        async with started(center) as runners:
            with pytest.raises(InvalidInput, match="plain JSON"):
                await runners.call("accounts", {"of": object()})
            with pytest.raises(InvalidInput, match="plain JSON"):
                await runners.call("accounts", {"of": float("nan")})
            assert (await runners.call("no such job", {}))["error"] == "InvalidInput"
            assert (await runners.call("accounts", {"of": 1}))["error"] == "InvalidInput"
        with pytest.raises(Busy, match="closing"):
            await runners.call("accounts", {})

    asyncio.run(run())


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
        assert service.stdout is not None
        process = int(service.stdout.readline())
        assert Path(f"/proc/{process}").exists()
        service.kill()
    end = time.monotonic() + 20
    while Path(f"/proc/{process}/exe").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
