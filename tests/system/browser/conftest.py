"""One browser and one demonstration server for a file, and windows that are checked when they close."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.system.browser.browsers import Window, browser
from tests.system.browser.served_demo import served_demo


@pytest.fixture(scope="module")  # while it lives an event loop runs in this process, which other files start themselves
def chromium_browser() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What `optcomp serve --demo --json` tells."""
    with served_demo(tmp_path_factory.mktemp("demo")) as told:
        yield told


@pytest.fixture
def window(chromium_browser: Browser, demo: dict[str, Any]) -> Iterator[Callable[..., Window]]:
    """Opens windows on the demonstration: `window()`, `window(java_script_enabled=False)`."""
    with ExitStack() as opened:

        def open_window(token: str | None = None, **given: Any) -> Window:
            made = Window(chromium_browser, demo["url"], **given)
            opened.callback(made.close)
            if token is not None:
                made.sign_in(token)
            return made

        yield open_window
