"""What a plan says about values: read exactly, refused where it cannot be true, and used where it is about the rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from optcomp.errors import InvalidInput
from optcomp.planner import make_plan, read
from optcomp.planner.edits import Edits, edited
from optcomp.statistics.known import Known
from tests.plans import Plain, small


def with_facts(**facts: Any) -> Plain:
    return small(columns=small()["columns"] | {"age": {"integers": [0, 99], **facts}})


def with_entry(**entries: Any) -> Plain:
    return small(statistics={"a": entries})


def test_facts_are_taken_exactly() -> None:
    found = read(with_facts(present=0.1, centre=["1/3", 50], spread="12.5")).known["age"]
    assert found == Known(Fraction(1, 10), (Fraction(1, 3), Fraction(50)), (Fraction(25, 2), Fraction(25, 2)))


IMPOSSIBLE: dict[str, list[Any]] = {
    "present": [0, -0.1, 1.01, "x", None, True, [0.1, 0.2], [], {}, float("nan")],
    "centre": [-1, 99.5, [50, 40], [1, 2, 3], [1], "old", None, False, [None, 3]],
    "spread": [-1, 50, [3, 2], [0, 60], None, float("inf")],
}


@pytest.mark.parametrize(("name", "value"), [(name, each) for name, values in IMPOSSIBLE.items() for each in values])
def test_what_cannot_be_true_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^columns\.age\.{name}: "):
        read(with_facts(**{name: value}))
    with pytest.raises(InvalidInput, match=rf"^statistics\.a\.{name}: "):
        read(with_entry(variance="age", **{name: value}))


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"count": None}, "present"),
        ({"sum": "age"}, "present"),
        ({"histogram": "age"}, "centre"),
        ({"mean": "age"}, "spread"),
        ({"median": "age"}, "centre"),
        ({"cdf": "age"}, "spread"),
    ],
)
def test_facts_that_no_error_depends_on_are_refused(entry: Plain, name: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^statistics\.a\.{name}: is not known"):
        read(with_entry(**entry, **{name: 1}))


def test_categories_have_none() -> None:
    with pytest.raises(InvalidInput, match=r"^columns\.region\.present: is not known"):
        read(small(columns=small()["columns"] | {"region": {"categories": ["north"], "present": 1}}))


def test_a_condition_keeps_the_share_of_a_column_and_not_its_mean() -> None:
    column = {"integers": [0, 99], "present": "0.5", "centre": 40, "spread": 10}
    statistics = {
        "all": {"variance": "age"},
        "some": {"variance": "age", "where": "age > 3", "rows": 100},
        "own": {"variance": "age", "where": "age > 3", "rows": 100, "present": "0.7", "centre": 30},
    }
    document = read(small(columns={"age": column}, statistics=statistics))
    every, some, own = (document.known_about(wish) for wish in document.wishes)
    assert every == document.known["age"]
    assert some == Known(present=Fraction(1, 2))
    assert own == Known(Fraction(7, 10), (Fraction(30), Fraction(30)))
    assert [document.rows_of(wish) for wish in document.wishes] == [500, 50, 70]


def test_errors_are_for_rows_with_a_value() -> None:
    """Twice the share of missing cells is what half of the rows are; counts and histograms do not care."""
    half = {line.wish.name: line for line in make_plan(read(fixed(with_facts(present="0.5")))).lines}
    full = {line.wish.name: line for line in make_plan(read(fixed(with_facts(present=1)))).lines}
    fewer = {line.wish.name: line for line in make_plan(read(fixed(with_facts(), 500))).lines}
    assert half["mean_age"].error == fewer["mean_age"].error > 1.5 * full["mean_age"].error
    for name in ("people", "regions"):
        assert half[name].error == full[name].error


def fixed(document: Plain, rows: int = 1000) -> Plain:
    statistics = {name: {**entry, "epsilon": "0.5"} for name, entry in document["statistics"].items()}
    return document | {"statistics": statistics, "budget": {"epsilon": 10}, "data": {"rows": rows}}


def test_facts_can_be_edited() -> None:
    sets = ("columns.age.present=0.5", "columns.age.centre=[40, 50]", "mean_age.centre=45")
    document = read(edited(small(), Edits(sets=sets)))
    assert document.known["age"] == Known(Fraction(1, 2), (Fraction(40), Fraction(50)))
    wishes = {wish.name: wish for wish in document.wishes}
    assert document.known_about(wishes["mean_age"]).centre == (Fraction(45), Fraction(45))


def test_a_plan_that_starts_from_another_sees_new_facts() -> None:
    first = make_plan(read(with_facts(present=1)))
    again = make_plan(read(with_facts(present="0.2", centre=50)), previous=first)
    alone = make_plan(read(with_facts(present="0.2", centre=50)))
    assert [line.error for line in again.lines] == pytest.approx([line.error for line in alone.lines], rel=1e-3)
    assert again.lines[1].spending.model.rows == 200
