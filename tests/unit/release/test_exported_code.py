"""A release as a script and as a notebook: the record comes out again, and no name becomes code."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from optcomp.release import notebook_text, script_text

NASTY = (
    '"""; import os; os.system("touch pwned") #',
    "'); __import__('os').system('touch pwned') #",
    "\\'); print(1) #",
    "{{7*7}}\n%%bash\ntouch pwned",
    "\N{RIGHT-TO-LEFT OVERRIDE}# \u2028import os\u2029 ",
    "</script><script>alert(1)</script>",
    "$HOME `touch pwned` !touch pwned",
    "\ud800",
)
"""Names that would like to be something else."""


def record(name: str) -> dict[str, Any]:
    """What code reads of a record, with a name everywhere."""
    single = {"name": name, "statistic": name, "value": 3.25, "interval": [1.0, 5.5]}
    cells = [{"cell": name, "value": 4, "interval": None}, {"cell": [1, name], "value": -7, "interval": [-9.0, 0.0]}]
    return {"plan": {name: name}, "statistics": [single, {"name": name, "statistic": name, "cells": cells}]}


def assigned(source: str) -> Any:
    """The record that a source assigns, read without running anything."""
    tree = ast.parse(source)
    (found,) = (node for node in tree.body if isinstance(node, ast.Assign))
    assert isinstance(found.value, ast.Call)
    assert ast.unparse(found.value.func) == "json.loads"
    return json.loads(ast.literal_eval(found.value.args[0]))


def shape(source: str) -> str:
    """The code without its texts: it must not depend on any name."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


@pytest.mark.parametrize("name", NASTY)
def test_a_script_is_the_same_code_whatever_is_named(name: str) -> None:
    source = script_text(record(name))
    assert source.isascii()
    assert max(map(len, source.splitlines())) < 1300
    assert assigned(source) == record(name)
    assert shape(source) == shape(script_text(record("plain")))


@pytest.mark.parametrize("name", NASTY)
def test_a_notebook_is_the_same_code_whatever_is_named(name: str) -> None:
    text = notebook_text(record(name))
    found, plain = json.loads(text), json.loads(notebook_text(record("plain")))
    assert text.isascii()
    assert found["nbformat"] == 4
    markdown, *code = found["cells"]
    assert markdown == plain["cells"][0]
    assert assigned(code[0]["source"]) == record(name)
    for cell, other in zip(code, plain["cells"][1:], strict=True):
        assert cell["outputs"] == []
        assert shape(cell["source"]) == shape(other["source"])
        assert not cell["source"].startswith(("%", "!"))


def test_a_script_shows_the_numbers_and_nothing_else_happens(tmp_path: Path) -> None:
    path = tmp_path / "release.py"
    path.write_text(script_text(record(NASTY[0])), encoding="utf8")
    command = [sys.executable, "-I", "-S", str(path)]  # without site packages there is no optcomp
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = found.stdout.splitlines()
    assert [line for line in lines if "3.25 | [1.0, 5.5]" in line]
    assert [line for line in lines if "-7 | [-9.0, 0.0]" in line]
    assert lines[-1].startswith("Install optcomp")
    assert [each.name for each in tmp_path.iterdir()] == ["release.py"]


def test_names_are_printed_as_people_write_them(tmp_path: Path) -> None:
    path = tmp_path / "release.py"
    for name, seen, coding in (
        ("Zürich", "Zürich", "utf-8"),
        ("Zürich", "Z\\xfcrich", "ascii"),
        ("a\nb", "a\\nb", "utf-8"),
    ):
        path.write_text(script_text(record(name)), encoding="utf8")
        command = [sys.executable, "-S", str(path)]
        found = subprocess.run(command, capture_output=True, check=True, env={"PYTHONIOENCODING": coding})
        assert seen in found.stdout.decode(coding)
