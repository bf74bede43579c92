"""Which rows of a person stay: no more than declared, by a lot that is a function of that person, rows and key."""

from __future__ import annotations

from collections import Counter
from functools import cache
from hashlib import sha256
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
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
    Quantiles,
    Reals,
    Statistic,
    Sum,
    Table,
    Variance,
)
from tests.oracles.snapshots import Codes, snapshot
from tests.unit.statistics.people import Changing

Given = tuple[str | None, int | None, str | None]
"""Whose row it is, and its two cells."""
TYPES = {"who": "VARCHAR", "k": "BIGINT", "c": "VARCHAR"}
COLUMNS: dict[str, Domain] = {"k": Integers(0, 9), "c": Categories(["a", "b"])}
STATISTICS: list[Statistic] = [
    Count(),
    Sum("k"),
    Mean("k"),
    Variance("k", where="c is None or k > 1"),
    Histogram("k"),
    Contingency(("c", "k"), {"k": (0, 3, 9)}),
    CDF("k", bins=3),
    Quantiles("k", ["1/3"]),
]
cells = st.tuples(st.none() | st.integers(-2, 12), st.sampled_from(["a", "b", None, "z"]))
people = st.dictionaries(st.sampled_from(["ann", "bob", "it's", "a/1", "é"]), st.lists(cells, max_size=3), max_size=4)
crowds = st.lists(st.tuples(st.sampled_from(["ann", "bob", "a/1", "é", "", None]), cells), max_size=14).map(
    lambda rows: [(who, *cell) for who, cell in rows]
)
keys = st.binary(min_size=32, max_size=32)
ALL = {"rows_per_person": 3, "groups_per_person": 3, "rows_per_group": 3}
BOUNDS = [(1, 1, 1), (2, 2, 2), (3, 2, 2), (4, 2, 3), (5, 3, 1), (4, 4, 2)]


def key_of(number: int) -> bytes:
    """Keys that are the same every time."""
    return sha256(str(number).encode()).digest()


def limits(rows: int, groups: int, each: int) -> dict[str, Any]:
    return {"rows_per_person": rows, "groups_per_person": groups, "rows_per_group": each}


def prepared(rows: list[Given], **declared: Any) -> Table:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    kinds = {"who": pa.string(), "k": pa.int64(), "c": pa.string()}
    arrays = {name: pa.array(each, kind) for (name, kind), each in zip(kinds.items(), columns, strict=True)}
    return Table(pa.table(arrays), COLUMNS, person="who", **declared)


def kept(table: Table) -> Counter[Codes]:
    """All rows of a snapshot, as they are stored."""
    ranks = [f"{letter}{rank}" for rank in range(len(table.grouped_by)) for letter in "gw"]
    return Counter(table.run(f"SELECT {', '.join(['person', 'c0', 'c1', *ranks])} FROM optcomp_rows"))


def coded(row: Given) -> tuple[str | None, Codes]:
    """The integers of a row, by what its columns are declared as."""
    who, k, c = row
    return who or None, (None if k is None else min(max(k, 0), 9), None if c is None else {"a": 0, "b": 1}.get(c, 2))


@pytest.mark.parametrize(("rows", "groups", "each"), BOUNDS)
@settings(max_examples=10)
@given(data=st.data())
def test_a_snapshot_holds_what_the_lot_says(rows: int, groups: int, each: int, data: st.DataObject) -> None:
    """Row by row, whatever the order of the rows is; and questions see no more than that."""
    crowd, key = data.draw(crowds), data.draw(keys)
    grouped = data.draw(st.sampled_from([None, ["k"], ["c", "k"]])) if min(groups, each) < rows else None
    table = prepared(crowd, **limits(rows, groups, each), grouped_by=grouped, lot_key=key)
    columns = [list(COLUMNS).index(name) for name in table.grouped_by]
    expected = snapshot(table, key, [coded(row) for row in crowd])
    assert kept(table) == expected
    assert Count().measure(table) == ((sum(expected.values()),),)
    for rank, name in enumerate(table.grouped_by):
        counts = [0] * 11 if name == "k" else [0] * 3
        for row, times in expected.items():
            cell, place, within = row[1 + columns[rank]], row[3 + 2 * rank], row[4 + 2 * rank]
            assert place is not None
            assert within is not None
            if place < groups and within < each:
                counts[-1 if cell is None else cell] += times
        assert Histogram(name).measure(table) == (tuple(counts),)


