"""Every page that the application serves: in both themes, wide and on a phone, with something on it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from fastapi.routing import APIRoute
from playwright.sync_api import Browser, Page, expect

import optcomp
from optcomp.center.access import roles_of
from optcomp.errors import BudgetExceeded
from optcomp.interactive import SparseVector
from optcomp.pages.app import PARTS
from optcomp.statistics import Count, Histogram
from tests.system.browser.browsers import WIDE, Window, looks_wrong

Open = Callable[..., Window]
PLAN = """
data: {rows: 60000}
budget: {epsilon: 0.2, delta: 1e-8}
statistics:
  people: {count: rows}
  pay: {mean: income}
  regions: {histogram: region}
"""
"""What the plan releases."""
SUM = urlencode({"mechanisms": "0.1x50 gaussian(sigma=4)x100", "sought": "epsilon", "at": "1e-6"})
ROW = urlencode(
    {"mechanisms": "0.1x50 gaussian(sigma=4)x9", "kind": "gaussian", "first": "4", "second": "", "count": "3"}
)
TRAINED = urlencode({"rate": "0.01", "noise": "2", "steps": "100"})
MISTYPED = "?mechanisms=0.1y50&kind=pair&first=x"
QUESTION = urlencode({"kind": "mean", "column": "income", "epsilon": "0.01"})
MECHANISM = urlencode({"epsilon": "0.01"})
SLOTS = urlencode({"batch": "second", "epsilon": "0.1", "delta": "1e-8", "analyst": ["2", "3"]}, doseq=True)
ROUTES = {
    route.path: roles_of(route.endpoint)
    for part in PARTS
    for route in part.router.routes
    if isinstance(route, APIRoute) and "GET" in (route.methods or ())
}
"""Every address of a page or of a file, and who may see it."""
FILES = {
    "/calculator/certificate.json": f"?{SUM}",
    "/planner/{id}/plan.yaml": "",
    "/planner/releases/{name}/{number}/{form}": "",
    "/analyst/seats/{id}/requests/{number}/answer.csv": "",
    "/analyst/seats/{id}/requests/{number}/answer.json": "",
    "/analyst/seats/{id}/requests/{number}/certificate.json": "",
    "/analyst/seats/{id}/requests/{number}/receipt.json": "",
    "/owner/datasets/{name}/certificate": "?batch=first",
    "/auditor/certificate": "?account=survey&batch=first",
}
"""Files to take away, with what follows their address."""
PAGES: dict[str, tuple[str, ...]] = {
    "/": ("",),
    "/sign-in": ("",),
    "/glossary": ("",),
    "/calculator": (
        "",
        f"?{SUM}",
        f"?{ROW}&second=&{TRAINED}",
        "?mechanisms=zcdp(0.1)&sought=delta&at=1",
        MISTYPED,
    ),
    "/planner": ("",),
    "/planner/{id}": ("",),
    "/planner/{id}/add": ("", "?kind=contingency"),
    "/planner/{id}/table": ("",),
    "/planner/{id}/cart": ("",),
    "/planner/releases/{name}/{number}": ("",),
    "/analyst": ("",),
    "/analyst/seats/{id}": (
        "",
        f"?{QUESTION}&dry=1&where_column=region",
        "?kind=contingency&columns=woman&columns=employed&dry=1&where_column=age",
        "?epsilon=x",
    ),
    "/analyst/seats/{id}/transcript": ("",),
    "/analyst/seats/{id}/ask": (f"?{QUESTION}",),
    "/analyst/seats/{id}/ask/{key}": (f"?{QUESTION}",),
    "/analyst/seats/{id}/requests/{number}": ("",),
    "/analyst/seats/{id}/open": ("", "?mechanism=multiplicative+weights"),
    "/analyst/seats/{id}/open/fix": (f"?{MECHANISM}",),
    "/analyst/seats/{id}/open/key/{key}": (f"?{MECHANISM}",),
    "/analyst/seats/{id}/mechanisms/{number}": ("",),
    "/owner": ("",),
    "/owner/datasets/{name}": ("",),
    "/owner/people": ("",),
    "/owner/tokens/{id}": ("",),
    "/owner/register": ("",),
    "/owner/register/{id}/columns": ("",),
    "/owner/register/{id}/people": ("",),
    "/owner/register/{id}/check": ("",),
    "/owner/register/{id}/account": ("",),
    "/owner/register/{id}/confirmation": ("",),
    "/owner/jobs/{id}": ("",),
    "/owner/datasets/{name}/version": ("",),
    "/owner/datasets/{name}/slots": ("", f"?{SLOTS}"),
    "/owner/datasets/{name}/slots/confirmation": (f"?{SLOTS}",),
    "/auditor": ("",),
    "/auditor/newest": ("",),
    "/auditor/verification": ("",),
}
"""Every page, with what follows its address: each is visited once with each of them."""


PARTLY = {"/planner/{id}/compared"}
"""What a script fetches for one version of a draft: the page itself again."""
DOCUMENTATION = {"/docs", "/docs/{address:path}"}
"""Pages that are not made here but from files: test_manual_journey looks at them."""
LEAD_ON = ("/analyst/seats/{id}/ask", "/analyst/seats/{id}/open/fix", "/auditor/newest")
"""What is no page of its own, but leads to one of the others."""


class Visitor:
    """Somebody who fills in forms without a browser."""

    def __init__(self, url: str, token: str) -> None:
        self.http = httpx.Client(base_url=url, follow_redirects=True, timeout=180)
        self.http.post("/sign-in", data={"token": token}).raise_for_status()

    def send(self, form: str, action: str = "", /, **fields: str) -> str:
        """Send a form of a page with its hidden fields; where that leads."""
        shown = self.http.get(form)
        hidden = dict(re.findall(r'<input type="hidden" name="(proof|version|key)" value="([^"]*)"', shown.text))
        found = self.http.post(action or form, data={**hidden, **fields})
        assert found.status_code == 200, re.findall(r'(?s)role="alert">(.*?)</', found.text)
        return found.url.path


@dataclass(frozen=True)
class Filled:
    """Values for the parameters of addresses, by the first words of the address."""

    values: Mapping[str, Mapping[str, str]]

    def address(self, path: str) -> str:
        """The address of a page; KeyError if nobody said what its parameters are."""
        known = max((each for each in self.values if path.startswith(each)), key=len, default="")
        given = self.values.get(known, {})
        return re.sub(r"{(\w+)}", lambda found: quote(given[found[1]], safe=""), path)


@pytest.fixture(scope="module")
def visitors(demo: dict[str, Any]) -> Iterator[dict[str, Visitor]]:
    """One of each role."""
    with ExitStack() as opened:
        made = {role: Visitor(demo["url"], token) for role, token in tokens(demo).items()}
        for each in made.values():
            opened.callback(each.http.close)
        yield made


def tokens(demo: dict[str, Any]) -> dict[str, str]:
    return {"owner": demo["owner"], "analyst": demo["analysts"][0], "auditor": demo["auditor"]}


@pytest.fixture(scope="module")
def filled(chromium_browser: Browser, demo: dict[str, Any], visitors: dict[str, Visitor]) -> Filled:
    """A centre in which something of every kind happened."""
    seat, answer, mechanism = _asked(demo)
    owner, analyst = visitors["owner"], visitors["analyst"]
    plan = owner.send("/planner", begin="text", dataset="survey", text=PLAN).rpartition("/")[2]
    by_hand = owner.send("/planner", begin="hand", title="By hand").split("/")[-2]
    digest = re.findall(r'name="plan" value="([^"]*)"', owner.http.get(f"/planner/{plan}/cart").text)[0]
    release = owner.send(f"/planner/{plan}/cart", plan=digest, publish="on").rpartition("/")[2]
    analyst.send(f"/analyst/seats/{seat}", f"/analyst/seats/{seat}/wishes", words="Two more tables, please.")
    token = owner.send("/owner/people", "/owner/tokens", name="ada").rpartition("/")[2]
    at_seat = {"id": seat, "key": "a-key-of-twenty-letters"}
    return Filled(
        {
            "/planner": {"id": plan},
            "/planner/{id}/table": {"id": by_hand},
            "/planner/releases": {"name": "survey", "number": release, "form": "html"},
            "/analyst": {**at_seat, "number": answer},
            "/analyst/seats/{id}/mechanisms": {**at_seat, "number": mechanism},
            "/owner/tokens": {"id": token},
            "/owner/register": {"id": _registering(chromium_browser, demo)},
            "/owner/jobs": {"id": _failed_job(demo)},
            "/owner/datasets": {"name": "survey"},
        }
    )


def _asked(demo: dict[str, Any]) -> tuple[str, str, str]:
    """Answers, a refusal and a mechanism: the numbers of a seat, of an answer and of the mechanism."""
    with optcomp.Client(demo["url"], demo["analysts"][0]) as client:
        session = client.open("survey")
        session.ask(Count("age >= 65"), epsilon="0.1")
        session.ask(Histogram("region"), epsilon="0.1")
        run = session.open(SparseVector(1000, epsilon="0.1", sensitivity=2))
        run.ask(Count("age >= 40"))
        with pytest.raises(BudgetExceeded):
            session.ask(Count(), epsilon="5")
        lines = session.transcript
    return "1", lines[1].note.rpartition(" ")[2], str(run.number)


def _failed_job(demo: dict[str, Any]) -> str:
    """A check of a table that is not there, in the background."""
    headers, body = {"Authorization": f"Bearer {demo['owner']}"}, {"source": "none.csv", "declaration": {}}
    with httpx.Client(base_url=f"{demo['url']}/api/v1/owner", headers=headers) as http:
        job = http.post("/checks?background=true", json=body).json()
        while http.get(f"/jobs/{job['id']}").json()["state"] in ("waiting", "running"):
            time.sleep(0.01)
    return str(job["id"])


def _registering(browser: Browser, demo: dict[str, Any]) -> str:
    """A data set that is being registered, as far as the last step."""
    window = Window(browser, demo["url"])
    window.sign_in(demo["owner"])
    page, go_on = window.page, window.page.get_by_role("button", name="Save and go on")
    page.goto("/owner/register")
    page.get_by_label("visits.csv").check()
    go_on.click()
    page.get_by_role("button", name="Fill in the usual ranges").click()
    expect(page.get_by_role("group", name="age").get_by_label("To")).to_have_value("120")
    go_on.click()
    page.get_by_label("Column that names the person").select_option("patient")
    go_on.click()
    page.get_by_role("button", name="Check the data").click()
    page.get_by_role("link", name="Save and go on").click()
    page.get_by_label("Name of the data set").fill("clinic")
    page.get_by_label("Nobody in this table").check()
    go_on.click()
    page.wait_for_url("**/confirmation")
    window.close()
    return page.url.split("/")[-2]


def test_no_page_is_forgotten() -> None:
    assert not set(PAGES) & set(FILES)
    assert set(PAGES) | set(FILES) | PARTLY | DOCUMENTATION == set(ROUTES)


@pytest.mark.slow
def test_every_page(window: Open, demo: dict[str, Any], filled: Filled) -> None:
    """It is there; wide and on a phone, in both themes, axe finds nothing serious and nothing is too wide."""
    windows: dict[str | None, Window] = {role: window(token) for role, token in tokens(demo).items()}
    windows[None] = window()
    wrong = [
        f"{path}{query}: {problem}"
        for path, queries in PAGES.items()
        for query in queries
        for problem in _wrong(windows[_who(path)].page, demo["url"], filled.address(path) + query, path in LEAD_ON)
    ]
    assert not wrong, "\n".join(wrong)
    for each in windows.values():
        each.check()


def _who(path: str) -> str | None:
    """The person who has such a page of their own; plans here are the owner's."""
    return None if not ROUTES[path] else "owner" if path.startswith("/planner") else ROUTES[path][0]


def _wrong(page: Page, base: str, address: str, leads_on: bool) -> Iterator[str]:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")
    found = page.goto(address)
    if found is None or found.status != (422 if address.endswith(MISTYPED) else 200):
        yield f"status {found and found.status}"
    if (page.url.removeprefix(base) == address) == leads_on:
        yield f"leads to {page.url}"
    if not leads_on:
        yield from looks_wrong(page)


@pytest.mark.slow
def test_every_file(visitors: dict[str, Visitor], filled: Filled) -> None:
    """What is no page is a file to take away."""
    for path, query in FILES.items():
        found = visitors[_who(path) or "auditor"].http.get(filled.address(path) + query)
        assert found.status_code == 200, path
        assert found.headers["content-disposition"].startswith("attachment"), path
