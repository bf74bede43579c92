"""Everything is killed between the click and the answer: paid once, finished at the restart, and shown."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from optcomp.planner import dumped
from tests.campaign import crash_records
from tests.system.browser.browsers import Window
from tests.system.served_centers import (
    DATASET,
    OWNER,
    Home,
    killed_at_the_end,
    make_home,
    no_answer_is_stored,
    serving,
)
from tests.system.test_center_release_crashes import COST, PLAN, debited


@pytest.mark.slow
def test_killed_between_click_and_answer(chromium_browser: Browser, tmp_path: Path) -> None:
    home, log = make_home(tmp_path), tmp_path / "log"
    with no_answer_is_stored(home), killed_at_the_end(home.path, 1, log) as server:
        path, lost = _clicked(chromium_browser, server.url, home)
        home.until_waiting(1)
    lost.context.close()
    assert debited(home) == [COST]
    with serving(home.path, 1, log) as again:
        at = Window(chromium_browser, again.url)
        at.sign_in(home.tokens[OWNER])
        at.page.goto(f"{path}/cart")
        at.page.get_by_role("link", name="Release 1").click()
        expect(at.page.get_by_role("heading", name="Results")).to_be_visible()
        with at.page.expect_download() as waiting:
            at.page.get_by_role("link", name="Record (JSON)").click()
        record = json.loads(Path(waiting.value.path()).read_text(encoding="utf8"))
        value = str(record["statistics"][0]["value"])
        expect(at.page.get_by_role("cell", name=value, exact=True).first).to_be_visible()
        at.page.goto("/planner")
        expect(at.page.get_by_role("link", name="Release 1")).to_be_visible()
        at.close()
    assert debited(home) == [COST]
    paid = sum((Fraction(each["epsilon"]) for each in record["ledger"]["paid"]), Fraction(0))
    assert paid == COST
    assert crash_records.read(home.settings.ledger).chain_breaks() == []


def _clicked(browser: Browser, url: str, home: Home) -> tuple[str, Window]:
    """Somebody who has pressed the button, and waits."""
    at = Window(browser, url)
    at.sign_in(home.tokens[OWNER])
    at.page.goto("/planner")
    at.page.locator("#about").select_option(DATASET)
    at.page.get_by_label("Or paste it here").fill(dumped(PLAN))
    at.page.get_by_role("button", name="Read the plan").click()
    at.page.get_by_role("link", name="To the cart").click()
    path = at.page.url.removeprefix(url).removesuffix("/cart")
    at.page.get_by_role("button", name="Release now").click(no_wait_after=True)
    return path, at
