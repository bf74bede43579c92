"""The data centre: how long analysts wait for an answer, beside the plain query; and what analysts cost in memory.

A real server on loopback, and analysts in processes of their own.  All of them work in a closed loop: ask, wait for the
answer, think for a time that is drawn from an exponential law, ask again.  Every question is a new one, with fresh
noise, debited and entered in the ledger.  The plain query is the same statistic by DuckDB on the same rows, in one
process, with nobody else at work.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from rich.console import Console

from bench.center_home import DATASET, make_home, memory, processor_time, running
from bench.report import Section
from optcomp.client import AsyncClient
from optcomp.statistics import Count

REGISTERED, ACTIVE, PROCESSES = 1_000, 100, 2
"""Analysts, those who ask, and the processes in which they are."""
ALLOWED = 0.050
"""Seconds above the plain query that the 95th percentile may take."""
Run = tuple[int, float, float]
"""How many of the active analysts ask, for how many seconds they think on average, and for how many they are timed."""
RUNS: tuple[Run, ...] = (
    (1, 0.0, 4.0),
    (ACTIVE, 20.0, 20.0),
    (ACTIVE, 10.0, 15.0),
    (ACTIVE, 5.0, 12.0),
    (16, 0.0, 6.0),
)
_QUICK: tuple[Run, ...] = ((ACTIVE, 10.0, 4.0), (16, 0.0, 3.0))
_PRICE, _WHERE = "1/10000", "age >= 65"
"""ε of a question, and what it is about."""
_PLAIN = "SELECT count(*) FROM people WHERE age >= 65"


@dataclass(frozen=True)
class Load:
    """What analysts saw in a run."""

    asking: int
    think: float
    seconds: float
    waited: tuple[float, ...]
    worked: float
    """Seconds of processor time of the server and its runners."""

    @property
    def rate(self) -> float:
        """Answers in a second."""
        return len(self.waited) / self.seconds


def percentile(values: tuple[float, ...] | list[float], share: float) -> float:
    """The least value that at least this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


async def _analyst(url: str, token: str, place: int, runs: tuple[Run, ...], begin: Any, told: Any) -> None:
    """One of them, through all runs."""
    draw, asked = random.Random(token), 0
    async with AsyncClient(url, token) as client:
        session = await client.open(DATASET)
        await session.ask(Count(_WHERE), epsilon=_PRICE)
        await begin.wait()
        for run, (asking, think, seconds) in enumerate(runs):
            until = time.monotonic() + (seconds if place < asking else 0)
            await _thought(draw, think, until)  # they do not all begin at once
            while time.monotonic() < until:
                asked, started = asked + 1, time.monotonic()
                await session.ask(Count(_WHERE), epsilon=_PRICE, repeat=asked)
                told.append((run, time.monotonic() - started))
                await _thought(draw, think, until)
            await begin.wait()


async def _thought(draw: random.Random, think: float, until: float) -> None:
    """Think, for no longer than the run lasts."""
    wanted = draw.expovariate(1 / think) if think else 0.0
    await asyncio.sleep(max(0.0, min(wanted, until - time.monotonic())))


class _Meeting:
    """Where the analysts of a process wait for each other, and for the other processes."""

    def __init__(self, count: int, barrier: Any) -> None:
        self._inside, self._barrier = asyncio.Barrier(count), barrier

    async def wait(self) -> None:
        """All go on together."""
        if await self._inside.wait() == 0:
            await asyncio.to_thread(self._barrier.wait)
        await self._inside.wait()


def _process(url: str, analysts: list[tuple[int, str]], runs: tuple[Run, ...], barrier: Any, out: Any) -> None:
    async def together() -> list[tuple[int, float]]:
        told: list[tuple[int, float]] = []
        meeting = _Meeting(len(analysts), barrier)
        await asyncio.gather(*(_analyst(url, token, place, runs, meeting, told) for place, token in analysts))
        return told

    try:
        out.put(asyncio.run(together()))
    except BaseException:
        barrier.abort()  # nobody is to wait for this process
        raise


