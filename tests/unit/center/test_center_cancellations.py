"""Cancelling reaches any worker: two services on one home, and rows that mean requests which began before them."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pyarrow
import pyarrow.parquet
import pytest
from sqlalchemy import select, update

from optcomp.center.app import make_app
from optcomp.center.cancellations import QUICK, Cancellations
from optcomp.center.service import Service
from optcomp.center.tables import CANCELLATIONS
from optcomp.statistics import Contingency, Integers, Question
from tests.unit.center.homes import Centre
from tests.unit.center.served import QUESTION, URL, Served, served

SLOW = {"question": Question(Contingency(("place", "age")), epsilon="1/2").document(), "key": "slow"}
"""Forty-five thousand cells get noise after the debit, which takes long enough to be found at it."""
NOT_ANSWERED = {
    "error": "not_answered",
    "message": "There is no answer yet. Ask again with the same key: what was paid for it is not paid twice.",
}


@contextmanager
def beside(centre: Served) -> Iterator[httpx.ASGITransport]:
    """Another worker on the same home, with runners of its own."""
    app = make_app(centre.settings)
    service: Service = app.state.service
    centre.wait(service.start())
    try:
        yield httpx.ASGITransport(app, client=("127.0.0.1", 2))
    finally:
        centre.wait(service.close())


async def through(transport: httpx.ASGITransport, centre: Served, path: str, body: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {centre.tokens['ada']}"}
    async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
        return await client.post(path, json=body, headers=headers)


def wide_seat(centre: Served) -> int:
    """A seat at a table with many cells."""
    rows = {"place": [row % 450 for row in range(900)], "age": [row % 100 for row in range(900)]}
    pyarrow.parquet.write_table(pyarrow.table(rows), Path(centre.settings.folders[0]) / "wide.parquet")
    columns = {"place": Integers(0, 449), "age": Integers(0, 99)}
    catalogue = centre.service.catalogue
    catalogue.register("wide", "wide.parquet", columns, epsilon="3", delta="1e-6", disjoint=True, by="olga")
    catalogue.cut("wide", "first", {"ada": ("1", "0")}, delta="1e-9", by="olga")
    (seat,) = [each.id for each in catalogue.seats("ada") if each.dataset.name == "wide"]
    return seat


def left(centre: Served, seat: int) -> Fraction:
    """By the ledger itself."""
    slot = centre.service.ledger.account("wide").slot(centre.slot_of(seat))
    return slot.remaining().amounts["epsilon"][0]


def test_another_worker_stops_what_was_paid_for(addresses: dict[str, str], tmp_path: Path) -> None:
    """Its process stands still between the debit and the answer; the other worker cancels; the same key finishes it."""
    with served(tmp_path / "home", make_app, **addresses) as centre, beside(centre) as other:
        seat = wide_seat(centre)
        path = f"/api/v1/seats/{seat}"
        (process,) = centre.service.runners.processes

        async def cancelled() -> tuple[httpx.Response, httpx.Response]:
            asked = asyncio.ensure_future(centre.acall("post", f"{path}/questions", "ada", SLOW))
            while not centre.service.ledger.waiting() and not asked.done():
                await asyncio.sleep(0.005)
            os.kill(process, signal.SIGSTOP)
            told = await through(other, centre, f"{path}/cancel", {"key": "slow"})
            return await asked, told

        failed, told = centre.wait(cancelled())
        assert told.json() == {"cancelled": True}
        assert (failed.status_code, failed.json()) == (424, NOT_ANSWERED)
        assert process not in centre.service.runners.processes
        assert len(centre.service.ledger.waiting()) == 1
        assert left(centre, seat) == Fraction(1, 2)
        again = centre.wait(through(other, centre, f"{path}/questions", SLOW))
        assert again.status_code == 200, again.text
        here = centre.call("post", f"{path}/questions", "ada", SLOW)
        assert here.json()["answer"] == again.json()["answer"]
        assert left(centre, seat) == Fraction(1, 2)
        assert centre.service.ledger.verify().findings == ()


def test_what_is_asked_after_the_cancelling_goes_on(tmp_path: Path) -> None:
    """The row is there still, and the same key is at work for longer than a worker takes to look."""
    with served(tmp_path / "home") as centre, beside(centre) as other:
        seat = centre.seat()
        path, body = f"/api/v1/seats/{seat}", {"question": QUESTION, "key": "again"}

        async def asked_again() -> tuple[list[Any], list[Any]]:
            answers, told = [], []
            for stops in (True, False):
                (process,) = centre.service.runners.processes
                os.kill(process, signal.SIGSTOP)
                asked = asyncio.ensure_future(centre.acall("post", f"{path}/questions", "ada", body))
                while not centre.service.runners.working:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.2)  # so that the clock of the database has moved on
                if stops:
                    told.append((await through(other, centre, f"{path}/cancel", {"key": "again"})).json())
                    answers.append(await asked)
                    while not centre.service.runners.processes:
                        await asyncio.sleep(0.01)
                else:
                    await asyncio.sleep(4 * QUICK)
                    os.kill(process, signal.SIGCONT)
                    answers.append(await asked)
            return answers, told

        answers, told = centre.wait(asked_again())
        assert told == [{"cancelled": True}]
        assert [each.status_code for each in answers] == [424, 200]
        with centre.service.store.read() as connection:
            assert [row.taken for row in connection.execute(select(CANCELLATIONS))] == [True]


def test_what_nobody_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told after a while, and leaves no row; quick questions never look for rows."""
    ages: list[float] = []
    take = Cancellations.take

    def counted(self: Cancellations, held: dict[str, float]) -> list[str]:
        ages.extend(time.monotonic() - since for since in held.values())
        return take(self, held)

    monkeypatch.setattr(Cancellations, "take", counted)
    with served(tmp_path / "home") as centre:
        seat = centre.seat()
        path = f"/api/v1/seats/{seat}"
        begun = time.monotonic()
        assert centre.call("post", f"{path}/questions", "ada", {"question": QUESTION, "key": "k"}).status_code == 200
        took = time.monotonic() - begun
        assert centre.call("post", f"{path}/cancel", "ada", {"key": "k"}).json() == {"cancelled": False}
        with centre.service.store.read() as connection:
            assert connection.execute(select(CANCELLATIONS)).all() == []
    assert all(age >= QUICK for age in ages)
    assert took >= QUICK or not ages


