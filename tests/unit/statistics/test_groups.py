"""Statistics by groups, and the number of people: cells, sensitivities, coverage, and what is refused.

Real noise raises a false alarm with a probability below 1e-9 in each test.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product, starmap
from typing import Any

import pytest

from optcomp.errors import InvalidInput
from optcomp.interactive.answers import noised
from optcomp.planner.errors import ErrorModel
from optcomp.statistics import (
    Categories,
    Contribution,
    Count,
    Declared,
    Histogram,
    Integers,
    Mean,
    People,
    Quantiles,
    Question,
    Statistic,
    Sum,
    Table,
    Variance,
    read_statistic,
    statistic_document,
)
from optcomp.statistics.groups import each_confidence
from optcomp.statistics.noise import noise_named
from tests.oracles.released import binomial_tail
from tests.unit.statistics.people import Changing, Row, l1, l2_squared

COLUMNS = {"x": Integers(-1, 3), "c": Categories(["a", "b"]), "k": Integers(0, 1)}
TYPES = {"who": "BIGINT", "x": "DOUBLE", "c": "VARCHAR", "k": "BIGINT"}
BY: list[Statistic] = [
    Count(by="c"),
    People(by="c"),
    Sum("x", by="c"),
    Mean("x", by="c"),
    Variance("x", by="c"),
    People(by=("c", "k")),
    Sum("x", by=["k"], where="c == 'a' or x > 0"),
]
KINDS = [(3.0, "a", 0), (-9.0, "b", 1), (None, None, None), (3.0, "z", 1), (-9.0, "a", 0)]
BOUNDS = [(1, None, None), (2, None, None), (3, 2, 2), (3, 1, 3), (3, 3, 1)]
RELATIONS = ["add-remove", "replace"]


def declared(bounds: tuple[int, int | None, int | None], neighbours: str) -> dict[str, Any]:
    rows, groups, each = bounds
    limits: dict[str, Any] = {"rows_per_person": rows, "groups_per_person": groups, "rows_per_group": each}
    if groups is not None:
        limits["grouped_by"] = ["c"]
    return {"person": "who", "neighbours": neighbours, **limits}


@pytest.mark.slow_cases("bounds1", "bounds2", "bounds3", "bounds4")
@pytest.mark.parametrize("bounds", BOUNDS)
def test_one_person_changes_no_more_over_all_groups_than_the_parts_say(
    bounds: tuple[int, int | None, int | None],
) -> None:
    """All people of a few kinds of rows, alone: these statistics add up over people."""
    tables = {each: Changing(TYPES, COLUMNS, **declared(bounds, each)) for each in RELATIONS}
    changing = tables["add-remove"]
    people = [rows for size in range(1, bounds[0] + 1) for rows in combinations_with_replacement(KINDS, size)]
    measured = [[changing.measure(each, [(7, *kind) for kind in rows]) for each in BY] for rows in people]
    for statistic, *results in zip(BY, *measured, strict=True):
        found, nothing = set(results), changing.measure(statistic, [])
        assert not any(map(any, nothing))
        for neighbours, others in (("add-remove", {nothing}), ("replace", found | {nothing})):
            for i, part in enumerate(statistic.parts(tables[neighbours].table)):
                pairs = list(product({each[i] for each in found}, {each[i] for each in others}))
                assert max(starmap(l1, pairs)) <= part.l1, (statistic, neighbours)
                assert max(starmap(l2_squared, pairs)) <= part.l2_squared, (statistic, neighbours)
                if statistic in BY[:3] and bounds[1] is None:
                    assert max(starmap(l1, pairs)) == part.l1, (statistic, neighbours)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (-1, 2), (0, 3), (-2, 0), (1, 2)])
@pytest.mark.parametrize("bounds", [(1, 1, 1), (2, 2, 2), (2, 1, 2), (2, 2, 1), (3, 2, 2), (3, 3, 1)])
def test_sums_of_cells_change_as_a_search_finds(bounds: tuple[int, int, int], low: int, high: int) -> None:
    """All ways to put rows that add something into three cells, before and after."""
    rows, groups, each = bounds
    sums = set()
    for counts in product(range(each + 1), repeat=3):
        if sum(counts) <= rows and sum(map(bool, counts)) <= groups:
            ranges = [range(n * min(low, 0), n * max(high, 0) + 1) for n in counts]
            sums |= set(product(*ranges))
    zero = (0, 0, 0)
    for replace, others in ((False, {zero}), (True, sums)):
        found = Contribution(rows, groups, each, replace).cells_change(low, high)
        pairs = list(product(sums, others))
        largest = max(starmap(l1, pairs)), max(starmap(l2_squared, pairs))
        assert largest[0] <= found[0]
        assert largest[1] <= found[1]
        if not replace or (each == rows and groups >= 1) or low >= 0 or high <= 0:
            assert largest[1] == found[1] or groups * 2 > 3  # three cells hold no two disjoint sets of two


def test_a_person_counts_once_also_with_a_missing_and_an_unknown_category() -> None:
    changing = Changing(TYPES, COLUMNS, person="who", rows_per_person=3)
    rows: list[Row] = [(1, 0.0, None, 0), (1, 0.0, "z", 0), (1, 0.0, "a", 0), (2, 0.0, "a", 1), (2, 0.0, "a", 1)]
    assert changing.measure(People(), rows) == ((2,),)
    assert changing.measure(People("c == 'a' and k == 1"), rows) == ((1,),)
    assert changing.measure(People(by="c"), rows) == ((2, 0, 1),)
    assert changing.measure(Count(by="c"), rows) == ((3, 0, 2),)


def test_without_a_column_of_people_each_row_is_one() -> None:
    changing = Changing({"k": "BIGINT"}, {"k": Integers(0, 1)}, neighbours="replace")
    assert changing.measure(People(by="k"), [(0,), (0,), (None,)]) == ((2, 0, 1),)
    (part,) = People(by="k").parts(changing.table)
    assert (part.l1, part.l2_squared) == (2, 2)
    assert People().parts(changing.table)[0].l1 == 1


@pytest.mark.parametrize("statistic", [*BY, Quantiles("x", ["1/2"], by="c"), Quantiles("x", by=("c", "k"))])
def test_cells_are_declared_ones_whatever_the_data_hold(statistic: Statistic) -> None:
    changing = Changing(TYPES, COLUMNS, person="who", rows_per_person=2)
    tables = [[], [(1, 1.0, "a", 0)], [(1, None, "never declared", 99), (2, 2.0, None, None)]]
    shapes = []
    for rows in tables:
        changing.fill(rows)  # type: ignore[arg-type]
        question = Question(statistic, epsilon=1)
        shapes.append(list(noised(question, changing.table, statistic.measure(changing.table)).value))
    assert shapes[0] == shapes[1] == shapes[2]
    assert len(shapes[0]) >= 3


ROWS = [(i % 5 - 1, "aab"[i % 3] if i % 7 else None, i % 2) for i in range(90)]


@cache
def table() -> Table:
    """Group a has many rows, b fewer, (other) those whose group is missing; of k there is no missing one."""
    changing = Changing({"x": "DOUBLE", "c": "VARCHAR", "k": "BIGINT"}, COLUMNS)
    changing.fill(ROWS)
    return changing.table


def truth(statistic: Statistic) -> dict[str, Any]:
    """By hand; the mean and variance of nothing may be anything."""
    found: dict[str, Any] = {}
    for cell in ("a", "b", "(other)", "none"):
        xs = [Fraction(min(max(x, -1), 3)) for x, c, _ in ROWS if (c or "(other)") == cell]
        mean = sum(xs) / len(xs) if xs else None
        if isinstance(statistic, Count | People):
            found[cell] = len(xs)
        elif isinstance(statistic, Sum):
            found[cell] = sum(xs)
        elif mean is not None:
            found[cell] = mean if isinstance(statistic, Mean) else sum(x * x for x in xs) / len(xs) - mean**2
    return {cell: value for cell, value in found.items() if cell != "none"}


COVERED: list[Statistic] = BY[:5]


@pytest.mark.parametrize("budget", [{"epsilon": 3}, {"rho": 1}], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("statistic", COVERED, ids=str)
def test_intervals_of_all_groups_cover_together(statistic: Statistic, budget: dict[str, Any]) -> None:
    question, exact, times, confidence = Question(statistic, **budget), statistic.measure(table()), 400, 0.8
    covered = 0
    for _ in range(times):
        ends = noised(question, table(), exact).interval(confidence)
        covered += all(
            ends[cell][0] - 1e-12 <= value <= ends[cell][1] + 1e-12 for cell, value in truth(statistic).items()
        )
    assert binomial_tail(covered, times, confidence) > 1e-10, covered


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("statistic", COVERED, ids=str)
def test_stated_errors_hold_in_all_groups_that_are_as_large_as_stated(statistic: Statistic, mechanism: str) -> None:
    """Stated for 2·13 rows in two named groups: (other) has 13 rows, and the others more."""
    model = ErrorModel(statistic, table(), noise_named(mechanism), 2 * 13, 0.8)
    error, question = model.error(Fraction(4)), model.question(Fraction(4))
    exact, times = statistic.measure(table()), 400
    covered = 0
    for _ in range(times):
        value = noised(question, table(), exact).value
        covered += all(abs(value[cell] - float(each)) <= error + 1e-9 for cell, each in truth(statistic).items())
    assert binomial_tail(covered, times, 0.8) > 1e-10, covered


def test_public_rows_spare_the_noise_of_the_count() -> None:
    """The same budget, and an error that is smaller by more than a quarter; intervals cover."""
    known, counted = Mean("x", public_rows=len(ROWS)), Mean("x")
    errors = [
        ErrorModel(each, table(), noise_named("laplace"), 90, 0.9).error(Fraction(1)) for each in (known, counted)
    ]
    assert errors[0] < 0.75 * errors[1]
    xs = [Fraction(min(max(x, -1), 3)) for x, _, _ in ROWS]
    mean = sum(xs) / len(xs)
    for statistic, right in (
        (known, mean),
        (Variance("x", public_rows=len(ROWS)), sum(x * x for x in xs) / len(xs) - mean**2),
    ):
        question, exact, covered = Question(statistic, epsilon=2), statistic.measure(table()), 0
        error = ErrorModel(statistic, table(), noise_named("laplace"), 90, 0.8).error(Fraction(2))
        hit = 0
        for _ in range(500):
            found = noised(question, table(), exact)
            low, high = found.interval(0.8)
            covered += low - 1e-12 <= right <= high + 1e-12
            hit += abs(found.value - float(right)) <= error * (1 + 1e-12)
        assert binomial_tail(covered, 500, 0.8) > 1e-10, (statistic, covered)
        assert binomial_tail(hit, 500, 0.8) > 1e-10, (statistic, hit)
    with pytest.raises(InvalidInput, match="public_rows: is about all rows at once"):
        Mean("x", by="c", public_rows=3)


def test_a_count_by_groups_costs_what_a_histogram_does() -> None:
    changing = Changing(TYPES, COLUMNS, person="who", rows_per_person=3, groups_per_person=2)
    for column in ("c", "k"):
        assert Count(by=column).parts(changing.table) == Histogram(column).parts(changing.table)


@pytest.mark.parametrize("statistic", [*BY, Quantiles("x", by="c"), Mean("x", public_rows=9)])
def test_documents_read_back(statistic: Statistic) -> None:
    assert read_statistic(statistic_document(statistic)) == statistic


def test_names_are_read_as_people_write_them() -> None:
    assert Mean("x", by="c") == Mean("x", by=["c"]) == read_statistic({"mean": "x", "by": "c"})
    assert str(Mean("x", "k > 0", by=("c", "k"))) == "mean of x by c, k where k > 0"
    with pytest.raises(InvalidInput, match="by: must be different names"):
        Count(by=("c", "c"))
    with pytest.raises(InvalidInput, match="by: is not a declared column"):
        Count(by="z").parts(table())
    with pytest.raises(InvalidInput, match=r"statistic.by: must be a column, or a list"):
        read_statistic({"mean": "x", "by": 7})
    with pytest.raises(InvalidInput, match="cells, more than 1000000"):
        Count(by=("x", "y", "z")).parts(Declared({name: Integers(0, 999) for name in "xyz"}))


@pytest.mark.parametrize("groups", [2, 7, 100_000])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
def test_the_confidence_of_each_is_enough_for_all(groups: int, confidence: float) -> None:
    missed = 1 - Fraction(each_confidence(confidence, groups))
    assert 1 - groups * missed + (groups * missed) ** 2 / 2 >= Fraction(confidence) - Fraction(1, 10**15)
    assert missed > 0
