"""Hostile cells of one person in PostgreSQL and Spark, read from there and kept there: no question fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from optcomp.interactive.answers import answer, measured
from optcomp.interactive.audit.answered import question_of
from optcomp.interactive.audit.failures import failures
from optcomp.interactive.audit.hostile import SOURCES, Cells, HostileSource, hostile_pairs, probes
from optcomp.statistics import Histogram, Integers, Neighbourhood, Table
from optcomp.statistics.register import audit_cases
from tests import servers
from tests.unit.interactive.audit.test_audit_shipped import by_name

LONG, CONTROLS = "7" * 10_000, "\x01\x1b[2J\x7f"
POSTGRES: tuple[Cells, ...] = (
    ("Infinity", float("nan"), CONTROLS, "1e999", LONG),
    ("NaN", float("inf"), LONG, LONG, CONTROLS),
    ("1e-400", 5e-324, "{1,2}", CONTROLS, ""),
    ("9" * 400, float("-inf"), "", "0x1f", "{1,2}"),
)
"""Numerics beyond floats both ways, floats that are none, text; PostgreSQL itself refuses what is not UTF-8."""
SPARK: tuple[Cells, ...] = (
    (Decimal(10) ** 37, float("nan"), b"\xff\xfe", "1e999", LONG),
    (None, float("inf"), LONG.encode(), LONG, "\x00"),
    (-(Decimal(10) ** 37), 5e-324, b"\x00\x80", "\x00", ""),
    (Decimal("0.1"), float("-inf"), b"", "1d", CONTROLS),
)
"""The same with bytes that are not UTF-8."""
names = count()


def in_postgres(connection: Any) -> Callable[[Sequence[tuple[Any, ...]], Path], Any]:
    def made(rows: Sequence[tuple[Any, ...]], folder: Path) -> Any:
        name = f"hostile_{next(names)}"
        types = (
            "person bigint, age numeric, income double precision, region text, score text, word text, seen timestamp"
        )
        with connection.con.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {name} ({types})")
            cursor.executemany(f"INSERT INTO {name} VALUES (%s, %s, %s, %s, %s, %s, 'infinity')", rows)
        connection.con.commit()
        return connection.table(name)

    return made


def in_spark(connection: Any) -> Callable[[Sequence[tuple[Any, ...]], Path], Any]:
    def made(rows: Sequence[tuple[Any, ...]], folder: Path) -> Any:
        name = f"hostile_{next(names)}"
        types = "person long, age decimal(38, 0), income double, region binary, score string, word string"
        typed = [
            (who, _whole(age), income, _raw(region), _text(score), _text(word))
            for who, age, income, region, score, word in rows
        ]
        connection._session.createDataFrame(typed, types).createOrReplaceTempView(name)
        return connection.table(name)

    return made


def _whole(cell: Any) -> Decimal | None:
    return None if cell is None else Decimal(cell).to_integral_value()


def _raw(cell: Any) -> bytes:
    return cell if isinstance(cell, bytes) else str(cell).encode()


def _text(cell: Any) -> str | None:
    return None if cell is None else str(cell)


def check(how: Neighbourhood, source: HostileSource) -> None:
    """No question fails on either table, and none changes by more than is declared."""
    for case in [case for case in audit_cases().values() if case.how == how]:
        question = question_of(case)
        for probe in probes(how, lambda table, asked=question: answer(asked, table), [source]):  # type: ignore[misc]
            found = failures(probe.run)
            assert (found.certain, found.error) == (None, None)
        for pair in hostile_pairs(how, [source]):
            first, second = (measured(case.statistic, pair.table(side)) for side in (0, 1))
            if case.statistic.finds:  # numbers by the names that either table has
                first, second = by_name((pair.table(0), pair.table(1)), (first, second))
            for part, old, new in zip(case.statistic.parts(pair.table(0)), first, second, strict=True):
                changes = [abs(x - y) for x, y in zip(old, new, strict=True)]
                assert (max(changes) if question.mechanism == "exponential" else sum(changes)) <= part.l1


def test_postgres() -> None:
    """Real noise is drawn, and any will do."""
    with servers.postgres() as connection:
        kept = HostileSource("PostgreSQL, kept there", POSTGRES, in_postgres(connection), connection)
        for how in ("replaced", "groups"):
            check(how, kept)
        check("rows", HostileSource("CSV, kept by PostgreSQL", SOURCES[0].cells, SOURCES[0].made, connection))
        check("rows", HostileSource("PostgreSQL", POSTGRES, in_postgres(connection)))
        (pair,) = hostile_pairs("groups", [kept])
        with pytest.raises(Exception, match="read-only transaction"):
            pair.table(0).run(f"DELETE FROM {pair.table(0)._rows.name} RETURNING 1")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")  # which Ibis asks it for
def test_spark() -> None:
    with servers.spark() as connection:
        check("groups", HostileSource("Spark, kept there", SPARK, in_spark(connection), connection))
        a_null_changes_nobody_elses_cell(connection)


def a_null_changes_nobody_elses_cell(connection: Any) -> None:
    """Integers that no float tells apart stay what they are beside a cell that is missing."""
    low = 2**60 + 1
    for more, expected in (([], (1, 1, 0, 0, 0)), ([(None,)], (1, 1, 0, 0, 1))):
        frame = connection._session.createDataFrame([(low,), (low + 1,), *more], "x long")
        frame.createOrReplaceTempView("exact")
        table = Table(connection.table("exact"), {"x": Integers(low, low + 3)})
        assert Histogram("x").measure(table) == (expected,)
