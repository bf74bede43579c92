"""The analyst's desk: how long two hundred people wait for it, beside the same request of the interface.

A real server on loopback.  Everybody works in a closed loop: load the page of their seat, look at it for a time that is
drawn from an exponential law, load it again.  Then the same people ask the interface what is left in their seat, which
is what the page shows first, in the same way.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Mapping
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
LOOKS, SECONDS = 20.0, 30.0
"""For how many seconds somebody looks at a page on average, and for how many all are timed."""
ALLOWED = 3
"""How many times as long a page may take as the interface, at the 95th percentile."""


def section(quick: bool, console: Console) -> Section:
    """Pages and the interface, one after the other."""
    seconds, before = 5.0 if quick else SECONDS, os.getloadavg()[0]
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
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as client:
        cookies = [await _signed_in(url, token) for token in tokens]
        seats = [await _seat(client, token) for token in tokens]
        pages = [(f"/analyst/seats/{seat}", {"Cookie": cookie}) for seat, cookie in zip(seats, cookies, strict=True)]
        calls = [
            (f"/api/v1/seats/{seat}", {"Authorization": f"Bearer {token}"})
            for seat, token in zip(seats, tokens, strict=True)
        ]
        return await _run(client, pages, seconds), await _run(client, calls, seconds)


async def _signed_in(url: str, token: str) -> str:
    """The cookie of a visit."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        found = await client.post("/sign-in", data={"token": token, "next": "/"})
        return found.headers["set-cookie"].partition(";")[0]


async def _seat(client: httpx.AsyncClient, token: str) -> int:
    found = await client.get("/api/v1/seats", headers={"Authorization": f"Bearer {token}"})
    seat: int = found.json()["seats"][0]["id"]
    return seat


async def _run(client: httpx.AsyncClient, asked: list[tuple[str, dict[str, str]]], seconds: float) -> list[float]:
    waited: list[float] = []
    until = time.monotonic() + seconds
    await asyncio.gather(*(_person(client, path, headers, until, waited) for path, headers in asked))
    return waited


async def _person(
    client: httpx.AsyncClient, path: str, headers: Mapping[str, str], until: float, waited: list[float]
) -> None:
    draw = random.Random(path)
    while True:
        await asyncio.sleep(max(0.0, min(draw.expovariate(1 / LOOKS), until - time.monotonic())))
        if time.monotonic() >= until:
            return
        started = time.monotonic()
        found = await client.get(path, headers=headers)
        if found.status_code != 200:
            raise RuntimeError(f"{path} was refused with {found.status_code}")
        waited.append(time.monotonic() - started)
