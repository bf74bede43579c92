"""Pictures of every page, for docs/images: `make screenshots`.  At 1280 and 390 pixels, light and dark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from optcomp.center import demo_server
from tests.system.browser.browsers import PHONE, WIDE, Window, browser

FOLDER = Path(__file__).parents[3] / "docs" / "images" / "pages"
SIZES = {"wide": WIDE, "phone": PHONE}
THEMES = ("light", "dark")
_SUM = "/calculator?mechanisms=0.1x50+0.2%2C1e-9x50+gaussian%28sigma%3D4%29x100&sought=epsilon&at=1e-6"
PAGES: dict[str, tuple[str | None, str]] = {
    "first": (None, "/"),
    "calculator": (None, _SUM),
    "planner": ("owner", "/planner"),
    "desk": ("analyst", "/analyst/seats/1"),
    "office": ("owner", "/owner"),
    "auditor": ("auditor", "/auditor"),
}
"""For each picture who looks, and at what."""


def take(folder: Path, tell: Callable[[str], None]) -> None:
    """All pictures, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with demo_server() as demo, browser() as chromium:
        tokens = {"owner": demo["owner"], "analyst": demo["analysts"][0], "auditor": demo["auditor"]}
        _ask(demo["url"], tokens["analyst"])
        for theme in THEMES:
            for size in SIZES:
                for name, (role, address) in PAGES.items():
                    path = folder / f"{name}-{size}-{theme}.png"
                    _picture(chromium, demo["url"], path, address, None if role is None else tokens[role], theme, size)
                    tell(path.name)


def _ask(url: str, token: str) -> None:
    """One question, so that the pages have something to show."""
    from optcomp import Client
    from optcomp.statistics import Count

    with Client(url, token) as client:
        client.open("survey").ask(Count("age >= 65"), epsilon="0.1")


def _picture(chromium: Browser, url: str, path: Path, address: str, token: str | None, theme: Any, size: str) -> None:
    window = Window(chromium, url, color_scheme=theme, viewport=SIZES[size])
    if token is not None:
        window.sign_in(token)
    window.page.goto(address)
    window.page.wait_for_load_state("networkidle")
    shown = SIZES[size]
    window.page.screenshot(
        path=path, clip={"x": 0, "y": 0, "width": shown["width"], "height": shown["height"]}, full_page=True
    )
    window.close()


if __name__ == "__main__":
    take(FOLDER, print)
