"""A real Chromium, what its pages may do, and what axe says of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""What the browser may be called on the path."""
_FLAGS = (
    "--no-sandbox",  # the tests may run as root, and visit nothing but our own server
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 180_000
"""Milliseconds after which a page that does not do what is awaited fails: for endless waits, on a busy machine too."""
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
"""Two windows."""
_BAD = ("serious", "critical")
"""What axe finds and we do not accept."""
_AT_REST = """() => Promise.allSettled(document.getAnimations()
    .filter(each => Number.isFinite(each.effect.getComputedTiming().endTime))
    .map(each => each.finished)).then(() => 0)"""
"""Waits until nothing is half faded: axe would take its colours for those of the page."""
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that look at colours: of a page in another theme nothing else is different."""


def chromium() -> str:
    """The browser, or a loud skip; CI never skips."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found:
        return found
    words = "no Chromium on the path: the pages were NOT tried. Install it: apt-get install chromium"
    if os.environ.get("CI"):
        pytest.fail(words)
    pytest.skip(words)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a window."""
    path = chromium()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=path, args=list(_FLAGS), timeout=PATIENCE)
        try:
            yield made
        finally:
            made.close()


class Window:
    """A browser window of one person, which remembers what went wrong in it."""

    def __init__(self, browser: Browser, url: str, **given: Any) -> None:
        self.url, self.asked, self.complaints = url, list[str](), list[str]()
        self.context: BrowserContext = browser.new_context(base_url=url, **{"viewport": WIDE, **given})
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def sign_in(self, token: str) -> None:
        """As a person does."""
        self.page.goto("/sign-in")
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("main").get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(lambda url: "/sign-in" not in url)

    def check(self) -> None:
        """Nothing was asked of another host, and the browser complained of nothing (its policy included)."""
        hosts = {urlsplit(address).netloc for address in self.asked if not address.startswith(("data:", "blob:"))}
        assert hosts <= {urlsplit(self.url).netloc}
        assert not self.complaints, self.complaints

    def close(self) -> None:
        """Close it, and check once more."""
        self.context.close()
        self.check()


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf8")


def findings(page: Page, *, only: Sequence[str] = (), within: Mapping[str, Any] | None = None) -> list[str]:
    """What axe finds serious or critical on a page, by all of its rules or by some.

    `within` is what axe calls a context: the parts of the page that it looks at, or leaves out.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe())
    page.evaluate(_AT_REST)
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(only)} if only else {})
    found = page.evaluate("([within, options]) => axe.run(within || document, options)", [within, options])
    return [
        f"{each['id']}: {node['html'][:160]} — {node['failureSummary'][:300]}"
        for each in found["violations"]
        if each["impact"] in _BAD
        for node in each["nodes"]
    ]


def looks_wrong(page: Page) -> Iterator[str]:
    """What is wrong with a page that is shown wide and in light colours: there, in the dark, and both on a phone.

    All rules of axe are tried once in each size; in the other theme those about colours, which alone it can change.
    """
    yield from (f"wide, light: {each}" for each in findings(page))
    yield from _too_wide(page)
    page.emulate_media(color_scheme="dark")
    yield from (f"wide, dark: {each}" for each in findings(page, only=COLOURS))
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    yield from _too_wide(page)
    yield from (f"phone, dark: {each}" for each in findings(page))
    page.emulate_media(color_scheme="light")
    yield from (f"phone, light: {each}" for each in findings(page, only=COLOURS))


def _too_wide(page: Page) -> Iterator[str]:
    if not page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
        yield f"scrolls sideways in a window of {page.viewport_size}"
