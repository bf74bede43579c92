"""Snapshots: questions beside the plain query on the raw file, preparation beside one scan and sort, and memory.

Questions are exact here: no budget is debited and no noise is drawn.  Ours and the plain query run in one process, in
turns, each on a DuckDB of its own with all cores.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median

import duckdb
from rich.console import Console

from bench.report import Section
from bench.rows import duration
from optcomp.statistics import Categories, Count, Histogram, Integers, Mean, Median, Reals, Statistic, Table

ROWS, QUICK = 10_000_000, 200_000
"""Two of five rows are those of another person."""
REPEATS = 7
"""Of questions; preparation is measured three times, and memory once."""
KEPT = (2, 16)
"""Rows of a person that stay: fewer than many people have, and more than anybody has."""
BIG, QUICK_BIG = 4 * 10**9, 4 * 10**7
"""Bytes of the CSV file whose preparation is watched."""
MEMORY = "512MB"
"""What DuckDB may take meanwhile."""
_REGIONS = ["north", "south", "east", "west", "centre", "coast", "hills", "islands"]
_COLUMNS = {"age": Integers(0, 100), "income": Reals(0, 100_000), "region": Categories(_REGIONS)}
_CELLS = f"""
(hash(i * 3) % {{people}})::BIGINT AS person, (hash(i) % 100)::INTEGER AS age, (hash(i * 7) % 1000000) / 7.0 AS income,
{_REGIONS}[1 + (hash(i * 13) % 8)::INTEGER] AS region
"""
_WIDE = _CELLS.rstrip() + ", md5(i::VARCHAR) AS note, md5((i * 5)::VARCHAR) AS remark"
_WIDE_LINE = 100
"""Bytes of a line with two columns that are not declared, about."""
_CASES: tuple[tuple[str, Statistic, str], ...] = (
    ("count", Count(), "SELECT count(*) FROM people"),
    ("mean", Mean("income"), "SELECT avg(income) FROM people"),
    ("histogram", Histogram("region"), "SELECT region, count(*) FROM people GROUP BY 1"),
    ("median", Median("income"), "SELECT median(income) FROM people"),
)
_CHILD = """
import sys, time
from pathlib import Path
from bench.snapshots import MEMORY, prepared

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before, started, used = peak(), time.perf_counter(), time.process_time()
prepared(Path(sys.argv[1]), 2, Path(sys.argv[2]), MEMORY)
print(time.perf_counter() - started, time.process_time() - used, before, peak())
"""
Times = tuple[float, float]
"""Seconds that passed, and seconds of the processor."""


def prepared(source: Path, kept: int, folder: Path, memory: str | None = None) -> Table:
    """Read, checked, bounded, frozen and saved with its digest."""
    table = Table(source, _COLUMNS, person="person", rows_per_person=kept, memory=memory)
    table.save(folder)
    return table


def _timed(run: Callable[[], object]) -> Times:
    started, used = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - started, time.process_time() - used


def _in_turns(runs: list[Callable[[], object]], repeats: int) -> list[Times]:
    """Medians, taking turns so that a busy moment of the machine hits all alike; the first turn does not count.

    Each turn begins with another one: what runs after a long query finds other things in the processor's caches.
    """
    found: list[list[Times]] = [[] for _ in runs]
    for turn in range(repeats + 1):
        for place in range(len(runs)):
            which = (turn + place) % len(runs)
            found[which].append(_timed(runs[which]))
    return [(median(passed for passed, _ in own[1:]), median(used for _, used in own[1:])) for own in found]


def _write(path: Path, cells: str, rows: int) -> None:
    people = max(rows * 2 // 5, 1)
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {cells.format(people=people)} FROM range({rows}) t(i)) TO '{path}'")


def section(quick: bool, console: Console) -> Section:
    """Questions, preparation, memory."""
    rows, before = QUICK if quick else ROWS, os.getloadavg()[0]
    made = Section("Snapshots", "")
    with tempfile.TemporaryDirectory(prefix="optcomp-bench-") as name:
        folder = Path(name)
        raw = folder / "people.parquet", folder / "people.csv"
        for path in raw:
            _write(path, _CELLS, rows)
        for kept in KEPT:
            with console.status(f"questions, {kept} rows of a person"):
                _questions(made, raw, kept, folder)
        with console.status("preparation"):
            _preparation(made, raw, 1 if quick else 3, folder)
        for path in raw:
            path.unlink()
        with console.status("memory"):
            _memory(made, QUICK_BIG if quick else BIG, folder)
    made.text = (
        f"{rows:,} rows of {rows * 2 // 5:,} people, questions without debit and noise; median of {REPEATS}, in turns. "
        "*× plain* is ours over the plain query on the raw file, in time that passed and in processor time. Load "
        f"average of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after (this run makes up 2 of it)."
    )
    return made


def _questions(made: Section, raw: tuple[Path, ...], kept: int, folder: Path) -> None:
    """Each question of the snapshot, of the raw Parquet file and of the raw CSV file."""
    table, rows = prepared(raw[0], kept, folder / f"questions-{kept}"), []
    plain = [duckdb.connect() for _ in raw]
    for connection, path in zip(plain, raw, strict=True):
        connection.execute(f"CREATE VIEW people AS FROM '{path}'")
    for name, statistic, query in _CASES:
        ours, *others = _in_turns([_ours(statistic, table), *(_plain(each, query) for each in plain)], REPEATS)
        cells = [f"{ours[which] / other[which]:.2f}" for other in others for which in (0, 1)]
        rows.append((name, duration(ours[0]), duration(others[0][0]), *cells))
    stay = Count().measure(table)[0][0]
    made.add(
        f"Questions: {kept} rows of a person stay, {stay:,} in all",
        ("question", "ours", "plain", "× plain", "processor", "× plain on CSV", "processor"),
        rows,
    )


def _ours(statistic: Statistic, table: Table) -> Callable[[], object]:
    return lambda: statistic.measure(table)


def _plain(connection: duckdb.DuckDBPyConnection, query: str) -> Callable[[], object]:
    return lambda: connection.execute(query).fetchall()


def _preparation(made: Section, raw: tuple[Path, ...], repeats: int, folder: Path) -> None:
    """Reading, checks, lot, snapshot and digest, beside DuckDB's scan and sort of the same columns by person."""
    rows = []
    for path in raw:
        sort = f"SELECT person, age, income, region FROM '{path}' ORDER BY person"
        copy = f"COPY ({sort}) TO '{folder / 'sorted.parquet'}'"
        ours, plain = _in_turns([_anew(path, folder), _plain(duckdb.connect(), copy)], repeats)
        ratios = (f"{ours[which] / plain[which]:.1f}" for which in (0, 1))
        rows.append((path.suffix[1:], *map(duration, (*ours, *plain)), *ratios))
    header = ("source", "ours", "processor", "scan and sort", "processor", "× plain", "processor")
    made.add(f"Preparation with checks and digest, 2 rows of a person stay; median of {repeats}", header, rows)


def _anew(path: Path, folder: Path) -> Callable[[], object]:
    numbers = count()
    return lambda: prepared(path, 2, folder / f"{path.name}-{next(numbers)}")


def _memory(made: Section, size: int, folder: Path) -> None:
    """In a process of its own; Linux only."""
    path = folder / "big.csv"
    _write(path, _WIDE, size // _WIDE_LINE)
    command = [sys.executable, "-c", _CHILD, str(path), str(folder / "big")]
    run = subprocess.run(command, capture_output=True, check=True, env=os.environ | {"TMPDIR": str(folder)})
    passed, used, before, peak = map(float, run.stdout.split())
    row = (
        f"{path.stat().st_size / 1e9:.2f} GB",
        f"{size // _WIDE_LINE:,}",
        duration(passed),
        duration(used),
        f"{before * 1024 / 1e6:.0f} MB",
        f"{peak * 1024 / 1e6:.0f} MB",
    )
    header = ("CSV", "rows", "time", "processor", "before", "peak")
    made.add(f"Memory of a process that prepares and saves with memory={MEMORY!r}", header, [row])
