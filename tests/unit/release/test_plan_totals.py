"""What a plan costs by three ways to add up, each compared with sums done apart."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from optcomp.planner import make_plan, read
from optcomp.release import growth, totals

DELTA = "1e-6"


def document(count: int, epsilon: str, **more: Any) -> dict[str, Any]:
    """So many counts with Laplace noise of ε each."""
    held = {"count": "rows", "epsilon": epsilon, "mechanism": "laplace"}
    statistics = {f"n{i}": {**held, "where": f"age >= {i}"} for i in range(count)}
    about = {"plan": 1, "data": {"rows": 1000}, "columns": {"age": {"integers": [0, 99]}}}
    return {**about, "budget": {"epsilon": 9, "delta": DELTA}, "statistics": statistics, **more}


@pytest.mark.parametrize(("count", "epsilon"), [(1, "1/2"), (30, "1/10"), (90, "1/20")])
def test_sums_are_sums(count: int, epsilon: str) -> None:
    plan = make_plan(read(document(count, epsilon)))
    found = totals(plan)
    assert found["total"] == plan.total
    assert found["sum"] == pytest.approx(float(count * Fraction(epsilon)))
    rho = float(count * Fraction(epsilon) ** 2 / 2)
    simple = rho + 2 * math.sqrt(rho * math.log(1 / float(DELTA)))
    assert rho < (found["rho"] or 0) <= simple
    assert found["rho"] == pytest.approx(growth(plan)[-1]["rho"])
    assert found["total"] <= min(found["sum"] or 0, found["rho"] or 0) * (1 + 1e-9)


def test_a_reserve_is_counted_in_all_of_them() -> None:
    plan = make_plan(read(document(4, "1/4", reserve="1/9")))
    kept = 1.0
    assert totals(plan)["sum"] == pytest.approx(1 + kept)
    rho = 4 / 32 + kept**2 / 2
    assert rho < (totals(plan)["rho"] or 0) <= rho + 2 * math.sqrt(rho * math.log(1 / float(DELTA)))


def test_a_budget_of_rho_has_one_total() -> None:
    given = document(2, "1/4") | {"budget": {"rho": "1"}}
    assert totals(make_plan(read(given))) == {"total": pytest.approx(1 / 16), "sum": None, "rho": None}
