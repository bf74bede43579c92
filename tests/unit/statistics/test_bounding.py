"""Which rows of a person stay: no more than declared, chosen at random, and without regard to other people."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
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
from optcomp.statistics.table import Declared
from tests.unit.statistics.people import Changing

TYPES = {"who": "VARCHAR", "k": "BIGINT", "c": "VARCHAR"}
COLUMNS = {"k": Integers(0, 9), "c": Categories(["a", "b"])}
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
people = st.dictionaries(st.sampled_from(["ann", "bob", "it's", ""]), st.lists(cells, max_size=3), max_size=4)
ALL = {"rows_per_person": 3, "groups_per_person": 3, "rows_per_group": 3}


@cache
def tables() -> tuple[Changing, Changing]:
    """With people who may have three rows, and without people."""
    return Changing(TYPES, COLUMNS, person="who", **ALL), Changing(TYPES, COLUMNS)


@settings(max_examples=25)
@given(people, st.lists(cells, max_size=3))
def test_nothing_is_dropped_of_people_within_their_bounds(
    found: dict[str, list[tuple[Any, Any]]], strangers: list[tuple[Any, Any]]
) -> None:
    """And rows of nobody do not count."""
    rows = [(who, *cell) for who, cells_of in found.items() for cell in cells_of]
    loose, plain = tables()
    for statistic in STATISTICS:
        bounded = loose.measure(statistic, rows + [(None, *cell) for cell in strangers])
        assert bounded == plain.measure(statistic, rows), statistic


@pytest.mark.parametrize(("rows", "groups", "each"), [(1, 1, 1), (2, 2, 2), (3, 2, 2), (4, 2, 3), (5, 3, 1), (4, 4, 2)])
def test_of_a_person_with_too_many_rows_as_many_stay_as_may(rows: int, groups: int, each: int) -> None:
    limits = {"rows_per_person": rows, "groups_per_person": groups, "rows_per_group": each}
    table = Changing(TYPES, COLUMNS, person="who", **limits)
    many = [("ann", i % 4, "a") for i in range(12)]  # three rows in each of four cells
    others = [("bob", 9, "b"), (None, 8, "b")]
    outcomes: Counter[tuple[int, ...]] = Counter()
    for _ in range(25):
        (counts,) = table.measure(Histogram("k"), many + others)
        assert counts[4:] == (0, 0, 0, 0, 0, 1, 0)
        own = counts[:4]
        assert max(own) <= each
        assert sum(map(bool, own)) <= groups
        assert sum(own) == min(rows, groups * each)
        outcomes[own] += 1
        assert table.measure(Count(), many + others) == ((min(rows, 12) + 1,),)
    assert len(outcomes) > 1, "the choice is not random"


def test_every_row_of_a_person_is_as_likely_to_stay() -> None:
    """Of 4,000 people with two rows each, one with the value 1: binomial, nine standard deviations wide."""
    table = Changing(TYPES, COLUMNS, person="who")
    table._execute("INSERT INTO people SELECT i // 2, i % 2, 'a' FROM range(8000) t(i)")
    sums = {Sum("k").measure(table.table)[0][0] for _ in range(3)}
    assert all(abs(total - 2000) < 9 * 31.7 for total in sums)
    assert len(sums) > 1
    assert Count().measure(table.table) == ((4000,),)


def test_conditions_come_first() -> None:
    """A person whose first rows do not satisfy the condition counts with a later one."""
    table = Changing(TYPES, COLUMNS, person="who")
    rows = [("ann", 1, "a")] * 20 + [("ann", 7, "b")]
    for _ in range(10):
        assert table.measure(Sum("k", where="c == 'b'"), rows) == ((7,),)
        assert table.measure(Histogram("c", where="k > 5"), rows) == ((0, 1, 0),)


@pytest.mark.parametrize("kind", ["DOUBLE", "BIGINT", "BOOLEAN", "DATE", "UUID", "VARCHAR", "DECIMAL(9, 2)"])
def test_people_may_be_told_apart_by_columns_of_any_type(kind: str) -> None:
    values: dict[str, list[Any]] = {
        "DOUBLE": [float("nan"), float("inf"), 0.0],
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
    ("neighbours", {"neighbours": "add"}),
    ("columns", {"person": "nobody"}),
]


@pytest.mark.parametrize(("argument", "declared"), BAD)
def test_bounds_that_make_no_sense_are_refused_by_name(argument: str, declared: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Table(tables()[0].table._relation, COLUMNS, **{"person": "who", **declared})
    assert caught.value.argument == argument


def test_replacing_a_person_counts_twice_in_cells_and_once_in_a_count() -> None:
    reals = {"k": Reals(-1, 3, unit=1)}
    table = Declared(reals, person="who", neighbours="replace", rows_per_person=2)
    parts = {statistic: statistic.parts(table)[0] for statistic in (Count(), Sum("k"), Histogram("k", bins=2))}
    assert [(part.l1, part.l2_squared) for part in parts.values()] == [(2, 4), (8, 64), (4, 8)]
