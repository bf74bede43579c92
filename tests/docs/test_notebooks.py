"""The notebooks are true: every cell runs, prints what is stored, and the files are well formed."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))
TITLES = {
    "asking-many-mechanisms-at-once": "Asking many mechanisms at once",
    "every-mechanism-is-a-leaky-coin": "Every mechanism is a leaky coin",
    "why-privacy-adds-up-like-sqrt-k": "Why privacy adds up like √k",
}
EVERY_CELL = {"cell_type", "id", "metadata", "source"}
CODE_CELL = EVERY_CELL | {"execution_count", "outputs"}
OUTPUT = {
    "stream": {"name", "output_type", "text"},
    "display_data": {"data", "metadata", "output_type"},
}
LARGEST_PICTURE = 60_000
LONGEST_CELL = 15  # lines that are not blank

Json = dict[str, Any]

each = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def _read(path: Path) -> Json:
    notebook = json.loads(path.read_text(encoding="utf8"))
    assert isinstance(notebook, dict)
    return notebook


def _code(notebook: Json) -> list[Json]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _printed(outputs: list[Json]) -> str:
    return "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")


def _pictures(outputs: list[Json]) -> list[bytes]:
    return [base64.b64decode(o["data"]["image/png"]) for o in outputs if o["output_type"] == "display_data"]


def _maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_notebooks", ROOT / "docs" / "make_notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@each
def test_cells_print_what_is_stored(path: Path) -> None:
    """All code cells in order, in one namespace; text is compared exactly, pictures only counted."""
    start = time.process_time()
    ran = 0
    for cell, outputs in _maker().run(_read(path)):
        assert _printed(outputs) == _printed(cell["outputs"]), f"run docs/make_notebooks.py if {cell['id']} is right"
        assert len(_pictures(outputs)) == len(_pictures(cell["outputs"]))
        ran += 1
    assert ran == len(_code(_read(path))) > 5
    assert time.process_time() - start < 20


@each
def test_structure_is_nbformat_4(path: Path) -> None:
    notebook = _read(path)
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]["kernelspec"]) == {"display_name", "language", "name"}
    assert notebook["metadata"]["language_info"]["name"] == "python"
    for cell in notebook["cells"]:
        assert set(cell) == {"markdown": EVERY_CELL, "code": CODE_CELL}[cell["cell_type"]]
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"])
        _assert_lines(cell["source"])
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)


def _assert_lines(source: list[str]) -> None:
    """One string for each line, each but the last with its end, and something in them."""
    assert source
    assert all(isinstance(line, str) for line in source)
    assert "".join(source).splitlines(keepends=True) == source


@each
def test_outputs_are_well_formed(path: Path) -> None:
    for count, cell in enumerate(_code(_read(path)), start=1):
        assert cell["execution_count"] == count
        for output in cell["outputs"]:
            assert set(output) == OUTPUT[output["output_type"]]
        for picture in _pictures(cell["outputs"]):
            assert picture.startswith(b"\x89PNG\r\n\x1a\n")
            assert len(picture) < LARGEST_PICTURE


@each
def test_cells_are_short_and_explained(path: Path) -> None:
    """A title, prose before every section, and no long code cell."""
    notebook = _read(path)
    assert "".join(notebook["cells"][0]["source"]).startswith(f"# {TITLES[path.stem]}\n")
    assert notebook["cells"][-1]["cell_type"] == "markdown"
    for cell in _code(notebook)[1:]:  # the first holds the imports
        written = [line for line in cell["source"] if line.strip()]
        assert len(written) <= LONGEST_CELL, cell["id"]


@each
def test_nothing_of_the_machine_is_stored(path: Path) -> None:
    """No absolute paths and no addresses of objects, in sources or outputs."""
    for cell in _read(path)["cells"]:
        text = "".join(cell["source"]) + _printed(cell.get("outputs", []))
        assert not re.search(
            r"(?<![\w.)}\]])/(home|work|tmp|usr|root|Users|var|opt|mnt)\b|[A-Z]:\\|0x[0-9a-f]{6}", text
        )
        assert str(ROOT) not in text


@each
def test_links_lead_somewhere(path: Path) -> None:
    for cell in _read(path)["cells"]:
        if cell["cell_type"] == "markdown":
            for link in re.findall(r"\]\(([^)#:]+\.(?:md|ipynb))\)", "".join(cell["source"])):
                assert (FOLDER / link).exists(), link


def test_every_notebook_is_linked_under_its_title() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf8")
    assert {path.stem for path in PATHS} == set(TITLES)
    for stem, title in TITLES.items():
        assert f"[{title}]({stem}.ipynb)" in page


def test_a_wrong_output_would_be_noticed() -> None:
    """The runner computes what cells print; it does not repeat what is stored."""
    stored = {"name": "stdout", "output_type": "stream", "text": ["3\n"]}
    cells = [
        {"cell_type": "code", "id": "a", "source": ["x = 1\n", "print(x)"], "outputs": [stored]},
        {"cell_type": "markdown", "id": "b", "source": ["print(5)"]},
        {"cell_type": "code", "id": "c", "source": ["print(x + 1)\n", "print()"], "outputs": []},
    ]
    printed = [_printed(outputs) for _, outputs in _maker().run({"cells": cells})]
    assert printed == ["1\n", "2\n\n"]
