"""Terminal, page and programs are shown the same tables."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from optcomp.cli.plan.tables import show_plan, show_release
from optcomp.planner import make_plan, read_file
from optcomp.release.plan_facts import facts, growth
from optcomp.release.report import page
from optcomp.release.tables import Sheet, cell_sheet, plan_sheet, result_sheet

EXAMPLES = Path(__file__).parents[3] / "examples"
STATISTICS: list[dict[str, Any]] = [
    {"name": "rows", "statistic": "count", "value": 60032, "interval": [59_900.0, 60_164.0]},
    {"name": "middle", "statistic": "median of income", "value": 31_250.5, "interval": None},
    {
        "name": "regions",
        "statistic": "histogram of region",
        "cells": [
            {"cell": name, "value": -3 + place, "interval": [0.0, 9.5]} for place, name in enumerate("abcdefg" * 3)
        ],
    },
]


@pytest.fixture(scope="module")
def plan() -> dict[str, Any]:
    return facts(make_plan(read_file(EXAMPLES / "plan.yaml")))


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_plan(plan: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    sheet, document = plan_sheet(plan), make_plan(read_file(EXAMPLES / "plan.yaml"))
    assert [row.texts[0] for row in sheet.rows] == [entry["name"] for entry in plan["statistics"]]
    html = unescape(page(plan, growth(document))).replace("<wbr>", "")
    show_plan(plan)
    terminal = shown(capsys)
    for row in sheet.rows:
        assert row.note in html
        for text in row.texts:
            assert text in html
            assert all(word in terminal for word in text.split())


def test_a_release(plan: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    guarantee = {"total": {"epsilon": 1.0, "delta": 1e-6}, "reserve": None, "sample": None}
    record = {"versions": {"optcomp": "0"}, "plan_sha256": "0"}
    view = {"facts": plan, "statistics": STATISTICS, "guarantee": guarantee, "finished": "today", "record": record}
    html = unescape(page(plan, growth_of(plan), view)).replace("<wbr>", "")
    show_release(view, fresh=True)
    terminal = shown(capsys)
    single, cells = result_sheet(STATISTICS, 0.95), cell_sheet(STATISTICS[2], 0.95)
    for row in (*single.rows, *cells.rows[:12]):
        for text in row.texts:
            assert text in html
            assert all(word in terminal for word in text.split())
    assert "… and 9 more" in terminal


def growth_of(plan: dict[str, Any]) -> list[dict[str, float | None]]:
    return [{"count": 1, "total": plan["upper"], "sum": None, "rho": None}]


def test_values_are_ready_for_json(plan: dict[str, Any]) -> None:
    sheets: list[Sheet] = [plan_sheet(plan), result_sheet(STATISTICS, 0.95), cell_sheet(STATISTICS[2], 0.95)]
    for sheet in sheets:
        assert json.loads(json.dumps(sheet.as_dict()))["headings"] == list(sheet.headings)
        assert all(len(row.texts) == len(sheet.headings) for row in sheet.rows)
    assert result_sheet(STATISTICS, 0.95).rows[0].texts == ("rows", "count", "60,032", "59,900 to 60,164")
    assert result_sheet(STATISTICS, 0.95).rows[1].texts == ("middle", "median of income", "31,250.5", "")
