"""Quantiles: scores of 0 at true quantiles, and ranks that are off by no more than is told, with ties and gaps too."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

from optcomp.interactive.answers import noised
from optcomp.planner.errors import ErrorModel
from optcomp.statistics import Categories, Integers, Median, Quantiles, Question, Table
from optcomp.statistics.noise import EXPONENTIAL
from tests.oracles.released import binomial_tail
from tests.unit.statistics.people import Changing

TIED = {10: 1000, 11: 4500, 13: 4500}
CASES: dict[str, Sequence[int]] = {
    "ties": [3] * 50 + [4] * 10,
    "gap": [0] * 30 + [19] * 30,
    "one": [7],
    "none": [],
    "even": [i % 20 for i in range(60)],
    "ends": [0] * 40 + [1] + [19] * 3,
}


def filled(values: Sequence[int]) -> Table:
    changing = Changing({"x": "BIGINT", "c": "VARCHAR"}, {"x": Integers(0, 19), "c": Categories(["a", "b"])})
    changing.fill([(value, "ab"[i % 2]) for i, value in enumerate(values)])
    return changing.table


def off(value: float, values: Sequence[int], probability: Fraction) -> Fraction:
    """By how many rows a value is off its rank, counted by hand."""
    asked = probability * len(values)
    return max(Fraction(0), sum(x < value for x in values) - asked, asked - sum(x <= value for x in values))


def test_a_gap_beside_a_tie_is_not_chosen() -> None:
    """At ε = 1 the middle of a gap is 500 rows off, and never told; the tie is the median."""
    changing = Changing({"x": "BIGINT"}, {"x": Integers(0, 20)})
    rows = " UNION ALL ".join(f"SELECT {value} FROM range({count})" for value, count in TIED.items())
    changing.query(rows)
    question = Question(Median("x"), epsilon=1)
    exact = Median("x").measure(changing.table)
    assert exact[0][11] == 0
    assert exact[0][12] == -1000
    told = noised(question, changing.table, exact)
    assert told.value == 11  # the next best score is -1000, at a scale of 2: less than e^-400
    assert told.rows_off(0.95) == pytest.approx(6.04, abs=0.01)  # ln(21/0.05)·2/2


@pytest.mark.parametrize("case", list(CASES))
def test_a_true_quantile_has_the_score_0_and_others_their_distance(case: str) -> None:
    values, probabilities = CASES[case], ["1/2", "1/3", "0.9"]
    found = Quantiles("x", probabilities).measure(filled(values))
    for text, scores in zip(probabilities, found, strict=True):
        p = Fraction(text)
        assert max(scores) == 0
        for candidate, score in enumerate(scores):
            assert Fraction(-score, p.denominator) == off(candidate, values, p)


@pytest.mark.parametrize("by", [(), ("c",)], ids=["all", "groups"])
@pytest.mark.parametrize("case", list(CASES))
def test_ranks_are_off_by_no_more_than_is_told(case: str, by: tuple[str, ...]) -> None:
    """With real choices; a low confidence, so that misses would be counted."""
    values, statistic = CASES[case], Quantiles("x", ["1/4", "2/3"], by=by)
    table, times, confidence = filled(values), 300, 0.5
    question, exact = Question(statistic, epsilon=1), statistic.measure(table)
    most = noised(question, table, exact).rows_off(confidence)
    assert most is not None
    groups = {"a": values[::2], "b": values[1::2], "(other)": []} if by else {"": values}
    covered = 0
    for _ in range(times):
        told = noised(question, table, exact).value
        fine = True
        for cell, own in groups.items():
            for p in (Fraction(1, 4), Fraction(2, 3)):
                value = told[(cell, float(p))] if by else told[float(p)]
                fine &= off(value, own, p) <= most
        covered += fine
    assert binomial_tail(covered, times, confidence) > 1e-10, covered


def test_plans_and_answers_say_the_same() -> None:
    table, statistic = filled(CASES["even"]), Quantiles("x", ["1/4", "2/3"], by="c")
    model = ErrorModel(statistic, table, EXPONENTIAL, 60, 0.9)
    question = model.question(Fraction(2))
    told = noised(question, table, statistic.measure(table))
    assert model.error(Fraction(2)) == told.rows_off(0.9)
    assert statistic.error_unit == "rows"
    when, even = model.otherwise(Fraction(2)) or ("", 0.0)
    assert when == "in x if 30 rows are spread evenly over the bounds and over the groups"
    assert 0 < even <= 19


def test_the_bound_is_not_idle() -> None:
    """At a hundredth of the told reach many choices are farther off."""
    values, statistic = CASES["even"], Median("x")
    table = filled(values)
    question, exact = Question(statistic, epsilon="0.2"), statistic.measure(table)
    most = noised(question, table, exact).rows_off(0.95) or 0.0
    beyond = sum(off(noised(question, table, exact).value, values, Fraction(1, 2)) > most / 100 for _ in range(300))
    assert beyond > 50  # each is with probability 0.55: 50 or fewer are with one below 1e-41
