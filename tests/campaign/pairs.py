"""Random neighbouring tables: no statistic changes by more than is declared, and each is what an oracle counts.

Declarations, rows, statistics and conditions are drawn; the stored rows are an oracle's too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
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
    Frequent,
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
    Text,
    Variance,
)
from tests.campaign import found_values
from tests.oracles import cells
from tests.oracles.answers import Vectors, answers
from tests.oracles.conditions import Condition, condition
from tests.oracles.snapshots import Codes, snapshot

DOMAINS: list[list[Domain]] = [
    [Integers(-3, 4), Integers(0, 9), Integers(-(2**40), 2**40), Integers(5, 6)],
    [Reals(-1, 3, unit="1/2"), Reals(0, 1), Reals(-(10**9), 1), Reals("0.5", 2, unit="1/3")],
    [Categories(["a", "b"]), Categories(["a", "b", "it's", ""])],
    [Categories([1, 2]), Categories([True, False])],
    [Text(1), Text(3), Text(8), Text()],
]
CELLS: list[list[str | None]] = [
    ["0", "1", "4", "-3", "9", "6", "2.5", "-1e30", "1e12", "inf", "x", None],
    ["0", "0.5", "1.5", "-1", "3", "1e300", "-inf", "nan", "0.25", "0.75", "1e400", None],
    ["a", "b", "it's", "", "z", None],
    ["1", "2", "true", "false", "0", "", "x", None],
    [
        *("a", "b", "c", "d", "e", "f", " a ", "A", "a b", "a\nb", "a\u2028\tb", "a  b", "abc", "abcd", "ABC", "it's"),
        *("é", "e\u0301", "ß", "ss", "İ", "ı", "Ａ", "а", "😀😀", "a\u200d", "\ufeffa", "a\xa0", "\u202ea", "\uffff"),
        *("1", "1.0", "NA", "null", '"', "\\", "a/b", "a\0b", "a\x85", "y" * 70, "y" * 4096, "é" * 4096),
        *("", "  ", "\t", "\r\n", "\0u", "\0", "y" * 4097, "😀" * 5000, None, None),
    ],
]
NAMES = ("i", "r", "t", "k", "x")
STATISTICS = 3
"""Asked of each pair."""
Row = tuple[str | None, ...]
Kind = tuple[type[Statistic], Callable[[], Statistic]]
"""A statistic, and how one is drawn."""


@dataclass(frozen=True)
class Asked:
    """A statistic, its condition, and what is spent where that matters."""

    statistic: Statistic
    where: Condition | None
    spent: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Pair:
    """Two tables that differ in one person, the rows of all others, and what is asked of both."""

    declared: Declared
    key: bytes
    others: list[Row]
    tables: tuple[list[Row], list[Row]]
    questions: list[Asked]


def drawn(seed: int, only: type[Statistic] | None = None) -> Pair:
    """The pair of this seed; asked is one kind of statistic only, if it is named."""
    rng = Random(seed if only is None else f"{only.__name__} {seed}")
    declared = declaration(rng)
    while only is not None and all(kind is not only for kind, _ in _kinds(rng, declared, None)):
        declared = declaration(rng)
    key, (others, *tables) = rng.randbytes(32), people(rng, declared)
    questions = [asked(rng, declared, only) for _ in range(STATISTICS)]
    return Pair(declared, key, others, (tables[0], tables[1]), questions)


def declaration(rng: Random) -> Declared:
    """Some columns, and how much one person may be."""
    chosen = sorted(rng.sample(range(len(NAMES)), rng.randint(1, len(NAMES))))
    columns = {NAMES[place]: rng.choice(DOMAINS[place]) for place in chosen}
    neighbours = rng.choice(("add-remove", "replace"))
    if rng.random() < 0.2:
        return Declared(columns, neighbours=neighbours)  # type: ignore[arg-type]
    rows = rng.randint(1, 4)
    bounds: dict[str, Any] = {"person": "who", "rows_per_person": rows}
    if rows > 1 and rng.random() < 0.5:
        bounds |= {"groups_per_person": rng.randint(1, rows), "rows_per_group": rng.randint(1, rows)}
        small = min(bounds["groups_per_person"], bounds["rows_per_group"]) < rows
        bounded = [name for name, domain in columns.items() if isinstance(domain, Text) or not _wide(domain)]
        if not small or not bounded:
            del bounds["groups_per_person"], bounds["rows_per_group"]
        else:
            bounds["grouped_by"] = rng.sample(bounded, rng.randint(1, len(bounded)))
    return Declared(columns, neighbours=neighbours, **bounds)  # type: ignore[arg-type]


def _wide(domain: Domain) -> bool:
    return domain.top > 100


def people(rng: Random, declared: Declared) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of others, and two neighbouring tables; in some there are few values, and some people have few of them."""
    there = [rng.sample(each, rng.choice((2, 4, len(each)))) for each in CELLS]

    def rows(who: str | None) -> list[Row]:
        most = 1 if declared.person is None else 6
        mine = [rng.sample(each, rng.choice((1, 2, len(each)))) for each in there]
        return [(who, *(rng.choice(each) for each in mine)) for _ in range(rng.randint(1, most))]

    others = [row for i in range(rng.randint(0, 4)) for row in rows(f"p{i}" if rng.random() < 0.9 else None)]
    one = rows("it's")
    if declared.neighbours == "add-remove":
        return others, _mixed(rng, others, one), others
    return others, _mixed(rng, others, one), _mixed(rng, others, rows(rng.choice(("it's", "another"))))


