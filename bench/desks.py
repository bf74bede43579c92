"""The analyst's desk: how long two hundred people wait for it, beside the same request of the interface.

A real server on loopback.  Everybody works in a closed loop: look for a time that is drawn from an exponential law,
then load the page of their seat, or ask the interface what is left in it, which is what the page shows first; a coin
says which.  So both meet the same server at the same time.  Before that everybody has loaded both once, which is not
timed.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx
from rich.console import Console

from bench.center import percentile
from bench.center_home import make_home, running
from bench.report import Section
from bench.rows import duration

DESKS = 200
"""People who look at once."""
LOOKS, SECONDS = 20.0, 60.0
"""For how many seconds somebody looks at a page on average, and for how many all are timed."""
ALLOWED = 3
"""How many times as long a page may take as the interface, at the 95th percentile."""


@dataclass(frozen=True)
class Asked:
    """What somebody loads, and the list in which their waiting is noted."""

    path: str
    headers: dict[str, str]
    waited: list[float]


def section(quick: bool, console: Console) -> Section:
    """Pages and the interface, mixed."""
    seconds, before = 10.0 if quick else SECONDS, os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="optcomp-bench-", ignore_cleanup_errors=True) as name:
        home = Path(name) / "home"
        with console.status(f"{DESKS} desks"):
            tokens = make_home(home, DESKS)
            with running(home) as server:
                pages, calls = asyncio.run(_both(server["url"], tokens, seconds))
    ratio = percentile(pages, 0.95) / percentile(calls, 0.95)
    words = (
        f"{DESKS} people, each looking for {LOOKS:.0f} s on average, on one machine with {os.cpu_count()} processors. "
        f"At the 95th percentile a page takes {ratio:.1f} times as long as the call; {ALLOWED} times is allowed. "
        f"Load average before: {before:.1f}."
    )
    made = Section("The analyst's desk", words)
    made.add(
        "Seconds until all of it is there",
        ("what", "loads", "in a second", "median", "95th percentile"),
        [
            _row("page of a seat", pages, seconds),
            _row("`GET /api/v1/seats/{id}`", calls, seconds),
        ],
    )
    return made


def _row(what: str, waited: list[float], seconds: float) -> tuple[str, ...]:
    rate = f"{len(waited) / seconds:.1f}"
    return what, str(len(waited)), rate, duration(median(waited)), duration(percentile(waited, 0.95))


async def _both(url: str, tokens: list[str], seconds: float) -> tuple[list[float], list[float]]:
    limits = httpx.Limits(max_connections=None)
    pages, calls = list[float](), list[float]()
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as client:
        cookies = [await _signed_in(url, token) for token in tokens]
        seats = [await _seat(client, token) for token in tokens]
        everybody = [
            (
                Asked(f"/analyst/seats/{seat}", {"Cookie": cookie}, pages),
                Asked(f"/api/v1/seats/{seat}", {"Authorization": f"Bearer {token}"}, calls),
            )
            for seat, cookie, token in zip(seats, cookies, tokens, strict=True)
        ]
        for both in everybody:
            for each in both:
                await _loaded(client, each)
        until = time.monotonic() + seconds
        await asyncio.gather(*(_person(client, both, until) for both in everybody))
    return pages, calls


async def _signed_in(url: str, token: str) -> str:
    """The cookie of a visit."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        found = await client.post("/sign-in", data={"token": token, "next": "/"})
        return found.headers["set-cookie"].partition(";")[0]


async def _seat(client: httpx.AsyncClient, token: str) -> int:
    found = await client.get("/api/v1/seats", headers={"Authorization": f"Bearer {token}"})
    seat: int = found.json()["seats"][0]["id"]
    return seat


async def _person(client: httpx.AsyncClient, both: tuple[Asked, Asked], until: float) -> None:
    draw = random.Random(both[0].path)
    while True:
        await asyncio.sleep(max(0.0, min(draw.expovariate(1 / LOOKS), until - time.monotonic())))
        if time.monotonic() >= until:
            return
        asked = draw.choice(both)
        asked.waited.append(await _loaded(client, asked))


async def _loaded(client: httpx.AsyncClient, asked: Asked) -> float:
    """Seconds until all of it was there."""
    started = time.monotonic()
    found = await client.get(asked.path, headers=asked.headers)
    if found.status_code != 200:
        raise RuntimeError(f"{asked.path} was refused with {found.status_code}")
    return time.monotonic() - started
