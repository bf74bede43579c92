"""Signing in and out, colours, a page that is not there: in a real browser, with scripts and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.system.browser.browsers import Window, findings, looks_wrong

pytestmark = pytest.mark.slow
Open = Callable[..., Window]


@pytest.mark.parametrize("scripts", [True, False])
def test_sign_in_and_out(window: Open, demo: dict[str, Any], scripts: bool) -> None:
    at = window(java_script_enabled=scripts)
    at.page.goto("/glossary")
    at.sign_in(demo["auditor"])
    assert at.page.get_by_text("ruth, auditor").is_visible()
    (cookie,) = (each for each in at.context.cookies() if each["name"] == "optcomp_visit")
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    at.page.goto("/")
    at.page.get_by_role("button", name="Sign out").click()
    at.page.wait_for_load_state()
    assert at.page.get_by_role("banner").get_by_role("link", name="Sign in").is_visible()
    assert demo["auditor"] not in "".join(at.asked)


def test_a_wrong_token_is_told_and_nobody_is_signed_in(window: Open) -> None:
    at = window()
    at.page.goto("/sign-in?next=//elsewhere.example/")
    at.page.get_by_label("Token").fill("oc_" + "a" * 43)
    at.page.get_by_role("main").get_by_role("button", name="Sign in").click()
    assert "not known" in at.page.get_by_role("alert").inner_text()
    assert not [each for each in at.context.cookies() if each["name"] == "optcomp_visit"]
    assert at.page.locator("input[name=next]").first.input_value() == "/"


def test_nothing_serious_is_found_on_a_page_that_is_not_there(window: Open) -> None:
    at = window(color_scheme="light")
    found = at.page.goto("/nothing-here")
    assert found is not None
    assert found.status == 404
    assert list(looks_wrong(at.page)) == []


def test_the_chosen_colours_stay(window: Open) -> None:
    at = window(color_scheme="light")
    at.page.goto("/glossary")
    at.page.get_by_role("button", name="dark").click()
    at.page.wait_for_load_state()
    assert at.page.url.endswith("/glossary")
    assert at.page.locator("html").get_attribute("data-theme") == "dark"
    assert findings(at.page) == []
