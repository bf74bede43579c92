"""Means of several columns in one question: whose rows, what they cost, and how far off they are."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from optcomp.errors import InvalidInput
from optcomp.interactive.answers import noised
from optcomp.planner import make_plan, read
from optcomp.planner.errors import ErrorModel
from optcomp.release import facts
from optcomp.statistics import Categories, Integers, Mean, Means, Question, Reals, Table
from optcomp.statistics.means import of_column
from optcomp.statistics.moments import mean_off
from optcomp.statistics.noise import added, noise_named
from tests.oracles.released import binomial_tail
from tests.plans import small
from tests.unit.statistics.people import Changing

TYPES = {"who": "VARCHAR", "x": "DOUBLE", "y": "DOUBLE", "c": "VARCHAR"}
COLUMNS = {"x": Integers(0, 20), "y": Reals(-1, 3, unit="1/4"), "c": Categories(["a", "b", "nobody"])}
ROWS = [
    (
        f"p{number // 2}",
        None if number % 5 == 0 else float(number % 23),
        None if number % 7 == 0 else number % 9 / 2 - 1,
        "ab?"[number % 3],
    )
    for number in range(210)
]
GROUPS = {"a": "a", "b": "b", "nobody": "", "(other)": "?"}
TIMES, CONFIDENCE, ALARM = 300, 0.8, 1e-10
"""Answers of each, a confidence that is low enough to see misses, and how often real noise may raise a false alarm."""


@cache
def table() -> Table:
    changing = Changing(TYPES, COLUMNS, person="who", rows_per_person=2)
    changing.fill(ROWS)
    return changing.table


def full(cell: str | None = None) -> list[tuple[Fraction, Fraction]]:
    """Both values where both are there, within their bounds."""
    return [
        (Fraction(min(x, 20)), Fraction(min(y, 3)))
        for _, x, y, c in ROWS
        if x is not None and y is not None and (cell is None or c == GROUPS[cell])
    ]


def means(values: list[tuple[Fraction, Fraction]]) -> dict[str, Fraction]:
    return {name: sum(column) / len(values) for name, column in zip("xy", zip(*values, strict=True), strict=True)}


def exact_answer(statistic: Means) -> Any:
    """What is told if the noise happens to be 0."""
    measured, parts = statistic.measure(table()), statistic.parts(table())
    amounts = [[value * part.unit for value in own] for own, part in zip(measured, parts, strict=True)]
    return statistic.value(table(), amounts)


def test_they_are_those_of_rows_that_have_all_values() -> None:
    assert 0 < len(full()) < sum(x is not None for _, x, _, _ in ROWS)
    assert exact_answer(Means(("x", "y"))) == pytest.approx({k: float(v) for k, v in means(full()).items()})
    assert list(exact_answer(Means(("y", "x")))) == ["y", "x"]
    some = [pair for pair in full() if pair[0] >= 5]
    assert exact_answer(Means(("x", "y"), "x >= 5")) == pytest.approx({k: float(v) for k, v in means(some).items()})


def test_each_group_has_its_own() -> None:
    found = exact_answer(Means(("x", "y"), by="c"))
    assert list(found) == [(cell, name) for cell in GROUPS for name in "xy"]
    for cell in ("a", "b", "(other)"):
        for name, value in means(full(cell)).items():
            assert found[cell, name] == pytest.approx(float(value))
    assert found["nobody", "x"] == 10


def test_one_column_costs_what_a_mean_costs() -> None:
    one, mean = Means(("x",)), Mean("x")
    sizes = [[(p.l1, p.l2_squared, p.unit, p.share) for p in each.parts(table())] for each in (one, mean)]
    assert sizes[0] == sizes[1]
    assert exact_answer(one)["x"] == pytest.approx(float(sum(_present()) / len(_present())))


def _present() -> list[Fraction]:
    return [Fraction(min(x, 20)) for _, x, _, _ in ROWS if x is not None]


def test_shares_are_all_of_the_budget() -> None:
    for names in (("x",), ("x", "y")):
        assert sum(part.share for part in Means(names).parts(table())) == 1


@pytest.mark.parametrize("by", [(), "c"], ids=["all", "by"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_intervals_hold_together(noise: str, by: Any) -> None:
    statistic = Means(("x", "y"), by=by)
    question = Question(statistic, mechanism=noise, **{"rho": 1} if noise == "gaussian" else {"epsilon": 4})
    measured = statistic.measure(table())
    true: dict[Any, Fraction] = {**means(full())}
    if by:
        cells = [cell for cell in GROUPS if cell != "nobody"]
        true = {(cell, name): value for cell in cells for name, value in means(full(cell)).items()}
    held = 0
    for _ in range(TIMES):
        answer = noised(question, table(), measured)
        told, value = answer.interval(CONFIDENCE), answer.value
        assert all(low <= value[key] <= high for key, (low, high) in told.items())
        held += all(told[key][0] - 1e-9 <= each <= told[key][1] + 1e-9 for key, each in true.items())
    assert binomial_tail(held, TIMES, CONFIDENCE) > ALARM, held


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_stated_error_holds_and_is_not_idle(noise: str) -> None:
    statistic = Means(("x", "y"))
    model = ErrorModel(statistic, table(), noise_named(noise), len(full()), CONFIDENCE)
    budget = Fraction(1 if noise == "gaussian" else 4)
    error, question, measured = model.error(budget), model.question(budget), statistic.measure(table())
    offs = []
    for _ in range(TIMES):
        told = noised(question, table(), measured).value
        offs.append(max(abs(told[name] - value) / wide for (name, value), wide in zip(_true(), (20, 4), strict=True)))
    assert binomial_tail(sum(off <= error + 1e-9 for off in offs), TIMES, CONFIDENCE) > ALARM
    # one answer is within a fifth of the error with a probability below 1/2, so four fifths are with one below 1e-25
    assert error < 5 * sorted(offs)[int(TIMES * CONFIDENCE)]
    assert model.stated.smooth(1.0) > 0


def _true() -> list[tuple[str, float]]:
    return [(name, float(value)) for name, value in means(full()).items()]


def test_one_count_makes_them_better_than_two_questions() -> None:
    """Two columns at ε = 1 beside two means at ε = 1/2 each, by the same function and at the same confidence."""
    noise = added(noise_named("laplace"))
    both = Question(Means(("x", "y")), epsilon=1).scales(table())
    alone = [Question(Mean(name), epsilon="1/2").scales(table()) for name in "xy"]
    together = ErrorModel(Means(("x", "y")), table(), noise, 100, 0.9).stated.noises(both, 0.9)
    for place, scales in enumerate(alone, 1):
        own = of_column(together, place)
        assert own.scales[1] <= scales[1] * 1.07
        assert own.scales[0] < scales[0]
        apart = ErrorModel(Mean("x"), table(), noise, 100, 0.95).stated.noises(scales, 0.95)
        assert mean_off(own, 5, 10, 1, 100, 0.5) < mean_off(apart, 5, 10, 1, 100)


def test_plans_state_their_error_in_parts_of_the_range() -> None:
    columns = {"age": {"integers": [0, 99]}, "income": {"reals": [0, 5000]}}
    asked = {"means": ["age", "income"]}
    plan = make_plan(read(small(columns=columns, statistics={"both": {**asked, "present": "0.9"}})))
    (line,) = plan.lines
    assert line.wish.statistic == Means(("age", "income"))
    assert 0 < line.error <= 1
    (told,) = facts(plan)["statistics"]
    assert told["note"] == "± for 900 rows with a value, wherever the means lie"
    (open_ended,) = facts(make_plan(read(small(columns=columns, statistics={"both": asked}))))["statistics"]
    assert open_ended["assumes"] == ["no cell of age, income is missing (else tell `present`)"]


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^columns: must be different names"):
        Means(("x", "x"))
    with pytest.raises(InvalidInput, match=r"^columns: must be different names"):
        Means(())
    with pytest.raises(InvalidInput, match=r"^columns: must be different names"):
        Means("x")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"^columns: must be at most 20"):
        Means(tuple(f"x{i}" for i in range(21)))
    with pytest.raises(InvalidInput, match=r"^column: must be declared as integers or reals"):
        Means(("x", "c")).parts(table())
    with pytest.raises(InvalidInput, match=r"statistics.a.means"):
        read(small(statistics={"a": {"means": ["age", "region"]}}))