def test_by_default_the_columns_of_categories_are_those_of_groups() -> None:
    table = prepared([("ann", 1, "a")] * 9, **limits(5, 2, 3))
    assert table.grouped_by == ("c",)
    assert Histogram("c").measure(table) == ((3, 0, 0),)
    assert Histogram("k").measure(table)[0][1] == 5
    assert Contingency(("c", "k")).measure(table)[0][1] == 5
    (by_category,), (by_number,) = (Histogram(name).parts(table) for name in ("c", "k"))
    assert (by_category.l1, by_category.l2_squared) == (5, 13)
    assert (by_number.l1, by_number.l2_squared) == (5, 25)


@settings(max_examples=10)
@given(crowds, keys, st.randoms(use_true_random=False), st.integers(1, 3))
def test_order_does_not_matter_and_other_people_do_not(crowd: list[Given], key: bytes, rng: Random, rows: int) -> None:
    """Without a person the snapshot lacks that person's rows, of which there are no more than declared."""
    whole = kept(prepared(crowd, rows_per_person=rows, lot_key=key))
    shuffled = list(crowd)
    rng.shuffle(shuffled)
    assert kept(prepared(shuffled, rows_per_person=rows, lot_key=key)) == whole
    for person in sorted({who for who, _, _ in crowd if who}):
        others = [row for row in crowd if row[0] != person]
        fewer = kept(prepared(others, rows_per_person=rows, lot_key=key))
        assert not fewer - whole
        own = whole - fewer
        assert 1 <= own.total() <= rows
        assert len({row[0] for row in own}) == 1


@cache
def tables() -> tuple[Changing, Changing]:
    """With people who may have three rows, and without people."""
    return Changing(TYPES, COLUMNS, person="who", **ALL), Changing(TYPES, COLUMNS)


@settings(max_examples=15)
@given(people, st.lists(cells, max_size=3))
def test_nothing_is_dropped_of_people_within_their_bounds(
    found: dict[str, list[tuple[Any, Any]]], strangers: list[tuple[Any, Any]]
) -> None:
    """And rows of nobody do not count."""
    rows = [(who, *cell) for who, cells_of in found.items() for cell in cells_of]
    everybody = rows + [(nobody, *cell) for cell in strangers for nobody in (None, "")]
    loose, plain = tables()
    for statistic in STATISTICS:
        assert loose.measure(statistic, everybody) == plain.measure(statistic, rows), statistic


@pytest.mark.parametrize(("rows", "groups", "each"), BOUNDS)
def test_of_a_person_with_too_many_rows_as_many_stay_as_may(rows: int, groups: int, each: int) -> None:
    declared = limits(rows, groups, each) | ({"grouped_by": ["k"]} if min(groups, each) < rows else {})
    many: list[Given] = [("ann", i % 4, "a") for i in range(12)]  # three rows in each of four cells
    others: list[Given] = [("bob", 9, "b"), (None, 8, "b")]
    outcomes: Counter[tuple[int, ...]] = Counter()
    for number in range(15):
        table = prepared(many + others, **declared, lot_key=key_of(number))
        (counts,) = Histogram("k").measure(table)
        assert counts[4:] == (0, 0, 0, 0, 0, 1, 0)
        own = counts[:4]
        assert max(own) <= min(each, 3)
        assert sum(map(bool, own)) <= groups
        assert 1 <= sum(own) <= min(rows, groups * each)
        assert Count().measure(table) == ((min(rows, 12) + 1,),)
        outcomes[own] += 1
    assert len(outcomes) > 1, "the key does not matter"


def test_without_a_key_one_is_drawn() -> None:
    """Twelve keys choose the same of ten values with a probability of 1e-11."""
    rows: list[Given] = [("ann", i % 10, "a") for i in range(100)]
    assert len({Sum("k").measure(prepared(rows)) for _ in range(12)}) > 1


@pytest.mark.parametrize("number", range(3))
def test_every_row_of_a_person_is_as_likely_to_stay(number: int) -> None:
    """Of 4,000 people with two rows each, one with the value 1: binomial, nine standard deviations wide."""
    table = Changing(TYPES, COLUMNS, person="who", lot_key=key_of(number))
    table.query("SELECT i // 2, i % 2, 'a' FROM range(8000) t(i)")
    ((total,),) = Sum("k").measure(table.table)
    assert abs(total - 2000) < 9 * 31.7
    assert Count().measure(table.table) == ((4000,),)


