"""What a report says about the risk, against the loss of the very noise that the release draws."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.planner import Plan, make_plan, read
from optcomp.planner.edits import put
from optcomp.release.plan_facts import facts, words
from tests.oracles.beliefs import Losses, coins, rounded, together
from tests.plans import Plain, small

WIDER = 0.006
"""How much more may be said than is true."""


def counts(laplace: int, gaussian: int) -> Plain:
    """So many counts of all rows, with each noise: one person changes each of them by one."""
    noises = ["laplace"] * laplace + ["gaussian"] * gaussian
    return {f"c{i}": {"count": None, "mechanism": noise} for i, noise in enumerate(noises)}


def losses(plan: Plan) -> Losses:
    """Of all the noise together, from the scales that are drawn."""
    drawn = Counter((line.mechanism, line.question.scales(plan.document.table)) for line in plan.lines)
    found = []
    for (mechanism, (scale,)), copies in drawn.items():
        found.append(coins(1 / scale, copies) if mechanism == "laplace" else rounded(scale, copies))
    return together(found)


def said(plan: Plan) -> tuple[float, float]:
    """The belief and the probability in the sentence of the report."""
    sentence = dict(words(plan))["risk"]
    pattern = r" The .*release makes them (more than|at most) ([0-9.]+) % sure of the truth( is at most (.+))?\.$"
    found = re.search(pattern, sentence)
    assert found is not None, sentence
    assert (found[1] == "at most") == (found[3] is None)
    return float(found[2]) / 100, float(found[4] or 0)


def check(plan: Plan, probability: float) -> None:
    """True for whoever sees all of it, and for whoever sees any part; and hardly more than that."""
    belief, chance = said(plan)
    assert facts(plan)["risk"]["posterior"] <= belief <= facts(plan)["risk"]["posterior"] + 1e-3
    law = losses(plan)
    if not chance:
        assert belief * (1 + 1e-9) >= 1 / (1 + math.exp(-law.places.max()))
        return
    assert chance == pytest.approx(probability, rel=1e-9)
    assert law.exceeded(chance) <= law.told(chance) + 1e-12
    assert law.told(chance) <= belief * (1 + 1e-9)
    assert belief <= law.told(chance) + WIDER


BUDGETS: list[tuple[Plain, float]] = [
    ({"epsilon": 1, "delta": "1e-6"}, 1e-6),
    ({"epsilon": "0.3", "delta": "1e-4"}, 1e-4),
    ({"epsilon": 2, "delta": "1e-9"}, 1e-9),
    ({"rho": "0.02"}, 1e-6),
    ({"rho": "0.3"}, 1e-6),
]


@pytest.mark.slow
@given(st.integers(0, 25), st.integers(0, 9), st.sampled_from(BUDGETS))
@settings(max_examples=15, deadline=None)
def test_the_risk_is_that_of_the_noise(laplace: int, gaussian: int, given: tuple[Plain, float]) -> None:
    """Laplace noise, Gaussian noise, both; under (ε, δ) and under ρ."""
    budget, probability = given
    if laplace + gaussian:
        check(make_plan(read(small(budget=budget, statistics=counts(laplace, gaussian)))), probability)


@pytest.mark.parametrize(("laplace", "gaussian"), [(40, 0), (0, 3), (6, 3)])
@pytest.mark.parametrize(("budget", "probability"), BUDGETS)
def test_each_kind(laplace: int, gaussian: int, budget: Plain, probability: float) -> None:
    check(make_plan(read(small(budget=budget, statistics=counts(laplace, gaussian)))), probability)


def test_epsilon_is_not_what_the_loss_stays_below() -> None:
    """At (1, 1e-6) with Gaussian noise a belief of 73.2 % is exceeded twenty times as often as δ."""
    plan = make_plan(read(small(budget={"epsilon": 1, "delta": "1e-6"}, statistics=counts(0, 3))))
    law = losses(plan)
    beyond = float(law.chances[law.places > 1].sum())
    assert beyond > 2e-5
    assert said(plan) == (0.769, 1e-6)


def test_without_delta_nothing_exceeds_epsilon() -> None:
    plan = make_plan(read(small(statistics=counts(3, 0))))
    assert said(plan) == (0.732, 0)


def test_it_is_about_what_is_spent() -> None:
    """Not about the budget: a plan may spend less, or want more."""
    for wanted in (3, 400):
        statistics = {name: entry | {"error": wanted} for name, entry in counts(0, 2).items()}
        document = small(objective="wanted", budget={"epsilon": 1, "delta": "1e-6"}, statistics=statistics)
        plan = make_plan(read(document))
        assert plan.fits == (wanted > 3)
        check(plan, 1e-6)
    few = make_plan(read(small(statistics={"n": {"count": None, "epsilon": "0.1"}})))
    assert said(few) == (0.525, 0)


def test_what_is_kept_for_later_counts() -> None:
    document = small(budget={"epsilon": 1, "delta": "1e-6"}, statistics=counts(0, 3), reserve="0.2")
    plan = make_plan(read(document))
    law = together([losses(plan), coins(0.2, 1)])
    belief, chance = said(plan)
    assert law.told(chance) <= belief <= law.told(chance) + WIDER


def test_samples_are_about_the_population() -> None:
    data = {"rows": 1000, "rows_public": True, "population": 100_000, "neighbours": "replace"}
    statistics = {f"c{i}": {"count": None, "where": "age < 50", "mechanism": "gaussian"} for i in range(9)}
    plan = make_plan(read(small(data=data, budget={"epsilon": 1, "delta": "1e-6"}, statistics=statistics)))
    belief, chance = said(plan)
    assert chance == 1e-6
    assert "two versions of a person's rows" in dict(words(plan))["risk"]
    law = losses(plan)  # of the sample, where a person is with probability γ
    share = Fraction(1000, 100_000)
    mixed = Losses(*_amplified(law, float(share)))
    assert mixed.told(chance) <= belief * (1 + 1e-9)
    assert belief <= mixed.told(chance) + 0.02


def _amplified(law: Losses, share: float) -> tuple[Any, Any]:
    """A person drawn with probability γ, against one who was not: P' = γP + (1-γ)Q against Q."""
    other = law.chances * np.exp(-law.places)
    chances = share * law.chances + (1 - share) * other
    return np.log(chances / other), chances


def test_a_risk_without_bound_is_said_in_words() -> None:
    plan = make_plan(read(put(small(), "budget.epsilon", 30)))
    assert dict(words(plan))["risk"].endswith("The release may make them practically certain of the truth.")
