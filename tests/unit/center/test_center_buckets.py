"""Turns: with buckets of time, nothing of a seat tells when its answer was really done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from optcomp.center.buckets import Buckets
from optcomp.center.failures import Busy
from tests.unit.center.served import QUESTION, Served, served

BUCKET = 1.0
SEAT = {"account": "a", "slot": "s", "snapshot": "x"}


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("turns") / "home", bucket=BUCKET) as found:
        yield found


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
def test_nothing_of_a_seat_is_told_before_its_answer(centre: Served, method: str, end: str, body: Any) -> None:
    """The answer is done in a small part of the bucket; who looks meanwhile waits for the end of it."""
    path = f"/api/v1/seats/{centre.seat('ada')}"

    async def timed(delay: float, *call: Any) -> tuple[float, Any]:
        await asyncio.sleep(delay)
        found = await centre.acall(*call)
        return time.monotonic(), found

    async def both() -> tuple[float, tuple[float, Any], tuple[float, Any]]:
        begun = time.monotonic()
        asked = timed(0, "post", f"{path}/questions", "ada", {"question": QUESTION, "key": "mine"})
        looked = timed(BUCKET / 2, method, path + end, "ada", body)
        return (begun, *await asyncio.gather(asked, looked))

    begun, (_, asked), (told, looked) = centre.wait(both())
    assert (asked.status_code, looked.status_code) == (200, 200), looked.text
    assert told - begun >= BUCKET
    if end == "/cancel":
        assert looked.json() == {"cancelled": False}


def test_metrics_do_not_tell_who_works(centre: Served) -> None:
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

    assert asyncio.run(asyncio.wait_for(nested(), 5))


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

    assert asyncio.run(asyncio.wait_for(many(), 10)) == 64
