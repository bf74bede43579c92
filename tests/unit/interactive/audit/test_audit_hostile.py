"""Hostile cells of one person: nothing fails, that person's rows alone differ, and a table that can fail is found."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import ibis
import pytest

from optcomp.errors import UnreadableData
from optcomp.interactive.answers import measured
from optcomp.interactive.audit import Auditable, audit, hostile, known_mechanisms, mechanism
from optcomp.interactive.audit.answered import answered, question_of
from optcomp.interactive.audit.hostile import SOURCES, HostilePair, HostileSource, hostile_pairs, probes
from optcomp.interactive.audit.tables import (
    COLUMNS,
    DECLARED,
    DIFFERS,
    NEIGHBOURHOODS,
    PEOPLE,
    Remembered,
    neighbouring,
)
from optcomp.statistics import Neighbourhood, Table
from optcomp.statistics.register import audit_cases
from tests.unit.interactive.audit.test_audit_shipped import by_name

PAIRS = [pair for how in NEIGHBOURHOODS for pair in hostile_pairs(how)]
CASES = audit_cases()


def name(pair: HostilePair) -> str:
    return f"{pair.how}: {pair.name}"


def rows_of(table: Table) -> list[tuple[Any, ...]]:
    """The snapshot itself: the declared cells, and where people are told apart, who."""
    return sorted(table.run(f"SELECT * FROM {table._rows.name}"), key=str)


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_snapshots_differ_in_one_person_only(pair: HostilePair) -> None:
    """By multisets: what either has beyond the other is no more than one person may be."""
    first, second = (rows_of(pair.table(side)) for side in (0, 1))
    gone, come = list(first), list[tuple[Any, ...]]()
    for row in second:
        gone.remove(row) if row in gone else come.append(row)
    bounds = neighbouring(pair.how)[0].contribution
    assert 0 < len(come) <= bounds.rows
    assert len(gone) <= (bounds.rows if bounds.replace else 0)
    if "person" in str(neighbouring(pair.how)[0].person):
        assert len({row[0] for row in (*come, *gone)}) == 1


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_each_source_is_hostile(source: HostileSource, tmp_path: Path) -> None:
    """Every hostile row has a cell that the default refuses, so the tables are not hostile in name only."""
    for cells in source.cells:
        made = source.made([*PEOPLE, (DIFFERS, *cells)], tmp_path)
        with pytest.raises(UnreadableData):
            Table(made, DECLARED)
    Table(source.made(PEOPLE, tmp_path), DECLARED)
    assert len(COLUMNS) == len(source.cells[0]) + 1


@pytest.mark.parametrize("how", NEIGHBOURHOODS)
def test_ordinary_people_are_the_same_from_every_source(how: Neighbourhood) -> None:
    """The first table of a pair is the first of the ordinary ones."""
    expected = rows_of(neighbouring(how)[0])
    assert all(rows_of(pair.table(0)) == expected for pair in hostile_pairs(how))


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_no_question_changes_by_more_than_is_declared(case: Any) -> None:
    question = question_of(case)
    for pair in hostile_pairs(case.how):
        results = [measured(question.statistic, pair.table(side)) for side in (0, 1)]
        if question.statistic.finds:  # numbers by the names that either table has
            results = list(by_name((pair.table(0), pair.table(1)), (results[0], results[1])))
        for part, first, second in zip(question.statistic.parts(pair.table(0)), *results, strict=True):
            changes = [abs(x - y) for x, y in zip(first, second, strict=True)]
            assert (max(changes) if question.mechanism == "exponential" else sum(changes)) <= part.l1
            if question.mechanism == "gaussian":
                assert sum(change**2 for change in changes) <= part.l2_squared


def test_every_mechanism_that_asks_tables_is_put_to_all_sources() -> None:
    for each in known_mechanisms(private=True):
        if each != "randomized-response":
            told = " ".join(probe.name for probe in mechanism(each).probes())
            assert all(source.name in told for source in SOURCES)


class Reading(Remembered):
    """A table that fails when a row of it has no age: it reads again what could not be read."""

    def run(self, query: str) -> list[tuple[object, ...]]:
        if super().run(f"SELECT count(*) FROM {self._rows.name} WHERE c0 IS NULL") != [(0,)]:
            raise OverflowError("999999999")
        return super().run(query)


def test_a_shipped_statistic_on_a_table_that_fails_is_infinite(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise is sound, and on ordinary tables nothing is seen: only hostile cells find it."""
    prepared = hostile._prepared.__wrapped__

    def reading(*arguments: Any) -> Remembered:
        table = prepared(*arguments)
        table.__class__ = Reading
        return table

    monkeypatch.setattr(hostile, "_prepared", reading)
    found = audit(answered("count", CASES["count-laplace"]), 400)
    assert math.isinf(found.lower)
    assert found.violated
    assert str(found.event).startswith(
        "no output but MechanismFailed because of a OverflowError at hostile cells from "
    )
    assert "999" not in str(found.event)


def test_a_table_that_cannot_be_prepared_is_infinite() -> None:
    """Preparation is part of the run: where it fails for one person's cell, that tells as well."""

    def made(rows: Any, folder: Path) -> Any:
        if any(row[1] == b"bad" for row in rows):
            raise MemoryError
        return SOURCES[2].made(rows, folder)

    source = HostileSource("a source that fails", ((b"bad", 1.0, b"north", 1, b"first"),), made)
    inner = mechanism("count-laplace")
    subject = replaced(inner, [source])
    found = audit(subject, 400)
    assert math.isinf(found.lower)
    assert "MemoryError at hostile cells from a source that fails" in str(found.event)


def replaced(inner: Auditable, sources: list[HostileSource]) -> Auditable:
    from dataclasses import replace

    return replace(inner, probes=lambda: probes("added", lambda table: table.run("SELECT 1"), sources))


def kept_by(connection: Any, source: HostileSource) -> HostileSource:
    return HostileSource(f"{source.name}, kept by {connection.name}", source.cells, source.made, connection)


@pytest.mark.slow_cases("added")
@pytest.mark.parametrize("how", NEIGHBOURHOODS)
def test_snapshots_that_duckdb_keeps(how: Neighbourhood) -> None:
    connection = ibis.duckdb.connect()
    answer_alike(how, [kept_by(connection, source) for source in SOURCES])


def answer_alike(how: Neighbourhood, sources: list[HostileSource]) -> None:
    """Every question of this neighbourhood gives the integers that it gives from a file."""
    cases = [case for case in CASES.values() if case.how == how]
    for pair, plain in zip(hostile_pairs(how, sources), hostile_pairs(how), strict=True):
        for side in (0, 1):
            table, expected = pair.table(side), plain.table(side)
            for case in cases:
                assert measured(case.statistic, table) == measured(case.statistic, expected)
