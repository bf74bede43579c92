"""kill -9 at every named state of a ledger, with restart and retry; exit code 1 on any finding.

Each worker is a process of its own, forked from one that has imported everything and opened nothing.  It does a seeded
script of requests, and is killed: by itself at a named point, or by its parent at a random moment.  The next one does
the same script again, with the same keys.  After each crash the ledger is judged: see `crash_judge`.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import json
import os
import random
import select
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

from optcomp.statistics import Categories, Integers, Table
from tests import servers
from tests.campaign import crash_records
from tests.campaign.crash_judge import Judge
from tests.campaign.crash_points import BROKEN, POINTS
from tests.campaign.crash_records import Records
from tests.campaign.crash_script import Script, written
from tests.campaign.crash_worker import Place, work

DATABASES = ("sqlite", "postgres")
TIMER = "timer: at a random moment"
"""The parent kills."""
PATIENCE = 180.0
"""Seconds after which a worker counts as hanging."""
LIFE = 0.5
"""About as many seconds does a worker live, from which a random moment is taken."""
_OFTEN = ("reserved", "answered", "asked", "question", "mechanism", "anchor", "delivered")
"""Points that a worker passes several times."""
_RESERVED = tuple(
    [f"reserved: {moment}" for moment in ("after the commit", "after the anchor")]
    + ["question: before the run", "question: after the run", "mechanism: before its start"]
    + ["answered: before the commit", "started: before the commit"]
)
"""Crashes that leave a request whose lease the next worker takes over."""


@dataclass
class Tally:
    """What came of it."""

    database: str
    broken: str | None = None
    """What is wrong with the ledger on purpose."""
    crashes: Counter[str] = field(default_factory=Counter)
    scripts: int = 0
    workers: int = 0
    told: int = 0
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def enough(self, wanted: int, only: str | None) -> bool:
        """Whether there were so many crashes; if they are many, at every point."""
        everywhere = only is not None or wanted <= len(POINTS) or all(self.crashes[point] for point in POINTS)
        return everywhere and sum(self.crashes.values()) >= wanted


@dataclass(frozen=True)
class Ended:
    """How a worker ended: what it told, and whether it was killed."""

    lines: list[dict[str, object]]
    killed: bool


def run_worker(place: Place, script: Script, point: str | None, times: int, broken: str | None, life: float) -> Ended:
    """Fork a worker, read what it tells, kill it after its life if it has one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os._exit(work(place, script, writing, point, times, broken))
    os.close(writing)
    text, start = b"", time.monotonic()
    until = start + (life if point == TIMER else PATIENCE)
    while True:
        ready, _, _ = select.select([reading], [], [], max(until - time.monotonic(), 0))
        if not ready:
            os.kill(child, signal.SIGKILL)
            until = start + PATIENCE * 2  # what it wrote before is still read
            continue
        piece = os.read(reading, 1 << 16)
        if not piece:
            break
        text += piece
    os.close(reading)
    status = os.waitpid(child, 0)[1]
    lines = [json.loads(line) for line in text.splitlines()]
    if time.monotonic() - start > PATIENCE:
        lines.append({"error": f"hung at {point}"})
    return Ended(lines, os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL)