def _mixed(rng: Random, rows: list[Row], more: list[Row]) -> list[Row]:
    """Rows of one person between those of others."""
    found = rows + more
    rng.shuffle(found)
    return found


def asked(rng: Random, declared: Declared, only: type[Statistic] | None = None) -> Asked:
    """A statistic with a condition, or without."""
    found = condition(rng, declared.columns) if rng.random() < 0.6 else None
    kinds = _kinds(rng, declared, None if found is None else found.text)
    statistic = rng.choice([draw for kind, draw in kinds if only in (None, kind)])()
    return Asked(statistic, found, found_values.budgets(rng) if isinstance(statistic, Frequent) else ())


def _kinds(rng: Random, declared: Declared, where: str | None) -> list[Kind]:
    """Whatever can be asked of such a table."""
    texts = [name for name, domain in declared.columns.items() if isinstance(domain, Text)]
    numbers = [name for name in declared.columns if name in ("i", "r")]
    others = [name for name, domain in declared.columns.items() if not _wide(domain)]
    by = tuple(rng.sample(others, rng.randint(1, min(2, len(others))))) if others and rng.random() < 0.5 else ()
    kinds: list[Kind] = [(Count, lambda: Count(where, by)), (People, lambda: People(where, by))]
    if texts:
        kinds.append((Frequent, lambda: found_values.drawn(rng, texts, where)))
    if others:
        some = rng.sample(others, rng.randint(1, min(2, len(others))))
        kinds.append((Histogram, lambda: Histogram(rng.choice(others), where=where)))
        kinds.append((Contingency, lambda: Contingency(tuple(some), where=where)))
    if numbers:
        one = rng.choice(numbers)
        kinds += [
            (Sum, lambda: Sum(one, where, by)),
            (Mean, lambda: Mean(one, where, by, None if by else rng.choice((None, 7)))),
            (Means, lambda: Means(tuple(rng.sample(numbers, rng.randint(1, len(numbers)))), where, by)),
            (Variance, lambda: Variance(one, where, by, None if by else rng.choice((None, 7)))),
            (Histogram, lambda: Histogram(one, bins=rng.randint(1, 7), where=where)),
            (CDF, lambda: CDF(one, bins=rng.randint(1, 7), where=where)),
            (Regression, lambda: Regression(one, [each for each in numbers if each != one], where)),
            (
                Quantiles,
                lambda: Quantiles(one, [rng.choice(("1/2", "1/3", "0.9"))], rng.randint(2, 40), where, by),
            ),
        ]
    return kinds


