"""The analyst's desk in a real browser, with scripts and without: ask until refused, and never pay twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.system.browser.browsers import Window

pytestmark = pytest.mark.slow
Open = Callable[..., Window]
SEAT = {0: 1, 1: 2, 2: 3}
"""The seats of the demonstration's analysts."""


def left(demo: dict[str, Any], analyst: int) -> Fraction:
    """What the interface says is left, exactly."""
    headers = {"Authorization": f"Bearer {demo['analysts'][analyst]}"}
    found = httpx.get(f"{demo['url']}/api/v1/seats/{SEAT[analyst]}", headers=headers, timeout=180).json()
    return Fraction(found["left"]["amounts"]["epsilon"]["left"])


def fill(page: Page, scripts: bool, epsilon: str, kind: str = "count", column: str = "") -> None:
    """Write a question; without scripts the page is asked for by a button."""
    page.get_by_label("What do you want to know?").select_option(kind)
    if not scripts:
        page.get_by_role("button", name="Show what it would cost").click()
    if column:
        page.get_by_label("About which column?").select_option(column)
    page.get_by_label("ε to spend").fill(epsilon)
    if not scripts:
        page.get_by_role("button", name="Show what it would cost").click()
    expect(page.locator("#preview").get_by_text(f"at ε = {epsilon}")).to_be_visible()


