"""Questions about disjoint rows that could be one are found, and no others."""

from __future__ import annotations

from optcomp.planner import make_plan, read
from optcomp.release import facts
from optcomp.statistics import Categories, Count, Declared, Histogram, Integers, Mean, Statistic, could_be_one
from tests.plans import small

TABLE = Declared({"age": Integers(0, 99), "region": Categories(["n", "s"]), "sex": Categories(["f", "m"])})


def found(*statistics: Statistic) -> list[tuple[tuple[str, ...], str]]:
    named = {f"q{i}": statistic for i, statistic in enumerate(statistics)}
    return [(each.names, each.column) for each in could_be_one(named, TABLE)]


def test_the_same_question_for_several_values() -> None:
    assert found(Mean("age", "region == 'n'"), Mean("age", "'s' == region")) == [(("q0", "q1"), "region")]
    both = Mean("age", "region == 'n' and age > 3"), Mean("age", "age > 3 and region == 's'")
    assert found(*both, Count()) == [(("q0", "q1"), "region")]
    assert found(*both, *both) == [(("q0", "q1"), "region")]


def test_other_questions_are_left_alone() -> None:
    assert found(Mean("age", "region == 'n'"), Count("region == 's'")) == []
    assert found(Mean("age", "region == 'n'"), Mean("age", "sex == 'f'")) == []
    assert found(Mean("age", "region == 'n'"), Mean("age", "region == 's' and age > 3")) == []
    assert found(Mean("age", "region == 'n'"), Mean("age", "region != 's'"), Mean("age")) == []
    assert found(Mean("age", "region == 'n' or age > 3"), Mean("age", "region == 's' or age > 3")) == []
    assert found(Histogram("sex", where="region == 'n'"), Histogram("sex", where="region == 's'")) == []


def test_a_plan_says_so() -> None:
    wishes = {each: {"count": None, "where": f"region == '{each}'"} for each in ("north", "south")}
    words = facts(make_plan(read(small(statistics=wishes))))["words"]
    assert "north, south ask disjoint rows: one statistic with `by: region` shares the budget" in words["careful"]
    one = facts(make_plan(read(small(statistics={"rows": {"count": None, "by": "region"}}))))["words"]
    assert "disjoint" not in one.get("careful", "")
