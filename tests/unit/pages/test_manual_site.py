"""The documentation as a site: every link and anchor leads somewhere, and nothing is asked of another host."""

from __future__ import annotations

import json
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from optcomp.pages import manual_pages
from optcomp.pages.manual import INDEX, SEARCH, Manual, made, manual, search_index, seen_from
from optcomp.pages.manual_files import address, copy_manual, joined, manual_files, root
from optcomp.pages.manual_folder import write
from optcomp.pages.manual_map import read_map
from optcomp.pages.manual_notebooks import notebook_text
from optcomp.pages.manual_text import anchor_of, rendered
from tests.unit.center.served import Served
from tests.unit.pages.visitors import Visitor

ROOT = Path(__file__).parents[3]
MOST = 6
"""Pages of a path."""


class Page(HTMLParser):
    """What a page has and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" and "href" in given else []
        self.loaded += [given[name] for name in ("src", "data-index") if name in given]
        self.loaded += [given["href"]] if tag == "link" else []
        self.wrong += [name for name in given if name == "style" or name.startswith("on")]
        self.wrong += [tag] if tag == "style" or (tag == "script" and "src" not in given) else []


@pytest.fixture(scope="module")
def found() -> Manual:
    made_here = manual()
    assert made_here is not None
    return made_here


@pytest.fixture(scope="module")
def folder(found: Manual, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every file of the written site, with the text of its pages."""
    place = tmp_path_factory.mktemp("site")
    names = write(found, place)
    return {name: (place / name).read_text(encoding="utf8") if name.endswith(".html") else "" for name in names}


@pytest.fixture(scope="module")
def pages(folder: dict[str, str]) -> dict[str, Page]:
    return {name: Page(text) for name, text in folder.items() if text}


def test_every_link_and_anchor_leads_somewhere(folder: dict[str, str], pages: dict[str, Page], found: Manual) -> None:
    assert found.missing == []
    wrong = []
    for name, page in pages.items():
        for link in page.links:
            path, _, anchor = link.partition("#")
            if ":" in link:
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(path))) if path else name
            if target not in folder or (anchor and unquote(anchor) not in pages[target].ids):
                wrong.append(f"{name}: {link}")
    assert wrong == []
    assert sum(len(page.links) for page in pages.values()) > 2000


def test_the_front_page_of_the_repository_leads_into_it(pages: dict[str, Page]) -> None:
    links = re.findall(r"\]\(([^)\s:]+)\)", (ROOT / "README.md").read_text(encoding="utf8"))
    assert len(links) > 20
    for link in links:
        path, _, anchor = link.partition("#")
        assert (ROOT / path).exists(), link
        assert not anchor or unquote(anchor) in pages[address(path)].ids, link