@pytest.mark.parametrize(("scripts", "analyst"), [(True, 0), (False, 1)])
def test_ask_until_refused(window: Open, demo: dict[str, Any], scripts: bool, analyst: int) -> None:
    at = window(demo["analysts"][analyst], java_script_enabled=scripts)
    page, seat = at.page, f"/analyst/seats/{SEAT[analyst]}"
    expect(page.get_by_text("ε (epsilon): 0.5 of 0.5 left")).to_be_visible()
    page.get_by_role("link", name="Open this seat").click()

    fill(page, scripts, "0.2", "histogram", "region")
    expect(page.locator("#preview")).to_contain_text("2 fit, one after another")
    page.get_by_role("button", name="Try it on invented data").click()
    expect(page.get_by_text("They say nothing about anybody")).to_be_visible()
    page.get_by_role("button", name="Go on to confirm").click()
    expect(page.get_by_text("ε 0.3 of 0.5 left")).to_be_visible()
    assert left(demo, analyst) == Fraction(1, 2)
    page.get_by_role("button", name="Pay and ask").press("Enter")
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()
    assert left(demo, analyst) == Fraction(3, 10)
    expect(page.get_by_role("row", name=re.compile("islands"))).to_be_visible()
    expect(page.locator("svg.chart")).to_be_visible()
    expect(page.get_by_text("MV18-1.5", exact=True)).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Table (CSV)").click()
    assert download.value.path().read_text().startswith("statistic,cell,value,low,high")
    page.get_by_role("button", name="Share this answer").click()
    expect(page.get_by_text("You shared this answer.")).to_be_visible()

    page.goto(seat)
    fill(page, scripts, "0.3")
    page.get_by_role("button", name="Go on to confirm").click()
    other = at.context.new_page()
    other.goto(seat)
    fill(other, scripts, "0.25")
    other.get_by_role("button", name="Go on to confirm").click()
    page.get_by_role("button", name="Pay and ask").click()
    expect(page.locator(".figure")).to_be_visible()
    other.get_by_role("button", name="Pay and ask").click()
    expect(other.get_by_role("alert")).to_contain_text("Not asked, and nothing was paid")
    expect(other.get_by_role("alert")).to_contain_text("ε 0 of 0.5 left: nothing more")
    other.get_by_role("alert").get_by_role("link", name="Ask for more").click()
    other.get_by_label("What do you need, and why?").fill("The islands, by age.")
    other.get_by_role("button", name="Send it to the owner").click()
    expect(other.get_by_text("Your words were sent to the owner.")).to_be_visible()
    assert left(demo, analyst) == 0
    page.goto("/analyst")
    expect(page.get_by_text("Little is left")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_nothing_is_paid_twice(window: Open, demo: dict[str, Any], scripts: bool) -> None:
    """A double click, a reload, the back button, and the form sent once more by hand."""
    at, before = window(demo["analysts"][2], java_script_enabled=scripts), left(demo, 2)
    page = at.page
    page.goto(f"/analyst/seats/{SEAT[2]}")
    fill(page, scripts, "0.05")
    page.get_by_role("button", name="Go on to confirm").click()
    expect(page.get_by_role("heading", name="Ask this?")).to_be_visible()
    confirmation = page.url
    page.reload()
    assert page.url == confirmation
    fields: dict[str, str | float | bool] = {
        each: page.locator(f"main input[name={each}]").input_value() for each in ("proof", "question")
    }
    page.get_by_role("button", name="Pay and ask").dblclick()
    expect(page.locator(".figure")).to_be_visible()
    answer, value = page.url, page.locator(".figure").inner_text()
    assert left(demo, 2) == before - Fraction(1, 20)
    page.reload()
    expect(page.locator(".figure")).to_have_text(value)
    page.go_back()
    expect(page.locator(".figure")).to_have_text(value)
    again = at.context.request.post(confirmation, form=fields, max_redirects=0, headers={"Origin": demo["url"]})
    assert demo["url"] + again.headers["location"] == answer
    assert left(demo, 2) == before - Fraction(1, 20)


def test_a_mechanism_beside_another(window: Open, demo: dict[str, Any]) -> None:
    at, before = window(demo["analysts"][2]), left(demo, 2)
    page, seat = at.page, f"/analyst/seats/{SEAT[2]}"
    for threshold in ("1000", "50000"):
        page.goto(f"{seat}/open")
        page.get_by_label("Threshold, in rows").fill(threshold)
        page.get_by_label("ε for all of it").fill("0.1")
        expect(page.locator("#preview")).to_contain_text(f"threshold {threshold}")
        page.get_by_role("button", name="Go on to confirm").click()
        page.get_by_role("button", name="Pay and open it").click()
        page.get_by_label("Only rows where (optional)").fill("age >= 40")
        page.get_by_role("button", name="Ask the mechanism").click()
        expect(page.get_by_role("row", name=re.compile("count where age >= 40"))).to_be_visible()
    assert left(demo, 2) == before - Fraction(1, 5)
    page.goto(seat)
    first, second = page.locator("#mechanisms .card").all()
    expect(first).to_contain_text("above the threshold")
    expect(first).to_contain_text("closed")
    expect(second).to_contain_text("below the threshold")
    expect(second).to_contain_text("1 positive answers left")
    tops = [each.evaluate("each => each.getBoundingClientRect().top") for each in (first, second)]
    assert tops[0] == tops[1]


def test_what_is_left_is_live_and_errors_stand_beside_their_field(window: Open, demo: dict[str, Any]) -> None:
    page = window(demo["analysts"][2]).page
    page.goto(f"/analyst/seats/{SEAT[2]}")
    page.get_by_label("ε to spend").fill("nothing")
    expect(page.locator("#epsilon-wrong")).to_contain_text("must be a number")
    assert page.get_by_label("ε to spend").evaluate("each => each === document.activeElement")
    page.get_by_label("ε to spend").fill("0.01")
    expect(page.locator("#preview")).to_contain_text("at ε = 0.01")
    expect(page.locator("#epsilon-wrong")).to_have_count(0)
    page.get_by_text("Help with the condition").click()
    page.get_by_label("Column", exact=True).select_option("region")
    expect(page.get_by_label("Value", exact=True)).to_have_value("north")
    page.get_by_role("button", name="Add to the condition").click()
    expect(page.get_by_label("Only rows where (optional)")).to_have_value("region == 'north'")
    expect(page.locator("#preview")).to_contain_text("count where region == 'north' at ε = 0.01")
