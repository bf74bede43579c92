"""Linear regression: exact sums, coefficients by another method, and intervals that cover, or are infinite."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product, starmap
from typing import Any

import numpy as np
import pytest

from optcomp.errors import InvalidInput
from optcomp.interactive.answers import noised
from optcomp.planner.errors import ErrorModel
from optcomp.statistics import Categories, Integers, Noises, Question, Reals, Regression
from optcomp.statistics.noise import LAPLACE, noise_named
from tests.oracles.released import binomial_tail
from tests.unit.statistics.people import Changing, l1

COLUMNS = {"x": Integers(0, 10), "z": Reals(-4, 4, unit="1/2"), "y": Integers(-20, 40), "c": Categories(["a"])}
TYPES = {"x": "BIGINT", "z": "DOUBLE", "y": "BIGINT", "c": "VARCHAR"}
ROWS: list[tuple[Any, ...]] = [
    (i % 11, (i * 5 % 17) / 2 - 4, 3 + 2 * (i % 11) - (i * 5 % 17) // 4 + i % 3, "a") for i in range(300)
]
ASKED = Regression("y", ("x", "z"))


def filled(rows: list[tuple[Any, ...]] = ROWS) -> Changing:
    changing = Changing(TYPES, COLUMNS)
    changing.fill([*rows, (3, None, 7, "a"), (None, 1.0, 7, "a")])
    return changing


def fitted(rows: list[tuple[Any, ...]] = ROWS) -> dict[str, float]:
    """By least squares of numpy, on the values themselves."""
    wide = np.array([[1.0, x, z] for x, z, _, _ in rows])
    found = np.linalg.lstsq(wide, np.array([float(y) for _, _, y, _ in rows]), rcond=None)[0]
    return dict(zip(("(intercept)", "x", "z"), map(float, found), strict=True))


def test_without_noise_it_is_least_squares() -> None:
    """Rows that miss a value are left out."""
    table = filled().table
    parts = ASKED.parts(table)
    exact = [[value * part.unit for value in vector] for vector, part in zip(ASKED.measure(table), parts, strict=True)]
    assert ASKED.value(table, exact) == pytest.approx(fitted(), rel=1e-9)


def test_sums_are_those_of_products() -> None:
    found = ASKED.measure(filled().table)
    xs, zs, ys = ([row[place] for row in ROWS] for place in range(3))
    ones, away = [1] * len(ROWS), [[x - 5 for x in xs], [int(2 * z) for z in zs], [y - 10 for y in ys]]
    columns = [ones, *away]
    pairs = [(i, j) for i in range(4) for j in range(i, 4) if (i, j) != (3, 3)]
    assert found == tuple((sum(a * b for a, b in zip(columns[i], columns[j], strict=True)),) for i, j in pairs)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_no_row_changes_a_product_by_more_than_its_part_says(neighbours: str) -> None:
    """And some row does, by just that."""
    changing = Changing(TYPES, COLUMNS, neighbours=neighbours)
    corners = [(x, z, y, "a") for x, z, y in product((-99, 5, 99), (-9.0, 0.0, 9.0), (-99, 10, 99))]
    found = {changing.measure(ASKED, [row]) for row in corners} | {changing.measure(ASKED, [(1, None, 2, "a")])}
    others = {changing.measure(ASKED, [])} if neighbours == "add-remove" else found
    for i, part in enumerate(ASKED.parts(changing.table)):
        largest = max(starmap(l1, product({each[i] for each in found}, {each[i] for each in others})))
        assert largest == part.l1, part.cells


@pytest.mark.parametrize(("budget", "mechanism"), [("60", "laplace"), ("100", "gaussian")])
def test_intervals_and_stated_errors_cover(budget: str, mechanism: str) -> None:
    """At a budget at which intervals are finite; all coefficients together."""
    table, truth, times, confidence = filled().table, fitted(), 200, 0.8
    model = ErrorModel(ASKED, table, noise_named(mechanism), len(ROWS), confidence)
    question, exact, error = model.question(Fraction(budget)), ASKED.measure(table), model.error(Fraction(budget))
    assert 0 < error < 30
    covered = kept = 0
    for _ in range(times):
        answer = noised(question, table, exact)
        ends = answer.interval(confidence)
        assert all(low <= answer.value[name] <= high for name, (low, high) in ends.items())
        covered += all(low <= truth[name] <= high for name, (low, high) in ends.items())
        slopes = 5 * abs(answer.value["x"] - truth["x"]), 4 * abs(answer.value["z"] - truth["z"])
        middle = answer.value["(intercept)"] + 5 * answer.value["x"] - truth["(intercept)"] - 5 * truth["x"]
        kept += max(*slopes, abs(middle)) <= error
    assert math.isfinite(ends["x"][0])
    assert binomial_tail(covered, times, confidence) > 1e-10, covered
    assert binomial_tail(kept, times, confidence) > 1e-10, kept


@pytest.mark.parametrize("rows", [[], ROWS[:1], [(5, z, y, "a") for _, z, y, _ in ROWS]], ids=["none", "one", "flat"])
def test_where_the_least_eigenvalue_may_be_0_everything_is_possible(rows: list[tuple[Any, ...]]) -> None:
    """A column that does not vary has no coefficient: whatever the noise is, no interval is finite."""
    table = filled(rows).table if rows else Changing(TYPES, COLUMNS).table
    exact = ASKED.measure(table)
    for epsilon in ("0.5", "5"):
        found = noised(Question(ASKED, epsilon=epsilon), table, exact)
        ends = found.interval(1 - 1e-12)
        assert all(low == -math.inf and high == math.inf for low, high in ends.values())
        assert all(math.isfinite(value) for value in found.value.values())


def test_noise_beyond_its_reach_is_bounded_by_the_norms() -> None:
    """For noise of exactly the reach in every entry, in all directions, the truth is inside."""
    table, truth = filled().table, fitted()
    exact, parts = ASKED.measure(table), ASKED.parts(table)
    question, rng = Question(ASKED, epsilon=80), np.random.default_rng(5)
    scales = question.scales(table)
    reach = [LAPLACE.reach(scale, 0.9, len(parts)) for scale in scales]
    for _ in range(50):
        moved = [
            [(vector[0] + int(rng.choice([-1, 1])) * off) * part.unit]
            for vector, off, part in zip(exact, reach, parts, strict=True)
        ]
        ends = ASKED.interval(table, moved, Noises(LAPLACE, scales, 0.9))
        assert all(low - 1e-9 <= truth[name] <= high + 1e-9 for name, (low, high) in ends.items())


def test_what_is_refused() -> None:
    table = filled().table
    with pytest.raises(InvalidInput, match="on: must be other columns"):
        Regression("y", ("x", "y"))
    with pytest.raises(InvalidInput, match="on: must be declared as integers or reals"):
        Regression("y", "c").parts(table)
    with pytest.raises(InvalidInput, match="column: must be declared as integers or reals"):
        Regression("c", "x").parts(table)
    assert str(Regression("y", ("x", "z"), "x > 2")) == "regression of y on x, z where x > 2"
