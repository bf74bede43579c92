"""Totals: no less than what the noise costs as it is drawn, tight where they can be, and the same however asked."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.composition import compose
from optcomp.errors import InvalidInput
from optcomp.guarantees import ZCDP, ApproxDP, DiscreteGaussian, Gaussian, PureDP
from optcomp.planner.allocation import Item
from optcomp.planner.budgets import Load, PairBudget, RhoBudget, Spending
from optcomp.planner.errors import ErrorModel
from optcomp.statistics import (
    Categories,
    Count,
    Declared,
    Histogram,
    Integers,
    Mean,
    Median,
    Quantiles,
    Question,
    Statistic,
    Sum,
    Variance,
)
from optcomp.statistics.noise import noise_named
from tests.oracles.drawn import Loss, choice_loss, delta_at, gaussian_loss, laplace_loss, together
from tests.oracles.splits import hockey, leak

Kind = Literal["add", "replace", "two rows"]
COLUMNS = {"mark": Integers(-2, 2), "region": Categories(["a", "b", "c"]), "id": Integers(0, 10**6)}
TABLES: dict[Kind, Declared] = {
    "add": Declared(COLUMNS),
    "replace": Declared(COLUMNS, neighbours="replace"),
    "two rows": Declared(COLUMNS, person="id", rows_per_person=2),
}
DATA = (-2, 0, 1, 1)
OTHER: dict[Kind, tuple[int, ...]] = {"add": (*DATA, 2), "replace": (2, 0, 1, 1), "two rows": (*DATA, 2, 2)}
"""What is different for one person: marks of 2 are added, or replace a -2 in another region."""
CHANGES: dict[Kind, dict[type[Statistic], tuple[tuple[int, ...], ...]]] = {
    "add": {Count: ((1,),), Sum: ((2,),), Mean: ((1,), (2,)), Variance: ((1,), (2,), (4,)), Histogram: ((1,),)},
    "replace": {Count: ((0,),), Sum: ((4,),), Mean: ((0,), (4,)), Variance: ((0,), (4,), (0,)), Histogram: ((1, 1),)},
    "two rows": {Count: ((2,),), Sum: ((4,),), Mean: ((2,), (4,)), Variance: ((2,), (4,), (8,)), Histogram: ((2,),)},
}
"""By how much that changes the cells of each part."""
STATISTICS: list[tuple[Statistic, str]] = [
    (Count(), "laplace"),
    (Count(), "gaussian"),
    (Sum("mark"), "laplace"),
    (Sum("mark"), "gaussian"),
    (Mean("mark"), "gaussian"),
    (Variance("mark"), "laplace"),
    (Histogram("region"), "laplace"),
    (Histogram("region"), "gaussian"),
    (Median("mark"), "exponential"),
    (Quantiles("mark", ("1/4", "2/3")), "exponential"),
]


def spending(statistic: Statistic, mechanism: str, budget: Fraction, kind: Kind = "add") -> Spending:
    return Spending(ErrorModel(statistic, TABLES[kind], noise_named(mechanism), 1000, 0.95), budget)


def losses(spent: Spending, kind: Kind) -> list[Loss]:
    """Of the noise as it is drawn, for the one person that is different."""
    statistic, mechanism = spent.model.statistic, spent.model.noise.name
    if mechanism == "gaussian":
        scales = Question(statistic, rho=spent.budget, mechanism=mechanism).scales(TABLES[kind])
    else:
        scales = Question(statistic, epsilon=spent.budget, mechanism=mechanism).scales(TABLES[kind])
    if isinstance(statistic, Quantiles):
        pairs = zip(statistic.probabilities, scales, strict=True)
        return [choice_loss(scale, p, DATA, OTHER[kind], range(-2, 3)) for p, scale in pairs]
    make = gaussian_loss if mechanism == "gaussian" else laplace_loss
    cells = zip(CHANGES[kind][type(statistic)], scales, strict=True)
    return [make(scale, change) for changes, scale in cells for change in changes if change]


@st.composite
def spendings(draw: st.DrawFn, most: int = 3, large: bool = True) -> tuple[list[Spending], Kind]:
    """A few statistics of several kinds, with budgets of very different sizes."""
    kind: Kind = draw(st.sampled_from(["add", "replace", "two rows"]))
    found = []
    for _ in range(draw(st.integers(1, most))):
        statistic, mechanism = draw(st.sampled_from(STATISTICS))
        eps = Fraction(draw(st.sampled_from(["0.3", "0.77", "1", "2.5", "5"] if large else ["0.1", "0.3", "0.77"])))
        found.append(spending(statistic, mechanism, eps**2 / 2 if mechanism == "gaussian" else eps, kind))
    return found, kind


@given(spendings(), st.sampled_from([Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10)]))
@settings(max_examples=15)
def test_total_holds_for_the_noise_that_is_drawn(found: tuple[list[Spending], Kind], delta: Fraction) -> None:
    spent, kind = found
    budget = PairBudget(1, delta)
    total, bound = budget.total(spent), budget.bound(spent)
    assert 0 <= bound.lower <= bound.upper <= total
    truth = together(loss for each in spent for loss in losses(each, kind))
    assert delta_at(truth, bound.upper) <= float(delta) * (1 + 1e-9)


@pytest.mark.parametrize("rho", ["8", "0.5", "0.1", "0.02"])
@pytest.mark.parametrize("statistic", [Count(), Sum("mark"), Histogram("region")])
def test_gaussian_noise_is_not_counted_twice(statistic: Statistic, rho: str) -> None:
    """One number, σ up to ten: exactly what it costs."""
    spent, delta = spending(statistic, "gaussian", Fraction(rho)), Fraction(1, 10**5)
    total = PairBudget(1, delta).total([spent])
    truth = together(losses(spent, "add"))
    assert delta_at(truth, total) <= 1e-5 * (1 + 1e-9)
    assert delta_at(truth, total * (1 - 1e-6)) > 1e-5


@pytest.mark.parametrize("kind", ["add", "replace"])
def test_large_gaussian_noise_is_about_continuous(kind: Kind) -> None:
    """σ of some thousands: what continuous noise costs, but for the τ² that rounding takes."""
    spent, delta = spending(Histogram("region"), "gaussian", Fraction(1, 10**8), kind), Fraction(1, 10**9)
    total = PairBudget(1, delta).total([spent])
    mu = np.array([math.sqrt(2e-8)])
    assert hockey(mu, np.array([total]))[0] <= 1e-9
    assert hockey(mu, np.array([total * (1 - 1e-6)]))[0] > 1e-9


@given(st.lists(st.sampled_from(["0.01", "0.3", "0.37", "1", "2.5"]), min_size=1, max_size=4))
@settings(max_examples=20)
def test_pure_noise_is_counted_optimally(epsilons: list[str]) -> None:
    """Exactly what the worst mechanisms of these ε cost, by all their outcomes."""
    delta = Fraction(1, 10**4)
    spent = [spending(Count(), "laplace", Fraction(each)) for each in epsilons]
    items = [Item(str(i), each.model) for i, each in enumerate(spent)]
    total, row = PairBudget(1, delta).total(spent), np.array([[float(each) for each in epsilons]])
    assert leak(items, row, total)[0] <= 1e-4 * (1 + 1e-9)
    assert total == 0 or leak(items, row, total * (1 - 1e-6))[0] > 1e-4 * (1 - 1e-12)


@given(spendings())
@settings(max_examples=20)
def test_guarantees_are_those_of_the_scales_that_are_drawn(found: tuple[list[Spending], Kind]) -> None:
    for spent in found[0]:
        parts = spent.model.statistic.parts(TABLES[found[1]])
        for own in (True, False):
            given_ = spent.guarantees(Fraction(1, 10**6), own=own)
            if spent.pure:
                assert given_ == [PureDP(spent.budget * part.share) for part in parts]
                continue
            question = Question(spent.model.statistic, rho=spent.budget, mechanism="gaussian")
            left = list(given_)
            for part, sigma in zip(parts, question.scales(TABLES[found[1]]), strict=True):
                value = left.pop(0)
                if isinstance(value, DiscreteGaussian):
                    assert (value.sigma, value.sensitivity) == (sigma, part.l1)
                    assert len(part.cells) == 1 or part.l1 == 1
                elif isinstance(value, Gaussian):
                    assert isinstance(left.pop(0), ApproxDP)
                    assert value.sigma < sigma
                    assert Fraction(value.sensitivity) ** 2 >= part.l2_squared
                else:
                    assert value == ZCDP(spent.budget * part.share)
            assert not left


@given(spendings(), st.lists(st.sampled_from(["0.1", "0.25"]), max_size=2))
@settings(max_examples=20)
def test_rho_is_a_sum(found: tuple[list[Spending], Kind], reserve: list[str]) -> None:
    rho, extra = Fraction(0), [PureDP(Fraction(each)) for each in reserve]
    for each in found[0]:
        shares = [part.share for part in each.model.statistic.parts(TABLES[found[1]])]
        if not each.pure:
            rho += each.budget * sum(shares)
        else:
            over = 8 if each.model.noise.name == "exponential" else 2
            rho += sum(((each.budget * share) ** 2 / over for share in shares), Fraction(0))
    rho += sum((Fraction(each) ** 2 / 2 for each in reserve), Fraction(0))
    total = RhoBudget(1).total(found[0], extra)
    assert Fraction(math.nextafter(total, 0)) < rho <= Fraction(total)


@given(spendings(large=False), st.integers(0, 2), st.sampled_from(["1.001", "1.5", "4"]))
@settings(max_examples=10)
def test_more_costs_more(found: tuple[list[Spending], Kind], place: int, times: str) -> None:
    spent, place = found[0], place % len(found[0])
    more = list(spent)
    more[place] = Spending(spent[place].model, spent[place].budget * Fraction(times))
    pair, rho = PairBudget(1, Fraction(1, 10**5)), RhoBudget(1)
    assert pair.total(spent) <= pair.total(more)
    assert rho.total(spent) < rho.total(more)
    assert pair.total(spent[:place] + spent[place + 1 :]) <= pair.total(spent)
    assert pair.total(spent) <= pair.total(spent, [PureDP(Fraction(1, 5))])


@given(spendings(large=False))
@settings(max_examples=8)
def test_grouping_changes_nothing(found: tuple[list[Spending], Kind]) -> None:
    spent, delta = found[0] * 2, Fraction(1, 10**5)
    budget = PairBudget(1, delta)
    total = budget.total(spent)
    assert budget.total(spent[::-1]) == total
    one_by_one = compose([g for each in spent for g in each.guarantees(delta)], delta=delta, rtol=1e-7)
    assert one_by_one.lower <= total
    assert total == pytest.approx(one_by_one.upper, rel=2e-7)


def test_alike_statistics_are_counted_once_each() -> None:
    """Counts under different conditions are alike, but not the same."""
    spent = [spending(Count(f"mark > {i}"), "gaussian", Fraction(1, 50)) for i in range(3)]
    delta = Fraction(1, 10**6)
    sigma = Question(Count(), rho=Fraction(1, 50), mechanism="gaussian").scales(TABLES["add"])[0]
    truth = compose(Counter({DiscreteGaussian(sigma, 1): 3}), delta=delta)
    assert PairBudget(1, delta).total(spent) == pytest.approx(truth.upper, rel=1e-7)
    assert truth.lower <= PairBudget(1, delta).total(spent)


def test_many_different_gaussian_noises() -> None:
    """Beyond forty different σ as continuous noise: no less than the truth, and hardly more."""
    spent = [spending(Count(), "gaussian", Fraction(1, 100 + i)) for i in range(50)]
    delta = Fraction(1, 10**6)
    total = PairBudget(1, delta).total(spent)
    truth = compose([DiscreteGaussian(each.scales[0], 1) for each in spent], delta=delta, rtol=1e-6)
    assert truth.lower <= total <= truth.upper * (1 + 2e-2)


@given(spendings(4))
@settings(max_examples=20)
def test_near_is_near(found: tuple[list[Spending], Kind]) -> None:
    """log(total/limit), but for the blur and, with Gaussian noise, for the lattice on which its loss lies."""
    spent, kind = found
    if any(not each.pure and min(each.scales) < 1 for each in spent):
        return
    gaussian = any(not each.pure for each in spent)
    if gaussian and kind != "add" and any(isinstance(each.model.statistic, Histogram) for each in spent):
        return  # counts by its ρ for small σ
    budget, load = PairBudget(Fraction(3, 2), Fraction(1, 10**5)), Load([(each.model, 1) for each in spent])
    amounts = np.array([each.amount for each in spent])
    near = budget.near(load, amounts, 1e-8)
    assert near.gap == pytest.approx(math.log(budget.total(spent) / 1.5), abs=0.1 if gaussian else 1e-6)
    rho = RhoBudget(Fraction(1, 2)).near(load, amounts, 0.0)
    assert rho.gap == pytest.approx(math.log(RhoBudget(1).total(spent) / 0.5), abs=1e-12)


def test_near_counts_copies_holds_and_reserve() -> None:
    held, free = (
        spending(Mean("mark"), "laplace", Fraction(1, 7)),
        spending(Variance("mark"), "laplace", Fraction(1, 9)),
    )
    noise, extra = spending(Count(), "gaussian", Fraction(1, 200)), [PureDP(Fraction(1, 8))]
    budget = PairBudget(2, Fraction(1, 10**5))
    load = Load([(free.model, 3), (noise.model, 2)], [held, noise], extra)
    near = budget.near(load, np.array([free.amount, noise.amount]), 1e-8)
    total = budget.total([free] * 3 + [noise] * 3 + [held], extra)
    assert near.gap == pytest.approx(math.log(total / 2), abs=1e-5)


def test_near_knows_what_rounding_costs_and_leaks() -> None:
    """Noise that counts as continuous: to the digits of a certified total, with slopes and curves that fit."""
    delta = Fraction(1, 10**6)
    spent = [spending(Count(), "gaussian", Fraction(1, 400)), spending(Sum("mark"), "gaussian", Fraction(1, 300))]
    budget, load = PairBudget(1, delta), Load([(spent[0].model, 9), (spent[1].model, 4)], [spent[0]])
    amounts = np.array([each.amount for each in spent])
    near = budget.near(load, amounts, 1e-8, second=True)
    total = budget.total([spent[0]] * 10 + [spent[1]] * 4)
    assert near.gap == pytest.approx(math.log(total), abs=1e-8)
    assert near.curves is not None
    for place in range(2):
        step = np.zeros(2)
        step[place] = 1e-4 * amounts[place]
        up, down = (budget.near(load, amounts + sign * step, 1e-8) for sign in (1, -1))
        assert near.slopes[place] == pytest.approx((up.gap - down.gap) / (2 * step[place]), rel=1e-6)
        assert near.curves[place] == pytest.approx((up.slopes - down.slopes) / (2 * step[place]), rel=1e-4)


def test_other_theorems_are_for_laplace_noise() -> None:
    spent = [spending(Count(), "laplace", Fraction(1, 10))] * 3
    for budget in (PairBudget(1, 0), PairBudget(1, Fraction(1, 10**6), "basic")):
        assert Fraction(3, 10) <= budget.total(spent) <= 0.3 * (1 + 1e-15)
    with pytest.raises(InvalidInput, match="method"):
        PairBudget(1, Fraction(1, 10**6), "basic").total([spending(Count(), "gaussian", Fraction(1, 10))])
