"""A file of data given in the place of the plan: it is refused by its name, and no error shows what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.in_process import invoke


@pytest.mark.parametrize("name", ["people.csv", "people.TSV", "people.csv.gz", "people.parquet"])
@pytest.mark.parametrize(
    "command",
    [
        "plan {0}",
        "data check {0} --data {0}",
        "data prepare {0} --data {0} --out r.snapshot",
        "plan release {0} --data {0} --out r.json",
    ],
)
def test_a_file_of_data_in_the_place_of_the_plan_is_not_shown(name: str, command: str, tmp_path: Path) -> None:
    data = tmp_path / name
    data.write_text("person,age\n17341: 2021,SECRET\n", encoding="utf8")
    result = invoke(command.format(data))
    assert result.exit_code == 2
    assert "SECRET" not in result.stdout + result.stderr
    assert "named like a file of data" in result.stdout + result.stderr


@pytest.mark.parametrize("text", ["person,age\n1,SECRET\n", "- SECRET\n", "SECRET"])
def test_what_is_no_mapping_is_not_shown(text: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(text, encoding="utf8")
    result = invoke(["plan", str(tmp_path / "plan.yaml")])
    assert result.exit_code == 2
    assert "SECRET" not in result.stdout + result.stderr
    assert "must be a mapping" in result.stdout + result.stderr
