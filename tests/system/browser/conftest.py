"""One browser and one demonstration server for a file, and windows that are checked when they close."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from optcomp.center import demo_server
from tests.system.browser.browsers import Window, browser


@pytest.fixture(scope="module")  # while it lives an event loop runs in this process, which other files start themselves
def chromium_browser() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture(scope="module")
def demo() -> Iterator[dict[str, Any]]:
    """What `optcomp serve --demo --json` tells."""
    with demo_server() as told:
        yield told


@pytest.fixture
def window(chromium_browser: Browser, demo: dict[str, Any]) -> Iterator[Callable[..., Window]]:
    """Opens windows on the demonstration: `window()`, `window(java_script_enabled=False)`."""
    made: list[Window] = []

    def open_window(token: str | None = None, **given: Any) -> Window:
        made.append(Window(chromium_browser, demo["url"], **given))
        if token is not None:
            made[-1].sign_in(token)
        return made[-1]

    yield open_window
    for each in made:
        each.close()
