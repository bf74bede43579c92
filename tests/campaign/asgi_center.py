"""A centre that is asked by ASGI in this process: real store and ledger, and two neighbouring snapshots.

Every trial has a dataset, an account and a batch of its own; all of them live in one centre.  Questions are answered by
a runner, which is a process, or in this process too.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow

from optcomp.center import People, Settings, Store
from optcomp.center.app import make_app
from optcomp.center.service import Service
from optcomp.interactive.audit import Side
from optcomp.ledger import Ledger
from optcomp.statistics import Categories, Table
from tests.unit.center.served import in_this_process

SLOTS = {"ada": ("1", "0"), "ben": ("1/4", "0"), "cho": ("1/4", "0")}
"""Who colludes, and what each of them has."""
DELTA = "1e-6"
"""Of each batch."""
SOUTH = 6
"""How many live in the south in the first table; one more in the second."""
_OWNER = "olga"
_NORTH = 12
_MOST = 10**9
"""Requests a minute: nobody is held up here."""

Broken = Callable[[Service], None]
"""Breaks a centre."""


@dataclass(frozen=True)
class Trial:
    """One batch about one of the two tables: what is certified, and where the analysts sit."""

    side: Side
    account: str
    epsilon: str
    delta: str
    seats: dict[str, int]


class AsgiCenter:
    """The centre, and everybody's token."""

    def __init__(self, settings: Settings, tokens: dict[str, str], files: Path, processes: bool) -> None:
        with nullcontext() if processes else in_this_process():
            self.app = make_app(settings)
        self.service: Service = self.app.state.service
        self._files, self._trials = files, 0
        # no network, and so no certificates: one client for all
        transport = httpx.ASGITransport(self.app, client=("127.0.0.1", 1))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
        self._headers = {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()}

    async def post(self, who: str, path: str, body: Any) -> httpx.Response:
        """What is told to somebody."""
        return await self._client.post(f"/api/v1/{path}", json=body, headers=self._headers[who])

    async def get(self, who: str, path: str) -> httpx.Response:
        """What somebody reads."""
        return await self._client.get(f"/api/v1/{path}", headers=self._headers[who])

    def trial(self, side: Side) -> Trial:
        """A new account with a batch of a slot for each analyst."""
        self._trials += 1
        name = f"trial {self._trials}"
        shutil.copytree(self._files / f"side-{side}", self._files / name)
        catalogue = self.service.catalogue
        catalogue.register_snapshot(name, name, account=name, epsilon="3", delta="1e-3", disjoint=True, by=_OWNER)
        found = catalogue.cut(name, "batch", SLOTS, delta=DELTA, by=_OWNER)
        seats = {each: next(s.id for s in catalogue.seats(each) if s.dataset.name == name) for each in SLOTS}
        return Trial(side, name, found["epsilon"], found["delta"], seats)

    async def close(self) -> None:
        """End everything."""
        await self._client.aclose()


@asynccontextmanager
async def asgi_center(
    folder: Path, broken: Broken | None = None, *, processes: bool = True
) -> AsyncIterator[AsgiCenter]:
    """A centre in an empty folder, as long as it lasts; `processes` says whether a process answers."""
    files = folder / "files"
    files.mkdir()
    for side in (0, 1):
        regions = ["south"] * (SOUTH + side) + ["north"] * _NORTH
        table = pyarrow.table({"region": regions})
        Table(table, {"region": Categories(["north", "south"])}, name="people").save(files / f"side-{side}")
    limits = {"rate": _MOST, "free_processor_seconds": _MOST}
    settings = Settings.write(folder / "home", folders=[str(files)], **limits, runners=1, readers=0)
    with Store(settings) as store, Ledger(settings.ledger, private=settings.private):
        people = People(store)
        people.add(_OWNER, "owner", by=None)
        for name in SLOTS:
            people.add(name, "analyst", by=_OWNER)
        tokens = {name: people.token(name, by=_OWNER) for name in SLOTS}
    center = AsgiCenter(settings, tokens, files, processes)
    try:
        await center.service.start()
        if broken is not None:
            broken(center.service)
        yield center
    finally:
        await center.close()
        await center.service.close()
