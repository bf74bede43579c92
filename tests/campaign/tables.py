"""Odd cells in every engine, and random neighbouring tables: in parallel processes, with exit code 1 on any finding.

Each instance of the first part has odd cells in columns of every kind of declaration; see `hostile` and `pairs`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from optcomp.statistics import Statistic
from optcomp.statistics.register import known_statistics
from tests import servers
from tests.campaign import hostile, pairs, sources

INSTANCES, PAIRS, FEW_PAIRS = 500, 2_000, 100
"""Odd tables for each engine; neighbouring pairs on DuckDB and on PostgreSQL; and on Spark, which is slow."""
CROWD = 50
"""People with odd rows in one table of Spark, each of them an instance."""
CHUNK = {"postgres": 250, "spark": 10**9}
"""Instances that one server is started for; without a server a hundred take their turn in a process."""
ENGINES = ("csv", "tsv", "parquet", "arrow", "pandas", "duckdb", "postgres", "spark")
QUESTIONED = ("duckdb", "postgres", "spark")
"""Engines that keep snapshots."""


@dataclass(frozen=True)
class Job:
    """Instances with these seeds."""

    part: str
    engine: str
    seeds: range
    statistic: str | None = None
    """Asked of pairs; without one, any."""


@dataclass(frozen=True)
class Done:
    """What came of a job."""

    job: Job
    findings: list[str]
    seconds: float


def jobs(instances: int, neighbours: int, few: int, statistic: str | None = None) -> list[Job]:
    """Everything, the slowest first."""
    found = [Job("cells", "spark", range(max(instances // CROWD, 1))), Job("pairs", "spark", range(few), statistic)]
    for part, engines, amount in (("pairs", QUESTIONED[:2], neighbours), ("cells", ENGINES[:-1], instances)):
        for engine in reversed(engines):
            size = CHUNK.get(engine, 100)
            seeds = [range(i, min(i + size, amount)) for i in range(0, amount, size)]
            found += [Job(part, engine, each, statistic) for each in seeds]
    return found


def statistics() -> dict[str, type[Statistic]]:
    """All that are known, by name."""
    return {each.__name__.lower(): each for each in known_statistics()}


@contextmanager
def judging(job: Job) -> Iterator[Callable[[int], list[str]]]:
    """What judges a seed, with a server if it needs one."""
    with TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True) as home:
        folder = Path(home)
        if job.engine in ("postgres", "spark"):
            with servers.postgres() if job.engine == "postgres" else servers.spark() as backend:
                yield _judge(job, backend, folder)
        else:
            yield _judge(job, None, folder)


def _judge(job: Job, backend: Any, folder: Path) -> Callable[[int], list[str]]:
    if job.part == "pairs":
        only = None if job.statistic is None else statistics()[job.statistic]
        return lambda seed: pairs.judge(seed, backend, folder, only)
    if job.engine == "spark":
        crowds = sources.Spark(backend)
        return lambda seed: hostile.judge(crowds, seed, CROWD, crowd=True)
    engine = sources.Postgres(backend) if job.engine == "postgres" else sources.local_engines(folder)[job.engine]
    return lambda seed: hostile.judge(engine, seed)


def done(job: Job) -> Done:
    """Run a job; an error is a finding, and the next instance follows."""
    start, findings = time.perf_counter(), list[str]()
    with warnings.catch_warnings(), judging(job) as judge:
        warnings.simplefilter("ignore")  # of engines and of Ibis, which are not what is looked at
        for seed in job.seeds:
            try:
                findings += judge(seed)
            except Exception:  # whatever it is
                findings.append(f"{job.engine} {seed}: {traceback.format_exc()}")
    return Done(job, findings, time.perf_counter() - start)


def _alone(job: Job) -> Done:
    """In a process of its own: nothing that an engine keeps is left for the next."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(done, job).result()


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.tables", description=__doc__)
    parser.add_argument("--instances", type=int, default=INSTANCES, help="odd tables for each engine (%(default)s)")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="on DuckDB and on PostgreSQL (%(default)s)")
    parser.add_argument("--few-pairs", type=int, default=FEW_PAIRS, help="on Spark (%(default)s)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (%(default)s)")
    parser.add_argument("--part", choices=("cells", "pairs"), help="only odd cells, or only pairs")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="only this engine (may be repeated)")
    parser.add_argument("--statistic", choices=sorted(statistics()), help="only pairs, asked for nothing but this")
    options = parser.parse_args(arguments)
    part = "pairs" if options.statistic else options.part
    start, bad = time.perf_counter(), 0
    wanted = [
        job
        for job in jobs(options.instances, options.pairs, options.few_pairs, options.statistic)
        if job.seeds and job.engine in (options.engine or ENGINES) and part in (None, job.part)
    ]
    with ThreadPoolExecutor(options.workers) as pool:
        for future in as_completed([pool.submit(_alone, job) for job in wanted]):
            found = future.result()
            bad += len(found.findings)
            for line in found.findings:
                print("FOUND", line)
            amount = len(found.job.seeds) * (CROWD if (found.job.part, found.job.engine) == ("cells", "spark") else 1)
            told = f"{found.job.part:>6}{found.job.engine:>9} from {found.job.seeds.start:>5}:{amount:>6} instances"
            print(f"{told}, {len(found.findings)} findings, {found.seconds:.0f} s", flush=True)
    print(f"{bad} findings in {time.perf_counter() - start:.0f} s")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
