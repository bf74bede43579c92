"""Cancelling reaches any worker: two services on one home, and rows that mean requests which began before them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from optcomp.center import cancellations
from optcomp.center.app import make_app
from optcomp.center.cancellations import Cancellations
from optcomp.center.runners import QUICK
from optcomp.center.service import Service
from optcomp.center.tables import CANCELLATIONS
from tests.unit.center.held import PATIENCE, go_on, held_questions, processes_that_hold, until_held
from tests.unit.center.homes import Centre
from tests.unit.center.served import QUESTION, URL, Served, served

ASKED = {"question": {**QUESTION, "epsilon": "1/2"}, "key": "held"}
NOT_ANSWERED = {
    "error": "not_answered",
    "message": "There is no answer yet. Ask again with the same key: what was paid for it is not paid twice.",
}


@contextmanager
def beside(centre: Served) -> Iterator[httpx.ASGITransport]:
    """Another worker on the same home, with a process of its own."""
    with processes_that_hold():
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


def left(centre: Served, seat: int) -> Fraction:
    """By the ledger itself."""
    slot = centre.service.ledger.account("survey").slot(centre.slot_of(seat))
    return slot.remaining().amounts["epsilon"][0]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever cancels waits for long: a busy machine may take its time to stop what another worker is at."""
    monkeypatch.setattr(cancellations, "_PATIENCE", PATIENCE)


@pytest.mark.slow
def test_another_worker_stops_what_was_paid_for(addresses: dict[str, Any], tmp_path: Path, patient: None) -> None:
    """Its process is held between the debit and the answer; the other worker cancels; the same key finishes it."""
    home = tmp_path / "home"
    with served(home, readers=0, **addresses) as centre, beside(centre) as other:
        seat = centre.seat()
        path = f"/api/v1/seats/{seat}"
        (process,) = centre.service.runners.processes

        async def cancelled() -> tuple[httpx.Response, httpx.Response]:
            asked = asyncio.ensure_future(centre.acall("post", f"{path}/questions", "ada", ASKED))
            await until_held(home)
            told = await through(other, centre, f"{path}/cancel", {"key": "held"})
            return await asked, told

        with held_questions(home):
            failed, told = centre.wait(cancelled())
        assert told.json() == {"cancelled": True}
        assert (failed.status_code, failed.json()) == (424, NOT_ANSWERED)
        assert process not in centre.service.runners.processes
        assert len(centre.service.ledger.waiting()) == 1
        assert left(centre, seat) == Fraction(1, 2)
        again = centre.wait(through(other, centre, f"{path}/questions", ASKED))
        assert again.status_code == 200, again.text
        here = centre.call("post", f"{path}/questions", "ada", ASKED)
        assert here.json()["answer"] == again.json()["answer"]
        assert left(centre, seat) == Fraction(1, 2)
        assert centre.service.ledger.verify().findings == ()


@pytest.mark.slow
def test_what_is_asked_after_the_cancelling_goes_on(
    tmp_path: Path, patient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is there still, and the worker looks for rows of the same key while it is at work on it again."""
    looked: list[dict[str, float]] = []
    take = Cancellations.take

    def counted(self: Cancellations, held: dict[str, float]) -> list[str]:
        looked.append(held)
        return take(self, held)

    monkeypatch.setattr(Cancellations, "take", counted)
    home = tmp_path / "home"
    with served(home, readers=0) as centre, beside(centre) as other:
        seat = centre.seat()
        path, body = f"/api/v1/seats/{seat}", {"question": QUESTION, "key": "again"}

        async def cancelled() -> tuple[httpx.Response, httpx.Response]:
            asked = asyncio.ensure_future(centre.acall("post", f"{path}/questions", "ada", body))
            await until_held(home)
            told = await through(other, centre, f"{path}/cancel", {"key": "again"})
            return await asked, told

        async def asked_again() -> httpx.Response:
            looked.clear()
            asked = asyncio.ensure_future(centre.acall("post", f"{path}/questions", "ada", body))
            end = time.monotonic() + PATIENCE
            while len(looked) < 3:
                assert time.monotonic() < end, f"nobody looked for rows within {PATIENCE} seconds"
                await asyncio.sleep(0.01)
            go_on(home)
            return await asked

        with held_questions(home):
            failed, told = centre.wait(cancelled())
        assert (told.json(), failed.status_code) == ({"cancelled": True}, 424)
        with held_questions(home):
            assert centre.wait(asked_again()).status_code == 200
        with centre.service.store.read() as connection:
            assert [row.taken for row in connection.execute(select(CANCELLATIONS))] == [True]


def test_what_nobody_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told after a while, and leaves no row; quick questions never look for rows."""
    monkeypatch.setattr(cancellations, "_PATIENCE", 0.3)
    ages: list[float] = []
    take = Cancellations.take

    def counted(self: Cancellations, held: dict[str, float]) -> list[str]:
        ages.extend(time.monotonic() - since for since in held.values())
        return take(self, held)

    monkeypatch.setattr(Cancellations, "take", counted)
    with served(tmp_path / "home", processes=False) as centre:
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
