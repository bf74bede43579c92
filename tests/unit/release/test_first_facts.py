"""What is told first about a plan is what is told in full, and needs none of the work that comes later."""

from __future__ import annotations

from typing import Any

import pytest

from optcomp.planner import make_plan, read
from optcomp.release import facts, first_facts


@pytest.mark.parametrize("budget", [{"epsilon": "1", "delta": "1e-6"}, {"epsilon": "1"}, {"rho": "0.1"}])
def test_first_facts_are_facts(budget: dict[str, str]) -> None:
    statistics = {"all": {"count": "rows"}, "age": {"mean": "age"}, "old": {"count": "rows", "where": "age >= 60"}}
    table = {"data": {"rows": 20_000}, "columns": {"age": {"integers": [0, 99]}}}
    plan = make_plan(read({"plan": 1, **table, "budget": budget, "statistics": statistics}))
    first = first_facts(plan)
    assert not {"bound", "risk", "naive", "by_rho"} & set(vars(plan))
    whole: dict[str, Any] = facts(plan)
    for one, other in zip(first.pop("statistics"), whole.pop("statistics"), strict=True):
        assert one.items() <= other.items()
        assert {"error", "relative", "held", "note", "scales"} <= set(one)
        assert not {"naive_error", "rho_error", "otherwise"} & set(one)
    assert {name: whole[name] for name in first} == first
    assert not {"gain", "risk", "verdict", "lower", "theorem"} & set(first)
