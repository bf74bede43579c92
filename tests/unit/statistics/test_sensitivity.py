"""No person changes the exact integers by more than a part says, and some person changes them by that much.

Statistics add up over people, so a person's rows alone against no rows are the case of "add-remove", and the rows of
two people against each other the case of "replace".  All people of up to four rows of a few kinds are tried.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product, starmap
from typing import Any

import pytest

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
    Variance,
)
from tests.unit.statistics.people import Changing, Row, l1, l2_squared

NAN, INF = float("nan"), float("inf")
TYPES = {"who": "BIGINT", "x": "DOUBLE", "c": "VARCHAR"}
COLUMNS = {"x": Reals(-1, 3, unit="1/2"), "c": Categories(["a", "b"])}
KINDS = [(3.0, "a"), (-INF, "b"), (NAN, "b"), (1e300, None)]
PEOPLE = [rows for size in range(5) for rows in combinations_with_replacement(KINDS, size)]
SCALARS: list[Statistic] = [Count(), Sum("x"), Mean("x"), Variance("x"), Sum("x", where="c == 'a' and x > 0")]
CELLS: list[Statistic] = [Histogram("c"), CDF("x", bins=4), Contingency(("c", "x"), {"x": (-1, 1, 3)})]
STATISTICS = SCALARS + CELLS
BOUNDS = [(1, None, None), (2, None, None), (3, 2, 2), (4, 1, 3), (4, 3, 1)]
RELATIONS = ["add-remove", "replace"]


def declared(bounds: tuple[int, int | None, int | None], neighbours: str) -> dict[str, Any]:
    rows, groups, each = bounds
    limits = {"rows_per_person": rows, "groups_per_person": groups, "rows_per_group": each}
    return {"person": "who", "neighbours": neighbours, **limits}


@pytest.mark.slow_cases("bounds1", "bounds2", "bounds3", "bounds4")
@pytest.mark.parametrize("bounds", BOUNDS)
def test_one_person_changes_no_more_than_the_parts_say(bounds: tuple[int, int | None, int | None]) -> None:
    tables = {each: Changing(TYPES, COLUMNS, **declared(bounds, each)) for each in RELATIONS}
    changing = tables["add-remove"]
    people = [[(7, *kind) for kind in rows] for rows in PEOPLE if len(rows) <= bounds[0] + 1]
    measured = [[changing.measure(statistic, rows) for statistic in STATISTICS] for rows in people]
    for statistic, *results in zip(STATISTICS, *measured, strict=True):
        found, nothing = set(results), changing.measure(statistic, [])
        assert not any(map(any, nothing))
        for neighbours, others in (("add-remove", {nothing}), ("replace", found)):
            for i, part in enumerate(statistic.parts(tables[neighbours].table)):
                pairs = list(product({each[i] for each in found}, {each[i] for each in others}))
                assert max(starmap(l1, pairs)) <= part.l1, (statistic, neighbours)
                assert max(starmap(l2_squared, pairs)) <= part.l2_squared, (statistic, neighbours)
                if statistic in SCALARS and statistic.where is None:
                    assert max(starmap(l1, pairs)) == part.l1, (statistic, neighbours)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("bounds", [*BOUNDS, (5, 2, 3), (8, 4, 3)])
def test_the_bounds_of_counts_are_attained(bounds: tuple[int, int | None, int | None], neighbours: str) -> None:
    """By people who fill one cell after another, each with cells of their own; where groups are not bounded, one."""
    limits = declared(bounds, neighbours)
    if bounds[1] is not None:
        limits["grouped_by"] = ["k"]
    changing = Changing({"who": "BIGINT", "k": "BIGINT"}, {"k": Integers(0, 9)}, **limits)
    each = changing.table.contribution
    filling = [(1, i // each.rows_per_group) for i in range(min(each.rows, each.groups * each.rows_per_group))]
    same = [(1, 0)] * each.rows
    cases: list[tuple[Statistic, list[Row]]] = [
        (Histogram("k"), filling),
        (Contingency(("k",)), filling),
        (CDF("k", edges=tuple(range(11))), same),
        (Histogram("k", bins=10), same),
    ]
    for statistic, first in cases:
        (vector,), (part,) = changing.measure(statistic, first), statistic.parts(changing.table)
        (other,) = changing.measure(statistic, [(who, k + 5) for who, k in first] if neighbours == "replace" else [])
        assert (l1(vector, other), l2_squared(vector, other)) == (part.l1, part.l2_squared), statistic


@pytest.mark.slow_cases("2")
@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("rows", [1, 2])
def test_no_score_of_a_quantile_changes_by_more_than_its_part_says(rows: int, neighbours: str) -> None:
    limits = declared((rows, None, None), neighbours)
    changing = Changing({"who": "BIGINT", "x": "DOUBLE"}, {"x": Integers(0, 3)}, **limits)
    statistic = Quantiles("x", ["1/2", "1/3", "0.9"])
    values = (None, -INF, 1.0, 2.0, 9.0)
    people = [tuple(xs) for size in range(rows + 1) for xs in combinations_with_replacement(values, size)]
    largest = [0, 0, 0]
    for others in ([], [0.0, 1.0], [3.0, 3.0, 2.0], [0.0, 3.0, NAN, 1.0, 2.0]):
        base: list[Row] = [(i, x) for i, x in enumerate(others)]
        scores = {xs: changing.measure(statistic, base + [(99, x) for x in xs]) for xs in people}
        compared = [()] if neighbours == "add-remove" else people
        for xs, ys in product(people, compared):
            for i, (a, b) in enumerate(zip(scores[xs], scores[ys], strict=True)):
                largest[i] = max(largest[i], *(abs(p - q) for p, q in zip(a, b, strict=True)))
    assert largest == [part.l1 for part in statistic.parts(changing.table)]


def test_scores_are_how_many_rows_a_candidate_is_off_its_rank() -> None:
    changing = Changing({"x": "DOUBLE"}, {"x": Integers(0, 4)})
    statistic, values = Quantiles("x", ["1/4", "2/3"]), [0, 0, 1, 2, 2, 2, 4, 9, -3]
    clamped = [min(max(x, 0), 4) for x in values]
    found = changing.measure(statistic, [(float(x),) for x in values])
    for p, scores in zip((Fraction(1, 4), Fraction(2, 3)), found, strict=True):
        for c, score in enumerate(scores):
            below, upto, asked = sum(x < c for x in clamped), sum(x <= c for x in clamped), p * len(clamped)
            assert Fraction(score, p.denominator) == -max(Fraction(0), below - asked, asked - upto)
