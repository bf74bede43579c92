"""Statistics of a table of ten million rows through DuckDB, beside the same query without privacy.

The plain query runs in the same process on the same Parquet file, in turns with ours.  It is asked twice: as an analyst
would write it, and with the values clamped to their declared bounds, which is part of what a private statistic means.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
from rich.console import Console

from bench.report import Section
from bench.rows import duration
from optcomp.interactive import Session, SumFilter
from optcomp.statistics import Categories, Count, Histogram, Integers, Mean, Reals, Statistic, Table, Variance

ROWS, QUICK = 10_000_000, 200_000
_MAKE = """
COPY (SELECT i AS person, (hash(i) % 100)::INTEGER AS age, (hash(i * 7) % 1000000) / 7.0 AS income,
      ['north', 'south', 'east', 'west'][1 + (hash(i * 13) % 4)::INTEGER] AS region
      FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)
"""
_INCOME = "CASE WHEN income > 100000.0 THEN 100000.0 WHEN income < 0.0 THEN 0.0 ELSE income END"
_AGE = "CASE WHEN age > 100 THEN 100 WHEN age < 0 THEN 0 ELSE age END"
_COLUMNS = {
    "age": Integers(0, 100),
    "income": Reals(0, 100_000),
    "region": Categories(["north", "south", "east", "west"]),
}


@dataclass(frozen=True)
class Case:
    name: str
    statistic: Statistic
    plain: str
    clamped: str | None = None


CASES = (
    Case("count of all rows", Count(), "SELECT count(*) FROM people"),
    Case("count of a condition", Count("age >= 65"), "SELECT count(*) FROM people WHERE age >= 65"),
    Case("histogram, 4 categories", Histogram("region"), "SELECT region, count(*) FROM people GROUP BY 1"),
    Case(
        "histogram, 101 whole numbers",
        Histogram("age"),
        "SELECT age, count(*) FROM people GROUP BY 1",
        f"SELECT {_AGE}, count(*) FROM people GROUP BY 1",
    ),
    Case("mean of integers", Mean("age"), "SELECT avg(age) FROM people", f"SELECT avg({_AGE}) FROM people"),
    Case("mean of reals", Mean("income"), "SELECT avg(income) FROM people", f"SELECT avg({_INCOME}) FROM people"),
    Case(
        "mean of reals, condition",
        Mean("income", "age >= 65"),
        "SELECT avg(income) FROM people WHERE age >= 65",
        f"SELECT avg({_INCOME}) FROM people WHERE age >= 65",
    ),
    Case(
        "variance of reals",
        Variance("income"),
        "SELECT var_pop(income) FROM people",
        f"SELECT var_pop({_INCOME}) FROM people",
    ),
)


def _in_turns(runs: list[Callable[[], object]], repeats: int) -> list[float]:
    """The shortest time of each, taking turns so that a busy moment of the machine hits all alike."""
    best = [float("inf")] * len(runs)
    for _ in range(repeats):
        for i, run in enumerate(runs):
            started = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - started)
    return best


def section(quick: bool, console: Console) -> Section:
    """Time, answers per second and ratios for every case, without and with several rows per person."""
    rows, repeats = (QUICK, 3) if quick else (ROWS, 15)
    made = Section("Statistics through DuckDB", f"{rows:,} rows in a Parquet file; best of {repeats}, in turns.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        connection = duckdb.connect()
        connection.execute(_MAKE.format(rows=rows, path=path))
        connection.execute(f"CREATE VIEW people AS FROM '{path}'")
        for caption, table in (
            ("one row per person", Table(path, _COLUMNS)),
            ("a column says whose row it is, one row kept of each", Table(path, _COLUMNS, person="person")),
        ):
            session = Session(table, SumFilter(10**6))
            cells = []
            for case in CASES if table.person is None or not quick else CASES[:2]:
                with console.status(f"{caption}: {case.name}"):
                    cells.append(_row(case, session, connection, repeats if table.person is None else 3))
            made.add(caption, ("statistic", "ours", "a second", "plain", "× plain", "× plain, clamped"), cells)
    return made


def _row(case: Case, session: Session, connection: duckdb.DuckDBPyConnection, repeats: int) -> tuple[str, ...]:
    def asked(query: str) -> Callable[[], object]:
        return lambda: connection.execute(query).fetchall()

    runs = [lambda: session.ask(case.statistic, epsilon="0.001"), asked(case.plain), asked(case.clamped or case.plain)]
    ours, plain, clamped = _in_turns(runs, repeats)
    ratio = f"{ours / clamped:.2f}" if case.clamped else ""
    return case.name, duration(ours), f"{1 / ours:.1f}", duration(plain), f"{ours / plain:.2f}", ratio
