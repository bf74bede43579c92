"""A statistic is one file: one that only this file knows is read, planned, checked, released, verified and audited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from optcomp.errors import InvalidInput
from optcomp.interactive.audit import audit, known_mechanisms
from optcomp.planner import make_plan, read
from optcomp.planner.plan_schema import schema
from optcomp.release import facts, preflight, release_plan, verify_release
from optcomp.statistics import fragments
from optcomp.statistics.audited import AuditCase
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Numbers
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.part import IntegerVector, Part, scalar
from optcomp.statistics.register import register_statistic, unregister_statistic
from optcomp.statistics.statistic import Amounts, Interval, Keyword, Statistic, first_row
from optcomp.statistics.table import Table
from tests.plans import small

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Pairs(Statistic):
    """Twice as many as there are rows with a value in a column: as if everybody had come in pairs."""

    column: str
    where: str | None = None
    needs_rows = True
    assumes = ("nobody comes alone",)
    keywords = (
        Keyword(
            "pairs",
            lambda entries: Pairs(entries.take("pairs", str), entries.condition()),
            {"pairs": fragments.text(fragments.COLUMN)},
            ("present",),
        ),
    )

    def expression(self, table: Table) -> ir.Table:
        table.domain(self.column, Numbers)
        rows = table.rows({"value": (self.column, lambda cell: cell)}, self.where)
        return rows.aggregate(count=2 * rows.value.count())

    def parts(self, table: Declared) -> tuple[Part, ...]:
        table.domain(self.column, Numbers)
        return (scalar("pairs", table.contribution.sum_change(0, 2)),)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[IntegerVector, ...]:
        return (first_row(rows),)

    def value(self, table: Declared, amounts: Amounts) -> int:
        return int(amounts[0][0])

    def interval(self, table: Declared, amounts: Amounts, noises: Noises) -> Interval:
        off = noises.cells(1)
        return float(amounts[0][0] - off), float(amounts[0][0] + off)

    def size(self, table: Declared, rows: float) -> float:
        return 2 * rows

    @classmethod
    def audits(cls) -> dict[str, AuditCase]:
        return {"pairs": AuditCase(Pairs("age"), {"epsilon": 1}, trials=2_000)}


PLAN = small(
    statistics={
        "doubled": {"pairs": "age", "present": "0.9"},
        "grown": {"pairs": "age", "where": "age >= 18", "error": 40, "mechanism": "laplace", "rows": 800},
        "people": {"count": None},
    },
    budget={"epsilon": 2, "delta": "1e-6"},
)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register_statistic(Pairs)
    yield
    unregister_statistic(Pairs)
    with pytest.raises(InvalidInput, match=r"must have one of count, .*, regression, got"):
        read(PLAN)
    assert "pairs" not in known_mechanisms()


def test_it_is_read_and_planned() -> None:
    plan = make_plan(read(PLAN))
    doubled, grown, people = plan.lines
    assert doubled.wish.statistic == Pairs("age")
    assert grown.error <= 40
    assert doubled.relative == doubled.error / 2000
    assert doubled.question.scales(plan.document.table)[0] > people.question.scales(plan.document.table)[0]
    with pytest.raises(InvalidInput, match=r"statistics.a.pairs: must be declared as integers or reals"):
        read(small(statistics={"a": {"pairs": "region"}}))
    with pytest.raises(InvalidInput, match=r"data.rows: must be given: the error of pairs of age depends on it"):
        make_plan(read(small(data={}, statistics={"a": {"pairs": "age"}})))
    with pytest.raises(InvalidInput, match="centre: is not known; known are pairs, where"):
        read(small(statistics={"a": {"pairs": "age", "centre": 5}}))


def test_schema_and_words_know_it() -> None:
    assert {"$ref": "#/$defs/pairs"} in schema()["properties"]["statistics"]["additionalProperties"]["oneOf"]
    own = schema()["$defs"]["pairs"]
    assert own["required"] == ["pairs"]
    assert own["properties"]["mechanism"]["enum"] == ["auto", "laplace", "gaussian"]
    assert "present" in own["properties"]
    assert "centre" not in own["properties"]
    doubled, grown, people = facts(make_plan(read(PLAN)))["statistics"]
    assert doubled["note"] == "± for 900 rows with a value, if nobody comes alone"
    assert grown["assumes"] == ["no cell of age is missing (else tell `present`)", "nobody comes alone"]
    assert people["note"] is None


def test_it_is_checked_released_and_verified(tmp_path: Path) -> None:
    data, out = tmp_path / "people.csv", tmp_path / "release.json"
    data.write_text("age,region\n" + "".join(f"{i % 100},north\n" for i in range(1000)), encoding="utf8")
    document = read(PLAN)
    (condition,) = preflight(document, data).conditions
    assert (condition.rows, condition.values, condition.reckoned) == (820, 820, 800)
    view, now = release_plan(document, data, out)
    assert now
    for entry, truth in zip(view["statistics"], (2000, 1640, 1000), strict=True):
        assert abs(entry["value"] - truth) < 40 * entry["noise"][0]["scale"]  # beyond: a probability of e^-40
        assert entry["interval"][0] <= entry["value"] <= entry["interval"][1]
    assert view["statistics"][0]["statistic"] == "pairs of age"
    assert view["statistics"][0]["noise"][0]["part"] == "pairs"
    assert verify_release(view).proved


def test_it_is_audited() -> None:
    assert "pairs" in known_mechanisms(private=True)
    found = audit("pairs", confidence=1 - Fraction(1, 10**10))  # a true claim is called false with at most 1e-10
    assert not found.violated
    assert found.trials == 2_000


def test_words_are_taken_once() -> None:
    class Again(Pairs):
        keywords = ()  # type: ignore[assignment]

    with pytest.raises(InvalidInput, match="is a keyword that is taken"):
        register_statistic(Pairs)
    with pytest.raises(InvalidInput, match="is the name of an audit that is taken"):
        register_statistic(Again)
