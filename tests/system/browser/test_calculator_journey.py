"""Calculating in a real browser: typed, filled in, from a file; with scripts and without; link, curves, certificate."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import optcomp as oc
from optcomp.checker import check
from optcomp.reading import MechanismCounts
from tests.system.browser.browsers import Window

pytestmark = pytest.mark.slow
Open = Callable[..., Window]
TEXT = "0.1x50 0.2,1e-9x50"
PAIRS: MechanismCounts = {oc.PureDP("0.1"): 50, oc.ApproxDP("0.2", "1e-9"): 50}


def upper(page: Page) -> Fraction:
    """The total that a page shows."""
    return Fraction(page.locator("p.figure").inner_text().split("≤")[1].strip())


def is_true(shown: Fraction, truth: oc.Bound) -> bool:
    """Whether it is the upper side, rounded up a little."""
    return Fraction(truth.upper) <= shown <= Fraction(truth.upper) * (1 + Fraction(1, 10**8))


def test_typing_shows_the_total_without_a_click(window: Open) -> None:
    at = window().page
    at.goto("/calculator")
    at.get_by_label("Mechanisms", exact=True).fill(TEXT)
    expect(at.locator("p.figure")).to_be_visible()
    assert is_true(upper(at), oc.compose(PAIRS, delta="1e-6"))
    expect(at.get_by_label("Mechanisms", exact=True)).to_be_focused()
    at.get_by_label("Compute").select_option("delta")
    expect(at.get_by_label("Total ε", exact=True)).to_be_visible()
    at.get_by_label("Total ε", exact=True).fill("3")
    expect(at.get_by_role("heading", name="Total δ at ε = 3")).to_be_visible()
    assert is_true(upper(at), oc.compose(PAIRS, epsilon="3"))
    at.get_by_label("Mechanisms", exact=True).fill("0.1y")
    expect(at.locator("#mechanisms-wrong")).to_contain_text("must be a number")
    at.get_by_label("Mechanisms", exact=True).fill("0.1x4")
    expect(at.locator("#mechanisms-wrong")).to_have_count(0)
    expect(at.locator("#curves svg")).to_have_count(3)


@pytest.mark.parametrize("scripts", [True, False])
def test_the_whole_job(window: Open, demo: dict[str, Any], tmp_path: Path, scripts: bool) -> None:
    at = window(java_script_enabled=scripts, accept_downloads=True).page
    at.goto("/")
    at.get_by_role("link", name="Open the calculator").click()
    at.get_by_label("Mechanisms", exact=True).fill("0.1x50")
    at.get_by_text("Fill in a table").click()
    at.get_by_role("button", name="Add a row").click()
    at.get_by_label("ε", exact=True).fill("0.2")
    at.get_by_label("δ", exact=True).fill("1e-9")
    at.get_by_label("How many").fill("50")
    at.get_by_role("button", name="Add a row").click()
    expect(at.get_by_label("Kind of mechanism")).to_have_count(2)
    at.get_by_role("button", name="Remove row 2").click()
    expect(at.get_by_label("Kind of mechanism")).to_have_count(1)
    at.get_by_role("button", name="Calculate").click()
    expect(at.locator("#result")).to_contain_text("100")
    assert is_true(upper(at), oc.compose(PAIRS, delta="1e-6"))
    row = at.get_by_role("row").filter(has=at.get_by_role("rowheader", name="DKMMN06"))
    expect(row).to_contain_text("15")
    expect(at.get_by_text("needs equal ε, δ")).to_have_count(1)
    link = at.get_by_label("A link to this page").input_value()
    with at.expect_download() as downloading:
        at.get_by_role("link", name="Download the certificate").click()
    downloading.value.save_as(tmp_path / "certificate.json")
    assert downloading.value.suggested_filename == "certificate.json"
    assert check(json.loads((tmp_path / "certificate.json").read_text())).proved
    shown = upper(at)
    other = window(java_script_enabled=scripts).page
    other.goto(link)
    assert upper(other) == shown
    (tmp_path / "more.csv").write_text("epsilon,count\n0.3,2\n")
    other.get_by_label("A file with mechanisms").set_input_files(tmp_path / "more.csv")
    other.get_by_role("button", name="Read the file").click()
    other.wait_for_url(re.compile("0.3x2"))
    assert is_true(upper(other), oc.compose({**PAIRS, oc.PureDP("0.3"): 2}, delta="1e-6"))


def test_curves_that_take_longer_come_by_themselves(window: Open) -> None:
    at = window().page
    at.goto("/calculator?sought=epsilon&at=1e-6&rate=0.01&noise=1&steps=1000")
    assert is_true(upper(at), oc.compose({oc.PoissonSubsampled(oc.Gaussian(1), "0.01"): 1000}, delta="1e-6"))
    expect(at.locator("#curves svg").first).to_be_visible()
    expect(at.locator("#curves")).not_to_have_attribute("data-follow", re.compile("."))
    assert "more" not in at.url
