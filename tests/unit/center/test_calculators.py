"""Processes that calculate for visitors: ended past their limits, apart from data and ledger, fair to everybody.

What is about turns and remembered results alone is tested without processes.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from optcomp.center import calculators as calculators_module
from optcomp.center.calculators import Calculators, Limits, serve, visitor
from optcomp.center.failures import Busy, RunnerDied, TookTooLong
from optcomp.center.processes import Runner
from optcomp.center.refusals import TooMany
from optcomp.center.settings import Settings
from tests.unit.center.served import PATIENCE, in_this_process

GIVEN = {"mechanisms": "0.1x50", "sought": "epsilon", "at": "1e-6"}
SLOW = {
    "mechanisms": " ".join(f"subsampled(gaussian(sigma={n}.5),rate=0.01)x{n}" for n in range(1, 150)),
    "sought": "epsilon",
    "at": "1e-6",
}
"""Half a minute of work."""


@asynccontextmanager
async def calculators(tmp_path: Path, *, processes: bool = False, **given: Any) -> AsyncIterator[Calculators]:
    with nullcontext() if processes else in_this_process():
        made = Calculators(Settings.write(tmp_path / "home", **given))
    try:
        await made.start()
        yield made
    finally:
        await made.close()


@pytest.mark.slow
def test_a_calculation_past_its_time_is_ended_and_the_next_works(tmp_path: Path) -> None:
    async def tried() -> None:
        async with calculators(tmp_path, processes=True, calculator_seconds=1) as made:
            (before,) = made.processes
            with pytest.raises(TookTooLong):
                await made.call("answer", {"given": SLOW}, address="127.0.0.1")
            made._seconds = PATIENCE  # what follows takes a moment, of whatever length on a busy machine
            found = await made.call("answer", {"given": GIVEN}, address="127.0.0.1")
            assert found["bound"]["count"] == 50
            assert before not in made.processes

    asyncio.run(tried())


@pytest.mark.slow
def test_a_process_has_a_limit_on_memory(tmp_path: Path) -> None:
    async def tried() -> None:
        async with calculators(tmp_path, processes=True, calculator_memory=20, calculator_seconds=60) as made:
            text = "- {epsilon: 0.1}\n" * 200_000
            with pytest.raises(RunnerDied):
                await made.call("read_file", {"text": text, "ending": "yaml"}, address="127.0.0.1")
            assert (await made.call("answer", {"given": GIVEN}, address="127.0.0.1"))["bound"]["finite"]

    asyncio.run(tried())


def test_places_are_limited_and_addresses_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One address sends nine: one is worked on, six wait, two are refused; whoever comes later waits for few."""
    begun, go_on = list[int](), threading.Event()

    def perform(job: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        begun.append(arguments["number"])
        assert go_on.wait(PATIENCE), f"{job} was not let go on within {PATIENCE} seconds"
        return {"number": arguments["number"]}

    monkeypatch.setattr(calculators_module, "perform", perform)

    async def tried() -> None:
        async with calculators(tmp_path, calculator_seconds=60) as made:

            def ask(number: int, address: str) -> asyncio.Task[Any]:
                return asyncio.ensure_future(made.call("answer", {"number": number}, address=address))

            try:
                asked = [ask(number, "10.0.0.1") for number in range(9)]
                await asyncio.sleep(0)
                other = ask(20, "10.0.0.2")
                await asyncio.sleep(0)
            finally:
                go_on.set()
            found = await asyncio.gather(*asked, return_exceptions=True)
            assert [type(each) for each in found] == [dict] * 7 + [TooMany] * 2
            assert await other == {"number": 20}

    asyncio.run(tried())
    assert begun == [0, 1, 20, 2, 3, 4, 5, 6]


def test_whoever_left_is_not_calculated_for(tmp_path: Path) -> None:
    async def gone() -> bool:
        return True

    async def tried() -> None:
        async with calculators(tmp_path) as made:
            with pytest.raises(Busy):
                await made.call("answer", {"given": SLOW}, address="127.0.0.1", gone=gone)
            assert (await made.call("answer", {"given": GIVEN}, address="127.0.0.1"))["bound"]["finite"]

    asyncio.run(tried())


def test_results_are_remembered_and_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optcomp.center.calculators._KEPT", 2)

    async def tried() -> None:
        async with calculators(tmp_path) as made:
            first = await made.call("answer", {"given": GIVEN}, address="127.0.0.1")
            assert await made.call("answer", {"given": dict(reversed(GIVEN.items()))}, address="10.0.0.9") is first
            for at in ("1e-7", "1e-8"):
                await made.call("answer", {"given": {**GIVEN, "at": at}}, address="127.0.0.1")
            again = await made.call("answer", {"given": GIVEN}, address="127.0.0.1")
            assert again is not first
            assert again["bound"] == first["bound"]

    asyncio.run(tried())


def test_there_may_be_no_calculator(tmp_path: Path) -> None:
    async def tried() -> None:
        async with calculators(tmp_path, calculators=0) as made:
            with pytest.raises(Busy, match="switched off"):
                await made.call("answer", {"given": GIVEN}, address="127.0.0.1")

    asyncio.run(tried())


def test_a_process_is_told_nothing_of_the_centre(tmp_path: Path) -> None:
    async def tried() -> None:
        async with calculators(tmp_path, processes=True, calculator_seconds=60) as made:
            (number,) = made.processes
            await made.call("answer", {"given": GIVEN}, address="127.0.0.1")
            opened = [str(each.readlink()) for each in Path(f"/proc/{number}/fd").iterdir()]
            assert opened
            assert not [each for each in opened if str(tmp_path) in each]

    asyncio.run(tried())
    assert set(Limits.__dataclass_fields__) == {"memory", "seconds"}


@pytest.mark.slow
def test_a_process_whose_service_is_gone_ends_by_itself() -> None:
    """Nobody kills it here: the operating system does, by the time of the processor."""
    runner = Runner(Limits(0, 0.5), serve)
    try:
        runner.ensure()
        with pytest.raises(EOFError):
            runner.exchange(json.dumps({"job": "answer", "arguments": {"given": SLOW}}).encode())
    finally:
        runner.kill()


def test_addresses_of_one_household_are_one_visitor() -> None:
    assert visitor("2001:db8::1") == visitor("2001:db8::ffff:1")
    assert visitor("2001:db8:0:1::1") != visitor("2001:db8::1")
    assert visitor("10.0.0.1") != visitor("10.0.0.2")
    assert visitor("::ffff:10.0.0.1") == visitor("10.0.0.1")
    assert visitor("nonsense") == visitor("")