def source(declared: Declared, rows: list[Row]) -> pa.Table:
    """Text in all columns."""
    columns = list(zip(*rows, strict=True)) or [()] * (1 + len(NAMES))
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
        codes = [_outcome(domain, by_name[name]) for name, domain in declared.columns.items()]
        found.append((who, tuple(None if isinstance(code, str) else code for code in codes)))
    return found


@lru_cache(maxsize=4096)
def _outcome(domain: Domain, cell: str | None) -> cells.Outcome:
    """Of text only: True and 1 would be taken for each other."""
    return cells.outcome(domain, cell)


@dataclass(frozen=True)
class Seen:
    """What came of one of the two tables."""

    wrong: list[str]
    measured: list[Vectors]
    said: list[str]
    """Beside names and noisy numbers."""
    queries: dict[Any, str]
    """Which the other table may use again: building them takes longer than anything else."""


def judge(seed: int, backend: Any = None, folder: Path | None = None, only: type[Statistic] | None = None) -> list[str]:
    """What is wrong with the pair of this seed, asked where its snapshots are kept."""
    pair = drawn(seed, only)
    one = _seen(pair, pair.tables[0], backend, folder, {})
    other = _seen(pair, pair.tables[1], backend, folder, one.queries if backend is None else {})
    found = one.wrong + other.wrong
    if one.said != other.said:
        found.append(f"told in two ways: {one.said}, {other.said}")
    others = counted(pair, stored_rows(pair, pair.others))
    for question, *vectors in zip(pair.questions, one.measured, other.measured, others, strict=True):
        found += _apart(question, pair.declared, *vectors)
    return [f"{seed}: {each}; {dict(pair.declared.columns)}, {pair.declared.contribution}" for each in found]


def stored_rows(pair: Pair, rows: list[Row]) -> Counter[Codes]:
    """By an oracle."""
    return snapshot(pair.declared, pair.key, told(pair.declared, rows))


def counted(pair: Pair, stored: Counter[Codes]) -> list[Vectors]:
    """What an oracle counts."""
    return [
        answers(each.statistic, pair.declared, list(stored.elements()), each.where.holds if each.where else None)
        for each in pair.questions
    ]


def _seen(pair: Pair, rows: list[Row], backend: Any, folder: Path | None, queries: dict[Any, str]) -> Seen:
    """Prepare a table, ask it everything, and compare with the oracle."""
    declared, stored, wrong, said = pair.declared, stored_rows(pair, rows), list[str](), list[str]()
    with _kept(prepared(declared, rows, pair.key), backend, folder) as table:
        rows_there = table.run(f"SELECT * FROM {table._rows.name}")
        actual = Counter(found_values.named(declared, table, row) for row in rows_there)
        if actual != stored:
            wrong.append(f"stored {actual - stored}, expected {stored - actual}")
        table._queries = dict(queries)
        measured = list[Vectors]()
        for each in pair.questions:
            vectors = each.statistic.measure(table)
            if isinstance(each.statistic, Frequent):
                more, words = found_values.answered(each.statistic, each.spent, table, vectors)
                wrong, said, vectors = wrong + more, said + words, found_values.measured(table, vectors)
            measured.append(vectors)
        kept = {key: text for key, text in table._queries.items() if not isinstance(key, Frequent)}
    for each, vectors, expected in zip(pair.questions, measured, counted(pair, stored), strict=True):
        if vectors != expected:
            wrong.append(f"{each.statistic}: {vectors}, expected {expected}")
    return Seen(wrong, measured, said, kept)


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


def _apart(question: Asked, declared: Declared, one: Vectors, other: Vectors, others: Vectors) -> list[str]:
    """No part changes by more than it says; of a choice no score does."""
    statistic, found = question.statistic, list[str]()
    if isinstance(statistic, Frequent):
        apart = found_values.Apart.of(one, other, others)
        return found_values.judge(statistic, question.spent, declared, apart)
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
