"""Invented rows: within what is declared, the same for the same seed, and answered with fresh noise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from optcomp.center.dry_runs import dry_run, invented_table
from optcomp.errors import InvalidInput
from optcomp.statistics import Categories, Count, Declared, Histogram, Integers, Mean, Question, Reals

DECLARED = Declared(
    {
        "age": Integers(-5, 4),
        "share": Reals(0, "1/3", "1/1000"),
        "region": Categories(["north", "south"]),
        "yes": Categories([True, False]),
        "huge": Integers(-(2**61), 2**61),
    },
    person="who",
    rows_per_person=3,
)


def test_rows_are_even_over_what_is_declared() -> None:
    """Every cell has about its share; each person has three rows."""
    table = invented_table(DECLARED, rows=30_000)
    (counts,) = Histogram("age").measure(table)
    assert sum(counts) == 30_000
    assert all(abs(count - 3_000) < 400 for count in counts if count)
    assert sum(count > 0 for count in counts) == 10
    (regions,) = Histogram("region").measure(table)
    assert all(abs(count - 10_000) < 700 for count in regions[:3])
    assert table.contribution.rows == 3


def test_a_seed_gives_the_same_rows_and_other_noise() -> None:
    """Rows by the seed, noise by nobody."""
    one, same, other = (Histogram("age").measure(invented_table(DECLARED, rows=500, seed=seed)) for seed in (1, 1, 2))
    assert one == same != other
    question = Question(Count(), epsilon="1/1000000000")
    one_value, other_value = (dry_run(DECLARED, question).value for _ in range(2))
    assert one_value != other_value  # two draws of scale 3 * 10^9 are equal with probability 1e-10


def test_answers_are_near_the_truth_about_invented_rows() -> None:
    """The same engine, and little noise."""
    found = dry_run(DECLARED, Question(Mean("age"), epsilon="1000"), rows=20_000)
    assert abs(found.value + Fraction(1, 2)) < 0.2  # the rows are fixed; noise of scale 0.02 on sums of 20,000 rows
    assert found.declared.name.endswith("invented rows")


def test_wrong_wishes_are_refused() -> None:
    """By name."""
    with pytest.raises(InvalidInput, match="rows"):
        invented_table(DECLARED, rows=10**6)
    with pytest.raises(InvalidInput, match="seed"):
        invented_table(DECLARED, seed=True)
    with pytest.raises(InvalidInput, match="income"):
        dry_run(DECLARED, Question(Mean("income"), epsilon=1))
