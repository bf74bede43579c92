"""A plan from the noise and the budgets that a search found before: the same plan, without a search."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest

from optcomp.planner import Plan, make_plan, plan_again, read
from optcomp.planner.allocation import _Search

KINDS: tuple[dict[str, Any], ...] = ({"count": "rows"}, {"mean": "age"}, {"histogram": "region"}, {"median": "age"})
PAIR: dict[str, Any] = {"budget": {"epsilon": "1", "delta": "1e-6"}}
PLANS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pair": (PAIR, {}),
    "pure": ({"budget": {"epsilon": "1"}}, {}),
    "rho": ({"budget": {"rho": "0.1"}}, {}),
    "an error": (PAIR, {"s1": {"error": "2"}}),
    "a hold": (PAIR, {"s0": {"hold": True}}),
    "a reserve": (PAIR | {"reserve": "0.2"}, {"s2": {"mechanism": "laplace"}}),
    "worst": (PAIR | {"objective": "worst"}, {}),
    "wanted": (PAIR | {"objective": "wanted"}, {f"s{i}": {"error": "20"} for i in range(8)}),
}
"""Entries of a plan, and of its statistics."""


def document(more: dict[str, Any], entries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Eight statistics."""
    wishes = {f"s{i}": KINDS[i % 4] | {"where": f"age >= {i}"} | entries.get(f"s{i}", {}) for i in range(8)}
    columns = {"age": {"integers": [0, 99]}, "region": {"categories": ["north", "south"]}}
    return {"plan": 1, "data": {"rows": 20_000}, "columns": columns, "statistics": wishes} | more


def budgets_of(plan: Plan) -> list[tuple[str, Fraction]]:
    """As they are written down."""
    lines = json.loads(json.dumps(plan.as_dict()))["statistics"]
    return [(each["mechanism"], Fraction(each.get("rho", each.get("epsilon")))) for each in lines]


def nearly(one: float | None, other: float | None) -> bool:
    """The same but for the last digits, or both not there."""
    return one == other if one is None or other is None else math.isclose(one, other, rel_tol=1e-3)


@pytest.mark.parametrize("name", PLANS)
def test_it_is_the_same_plan(name: str) -> None:
    source = document(*PLANS[name])
    found = make_plan(read(source))
    again = plan_again(read(source), budgets_of(found), found.warm_start())
    first, second = found.as_dict(), again.as_dict()
    searched = ("naive_error", "rho_error")  # where a search began may show in the last digits
    for one, other in zip(first.pop("statistics"), second.pop("statistics"), strict=True):
        for key in searched:
            assert nearly(one.pop(key), other.pop(key))
        assert one == other
    for key in ("gain", "gain_over_rho"):
        assert nearly(first.pop(key), second.pop(key))
    assert first == second


def test_nothing_is_searched_until_it_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    source = document(*PLANS["pair"])
    found = make_plan(read(source))
    budgets = budgets_of(found)

    def refused(self: _Search, *given: Any) -> Any:
        raise AssertionError("a search")

    monkeypatch.setattr(_Search, "run", refused)
    again = plan_again(read(source), budgets)
    assert again.total == found.total
    with pytest.raises(AssertionError, match="a search"):
        again.by_rho  # noqa: B018


def test_the_total_is_that_of_these_budgets_and_no_others() -> None:
    source = document(*PLANS["pair"])
    found = make_plan(read(source))
    (mechanism, budget), *rest = budgets_of(found)
    more = plan_again(read(source), [(mechanism, 4 * budget), *rest])
    assert more.total > found.total
    assert not more.fits
    with pytest.raises(ValueError, match="shorter"):
        plan_again(read(source), budgets_of(found)[:-1])