def test_rows_mean_requests_that_began_before(centre: Centre) -> None:
    rows = Cancellations(centre.store)
    start = time.monotonic()
    number = rows.ask("mine")
    assert not rows.taken(number)
    assert rows.take({"mine": time.monotonic() + 60, "another": start - 60}) == []
    assert rows.take({}) == []
    assert not rows.taken(number)
    assert rows.take({"mine": start - 60, "another": start - 60}) == ["mine"]
    assert rows.taken(number)
    assert rows.take({"mine": start - 60}) == ["mine"]  # a key may be at work in two places
    assert rows.withdraw(number)
    with centre.store.read() as connection:
        assert "mine" not in str(connection.execute(select(CANCELLATIONS)).all())


def test_rows_that_are_withdrawn_or_old_mean_nothing(centre: Centre) -> None:
    rows = Cancellations(centre.store)
    long_ago = time.monotonic() - 3600
    number = rows.ask("mine")
    assert not rows.withdraw(number)
    assert rows.take({"mine": long_ago}) == []
    old = rows.ask("mine")
    with centre.store.write() as connection:
        connection.execute(update(CANCELLATIONS).values(at=CANCELLATIONS.c.at - 61))
    assert rows.take({"mine": long_ago}) == []
    assert not rows.taken(old)
    rows.ask("another")
    with centre.store.read() as connection:
        assert list(connection.scalars(select(CANCELLATIONS.c.request))) == [sha256(b"another").hexdigest()]