def test_the_lot_comes_before_the_condition() -> None:
    """A person whose row that stays does not satisfy the condition does not count, though another row would."""
    one: list[tuple[int, str]] = [(1, "a"), (1, "a"), (1, "a"), (7, "b")]
    rows: list[Given] = [(f"p{i}", *cells) for i in range(40) for cells in one]
    for number in range(3):
        table = prepared(rows, lot_key=key_of(number))
        stayed = snapshot(table, key_of(number), [coded(row) for row in rows])
        seven = sum(times for row, times in stayed.items() if row[1] == 7)
        assert Sum("k", where="c == 'b'").measure(table) == ((7 * seven,),)
        assert Histogram("c", where="k > 5").measure(table) == ((0, seven, 0),)
        assert Count(where="c == 'a'").measure(table) == ((40 - seven,),)
        assert 0 < seven < 40


@pytest.mark.parametrize("kind", ["DOUBLE", "BIGINT", "BOOLEAN", "DATE", "UUID", "VARCHAR", "DECIMAL(9, 2)"])
def test_people_may_be_told_apart_by_columns_of_any_type(kind: str) -> None:
    values: dict[str, list[Any]] = {
        "DOUBLE": [2.5, float("inf"), 0.0],
        "BOOLEAN": [True, False],
        "DATE": ["2020-01-01", "2020-01-02"],
        "UUID": ["eeccb8c5-9943-b2bb-bb5e-222f4e14b687", "eeccb8c5-9943-b2bb-bb5e-222f4e14b688"],
    }
    known = values.get(kind, [1, 2, 3])
    table = Changing({"who": kind, "k": "BIGINT"}, {"k": Integers(0, 9)}, person="who")
    rows = [(who, 3) for who in [*known, *known, None]]
    assert table.measure(Count(), rows) == ((len(known),),)
    assert table.measure(Histogram("k"), rows)[0][3] == len(known)


BAD: list[tuple[str, dict[str, Any]]] = [
    ("rows_per_person", {"rows_per_person": 0}),
    ("rows_per_person", {"rows_per_person": 1.0}),
    ("rows_per_person", {"rows_per_person": True}),
    ("rows_per_person", {"rows_per_person": 10**7}),
    ("rows_per_person", {"rows_per_person": 2, "person": None}),
    ("groups_per_person", {"rows_per_person": 2, "groups_per_person": 3}),
    ("groups_per_person", {"groups_per_person": 0}),
    ("rows_per_group", {"rows_per_group": -1}),
    ("grouped_by", {"grouped_by": ["k"]}),
    ("grouped_by", {"rows_per_person": 2, "rows_per_group": 1, "grouped_by": "k"}),
    ("grouped_by", {"rows_per_person": 2, "rows_per_group": 1, "grouped_by": ["who"]}),
    ("neighbours", {"neighbours": "add"}),
    ("columns", {"person": "nobody"}),
    ("person", {"person": 5}),
    ("lot_key", {"lot_key": b"short"}),
    ("lot_key", {"lot_key": "x" * 32}),
    ("bad_cells", {"bad_cells": "keep"}),
    ("memory", {"memory": "nonsense"}),
]


@pytest.mark.parametrize(("argument", "declared"), BAD)
def test_bounds_that_make_no_sense_are_refused_by_name(argument: str, declared: dict[str, Any]) -> None:
    source = pa.table({"who": ["ann"], "k": [1], "c": ["a"]})
    with pytest.raises(InvalidInput) as caught:
        Table(source, COLUMNS, **{"person": "who", **declared})
    assert caught.value.argument == argument


def test_groups_need_a_column_to_be_counted_by() -> None:
    with pytest.raises(InvalidInput, match="grouped_by"):
        Declared({"k": Integers(0, 9)}, person="who", rows_per_person=2, rows_per_group=1)


def test_replacing_a_person_counts_twice_in_cells_and_once_in_a_count() -> None:
    reals = {"k": Reals(-1, 3, unit=1)}
    table = Declared(reals, person="who", neighbours="replace", rows_per_person=2)
    parts = {statistic: statistic.parts(table)[0] for statistic in (Count(), Sum("k"), Histogram("k", bins=2))}
    assert [(part.l1, part.l2_squared) for part in parts.values()] == [(2, 4), (8, 64), (4, 8)]