def test_nothing_is_loaded_from_elsewhere(folder: dict[str, str], pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        for link in page.loaded:
            assert posixpath.normpath(posixpath.join(posixpath.dirname(name), link)) in folder, f"{name}: {link}"


def test_no_page_breaks_the_policy(pages: dict[str, Page]) -> None:
    assert {name: page.wrong for name, page in pages.items() if page.wrong} == {}
    assert [name for name, page in pages.items() if len(set(page.ids)) != len(page.ids)] == []


def test_tables_and_blocks_are_whole(found: Manual) -> None:
    """A row apart from its table, or a fence that nobody closed, would be shown as it is written."""
    wrong = {name: re.findall(r"<p>(?:\||```|~~~).{0,60}", str(page.html)) for name, page in found.pages.items()}
    assert {name: lines for name, lines in wrong.items() if lines} == {}
    assert "<p>| b |" in str(rendered("# A\n\n| a |\n|---|\n| 1 |\n\n| b |\n").html)


def test_what_is_checked_would_be_noticed() -> None:
    page = Page('<p id="a" style="x"><a href="b.html#c">d</a><script>1</script><svg onload="x"></svg><img src="e"></p>')
    assert (page.ids, page.links, page.loaded) == (["a"], ["b.html#c"], ["e"])
    assert page.wrong == ["style", "script", "onload"]


def test_four_paths_of_at_most_six_pages(found: Manual) -> None:
    paths = [shelf for shelf in found.map if shelf.is_path]
    assert [shelf.title.split()[-1] for shelf in paths] == ["owner", "analyst", "engineer", "mathematician"]
    for shelf in paths:
        targets = [entry.target for entry in shelf.entries]
        assert 3 <= len(set(targets)) == len(targets) <= MOST
        for number, target in enumerate(targets, start=1):
            (step,) = [each for each in found.steps(target) if each.path == shelf.title]
            assert (step.number, step.of) == (number, len(targets))
            assert (step.before is None, step.after is None) == (number == 1, number == len(targets))


def test_every_page_of_docs_is_there(found: Manual) -> None:
    pages = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 50
    assert [name for name in pages if address(name) not in found.pages] == []


def test_a_link_to_nothing_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = "# A\n\n## B\n\n1. [One](one.md)\n\n[two](two.md) [three](../three.parquet) [out](../../x)\n"
    (tmp_path / "docs" / "README.md").write_text(text, encoding="utf8")
    (tmp_path / "docs" / "one.md").write_text("# One\n\n[map](README.md#b)", encoding="utf8")
    (tmp_path / "three.parquet").write_bytes(b"rows")
    small = made(tmp_path)
    assert '<a href="index.html#b">' in small.pages["one.html"].html
    assert small.missing == []  # no link of this page
    assert '<a href="one.html">' in small.pages["index.html"].html
    assert small.missing == [("docs/README.md", "two.md"), ("docs/README.md", "../../x")]
    assert "<a>three</a>" in small.pages["index.html"].html  # data are named, and not handed out


@pytest.mark.parametrize(
    ("name", "target", "meant"),
    [("docs/a.md", "b.md", "docs/b.md"), ("docs/x/a.md", "../../c", "c"), ("a.md", "../b", None)],
)
def test_links_are_followed_from_their_page(name: str, target: str, meant: str | None) -> None:
    assert joined(name, target) == meant


def test_addresses() -> None:
    assert address("README.md") == address("docs/README.md") == "index.html"
    assert address("docs/proofs/games.md") == "proofs/games.html"
    assert address("docs/notebooks/README.md") == "notebooks/index.html"
    assert address("bench/results.md") == "more/bench/results.html"
    assert address("src/optcomp/late.py") == "more/src/optcomp/late.py.html"
    assert address("docs/plan-schema.json") == "plan-schema.json"
    assert seen_from("proofs/games.html", "engine.html#a") == "../engine.html#a"
    assert seen_from("index.html", "proofs/games.html") == "proofs/games.html"


def test_markdown_is_shown_and_nothing_else() -> None:
    text = (
        "# A <b>title</b>\n\n<script>x</script> ε_i and e^{y−L_i}, `a_i` rows_per_person\n\n## A title\n\n## A title\n"
    )
    page = rendered(text)
    assert "<script>" not in page.html
    assert "<var>ε</var><sub>i</sub>" in page.html
    assert "<var>e</var><sup>y−<var>L</var><sub>i</sub></sup>" in page.html
    assert "<code>a_i</code> rows_per_person" in page.html
    assert [section.anchor for section in page.sections] == ["a-btitleb", "a-title", "a-title-1"]


def test_formulas_are_mathml() -> None:
    page = rendered("# A\n\n```math\n\\frac{1}{2} \\le \\varepsilon_i\n```\n")
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">' in page.html
    assert "<mfrac>" in page.html
    assert "<msub>" in page.html
    inline = rendered("Cost $x^2$ and `$HOME`.", dollars=True)
    assert "<msup>" in inline.html
    assert "$HOME" in inline.html


def test_anchors_are_those_of_github() -> None:
    assert anchor_of("ε (epsilon)") == "ε-epsilon"
    assert anchor_of("What is assumed, and what is tested") == "what-is-assumed-and-what-is-tested"


def test_notebooks_are_pages_with_pictures_beside_them() -> None:
    output = {"output_type": "display_data", "data": {"image/png": "aGVsbG8="}}
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": ["print(1)"], "outputs": [{"output_type": "stream", "text": ["1\n"]}, output]},
    ]
    text, pictures = notebook_text(json.dumps({"cells": cells}), "note")
    assert pictures == {"note-0.png": b"hello"}
    assert "```python\nprint(1)\n```\n\n```text\n1\n```\n\n![Title](note-0.png)" in text


def test_the_map_is_read_from_its_page() -> None:
    shelves = read_map(
        "# M\n\n## One\n\n1. [A](a.md): x\n2. [B](b.md#c)\n\n## Two\n\n- [A](a.md), [D](d.md)\n\n## Three\n"
    )
    assert [(shelf.title, shelf.is_path, len(shelf.entries)) for shelf in shelves] == [
        ("One", True, 2),
        ("Two", False, 1),
    ]


def test_the_index_knows_the_words_of_every_section(found: Manual) -> None:
    text = search_index(found)
    index = json.loads(text.removeprefix("self.optcompIndex = ").removesuffix(";\n"))
    places = {address for address, *_ in index["sections"]}
    pages = {address.partition("#")[0] for address in places}
    left_out = ("images/", "more/src/", "more/tests/")
    assert {name for name in found.pages if not name.startswith(left_out)} == pages
    numbers = index["words"]["odometer"][::2]
    assert "glossary.html#odometer" in {index["sections"][number][0] for number in numbers}


def test_the_server_shows_it_to_everyone(centre: Served) -> None:
    visitor = Visitor(centre)
    assert visitor.get("/docs").headers["location"] == "/docs/index.html"
    page = visitor.get("/docs/index.html")
    assert page.status_code == 200
    assert "style-src 'self'" in page.headers["content-security-policy"]
    assert visitor.get("/docs/images/compare.png").headers["content-type"] == "image/png"
    assert visitor.get(f"/docs/{INDEX}").text.startswith("self.optcompIndex = ")
    assert visitor.get(f"/docs/{SEARCH}").status_code == 200
    for wrong in ("nothing.html", "../pyproject.toml", "%2e%2e/%2e%2e/etc/passwd", "images"):
        assert visitor.get(f"/docs/{wrong}").status_code == 404


def test_an_installation_without_it_says_so(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manual_pages, "manual", lambda: None)
    found = Visitor(centre).get("/docs/index.html")
    assert found.status_code == 404
    assert "came without its documentation" in found.text


def test_the_server_shows_what_the_folder_holds(centre: Served, found: Manual) -> None:
    visitor = Visitor(centre)
    for name in ("guide.html", "proofs/games.html"):
        assert str(found.pages[name].html) in visitor.get(f"/docs/{name}").text


def test_a_wheel_carries_it(tmp_path: Path) -> None:
    place = tmp_path / "manual"
    copy_manual(ROOT, place)
    assert manual_files(place) == manual_files(ROOT)
    assert set(made(place).pages) == set(made(ROOT).pages)
    assert root() == ROOT
    assert not re.search(r"\.parquet", " ".join(manual_files(place)))
