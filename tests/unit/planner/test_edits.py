"""Edits: the plan stays as it was, holds keep errors, and an error names the option and what was meant."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optcomp import InvalidInput
from optcomp.planner import make_plan, read
from optcomp.planner.edits import Edits, add, copied, drop, edited, free, hold, put
from tests.plans import Plain, small, spoiled


def statistics(document: Plain) -> Plain:
    found: Plain = document["statistics"]
    return found


def errors(document: Plain) -> dict[str, float]:
    return {line.wish.name: line.error for line in make_plan(read(document)).lines}


@pytest.mark.parametrize(
    ("text", "place", "value"),
    [
        ("mean_age.error=0.5", ("statistics", "mean_age", "error"), "0.5"),
        ("mean_age.weight = 3", ("statistics", "mean_age", "weight"), 3),
        ("statistics.mean_age.where=age >= 18", ("statistics", "mean_age", "where"), "age >= 18"),
        ("regions.mechanism=laplace", ("statistics", "regions", "mechanism"), "laplace"),
        ("people.hold=true", ("statistics", "people", "hold"), True),
        ("budget.epsilon=2", ("budget", "epsilon"), 2),
        ("confidence=0.99", ("confidence",), "0.99"),
        ("reserve=1/10", ("reserve",), "1/10"),
        ("objective=worst", ("objective",), "worst"),
        ("data.rows=5000", ("data", "rows"), 5000),
        ("columns.age.integers=[0, 120]", ("columns", "age", "integers"), [0, 120]),
    ],
)
def test_set(text: str, place: tuple[str, ...], value: object) -> None:
    before = small()
    found: Any = edited(before, Edits(sets=(text,)))
    for key in place:
        found = found[key]
    assert found == value
    assert before == small()


def test_the_first_part_of_a_path_may_be_missing() -> None:
    document = {key: value for key, value in small().items() if key != "data"}
    assert edited(document, Edits(sets=("data.rows=10",)))["data"] == {"rows": 10}
    assert edited(document | {"data": None}, Edits(sets=("data.rows=10",)))["data"] == {"rows": 10}


def test_names_with_points_and_names_of_parts() -> None:
    document = small(
        statistics={"a": {"count": None}, "a.b": {"count": None}, "budget": {"count": None}, 2024: {"count": 1}}
    )
    found = edited(document, Edits(sets=("a.b.weight=2", "statistics.budget.weight=3", "a.weight=4", "2024.weight=5")))
    weights = {name: entry["weight"] for name, entry in statistics(found).items()}
    assert weights == {"a": 4, "a.b": 2, "budget": 3, "2024": 5}
    assert found["budget"] == {"epsilon": 1}


def test_one_way_to_hold_ends_the_others() -> None:
    held = put(small(), "people.epsilon", "0.1")
    assert statistics(put(held, "people.error", 5))["people"] == {"count": None, "error": 5}
    assert statistics(put(put(held, "people.error", 5), "people.epsilon", "0.2"))["people"]["epsilon"] == "0.2"
    assert statistics(free(held, "people"))["people"] == {"count": None}
    assert statistics(hold(held, "people"))["people"] == {"count": None, "hold": True}
    assert statistics(hold(held, "people", 2.5))["people"] == {"count": None, "error": "2.5"}


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ({"epsilon": 1, "delta": "1e-6"}, "budget.rho", "0.1", {"rho": "0.1"}),
        ({"rho": 1}, "budget.epsilon", 2, {"epsilon": 2}),
        ({"harm": "low"}, "budget.epsilon", 2, {"epsilon": 2, "delta": "1e-5"}),
        ({"harm": "low"}, "budget.delta", "1e-9", {"epsilon": "1", "delta": "1e-9"}),
        ({"epsilon": 1, "delta": "1e-6"}, "budget.harm", "high", {"harm": "high"}),
    ],
)
def test_budgets_of_one_kind_at_a_time(before: Plain, path: str, value: Any, after: Plain) -> None:
    assert put(small(budget=before), path, value)["budget"] == after


def test_add_and_drop() -> None:
    found = edited(small(), Edits(drops=("people",), adds=("ages: {histogram: age, bins: 5}", "n: {count: }")))
    assert list(statistics(found)) == ["mean_age", "regions", "ages", "n"]
    assert statistics(found)["ages"] == {"histogram": "age", "bins": 5}
    replaced = edited(small(), Edits(drops=("people",), adds=("people: {count: , where: age < 18}",)))
    assert statistics(replaced)["people"]["where"] == "age < 18"


def test_a_hold_keeps_the_error() -> None:
    """The others make room for a new wish; what is held does not move."""
    before = errors(small())
    changed = edited(small(), Edits(sets=("mean_age.error=3",), holds=("people",)))
    after = errors(changed)
    assert after["people"] == before["people"]
    assert after["mean_age"] <= 3
    assert after["regions"] != before["regions"]
    assert {line.wish.name for line in make_plan(read(changed)).lines if line.held} == {"people", "mean_age"}


def test_a_hold_of_the_document_keeps_the_error_too() -> None:
    document = hold(small(), "people")
    before = errors(document)
    assert errors(edited(document, Edits(sets=("mean_age.error=3",))))["people"] == before["people"]
    freed = edited(document, Edits(sets=("mean_age.error=3",), frees=("people",)))
    assert "hold" not in statistics(freed)["people"]
    assert errors(freed)["people"] != before["people"]


def test_nothing_is_planned_without_holds() -> None:
    """So that an option can mend a plan that would not work as it is."""
    impossible = put(small(), "mean_age.error", "1e-9")
    assert errors(edited(impossible, Edits(sets=("mean_age.error=2",))))["mean_age"] <= 2


_HAS = "names no statistic of the plan, which has people, mean_age, regions"
_SHAPE = "must be a path and a value, such as mean_age.error=0.5"
_ENTRY = "must be a name and a statistic, such as 'mean_age: {mean: age}'"
REFUSED = {
    "--set mean_agee.error=1": "names no statistic of the plan (did you mean mean_age?), got 'mean_agee.error'",
    "--set z.error=1": f"{_HAS}, got 'z.error'",
    "--set columns.agee.unit=1": "names no column of the plan (did you mean age?), got 'columns.agee.unit'",
    "--set mean_age=1": "must name an entry of mean_age, such as mean_age.error, got 'mean_age'",
    "--set mean_age.error": f"{_SHAPE}, got 'mean_age.error'",
    "--set =3": f"{_SHAPE}, got '=3'",
    "--set people.error=": f"{_SHAPE}, got 'people.error='",
    "--set statistics=3": "is too much to be set at once: name one entry, or edit the file, got 'statistics'",
    "--set people.count.x.y=3": "leads through x, which has no entries of its own, got 'people.count.x.y'",
    "--set people.error=[1": "cannot be read (expected ',' or ']', but got '<stream end>'), got '[1'",
    "--hold pepole": "names no statistic of the plan (did you mean people?), got 'pepole'",
    "--free x": f"{_HAS}, got 'x'",
    "--drop x": f"{_HAS}, got 'x'",
    "--add people: {count: }": "is in the plan already: drop it first, or set its entries, got 'people'",
    "--add just text": f"{_ENTRY}, got 'just text'",
    "--add {}": f"{_ENTRY}, got '{{}}'",
}


@pytest.mark.parametrize(("option", "line"), REFUSED.items())
def test_refused(option: str, line: str) -> None:
    name, text = option.removeprefix("--").split(" ", 1)
    document = put(small(), "people.count", {"x": 1})
    with pytest.raises(InvalidInput) as refusal:
        edited(document, Edits(**{f"{name}s": (text,)}))
    assert str(refusal.value) == f"{name}: {line}"


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        (Edits(frees=("people",)), "cannot be freed or dropped at the same time"),
        (Edits(drops=("people",)), "cannot be freed or dropped at the same time"),
        (Edits(sets=("people.error=3",)), "cannot be held as it is and set at the same time"),
    ],
)
def test_contradictions_are_refused(other: Edits, problem: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        edited(small(), replace(other, holds=("people",)))
    assert str(refusal.value) == f"hold: {problem}, got 'people'"


def test_a_plan_must_be_a_mapping() -> None:
    with pytest.raises(InvalidInput, match="plan: must be a mapping"):
        copied([])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="statistics: must be a mapping"):
        add(small(statistics=3), "a: {count: }")


TEXTS = st.sampled_from(
    (
        *("people", "mean_age.error=2", "people.weight=2", "x", "", "=", "a=b", "budget=3", "budget.epsilon.x=3"),
        *("a: {count: }", "columns.age.integers=[0, 5]", "people: 3", "plan=2", "data.rows=~", "confidence.a=1"),
    )
)


@given(st.one_of(st.just(small()), spoiled(small())), *[st.lists(TEXTS, max_size=2).map(tuple)] * 4)
def test_edits_never_fail_in_another_way_and_never_change_the_plan(
    document: Any, sets: tuple[str, ...], frees: tuple[str, ...], drops: tuple[str, ...], adds: tuple[str, ...]
) -> None:
    before = copy.deepcopy(document)
    try:
        found = edited(document, Edits(sets=sets, frees=frees, drops=drops, adds=adds))
    except InvalidInput:
        found = None
    assert repr(document) == repr(before)
    assert found is None or found is not document


def test_single_edits_leave_the_plan_alone() -> None:
    before = small()
    for changed in (
        drop(before, "people"),
        add(before, "a: {count: }"),
        free(before, "people"),
        hold(before, "people"),
    ):
        assert changed != before or changed is not before
    assert before == small()
