"""`optcomp plan`: a file or a command, edits, reports, releases; bad input is one line and exit code 2."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optcomp.cli.plan.command import plan_app
from optcomp.planner import make_plan, read
from optcomp.planner.edits import put
from optcomp.planner.plan_schema import schema
from optcomp.planner.source import dumped, load
from optcomp.statistics import FILE_ENDINGS
from tests.plans import ROOT, Plain, every_kind, small, spoiled
from tests.unit.cli.in_process import Result, invoke

PAIR: Plain = {"epsilon": 1, "delta": "1e-6"}


def run(arguments: str, text: str | None = None) -> Result:
    return invoke(f"plan {arguments}", text)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.yaml").write_text("# a comment\n" + dumped(small()), encoding="utf8")
    Path("pair.json").write_text(json.dumps(small(budget=PAIR)), encoding="utf8")
    Path("taken").mkdir()
    rows = {"age": [i % 100 for i in range(1000)], "region": ["north", "south"] * 500}
    pq.write_table(pa.table(rows), "people.parquet")


def cells(result: Result, name: str) -> list[str]:
    """The first line that begins with a name: that of a statistic, before any note about it."""
    line = next(line for line in result.stdout.splitlines() if line.startswith(f"│ {name} "))
    return [cell.strip() for cell in line.split("│")[1:-1]]


def test_a_plan() -> None:
    result = run("plan.yaml")
    assert (result.exit_code, result.stderr) == (0, "")
    line = make_plan(read(small())).lines[0]
    error = f"{line.error:.4g}"
    about = ["people", "count", "laplace", f"ε {float(line.spending.budget):.4g}"]
    assert cells(result, "people") == [*about, error, f"{100 * line.relative:.3g} %", error]
    assert cells(result, "budget")[1] == "ε = 1, δ = 0"
    assert cells(result, "gain")[1].startswith("Optimal composition gains nothing on this plan")
    assert "rules of thumb, not proofs" in result.stdout


@pytest.mark.parametrize(
    "arguments", ["plan.yaml --json", "--json plan.yaml", "show plan.yaml --json", "./plan.yaml --json"]
)
def test_a_file_or_a_command(arguments: str) -> None:
    result = run(arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    view = json.loads(result.stdout)
    assert {"epsilon", "lower", "upper", "delta", "theorem", "method", "count"} <= set(view)
    assert view["count"] == 3
    assert view["lower"] <= view["epsilon"] == view["upper"] <= 1
    assert [entry["name"] for entry in view["statistics"]] == ["people", "mean_age", "regions"]


def test_standard_input() -> None:
    assert json.loads(run("- --json", dumped(small())).stdout)["count"] == 3
    assert run("-", "plan: 2").stderr == "optcomp: standard input: plan: must be 1, the version of the format, got 2\n"


def test_help_and_completion() -> None:
    for arguments in ("", "--help", "-h"):
        assert "FILE | COMMAND" in run(arguments).stdout
    assert "--set" in run("plan.yaml --help").stdout
    assert "--data" in run("release --help").stdout
    assert [command.callback.__name__ for command in plan_app.registered_commands if command.callback] == [
        "show",
        "begin",
        "release",
        "commit",
        "schema",
    ]


def test_a_plan_to_begin_with_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my people.csv").write_text("who;age\nann;31\nbob;47\n")
    done = run("init 'my people.csv'")
    assert done.exit_code == 0
    assert "optcomp plan 'my people.plan.yaml'" in done.stdout
    written = Path("my people.plan.yaml").read_text()
    assert "{integers: [LOW, HIGH]}" in written
    assert "31" not in written
    again = run("init 'my people.csv'")
    assert (again.exit_code, Path("my people.plan.yaml").read_text()) == (2, written)
    assert run("init 'my people.csv' --bounds-are-public --out public.yaml").exit_code == 0
    assert "{integers: [31, 47]}" in Path("public.yaml").read_text()
    for wrong in ("init nothing.csv", "init 'my people.csv' --table x --out x.yaml"):
        assert run(wrong).exit_code == 2
        assert not Path("x.yaml").exists()


def test_schema() -> None:
    result = run("schema")
    assert (result.exit_code, json.loads(result.stdout)) == (0, schema())


def test_an_error_that_rests_on_what_nobody_says_has_a_star() -> None:
    Path("open.yaml").write_text(dumped(small()), encoding="utf8")
    told = run("open.yaml")
    assert cells(told, "mean_age")[4].endswith(" *")
    assert not cells(told, "people")[4].endswith("*")
    assert "if no cell of age is missing (else tell `present`)" in " ".join(told.stdout.replace("│", " ").split())
    assert "an error with a star rests on something that the plan does not say" in told.stdout
    known = run("open.yaml --set columns.age.present=0.5 --set columns.age.centre=[30,60]")
    assert not cells(known, "mean_age")[4].endswith("*")
    assert "± for 500 rows with a value" in known.stdout
    assert "with a star" not in known.stdout
    entry = json.loads(run("open.yaml --json").stdout)["statistics"][1]
    assert entry["assumes"] == ["no cell of age is missing (else tell `present`)"]
    assert entry["rows"] == 1000


def test_edits_and_save() -> None:
    result = run(
        "plan.yaml --set mean_age.error=3 --hold people --drop regions --add 'ages: {histogram: age}' --save new.yaml"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    assert "The changed plan is in new.yaml, without comments" in result.stdout
    assert cells(result, "mean_age")[-1] == "held"
    assert cells(result, "people")[-1] == "held"
    assert cells(result, "ages")[-1] == ""
    saved = load(Path("new.yaml"))
    assert list(saved["statistics"]) == ["people", "mean_age", "ages"]
    again = run("new.yaml")
    assert again.stdout == result.stdout.replace("The changed plan is in new.yaml, without comments\n", "")
    assert Path("plan.yaml").read_text(encoding="utf8").startswith("# a comment")


def test_saving_without_edits_rewrites() -> None:
    assert run("pair.json --save pair.yaml").exit_code == 0
    assert load(Path("pair.yaml")) == load(Path("pair.json"))


def test_nothing_is_saved_when_the_plan_does_not_work() -> None:
    result = run("plan.yaml --set budget.epsilon=-1 --save new.yaml --html new.html")
    assert result.exit_code == 2
    assert not Path("new.yaml").exists()
    assert not Path("new.html").exists()


def test_reports() -> None:
    result = run("pair.json --html a.html --pdf-ready b.html")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("The report is in a.html\nThe report is in b.html\n")
    for name, paper in (("a.html", False), ("b.html", True)):
        text = Path(name).read_text(encoding="utf8")
        assert text.startswith("<!doctype html>")
        assert ("@media print" in text) != paper
    assert json.loads(run("pair.json --json --html c.html").stdout)["count"] == 3
    assert Path("c.html").exists()


@pytest.mark.parametrize("words", ["pair.json --html --pdf-ready", "--pdf-ready --html pair.json"])
def test_reports_go_beside_the_plan_unless_told(words: str) -> None:
    result = run(words)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("The report is in pair.html\nThe report is in pair.print.html\n")
    assert sorted(path.name for path in Path().glob("pair*.html")) == ["pair.html", "pair.print.html"]


def test_names_are_not_markup() -> None:
    document = small(statistics={"[red]a[/red]": {"count": None}, "[/b]": {"mean": "age"}})
    Path("marked.yaml").write_text(dumped(document), encoding="utf8")
    result = run("marked.yaml")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "│ [red]a[/red] │" in result.stdout


def test_release_and_release_again() -> None:
    first = run("release plan.yaml --data people.parquet --html out.html")
    assert first.exit_code == 0
    assert first.stderr.startswith("optcomp: a new ledger was made, ")
    assert first.stderr.count("\n") == 1
    assert "Released now, on " in first.stdout
    assert "The release is in plan.release.json and may be published" in first.stdout
    assert "Release about people" in Path("out.html").read_text(encoding="utf8")
    stored = Path("plan.release.json").read_text(encoding="utf8")
    again = run("release plan.yaml --data people.parquet")
    assert (again.exit_code, again.stderr) == (0, "")
    assert "nothing was spent now" in again.stdout
    assert cells(again, "people") == cells(first, "people")
    view = json.loads(run("release plan.yaml --data people.parquet --json").stdout)
    assert view == json.loads(stored) | {"notices": []}
    assert Path("plan.release.json").read_text(encoding="utf8") == stored


def test_the_private_folder_of_the_ledger_may_lie_elsewhere() -> None:
    Path("a.yaml").write_text(dumped(small(budget={"epsilon": "0.5", "delta": "1e-6"})), encoding="utf8")
    assert run("commit a.yaml --data people.parquet --private hidden").exit_code == 0
    assert Path("hidden/keys.json").exists()
    refused = run("release a.yaml --data people.parquet")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)
    assert "may be a copy" in refused.stderr
    released = run("release a.yaml --data people.parquet --private hidden")
    assert (released.exit_code, released.stderr) == (0, "")
    opened = ["ledger", "open", "other.ledger", "people", "--epsilon", "1", "--delta", "1e-4", "--private", "kept"]
    assert invoke(opened).exit_code == 0
    entered = ["ledger", "enter", "other.ledger", "a.release.json"]
    assert "may be a copy" in invoke(entered).stderr
    assert invoke([*entered, "--private", "kept"]).exit_code == 0
    assert not Path("people.parquet.ledger.private").exists()


def test_plans_that_are_committed_and_releases_that_are_counted() -> None:
    for name, eps in (("a", "0.5"), ("b", "0.4")):
        Path(f"{name}.yaml").write_text(dumped(small(budget={"epsilon": eps, "delta": "1e-6"})), encoding="utf8")
    found = json.loads(run("commit a.yaml b.yaml --data people.parquet --delta 1e-4 --json").stdout)
    assert found["epsilon"] <= 0.9 + 1e-6
    assert len(found["slots"]) == 2
    for name in ("a", "b"):
        view = json.loads(run(f"release {name}.yaml --data people.parquet --json").stdout)
        assert view["ledger"]["paid"] == []
        assert view["ledger"]["after"]["totals"][0]["epsilon"] == pytest.approx(found["epsilon"])
    assert view["notices"][0].startswith("these people: 2 releases so far, together at most (ε, δ) = (")
    third = run("release plan.yaml --data people.parquet")
    assert third.stderr.startswith("optcomp: these people: 3 releases so far")
    refused = run("commit a.yaml")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "optcomp: give --data, beside which the ledger lies, or --ledger\n",
    )
    refused = run("release plan.yaml --data people.parquet --out c.json --ledger people.parquet.ledger --account none")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("optcomp: --account: is no account of ")


def test_a_release_shows_many_cells_in_part() -> None:
    run("plan.yaml --drop people --add 'ages: {histogram: age}' --save many.yaml")
    result = run("release many.yaml --data people.parquet --out out.json")
    assert "… and 89 more, in the file" in result.stdout
    assert cells(result, "regions")[2] == "3 cells"


def test_releases_can_be_verified() -> None:
    assert run("release plan.yaml --data people.parquet").exit_code == 0
    result = invoke(["verify", "plan.release.json"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("proved: ")
    Path("noise.yaml").write_text(
        dumped(small(budget=PAIR, statistics={"a": {"count": None, "mechanism": "gaussian"}})), encoding="utf8"
    )
    assert run("release noise.yaml --data people.parquet").exit_code == 0
    result = invoke(["verify", "noise.release.json"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("proved: ")
    assert "by the engine itself" not in result.stdout


def test_a_release_with_reserve_says_so() -> None:
    assert run("plan.yaml --set reserve=0.25 --save kept.yaml").exit_code == 0
    assert "of which ε = 0.25 is kept for later" in run("release kept.yaml --data people.parquet").stdout


def test_the_three_commands_of_the_docs() -> None:
    """From a CSV file to a report, literally as the page says."""
    page = (ROOT / "docs" / "planning.md").read_text(encoding="utf8")
    plan, *_ = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    commands, *_ = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    Path("plan.yaml").write_text(plan, encoding="utf8")
    csv.write_csv(pq.read_table(ROOT / "examples" / "people.parquet"), "people.csv")
    assert len(commands.splitlines()) == 3
    for command in commands.splitlines():
        result = run(command.removeprefix("optcomp plan "))
        assert result.exit_code == 0, command
        assert ("a new ledger was made" in result.stderr) == (" release " in command), command
    assert "Release about survey" in Path("report.html").read_text(encoding="utf8")
    view = json.loads(Path("final.release.json").read_text(encoding="utf8"))
    values = {entry["name"]: entry.get("value") for entry in view["statistics"]}
    # Gaussian noise, off by at most 48 and 0.1 in 95 % of all releases: 20 and 9 standard deviations, below 1e-18
    assert values["rows"] == pytest.approx(60_000, abs=500)
    assert values["mean_age"] == pytest.approx(51.504, abs=0.5)
    errors = {entry["name"]: entry["error"] for entry in view["facts"]["statistics"]}
    assert errors["mean_age"] <= 0.1


def test_the_example() -> None:
    """The plan that is shipped, on the data that are shipped."""
    data = ROOT / "examples" / "people.parquet"
    result = run(f"release {ROOT / 'examples' / 'plan.yaml'} --data {data} --out out.json --ledger own.ledger")
    assert result.exit_code == 0
    assert result.stderr.startswith("optcomp: a new ledger was made, ")
    assert cells(result, "mean_hours")[2].startswith("34.")  # 34.54 with σ = 0.04: 35 is 12 σ away, below 1e-33


_KNOWN = (
    "known are rows, rows_public, population, neighbours, bad_cells, multiline, dialect, rename, table, account, "
    "person, rows_per_person, "
    "groups_per_person, rows_per_group, grouped_by"
)
_ENTRIES = "where, by, public_rows, mechanism, weight, hold, rows, epsilon, rho, error, size"
_KINDS = (
    "count, people, sum, mean, means, variance, histogram, frequent, contingency, cdf, quantiles, median, regression"
)
_NUMBER = "must be a number such as 0.1, 1e-9 or 1/3"

BAD_PLANS: dict[str, tuple[Plain, str]] = {
    "version": ({"plan": 2}, "plan: must be 1, the version of the format, got 2"),
    "version as text": ({"plan": "1"}, "plan: must be a whole number, got '1'"),
    "stranger": (
        {"budgets": 3},
        "budgets: is not known; known are plan, data, columns, budget, confidence, reserve, objective, statistics, "
        "got 3",
    ),
    "no data": ({"data": []}, "data: must be a mapping, got []"),
    "rows as text": ({"data": {"rows": "many"}}, "data.rows: must be a whole number, got 'many'"),
    "no rows": ({"data": {"rows": 0}}, "data.rows: must lie between 1 and 1e+15, got 0"),
    "misspelled": ({"data": {"row": 9}}, f"data.row: is not known; {_KNOWN}, name, got 9"),
    "nobody's rows": (
        {"data": {"rows_per_person": 2}},
        "data.rows_per_person: needs a column `person` that tells people apart, got 2",
    ),
    "neighbours": ({"data": {"neighbours": "x"}}, "data.neighbours: must be 'add-remove' or 'replace', got 'x'"),
    "population": (
        {"data": {"rows": 9, "population": 99}},
        "data.population: needs data.rows, and data.rows_public: true, got 99",
    ),
    "small population": (
        {"data": {"rows": 9, "rows_public": True, "population": 5, "neighbours": "replace"}},
        "data.population: must lie between data.rows = 9 and 1e+15, got 5",
    ),
    "sample": (
        {"data": {"rows": 9, "rows_public": True, "population": 99}},
        "data.population: covers samples of one row per person, with data.neighbours: replace, got 99",
    ),
    "no columns": ({"columns": None}, "columns: must be a mapping, got None"),
    "no domain": (
        {"columns": {"age": {}}},
        "columns.age: must have one of integers: [low, high], reals: [low, high], dates: [low, high], "
        "categories: [...], text: 64, got []",
    ),
    "bounds": ({"columns": {"age": {"integers": [9, 0]}}}, "columns.age.low: must be below high = 0, got 9"),
    "one bound": (
        {"columns": {"age": {"reals": [9]}}},
        "columns.age.reals: must be two bounds, [low, high], got [9]",
    ),
    "text for a list": (
        {"columns": {"age": {"categories": "north"}}},
        "columns.age.categories: must be a list, got 'north'",
    ),
    "twice": (
        {"columns": {"age": {"categories": ["a", "a"]}}},
        "columns.age.categories: must not repeat a category, got ('a', 'a')",
    ),
    "unit": (
        {"columns": {"age": {"integers": [0, 9], "unit": 2}}},
        "columns.age.unit: is not known; known are integers, present, centre, spread, got 2",
    ),
    "no budget": ({"budget": {}}, "budget: must have epsilon and delta, or rho, or harm, got None"),
    "two budgets": (
        {"budget": {"epsilon": 1, "rho": 1}},
        "budget: must have epsilon and delta, or rho, or harm, got None",
    ),
    "negative": ({"budget": {"epsilon": -1}}, "budget.epsilon: must lie between 1e-6 and 10000, got -1.0"),
    "decimal comma": ({"budget": {"epsilon": "0,5"}}, f"budget.epsilon: {_NUMBER}, got '0,5'"),
    "delta": ({"budget": {"epsilon": 1, "delta": 1}}, "budget.delta: must be at least 0 and less than 1, got 1.0"),
    "harm": ({"budget": {"harm": "much"}}, "budget.harm: must be one of low, moderate, high, extreme, got 'much'"),
    "certain": ({"confidence": 1}, "confidence: must lie strictly between 0 and 1, got 1.0"),
    "per cent": ({"confidence": "95%"}, f"confidence: {_NUMBER}, got '95%'"),
    "all in reserve": ({"reserve": 1}, "reserve: must be a share of the budget, at least 0 and below 1, got 1.0"),
    "objective": ({"objective": "best"}, "objective: must be one of scale, squares, worst, wanted, got 'best'"),
    "nothing": ({"statistics": {}}, "statistics: must name at least one statistic, got {}"),
    "no kind": ({"statistics": {"a": {}}}, f"statistics.a: must have one of {_KINDS}, got []"),
    "two kinds": (
        {"statistics": {"a": {"mean": "age", "sum": "age"}}},
        f"statistics.a: must have one of {_KINDS}, got ['sum', 'mean']",
    ),
    "no statistic": ({"statistics": {"a": "mean"}}, "statistics.a: must be a mapping, got 'mean'"),
    "no column": (
        {"statistics": {"a": {"mean": "agee"}}},
        "statistics.a.mean: is not a declared column of people (age, region), got 'agee'",
    ),
    "wrong column": (
        {"statistics": {"a": {"mean": "region"}}},
        "statistics.a.mean: must be declared as integers or reals, and is Categories(['north', 'south']), got 'region'",
    ),
    "unknown entry": (
        {"statistics": {"a": {"mean": "age", "eror": 1}}},
        f"statistics.a.eror: is not known; known are mean, {_ENTRIES}, present, centre, got 1",
    ),
    "no error": ({"statistics": {"a": {"mean": "age", "error": 0}}}, "statistics.a.error: must be positive, got 0.0"),
    "held twice": (
        {"statistics": {"a": {"mean": "age", "error": 1, "epsilon": 1}}},
        "statistics.a.error: cannot be held together with epsilon, got 1.0",
    ),
    "held noise": (
        {"budget": PAIR, "statistics": {"a": {"mean": "age", "mechanism": "gaussian", "epsilon": 1}}},
        "statistics.a.epsilon: is for Laplace noise and choices: hold Gaussian noise by rho or error, got 1.0",
    ),
    "held choice": (
        {"budget": PAIR, "statistics": {"a": {"median": "age", "rho": "0.1"}}},
        "statistics.a.rho: is for Gaussian noise: hold other noise by epsilon or error, got 0.1",
    ),
    "held by two": (
        {"budget": PAIR, "statistics": {"a": {"mean": "age", "rho": "0.1", "epsilon": 1}}},
        "statistics.a.rho: cannot be held together with epsilon, got 0.1",
    ),
    "held without delta": (
        {"statistics": {"a": {"mean": "age", "rho": "0.1"}}},
        "statistics.a.mechanism: needs budget.delta, or budget.rho instead, got 'gaussian'",
    ),
    "no delta": (
        {"statistics": {"a": {"mean": "age", "mechanism": "gaussian"}}},
        "statistics.a.mechanism: needs budget.delta, or budget.rho instead, got 'gaussian'",
    ),
    "condition": (
        {"statistics": {"a": {"mean": "age", "where": "age >"}}},
        "statistics.a.where: must be a condition such as age >= 18 and region == 'north', got 'age >'",
    ),
    "column of a condition": (
        {"statistics": {"a": {"count": None, "where": "sex == 'm'"}}},
        "statistics.a.where: is not a declared column (age, region); text needs quotes, as in x == 'yes', got 'sex'",
    ),
    "kind in a condition": (
        {"statistics": {"a": {"count": None, "where": "region > 3"}}},
        "statistics.a.where: must compare the column 'region' with constants of its kind, got 'region > 3'",
    ),
    "code in a condition": (
        {"statistics": {"a": {"count": None, "where": "__import__('os')"}}},
        "statistics.a.where: is not a declared column (age, region); text needs quotes, as in x == 'yes', "
        "got '__import__'",
    ),
    "mechanism": (
        {"statistics": {"a": {"median": "age", "mechanism": "laplace"}}},
        "statistics.a.mechanism: must be one of auto, exponential, got 'laplace'",
    ),
    "weight": (
        {"statistics": {"a": {"mean": "age", "weight": 0}}},
        "statistics.a.weight: must lie between 1e-6 and 1e6, got 0.0",
    ),
    "bins": (
        {"statistics": {"a": {"histogram": "age", "bins": 0}}},
        "statistics.a.bins: must be at least 1 and at most 1000, got 0",
    ),
    "edges": (
        {"statistics": {"a": {"histogram": "age", "edges": [9, 3]}}},
        "statistics.a.edges: must ascend, and be 2 to 1000, got (9, 3)",
    ),
    "probability": (
        {"statistics": {"a": {"quantiles": "age", "probabilities": [2]}}},
        "statistics.a.probabilities: must lie strictly between 0 and 1, got 2",
    ),
    "columns of a table": (
        {"statistics": {"a": {"contingency": ["age", "age"]}}},
        "statistics.a.contingency: must be different names of columns, at least one, got ('age', 'age')",
    ),
    "no number of rows": (
        {"data": {}, "statistics": {"a": {"mean": "age"}}},
        "data.rows: must be given: the error of mean of age depends on it, got None",
    ),
    "names": ({"statistics": {True: {"count": None}}}, "statistics: must have names as keys, each once, got True"),
    "too much wanted": (
        {"objective": "wanted", "statistics": {"a": {"count": None}, "b": {"count": None, "error": 9}}},
        "objective: needs an error for each of a, got 'wanted'",
    ),
}


@pytest.mark.parametrize("name", BAD_PLANS)
def test_bad_plans_are_one_line_that_names_the_place(name: str) -> None:
    changes, line = BAD_PLANS[name]
    base = small()
    base["data"] = {"name": "people"} | (changes.get("data") or {}) if isinstance(changes.get("data", {}), dict) else []
    if "data" not in changes:
        base["data"] = small()["data"]
    Path("bad.yaml").write_text(
        dumped(base | {key: value for key, value in changes.items() if key != "data"}), encoding="utf8"
    )
    for command in ("bad.yaml", "release bad.yaml --data people.parquet"):
        result = run(command)
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"optcomp: bad.yaml: {line}\n")
    assert sorted(path.name for path in Path().glob("*release*")) == []


COMMANDS = {
    "nowhere.yaml": "nowhere.yaml: No such file or directory",
    ".": ".: Is a directory",
    "taken": "taken: Is a directory",
    "relase plan.yaml": "No such command or file 'relase'. Did you mean 'release'?",
    "schem": "No such command or file 'schem'. Did you mean 'schema'?",
    "people.parquet": (
        "people.parquet: must be a plan in YAML or JSON, and is named like a file of data; data go to --data"
    ),
    "plan.yaml --set mean_agee.error=1": (
        "--set: names no statistic of the plan (did you mean mean_age?), got 'mean_agee.error'"
    ),
    "plan.yaml --set mean_age.error": (
        "--set: must be a path and a value, such as mean_age.error=0.5, got 'mean_age.error'"
    ),
    "plan.yaml --set mean_age.error=-1": "plan.yaml: statistics.mean_age.error: must be positive, got -1.0",
    "plan.yaml --set confidence=2": "plan.yaml: confidence: must lie strictly between 0 and 1, got 2.0",
    "plan.yaml --set budget.epsilon=none": f"plan.yaml: budget.epsilon: {_NUMBER}, got 'none'",
    "plan.yaml --hold pepole": "--hold: names no statistic of the plan (did you mean people?), got 'pepole'",
    "plan.yaml --free x": (
        "--free: names no statistic of the plan, which has people, mean_age, regions, got 'x'"
    ),
    "plan.yaml --drop x": (
        "--drop: names no statistic of the plan, which has people, mean_age, regions, got 'x'"
    ),
    "plan.yaml --add x": "--add: must be a name and a statistic, such as 'mean_age: {mean: age}', got 'x'",
    "plan.yaml --add 'people: {count: }'": (
        "--add: is in the plan already: drop it first, or set its entries, got 'people'"
    ),
    "plan.yaml --html nowhere/a.html": "--html: 'nowhere' is not a directory",
    "plan.yaml --html same.html --save same.html": "--html: is the same file as --save, same.html",
    "plan.yaml --html same.html --pdf-ready same.html": "--pdf-ready: is the same file as --html, same.html",
    "plan.yaml --pdf-ready taken": "--pdf-ready: taken: Is a directory",
    "plan.yaml --save nowhere/a.yaml": "--save: 'nowhere' is not a directory",
    "plan.yaml --set": "Option '--set' requires an argument.",
    "release plan.yaml": "Missing option '--data'.",
    "release plan.yaml --data nowhere.csv": "--data: cannot be read (No such file or directory), got 'nowhere.csv'",
    "release nowhere.yaml --data people.parquet": "nowhere.yaml: No such file or directory",
    "release plan.yaml --data plan.yaml": "--data: is the same file as FILE, plan.yaml",
    "release plan.yaml --data people.parquet --out people.parquet": "--out: is the same file as --data, people.parquet",
    "release plan.yaml --data people.parquet --html people.parquet": (
        "--html: is the same file as --data, people.parquet"
    ),
    "release plan.yaml --data people.parquet --html plan.yaml": "Got unexpected extra argument(s) (plan.yaml)",
    "release plan.yaml --data people.parquet --out nowhere/a.json": "--out: 'nowhere' is not a directory",
    "release plan.yaml --data pair.json": (
        f"--data: must end in one of {', '.join(FILE_ENDINGS)}, got 'pair.json'"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "line"), COMMANDS.items())
def test_bad_input_is_one_line_and_two(arguments: str, line: str) -> None:
    result = run(arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"optcomp: {line}\n")
    assert not list(Path().glob("*release*"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "bad.yaml: plan: must be a mapping, got 'nothing'"),
        ("- a", "bad.yaml: plan: must be a mapping, got 'a list'"),
        ("a: 1\na: 2", "bad.yaml, line 2: is given twice, got 'a: 2'"),
        ("a: [", "bad.yaml, line 1: expected the node content, but found '<stream end>', got 'a: ['"),
        ("plan: 1\n  data: {}", "bad.yaml, line 2: mapping values are not allowed here, got 'data: {}'"),
    ],
    ids=range(5),
)
def test_what_is_no_plan_at_all(text: str, line: str) -> None:
    Path("bad.yaml").write_text(text, encoding="utf8")
    result = run("bad.yaml")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"optcomp: {line}\n")
    assert run("bad.yaml --drop people").exit_code == 2


def test_holds_that_cost_too_much() -> None:
    result = run("plan.yaml --set people.epsilon=3 --save over.yaml")
    assert result.exit_code == 2
    assert result.stderr.startswith("optcomp: plan.yaml: statistics: are held at 3 in all, of a budget of 1: ")
    assert result.stderr.count("\n") == 1
    Path("over.yaml").write_text(dumped(put(small(), "people.epsilon", 3)), encoding="utf8")
    result = run("over.yaml --hold mean_age --free people")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "optcomp: --hold: needs a plan that works without changes (statistics: are held at "
    )


def test_a_release_that_was_interrupted() -> None:
    Path("plan.release.json").write_text("", encoding="utf8")
    result = run("release plan.yaml --data people.parquet")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "optcomp: plan.release.json: a release was begun and is running, or was interrupted; "
        "its budget must be taken as spent\n"
    )


def test_a_release_of_another_plan() -> None:
    assert run("release plan.yaml --data people.parquet --out out.json").exit_code == 0
    result = run("release pair.json --data people.parquet --out out.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("optcomp: out.json: holds a release of another plan (")
    assert result.stderr.endswith("); choose another file, nothing was spent\n")


def test_a_plan_over_budget_is_shown_and_not_released() -> None:
    sets = "--set objective=wanted --set people.error=1 --set mean_age.error=1 --set regions.error=1"
    shown = run(f"plan.yaml {sets} --save over.yaml")
    assert shown.exit_code == 0
    assert "this plan cannot be released" in " ".join(shown.stdout.replace("│", " ").split())
    result = run("release over.yaml --data people.parquet")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("optcomp: over.yaml: the plan costs ε = ")
    assert result.stderr.endswith(", more than its budget of 1; nothing was spent\n")


@given(st.one_of(spoiled(small()), spoiled(every_kind())))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_documents_end_in_a_plan_or_in_one_line(document: Any) -> None:
    text = dumped(document) if isinstance(document, dict) else json.dumps(document)
    result = run("- --json", text)
    if result.exit_code == 0:
        assert json.loads(result.stdout)["count"] >= 1
    else:
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("optcomp: ")
        assert result.stderr.count("\n") == 1


@given(st.text(max_size=200))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_text_ends_in_one_line(text: str) -> None:
    result = invoke(["plan", "-"], text.encode("utf8", "surrogatepass"))
    assert result.exit_code == 2
    assert result.stderr.startswith("optcomp: standard input")
    assert result.stderr.count("\n") == 1


def test_a_plan_is_saved_as_what_it_is_named() -> None:
    assert run("plan.yaml --set confidence=0.9 --save new.json").exit_code == 0
    assert json.loads(Path("new.json").read_text(encoding="utf8"))["confidence"] == "0.9"
    assert run("new.json").exit_code == 0


def test_a_condition_is_no_count() -> None:
    Path("bad.yaml").write_text(dumped(small(statistics={"a": {"count": "age > 5"}})), encoding="utf8")
    assert run("bad.yaml").stderr == (
        "optcomp: bad.yaml: statistics.a.count: must be rows, or nothing; a condition belongs to `where`, "
        "got 'age > 5'\n"
    )


def test_a_sample_tells_what_it_is_for_the_population() -> None:
    data = {"rows": 1000, "rows_public": True, "population": 100_000, "neighbours": "replace"}
    Path("drawn.yaml").write_text(dumped(small(budget=PAIR, data=data)), encoding="utf8")
    result = run("release drawn.yaml --data people.parquet")
    assert result.exit_code == 0, result.stderr
    assert "For the 100000 people from whom the sample was drawn this is ε = " in result.stdout
