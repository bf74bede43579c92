"""`optcomp data check`: what it prints, its exit codes, and that it writes and spends nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from optcomp.planner.source import dumped
from tests.plans import small
from tests.unit.cli.in_process import Result, invoke

NOTICE = "Exact numbers, without noise: for whoever holds the data; do not publish."
ROWS = {"age": [i % 100 for i in range(1000)], "region": ["north", "south"] * 500, "year": [2020] * 1000}


def run(arguments: str) -> Result:
    return invoke(f"data check {arguments}")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.yaml").write_text(dumped(small()), encoding="utf8")
    pq.write_table(pa.table(ROWS), "people.parquet")
    csv.write_csv(pa.table(ROWS), "people.csv")
    csv.write_csv(pa.table(ROWS), "people.tsv", csv.WriteOptions(delimiter="\t"))


@pytest.mark.parametrize("name", ["people.parquet", "people.csv", "people.tsv"])
def test_nothing_wrong(name: str) -> None:
    before = sorted(Path().iterdir())
    result = run(f"plan.yaml --data {name}")
    lines = result.stdout.splitlines()
    assert (result.exit_code, result.stderr) == (0, "")
    assert lines[0] == lines[-1] == NOTICE
    assert "Nothing looks wrong." in lines
    assert f"│ file            │ {name}, {Path(name).stat().st_size:,} bytes" in result.stdout
    assert "│ not in the plan │ year " in result.stdout
    assert "not covered by the guarantee" in result.stdout
    assert sorted(Path().iterdir()) == before


def test_advice_is_one_line_each_and_the_exit_code_1() -> None:
    rows = [f"{100 + i % 50 if i < 812 else 30},{'North' if i % 2 else 'south'},{i}" for i in range(8000)]
    Path("wrong.csv").write_text("age,region,Größe\n" + "\n".join(rows), encoding="utf8")
    result = run("plan.yaml --data wrong.csv")
    assert (result.exit_code, result.stderr) == (1, "")
    assert [line for line in result.stdout.splitlines() if line.startswith("!")] == [
        "! data.rows: 1,000 are declared and 8,000 were read; is it the right file?",
        "! age: 812 of 8,000 values lie above 99 and will be clamped; are the bounds right?",
        "! region: 50 % of rows are in no declared category (such as 'North'); never seen: 'north'",
    ]


def test_json_says_the_same() -> None:
    Path("latin.csv").write_text("age,region\n1,nörth\n2,north\nx,south\n3\n", encoding="latin1")
    result = run("plan.yaml --data latin.csv --json")
    view = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (1, "")
    assert next(iter(view)) == "notice"
    assert f"{view['notice']}." == NOTICE
    assert (view["file"]["rows"], view["file"]["unread"]) == (4, {"too few cells": 1})
    assert view["file"]["first_unread"] == "latin.csv, line 5"
    assert [(entry["name"], entry["reasons"], entry["first_unread"]) for entry in view["columns"]] == [
        ("age", {"not a number": 1}, "latin.csv, line 4"),
        ("region", {"text that is not UTF-8": 1}, "latin.csv, line 2"),
    ]
    assert any("dialect: {encoding: latin-1}" in line for line in view["advice"])
    shown = run("plan.yaml --data latin.csv").stdout.splitlines()
    assert [line.removeprefix("! ") for line in shown if line.startswith("!")] == view["advice"]


def test_what_cannot_be_read_is_refused_or_missing_as_the_plan_says() -> None:
    Path("bad.csv").write_text("age,region\n1,north\nx,south\n", encoding="utf8")
    refusing = run("plan.yaml --data bad.csv")
    assert refusing.exit_code == 1
    assert (
        "! age: 1 cell cannot be read, first bad.csv, line 3 (not a number: 1; such as 'x'); "
        "preparation will refuse, unless bad_cells: missing\n" in refusing.stdout
    )
    Path("lenient.yaml").write_text(dumped(small(data={"rows": 2, "bad_cells": "missing"})), encoding="utf8")
    assert "; such as 'x'); they will count as missing\n" in run("lenient.yaml --data bad.csv").stdout


def test_what_the_lot_does() -> None:
    """Ten people have a row each and one has ten that are alike, so that every lot is the same."""
    rows = "".join(f"{i},20,north\n" for i in range(10)) + "x,80,south\n" * 10 + ",20,north\n"
    Path("many.csv").write_text("id,age,region\n" + rows, encoding="utf8")
    statistics = {"old": {"count": "rows", "where": "age >= 65"}}
    data = {"person": "id", "rows_per_person": 2}
    Path("people.yaml").write_text(dumped(small(data=data, statistics=statistics)), encoding="utf8")
    result = run("people.yaml --data many.csv")
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert ["people", "11, with up to 10 rows; with more than 2: 1"] in cells
    assert ["rows of nobody", "1, left out"] in cells
    assert ["rows too many", "8 of 20, left out by lot"] in cells
    assert ["old", "age >= 65", "2", "10", "8", "1", "1", "0"] in cells
    assert ["age", "mean", "50", "30"] in cells
    assert ["region", "share of north, which moves most", "50 %", "83.33 %"] in cells
    assert "was drawn for this look" in result.stdout


def test_it_had_another_name() -> None:
    result = invoke(["plan", "check", "plan.yaml", "--data", "people.csv"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "optcomp: `optcomp plan check` is `optcomp data check` now, with the same arguments\n"


def test_no_letter_of_a_cell_or_name_harms_the_terminal() -> None:
    Path("odd.csv").write_text('age,region,"a\x1b[31m"\n1,\x1b[31mred,1\n[bold]x[/bold],north,1\n', encoding="utf8")
    result = run("plan.yaml --data odd.csv")
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout
    assert "'[bold]x[/bold]'" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("plan.yaml", "Missing option '--data'"),
        ("nothing.yaml --data people.csv", "nothing.yaml: No such file or directory"),
        ("plan.yaml --data nothing.csv", "optcomp: --data: is not a file, got 'nothing.csv'"),
        ("plan.yaml --data empty.csv", "optcomp: --data: is empty, got 'empty.csv'"),
        ("plan.yaml --data twice.csv", "--data: must name each column once, and its header has 'age' twice"),
        ("plan.yaml --data other.csv", "--data: does not fit the plan: column 'age' is not in the table"),
        ("people.csv --data people.csv", "people.csv"),
    ],
)
def test_bad_input_is_one_line_and_the_exit_code_2(arguments: str, said: str) -> None:
    Path("empty.csv").write_text("")
    Path("twice.csv").write_text("age,region,age\n1,north,2\n")
    Path("other.csv").write_text("region\nnorth\n")
    result = run(arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert said in result.stderr
