"""The documentation in a browser: both themes, a phone, the search, the paths, without scripts, and from a disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from optcomp.pages.manual import SEARCH, Manual, manual
from optcomp.pages.manual_folder import write
from tests.system.browser.browsers import COLOURS, PHONE, Window, findings, looks_wrong

pytestmark = pytest.mark.slow
Open = Callable[..., Window]
Kind = tuple[str, str]
"""The parent of an element, and its name with its classes."""
SYSTEMS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
"""What a system may prefer."""
INLINE = ("code", "em", "strong", "span", "sub", "sup", "var")
"""What looks alike wherever it stands."""
ALIKE = ("more/src/", "more/tests/")
"""Files that are shown as they are; two of them stand for all."""
REPEATED = ["#manual-all ~ h3:nth-of-type(n+4)", "#manual-all ~ ul:nth-of-type(n+4)"]
"""The list of all sections on the page of the search, but for its beginning."""
BLOCKS = """kinds => {
    const article = document.querySelector("article.manual-text"), blocks = new Set();
    for (const [parent, tag, classes] of kinds) {
        const found = [...article.querySelectorAll(tag)].find(each => {
            const named = each.getAttribute("class") || "", above = each.parentElement;
            return (named.startsWith("hl-") ? named.slice(0, 4) : named) === classes
                && (parent === null || parent === (above === article ? "" : above.localName));
        });
        if (!found) throw new Error(`no ${classes} ${tag} in ${parent}`);
        let block = found;
        while (block.parentElement !== article) block = block.parentElement;
        blocks.add(block);
    }
    return [...blocks];
}"""
"""The parts of a page that together have an element of each of some kinds."""
WIDE_ONES = """async names => {
    const wide = [];
    for (const name of names) {
        const address = new URL(`/docs/${name}`, location.href), told = await (await fetch(address)).text();
        history.replaceState(null, "", address);  // addresses of pictures are seen from there
        document.body = new DOMParser().parseFromString(told, "text/html").body;
        const pictures = [...document.images].filter(each => each.loading !== "lazy");
        await Promise.allSettled(pictures.map(each => each.decode()));
        if (document.documentElement.scrollWidth > window.innerWidth) wide.push(name);
    }
    return wide;
}"""
"""Shows one page after the other without loading styles and scripts again; which scroll sideways."""


@pytest.fixture(scope="module")
def found() -> Manual:
    made = manual()
    assert made is not None
    return made


def test_every_kind_of_element_is_readable_by_everyone(window: Open, found: Manual) -> None:
    """On parts of pages that together have whatever any page has, in both themes: axe finds nothing serious."""
    page = window(color_scheme="light").page
    chosen = covering(found)
    assert 3 <= len(chosen) < len(found.pages)
    wrong = [f"{name}: {problem}" for name, kinds in chosen.items() for problem in _wrong(page, name, kinds)]
    assert not wrong, "\n".join(wrong)


def test_a_whole_page_is_readable_by_everyone(window: Open) -> None:
    """What is around the text too, also on a phone."""
    page = window(color_scheme="light").page
    page.goto("/docs/how-to/first-total.html")
    assert list(looks_wrong(page)) == []


def test_what_the_search_finds_is_readable_by_everyone(window: Open) -> None:
    page = window(color_scheme="light").page
    page.goto(f"/docs/{SEARCH}?q=noise")
    expect(page.locator("#manual-found ol").get_by_role("link").first).to_be_visible()
    assert findings(page, within={"exclude": REPEATED}) == []
    page.emulate_media(color_scheme="dark")
    assert findings(page, only=COLOURS, within={"exclude": REPEATED}) == []


def shown(found: Manual) -> list[str]:
    """All pages but those that show files as they are, and two of these."""
    sources = [name for name in found.pages if name.startswith(ALIKE)]
    return [*(name for name in found.pages if name not in sources), *sources[:2]]


def covering(found: Manual) -> dict[str, set[Kind]]:
    """Pages, short ones first, until every kind of element within its parent was seen; the new kinds of each."""
    kinds = {name: Kinds(str(found.pages[name].html)).found for name in shown(found)}
    for name in found.pages.keys() - kinds.keys():  # of these only the colours of the code are different
        kinds[name] = {("", f"span {each}") for each in set(re.findall(r'class="(hl-\w)', str(found.pages[name].html)))}
    chosen: dict[str, set[Kind]] = {}
    left = set().union(*kinds.values())
    while left:
        best = max(kinds, key=lambda name: len(kinds[name] & left) / (2000 + len(found.pages[name].html)))
        chosen[best] = kinds[best] & left
        left -= kinds[best]
    return chosen


class Kinds(HTMLParser):
    """Elements of a page, each with its classes and its parent; those of a line without a parent."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = [""]
        self.found: set[Kind] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs).get("class") or ""
        kind = f"{tag} {named[:4] if named.startswith('hl-') else named}"  # colours of code go by the first letter
        self.found.add(("" if _anywhere(tag) else self.open[-1], kind))
        if tag not in ("img", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()


def _wrong(page: Page, name: str, kinds: Iterable[Kind]) -> Iterator[str]:
    page.emulate_media(color_scheme="light")
    page.goto(f"/docs/{name}")
    wanted = [(None if _anywhere(tag) else parent, tag, named) for parent, (tag, _, named) in map(_split, kinds)]
    blocks = page.evaluate_handle(BLOCKS, wanted)
    yield from findings(page, within={"include": blocks})
    page.emulate_media(color_scheme="dark")
    yield from (f"dark: {each}" for each in findings(page, only=COLOURS, within={"include": blocks}))


def _split(kind: Kind) -> tuple[str, tuple[str, str, str]]:
    return kind[0], kind[1].partition(" ")


def _anywhere(tag: str) -> bool:
    """Whether elements look alike wherever they stand: those of a line, and those of formulas."""
    return tag in INLINE or tag.startswith("m")


def test_no_page_is_wider_than_a_phone(window: Open, found: Manual) -> None:
    page = window(viewport=PHONE).page
    page.goto(f"/docs/{SEARCH}")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.goto("/docs/index.html")
    assert page.evaluate(WIDE_ONES, shown(found)) == []


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
