"""What a question costs, and the noise it gets for that: exact rational checks, no tolerance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.guarantees import ZCDP, ApproxDP, Exponential, PureDP
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
    Variance,
)
from optcomp.statistics.declared import Declared
from optcomp.statistics.noise import LEAST_SCALE, MOST_SCALE
from optcomp.statistics.noise import AnswerCost as Cost
from tests.oracles.truth import real, working

COLUMNS = {"x": Reals(-3, 1000), "y": Integers(0, 99_000), "k": Integers(0, 7), "c": Categories(["a", "b"])}
TABLES = [
    Declared(COLUMNS),
    Declared(COLUMNS, person="who", rows_per_person=3, rows_per_group=2, neighbours="replace"),
]
NOISY: list[Statistic] = [
    Count(),
    Sum("x"),
    Mean("x"),
    Variance("k"),
    Histogram("c"),
    Contingency(("c", "k")),
    CDF("x"),
]
CHOICES: list[Statistic] = [Median("x"), Quantiles("k", ["0.1", "1/3", 0.9])]
budgets = st.floats(1e-5, 1e4) | st.fractions(Fraction(1, 10**4), 100) | st.decimals("0.001", 10, places=5)
tables = st.sampled_from(TABLES)


def spent(cost: Cost) -> Fraction:
    return Fraction(getattr(cost, "epsilon", math.nan))


def below(scale: float) -> Fraction:
    return Fraction(math.nextafter(scale, 0))


@given(st.sampled_from(NOISY), budgets, tables)
def test_laplace_noise_costs_exactly_the_epsilon_asked_for(statistic: Statistic, epsilon: Any, table: Any) -> None:
    question = Question(statistic, epsilon=epsilon)
    costs, parts = question.costs(table), statistic.parts(table)
    assert all(isinstance(cost, PureDP) for cost in costs)
    assert sum(map(spent, costs)) == Fraction(epsilon)
    assert sum(part.share for part in parts) == 1
    for part, cost, scale in zip(parts, costs, question.scales(table), strict=True):
        assert part.l1 / Fraction(scale) <= spent(cost)
        assert scale == LEAST_SCALE or part.l1 / below(scale) > spent(cost)


@given(st.sampled_from(NOISY), budgets, tables)
def test_gaussian_noise_costs_exactly_the_rho_asked_for(statistic: Statistic, rho: Any, table: Any) -> None:
    question = Question(statistic, rho=rho)
    assert question.costs(table) == (ZCDP(rho),)
    total = Fraction(0)
    for part, sigma in zip(statistic.parts(table), question.scales(table), strict=True):
        spent = part.l2_squared / (2 * Fraction(sigma) ** 2)
        total += spent
        assert spent <= Fraction(rho) * part.share
        assert sigma == LEAST_SCALE or part.l2_squared / (2 * below(sigma) ** 2) > Fraction(rho) * part.share
    assert total <= Fraction(rho)


@given(st.sampled_from(NOISY), st.floats(0.01, 20), st.sampled_from(["1e-12", "1e-7", "1e-3", "0.3"]), tables)
def test_gaussian_noise_for_epsilon_and_delta_is_enough(
    statistic: Statistic, epsilon: float, delta: str, table: Any
) -> None:
    """For some order α, e^{(α-1)(αρ-ε)} (1-1/α)^α/(α-1) is at most δ, with ρ from the noise that is really added."""
    question = Question(statistic, epsilon=epsilon, delta=delta)
    assert question.costs(table) == (ApproxDP(epsilon, delta),)
    pairs = list(zip(statistic.parts(table), question.scales(table), strict=True))
    rho = sum(part.l2_squared / (2 * Fraction(sigma) ** 2) for part, sigma in pairs)
    with working(128):
        best = min(float(_delta(rho, epsilon, 1 + 2 ** (i / 64))) for i in range(-1200, 1200))
        assert best <= float(delta) * (1 + 1e-3)


def _delta(rho: Fraction | int, epsilon: float, order: float) -> arb:
    a = arb(order)
    return ((a - 1) * (a * real(rho) - real(epsilon)) + a * (1 - 1 / a).log() - (a - 1).log()).exp()


@given(st.sampled_from(CHOICES), budgets, tables)
def test_choices_cost_exactly_the_epsilon_asked_for(statistic: Statistic, epsilon: Any, table: Any) -> None:
    question = Question(statistic, epsilon=epsilon)
    costs = question.costs(table)
    assert sum(map(spent, costs)) == Fraction(epsilon)
    for part, cost, scale in zip(statistic.parts(table), costs, question.scales(table), strict=True):
        assert isinstance(cost, Exponential)
        assert 2 * part.l1 / Fraction(scale) <= Fraction(cost.epsilon)
    assert question.error(table) is None


@given(st.sampled_from(CHOICES), st.floats(1e-6, 100), tables)
def test_choices_cost_at_most_the_rho_asked_for(statistic: Statistic, rho: float, table: Any) -> None:
    question = Question(statistic, rho=rho)
    costs = question.costs(table)
    total = sum(spent(cost) ** 2 / 8 for cost in costs)
    assert Fraction(rho) * (1 - Fraction(1, 10**12)) < total <= Fraction(rho)
    for part, cost, scale in zip(statistic.parts(table), costs, question.scales(table), strict=True):
        assert 2 * part.l1 / Fraction(scale) <= spent(cost)


BAD: list[tuple[str, dict[str, Any], Any]] = [
    ("epsilon", {}, Count()),
    ("epsilon", {"epsilon": 1, "rho": 1}, Count()),
    ("epsilon", {"epsilon": 0}, Count()),
    ("epsilon", {"epsilon": -1}, Count()),
    ("epsilon", {"epsilon": math.nan}, Count()),
    ("epsilon", {"epsilon": math.inf}, Count()),
    ("epsilon", {"epsilon": "one"}, Count()),
    ("epsilon", {"epsilon": True}, Count()),
    ("epsilon", {"epsilon": 1e-13}, Count()),
    ("epsilon", {"epsilon": 1e7}, Count()),
    ("rho", {"rho": 0}, Count()),
    ("rho", {"rho": "-1"}, Median("x")),
    ("delta", {"rho": 1, "delta": 1e-6}, Count()),
    ("delta", {"delta": 1e-6, "epsilon": 1}, Median("x")),
    ("delta", {"delta": 1e-6, "epsilon": 1, "mechanism": "laplace"}, Count()),
    ("delta", {"delta": 0, "epsilon": 1}, Count()),
    ("delta", {"delta": 1, "epsilon": 1}, Count()),
    ("delta", {"delta": 2, "epsilon": 1}, Count()),
    ("mechanism", {"epsilon": 1, "mechanism": "exponential"}, Count()),
    ("mechanism", {"epsilon": 1, "mechanism": "gaussian"}, Count()),
    ("mechanism", {"rho": 1, "mechanism": "laplace"}, Count()),
    ("mechanism", {"epsilon": 1, "mechanism": "laplace"}, Median("x")),
    ("mechanism", {"epsilon": 1, "mechanism": "magic"}, Count()),
    ("statistic", {"epsilon": 1}, "count"),
    ("statistic", {"epsilon": 1}, Count),
]


@pytest.mark.parametrize(("argument", "asked", "statistic"), BAD)
def test_what_is_no_question_is_refused_by_name(argument: str, asked: dict[str, Any], statistic: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^{argument}: ") as caught:
        Question(statistic, **asked)
    assert caught.value.argument == argument
    assert caught.value.value == asked.get(argument, caught.value.value) or math.isnan(asked[argument])


def test_noise_that_cannot_be_drawn_is_refused_before_it_is_paid_for() -> None:
    wide = Declared({"x": Integers(-(2**62), 2**62)}, person="who", rows_per_person=10)
    asked: list[dict[str, Any]] = [{"epsilon": 1e-9}, {"epsilon": 1e-9, "delta": 1e-9}]
    for budget in asked:
        with pytest.raises(InvalidInput) as caught:
            Question(Sum("x"), **budget).scales(wide)
        assert caught.value.argument == "epsilon"
    with pytest.raises(InvalidInput) as caught:
        Question(Variance("x"), rho=1e-17).scales(wide)
    assert caught.value.argument == "rho"
    assert Question(Count(), epsilon=1e6).scales(TABLES[0]) == (LEAST_SCALE,)
    assert Question(Sum("x"), epsilon=1e-4).scales(wide)[0] < MOST_SCALE


MISTAKES: list[tuple[str, Any]] = [
    ("column", Sum("nothing")),
    ("column", Sum(["x"])),  # type: ignore[arg-type]
    ("column", Mean("c")),
    ("column", Variance("c")),
    ("column", CDF("c")),
    ("column", Median("c")),
    ("column", Histogram("who")),
    ("bins", Histogram("x", bins=0)),
    ("bins", Histogram("x", bins=1001)),
    ("edges", Histogram("x", edges=tuple(range(-3, 1001)))),
    ("bins", Histogram("x", edges=(-3, 1000), bins=2)),
    ("edges", Histogram("c", bins=3)),
    ("edges", Histogram("x", edges=(0, 1000))),
    ("edges", Histogram("x", edges=(-3, 5, 5, 1000))),
    ("edges", Histogram("x", edges=(-3, "1e400"))),
    ("edges", Histogram("x", edges=(-3, 1, 1 + Fraction(1, 10**30), 1000))),
    ("edges", CDF("x", edges=(5,))),
    ("columns", Contingency(("y", "k", "c"))),
]


@pytest.mark.parametrize(("argument", "statistic"), MISTAKES)
def test_what_a_table_does_not_declare_is_refused_by_name(argument: str, statistic: Statistic) -> None:
    with pytest.raises(InvalidInput) as caught:
        statistic.parts(TABLES[0])
    assert caught.value.argument == argument


WRONG: list[tuple[str, Any]] = [
    ("probabilities", lambda: Quantiles("x", [])),
    ("probabilities", lambda: Quantiles("x", [0])),
    ("probabilities", lambda: Quantiles("x", [1])),
    ("probabilities", lambda: Quantiles("x", [1e-9])),
    ("probabilities", lambda: Quantiles("x", ["half"])),
    ("candidates", lambda: Median("x", candidates=1)),
    ("candidates", lambda: Median("x", candidates=10**9)),
    ("columns", lambda: Contingency(())),
    ("columns", lambda: Contingency(("x", "x"))),
    ("columns", lambda: Contingency((1,))),  # type: ignore[arg-type]
    ("edges", lambda: Contingency(("x",), {"k": (0, 1)})),
    ("edges", lambda: Histogram("x", edges=5)),  # type: ignore[arg-type]
    ("edges", lambda: Histogram("x", edges=(-3, math.nan, 1000))),
    ("edges", lambda: Histogram("x", edges=(False, 1000))),
    ("edges", lambda: CDF("x", edges=("low", "high"))),
    ("edges", lambda: Contingency(("x",), {"x": 5})),  # type: ignore[dict-item]
]


@pytest.mark.parametrize(("argument", "make"), WRONG)
def test_what_is_no_statistic_is_refused_by_name(argument: str, make: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()
    assert caught.value.argument == argument


def test_cells_never_share_a_label() -> None:
    narrow = [1, 1 + 1e-14, 1 + 2e-14, 1 + 3e-14]
    table = Declared({"x": Reals(1, 1 + 3e-14)})
    for statistic in (Histogram("x", edges=tuple(narrow)), CDF("x", edges=tuple(narrow))):
        assert len(set(statistic.cells(table))) == 4
    assert len(CDF("x", edges=tuple(narrow)).value(table, [[Fraction(1)] * 4])) == 3
    with pytest.raises(InvalidInput, match=r"^bins: "):
        Histogram("x", bins=1000).parts(table)
