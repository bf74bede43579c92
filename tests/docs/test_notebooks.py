"""The notebooks are true: every cell runs, prints what is stored, and the files are well formed."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
from collections.abc import Iterator
from copy import deepcopy
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
OF_A_MACHINE = re.compile(r"(?<![\w.)}\]])/(home|work|tmp|usr|root|Users|var|opt|mnt)\b|[A-Z]:\\|0x[0-9a-f]{6}")
"""Absolute paths and addresses of objects."""

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
    ran = 0
    for cell, outputs in _maker().run(_read(path)):
        assert _printed(outputs) == _printed(cell["outputs"]), f"run docs/make_notebooks.py if {cell['id']} is right"
        assert len(_pictures(outputs)) == len(_pictures(cell["outputs"]))
        ran += 1
    assert ran == len(_code(_read(path))) > 5


@each
def test_a_notebook_is_well_formed(path: Path) -> None:
    notebook = _read(path)
    assert list(problems(notebook, TITLES[path.stem])) == []


def problems(notebook: Json, title: str) -> Iterator[str]:
    """Everything that is wrong with a notebook, apart from what its cells compute."""
    yield from wrong_structure(notebook)
    yield from wrong_outputs(notebook)
    if not "".join(notebook["cells"][0]["source"]).startswith(f"# {title}\n"):
        yield "the title"
    if notebook["cells"][-1]["cell_type"] != "markdown":
        yield "code at the end"
    for cell in _code(notebook)[1:]:  # the first holds the imports
        if len([line for line in cell["source"] if line.strip()]) > LONGEST_CELL:
            yield f"{cell['id']}: too long"
    for cell in notebook["cells"]:
        text = "".join(cell["source"]) + _printed(cell.get("outputs", []))
        if OF_A_MACHINE.search(text) or str(ROOT) in text:
            yield f"{cell['id']}: a path or an address of this machine"
        if cell["cell_type"] == "markdown":
            links = re.findall(r"\]\(([^)#:]+\.(?:md|ipynb))\)", text)
            yield from (f"{cell['id']}: no page {link}" for link in links if not (FOLDER / link).exists())


def wrong_structure(notebook: Json) -> Iterator[str]:
    """What is not nbformat 4."""
    if set(notebook) != {"cells", "metadata", "nbformat", "nbformat_minor"}:
        yield "the entries of the notebook"
    if (notebook.get("nbformat"), notebook.get("nbformat_minor")) != (4, 5):
        yield "the version of the format"
    if set(notebook["metadata"]["kernelspec"]) != {"display_name", "language", "name"}:
        yield "the kernel"
    if notebook["metadata"]["language_info"]["name"] != "python":
        yield "the language"
    for cell in notebook["cells"]:
        if set(cell) != {"markdown": EVERY_CELL, "code": CODE_CELL}[cell["cell_type"]]:
            yield f"{cell['id']}: its entries"
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"]):
            yield f"{cell['id']}: its id"
        if not _are_lines(cell["source"]):
            yield f"{cell['id']}: its source"
    ids = [cell["id"] for cell in notebook["cells"]]
    yield from (f"{each}: the id of two cells" for each in sorted(set(ids)) if ids.count(each) > 1)


def _are_lines(source: list[str]) -> bool:
    """Whether there is one string for each line, each but the last with its end, and something in them."""
    text = all(isinstance(line, str) for line in source)
    return bool(source) and text and "".join(source).splitlines(keepends=True) == source


def wrong_outputs(notebook: Json) -> Iterator[str]:
    """Outputs that are not as this version of the format has them, and pictures that are none or too large."""
    for count, cell in enumerate(_code(notebook), start=1):
        if cell["execution_count"] != count:
            yield f"{cell['id']}: its number"
        for output in cell["outputs"]:
            if set(output) != OUTPUT.get(output["output_type"]):
                yield f"{cell['id']}: an output"
        for picture in _pictures(cell["outputs"]):
            if not picture.startswith(b"\x89PNG\r\n\x1a\n") or len(picture) >= LARGEST_PICTURE:
                yield f"{cell['id']}: a picture"


def test_what_is_wrong_is_noticed() -> None:
    """Each change of a sound notebook, and what is said about it."""
    assert list(problems(_sound(), "A title")) == []
    stream = {"name": "stdout", "output_type": "stream", "text": ["0x7f0a12b4c5d6\n"]}
    large = {"data": {"image/png": base64.b64encode(bytes(LARGEST_PICTURE)).decode()}, "metadata": {}}
    changes: list[tuple[tuple[str | int, ...], Any, list[str]]] = [
        (("extra",), 1, ["the entries of the notebook"]),
        (("nbformat_minor",), 4, ["the version of the format"]),
        (("metadata", "kernelspec", "extra"), 1, ["the kernel"]),
        (("metadata", "language_info", "name"), "R", ["the language"]),
        (("cells", 0, "source"), ["# Another\n"], ["the title"]),
        (("cells", 0, "id"), "a b", ["a b: its id"]),
        (("cells", 0, "outputs"), [], ["t: its entries"]),
        (("cells", 2, "id"), "i", ["i: the id of two cells"]),
        (("cells", 2, "source"), [], ["c: its source"]),
        (("cells", 2, "source"), ["x", "y"], ["c: its source"]),
        (("cells", 2, "source"), ["x\n"] * (LONGEST_CELL + 1), ["c: too long"]),
        (("cells", 2, "source"), ["open('/home/me')"], ["c: a path or an address of this machine"]),
        (("cells", 2, "outputs"), [stream], ["c: a path or an address of this machine"]),
        (("cells", 2, "outputs"), [{"output_type": "error"}], ["c: an output"]),
        (("cells", 2, "outputs"), [{"output_type": "display_data", **large}], ["c: a picture"]),
        (("cells", 2, "execution_count"), 7, ["c: its number"]),
        (("cells", 3, "source"), ["[a page](nowhere.md)"], ["e: no page nowhere.md"]),
    ]
    for path, value, found in changes:
        notebook = _sound()
        place: Any = notebook
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        assert list(problems(notebook, "A title")) == found
    no_end = _sound()
    del no_end["cells"][3]
    assert list(problems(no_end, "A title")) == ["code at the end"]


def _sound() -> Json:
    code = {"cell_type": "code", "metadata": {}, "outputs": []}
    text = {"cell_type": "markdown", "metadata": {}}
    cells = [
        {"id": "t", "source": ["# A title\n", "of a notebook"], **text},
        {"id": "i", "source": ["import math"], "execution_count": 1, **code},
        {"id": "c", "source": ["math.pi"], "execution_count": 2, **code},
        {"id": "e", "source": ["[the others](README.md)"], **text},
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": deepcopy(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


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
