"""A journey from a file that nobody cleaned to a released report, by the pages alone, with scripts and without."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from optcomp.release import verify_release
from tests.system.browser.browsers import Window
from tests.system.browser.test_office_journey import register
from tests.system.browser.test_planner_journey import add, downloaded

Open = Callable[..., Window]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_file_a_plan_a_report(window: Open, demo: dict[str, Any], scripts: bool) -> None:
    at = window(demo["owner"], java_script_enabled=scripts)
    page, dataset = at.page, f"visits-{scripts}"
    register(page, dataset, scripts=False)  # what axe says of these pages is asked elsewhere
    page.goto("/planner")
    page.locator("#dataset").select_option(dataset)
    page.get_by_label("About how many rows").fill("500")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url(re.compile(r"/planner/\d+$"))
    draft = page.url
    add(page, draft, "Count")
    add(page, draft, "Histogram", Column="ward")
    page.get_by_role("link", name="To the cart").click()
    page.get_by_role("button", name="Release now").click()
    page.wait_for_url(re.compile(f"/planner/releases/{dataset}/"))
    record = json.loads(downloaded(page, "Record (JSON)"))
    assert verify_release(record).proved
    expect(page.get_by_role("cell", name=str(record["statistics"][0]["value"]), exact=True)).to_be_visible()
    address = page.url
    page.reload()
    assert json.loads(downloaded(page, "Record (JSON)")) == record
    page.goto(f"/owner/datasets/{dataset}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto(address)
    assert json.loads(downloaded(page, "Record (JSON)")) == record
