"""A kind of noise is one class: one that only this file knows is planned, drawn, released, verified and audited."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from optcomp.errors import InvalidInput
from optcomp.interactive import Session, SumFilter
from optcomp.interactive.audit import audit
from optcomp.interactive.audit.answered import answered
from optcomp.planner import make_plan, read
from optcomp.planner.plan_schema import schema
from optcomp.release import release_plan, verify_release
from optcomp.statistics import Count, Integers, Question, Table, noise_reach
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.noise import (
    LAPLACE,
    Allowance,
    DiscreteLaplaceNoise,
    noise_named,
    register_noise,
    unregister_noise,
)
from optcomp.statistics.part import Part
from tests.plans import small


class DoubledLaplace(DiscreteLaplaceNoise):
    """Twice as much as there need be."""

    __slots__ = ()
    name, title, source = "doubled", "doubled noise", "this test"

    def scale(self, part: Part, allowance: Allowance) -> float:
        return 2 * super().scale(part, allowance)

    def unit_scale(self, part: Part) -> float:
        return 2 * super().unit_scale(part)


DOUBLED = DoubledLaplace()
PLAN = small(
    statistics={
        "people": {"count": None, "mechanism": "doubled"},
        "grown": {"count": None, "where": "age >= 18", "mechanism": "laplace"},
        "mean_age": {"mean": "age", "mechanism": "doubled"},
        "regions": {"histogram": "region"},
    }
)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register_noise(DOUBLED)
    yield
    unregister_noise(DOUBLED)
    with pytest.raises(InvalidInput, match="must be one of"):
        noise_named("doubled")


def test_it_is_planned() -> None:
    plan = make_plan(read(PLAN))
    people, grown, mean_age, _ = plan.lines
    assert (people.noise, people.mechanism, grown.mechanism) == (DOUBLED, "doubled", "laplace")
    for line, times in ((people, 2), (grown, 1), (mean_age, 2)):
        plain = Question(line.wish.statistic, epsilon=line.spending.budget, mechanism="laplace")
        assert line.question.scales(plan.document.table) == tuple(
            times * scale for scale in plain.scales(plan.document.table)
        )
    (scale,) = people.question.scales(plan.document.table)
    assert people.error == noise_reach("doubled", scale, 0.95) == LAPLACE.reach(scale, 0.95)
    assert people.spending.budget > grown.spending.budget  # what is noisier at a budget needs more of it
    kinds = schema()["$defs"]["count"]["properties"]["mechanism"]["enum"]
    assert kinds == ["auto", "laplace", "gaussian", "doubled"]


def test_it_is_chosen_where_noise_is_left_open_only_if_it_is_better() -> None:
    for budget in ({"epsilon": 1}, {"epsilon": 1, "delta": "1e-6"}, {"rho": "0.1"}):
        statistics = {f"c{i}": {"count": None} for i in range(3)}
        plan = make_plan(read(small(budget=budget, statistics=statistics)))
        assert all(line.noise != DOUBLED for line in plan.lines)


def test_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "ages.csv"
    file.write_text("age\n" + "30\n" * 50, encoding="utf8")
    session = Session(Table(file, {"age": Integers(0, 99)}), SumFilter(40))
    found = [session.ask(Count(), epsilon="1/10", mechanism=each) for each in ("doubled", DOUBLED) for _ in range(200)]
    assert {answer.scales for answer in found} == {(20.0,)}
    assert all(answer.costs == Question(Count(), epsilon="1/10").costs(answer.declared) for answer in found)
    off = [abs(answer.value - 50) for answer in found]
    assert 14 < sum(off) / len(off) < 28  # 20 is expected; false with a probability of 2e-10, by Chernoff's bound
    covered = sum(answer.interval(0.5)[0] <= 50 <= answer.interval(0.5)[1] for answer in found)
    assert covered in range(128, 281)  # of 400, each with probability 0.516: false with a probability of 1e-13


def test_it_is_released_and_verified(tmp_path: Path) -> None:
    data, out = tmp_path / "people.csv", tmp_path / "release.json"
    data.write_text("age,region\n" + "".join(f"{i % 100},north\n" for i in range(1000)), encoding="utf8")
    view, now = release_plan(read(PLAN), data, out)
    people = view["statistics"][0]
    assert now
    assert (people["mechanism"], people["theorem"]) == ("doubled", "DKMMN06")
    assert people["noise"][0]["scale"] == pytest.approx(2 / float(Fraction(people["epsilon"])))
    low, high = people["interval"]
    assert low <= people["value"] <= high
    assert abs(people["value"] - 1000) < 40 * people["noise"][0]["scale"]  # beyond: a probability of e^-40
    assert verify_release(view).proved


def test_it_is_audited() -> None:
    case = AuditCase(Count(), {"epsilon": 1, "mechanism": "doubled"}, trials=2_000)
    found = audit(answered("count-doubled", case), confidence=1 - Fraction(1, 10**10))  # false with at most 1e-10
    assert not found.violated
    assert found.claimed_epsilon >= 1
    assert answered("count-doubled", case).source == "this test; sampled by OpenDP"


def test_a_name_is_taken_once() -> None:
    with pytest.raises(InvalidInput, match="is a name that is taken"):
        register_noise(DoubledLaplace())
