"""A centre in this process: real store, real ledger, SQLite; asked by ASGI without any network.

Its jobs are done by real runners, which are processes, or by `InThisProcess`: to start a process takes more than a
second of processor time, and most tests of the interface and of pages are not about processes.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import wait
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import httpx
import pyarrow
import pyarrow.parquet
from fastapi import FastAPI

from optcomp.center import Catalogue, People, Settings, Store, calculators, desk, jobs, preparers, runners, source_jobs
from optcomp.center.app import make_app
from optcomp.center.processes import Runner
from optcomp.center.service import Service
from optcomp.client import AsyncClient, Client
from optcomp.ledger import Ledger
from optcomp.statistics import Categories, Integers
from tests.unit.center.held import processes_that_hold

T = TypeVar("T")
URL = "http://localhost"
OWNERS, ANALYSTS, AUDITOR = ("olga", "omar"), ("ada", "ben"), "ruth"
COLUMNS = {"age": Integers(0, 99), "region": Categories(["north", "south"])}
SECRET = "zanzibar"
"""A word that is in the table and nowhere else: no response and no log line may have it."""
PATIENCE = 120.0  # seconds after which a test that waits for the centre fails
QUESTION = {"statistic": {"count": "rows"}, "noise": "laplace", "epsilon": "1/10"}


class InThisProcess(Runner):
    """A runner without a process: whoever waits for a job does it.  Nothing stops a job, and it has no limits."""

    _perform: Callable[[str, Mapping[str, Any]], Mapping[str, Any]] | None = None
    _ledger: Ledger | None = None
    _workshop: source_jobs.Workshop | None = None

    @property
    def alive(self) -> bool:
        return self._perform is not None

    @property
    def process_id(self) -> int | None:
        return os.getpid() if self.alive else None

    def ensure(self) -> None:
        if self.alive:
            return
        if self._main is calculators.serve:
            self._perform = calculators.perform
            return
        if self._main is source_jobs.serve:
            self._workshop = source_jobs.Workshop(self._place)
            self._perform = partial(source_jobs.perform, self._workshop)
            return
        place = self._place
        self._ledger = Ledger(place.ledger, private=place.private, lease=place.lease, create=False)
        self._perform = partial(jobs.perform, self._ledger, place)

    def exchange(self, message: bytes) -> bytes:
        assert self._perform is not None
        job = json.loads(message)
        result = self._perform(job["job"], job["arguments"])
        return json.dumps({"result": result, "processor": 0.0}).encode()

    def kill(self) -> None:
        """Forget what a process would take with it: its sessions, and the tables of this home that it has open."""
        self._perform = None
        if self._workshop is not None:
            self._workshop.close()
            self._workshop = None
        if self._ledger is None:
            return
        desk._SESSIONS.pop(self._ledger, None)
        for path, *_ in list(desk._OPENED._open):
            if Path(path).is_relative_to(self._place.home):
                desk._OPENED.forget(path)
        self._ledger.close()
        self._ledger = None


@contextmanager
def in_this_process() -> Iterator[None]:
    """Runners and calculators that are made in this block have no processes."""
    with ExitStack() as patched:
        for module in (runners, calculators, preparers):
            patched.enter_context(patch.object(module, "Runner", InThisProcess))
        yield


class Served:
    """The centre, a token for everybody, and a thread with the event loop that serves it."""

    def __init__(
        self, home: Path, make: Callable[[Settings], FastAPI] = make_app, *, processes: bool = True, **given: Any
    ) -> None:
        files = home.with_name(f"{home.name}.files")
        files.mkdir()
        table = {
            "who": [f"{SECRET}-{number // 2}" for number in range(200)],
            "age": [number % 100 for number in range(200)],
            "region": [("north", "south", SECRET)[number % 3] for number in range(200)],
        }
        pyarrow.parquet.write_table(pyarrow.table(table), files / "people.parquet")
        given = {"runners": 1, "rate": 100_000, "logins": 100_000, **given}
        self.settings = Settings.write(home, folders=[str(files)], **given)
        self.tokens = _filled(replace(self.settings, two_persons=False))
        with processes_that_hold() if processes else in_this_process():
            self.app = make(self.settings)
        self.service: Service = self.app.state.service
        self.transport = httpx.ASGITransport(self.app, client=("127.0.0.1", 1))
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        try:
            self.wait(self.service.start())
        except BaseException:
            self.close()
            raise

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What a coroutine finds in the loop of the centre."""
        found = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        done, _ = wait([found], timeout=PATIENCE)
        assert done, f"{coroutine} did not end within {PATIENCE} seconds"
        return found.result()

    def call(self, method: str, path: str, who: str | None = None, body: Any = None, **more: Any) -> httpx.Response:
        """A request of somebody by name."""
        return self.wait(self.acall(method, path, who, body, **more))

    async def acall(self, method: str, path: str, who: str | None, body: Any = None, **more: Any) -> httpx.Response:
        headers = {} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}
        if body is not None:  # written here, so that half characters can be sent too
            headers["Content-Type"], more["content"] = "application/json", json.dumps(body).encode()
        headers |= more.pop("headers", {})
        async with httpx.AsyncClient(transport=self.transport, base_url=URL) as client:
            return await client.request(method, path, headers=headers, **more)

    def seat(self, analyst: str = "ada", epsilon: str = "1", delta: str = "0") -> int:
        """A new seat, in a batch of its own."""
        known = {each.id for each in self.service.catalogue.seats()}
        share = {analyst: (epsilon, delta)}
        self.service.catalogue.cut("survey", f"batch {len(known)}", share, delta="1e-9", by="olga")
        (new,) = {each.id for each in self.service.catalogue.seats()} - known
        return new

    def slot_of(self, seat: int) -> str:
        return self.service.catalogue.seat(seat).slot

    def client(self, who: str) -> Client:
        return Client(URL, self.tokens[who], transport=_Bridge(self))

    def async_client(self, who: str) -> AsyncClient:
        return AsyncClient(URL, self.tokens[who], transport=self.transport)

    def close(self) -> None:
        try:
            self.wait(self.service.close())
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
            self.loop.close()


class _Bridge(httpx.BaseTransport):
    """Lets a client that waits ask the loop of the centre."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._served.wait(self._asked(request))

    async def _asked(self, request: httpx.Request) -> httpx.Response:
        content = request.read()
        asked = httpx.Request(request.method, request.url, headers=request.headers, content=content)
        found = await self._served.transport.handle_async_request(asked)
        body = await found.aread()
        return httpx.Response(found.status_code, headers=found.headers, content=body)


def _filled(settings: Settings) -> dict[str, str]:
    """People with their tokens, and one dataset."""
    with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
        people = People(store)
        people.add("olga", "owner", by=None)
        everybody = {"omar": "owner", **dict.fromkeys(ANALYSTS, "analyst"), AUDITOR: "auditor"}
        for name, role in everybody.items():
            people.add(name, role, by="olga")
        Catalogue(store, ledger).register(
            "survey",
            "people.parquet",
            COLUMNS,
            account="survey",
            epsilon="1000",
            delta="1e-3",
            free=True,
            person="who",
            rows_per_person=2,
            by="olga",
        )
        return {name: people.token(name, by="olga") for name in ("olga", *everybody)}


@contextmanager
def served(
    home: Path, make: Callable[[Settings], FastAPI] = make_app, *, processes: bool = True, **given: Any
) -> Iterator[Served]:
    """A centre that is closed at the end; `processes` says whether its runners are real ones."""
    found = Served(home, make, processes=processes, **given)
    try:
        yield found
    finally:
        found.close()
