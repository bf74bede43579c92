"""Declaration, plan, cart, release, report: in a real browser, with scripts and without."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from optcomp.release import verify_release
from tests.system.browser.browsers import COLOURS, PHONE, Window, findings

pytestmark = pytest.mark.slow
Open = Callable[..., Window]


def begin(page: Page) -> str:
    """A new draft about the data set of the demonstration."""
    page.goto("/planner")
    page.get_by_label("About how many rows").fill("60000")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url(re.compile(r"/planner/\d+$"))
    return page.url


def add(page: Page, draft: str, kind: str, **fields: str) -> None:
    """One more statistic, by the form for its kind."""
    page.goto(f"{draft}/add")
    page.get_by_role("main").get_by_role("link", name=kind, exact=True).click()
    for label, value in fields.items():
        field = page.get_by_label(label.replace("_", " "), exact=True)
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    page.get_by_role("button", name="Add to the plan").click()
    page.wait_for_url(draft)


def looked_at(page: Page) -> None:
    """Nothing serious, in both themes, and no scrolling sideways on a phone."""
    page.emulate_media(color_scheme="light")
    assert findings(page) == []
    page.emulate_media(color_scheme="dark")
    assert findings(page, only=COLOURS) == []
    wide = page.viewport_size
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), page.url
    assert wide is not None
    page.set_viewport_size(wide)


def downloaded(page: Page, name: str) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name).click()
    with open(waiting.value.path(), encoding="utf8", newline="") as file:
        return file.read()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_from_a_declaration_to_a_report(window: Open, demo: dict[str, Any], scripts: bool) -> None:
    at = window(demo["owner"], java_script_enabled=scripts)
    page, check = at.page, looked_at if scripts else (lambda page: None)
    page.goto("/planner")
    draft = begin(page)
    expect(page.get_by_text("Add a first statistic")).to_be_visible()
    add(page, draft, "Count")
    check(page)
    add(page, draft, "Mean", Column="income", Name="pay" if scripts else "wages")
    add(page, draft, "Histogram", Column="region")
    held = page.get_by_label("Hold pay as it is" if scripts else "Hold wages as it is")
    error = page.get_by_label(re.compile("Error of (pay|wages)"))
    count = page.get_by_label("Error of count in rows")
    before = count.input_value()
    error.fill("2000")
    if not scripts:
        page.get_by_role("button", name="Show").click()
    expect(held).to_be_checked()
    expect(count).not_to_have_value(before)
    page.reload()
    expect(error).to_have_value("2000")
    page.get_by_role("button", name="Undo").click()
    expect(held).not_to_be_checked()
    expect(count).to_have_value(before)
    page.get_by_role("button", name="Redo").click()
    expect(held).to_be_checked()
    page.get_by_label("ε in all").fill("0.2" if scripts else "0.15")
    if not scripts:
        page.get_by_role("button", name="Show").click()
    expect(page.locator("[data-total=optimal]")).to_have_text("0.2" if scripts else "0.15")
    check(page)
    page.get_by_role("link", name="To the cart").click()
    page.get_by_role("button", name="Release now").click()
    page.wait_for_url(re.compile("/planner/releases/survey/"))
    record = json.loads(downloaded(page, "Record (JSON)"))
    assert verify_release(record).proved
    value = record["statistics"][0]["value"]
    expect(page.get_by_role("cell", name=str(value), exact=True).first).to_be_visible()
    rows = list(csv.DictReader(io.StringIO(downloaded(page, "Numbers (CSV)"), newline="")))
    assert float(rows[0]["value"]) == value
    assert record["facts"]["statistics"][1]["error"] <= 2000
    compile(downloaded(page, "Python script"), "release.py", "exec")
    assert json.loads(downloaded(page, "Notebook"))["nbformat"] == 4
    page.go_back()
    page.goto(f"{draft}/cart")
    expect(page.get_by_text("This plan was released.")).to_be_visible()
    expect(page.get_by_role("button", name="Release now")).to_have_count(0)


def test_two_windows_and_typing_in_one(window: Open, demo: dict[str, Any]) -> None:
    first = window(demo["owner"])
    draft = begin(first.page)
    add(first.page, draft, "Count")
    second = window(demo["owner"])
    second.page.goto(draft)
    budget = first.page.get_by_label("ε in all")
    budget.press("End")
    budget.press_sequentially("55", delay=30)
    expect(first.page.locator("[data-total=optimal]")).to_have_text("0.2555")
    expect(first.page.locator("[data-late]")).to_have_count(0)  # comparisons come by themselves
    expect(first.page.locator("[data-total=basic]")).to_have_text(re.compile(r"^[0-9.]+$"))
    expect(first.page.locator("#zcdp-0")).to_have_text(re.compile("^±[0-9]"))
    expect(budget).to_be_focused()
    expect(budget).to_have_value("0.2555")
    second.page.get_by_label("ε in all").fill("0.9")
    expect(second.page.get_by_role("alert")).to_contain_text("another window")
    second.page.get_by_label("ε in all").press_sequentially("1")
    second.page.get_by_role("button", name="Show").click()
    first.page.reload()
    expect(budget).to_have_value("0.2555")
    budget.fill("nonsense")
    expect(first.page.locator("#epsilon-wrong")).to_be_visible()
    assert findings(first.page) == []


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_a_table_by_hand_and_a_file(window: Open, demo: dict[str, Any], scripts: bool) -> None:
    at = window(demo["analysts"][0], java_script_enabled=scripts)
    page = at.page
    page.goto("/planner")
    page.get_by_label("Name").fill("By hand")
    page.get_by_role("button", name="Declare columns").click()
    page.wait_for_url("**/table")
    draft = page.url.removesuffix("/table")
    page.get_by_label("About how many rows").fill("5000")
    for number, (name, kind) in enumerate((("age", "whole numbers"), ("region", "categories"))):
        column = page.get_by_role("group", name=f"Column {number + 1}")
        column.get_by_label("Name of the column").fill(name)
        column.get_by_label("It holds").select_option(kind)
        if number:
            column.get_by_label("Values, with commas").fill("north, south")
        else:
            column.get_by_label("Lowest value").fill("0")
            column.get_by_label("Highest value").fill("99")
            page.get_by_role("button", name="Add a column").click()
            expect(page.get_by_role("group", name="Column 2")).to_be_visible()
    if scripts:
        looked_at(page)
    page.get_by_role("button", name="Use this table").click()
    page.wait_for_url(draft)
    add(page, draft, "Median", Column="age", For_each_value_of="region")
    if scripts:
        looked_at(page)
    text = downloaded(page, "Download YAML")
    assert "median_age_north" in text
    page.get_by_role("link", name="To the cart").click()
    expect(page.get_by_text("declared by hand. Download it")).to_be_visible()
    page.goto("/planner")
    page.get_by_label("Or paste it here").fill(text)
    page.get_by_role("button", name="Read the plan").click()
    page.wait_for_url(re.compile(r"/planner/\d+$"))
    expect(page.get_by_label(re.compile("Error of median_age_south"))).to_be_visible()


def test_a_field_that_has_the_focus_and_was_not_typed_in_follows(window: Open, demo: dict[str, Any]) -> None:
    """Whoever goes on with the tab key must not send an old budget back, and lose the error that they wanted."""
    page = window(demo["owner"]).page
    draft = begin(page)
    add(page, draft, "Count")
    add(page, draft, "Histogram", Column="region")
    add(page, draft, "Mean", Column="income", Name="pay")
    error, budget = page.get_by_label(re.compile("Error of pay")), page.get_by_label("Budget of pay")
    before = budget.input_value()
    error.fill("2000")
    error.press("Tab")
    expect(budget).to_be_focused()
    expect(budget).not_to_have_value(before)
    expect(page.get_by_label("Hold pay as it is")).to_be_checked()
    count = page.get_by_label("Error of count in rows")
    shown = count.input_value()
    page.get_by_label("Weight of count").fill("3")
    expect(count).not_to_have_value(shown)
    page.reload()
    expect(page.get_by_label("Weight of count")).to_have_value("3")
    expect(error).to_have_value("2000")
