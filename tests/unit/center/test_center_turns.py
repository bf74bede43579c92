"""People take turns at the processes, nobody holds all places, and reading does not wait behind slow questions.

Whose turn it is does not depend on processes, so there are none here: a question that is slow is held after its debit.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from optcomp.center.failures import Busy, Cancelled
from optcomp.center.problems import of_library
from optcomp.center.refusals import TooMany
from optcomp.center.runners import Runners
from optcomp.center.turns import Turns
from optcomp.ledger import session
from optcomp.statistics import Count
from tests.unit.center.center_place import SmallCenter, form
from tests.unit.center.held import go_on, held_questions, holding, until_held
from tests.unit.center.served import QUESTION, in_this_process, served

ADA, BEN, EVE = 1, 2, 3
"""Numbers of people."""


@asynccontextmanager
async def started(center: SmallCenter, **settings: Any) -> AsyncIterator[Runners]:
    """One runner for questions, which are held; ended afterwards."""
    home = center.settings.home
    with in_this_process():
        runners = Runners(replace(center.settings, **settings), 1)
    with patch.object(session, "answer", holding(home)):
        try:
            await runners.start()
            with held_questions(home):
                yield runners
        finally:
            await runners.close()


async def at_work(center: SmallCenter, runners: Runners) -> asyncio.Future[dict[str, Any]]:
    """A question that has the only runner for questions by now, is paid for and held."""
    question = {"seat": center.seat(), "question": form(Count(), epsilon="1/8"), "key": "slow"}
    call = asyncio.ensure_future(runners.call("ask", question, person=ADA))
    await until_held(center.settings.home)
    return call


def test_one_question_does_not_wait_behind_sixty_of_somebody_else(center: SmallCenter) -> None:
    """Answers come turn by turn; in a plain queue the last who came is the last to be answered."""
    told: list[int] = []

    async def run() -> None:
        async with started(center) as runners:

            async def ask(person: int, number: int) -> None:
                arguments = {"seat": center.seat("ben"), "question": form(Count(), epsilon="1/1000"), "repeat": number}
                assert "answer" in await runners.call("ask", arguments, person=person)
                told.append(person)

            slow = await at_work(center, runners)
            asked = [asyncio.ensure_future(ask(person, n)) for n, person in enumerate([ADA] * 60 + [BEN, EVE, BEN])]
            await asyncio.sleep(0)
            assert runners.waiting == 63
            go_on(center.settings.home)
            await asyncio.gather(slow, *asked)

    asyncio.run(run())
    assert told[:6] == [ADA, BEN, EVE, ADA, BEN, ADA]
    assert told[6:] == [ADA] * 57


def test_one_person_does_not_hold_all_places(center: SmallCenter) -> None:
    """Beyond the setting it is `too_many` with a time to wait, for this person alone; a place that is left is free."""

    async def run() -> None:
        async with started(center, waiting=3) as runners:
            slow = await at_work(center, runners)
            wait: dict[str, Any] = {"seats": []}
            held = [
                asyncio.ensure_future(runners.call("finish_waiting", wait, person=BEN, token=f"place {n}"))
                for n in range(3)
            ]
            await asyncio.sleep(0)
            with pytest.raises(TooMany, match="nothing was spent") as error:
                await runners.call("finish_waiting", wait, person=BEN)
            problem = of_library(error.value)
            assert (problem.code, problem.status, problem.headers) == ("too_many", 429, {"Retry-After": "1"})
            assert set(problem.body()) == {"error", "message"}
            other = asyncio.ensure_future(runners.call("finish_waiting", wait, person=EVE))
            assert runners.cancel("place 1")
            again = asyncio.ensure_future(runners.call("finish_waiting", wait, person=BEN))
            go_on(center.settings.home)
            found = await asyncio.gather(slow, *held, other, again, return_exceptions=True)
            assert [isinstance(each, Cancelled) for each in found] == [False, False, True, False, False, False]

    asyncio.run(run())


def test_reading_does_not_wait_for_questions(center: SmallCenter) -> None:
    """With a process of its own it is done while the only other one is at work, and what needs rows still waits."""

    async def run() -> None:
        async with started(center, readers=1) as runners:
            assert (len(runners.processes), len(runners.readers)) == (1, 1)
            slow = await at_work(center, runners)
            quick = {"seat": center.seat("ben"), "question": form(Count(), epsilon="1/100")}
            waits = asyncio.ensure_future(runners.call("ask", quick, person=BEN))
            seat = {"seat": center.seat()}
            read = {job: await runners.call(job, {}) for job in ("accounts", "verify", "export")}
            read |= {job: await runners.call(job, seat) for job in ("transcript", "remaining")}
            read["why"] = await runners.call("why", seat | {"request": read["transcript"]["requests"][0]["request"]})
            assert not [job for job, found in read.items() if "error" in found]
            assert (slow.done(), waits.done()) == (False, False)
            assert (runners.working, runners.waiting, runners.reading_waiting) == (1, 1, 0)
            assert read["transcript"]["requests"][0]["outcome"] == "paid"
            go_on(center.settings.home)
            assert "answer" in await slow
            assert "answer" in await waits

    asyncio.run(run())


def test_free_work_never_runs_where_questions_are_answered_nor_the_other_way_round(center: SmallCenter) -> None:
    """Two at once: the second one waits, though a process that answers is idle; questions do not take the other one."""

    async def run() -> None:
        async with started(center, readers=1) as runners:
            calls = [asyncio.ensure_future(runners.call("accounts", {})) for _ in range(3)]
            await asyncio.sleep(0)
            assert (runners.working, runners.waiting, runners.reading_waiting) == (0, 0, 2)
            assert all("accounts" in each for each in await asyncio.gather(*calls))
            slow = await at_work(center, runners)
            quick = {"seat": center.seat("ben"), "question": form(Count(), epsilon="1/100")}
            waits = asyncio.ensure_future(runners.call("ask", quick))
            await asyncio.sleep(0)
            assert (runners.waiting, runners.reading_waiting) == (1, 0)
            go_on(center.settings.home)
            await asyncio.gather(slow, waits)

    asyncio.run(run())


@pytest.mark.parametrize(("readers", "behind"), [(0, 2), (1, 2), (2, 1), (3, 0)])
def test_long_jobs_leave_a_process_to_others(center: SmallCenter, readers: int, behind: int) -> None:
    """Two verifications at once; with one process there is nothing that could be left.  0 processes count as one."""

    async def run() -> None:
        async with started(center, readers=readers) as runners:
            assert len(runners.readers) == max(1, readers)
            long = [asyncio.ensure_future(runners.call("verify", {})) for _ in range(2)]
            await asyncio.sleep(0)
            short = asyncio.ensure_future(runners.call("accounts", {}))
            await asyncio.sleep(0)
            assert runners.reading_waiting == behind
            assert all("error" not in found for found in await asyncio.gather(*long, short))
            assert runners.reading_waiting == 0

    asyncio.run(run())


def turns_of(places: int) -> Turns[str]:
    """Places by letter."""
    return Turns("abcdef"[:places], most_each=40)


async def order_of(turns: Turns[str], gates: dict[Any, asyncio.Future[str]], place: str) -> list[Any]:
    """Who gets a place, one after another, if each gives it back at once."""
    found: list[Any] = []
    waiting = dict(gates)
    while True:
        turns.give_back(place)
        given = [name for name, gate in waiting.items() if gate.done() and not gate.cancelled()]
        if not given:
            return found
        (name,) = given
        found.append(name)
        del waiting[name]


def test_places_are_given_back_and_counted() -> None:
    """Who is next, in an order that is worked out by hand."""

    async def run() -> None:
        turns = turns_of(1)
        assert turns.take(7).result() == "a"
        gates = {(who, n): turns.take(who) for who, n in [(1, 0), (1, 1), (1, 2), (2, 0), (None, 0), (2, 1)]}
        gates[1, 1].cancel()
        assert (turns.working, turns.waiting) == (1, 5)
        assert await order_of(turns, gates, "a") == [(1, 0), (2, 0), (None, 0), (1, 2), (2, 1)]
        assert (turns.working, turns.waiting) == (0, 0)
        turns.take(3)
        full = [turns.take(n % 2) for n in range(68)]
        with pytest.raises(Busy, match="nothing was spent"):
            turns.take(5)
        turns.refuse("closing")
        assert {str(each.exception()) for each in full} == {"closing"}
        assert turns.waiting == 0

    asyncio.run(run())


def test_whoever_has_the_fewest_jobs_at_work_comes_first() -> None:
    """One person has both places and waits for more: the next two go to others, though they came later."""

    async def run() -> None:
        turns = turns_of(2)
        held = [turns.take(ADA).result() for _ in range(2)]
        adas = [turns.take(ADA) for _ in range(3)]
        bens, eves = [turns.take(BEN) for _ in range(2)], [turns.take(EVE)]
        turns.give_back(held[0])
        assert bens[0].result() == held[0]  # Ada has one at work
        turns.give_back(held[1])
        assert adas[0].result() == held[1]  # she has none; Ben has one, and Eve came later
        turns.give_back(held[1])
        assert eves[0].result() == held[1]  # Ada's turn was just now
        turns.give_back(held[1])
        assert adas[1].result() == held[1]  # Ben waits for longer, and has one at work
        turns.give_back(held[0])
        assert bens[1].result() == held[0]

    asyncio.run(run())


def test_everybody_takes_turns_over_http(tmp_path: Path) -> None:
    """While a question is at work, one analyst may let one question wait; another analyst may, too."""
    home = tmp_path / "home"
    with (
        patch.object(session, "answer", holding(home)),
        served(home, processes=False, waiting=1) as centre,
        held_questions(home),
    ):
        seats = {who: centre.seat(who) for who in ("ada", "ben")}

        async def ask(who: str, number: int) -> Any:
            body = {"question": QUESTION, "key": f"{number}"}
            return await centre.acall("post", f"/api/v1/seats/{seats[who]}/questions", who, body)

        async def run() -> list[Any]:
            asked = [asyncio.ensure_future(ask("ada", number)) for number in range(5)]
            await asyncio.wait(asked, timeout=60, return_when=asyncio.FIRST_COMPLETED)
            while sum(each.done() for each in asked) < 3:
                await asyncio.sleep(0.01)
            asked.append(asyncio.ensure_future(ask("ben", 0)))
            while centre.service.runners.waiting < 2:
                await asyncio.sleep(0.01)
            left = await asyncio.wait_for(centre.acall("get", f"/api/v1/seats/{seats['ben']}", "ben"), 60)
            go_on(home)
            return [*await asyncio.gather(*asked), left]

        *adas, bens, left = centre.wait(run())
        assert sorted(each.status_code for each in adas) == [200, 200, 429, 429, 429]
        refused = next(each for each in adas if each.status_code == 429)
        assert refused.json()["error"] == "too_many"
        assert refused.headers["Retry-After"] == "1"
        assert (bens.status_code, left.status_code) == (200, 200)
