"""The documentation in a browser: both themes, a phone, the search, the paths, without scripts, and from a disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from optcomp.pages.manual import SEARCH, Manual, manual
from optcomp.pages.manual_folder import write
from tests.system.browser.browsers import COLOURS, PHONE, WIDE, Window, findings

Open = Callable[..., Window]
SYSTEMS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
"""What a system may prefer."""
INLINE = ("code", "em", "strong", "span", "sub", "sup", "var")
"""What looks alike wherever it stands."""


@pytest.fixture(scope="module")
def found() -> Manual:
    made = manual()
    assert made is not None
    return made


def test_every_kind_of_element_is_readable_by_everyone(window: Open, found: Manual) -> None:
    """On pages that together have whatever any page has, in both themes: axe finds nothing serious."""
    page = window().page
    chosen = covering(found)
    assert 3 <= len(chosen) < len(found.pages)
    wrong = [f"{name}: {problem}" for name in chosen for problem in _wrong(page, name)]
    assert not wrong, "\n".join(wrong)


def covering(found: Manual) -> list[str]:
    """Pages, short ones first, until every kind of element within its parent was seen."""
    kinds = {name: Kinds(str(page.html)).found for name, page in found.pages.items()}
    chosen: list[str] = []
    left = set().union(*kinds.values())
    while left:
        best = max(kinds, key=lambda name: len(kinds[name] & left) / (2000 + len(found.pages[name].html)))
        chosen.append(best)
        left -= kinds[best]
    return chosen


class Kinds(HTMLParser):
    """Elements of a page, each with its classes and its parent; those of a line without a parent."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = [""]
        self.found: set[tuple[str, str]] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs).get("class") or ""
        kind = f"{tag} {named[:4] if named.startswith('hl-') else named}"  # colours of code go by the first letter
        self.found.add(("" if tag in INLINE or tag.startswith("m") else self.open[-1], kind))
        if tag not in ("img", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()


def _wrong(page: Page, name: str) -> Iterator[str]:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")
    page.goto(f"/docs/{name}")
    yield from findings(page)
    page.emulate_media(color_scheme="dark")
    yield from (f"dark: {each}" for each in findings(page, only=COLOURS))


def test_no_page_is_wider_than_a_phone(window: Open, found: Manual) -> None:
    page = window(viewport=PHONE).page
    wide = []
    alike = ("more/src/", "more/tests/")  # files that are shown as they are; two of them stand for all
    sources = [name for name in found.pages if name.startswith(alike)]
    for name in (*(name for name in found.pages if name not in sources), *sources[:2], SEARCH):
        page.goto(f"/docs/{name}")
        if not page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
            wide.append(name)
    assert wide == []


def test_a_word_is_found_and_leads_to_its_section(window: Open) -> None:
    page = window().page
    page.goto("/docs")
    field = page.get_by_role("searchbox", name="Search the documentation")
    field.fill("odometer")
    field.press("Enter")
    results = page.locator("#manual-found ol")
    expect(results.get_by_role("link", name="Glossary: Odometer")).to_be_visible()
    page.get_by_role("searchbox").fill("zyzzyva")  # a word that no page has, nor a longer one with it
    expect(page.locator("#manual-found")).to_have_text(re.compile("Nothing was found"))
    page.get_by_role("searchbox").fill("odom")
    results.get_by_role("link", name="Glossary: Odometer").click()
    expect(page.get_by_role("heading", name="Odometer")).to_be_in_viewport()


def test_without_scripts_all_of_it_can_be_read(window: Open, found: Manual) -> None:
    page = window(java_script_enabled=False).page
    page.goto("/docs/search.html?q=odometer")
    expect(page.get_by_text("The search needs scripts.")).to_be_visible()
    page.locator('a[href="glossary.html#odometer"]').click()
    expect(page.get_by_role("heading", name="Odometer")).to_be_visible()
    for shelf in found.map:
        if not shelf.is_path:
            continue
        page.goto(f"/docs/{shelf.entries[0].target}")
        for entry in shelf.entries[1:]:
            steps = page.get_by_role("navigation", name=f"{shelf.title}: page")
            steps.get_by_role("link", name=f"Next: {entry.title}", exact=True).click()
            assert page.url.endswith(entry.target)


def test_from_a_disk_it_is_the_same(chromium_browser: Browser, found: Manual, tmp_path: Path) -> None:
    """Pages, styles, pictures and the search need no server."""
    write(found, tmp_path)
    window = Window(chromium_browser, tmp_path.as_uri())
    window.page.goto(f"{tmp_path.as_uri()}/guide.html")
    assert window.page.evaluate("[...document.images].every(image => image.complete || image.loading === 'lazy')")
    field = window.page.get_by_role("searchbox")
    field.fill("sparse vector")
    field.press("Enter")
    window.page.locator("#manual-found ol").get_by_role("link", name="optcomp.interactive: SparseVector").click()
    assert window.page.url.startswith(tmp_path.as_uri())
    window.page.goto(f"{tmp_path.as_uri()}/index.html")
    for system, theme in ((system, theme) for theme in ("dark", "light", "as the system") for system in SYSTEMS):
        window.page.emulate_media(color_scheme=system)
        button = window.page.get_by_role("button", name=theme)
        button.click()
        window.page.reload()
        expect(button).to_have_attribute("aria-pressed", "true")
        drawn = window.page.evaluate("getComputedStyle(document.documentElement).colorScheme")
        assert drawn == (system if theme == "as the system" else theme)
    assert all(address.startswith(tmp_path.as_uri()) for address in window.asked)
    assert not window.complaints
    assert findings(window.page) == []  # axe itself asks for style sheets in a way that a disk does not allow
    window.context.close()


def test_from_a_disk_without_scripts(chromium_browser: Browser, found: Manual, tmp_path: Path) -> None:
    """All text is there, in the colours of the system; nothing that needs a script is shown."""
    write(found, tmp_path)
    window = Window(chromium_browser, tmp_path.as_uri(), java_script_enabled=False)
    for system in SYSTEMS:
        window.page.emulate_media(color_scheme=system)
        for name in ("index.html", "glossary.html", "theorems.html"):
            window.page.goto(f"{tmp_path.as_uri()}/{name}")
            for section in found.pages[name].sections:
                expect(window.page.get_by_role("heading", name=section.title).first).to_be_visible()
            expect(window.page.locator("#colours")).to_be_hidden()
    window.context.close()
