"""A plan that begins where another one ended: the same result, in fewer steps, whatever the hint says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from optcomp.planner import WarmStart, make_plan, read, read_warm_start
from optcomp.planner.allocation import _Search


def plan(count: int = 12, **more: Any) -> dict[str, Any]:
    """Counts and means of several weights."""
    kinds: tuple[dict[str, Any], ...] = ({"count": "rows"}, {"mean": "age"}, {"sum": "age"})
    statistics = {f"s{i}": {**kinds[i % 3], "where": f"age >= {i}", "weight": 1 + i % 4} for i in range(count)}
    document = {"plan": 1, "data": {"rows": 20_000}, "columns": {"age": {"integers": [0, 99]}}}
    return {**document, "budget": {"epsilon": "1", "delta": "1e-6"}, "statistics": statistics} | more


def test_a_warm_start_is_plain_json_and_comes_back() -> None:
    start = make_plan(read(plan())).warm_start()
    again = read_warm_start(json.loads(json.dumps(start.document())))
    assert again == start
    assert set(again.amounts) == set(plan()["statistics"])
    assert again.values


def test_from_a_warm_start_the_plan_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    squares = _Search._newton

    def counted(self: _Search, *given: Any) -> Any:
        steps.append(1)
        return squares(self, *given)

    monkeypatch.setattr(_Search, "_newton", counted)
    start = make_plan(read(plan())).warm_start()
    edited = plan(budget={"epsilon": "1.01", "delta": "1e-6"})
    steps.clear()
    cold = make_plan(read(edited))
    of_cold = len(steps)
    steps.clear()
    warm = make_plan(read(edited), start=start)
    assert len(steps) < of_cold
    assert warm.fits
    assert [line.error for line in warm.lines] == pytest.approx([line.error for line in cold.lines], rel=1e-3)
    assert warm.total == pytest.approx(cold.total, rel=1e-6)


@pytest.mark.parametrize(
    "hint",
    [
        None,
        [],
        "x",
        {"amounts": 3, "ways": {}},
        {"amounts": {"s0": -1, "s1": True, "s2": "1", "s3": 1e200}, "ways": [1, [], ["epsilon", "rho"], ["a", "b", 1]]},
        {"amounts": {"s0": float("nan")}, "ways": [["epsilon", ["rho"], 1], ["epsilon", "rho", float("inf")]]},
    ],
)
def test_what_is_no_hint_is_left_out(hint: object) -> None:
    assert read_warm_start(hint) == WarmStart()


def test_a_wrong_hint_does_not_change_the_plan() -> None:
    wrong = WarmStart({f"s{i}": 10.0 ** (i - 6) for i in range(12)} | {"nobody": 1.0})
    cold, warm = make_plan(read(plan())), make_plan(read(plan()), start=wrong)
    assert warm.fits
    assert [line.error for line in warm.lines] == pytest.approx([line.error for line in cold.lines], rel=1e-3)
