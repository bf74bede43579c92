"""The way from a dirty CSV file to a report, walked as the page says; and every entry of plans is documented."""

from __future__ import annotations

import csv
import json
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from optcomp.planner import schema
from optcomp.statistics import ENCODINGS, FILE_ENDINGS, THOUSANDS
from tests.unit.cli.in_process import Result, invoke

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "files.md").read_text(encoding="utf8")
WALK = PAGE.partition("## From a dirty CSV file to a released report\n")[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(command: str) -> Result:
    """Run one command of the page, in this process."""
    name, *words = shlex.split(command)
    if name == "optcomp":
        return invoke(words, env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert name == "python"
    with patch.object(sys, "argv", words):
        runpy.run_path(words[0], run_name="__main__")
    return Result(0, "", "")


def test_the_page_is_a_way_from_a_dirty_file_to_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    told = dict[str, str]()
    for kind, block in BLOCK.findall(WALK):
        if kind == "yaml":
            (tmp_path / "wages.yaml").write_text(block, encoding="utf8")
            continue
        for line in block.splitlines():
            done = run(line)
            assert done.exit_code == (1 if "data check" in line else 0), (line, done.stderr)
            told[" ".join(line.split()[:3])] = done.stdout
    draft = (tmp_path / "draft.yaml").read_text(encoding="utf8")
    assert 'dialect: {"delimiter": ";", "decimal": ",", "thousands": ".", "encoding": "latin-1"}' in draft
    header, *lines = (tmp_path / "wages.csv").read_text(encoding="latin-1").splitlines()
    for line in lines[:200]:
        person, age, region, wage, day = line.split(";")
        assert not any(cell in draft for cell in (person, wage, day, f"[{age}", region) if cell)
    for name in header.split(";"):
        assert json.dumps(name) in draft
    assert run("optcomp plan draft.yaml").exit_code == 2
    checked = told["optcomp data check"]
    rows = [line.split(";") for line in lines]
    assert f"{sum(not row[3] for row in rows):,}" in checked  # missing wages
    assert re.search(r"Region: 3[.\d]* % of rows are in no declared category", checked)
    for name in ("wages.release.html", "wages.release.json", "wages.release.csv"):
        assert (tmp_path / name).stat().st_size > 1000 or name.endswith(".csv")
    with (tmp_path / "wages.release.csv").open(encoding="utf8", newline="") as file:
        numbers = list(csv.DictReader(file))
    middle = [each["value"] for each in numbers if each["name"] == "middle_entry"]
    assert len(middle) == 1
    assert re.fullmatch(r"20[12][0-9]-[01][0-9]", middle[0])
    regions = {each["cell"] for each in numbers if each["name"] == "regions"}
    assert regions == {"Nord", "Süd", "Ost", "West", "(other)"}
    assert "proved" in told["optcomp verify wages.release.json"]
    plan = (tmp_path / "wages.yaml").read_text(encoding="utf8").replace("'Süd'", "'Sued'")
    (tmp_path / "wrong.yaml").write_text(plan, encoding="utf8")
    refused = run("optcomp plan wrong.yaml")
    assert refused.exit_code == 2
    assert "'Sued', which is no declared category of 'Region'" in refused.stderr


def test_all_that_can_be_read_is_on_the_page() -> None:
    assert [ending for ending in FILE_ENDINGS if f"`{ending}`" not in PAGE and not ending.endswith(".gz")] == []
    assert [name for name in ENCODINGS if f"`{name}`" not in PAGE] == []
    assert [mark for mark in THOUSANDS if mark.strip() and f"`{mark}`" not in PAGE] == []


def entries(rule: Any) -> Iterator[str]:
    """The names of all entries of a schema."""
    if isinstance(rule, dict):
        yield from rule.get("properties", {})
        for each in rule.values():
            yield from entries(each)
    elif isinstance(rule, list):
        for each in rule:
            yield from entries(each)


def test_every_entry_of_plans_is_in_the_page_about_planning() -> None:
    page = (ROOT / "docs" / "planning.md").read_text(encoding="utf8")
    known = set(re.findall(r"`(?:data\.)?(\w+)`", page)) | set(re.findall(r"`(\w+):[^`]*`", page))
    known |= set(re.findall(r"`(\w+)\.\w+`", page)) | ({"plan"} if "plan: 1" in page else set())
    assert sorted(set(entries(schema())) - known) == []
