"""A journey: from a file that nobody cleaned to the first question of a new analyst, with scripts and without."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

import optcomp
from optcomp.statistics import Count
from tests.system.browser.browsers import PHONE, Window, findings

pytestmark = pytest.mark.slow
Open = Callable[..., Window]
LOOKS = ({"color_scheme": "light"}, {"color_scheme": "dark", "viewport": PHONE})
"""Both themes, one of them on a phone."""


def looked_at(page: Page, scripts: bool) -> None:
    """Nothing serious is found, and nothing is wider than the window."""
    if scripts:
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), page.url


def next_step(page: Page, address: str) -> None:
    page.get_by_role("button", name="Save and go on").click()
    page.wait_for_url(address)


def register(page: Page, name: str, scripts: bool) -> None:
    page.goto("/owner")
    looked_at(page, scripts)
    page.get_by_role("link", name="Register a data set").first.click()
    page.get_by_label("visits.csv").check()
    looked_at(page, scripts)
    next_step(page, "**/columns")
    page.get_by_role("button", name="Fill in the usual ranges").click()
    expect(page.get_by_role("group", name="age").get_by_label("To")).to_have_value("120")
    ward = page.get_by_role("group", name="ward")
    ward.get_by_role("checkbox").check()
    ward.get_by_label("Holds").select_option("categories")
    next_step(page, "**/columns")
    expect(page.get_by_role("alert")).to_contain_text("at least one category")
    looked_at(page, scripts)
    ward.get_by_label("Categories").fill("surgery, medicine, children, maternity")
    next_step(page, "**/people")
    page.get_by_label("Column that names the person").select_option("patient")
    page.get_by_label("Rows of each person that count").fill("3")
    looked_at(page, scripts)
    next_step(page, "**/check")
    page.get_by_role("button", name="Check the data").click()
    expect(page.get_by_text("Lines that cannot be read")).to_be_visible()
    page.reload()
    expect(page.get_by_text("What may be wrong")).to_be_visible()
    looked_at(page, scripts)
    page.get_by_role("link", name="Save and go on").click()
    page.get_by_label("Name of the data set").fill(name)
    page.get_by_label("Title for people").fill(f"<i>Visits</i> {name}")
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("alert")).to_contain_text("tick this box")  # only the owner can know whether people overlap
    page.get_by_label("Nobody in this table").check()
    looked_at(page, scripts)
    next_step(page, "**/confirmation")
    looked_at(page, scripts)
    page.get_by_role("button", name="Register it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"<i>Visits</i> {name}")
    looked_at(page, scripts)


def add_analyst(page: Page, name: str, scripts: bool) -> str:
    page.goto("/owner/people")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add a person").click()
    page.get_by_role("button", name=f"Make a token for {name}").click()
    looked_at(page, scripts)
    page.get_by_role("button", name="Make the token").click()
    token = page.locator("#token").inner_text()
    looked_at(page, scripts)
    page.reload()  # the same form again
    expect(page.get_by_role("heading", level=1)).to_have_text("This token was made already")
    assert token not in page.content()
    looked_at(page, scripts)
    return token


def cut_slots(page: Page, dataset: str, analyst: str, scripts: bool) -> None:
    page.goto(f"/owner/datasets/{dataset}/slots")
    page.get_by_label("ε of the whole batch").fill("0.6")
    for box in page.locator("label.tick").all():
        box.locator("input").set_checked(box.inner_text() in ("ada", analyst))
    page.get_by_label(f"Weight of {analyst}").fill("2")
    page.get_by_role("button", name="Show the slots").click()
    row = page.get_by_role("row", name=re.compile(f"^{analyst} ε 0.4"))
    expect(row).to_be_visible()
    looked_at(page, scripts)
    page.get_by_role("link", name="Go on with these slots").click()
    looked_at(page, scripts)
    page.get_by_role("button", name="Cut the slots").click()
    expect(page.get_by_role("heading", name="Batch round 1")).to_be_visible()
    with page.expect_download() as told:
        page.get_by_role("link", name="Download the certificate").click()
    assert told.value.suggested_filename == "certificate.json"
    looked_at(page, scripts)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_open_a_data_set_and_add_an_analyst(window: Open, demo: dict[str, Any], scripts: bool) -> None:
    look = LOOKS[scripts]
    at = window(demo["owner"], java_script_enabled=scripts, **look)
    dataset, analyst = f"clinic-{scripts}", f"dora {scripts}"
    register(at.page, dataset, scripts)
    token = add_analyst(at.page, analyst, scripts)
    cut_slots(at.page, dataset, analyst, scripts)
    with optcomp.Client(demo["url"], token) as client:
        session = client.open(dataset)
        answer = session.ask(Count("age >= 65"), epsilon="0.1")
        assert isinstance(answer.value, int)
        assert "0.3 of 0.4" in str(session.remaining())
    at.page.goto(f"/owner/datasets/{dataset}")
    expect(at.page.get_by_text("ε 0.3 of 0.4 left")).to_be_visible()
    assert token not in "".join(at.asked)
    assert not [each for each in at.context.cookies() if token in each["value"]]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_request_for_more_is_granted(window: Open, demo: dict[str, Any], scripts: bool) -> None:
    words = "<img src=x onerror=alert(1)> Two more tables, please."
    headers = {"Authorization": f"Bearer {demo['analysts'][0]}"}
    address = f"{demo['url']}/api/v1/seats/1/wishes"
    assert httpx.post(address, headers=headers, json={"words": words}, timeout=180).status_code == 200
    at = window(demo["owner"], java_script_enabled=scripts)
    at.page.goto("/owner")
    expect(at.page.get_by_text(words)).to_be_visible()
    looked_at(at.page, scripts)
    at.page.get_by_role("button", name="Grant").click()
    expect(at.page.get_by_text("Nobody asks for more.")).to_be_visible()


def test_the_odometer_goes_on_by_itself(window: Open, demo: dict[str, Any]) -> None:
    at = window(demo["owner"])
    at.page.goto("/owner/datasets/survey")
    section = at.page.locator("#odometer")
    expect(section).to_contain_text("0 of them have been asked in")
    with optcomp.Client(demo["url"], demo["analysts"][0]) as client:
        client.open("survey").ask(Count(), epsilon="0.1")
    expect(section).to_contain_text("1 of them have been asked in")
