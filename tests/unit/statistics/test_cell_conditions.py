"""Conditions on the cells of a table of counts: they count the rows that the same condition on rows counts."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp import InvalidInput
from optcomp.statistics import Categories, Contingency, Count, Integers, Reals, Table, cells_where

RNG = Random(11)
ROWS = [
    (RNG.choice([None, *range(-3, 25)]), RNG.choice([None, -0.5, 0.0, 0.25, 0.3, 0.5, 0.75, 0.9, 1.0, 7.0]),
     RNG.choice(["north", "south", "west", "", None]), RNG.choice([True, False, None]))
    for _ in range(800)
]  # fmt: skip
NAMES = ("age", "share", "region", "member")
TABLE = Table(
    pyarrow.table({name: [row[place] for row in ROWS] for place, name in enumerate(NAMES)}),
    {
        "age": Integers(0, 20),
        "share": Reals(0, 1, "0.05"),
        "region": Categories(["north", "south"]),
        "member": Categories([True, False]),
    },
)
WHOLE = Contingency(("region", "age", "member"))
BINS = Contingency(("age", "share", "region"), {"age": (-9, -5, 0, "6.5", "6.75", 13, 20, 30), "share": (0, 0.5, 1)})
"""With bins outside the bounds, and one that no whole number lies in."""


def counted(counts: Contingency, where: str) -> int:
    """The rows in the cells that satisfy a condition."""
    ((*cells,),) = counts.measure(TABLE)
    return sum(count for count, taken in zip(cells, cells_where(counts, where, TABLE), strict=True) if taken)


comparisons = st.sampled_from(
    [
        *(f"age {op} {value}" for op in ("<", "<=", ">", ">=", "==", "!=") for value in (-1, 0, 7, 13, 20, 21, 6.5)),
        *("age in (1, 2, 30)", "age not in [3, 4]", "3 < age <= 9", "age is None", "age is not None"),
        *("region == 'north'", "region != 'south'", "region in ('south', 'north')", "region is None", "region < 'o'"),
        *("member", "member is None", "member == False", "not member"),
    ]
)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda one: f"not ({one})"),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(conditions)
def test_cells_count_what_rows_count(where: str) -> None:
    ((expected,),) = Count(where).measure(TABLE)
    assert counted(WHOLE, where) == expected


@pytest.mark.parametrize(
    "where",
    [
        "age >= 7",
        "age < 13",
        "age > 6",
        "age < 6.5",
        "age >= 13 or region == 'north'",
        "not age >= 13",
        "age is None",
        "age is not None and share is None",
        "share < 0.5",
        "not share >= 0.5",
        "age > 100",
        "age <= 100",
        "age not in (40, 50)",
        "age in (0, 1, 2, 3, 4, 5, 6)",
        "region == 'north' and region == 'south' and age > 3",  # no cell is both, so the age does not matter
        "share < 0.5 and region != 'north' or age >= 13",
    ],
)
def test_bins_that_are_not_cut_apart(where: str) -> None:
    ((expected,),) = Count(where).measure(TABLE)
    assert counted(BINS, where) == expected


@pytest.mark.parametrize(
    "where",
    [
        "age > 7",
        "age == 3",
        "age != 3",
        "not age < 5",
        "share <= 0.5",
        "share > 0.9",
        "age > 7 or share < 0.5",
        "7 <= age < 13 and not age > 7 and share > 0.7",
    ],
)
def test_bins_that_would_be_cut_apart_are_refused(where: str) -> None:
    with pytest.raises(InvalidInput, match="everything in a cell"):
        cells_where(BINS, where, TABLE)


BAD: list[Any] = ["share > 0.5", "height > 3", "age >", "age > 'x'", "region", "age + 1 > 2", 5, None, ""]


@pytest.mark.parametrize("where", BAD)
def test_other_conditions_are_refused(where: Any) -> None:
    with pytest.raises(InvalidInput, match="where"):
        cells_where(WHOLE, where, TABLE)


def test_one_column() -> None:
    assert cells_where(Contingency(("region",)), "region == 'south'", TABLE).tolist() == [False, True, False]
    assert cells_where(Contingency(("region",)), "region is None", TABLE).tolist() == [False, False, True]
    assert cells_where(Contingency(("member", "region")), "member", TABLE).tolist() == [True] * 3 + [False] * 6