def _loads(url: str, tokens: list[str], runs: tuple[Run, ...], pid: int) -> tuple[list[Load], int]:
    """All runs, and the memory of the server after the first questions of everybody."""
    context = multiprocessing.get_context("spawn")
    barrier, out = context.Barrier(PROCESSES + 1, timeout=120), context.Queue()
    analysts = list(enumerate(tokens))
    parts = [analysts[place::PROCESSES] for place in range(PROCESSES)]
    workers = [context.Process(target=_process, args=(url, part, runs, barrier, out)) for part in parts]
    for worker in workers:
        worker.start()
    barrier.wait()
    warm = memory(pid)
    worked = [processor_time(pid)]
    for _ in runs:
        barrier.wait()
        worked.append(processor_time(pid))
    told = [each for _ in workers for each in out.get()]
    for worker in workers:
        worker.join()
    waited = [tuple(seconds for place, seconds in told if place == run) for run in range(len(runs))]
    spent = [after - before for before, after in pairwise(worked)]
    return [Load(*about, found, work) for about, found, work in zip(runs, waited, spent, strict=True)], warm


def plain_times(path: Path, count: int = 300) -> list[float]:
    """Seconds of the plain query, with the rows in memory."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_parquet(?)", [str(path)])
        times = []
        for _ in range(count):
            started = time.perf_counter()
            connection.execute(_PLAIN).fetchall()
            times.append(time.perf_counter() - started)
        return times


def section(quick: bool, console: Console) -> Section:
    """Answers under load, and memory."""
    runs, before = _QUICK if quick else RUNS, os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="optcomp-bench-", ignore_cleanup_errors=True) as name:
        empty, full = Path(name) / "empty", Path(name) / "full"
        with console.status("a centre without analysts"):
            make_home(empty, 0)
            with running(empty) as server:
                bare = memory(server["pid"])
        with console.status(f"{REGISTERED:,} analysts"):
            tokens = make_home(full, REGISTERED)
            plain = plain_times(full.with_name("full.people") / "people.parquet")
            with running(full) as server:
                idle = memory(server["pid"])
                loads, warm = _loads(server["url"], tokens[:ACTIVE], runs, server["pid"])
                after = memory(server["pid"])
        disk = sum(each.stat().st_size for each in full.glob("center.*") if each.is_file())
    made = Section("Centre", _words(plain, loads, before))
    made.add(f"{ACTIVE} analysts at work, of {REGISTERED:,} registered", _WAITING, _rows(plain, loads))
    made.add("Memory of the server, its runners included", _MEMORY, _memory_rows(bare, idle, warm, after, loads, disk))
    return made


_WAITING = (
    "asking",
    "think, s",
    "answers",
    "in a second",
    "median",
    "95th percentile",
    "above the plain query",
    "within 50 ms",
    "work",
)
_MEMORY = ("what", "MB", "for each analyst")


def _rows(plain: list[float], loads: list[Load]) -> list[tuple[str, ...]]:
    base, rows = percentile(plain, 0.95), list[tuple[str, ...]]()
    for load in loads:
        if not load.waited:
            continue
        late = percentile(load.waited, 0.95)
        cells = (_ms(median(load.waited)), _ms(late), _ms(late - base), "yes" if late - base <= ALLOWED else "no")
        work = _ms(load.worked / len(load.waited))
        rows.append((str(load.asking), f"{load.think:g}", f"{len(load.waited):,}", f"{load.rate:.1f}", *cells, work))
    return rows


def _memory_rows(
    bare: int, idle: int, warm: int, after: int, loads: list[Load], disk: int
) -> list[tuple[str, str, str]]:
    answers = sum(len(load.waited) for load in loads)
    return [
        ("nobody registered", _mb(bare), ""),
        (f"{REGISTERED:,} registered", _mb(idle), f"{(idle - bare) / REGISTERED / 1e3:.1f} kB"),
        (f"{ACTIVE} have asked once", _mb(warm), f"{(warm - idle) / ACTIVE / 1e3:.0f} kB"),
        (f"after {answers:,} more answers", _mb(after), f"{(after - idle) / ACTIVE / 1e3:.0f} kB"),
        ("on disk: both databases", _mb(disk), f"{disk / REGISTERED / 1e3:.1f} kB"),
    ]


def _words(plain: list[float], loads: list[Load], before: float) -> str:
    most = max(load.rate for load in loads)
    return (
        f"{ACTIVE} analysts in {PROCESSES} processes against one server with two runners, all on one machine with "
        f"{os.cpu_count()} processors. The plain query takes {_ms(median(plain))}, at the 95th percentile "
        f"{_ms(percentile(plain, 0.95))}. In the first row one analyst asks alone. In the last row nobody thinks: "
        f"what waits is a queue, and the rate is all that the machine carries, {most:.0f} answers in a second. *work* "
        f"is the processor time of the server and its runners for an answer. Load average before: {before:.1f}."
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def _mb(count: int) -> str:
    return f"{count / 1e6:.1f}"
