"""Plans of documents: what is compared with what, edits, wanted errors, secret samples and the choice of noise."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.guarantees import ZCDP, ApproxDP
from optcomp.planner import Plan, make_plan, read
from optcomp.planner.budgets import PairBudget, RhoBudget
from tests.plans import Plain, small

COUNTS: Plain = {f"c{i}": {"count": None, "where": f"age > {i}"} for i in range(20)}
MIXED: Plain = {
    "people": {"count": None},
    "mean": {"mean": "age", "weight": 2},
    "ages": {"histogram": "age", "bins": 20},
    "middle": {"median": "age"},
    "spread": {"variance": "age"},
}


def made(statistics: Plain, budget: Plain | None = None, **more: Any) -> Plan:
    rest = {"budget": budget or {"epsilon": 1, "delta": "1e-6"}, "statistics": statistics}
    return make_plan(read(small(**rest, **more)))


def value(plan: Plan) -> float:
    """Σ w (e/s)², or the largest w e/s, of errors without steps."""
    terms = []
    for line in plan.lines:
        error = line.spending.model.smooth(float(line.spending.budget))
        size = line.error / line.relative if line.relative else 1.0
        terms.append((float(line.wish.weight), error / size))
    if plan.document.objective == "worst":
        return max(w * e for w, e in terms)
    return sum(w * e * e for w, e in terms)


def with_noise(statistics: Plain, mechanism: str) -> Plain:
    found = copy.deepcopy(statistics)
    for entry in found.values():
        if "median" not in entry:
            entry["mechanism"] = mechanism
    return found


def test_naive_errors_are_those_of_sums() -> None:
    """Alike statistics get ε/k each by sums, with Laplace noise whatever the plan chose."""
    plan = made(COUNTS)
    model = made({"c": {"count": None, "mechanism": "laplace"}}).lines[0].spending.model
    assert plan.naive == dict.fromkeys(COUNTS, model.error(Fraction(1, 20)))
    ratio = plan.naive["c0"] / plan.lines[0].error
    assert plan.gain == pytest.approx(ratio, rel=1e-12)
    assert ratio > 1.5
    assert plan.verdict().startswith(f"Errors are {ratio:.2f} times smaller than with Laplace noise and sums of ε")


def within(sigma: float, confidence: float = 0.95) -> int:
    """The least whole number that discrete Gaussian noise of σ stays within, by adding up its probabilities."""
    weights = [math.exp(-x * x / (2 * sigma * sigma)) for x in range(math.ceil(12 * sigma))]
    whole, inside = 2 * math.fsum(weights) - 1, weights[0]
    for x, weight in enumerate(weights[1:], 1):
        if inside >= confidence * whole:
            return x - 1
        inside += 2 * weight
    raise AssertionError(sigma)


def most_rho(eps: float, delta: float) -> float:
    """The largest ρ with ρα + log(1 - 1/α) - (log δ + log α)/(α - 1) <= ε at some α, by trying many."""
    orders = (1 + 1.001**n / 1000 for n in range(20_000))
    return max((eps - math.log1p(-1 / a) + (math.log(delta) + math.log(a)) / (a - 1)) / a for a in orders)


@pytest.mark.parametrize("count", [10, 20, 40])
@pytest.mark.parametrize("eps", ["0.1", "1"])
def test_gain_over_sums_of_rho(count: int, eps: str) -> None:
    """The same noise, ρ shared evenly or by weight: what composition alone gains is little, and that is said."""
    wishes = {f"c{i}": {"count": None, "mechanism": "gaussian", "weight": 1 + i % 3} for i in range(count)}
    plan = made(wishes, {"epsilon": eps, "delta": "1e-6"})
    roots = [math.sqrt(1 + i % 3) for i in range(count)]  # Σ w_i/ρ_i is least
    rhos = [most_rho(float(eps), 1e-6) * root / sum(roots) for root in roots]
    errors = [within(1 / math.sqrt(2 * rho)) for rho in rhos]
    assert list(plan.by_rho.values()) == pytest.approx(errors, abs=1)
    gains = [other / line.error for other, line in zip(errors, plan.lines, strict=True)]
    gain = math.exp(sum(map(math.log, gains)) / count)
    assert plan.gain_over_rho == pytest.approx(gain, rel=0.02)
    assert plan.gain_over_rho is not None
    assert 1.03 < plan.gain_over_rho < 1.11
    assert plan.gain is not None
    assert f"and {plan.gain_over_rho:.2f} times smaller than with the same noise and sums of ρ" in plan.verdict()
    assert plan.verdict().endswith("the second factor is what optimal composition adds.")


def test_verdicts_where_there_is_no_split_by_sums_of_epsilon() -> None:
    """A statistic that is held at a ρ has no ε; sums of ρ there are."""
    counts = {f"c{i}": {"count": None, "mechanism": "gaussian"} for i in range(5)}
    plan = made(counts | {"people": {"count": None, "rho": "0.002"}})
    assert (plan.gain, plan.naive) == (None, {})
    assert plan.gain_over_rho is not None
    assert (
        plan.verdict() == f"Errors are {plan.gain_over_rho:.2f} times smaller than with the same noise and sums of ρ."
    )
    few = made({"a": {"count": None, "rho": "0.002"}, "b": {"count": None}}, {"epsilon": "0.5", "delta": "1e-6"})
    assert few.verdict().startswith("Errors are ")


def test_other_splits_keep_what_is_held() -> None:
    """A statistic that stays as it is has the same error in all of them."""
    held = made(MIXED | {"mean": MIXED["mean"] | {"hold": True}})
    line = next(line for line in held.lines if line.wish.name == "mean")
    for others in (held.naive, held.by_rho):
        assert others["mean"] <= line.error * (1 + 1e-6)
        assert others["mean"] >= line.error * 0.95
    free = made(MIXED)
    assert free.naive["mean"] > 1.1 * line.error
    assert held.naive["people"] > free.naive["people"]


@pytest.mark.parametrize("statistics", [{"a": {"count": None}}, {"a": {"count": None}, "b": {"mean": "age"}}])
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_few_statistics_gain_nothing(statistics: Plain, delta: str) -> None:
    plan = made(statistics, {"epsilon": "0.5", "delta": delta})
    assert plan.gain is not None
    assert 1 - 1e-9 <= plan.gain < 1.005
    assert plan.verdict().startswith("Optimal composition gains nothing on this plan")


def test_without_sums_there_is_nothing_to_compare() -> None:
    plan = made(COUNTS, {"rho": "0.01"})
    assert plan.naive == {}
    assert plan.gain is None
    assert plan.gain_over_rho is None
    assert plan.verdict() == "There is no split by sums to compare this plan with."


@pytest.mark.parametrize("objective", ["squares", "worst", "scale"])
@pytest.mark.parametrize("budget", [{"epsilon": 1, "delta": "1e-6"}, {"rho": "0.02"}, {"epsilon": "0.3"}])
def test_totals_are_within_the_budget(objective: str, budget: Plain) -> None:
    plan = made(MIXED, budget, objective=objective)
    spent = [line.spending for line in plan.lines]
    if isinstance(plan.inside, ZCDP):
        assert Fraction(plan.total) <= Fraction(plan.inside.rho)
        assert plan.total == RhoBudget(plan.inside.rho).total(spent)
        assert plan.bound is None
        return
    assert Fraction(plan.total) <= plan.inside.epsilon
    assert plan.total == PairBudget(plan.inside.epsilon, plan.inside.delta).total(spent)
    assert plan.bound is not None
    assert plan.bound.lower <= plan.bound.upper <= plan.total
    assert plan.total >= plan.inside.epsilon * (1 - Fraction(1, 10**6))


EDITS: Plain = {
    "mean": {"mean": "age", "error": "1.5"},
    "people": {"count": None, "weight": 9},
    "ages": {"histogram": "age", "bins": 20, "weight": "0.01"},
}


@pytest.mark.parametrize("objective", ["squares", "worst"])
@pytest.mark.parametrize("mechanism", ["auto", "laplace", "gaussian"])
def test_an_edit_is_as_good_as_a_fresh_plan(mechanism: str, objective: str) -> None:
    before = made(with_noise(MIXED, mechanism), objective=objective)
    for name, entry in EDITS.items():
        statistics = with_noise(MIXED | {name: entry}, mechanism)
        budget = {"epsilon": 1, "delta": "1e-6"}
        document = read(small(budget=budget, statistics=statistics, objective=objective))
        edited, fresh = make_plan(document, before), make_plan(document)
        assert value(edited) == pytest.approx(value(fresh), rel=1e-6)
        assert edited.total == pytest.approx(fresh.total, rel=1e-6)
        assert Fraction(edited.total) <= 1
        assert edited.naive == fresh.naive


def test_holds() -> None:
    statistics = MIXED | {"people": {"count": None, "epsilon": "0.05"}, "mean": {"mean": "age", "error": 2}}
    plan = made(statistics)
    lines = {line.wish.name: line for line in plan.lines}
    assert lines["people"].spending.budget == Fraction(5, 100)
    assert lines["people"].mechanism == "laplace"
    mean = lines["mean"].spending
    assert mean.error <= 2 < mean.model.error(mean.budget * Fraction(999, 1000))
    assert [line.wish.name for line in plan.lines if line.held] == ["people", "mean"]
    kept = made(MIXED | {"people": {"count": None, "hold": True, "mechanism": "laplace"}})
    free = made(MIXED | {"people": {"count": None, "mechanism": "laplace"}})
    assert value(kept) == pytest.approx(value(free), rel=1e-6)
    with pytest.raises(InvalidInput, match="held at"):
        made(MIXED | {"people": {"count": None, "epsilon": 2}})


def test_reserve() -> None:
    """What is kept for later is kept: a further question of its size fits, and the rest is spent."""
    plan = made(COUNTS, reserve="1/4")
    assert plan.reserve is not None
    assert plan.reserve.epsilon == Fraction(1, 4)
    spent = [line.spending for line in plan.lines]
    budget = PairBudget(1, Fraction(1, 10**6))
    assert budget.total(spent, [plan.reserve]) == plan.total <= 1
    assert budget.total(spent) < 0.9
    assert made(COUNTS, {"rho": "0.01"}, reserve="1/4").total <= 0.0075


WANTED: Plain = {
    "people": {"count": None, "error": 8, "mechanism": "laplace"},
    "mean": {"mean": "age", "error": 2, "mechanism": "laplace"},
    "ages": {"histogram": "age", "bins": 5, "error": 20, "mechanism": "gaussian"},
}


def test_wanted_errors_cost_what_they_must() -> None:
    """Every budget is the least for its error, and the total is the certified one of exactly these."""
    plan = made(WANTED, {"epsilon": 1, "delta": "1e-6"}, objective="wanted")
    for line in plan.lines:
        wanted = line.wish.error
        assert wanted is not None
        assert line.error <= wanted < line.spending.model.error(line.spending.budget * (1 - Fraction(1, 10**7)))
    spent = [line.spending for line in plan.lines]
    assert plan.total == PairBudget(1, Fraction(1, 10**6)).total(spent)
    assert plan.naive == {}


def test_wanted_may_cost_more_than_the_budget_and_says_so() -> None:
    """The budget is what is asked for: its δ is given, its ε is the answer."""
    statistics = {"people": {"count": None, "error": 1, "mechanism": "laplace"}}
    assert made(statistics, {"epsilon": "0.01", "delta": "1e-6"}, objective="wanted").total > 1
    with pytest.raises(InvalidInput, match="needs an error for each of people"):
        made({"people": {"count": None}}, objective="wanted")


def test_secret_samples() -> None:
    """BBG18: inside, ε = log(1 + (e^ε' - 1)N/n) and δ = δ'N/n."""
    data = {"rows": 1000, "rows_public": True, "population": 20000, "neighbours": "replace"}
    plan = made(COUNTS, {"epsilon": 1, "delta": "1e-6"}, data=data)
    assert isinstance(plan.inside, ApproxDP)
    assert float(plan.inside.epsilon) == pytest.approx(math.log1p(20 * math.expm1(1)), rel=1e-15)
    assert plan.inside.delta == Fraction(20, 10**6)
    back = math.log1p(math.expm1(plan.total) / 20)
    assert 1 - 1e-6 < back <= 1
    assert plan.naive["c0"] < made(COUNTS, data=data | {"population": 1000}).naive["c0"]
    with pytest.raises(HypothesisNotMet, match="BBG18"):
        made(COUNTS, {"rho": "0.1"}, data=data)


@pytest.mark.parametrize("objective", ["squares", "worst"])
@pytest.mark.parametrize("statistics", [COUNTS, MIXED, dict(list(MIXED.items())[:2]), {"ages": MIXED["ages"]}])
@pytest.mark.parametrize("budget", [{"epsilon": 1, "delta": "1e-6"}, {"rho": "0.02"}])
def test_the_choice_of_noise(statistics: Plain, objective: str, budget: Plain) -> None:
    """No worse than either noise for all."""
    auto = value(made(statistics, budget, objective=objective))
    for mechanism in ("laplace", "gaussian"):
        assert auto <= value(made(with_noise(statistics, mechanism), budget, objective=objective)) * (1 + 2e-6)


@given(st.lists(st.sampled_from(list(MIXED)), min_size=1, max_size=5, unique=True), st.sampled_from(["0.2", "2"]))
@settings(max_examples=6)
def test_never_worse_than_sums(names: list[str], eps: str) -> None:
    """In the errors of the noise that is drawn."""
    plan = made({name: MIXED[name] for name in names}, {"epsilon": eps, "delta": "1e-5"})
    pairs = [(float(line.wish.weight), line.relative, line.error) for line in plan.lines]
    ours = sum(w * relative**2 for w, relative, _ in pairs)
    naive = [plan.naive[line.wish.name] for line in plan.lines]
    sizes = [error / relative if relative else math.inf for _, relative, error in pairs]
    theirs = sum(w * (error / size) ** 2 for (w, _, _), error, size in zip(pairs, naive, sizes, strict=True))
    assert ours <= theirs * (1 + 1e-6)


def test_what_stays_as_it_is_keeps_its_noise_and_its_budget() -> None:
    free = made(MIXED)
    kept = made({name: entry | {"hold": True} for name, entry in MIXED.items()})
    assert [(line.mechanism, line.spending.budget) for line in kept.lines] == [
        (line.mechanism, line.spending.budget) for line in free.lines
    ]
    assert all(line.held for line in kept.lines)
    some = made(MIXED | {"people": MIXED["people"] | {"hold": True}}, {"epsilon": 1, "delta": "1e-6"})
    assert some.lines[0].spending.budget == free.lines[0].spending.budget


def test_noise_that_was_asked_for_may_be_worse_than_sums() -> None:
    plan = made({"n": {"count": None, "mechanism": "gaussian"}})
    assert plan.gain is not None
    assert plan.gain < 0.9
    better = f"With Laplace noise and sums of ε errors would be {1 / plan.gain:.2f} times smaller"
    assert plan.verdict() == f"{better}; `mechanism: auto` would choose that."


def test_without_delta_sums_are_optimal() -> None:
    statistics = {f"c{i}": {"count": None} for i in range(9)}
    assert made(statistics, {"epsilon": 1}).verdict().endswith("at δ = 0 sums of ε are as good.")


def test_gaussian_noise_is_held_by_its_rho() -> None:
    held = {"people": {"count": None, "rho": "0.002"}}
    for budget in ({"epsilon": 1, "delta": "1e-6"}, {"rho": "0.02"}):
        plan = made(MIXED | held, budget)
        line = next(line for line in plan.lines if line.wish.name == "people")
        assert (line.mechanism, line.spending.budget, line.held) == ("gaussian", Fraction(2, 1000), True)
        assert plan.naive == {}
        assert plan.fits


def test_a_plan_stays_as_it_was_read() -> None:
    """What a release records of its plan is what was read, and not what somebody made of it afterwards."""
    source = small(budget={"epsilon": 1})
    document = read(source)
    source["budget"]["epsilon"] = 9
    source["columns"].clear()
    document.source["statistics"].clear()
    assert document.source == small(budget={"epsilon": 1})
    assert document.table.columns
    assert make_plan(document).inside == ApproxDP(1, 0)
