"""Names that nobody declared in plans, releases and reports: proved, written, checked; nothing else leaves."""

from __future__ import annotations

import copy
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from optcomp.cli.main import app
from optcomp.errors import InvalidInput
from optcomp.planner import make_plan, read

PLAN: dict[str, Any] = {
    "plan": 1,
    "data": {"name": "visits", "rows": 1200, "person": "who", "rows_per_person": 2},
    "columns": {"age": {"integers": [0, 99]}, "diagnosis": {"text": 20}},
    "budget": {"epsilon": 4, "delta": "1e-6"},
    "statistics": {
        "rows": {"count": "rows"},
        "diagnoses": {"frequent": "diagnosis", "of": "people", "leak": "1e-9"},
        "of_the_old": {"frequent": "diagnosis", "where": "age > 98"},
    },
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def changed(**entries: Any) -> dict[str, Any]:
    return copy.deepcopy(PLAN) | entries


def test_a_plan_counts_the_leaks_in_its_total() -> None:
    """With little δ beside the leak the total is larger, and it is certified with it."""
    plan = make_plan(read(PLAN))
    assert plan.bound is not None
    assert plan.bound.upper <= 4
    leaks = [cost for line in plan.lines for cost in line.question.costs(plan.document.table)]
    assert sum(float(cost.delta) for cost in leaks if hasattr(cost, "delta")) == pytest.approx(2e-9)
    assert 0.5 < plan.risk.posterior < 1
    assert plan.as_dict()["statistics"][1]["statistic"] == "frequent values of diagnosis by people"


@pytest.mark.parametrize(
    ("budget", "place"),
    [
        ({"epsilon": 1}, "statistics.diagnoses.leak"),
        ({"epsilon": 1, "delta": "7e-9"}, "statistics.of_the_old.leak"),
        ({"rho": 1}, "statistics.diagnoses"),
    ],
)
def test_budgets_that_thresholds_do_not_fit_into(budget: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        make_plan(read(changed(budget=budget)))
    assert refusal.value.argument == place


@pytest.mark.parametrize(
    ("statistic", "place"),
    [
        ({"frequent": "age"}, "statistics.x.frequent"),
        ({"frequent": "diagnosis", "of": "cells"}, "statistics.x.of"),
        ({"frequent": "diagnosis", "leak": 2}, "statistics.x.leak"),
        ({"histogram": "diagnosis"}, "statistics.x.histogram"),
        ({"count": "rows", "by": "diagnosis"}, "statistics.x.by"),
        ({"count": "rows", "where": "diagnosis == 'flu'"}, "statistics.x.where"),
    ],
)
def test_statistics_that_are_refused_by_their_place(statistic: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read(changed(statistics={"x": statistic}))
    assert refusal.value.argument == place


@pytest.mark.parametrize("most", [0, -1, "x", 1001, True, [1]])
def test_lengths_that_are_refused(most: Any) -> None:
    with pytest.raises(InvalidInput, match=r"columns\.diagnosis"):
        read(changed(columns={"age": {"integers": [0, 99]}, "diagnosis": {"text": most}}))


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two names of 500 people each, and a hundred of one person each.

    Each of the hundred is released with a probability of at most 1e-12 in each statistic, all of them of 2e-10.  One of
    500 stays below the threshold of 42 with probability e^-300: the noise has scale 1.5.
    """
    folder = tmp_path_factory.mktemp("names")
    rows = [(i, 40, ("=flu", "<b>cold</b>")[i % 2]) for i in range(1000)]
    rows += [(1000 + i, 99, f"name of {i}") for i in range(100)]
    lines = ["who,age,diagnosis", *(",".join(map(str, row)) for row in rows)]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    plan = changed()
    for name in ("diagnoses", "of_the_old"):
        plan["statistics"][name]["leak"] = "1e-12"
    (folder / "plan.json").write_text(json.dumps(plan))
    out = run("plan", "release", str(folder / "plan.json"), "--data", str(folder / "visits.csv"), "--html", "--csv")
    assert out.exit_code == 0, out.output
    return folder


def test_only_frequent_names_are_released(released: Path) -> None:
    document = json.loads((released / "plan.release.json").read_text())
    _, people, old = document["statistics"]
    assert [each["cell"] for each in people["cells"]] == ["<b>cold</b>", "=flu"]
    assert old["cells"] == []
    assert people["threshold"] > 0
    assert people["leak"] == "1/1000000000000"
    assert all(each["interval"][0] <= each["value"] <= each["interval"][1] for each in people["cells"])
    for file in released.glob("plan.release*"):
        if "private" not in file.name:
            assert "name of" not in file.read_text()
    html = (released / "plan.release.html").read_text()
    assert "<b>cold</b>" not in html
    numbers = list(csv.reader(io.StringIO((released / "plan.release.csv").read_text())))
    assert any("'=flu" in row for row in numbers)


def test_what_is_released_is_verified(released: Path, tmp_path: Path) -> None:
    found = run("verify", str(released / "plan.release.json"))
    assert found.exit_code == 0, found.output
    document = json.loads((released / "plan.release.json").read_text())

    def spoiled(change: Any) -> str:
        other = copy.deepcopy(document)
        change(other["statistics"][1])
        path = tmp_path / "spoiled.json"
        path.write_text(json.dumps(other))
        told = run("verify", str(path))
        assert told.exit_code != 0
        return told.output

    assert "threshold" in spoiled(lambda entry: entry.update(threshold=1))
    assert "leak" in spoiled(lambda entry: entry.update(leak="1/2"))
    assert "threshold" in spoiled(lambda entry: entry["cells"][0].update(value=0))
    assert "order" in spoiled(lambda entry: entry["cells"].reverse())
    assert "characters" in spoiled(lambda entry: entry["cells"][0].update(cell="x" * 21))
    assert "cells" in spoiled(lambda entry: entry.update(cells=7))
