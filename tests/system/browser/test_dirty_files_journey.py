"""A journey from two messy files to a released report: a pattern, new names, dates, decimal commas, a stray mark."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from optcomp.release import verify_release
from tests.system.browser.browsers import Window
from tests.system.browser.test_office_journey import looked_at, next_step
from tests.system.browser.test_planner_journey import add, downloaded

Open = Callable[..., Window]
WARDS = {"Pflege": "Plege", "Ärzte": "Aerzte", "Küche": "Kueche ", "Labor": "labor"}
"""Places of work, each with how it is misspelled now and then."""
HEADER = "Pers.-Nr. [intern];Geburts-Datum;Brutto Lohn (€/Monat);Abteilung / Haus;Std. [Woche]"


def messy(seed: int, people: range) -> bytes:
    """Some rows of each person: 38 % of the wages are missing, and the file ends in empty lines."""
    draw, lines = random.Random(seed), [HEADER]
    for person in people:
        ward = draw.choice(list(WARDS))
        born = f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.{draw.randint(1955, 2005)}"
        for _ in range(draw.choice((1, 1, 2, 3))):
            wage = (
                ""
                if draw.random() < 0.38
                else f"{draw.randint(1, 6)}.{draw.randint(0, 999):03},{draw.randint(0, 99):02}"
            )
            place = WARDS[ward] if draw.random() < 0.04 else ward
            lines.append(f"{person:05};{born};{wage};{place};{draw.choice(('38,5', '20', 'k.A.'))}")
    return b"\xef\xbb\xbf" + "\r\n".join([*lines, "", ""]).encode("cp1252")


def declare(column: Locator, **fields: str) -> None:
    """Fill in what a column holds."""
    column.get_by_role("checkbox").check()
    for label, value in fields.items():
        field = column.get_by_label(label.replace("_", " "), exact=True)
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def register(page: Page, name: str, scripts: bool) -> None:
    page.goto("/owner/register")
    folder = Path(page.locator("p.hint code").first.inner_text())
    for number in range(2):
        (folder / f"{name}-{number}.csv").write_bytes(messy(number, range(200 * number, 200 * number + 200)))
    page.reload()
    page.get_by_label("several files that are one table").check()
    page.get_by_label("Pattern of their names").fill(f"{name}-*.csv")
    looked_at(page, scripts)
    next_step(page, "**/columns")
    expect(page.get_by_text(f"2 files, read as one table in this order: {name}-0.csv, {name}-1.csv")).to_be_visible()
    looked_at(page, scripts)
    group = page.locator("fieldset.column")
    born = {"Holds": "dates", "From": "1940-01-01", "To": "2010-12-31", "Counted_in": "year", "Written_as": "%d.%m.%Y"}
    declare(group.filter(has_text="Geburts-Datum"), **born)
    wage = {"Holds": "reals", "New_name": "wage", "From": "0", "To": "8000", "Smallest_step": "0.01"}
    declare(group.filter(has_text="Brutto Lohn"), **wage)
    declare(group.filter(has_text="Abteilung"), Holds="categories", New_name="ward", Categories=", ".join(WARDS))
    hours = {"Holds": "reals", "From": "0", "To": "60", "Smallest_step": "0.5", "New_name": "wage"}
    declare(group.filter(has_text="Std."), **hours)
    next_step(page, "**/columns")
    expect(page.get_by_role("alert")).to_contain_text("is given to two columns")
    looked_at(page, scripts)
    group.filter(has_text="Std.").get_by_label("New name").fill("")
    next_step(page, "**/people")
    page.get_by_label("Column that names the person").select_option("Pers.-Nr. [intern]")
    page.get_by_label("Rows of each person that count").fill("2")
    next_step(page, "**/check")
    page.get_by_role("button", name="Check the data").click()
    expect(page.get_by_role("row", name=re.compile(r"^wage [1-9]\d* 0 0 0 0$"))).to_be_visible()
    expect(page.get_by_role("row", name=re.compile(r"^ward 0 0 0 0 [1-9]"))).to_be_visible()
    looked_at(page, scripts)
    page.get_by_role("link", name="Save and go on").click()
    page.get_by_label("Name of the data set").fill(name)
    page.get_by_label("Nobody in this table").check()
    next_step(page, "**/confirmation")
    expect(page.get_by_text("Brutto Lohn (€/Monat) → wage")).to_be_visible()
    looked_at(page, scripts)
    page.get_by_role("button", name="Register it").click()
    page.wait_for_url(f"**/owner/datasets/{name}")


@pytest.mark.parametrize(
    "scripts",
    [
        pytest.param(True, marks=pytest.mark.smoke("browser journey with scripts"), id="scripts"),
        pytest.param(False, marks=pytest.mark.smoke("browser journey without scripts"), id="no scripts"),
    ],
)
def test_messy_files_become_a_report(window: Open, demo: dict[str, Any], scripts: bool) -> None:
    page, name = window(demo["owner"], java_script_enabled=scripts).page, f"klinik-{scripts}".lower()
    register(page, name, scripts)
    page.goto("/planner")
    page.locator("#dataset").select_option(name)
    page.get_by_label("About how many rows").fill("600")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url(re.compile(r"/planner/\d+$"))
    draft = page.url
    add(page, draft, "Histogram", Column="ward")
    add(page, draft, "Median", Column="Geburts-Datum")
    page.get_by_role("link", name="To the cart").click()
    page.get_by_role("button", name="Release now").click()
    page.wait_for_url(re.compile(f"/planner/releases/{name}/"))
    record, address = json.loads(downloaded(page, "Record (JSON)")), page.url
    assert verify_release(record).proved
    value = str(record["statistics"][0]["cells"][0]["value"])
    expect(page.get_by_role("cell", name=value, exact=True).first).to_be_visible()
    table = list(csv.DictReader(io.StringIO(downloaded(page, "Numbers (CSV)"))))
    assert {each["cell"] for each in table if "ward" in each["statistic"]} == {*WARDS, "(other)"}
    (middle,) = [each["value"] for each in table if each["statistic"] == "median of Geburts-Datum"]
    assert re.fullmatch(r"19[4-9]\d|20[01]\d", middle)
    page.reload()
    assert json.loads(downloaded(page, "Record (JSON)")) == record
    page.goto(f"/owner/datasets/{name}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto(address)
    assert json.loads(downloaded(page, "Record (JSON)")) == record
