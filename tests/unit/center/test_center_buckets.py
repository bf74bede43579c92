"""Turns: with buckets of time, nothing of a seat tells when its answer was really done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from optcomp.center import buckets, clock
from optcomp.center.buckets import Buckets
from optcomp.center.clock import BEGUN, OnClock, until_next
from optcomp.center.failures import Busy
from optcomp.center.service import place_of
from tests.unit.center.clocks import TICK, Clock
from tests.unit.center.served import PATIENCE, QUESTION, Served, served

BUCKET = 3600.0
"""Seconds: longer than any test takes, so that only a test itself ends a bucket."""
SEAT = {"account": "a", "slot": "s", "snapshot": "x"}


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("turns") / "home", processes=False, bucket=BUCKET) as found:
        yield found


class Bucket:
    """Stands for `asyncio` in a module: a bucket that ends when a test says so, whatever the time is."""

    def __init__(self) -> None:
        self.sleepers, self.end = 0, asyncio.Event()
        self.shim = SimpleNamespace(**(vars(asyncio) | {"sleep": self.sleep, "get_running_loop": lambda: self}))

    async def sleep(self, seconds: float) -> None:
        assert 0 < seconds <= BUCKET
        self.sleepers += 1
        await self.end.wait()

    def call_later(self, seconds: float, call: Callable[..., None], *arguments: Any) -> None:
        async def later() -> None:
            await self.sleep(seconds)
            call(*arguments)

        self.task = asyncio.ensure_future(later())


@pytest.mark.parametrize(
    ("method", "end", "body"),
    [
        ("get", "", None),
        ("get", "/transcript", None),
        ("post", "/preview", {"question": QUESTION}),
        ("post", "/questions", {"question": QUESTION, "key": "mine"}),
        ("post", "/cancel", {"key": "mine"}),
    ],
)
def test_nothing_of_a_seat_is_told_before_its_answer(
    centre: Served, method: str, end: str, body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is done and waits for the end of its bucket; who looks meanwhile waits for that, too."""
    monkeypatch.setattr("optcomp.center.cancellations._PATIENCE", 0.0)
    number = centre.seat("ada")
    path, place = f"/api/v1/seats/{number}", place_of(centre.service.catalogue.seat(number))

    async def until(condition: Any, what: str) -> None:
        stop = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < stop, f"{what} did not happen within {PATIENCE} seconds"
            await asyncio.sleep(0.005)

    async def both() -> tuple[Any, Any]:
        turns, name = centre.service._buckets, (place["account"], place["slot"])
        leaves, taken = Bucket(), Bucket()
        monkeypatch.setattr(clock, "asyncio", leaves.shim)
        monkeypatch.setattr(buckets, "asyncio", taken.shim)
        asked = asyncio.ensure_future(
            centre.acall("post", f"{path}/questions", "ada", {"question": QUESTION, "key": "mine"})
        )
        try:
            await until(lambda: leaves.sleepers == taken.sleepers == 1, "an answer that waits")
            looked = asyncio.ensure_future(centre.acall(method, path + end, "ada", body))
            await until(
                lambda: leaves.sleepers == 2 or turns._waiting[name] == 2 or taken.sleepers == 2, "a look at the seat"
            )
            assert leaves.sleepers == 1  # what it found would wait there
            assert not asked.done()
        finally:
            leaves.end.set()
            taken.end.set()
        return await asked, await looked

    asked, looked = centre.wait(both())
    assert (asked.status_code, looked.status_code) == (200, 200), looked.text
    if end == "/cancel":
        assert looked.json() == {"cancelled": False}


def test_every_response_leaves_at_a_multiple_of_the_bucket_after_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever takes time before it, and an error too; without a bucket at once."""
    assert (until_next(0.5, 0.25), until_next(0.5625, 0.25)) == (0, 0.1875)
    time_of_test = Clock()
    left: list[float] = []

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        assert (BEGUN.get() is None) == (scope["bucket"] == 0)
        for _ in range(scope["looks"]):
            time_of_test.monotonic()
        if scope["fails"]:
            raise RuntimeError
        await send({"type": "http.response.start"})

    async def send(message: Any) -> None:
        left.append(time_of_test.now)

    def lasts(bucket: float, looks: int, *, fails: bool = False) -> float:
        begun = time_of_test.now + TICK  # its first look
        scope = {"type": "http", "bucket": bucket, "looks": looks, "fails": fails}
        with time_of_test.within(clock), pytest.raises(RuntimeError) if fails else nullcontext():
            asyncio.run(OnClock(answer, bucket=bucket)(scope, None, send))  # type: ignore[arg-type]
        return (time_of_test.now if fails else left[-1]) - begun

    assert [lasts(1.5, looks) for looks in (0, 5, 11, 12, 13)] == [1.5, 1.5, 1.5, 3, 3]
    assert lasts(1.5, 3, fails=True) == 1.5
    assert lasts(0, 4) == 3 * TICK


def test_metrics_do_not_tell_who_works(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "until_next", lambda *_: 0.0)
    told = centre.call("get", "/metrics").text
    assert "optcomp_runners{" in told
    assert "working" not in told
    assert "waiting" not in told


def test_without_buckets_nobody_waits() -> None:
    async def nested() -> bool:
        turns = Buckets(0)
        async with turns.of(SEAT), turns.of(SEAT), turns.of(None):
            await turns.end_of_bucket(SEAT)
            return True

    assert asyncio.run(asyncio.wait_for(nested(), PATIENCE))


def test_seats_do_not_wait_for_each_other_and_not_without_end() -> None:
    async def many() -> int:
        turns, done = Buckets(1), asyncio.Event()

        async def one() -> None:
            async with turns.of(SEAT):
                await done.wait()

        waiting = [asyncio.create_task(one()) for _ in range(64)]
        await asyncio.sleep(0)
        async with turns.of(SEAT | {"slot": "other"}):
            pass
        with pytest.raises(Busy):
            await one()
        done.set()
        await asyncio.gather(*waiting)
        await one()
        return len(waiting)

    assert asyncio.run(asyncio.wait_for(many(), PATIENCE)) == 64
