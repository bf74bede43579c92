"""Free work is bounded and counted, does not hold up questions, and never says that something was paid."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from optcomp.center.failures import (
    NOT_ANSWERED,
    STOPPED,
    WAS_CANCELLED,
    Cancelled,
    RunnerDied,
    Stopped,
    TookTooLong,
)
from optcomp.center.jobs import JOBS, perform
from optcomp.center.kinds import Kind, kind_of
from optcomp.center.problems import of_library
from optcomp.center.processor_time import ProcessorTime
from optcomp.center.refusals import TooMany
from optcomp.center.runners import Runners
from optcomp.interactive import GuessAndCheck, PrivateMultiplicativeWeights, SparseVector
from optcomp.statistics import (
    Contingency,
    Count,
    Declared,
    Domain,
    Histogram,
    Integers,
    Quantiles,
    declaration_document,
)
from tests.unit.center.center_place import SmallCenter, form
from tests.unit.center.held import held_questions, processes_that_hold, until_held
from tests.unit.center.served import QUESTION, Served, in_this_process, served

MILLION = SparseVector(1000, epsilon="1/10", positives=10**6, refresh=True)
WIDE: dict[str, Domain] = {"age": Integers(0, 99), "group": Integers(0, 5), "place": Integers(0, 449)}
PLAN = {
    "plan": 1,
    "data": {"rows": 1000},
    "columns": {name: {"integers": [0, int(domain.top)]} for name, domain in WIDE.items()},
    "budget": {"epsilon": 1},
}
"""Without its statistics."""


def told(center: SmallCenter, job: str, **arguments: Any) -> dict[str, Any]:
    """What comes of a job in this process."""
    with center.ledger() as ledger:
        found: dict[str, Any] = json.loads(json.dumps(perform(ledger, center.settings, job, arguments)))
        return found


def test_each_job_has_its_kind() -> None:
    """What spends may read rows, what reads rows is not counted, and what is free does neither."""
    spends = {"ask", "open_mechanism", "ask_mechanism", "commit", "planned", "release"}
    assert {job for job in JOBS if kind_of(job).spends} == spends
    assert {job for job in JOBS if kind_of(job).rows} == spends | {"finish_waiting", "finish_release", "ping"}
    assert {job for job in JOBS if kind_of(job).long} == {"verify", "export", "history"}
    assert {job for job in JOBS if kind_of(job).counted} >= {"dry_run", "preview", "preview_mechanism", "work_out"}
    assert kind_of("no such job") == Kind()


def test_a_million_parts_cost_no_more_work_than_one(center: SmallCenter) -> None:
    """Previewed, and opened: one guarantee is paid in the place of a million equal ones."""
    document, seat = MILLION.document(), center.seat()
    found = told(center, "preview_mechanism", seat=seat, mechanism=document)
    assert (found["cost"][0]["words"], found["more"], found["fits"]) == ("ε = 0.1", 10, True)
    opened = told(center, "open_mechanism", seat=seat, mechanism=document, key="all")
    assert opened["paid"]["exact"] == [{"kind": "PureDP", "epsilon": "1/10"}]
    assert told(center, "open_mechanism", seat=seat, mechanism=document, key="all")["request"] == opened["request"]
    guesses = GuessAndCheck(10, epsilon="1/10", corrections=10**6)
    assert told(center, "open_mechanism", seat=seat, mechanism=guesses.document())["paid"]["words"] == "ε = 0.1"
    assert center.spent() == 2 * MILLION.epsilon
    with center.ledger() as ledger:
        assert ledger.verify().ok


@pytest.mark.parametrize(
    ("statistic", "argument", "fits"),
    [
        (Quantiles("place", ["1/4", "1/2", "3/4"], by=["group", "age"]), "candidates", "at most 117 candidates fit"),
        (Quantiles("place", ["1/4", "1/2", "3/4"], 117, by=["group", "age"]), None, ""),
        (Histogram("place", bins=450), None, ""),
        (Contingency(("age", "group", "place")), "statistic", "at most 250,000 cells"),
    ],
)
def test_a_dry_run_has_a_price_before_it_is_made(
    center: SmallCenter, statistic: Any, argument: str | None, fits: str
) -> None:
    """The bound, what would fit, and by name what to change; a paid question may have more."""
    declaration = declaration_document(Declared(WIDE))
    found = told(center, "dry_run", declaration=declaration, question=form(statistic, epsilon="1/10"), rows=1)
    if argument is None:
        assert found["dry_run"] is True
    else:
        assert (found["error"], found["argument"]) == ("InvalidInput", argument)
        assert fits in found["words"]
        assert "250,000" in found["words"]
    statistic.check_size(Declared(WIDE), 20_000_000)


def test_other_requests_have_bounds_too(center: SmallCenter) -> None:
    """From the request and the declaration alone: for what is free and for what is paid."""
    seat, many = center.seat(), {"epsilon": "1/10"}
    wide = form(Quantiles("age", [f"{n}/2000" for n in range(1, 1002)]), **many)
    for job in ("preview", "ask"):
        found = told(center, job, seat=seat, question=wide)
        assert (found["error"], found["argument"]) == ("InvalidInput", "probabilities")
        assert "at most 1,000" in found["words"]
    assert told(center, "commit", seat=seat, questions=[wide])["argument"] == "probabilities"
    large = form(Contingency(("place", "time")), **many)
    found = told(center, "commit", seat=seat, questions=[large] * 50)
    assert (found["error"], found["argument"]) == ("InvalidInput", "questions")
    assert "at most 2,000,000" in found["words"]
    weights = PrivateMultiplicativeWeights(["age", "place"], tolerance=100, epsilon="1/10", corrections=10_000)
    for job in ("preview_mechanism", "open_mechanism"):
        found = told(center, job, seat=seat, mechanism=weights.document())
        assert (found["error"], found["argument"]) == ("InvalidInput", "corrections")
        assert f"at most {5_000_000 // (101 * 221)} " in found["words"]
    counts = {f"count {n}": {"count": "rows"} for n in range(501)}
    tables = {f"table {n}": {"contingency": ["age", "group", "place"]} for n in range(7)}
    for statistics, words in ((counts, "at most 500"), (tables, "at most 2,000,000")):
        found = told(center, "work_out", plan={**PLAN, "statistics": statistics})
        assert (found["error"], found["argument"]) == ("InvalidInput", "plan.statistics")
        assert words in found["words"]
    assert center.spent() == 0


@dataclass
class Meter:
    """Remembers, and refuses if it must."""

    full: bool = False
    checked: int = 0
    added: list[float] = field(default_factory=list)

    async def check(self) -> None:
        self.checked += 1
        if self.full:
            raise TooMany(7.0)

    async def add(self, seconds: float) -> None:
        self.added.append(seconds)


@asynccontextmanager
async def here(center: SmallCenter) -> Any:
    """Runners without processes."""
    with in_this_process():
        runners = Runners(center.settings, 1)
    try:
        await runners.start()
        yield runners
    finally:
        await runners.close()


def test_only_free_jobs_are_counted_and_refused_when_their_turn_has_come(center: SmallCenter) -> None:
    """A question runs whatever was taken before it; a refused job gives its process back."""

    async def run() -> None:
        async with here(center) as runners:
            meter = Meter()
            await runners.call("remaining", {"seat": center.seat()}, meter=meter)
            assert (meter.checked, meter.added) == (1, [0.0])
            meter.full = True
            with pytest.raises(TooMany):
                await runners.call("remaining", {"seat": center.seat()}, meter=meter)
            ask = {"seat": center.seat(), "question": form(Count(), epsilon="1/10")}
            assert "answer" in await runners.call("ask", ask, meter=meter)
            assert "ok" in await runners.call("verify", {}, meter=meter)
            assert (meter.checked, meter.added) == (2, [0.0])
            assert "accounts" in await runners.call("accounts", {})

    asyncio.run(run())


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("free") / "home", processes=False, rate=150) as found:
        yield found


def test_processor_seconds_are_counted_by_person_and_minute(centre: Served) -> None:
    """Beyond the setting free requests wait for the next minute: those of this person alone, and no question."""
    path, person = f"/api/v1/seats/{centre.seat('ada')}", centre.service.people.person("ada").id
    others = f"/api/v1/seats/{centre.seat('ben')}"
    assert centre.call("get", path, "ada").status_code == 200
    with pytest.raises(TooMany):  # something was counted
        centre.service.people.check_count(f"processor {person}", 1)
    time = ProcessorTime(centre.service.people, person, centre.settings.free_processor_seconds)
    centre.wait(time.add(25.0))
    refused = centre.call("post", f"{path}/preview", "ada", {"question": QUESTION})
    assert (refused.status_code, refused.json()["error"]) == (429, "too_many")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert "20 seconds of a processor" in refused.json()["message"]
    assert "nothing was spent" in refused.json()["message"]
    assert centre.call("get", path, "ada").status_code == 429
    assert centre.call("post", f"{path}/questions", "ada", {"question": QUESTION}).status_code == 200
    assert centre.call("get", others, "ben").status_code == 200


def test_cancelling_is_counted(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may cost a process, which must be started again: a sixtieth of the rate, for each person."""
    monkeypatch.setattr("optcomp.center.cancellations._PATIENCE", 0.0)
    paths = {who: f"/api/v1/seats/{centre.seat(who)}/cancel" for who in ("ada", "ben")}
    found = [centre.call("post", paths["ada"], "ada", {"key": f"{n}"}).status_code for n in range(3)]
    assert found == [200, 200, 429]
    assert centre.call("post", paths["ben"], "ben", {"key": "1"}).status_code == 200


