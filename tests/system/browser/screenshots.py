"""Pictures of the pages, for docs/images: `make screenshots`.  At 1280 and 390 pixels, light and dark."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser

from optcomp import Client
from optcomp.center import demo_server
from optcomp.statistics import Count, Histogram
from tests.system.browser.browsers import PHONE, WIDE, Window, browser

FOLDER = Path(__file__).parents[3] / "docs" / "images" / "pages"
SIZES = {"wide": WIDE, "phone": PHONE}
THEMES = ("light", "dark")
_SUM = "/calculator?mechanisms=0.1x50+0.2%2C1e-9x50+gaussian%28sigma%3D20%29x100&sought=epsilon&at=1e-6"
_PLAN = """
data: {rows: 60000}
budget: {epsilon: 1, delta: 1e-8}
statistics:
  people_over_65: {count: rows, where: age >= 65}
  mean_income: {mean: income}
  regions: {histogram: region}
  median_age: {median: age}
"""
_COLOURS = 128
"""Of a picture: enough for text with soft edges, and a third of the size."""


def take(folder: Path, tell: Callable[[str], None]) -> None:
    """All pictures, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with demo_server() as demo, browser() as chromium:
        tokens = {None: None, "owner": demo["owner"], "analyst": demo["analysts"][0], "auditor": demo["auditor"]}
        pages = {
            None: {"first": "/", "calculator": _SUM, "docs": "/docs/engine.html"},
            "owner": {"planner": _planned(chromium, demo), "office": "/owner"},
            "analyst": {"desk": "/analyst/seats/1?where=age+%3E%3D+65", "answer": _asked(demo)},
            "auditor": {"auditor": "/auditor"},
        }
        for role, addresses in pages.items():
            for theme in THEMES:
                for size, shape in SIZES.items():
                    window = Window(chromium, demo["url"], color_scheme=theme, viewport=shape)
                    _sign_in(window, tokens[role])
                    for name, address in addresses.items():
                        path = folder / f"{name}-{size}-{theme}.png"
                        _picture(window, address, path)
                        tell(f"{path.name}: {path.stat().st_size // 1000} kB")
                    window.close()


def _sign_in(window: Window, token: str | None) -> None:
    if token is not None:
        window.sign_in(token)


def _asked(demo: dict[str, Any]) -> str:
    """Two questions, so that the pages have something to show; the page of the second answer."""
    with Client(demo["url"], demo["analysts"][0]) as client:
        session = client.open("survey")
        session.ask(Count("age >= 65"), epsilon="0.1")
        session.ask(Histogram("region"), epsilon="0.1")
        number = session.transcript[-1].note.rpartition(" ")[2]
    return f"/analyst/seats/1/requests/{number}"


def _planned(chromium: Browser, demo: dict[str, Any]) -> str:
    """The page of a plan that somebody is writing."""
    window = Window(chromium, demo["url"])
    window.sign_in(demo["owner"])
    window.page.goto("/planner")
    form = window.page.locator("form", has=window.page.locator("#text"))
    form.get_by_label("Data set").select_option("survey")
    form.get_by_label("Or paste it here").fill(_PLAN)
    form.get_by_role("button", name="Read the plan").click()
    window.page.wait_for_url("**/planner/*")
    address = window.page.url.removeprefix(demo["url"])
    window.close()
    return address


def _picture(window: Window, address: str, path: Path) -> None:
    window.page.goto(address)
    window.page.wait_for_load_state("networkidle")
    with Image.open(io.BytesIO(window.page.screenshot())) as shot:
        few = shot.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


if __name__ == "__main__":
    take(FOLDER, print)
