"""The pages for maintainers are true: rooms as in the contract, a current picture, an index that leaves nothing out."""

from __future__ import annotations

import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCREENS = 110  # lines: two screens of a large terminal


@pytest.fixture(scope="module")
def graph() -> Any:
    """The script; it parses all sources once for the modules and once for the imports between rooms, not more often."""
    spec = importlib.util.spec_from_file_location("import_graph", DOCS / "import_graph.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scripted: Any = module
    scripted.modules_and_imports, scripted.crossings = cache(scripted.modules_and_imports), cache(scripted.crossings)
    return scripted


@pytest.mark.slow
def test_the_picture_of_the_rooms_is_current(graph: Any) -> None:
    """Run `make docs` when this fails."""
    with Image.open(graph.PICTURE) as picture:
        assert json.loads(picture.info["Description"]) == graph.facts()


def test_the_page_shows_the_rooms_of_the_contract(graph: Any) -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf8")
    drawing = re.findall(r"```text\n(.*?)```", page, re.DOTALL)[0]
    floors = [re.split(r"  +", line.strip())[0].split(" │ ") for line in drawing.splitlines()]
    rooms = [[room for room in floor if (graph.SOURCE / "optcomp" / room).is_dir()] for floor in graph.layers()]
    assert [floor for floor in floors if floor != ["errors"]] == [floor for floor in rooms if floor]
    table = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(table) == sorted(room for floor in rooms for room in floor)


def test_imports_are_counted(graph: Any, tmp_path: Path) -> None:
    sources = {
        "optcomp/__init__.py": "from optcomp.theorems import opt",
        "optcomp/errors.py": "",
        "optcomp/theorems/__init__.py": "from optcomp.theorems.opt import Effort",
        "optcomp/theorems/opt.py": "from optcomp.numerics.roots import Side\nimport optcomp.errors",
        "optcomp/numerics/__init__.py": "",
        "optcomp/numerics/roots.py": "import optcomp",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf8")
    assert graph.crossings(tmp_path) == [
        ("optcomp", "optcomp.theorems", False),
        ("optcomp.theorems.opt", "optcomp.numerics.roots", True),
    ]
    cycle = {"optcomp", "optcomp.theorems.opt", "optcomp.numerics.roots"}
    assert graph.in_cycles(graph.modules_and_imports(tmp_path)) == sorted(cycle)


@pytest.mark.slow
def test_rooms_are_entered_by_their_surfaces(graph: Any) -> None:
    crossings = graph.crossings(graph.SOURCE)
    assert [crossing for crossing in crossings if crossing[2]] == []
    assert len(crossings) > 200


def test_the_index_names_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf8")
    linked = {(DOCS / link).resolve() for link in re.findall(r"\]\(([^)#:]+)", index)}
    pages = {path.resolve() for path in DOCS.rglob("*.md")} - {(DOCS / "README.md").resolve()}
    assert sorted(page.relative_to(DOCS).as_posix() for page in pages - linked) == []


def test_the_readme_fits_two_screens() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf8")
    assert len(text.splitlines()) <= SCREENS
    assert text.count("![") == 1


def test_links_into_the_glossary_find_their_word() -> None:
    glossary = (DOCS / "glossary.md").read_text(encoding="utf8")
    words = {_anchor(title) for title in re.findall(r"^### (.+)$", glossary, re.MULTILINE)}
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    text = "".join(page.read_text(encoding="utf8") for page in pages)
    asked = set(re.findall(r"glossary\.md#([^)]+)\)", text))
    assert asked - words == set()
    assert len(asked) > 10


def _anchor(title: str) -> str:
    """As GitHub makes it: lower case, hyphens for spaces, no punctuation."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_contributing_names_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf8")
    paths = re.findall(r"`((?:src|tests|docs|bench|examples)/[\w./-]+)`", text)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