@pytest.mark.parametrize("kind", [TookTooLong, RunnerDied, Cancelled])
def test_what_is_told_of_a_stopped_job_follows_from_its_kind(kind: type[Stopped]) -> None:
    """After what may have been a debit always the same; of free work that nothing was spent."""
    paid, unpaid = of_library(kind()), of_library(kind(spends=False))
    assert (paid.status, paid.code, paid.message) == (424, "not_answered", NOT_ANSWERED)
    words, status = (WAS_CANCELLED, 409) if kind is Cancelled else (STOPPED, 413)
    assert (unpaid.status, unpaid.message) == (status, words)
    assert "Nothing was spent" in words
    assert "paid" not in words


@asynccontextmanager
async def started(center: SmallCenter, **settings: Any) -> Any:
    """One process that answers and one for free work."""
    with processes_that_hold():
        runners = Runners(replace(center.settings, **settings), 1)
    try:
        await runners.start()
        yield runners
    finally:
        await runners.close()


@pytest.mark.slow
def test_free_work_that_takes_too_much_is_stopped_and_nothing_was_spent(center: SmallCenter) -> None:
    """By its seconds of a processor, by its memory, or by somebody; another process takes the next job."""
    tables = {f"table {n}": {"contingency": ["age", "group", "place"], "weight": n} for n in range(1, 7)}
    work, meter = {"plan": {**PLAN, "statistics": tables}}, Meter()

    async def stopped(runners: Runners, job: str, arguments: dict[str, Any]) -> None:
        with pytest.raises(RunnerDied) as error:
            await runners.call(job, arguments, meter=meter)
        assert str(error.value) == STOPPED
        assert "accounts" in await runners.call("accounts", {})

    async def run() -> None:
        async with started(center, free_seconds=0.2) as runners:
            nice = {Path(f"/proc/{pid}/stat").read_text().split()[18] for pid in runners.readers}
            assert nice == {str(os.nice(0) + 10)}
            await stopped(runners, "work_out", work)
            assert meter.added == [0.2]
        async with started(center, free_memory=20) as runners:
            await stopped(runners, "work_out", work)
        async with started(center) as runners:
            assert "totals" in await runners.call("work_out", work, meter=meter)
            assert meter.added[-1] > 0.2

    asyncio.run(run())
    assert center.spent() == 0


@pytest.mark.slow
def test_a_question_that_dies_keeps_its_words(center: SmallCenter) -> None:
    """Nobody knows whether it was paid: here it was."""

    async def run() -> None:
        async with started(center) as runners:
            ask = {"seat": center.seat(), "question": form(Count(), epsilon="1/8"), "key": "held"}
            with held_questions(center.settings.home):
                call = asyncio.ensure_future(runners.call("ask", ask))
                await until_held(center.settings.home)
                assert "accounts" in await runners.call("accounts", {})  # free work goes on beside it
                os.kill(runners.processes[0], signal.SIGKILL)
                with pytest.raises(RunnerDied) as error:
                    await call
            assert str(error.value) == NOT_ANSWERED

    asyncio.run(run())
