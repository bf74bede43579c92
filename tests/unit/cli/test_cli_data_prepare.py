"""`optcomp data prepare`, and releases of what it wrote: what is printed, exit codes, and that nothing is half done."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from optcomp.numerics import listening
from optcomp.planner import read_file
from optcomp.planner.source import dumped
from optcomp.release import prepare_data
from optcomp.statistics import Count, Table
from tests.plans import Plain, small
from tests.unit.cli.in_process import Result, invoke

NOTICE = "Exact numbers, without noise: for whoever holds the data; do not publish."
DATA: Plain = {"rows": 4, "person": "id", "rows_per_person": 2}


def run(arguments: str) -> Result:
    return invoke(arguments)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.yaml").write_text(dumped(small(data=DATA, budget={"epsilon": 500})), encoding="utf8")
    Path("people.csv").write_text(
        "id,age,region\n" + "a,20,north\n" * 3 + "b,120,south\n,30,north\nc,7.5,\n", encoding="utf8"
    )
    Path("bad.csv").write_text("id,age,region\na,SECRET,north\nb,7\nc,8,south\n", encoding="utf8")


def test_what_is_printed() -> None:
    result = run("data prepare plan.yaml --data people.csv --out people.snapshot")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == lines[-1] == NOTICE
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert ["rows", "6; declared: about 4"] in cells
    assert ["people", "3"] in cells
    assert ["rows of nobody", "1, left out"] in cells
    assert ["rows too many", "1 of 5, left out by lot"] in cells
    assert ["rows that stay", "4"] in cells
    assert ["not whole age", "1, rounded"] in cells
    assert ["age", "integers 0 to 99", "0", "0", "0", "1", "", "7.5", "120"] in cells
    assert "The snapshot is in people.snapshot; it holds people's data: keep it where the file is kept." in lines
    assert Count().measure(Table.open("people.snapshot")) == ((4,),)


def test_json_says_the_same() -> None:
    result = run("data prepare plan.yaml --data people.csv --out people.snapshot --json")
    view = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    assert next(iter(view)) == "notice"
    assert (view["snapshot"], view["rows"]) == ("people.snapshot", 4)
    assert (view["person"]["nobody"], view["person"]["dropped"]) == (1, 1)
    assert [entry["above"] for entry in view["columns"]] == [1, 0]


def test_what_cannot_be_read_is_one_line_with_place_and_reason() -> None:
    result = run("data prepare plan.yaml --data bad.csv --out x.snapshot")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "optcomp: bad.csv, line 2, column 'age': not a number; 1 line and 1 cell cannot be read; "
        "mend the data, or say bad_cells: missing in the plan (or --bad-cells missing to data prepare) "
        "to count them as missing\n"
    )
    assert not Path("x.snapshot").exists()
    counted = run("data prepare plan.yaml --data bad.csv --out x.snapshot --bad-cells missing")
    assert (counted.exit_code, counted.stderr) == (0, "")
    assert "SECRET" not in counted.stdout
    assert "not a number: 1; first bad.csv, line 2" in counted.stdout
    assert "too few cells: 1; first bad.csv, line 3" in counted.stdout


def test_options_are_as_the_plan_says_unless_given() -> None:
    lenient = small(data=DATA | {"bad_cells": "missing", "multiline": True})
    Path("lenient.yaml").write_text(dumped(lenient), encoding="utf8")
    Path("two.csv").write_text('id,age,region\na,x,"no\nrth"\n', encoding="utf8")
    assert run("data prepare lenient.yaml --data two.csv --out 1.snapshot").exit_code == 0
    assert run("data prepare lenient.yaml --data two.csv --out 2.snapshot --bad-cells refuse").exit_code == 2
    assert run("data prepare plan.yaml --data two.csv --out 2.snapshot --bad-cells missing --multiline").exit_code == 0
    one = [
        run(f"data prepare {options} --json").stdout
        for options in (
            "plan.yaml --data two.csv --out 3.snapshot --bad-cells missing",
            "lenient.yaml --data two.csv --out 4.snapshot --no-multiline",
        )
    ]
    assert [json.loads(text)["file"]["rows"] for text in one] == [2, 2]
    assert run("data prepare plan.yaml --data people.csv --out 5.snapshot --memory 200MB").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("plan.yaml --data people.csv", "Missing option '--out'"),
        (
            "plan.yaml --data people.csv --out there",
            "--out: is there already, and a snapshot is never overwritten: name a new folder",
        ),
        ("plan.yaml --data people.csv --out no/x.snapshot", "--out: 'no' is not a directory"),
        ("plan.yaml --data people.csv --out people.csv", "--out: is the same file as --data, people.csv"),
        ("plan.yaml --data there --out x", "--data: is a folder, and must be a file, such as one of CSV or Parquet"),
        ("plan.yaml --data none.csv --out x", "--data: is not a file, got 'none.csv'"),
        ("plan.yaml --data people.csv --out x --bad-cells skip", "--bad-cells: must be refuse or missing, got 'skip'"),
        ("plan.yaml --data people.csv --out x --memory much", "--memory: must be a size such as '512MB' or '4GB'"),
        ("none.yaml --data people.csv --out x", "none.yaml: No such file or directory"),
        ("other.yaml --data people.csv --out x", "--data: does not fit the plan: column 'height' is not in the table"),
    ],
)
def test_bad_input_is_one_line_and_the_exit_code_2(arguments: str, said: str) -> None:
    Path("there").mkdir()
    Path("other.yaml").write_text(dumped(small()).replace("age", "height"), encoding="utf8")
    result = run(f"data prepare {arguments}")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert said in result.stderr
    assert not Path("x").exists()


def test_too_little_memory_is_one_line() -> None:
    lines = "".join(f"person {i},{i % 90},north\n" for i in range(60_000))
    Path("large.csv").write_text("id,age,region\n" + lines, encoding="utf8")
    result = run("data prepare plan.yaml --data large.csv --out x.snapshot --memory 1MB")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "large.csv: the engine could not go on (OutOfMemoryException); it may need more memory" in result.stderr
    assert not Path("x.snapshot").exists()


def test_a_snapshot_is_released_and_read_again() -> None:
    assert run("data prepare plan.yaml --data people.csv --out people.snapshot").exit_code == 0
    Path("people.csv").unlink()
    first = run("plan release plan.yaml --data people.snapshot --json")
    assert first.exit_code == 0
    assert "people.snapshot.ledger: keep it with the data" in first.stderr
    view = json.loads(first.stdout)
    assert abs(view["statistics"][0]["value"] - 4) <= 1  # of ε = 500 a third: noise of 2 has probability 1e-72
    again = run("plan release plan.yaml --data people.snapshot --json")
    assert json.loads(again.stdout) | {"notices": []} == view | {"notices": []}
    assert run("verify plan.release.json").exit_code == 0


def test_a_release_says_what_is_wrong_with_the_data_before_it_begins() -> None:
    result = run("plan release plan.yaml --data bad.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("optcomp: bad.csv, line 2, column 'age': not a number; 1 line and 1 cell")
    assert not Path("plan.release.json").exists()
    assert run("data prepare plan.yaml --data people.csv --out people.snapshot").exit_code == 0
    Path("other.yaml").write_text(dumped(small(data=DATA | {"rows_per_person": 3})), encoding="utf8")
    other = run("plan release other.yaml --data people.snapshot")
    assert (other.exit_code, other.stdout, other.stderr.count("\n")) == (2, "", 1)
    assert "--data: is a snapshot of another declaration: " in other.stderr
    assert "rows_per_person is 3 in the plan and 2 in the snapshot" in other.stderr
    checked = run("data check plan.yaml --data people.snapshot")
    assert (checked.exit_code, checked.stdout) == (2, "")
    assert "--data: is a snapshot, of a file that was read already" in checked.stderr


def test_long_work_says_how_far_it_is() -> None:
    """Also where an engine reads in a thread of its own: in batches of 2^16 rows, or by the bytes that were taken."""
    rows = 200_000
    table = pa.table({"id": range(rows), "age": [30] * rows, "region": ["north"] * rows})
    pq.write_table(table, "large.parquet", row_group_size=rows)
    csv.write_csv(table, "large.csv")
    for name, expected in (("large.parquet", [i * 2**16 / rows for i in (1, 2, 3)] + [1.0]), ("large.csv", None)):
        told: list[tuple[str, float]] = []
        with listening(lambda what, share, told=told: told.append((what, share))):  # type: ignore[misc]
            prepare_data(read_file("plan.yaml"), name, f"{name}.snapshot")
        shares = [share for what, share in told if what == "preparing the data"]
        assert shares == (expected or sorted(shares))
        assert shares[-1] == 1