def choose(rng: random.Random, tally: Tally, records: Records, last: str, only: str | None) -> str:
    """Where to crash next: where we have crashed least, of what can still be passed."""
    if only is not None:
        return only
    kinds = Counter(entry["kind"] for entry in records.entries)
    open_to = [
        point
        for point in (*POINTS, TIMER)
        if not (kinds[kind := point.partition(":")[0]] and kind in ("created", "opened", "unit", "batch"))
        and not (kind == "lease" and last not in _RESERVED)
        and not (kind == "session" and kinds[kind] > 1)
    ]
    return min(open_to, key=lambda point: (tally.crashes[point] // (3 if point == TIMER else 1), rng.random()))


def crash_script(tally: Tally, place: Place, seed: int, wanted: int, broken: str | None, only: str | None) -> None:
    """Crash and retry one script until it is done."""
    rng, script = random.Random(seed), written(seed)
    judge, last, missed = Judge(script, place.private), "", 0
    most = rng.randint(6, 14)
    crashes = 0
    while True:
        records = crash_records.read(place.address)
        more = crashes < most and not missed and not tally.enough(wanted, only)
        point = choose(rng, tally, records, last, only) if more else None
        times = rng.randint(1, 4) if point is not None and point.startswith(_OFTEN) else 1
        ended = run_worker(place, script, point, times, broken, rng.random() * LIFE)
        tally.workers += 1
        tally.told += len(ended.lines)
        finished = not ended.killed
        found = judge.hear(ended.lines)
        found += judge.judge(crash_records.read(place.address), finished=finished and not found)
        tally.findings += [f"{tally.database} script {seed}, after {point}: {each}" for each in found]
        if found:
            return
        if finished and (point is None or crashes >= most or missed):
            tally.scripts += 1
            return
        if finished:
            missed += 1
            continue
        crashes += 1
        last = point or ""
        tally.crashes[last] += 1


def warmed(folder: Path) -> Path:
    """Save the table, and import what workers import: both in a child, so that nothing is open here."""
    snapshot, names = folder / "people", folder / "modules"
    child = os.fork()
    if child == 0:
        rows = "".join(f"{20 + 7 * n % 60},{'south' if n % 3 else 'north'}\n" for n in range(60))
        (folder / "people.csv").write_text("age,region\n" + rows)
        declared = {"age": Integers(0, 110), "region": Categories(["north", "south"])}
        Table(folder / "people.csv", declared).save(snapshot)
        rehearsal = place_of(folder, "rehearsal", str(folder / "rehearsal.ledger"), snapshot)
        code = work(rehearsal, written(0), os.open(folder / "told", os.O_WRONLY | os.O_CREAT), None, 0, None)
        names.write_text("\n".join(sorted(sys.modules)))
        os._exit(code)
    if os.waitpid(child, 0)[1] != 0:
        raise AssertionError(f"the rehearsal failed: {(folder / 'told').read_text()}")
    for name in names.read_text().split():
        with suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # forked processes copy no memory in order to collect it
    atexit.register(gc.unfreeze)  # libraries look at the end whether all of theirs was collected
    return snapshot


def place_of(folder: Path, name: str, address: str, snapshot: Path) -> Place:
    """A place of its own: a snapshot names its ledger, so each has a copy."""
    own = folder / f"{name}.people"
    if snapshot.is_dir():
        shutil.copytree(snapshot, own)
    else:
        shutil.copy(snapshot, own)
    return Place(address, folder / f"{name}.private", own)


@contextmanager
def addresses(database: str, folder: Path, server: str | None = None) -> Iterator[Iterator[str]]:
    """New databases, one after the other; `server` is the address of a PostgreSQL that runs, else one is started."""
    if database == "sqlite":
        yield (str(folder / f"{token_hex(8)}.ledger") for _ in range(10**6))
        return
    with servers.postgres_address() if server is None else nullcontext(server) as found:
        made: list[str] = []
        try:
            yield (_noted(made, servers.new_database(found)) for _ in range(10**6))
        finally:
            for each in made:
                servers.drop_database(found, each)


def _noted(made: list[str], address: str) -> str:
    made.append(address)
    return address


def crash(
    folder: Path,
    snapshot: Path,
    fresh: Iterator[str],
    tally: Tally,
    *,
    crashes: int,
    seed: int,
    broken: str | None = None,
    only: str | None = None,
) -> Tally:
    """So many crashes on fresh databases, or until something is found."""
    start = time.perf_counter()
    for n in range(20 * crashes):
        if tally.enough(crashes, only) or tally.findings:
            break
        place = place_of(folder, token_hex(8), next(fresh), snapshot)
        crash_script(tally, place, seed + n, crashes, broken, only)
    tally.seconds = time.perf_counter() - start
    return tally


def crash_all(database: str, options: argparse.Namespace) -> list[Tally]:
    """What the command line asks for, on one database; in a process without threads."""
    asked = {"crashes": options.crashes, "seed": options.seed}
    with TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True) as home:
        folder = Path(home)
        snapshot = warmed(folder)
        with addresses(database, folder, options.server) as fresh:
            if not options.broken:
                return [crash(folder, snapshot, fresh, Tally(database), only=options.point, **asked)]
            return [
                crash(
                    folder,
                    snapshot,
                    fresh,
                    Tally(database, broken),
                    broken=broken,
                    only=options.point or BROKEN[broken],
                    **asked,
                )
                for broken in options.broken
            ]


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.crashes", description=__doc__)
    parser.add_argument("--crashes", type=int, default=500, help="on each database (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first script (%(default)s)")
    parser.add_argument("--database", choices=(*DATABASES, "both"), default="both", help="(%(default)s)")
    parser.add_argument("--server", help="the address of a PostgreSQL that runs; else one is started")
    words = "a ledger that is wrong: something must be found (may be repeated)"
    parser.add_argument("--broken", action="append", choices=BROKEN, help=words)
    parser.add_argument("--point", choices=(*POINTS, TIMER), help="crash here only")
    options = parser.parse_args(arguments)
    if options.database == "both":
        with ProcessPoolExecutor(2, get_context("spawn"), max_tasks_per_child=1) as pool:
            tallies = [each for found in pool.map(crash_all, DATABASES, [options] * 2) for each in found]
    else:
        tallies = crash_all(options.database, options)
    for tally in tallies:
        print_tally(tally)
    return int(any(tally.findings for tally in tallies))


def print_tally(tally: Tally) -> None:
    """For people."""
    for line in tally.findings:
        print("FOUND", line)
    if tally.broken is not None:
        print(f"{tally.database}, {tally.broken}: {len(tally.findings)} findings")
        return
    for point in (*POINTS, TIMER):
        print(f"{tally.crashes[point]:6} {tally.database:>9} {point}")
    told = f"{tally.scripts} scripts, {tally.workers} workers, {tally.told} answers told"
    print(f"{tally.database}: {sum(tally.crashes.values())} crashes in {told}, {tally.seconds:.0f} s")
    print(f"{tally.database}: {len(tally.findings)} findings", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
