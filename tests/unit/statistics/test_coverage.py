"""Answers with real noise: intervals cover as often as they say, amounts are whole units, choices follow their law.

False alarms have a probability below 1e-9 in each test: counts are compared with the tail of a binomial distribution,
and each says how probable one is.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.interactive.answers import Answer, answer, noised
from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Histogram,
    Integers,
    Mean,
    Median,
    Quantiles,
    Question,
    Reals,
    Statistic,
    Sum,
    Table,
    Variance,
)
from optcomp.statistics.noise import EXPONENTIAL, with_gaussian, with_laplace
from tests.unit.statistics.people import Changing

ROWS = [(i % 7 - 1, (i * 37 % 100) / 8, "abz"[i % 3]) for i in range(60)]
COLUMNS = {"k": Integers(0, 5), "x": Reals(0, 10, unit="1/16"), "c": Categories(["a", "b"])}
TIMES = 2000


@cache
def table() -> Table:
    changing = Changing({"k": "BIGINT", "x": "DOUBLE", "c": "VARCHAR"}, COLUMNS)
    changing.fill(ROWS)
    return changing.table


K = [min(max(k, 0), 5) for k, _, _ in ROWS]
X = [min(max(Fraction(x), Fraction(0)), Fraction(10)) for _, x, _ in ROWS]  # multiples of the unit already
TRUTHS: dict[Statistic, Any] = {
    Count(where="k > 2"): sum(k > 2 for k in K),
    Sum("x"): sum(X),
    Mean("x"): sum(X) / 60,
    Mean("k", where="c == 'a'"): Fraction(sum(K[::3]), 20),
    Variance("k"): Fraction(sum(k * k for k in K), 60) - Fraction(sum(K), 60) ** 2,
    Histogram("c"): {"a": 20, "b": 20, "(other)": 20},
    Contingency(("c", "k")): {
        (c, k): sum(K[i] == k and ("abz"[i % 3] == c or (c == "(other)" and i % 3 == 2)) for i in range(60))
        for c in ("a", "b", "(other)")
        for k in (0, 1, 2, 3, 4, 5, "(missing)")
    },
    CDF("k", edges=(0, 1, 2, 3, 4, 5)): {float(e): Fraction(sum(k < e or e == 5 for k in K), 60) for e in range(1, 6)},
}


def binomial_tail(least: int, trials: int, p: float) -> float:
    """P(X <= least) for a binomial X, from above, by logarithms."""
    logs = [
        math.lgamma(trials + 1)
        - math.lgamma(i + 1)
        - math.lgamma(trials - i + 1)
        + i * math.log(p)
        + (trials - i) * math.log1p(-p)
        for i in range(least + 1)
    ]
    return math.fsum(math.exp(each) for each in logs)


def holds(truth: Any, interval: Any) -> bool:
    if isinstance(truth, dict):
        assert truth.keys() == interval.keys()
        return all(holds(each, interval[key]) for key, each in truth.items())
    low, high = interval
    slack = Fraction(1, 10**12)  # ends are floats
    return bool(Fraction(low) - slack <= truth <= Fraction(high) + slack)


CASES: list[tuple[Statistic, dict[str, Any], int]] = [
    *((statistic, {"epsilon": 2}, 500 if isinstance(statistic, Contingency) else TIMES) for statistic in TRUTHS),
    *((statistic, {"rho": "0.5"}, 500) for statistic in TRUTHS),
    (Count(where="k > 2"), {"epsilon": 1, "delta": 1e-6}, 300),
]


def named(case: Any) -> str:
    """A statistic, or what is spent, or how often."""
    return " ".join(f"{name} {amount}" for name, amount in case.items()) if isinstance(case, dict) else str(case)


@pytest.mark.slow_cases("cdf of k", "variance of k")
@pytest.mark.parametrize(("statistic", "budget", "times"), CASES, ids=named)
def test_intervals_cover_as_often_as_they_say(statistic: Statistic, budget: dict[str, Any], times: int) -> None:
    question, confidence = Question(statistic, **budget), 0.8
    exact = statistic.measure(table())
    covered = sum(holds(TRUTHS[statistic], noised(question, table(), exact).interval(confidence)) for _ in range(times))
    assert binomial_tail(covered, times, confidence) > 1e-10, f"{covered} of {times}"


def test_the_count_of_covers_is_not_trivially_met() -> None:
    """A count's interval covers about as often as told, not always: the noise is what the scales say."""
    question = Question(Count(), epsilon="0.1")
    exact = Count().measure(table())
    assert exact == ((60,),)
    covered = sum(holds(60, noised(question, table(), exact).interval(0.5)) for _ in range(TIMES))
    assert abs(covered - TIMES * 0.5) < 250  # coverage is 0.5 to 0.55, as t is whole: false with a probability of 7e-12


@settings(max_examples=30)
@given(
    st.sampled_from([*TRUTHS, Quantiles("x", candidates=9), Median("k")]),
    st.floats(0.01, 50),
    st.sampled_from(["epsilon", "rho"]),
)
def test_amounts_are_whole_multiples_of_units(statistic: Statistic, budget: float, kind: str) -> None:
    asked = Question(statistic, epsilon=budget) if kind == "epsilon" else Question(statistic, rho=budget)
    found = answer(asked, table())
    parts = statistic.parts(table())
    assert len(found.amounts) == len(parts)
    for amounts, part in zip(found.amounts, parts, strict=True):
        assert len(amounts) == len(part.cells)
        assert all(isinstance(amount, Fraction) and (amount / part.unit).denominator == 1 for amount in amounts)
    assert str(found).startswith(str(statistic))


def test_values_stay_within_what_is_possible() -> None:
    for _ in range(50):
        assert 0 <= ask(Mean("x")).value <= 10
        assert 0 <= ask(Variance("k")).value <= 6.25
        shares = list(ask(CDF("x")).value.values())
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] <= 1
        low, middle, high = ask(Quantiles("x")).value.values()
        assert 0 <= low <= middle <= high <= 10


def ask(statistic: Statistic) -> Answer:
    return answer(Question(statistic, epsilon="0.05"), table())


def test_choices_have_no_interval() -> None:
    with pytest.raises(InvalidInput, match=r"^statistic: "):
        ask(Median("x")).interval()


def test_choices_follow_the_law_of_their_scores() -> None:
    scores, scale, times = [0, -1, -4, -2, -50], 1.5, 6000
    weights = [math.exp(score / scale) for score in scores]
    counts = Counter(EXPONENTIAL.draw(scores, scale)[0] for _ in range(times))
    for i, weight in enumerate(weights):
        p = weight / sum(weights)
        # false with a probability of 2e-11 for all five, by the tails of binomial distributions
        assert abs(counts[i] - times * p) <= 7 * math.sqrt(times * p * (1 - p)) + 2, i


@pytest.mark.parametrize("value", [0, 2**62, -(2**62), 2**80, -(2**200)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e15])
def test_no_value_raises_and_noise_stays_whole(value: int, scale: float) -> None:
    for noise in (with_laplace, with_gaussian):
        found = noise([value, -value], scale)
        assert all(type(each) is int and -(2**63) <= each < 2**63 for each in found)
        if scale < 1:  # noise of scale 1/1000 is 0, but for a probability of 2·e^-1000
            assert found == [min(max(each, -(2**62)), 2**62) for each in (value, -value)]
    assert EXPONENTIAL.draw([value, -value, value], scale)[0] in (0, 1, 2)
