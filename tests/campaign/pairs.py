"""Random neighbouring tables: no statistic changes by more than is declared, and each is what an oracle counts.

Declarations, rows, statistics and conditions are drawn; the stored rows are an oracle's too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Declared,
    Domain,
    Histogram,
    Integers,
    Mean,
    Means,
    People,
    Quantiles,
    Reals,
    Regression,
    Statistic,
    Sum,
    Table,
    Variance,
)
from tests.oracles import cells
from tests.oracles.answers import Vectors, answers
from tests.oracles.conditions import Condition, condition
from tests.oracles.snapshots import Codes, snapshot

DOMAINS: list[list[Domain]] = [
    [Integers(-3, 4), Integers(0, 9), Integers(-(2**40), 2**40), Integers(5, 6)],
    [Reals(-1, 3, unit="1/2"), Reals(0, 1), Reals(-(10**9), 1), Reals("0.5", 2, unit="1/3")],
    [Categories(["a", "b"]), Categories(["a", "b", "it's", ""])],
    [Categories([1, 2]), Categories([True, False])],
]
CELLS: list[list[str | None]] = [
    ["0", "1", "4", "-3", "9", "6", "2.5", "-1e30", "1e12", "inf", "x", None],
    ["0", "0.5", "1.5", "-1", "3", "1e300", "-inf", "nan", "0.25", "0.75", "1e400", None],
    ["a", "b", "it's", "", "z", None],
    ["1", "2", "true", "false", "0", "", "x", None],
]
NAMES = ("i", "r", "t", "k")
STATISTICS = 3
"""Asked of each pair."""
Row = tuple[str | None, ...]


def declaration(rng: Random) -> Declared:
    """Some columns, and how much one person may be."""
    chosen = sorted(rng.sample(range(4), rng.randint(1, 4)))
    columns = {NAMES[place]: rng.choice(DOMAINS[place]) for place in chosen}
    neighbours = rng.choice(("add-remove", "replace"))
    if rng.random() < 0.2:
        return Declared(columns, neighbours=neighbours)  # type: ignore[arg-type]
    rows = rng.randint(1, 4)
    bounds: dict[str, Any] = {"person": "who", "rows_per_person": rows}
    if rows > 1 and rng.random() < 0.5:
        bounds |= {"groups_per_person": rng.randint(1, rows), "rows_per_group": rng.randint(1, rows)}
        small = min(bounds["groups_per_person"], bounds["rows_per_group"]) < rows
        bounded = [name for name, domain in columns.items() if not _wide(domain)]
        if not small or not bounded:
            del bounds["groups_per_person"], bounds["rows_per_group"]
        else:
            bounds["grouped_by"] = rng.sample(bounded, rng.randint(1, len(bounded)))
    return Declared(columns, neighbours=neighbours, **bounds)  # type: ignore[arg-type]


def _wide(domain: Domain) -> bool:
    return domain.top > 100


def people(rng: Random, declared: Declared) -> tuple[list[Row], list[Row]]:
    """Two neighbouring tables."""

    def rows(who: str | None) -> list[Row]:
        most = 1 if declared.person is None else 6
        return [(who, *(rng.choice(each) for each in CELLS)) for _ in range(rng.randint(1, most))]

    others = [row for i in range(rng.randint(0, 4)) for row in rows(f"p{i}" if rng.random() < 0.9 else None)]
    one = rows("it's")
    if declared.neighbours == "add-remove":
        return others + one, others
    return others + one, others + rows(rng.choice(("it's", "another")))


def asked(rng: Random, declared: Declared) -> tuple[Statistic, Condition | None]:
    """A statistic with a condition, or without."""
    found = condition(rng, declared.columns) if rng.random() < 0.6 else None
    where = None if found is None else found.text
    numbers = [name for name in declared.columns if name in ("i", "r")]
    others = [name for name, domain in declared.columns.items() if not _wide(domain)]
    by = tuple(rng.sample(others, rng.randint(1, min(2, len(others))))) if others and rng.random() < 0.5 else ()
    kinds: list[Callable[[], Statistic]] = [lambda: Count(where, by), lambda: People(where, by)]
    if others:
        kinds.append(lambda: Histogram(rng.choice(others), where=where))
        kinds.append(lambda: Contingency(tuple(rng.sample(others, rng.randint(1, min(2, len(others))))), where=where))
    if numbers:
        one = rng.choice(numbers)
        kinds += [
            lambda: Sum(one, where, by),
            lambda: Mean(one, where, by, None if by else rng.choice((None, 7))),
            lambda: Means(tuple(rng.sample(numbers, rng.randint(1, len(numbers)))), where, by),
            lambda: Variance(one, where, by, None if by else rng.choice((None, 7))),
            lambda: Histogram(one, bins=rng.randint(1, 7), where=where),
            lambda: CDF(one, bins=rng.randint(1, 7), where=where),
            lambda: Regression(one, rng.sample([each for each in numbers if each != one], len(numbers) - 1), where),
            lambda: Quantiles(one, [rng.choice(("1/2", "1/3", "0.9"))], rng.randint(2, 40), where, by),
        ]
    return rng.choice(kinds)(), found


def source(declared: Declared, rows: list[Row]) -> pa.Table:
    """Text in all columns."""
    columns = list(zip(*rows, strict=True)) or [()] * 5
    made = {name: pa.array(each, pa.string()) for name, each in zip(("who", *NAMES), columns, strict=True)}
    return pa.table(made)


def prepared(declared: Declared, rows: list[Row], key: bytes) -> Table:
    """A table on this machine."""
    bounds = declared.contribution
    named: dict[str, Any] = (
        {"groups_per_person": bounds.groups, "rows_per_group": bounds.rows_per_group} if declared.person else {}
    )
    return Table(
        source(declared, rows),
        declared.columns,
        person=declared.person,
        rows_per_person=bounds.rows,
        grouped_by=declared.grouped_by or None,
        neighbours=declared.neighbours,
        bad_cells="missing",
        lot_key=key,
        **named,
    )


def told(declared: Declared, rows: list[Row]) -> list[tuple[str | None, Codes]]:
    """What an oracle reads."""
    found = list[tuple[str | None, Codes]]()
    for who, *row in rows:
        by_name = dict(zip(NAMES, row, strict=True))
        codes = [cells.outcome(domain, by_name[name]) for name, domain in declared.columns.items()]
        found.append((who, tuple(None if isinstance(code, str) else code for code in codes)))
    return found


def judge(seed: int, backend: Any = None, folder: Path | None = None) -> list[str]:
    """What is wrong with the pair of this seed, asked where its snapshots are kept."""
    rng = Random(seed)
    declared, key = declaration(rng), rng.randbytes(32)
    tables = people(rng, declared)
    questions = [asked(rng, declared) for _ in range(STATISTICS)]
    found, measured, queries = list[str](), list[list[Vectors]](), dict[Any, str]()
    for rows in tables:
        stored = snapshot(declared, key, told(declared, rows))
        with _kept(prepared(declared, rows, key), backend, folder) as table:
            actual = Counter(table.run(f"SELECT * FROM {table._rows.name}"))
            if actual != stored:
                found.append(f"stored {actual - stored}, expected {stored - actual}")
            if backend is None:
                table._queries = queries  # the same text for both
            measured.append([statistic.measure(table) for statistic, _ in questions])
        for (statistic, where), vectors in zip(questions, measured[-1], strict=True):
            expected = answers(statistic, declared, list(stored.elements()), where.holds if where else None)
            if vectors != expected:
                found.append(f"{statistic}: {vectors}, expected {expected}")
    for (statistic, _), one, other in zip(questions, *measured, strict=True):
        found += _apart(statistic, declared, one, other)
    return [f"{seed}: {each}; {dict(declared.columns)}, {declared.contribution}" for each in found]


@contextmanager
def _kept(table: Table, backend: Any, folder: Path | None) -> Iterator[Table]:
    """The table itself, or its snapshot in an engine, which is dropped afterwards."""
    if backend is None:
        yield table
        return
    assert folder is not None
    path = folder / f"snapshot-{id(table)}"
    table.save(path, connection=backend)
    opened = Table.open(path, connection=backend)
    try:
        yield opened
    finally:
        opened._rows.drop()  # type: ignore[attr-defined]
        for file in path.iterdir():
            file.unlink()
        with suppress(OSError):
            path.rmdir()


def _apart(statistic: Statistic, declared: Declared, one: Vectors, other: Vectors) -> list[str]:
    """No part changes by more than it says; of a choice no score does."""
    found = []
    for part, left, right in zip(statistic.parts(declared), one, other, strict=True):
        changes = [abs(a - b) for a, b in zip(left, right, strict=True)]
        total, squares = sum(changes), sum(each * each for each in changes)
        if isinstance(statistic, Quantiles):  # the largest change of a score, summed up over groups
            width = len(changes) // len(part.cells)
            total = sum(max(changes[i : i + width]) for i in range(0, len(changes), width))
            squares = total**2
        if total > part.l1 or squares > part.l2_squared:
            found.append(f"{statistic}: changes by {total}, {squares}, and declares {part.l1}, {part.l2_squared}")
    return found
