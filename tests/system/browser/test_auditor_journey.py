"""A journey: an auditor reads what happened, verifies the chain and takes everything away, with scripts and without."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import optcomp
from optcomp.errors import BudgetExceeded
from optcomp.ledger import verify_export
from optcomp.statistics import Count
from tests.system.browser.browsers import Window

pytestmark = pytest.mark.slow
Open = Callable[..., Window]


@pytest.fixture(scope="module")
def asked(demo: dict[str, Any]) -> int:
    """An answer and a refusal, for the records.

    With this ε the answer is any given number with probability below 1e-12, and so one of the few hundred numbers that
    are on a page or in a file anyhow with probability below 1e-9.
    """
    with optcomp.Client(demo["url"], demo["analysts"][0]) as client:
        session = client.open("survey")
        found = session.ask(Count("age >= 65"), epsilon="1e-12").value
        with pytest.raises(BudgetExceeded):
            session.ask(Count(), epsilon="5")
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_audit(window: Open, demo: dict[str, Any], asked: int, scripts: bool, tmp_path: Path) -> None:
    at = window(demo["auditor"], java_script_enabled=scripts)
    page = at.page
    page.goto("/auditor")
    expect(page.get_by_role("row", name="count where age >= 65 at ε = 1e-12").first).to_be_visible()
    expect(page.get_by_role("row", name="refused").first).to_contain_text("costs 5")
    assert str(asked) not in re.findall(r"-?\b\d+\b", page.inner_text("main").replace(",", ""))
    page.get_by_role("link", name="Verify the chain now").click()
    expect(page.get_by_role("status").filter(has_text="Everything holds.")).to_be_visible()
    expect(page.get_by_text("MV18-1.5: optimal composition")).to_be_visible()
    page.get_by_role("link", name="Back to the records").click()
    for button in ("Download the signed ledger", "Download the log of changes"):
        for _ in range(2):  # the page stays as it is, and the button can be used again
            with page.expect_download() as told:
                page.get_by_role("button", name=button).click()
            told.value.save_as(tmp_path / told.value.suggested_filename)
    with page.expect_download() as told:
        page.get_by_role("link", name="Download the certificate of first").click()
    told.value.save_as(tmp_path / "certificate.json")
    assert verify_export(tmp_path / "ledger.jsonl").ok
    assert f'"{asked}"' not in (tmp_path / "ledger.jsonl").read_text(encoding="utf8")
    assert json.loads((tmp_path / "certificate.json").read_text(encoding="utf8"))["mechanisms"] == [["1/2", "0", 3]]
    with open(tmp_path / "changes.csv", encoding="utf8", newline="") as file:
        log = list(csv.DictReader(file))
    assert [each["who"] for each in log if each["what"] == "exported the ledger"][:2] == ["ruth", "ruth"]
    page.reload()
    expect(page.get_by_role("row", name="exported the log").first).to_contain_text("ruth")
