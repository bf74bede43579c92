"""Splits: within the budget exactly, as good as brute force finds, and never worse than sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.guarantees import PureDP
from optcomp.planner.allocation import Allocation, Item, allocate, short_down
from optcomp.planner.budgets import PairBudget, RhoBudget, Spending
from optcomp.planner.errors import ErrorModel
from optcomp.planner.objective import Objective
from optcomp.statistics import (
    Categories,
    Contingency,
    Count,
    Declared,
    Histogram,
    Integers,
    Mean,
    Median,
    Quantiles,
    Reals,
    Statistic,
    Sum,
    Variance,
)
from optcomp.statistics.noise import noise_named
from tests.oracles.splits import Limit, best, leak, value

ROWS = 5000
TABLE = Declared({"age": Integers(0, 99), "pay": Reals(0, 1000), "region": Categories(["a", "b", "c"])})
SIZES = {Count: ROWS, Sum: 99 * ROWS, Mean: 99, Variance: 2450, Histogram: ROWS, Quantiles: 99}
CLOSE = 1e-6


def item(
    statistic: Statistic,
    mechanism: str,
    weight: float = 1.0,
    name: str | None = None,
    held: Fraction | None = None,
) -> Item:
    """A statistic about the table, relative to its usual size."""
    size = float(SIZES.get(type(statistic), 1))
    model = ErrorModel(statistic, TABLE, noise_named(mechanism), ROWS, 0.95)
    return Item(name or f"{mechanism} {statistic}", model, weight, size, held)


PLANS: dict[str, list[Item]] = {
    "count and mean": [item(Count(), "laplace"), item(Mean("age"), "laplace", 2.0)],
    "two counts": [item(Count(), "laplace"), item(Count("age > 17"), "laplace", 100.0)],
    "three kinds": [
        item(Count(), "laplace"),
        item(Histogram("region"), "laplace", 2.0),
        item(Median("pay"), "exponential"),
    ],
    "Gaussian": [item(Count(), "gaussian"), item(Sum("age"), "gaussian", 3.0)],
    "mixed": [item(Count(), "laplace"), item(Sum("age"), "gaussian", 3.0)],
    "mixed three": [
        item(Mean("age"), "laplace"),
        item(Sum("age"), "gaussian", 3.0),
        item(Variance("age"), "gaussian", 0.1),
    ],
}
PAIRS = [(Fraction(1), Fraction(1, 10**6)), (Fraction(1, 10), Fraction(1, 10**9)), (Fraction(3), Fraction(1, 10**3))]


def amounts_of(found: Allocation) -> list[float]:
    return [each.amount for each in found.spendings]


def of(found: Allocation, objective: Objective) -> float:
    """What was to be made small; for a common scale, the sum of squares."""
    return value(found.items, amounts_of(found), "squares" if objective == "scale" else objective)


def stepped(found: Allocation, objective: Objective) -> float:
    """The same of the errors of the noise that is drawn."""
    pairs = zip(found.items, found.spendings, strict=True)
    terms = [(each.weight, spent.error / each.size) for each, spent in pairs if each.held is None]
    return sum(w * e * e for w, e in terms) if objective == "squares" else max(w * e for w, e in terms)


def within(items: Sequence[Item], budget: PairBudget, shape: Sequence[float]) -> list[float]:
    """The shape on the largest scale, within a tenth, that fits by the certified total: by halving."""

    def at(scale: float) -> list[Spending]:
        scaled = [amount * math.exp(scale) for amount in shape]
        pairs = zip(items, scaled, strict=True)
        return [Spending(i.model, Fraction(x * x / 2 if i.model.noise.name == "gaussian" else x)) for i, x in pairs]

    low, high = -0.1, 0.1
    for _ in range(26):
        middle = (low + high) / 2
        low, high = (middle, high) if budget.total(at(middle)) <= budget.epsilon else (low, middle)
    return [amount * math.exp(low) for amount in shape]


@pytest.mark.parametrize("objective", ["squares", "worst"])
@pytest.mark.parametrize("name", ["count and mean", "two counts", "three kinds"])
def test_nothing_better(name: str, objective: Objective) -> None:
    items, (eps, delta) = PLANS[name], PAIRS[(list(PLANS).index(name) + len(objective)) % 3]
    found = allocate(items, PairBudget(eps, delta), objective)
    assert found.total <= eps
    truth, _ = best(items, Limit(float(eps), float(delta)), objective)
    assert of(found, objective) == pytest.approx(truth, rel=CLOSE)


@pytest.mark.slow_cases("mixed three")
@pytest.mark.parametrize("objective", ["squares", "worst"])
@pytest.mark.parametrize("name", ["Gaussian", "mixed", "mixed three"])
def test_nothing_better_with_gaussian_noise(name: str, objective: Objective) -> None:
    """Continuous noise is a little cheaper: its best split, and splits near the one found, as far as they fit."""
    items, (eps, delta) = PLANS[name], PAIRS[(list(PLANS).index(name) + len(objective)) % 3]
    budget = PairBudget(eps, delta)
    found = allocate(items, budget, objective)
    assert found.total <= eps
    truth, ideal = best(items, Limit(float(eps), float(delta)), objective)
    assert truth * (1 - 1e-5) <= of(found, objective) <= truth * 1.01
    shapes = [ideal.tolist()]
    for place, step in product(range(len(items)), (-0.05, -0.003, 0.003, 0.05)):
        moved = amounts_of(found)
        moved[place] *= math.exp(step)
        shapes.append(moved)
    others = [value(items, within(items, budget, shape), objective) for shape in shapes]
    assert of(found, objective) <= min(others) * (1 + CLOSE)


@pytest.mark.parametrize("objective", ["squares", "worst"])
@pytest.mark.parametrize("name", ["count and mean", "three kinds"])
def test_nothing_better_for_sums(name: str, objective: Objective) -> None:
    items = PLANS[name]
    found = allocate(items, PairBudget(Fraction(1), 0), objective)
    assert sum(each.budget for each in found.spendings) <= 1
    assert of(found, objective) == pytest.approx(best(items, Limit(1.0), objective)[0], rel=CLOSE)


@pytest.mark.parametrize("objective", ["squares", "worst"])
@pytest.mark.parametrize("name", ["three kinds", "mixed three"])
def test_nothing_better_for_rho(name: str, objective: Objective) -> None:
    items = PLANS[name]
    found = allocate(items, RhoBudget(Fraction(1, 20)), objective)
    assert found.total <= Fraction(1, 20)
    assert of(found, objective) == pytest.approx(best(items, Limit(rho=0.05), objective)[0], rel=CLOSE)


@pytest.mark.parametrize("budget", [PairBudget(2, Fraction(1, 10**6)), PairBudget(2, 0), RhoBudget(Fraction(1, 8))])
def test_scale(budget: Any) -> None:
    """Amounts in proportion to weights, and no room left."""
    items = PLANS["three kinds"]
    found = allocate(items, budget, "scale")
    scales = [amount / each.weight for amount, each in zip(amounts_of(found), items, strict=True)]
    assert scales == pytest.approx([scales[0]] * len(items), rel=2e-8)
    limit = Limit(rho=0.125) if isinstance(budget, RhoBudget) else Limit(float(budget.epsilon), float(budget.delta))
    assert amounts_of(found) == pytest.approx(limit.scaled(items, np.array([amounts_of(found)]))[0], rel=CLOSE)


def test_wanted_is_the_total_of_what_is_held() -> None:
    held = [item(Count(), "laplace", held=Fraction(1, 5)), item(Mean("age"), "laplace", held=Fraction(2, 5))]
    found = allocate(held, PairBudget(10**6, Fraction(1, 10**6)), "wanted")
    assert [each.budget for each in found.spendings] == [Fraction(1, 5), Fraction(2, 5)]
    row = np.array([[0.2, 0.4]])
    assert leak(held, row, found.total)[0] == pytest.approx(1e-6, rel=1e-3)


KINDS: list[Callable[[str], tuple[Statistic, str]]] = [
    lambda _: (Count(), "laplace"),
    lambda _: (Sum("age"), "laplace"),
    lambda _: (Mean("pay"), "laplace"),
    lambda _: (Variance("age"), "laplace"),
    lambda _: (Histogram("region"), "laplace"),
    lambda _: (Contingency(("region", "age"), {"age": (0, 50, 99)}), "laplace"),
    lambda _: (Quantiles("pay", ("1/4", "1/2")), "exponential"),
]
"""What sums can be compared with."""


@st.composite
def splits(draw: st.DrawFn) -> tuple[list[Item], PairBudget, Objective, tuple[PureDP, ...]]:
    """Laplace noise and choices, a few held by ε or by error, perhaps with a reserve."""
    eps = Fraction(draw(st.sampled_from(["0.05", "1", "3"])))
    delta = Fraction(draw(st.sampled_from(["1e-9", "1e-5"])))
    count = draw(st.sampled_from([1, 2, 3, 8, 30]))
    items: list[Item] = []
    for i in range(count):
        statistic, mechanism = draw(st.sampled_from(KINDS))("")
        found = item(statistic, mechanism, 10.0 ** draw(st.integers(-2, 2)), f"s{i}")
        hold = draw(st.sampled_from(["no", "no", "no", "epsilon", "error"]))
        if i and hold == "epsilon":
            found = item(statistic, mechanism, found.weight, found.name, eps / (2 * count))
        elif i and hold == "error":
            error = found.model.error(short_down(float(eps) / (2 * count)))
            found = item(statistic, mechanism, found.weight, found.name, found.model.budget_for(error))
        items.append(found)
    reserve = draw(st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 10)]))
    objective: Objective = draw(st.sampled_from(["squares", "worst"]))
    return items, PairBudget(eps, delta), objective, (PureDP(eps * reserve),) if reserve else ()


@given(splits())
@settings(max_examples=12)
def test_fits_and_is_never_worse_than_sums(
    split: tuple[list[Item], PairBudget, Objective, tuple[PureDP, ...]],
) -> None:
    items, budget, objective, extra = split
    found = allocate(items, budget, objective, extra)
    assert Fraction(found.total) <= budget.epsilon
    assert found.total == budget.total(found.spendings, extra)
    held = [(spent.budget, each.held) for each, spent in zip(items, found.spendings, strict=True)]
    assert all(spent == kept for spent, kept in held if kept is not None)
    free = [each for each in items if each.held is None]
    left = Fraction(budget.epsilon) - sum((each.held for each in items if each.held is not None), Fraction(0))
    left -= sum((Fraction(each.epsilon) for each in extra), Fraction(0))
    even = [Spending(each.model, each.held or left / len(free)) for each in items]
    sums = allocate(items, PairBudget(budget.epsilon, budget.delta, "basic"), objective, extra)
    for naive in (Allocation(tuple(items), tuple(even), 0.0), sums):
        assert stepped(found, objective) <= stepped(naive, objective) * (1 + CLOSE)
    assert of(found, objective) <= of(sums, objective) * (1 + CLOSE) or stepped(found, objective) < stepped(
        sums, objective
    )


def test_alike_statistics_get_the_same() -> None:
    items = [item(Count(f"age > {i}"), "laplace", name=f"c{i}") for i in range(5)]
    items += [item(Mean("age"), "gaussian", 2.0, f"m{i}") for i in range(3)]
    found = allocate(items, PairBudget(1, Fraction(1, 10**6)), "squares")
    assert len({each.budget for each in found.spendings[:5]}) == 1
    assert len({each.budget for each in found.spendings[5:]}) == 1


@pytest.mark.parametrize("objective", ["squares", "worst", "scale"])
def test_more_budget_is_never_worse(objective: Objective) -> None:
    items = PLANS["mixed three"]
    pairs = [(e, d) for e in ("0.3", "0.31", "1", "3") for d in ("1e-9", "1e-8", "1e-4")]
    budgets = {pair: PairBudget(Fraction(pair[0]), Fraction(pair[1])) for pair in pairs}
    values = {pair: of(allocate(items, budget, objective), objective) for pair, budget in budgets.items()}
    for (e, d), found in values.items():
        better = [other for (f, g), other in values.items() if Fraction(f) >= Fraction(e) and float(g) >= float(d)]
        assert max(better) <= found * (1 + CLOSE)


@pytest.mark.parametrize("objective", ["squares", "worst", "scale"])
def test_order_does_not_matter(objective: Objective) -> None:
    items, budget = MANY, PairBudget(1, Fraction(1, 10**6))
    forth = allocate(items, budget, objective).amounts
    back = allocate(items[::-1], budget, objective).amounts
    assert [back[each.name] for each in items] == pytest.approx([forth[each.name] for each in items], rel=2e-8)
    again = allocate(items, budget, objective, start=back)
    assert of(again, objective) == pytest.approx(of(allocate(items, budget, objective), objective), rel=CLOSE)


MANY = [
    item(*KINDS[i % 7](""), 1.0 + i % 5, f"s{i}") if i % 3 else item(Sum("age"), "gaussian", 1.0 + i, f"s{i}")
    for i in range(20)
]


@pytest.mark.parametrize("weights", [(1e-6, 1e6), (1e6, 1e-6, 1.0), (1.0,)])
@pytest.mark.parametrize("objective", ["squares", "worst"])
def test_extreme_weights(weights: Sequence[float], objective: Objective) -> None:
    items = [item(Count(), "laplace", weight, f"s{i}") for i, weight in enumerate(weights)]
    found = allocate(items, PairBudget(Fraction(1, 10), Fraction(1, 10**6)), objective)
    assert Fraction(found.total) <= Fraction(1, 10)
    assert leak(items, np.array([amounts_of(found)]), 0.1)[0] <= 1e-6 * (1 + 1e-9)
    scaled = Limit(0.1, 1e-6).scaled(items, np.array([amounts_of(found)]))[0]
    assert amounts_of(found) == pytest.approx(scaled, rel=CLOSE)
    amounts = amounts_of(found)
    for heavy, light in pairwise(weights):
        pair = [amounts[weights.index(heavy)], amounts[weights.index(light)]]
        assert pair[0] != pair[1]
        assert (pair[0] < pair[1]) == (heavy < light)


@pytest.mark.parametrize(
    ("mechanism", "eps", "delta"),
    [
        ("laplace", "1e-6", "1e-6"),
        ("laplace", "1e-6", "1e-300"),
        ("laplace", "1", "1e-400"),
        ("laplace", "1e4", "1e-6"),
        ("laplace", "1", "0.1"),
        ("gaussian", "1e-6", "1e-4"),
        ("gaussian", "1", "1e-300"),
        ("gaussian", "1", "1e-400"),
        ("gaussian", "30", "1e-6"),
        ("gaussian", "1", "0.1"),
    ],
)
def test_extreme_budgets(mechanism: str, eps: str, delta: str) -> None:
    """Nothing is left over that could have been spent."""
    items = [item(Count(), mechanism), item(Mean("age"), mechanism, 3.0)]
    budget = PairBudget(Fraction(eps), Fraction(delta))
    for objective in ("squares", "scale"):
        found = allocate(items, budget, objective)
        assert Fraction(found.total) <= budget.epsilon
        assert found.total >= budget.epsilon * (1 - Fraction(1, 10**5))
        more = [Spending(each.model, each.budget * Fraction(1001, 1000)) for each in found.spendings]
        assert budget.total(more) > budget.epsilon


def test_refusals() -> None:
    free, delta = item(Count(), "laplace"), Fraction(1, 10**6)
    held = item(Mean("age"), "laplace", held=Fraction(2))
    with pytest.raises(InvalidInput, match=r"are held at .* in all, of a budget of 1"):
        allocate([free, held], PairBudget(1, delta))
    with pytest.raises(InvalidInput, match="held at"):
        allocate([held], PairBudget(1, 0))
    with pytest.raises(InvalidInput, match="leave no split"):
        allocate([free], PairBudget(Fraction(1, 10), delta), extra=(PureDP(Fraction(1, 10)),))
    with pytest.raises(InvalidInput, match="statistics"):
        allocate([], PairBudget(1, delta))
    for objective in ("squares", "worst", "scale"):
        with pytest.raises(InvalidInput, match="delta: must be positive for Gaussian noise"):
            allocate([free, item(Count(), "gaussian")], PairBudget(1, 0), objective)
    with pytest.raises(InvalidInput, match=r"statistics\.light: is a budget for which no noise can be drawn"):
        allocate([item(Count(), "gaussian", 1e-6, "light"), item(Sum("age"), "gaussian", 1e6)], PairBudget(1, delta))
    exactly = item(Count(), "laplace", held=Fraction(1))
    assert allocate([exactly], PairBudget(1, 0)).total == 1


def test_short_down_is_below_and_near() -> None:
    for x in (1e-9, 0.1, 1 / 3, 1.0, 9.999999999999, 123456.789, 1e14 + 1, math.pi * 1e-5):
        found = short_down(x)
        assert 0 <= Fraction(x) - found <= Fraction(x) / 10**8
