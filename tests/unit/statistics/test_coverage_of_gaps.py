"""Intervals and stated errors of a table as people have it: ties, gaps, missing cells, several rows of a person.

For every statistic with groups, people, quantiles, public rows and consistent counts, against the truth by plain
Python.  Real noise raises a false alarm with a probability below 1e-9 in each test.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from optcomp.interactive import consistent
from optcomp.interactive.answers import Answer, noised
from optcomp.planner.errors import ErrorModel
from optcomp.statistics import (
    Categories,
    Count,
    Histogram,
    Integers,
    Mean,
    Median,
    People,
    Quantiles,
    Question,
    Statistic,
    Sum,
    Table,
    Variance,
)
from optcomp.statistics.noise import noise_named
from tests.oracles.released import binomial_tail
from tests.unit.statistics.people import Changing

TYPES = {"who": "VARCHAR", "x": "DOUBLE", "c": "VARCHAR"}
COLUMNS = {"x": Integers(0, 20), "c": Categories(["a", "b", "nobody"])}
TIMES, CONFIDENCE = 300, 0.8
"""Answers of each, and a confidence that is low enough to see misses."""


def _row(number: int) -> tuple[str | None, float | None, str | None]:
    """Up to three rows of a person; 38 % have no x; half of the others are 4, the rest at the ends."""
    who = None if number % 29 == 0 else f"p{number // 2 if number % 5 else number // 3}"
    x = None if number * 37 % 100 < 38 else (4.0 if number % 2 else (0.0, 20.0, 99.0)[number % 3])
    return who, x, ("a", "a", "b", "misspelled", None)[number * 7 % 5]


ROWS = [_row(number) for number in range(240)]
KEPT = [row for row in ROWS if row[0] is not None]
"""Rows of nobody are left out."""
PEOPLE = {who: sum(row[0] == who for row in KEPT) for who, _, _ in KEPT}
GROUPS = {"a": ("a",), "b": ("b",), "nobody": ("nobody",), "(other)": ("misspelled", None)}


def test_the_table_is_what_it_should_be() -> None:
    assert max(PEOPLE.values()) == 3
    assert len(KEPT) < len(ROWS)
    assert 0.3 < sum(x is None for _, x, _ in KEPT) / len(KEPT) < 0.45
    assert all(values(cell) for cell in GROUPS if cell != "nobody")
    assert values("nobody") == []


@cache
def table() -> Table:
    changing = Changing(TYPES, COLUMNS, person="who", rows_per_person=3)
    changing.fill(ROWS)
    return changing.table


def rows_of(cell: str | None) -> list[tuple[Any, ...]]:
    return KEPT if cell is None else [row for row in KEPT if row[2] in GROUPS[cell]]


def values(cell: str | None) -> list[Fraction]:
    """Those that are there, as they are read."""
    return [Fraction(min(x, 20)) for _, x, _ in rows_of(cell) if x is not None]


def _mean(cell: str | None) -> Fraction:
    return sum(values(cell), Fraction(0)) / len(values(cell))


def _variance(cell: str | None) -> Fraction:
    return sum((x * x for x in values(cell)), Fraction(0)) / len(values(cell)) - _mean(cell) ** 2


TRUTH: dict[type[Statistic], Callable[[str | None], Fraction | int]] = {
    Count: lambda cell: len(rows_of(cell)),
    People: lambda cell: len({who for who, _, _ in rows_of(cell)}),
    Sum: lambda cell: sum(values(cell), Fraction(0)),
    Mean: _mean,
    Variance: _variance,
    Histogram: lambda cell: len(rows_of(cell)),
}
"""By the kind of a statistic: of all rows, or of a group; the mean of nothing may be anything."""


def truth(statistic: Statistic) -> dict[Any, Fraction | int]:
    ratio = isinstance(statistic, Mean | Variance)
    grouped = isinstance(statistic, Histogram) or bool(getattr(statistic, "by", ()))
    cells: list[str | None] = [cell for cell in GROUPS if values(cell) or not ratio] if grouped else [None]
    return {cell: TRUTH[type(statistic)](cell) for cell in cells}


def by_cell(told: Any) -> dict[Any, Any]:
    return told if isinstance(told, dict) else {None: told}


STATISTICS: list[Statistic] = [
    People(),
    Sum("x"),
    Mean("x"),
    Variance("x"),
    Mean("x", public_rows=len(values(None))),
    Variance("x", public_rows=len(values(None))),
    *(Count(by="c"), People(by="c"), Sum("x", by="c"), Mean("x", by="c"), Variance("x", by="c"), Histogram("c")),
]


def named(statistic: Statistic) -> str:
    return f"{statistic}{', rows public' if getattr(statistic, 'public_rows', None) else ''}"


@pytest.mark.parametrize("budget", [{"epsilon": 4}, {"rho": 1}], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("statistic", STATISTICS, ids=named)
def test_intervals_cover_together(statistic: Statistic, budget: dict[str, Any]) -> None:
    question, exact, true, covered = Question(statistic, **budget), statistic.measure(table()), truth(statistic), 0
    for _ in range(TIMES):
        ends = by_cell(noised(question, table(), exact).interval(CONFIDENCE))
        covered += all(ends[cell][0] - 1e-9 <= each <= ends[cell][1] + 1e-9 for cell, each in true.items())
    assert binomial_tail(covered, TIMES, CONFIDENCE) > 1e-10, covered


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("statistic", STATISTICS, ids=named)
def test_stated_errors_hold(statistic: Statistic, mechanism: str) -> None:
    """Stated for as many rows with a value as the smallest group has that has any, in each of three groups."""
    least = min(len(values(cell)) for cell in GROUPS if values(cell))
    rows = 3 * least if getattr(statistic, "by", ()) else len(values(None))
    model = ErrorModel(statistic, table(), noise_named(mechanism), rows, CONFIDENCE)
    error, question = model.error(Fraction(4)), model.question(Fraction(4))
    exact, true, kept = statistic.measure(table()), truth(statistic), 0
    for _ in range(TIMES):
        found = by_cell(noised(question, table(), exact).value)
        kept += all(abs(found[cell] - float(each)) <= error + 1e-9 for cell, each in true.items())
    assert binomial_tail(kept, TIMES, CONFIDENCE) > 1e-10, kept


def off(value: float, xs: list[Fraction], probability: Fraction) -> Fraction:
    """By how many rows a value is off its rank, counted by hand."""
    asked = probability * len(xs)
    return max(Fraction(0), sum(x < value for x in xs) - asked, asked - sum(x <= value for x in xs))


@pytest.mark.parametrize(
    "statistic",
    [Median("x"), Median("x", by="c"), Quantiles("x", ["1/4", "0.9"]), Quantiles("x", ["1/3"], by="c")],
    ids=str,
)
def test_ranks_are_among_rows_with_a_value(statistic: Quantiles) -> None:
    """Rows without x have no rank; a group without rows has no wrong one."""
    question, exact, kept = Question(statistic, epsilon=1), statistic.measure(table()), 0
    wide = ErrorModel(statistic, table(), noise_named("exponential"), len(KEPT), CONFIDENCE).error(Fraction(1))
    for _ in range(TIMES):
        answer = noised(question, table(), exact)
        most = answer.rows_off(CONFIDENCE)
        assert most == wide
        kept += all(off(value, values(cell), p) <= most for cell, p, value in _ranked(statistic, answer))
    assert binomial_tail(kept, TIMES, CONFIDENCE) > 1e-10, kept


def _ranked(statistic: Quantiles, answer: Answer) -> list[tuple[str | None, Fraction, float]]:
    """Group, share and value of everything that was told."""
    found = []
    for place, p in enumerate(statistic.probabilities):
        for cell in GROUPS if statistic.by else [None]:
            told = list(answer.rows(CONFIDENCE))
            index = (list(GROUPS).index(cell) if cell is not None else 0) * len(statistic.probabilities) + place
            found.append((cell, Fraction(p), float(told[index].value)))
    return found


@pytest.mark.parametrize("statistic", [Count(by="c"), Histogram("c")], ids=str)
@pytest.mark.parametrize("epsilon", ["1/4", "2"])
def test_consistent_counts_cover_and_are_no_wider(statistic: Statistic, epsilon: str) -> None:
    """With an empty group; the total is public, and all intervals hold together."""
    question, exact, true, covered = (
        Question(statistic, epsilon=epsilon),
        statistic.measure(table()),
        truth(statistic),
        0,
    )
    for _ in range(TIMES):
        answer = noised(question, table(), exact)
        made, raw = consistent(answer, total=len(KEPT), confidence=CONFIDENCE), answer.interval(CONFIDENCE)
        assert sum(made.value.values()) == len(KEPT)
        ends = made.interval
        assert all(ends[cell][1] - ends[cell][0] <= max(raw[cell][1], 0) - max(raw[cell][0], 0) for cell in raw)
        covered += all(ends[cell][0] <= each <= ends[cell][1] for cell, each in true.items())
    assert binomial_tail(covered, TIMES, CONFIDENCE) > 1e-10, covered
