"""What is imported when: the package alone imports nothing, help and mistakes no more than they need."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import optcomp

DATA = {"duckdb", "fastapi", "httpx", "ibis", "matplotlib", "opendp", "pandas", "pyarrow", "sqlglot"}
"""Libraries of the extras."""
NUMBERS = {"flint", "numpy"}
TERMINAL = {"rich", "typer", "yaml"}

TELL = "import sys; print(*(name for name in sys.modules if '.' not in name), file=sys.stderr)"
RUN = f"""
try:
    from optcomp.cli.main import run
    run()
finally:
    {TELL}
"""


def loaded(code: str, *args: str, exit_code: int = 0) -> set[str]:
    """Top-level modules in a fresh process after this code, which prints them last to stderr."""
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == exit_code, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_import_imports_nothing_heavy() -> None:
    found = loaded(f"import optcomp; {TELL}")
    assert "optcomp" in found
    assert not found & (DATA | NUMBERS | TERMINAL)


def test_names_of_the_package_need_no_extra() -> None:
    found = loaded(f"from optcomp import *; {TELL}")
    assert found >= NUMBERS
    assert not found & (DATA | TERMINAL)


@pytest.mark.parametrize("args", [["--help"], ["plan", "--help"], ["plan", "release", "--help"], ["figures", "--help"]])
def test_help_imports_no_numbers(args: list[str]) -> None:
    assert not loaded(RUN, *args) & (DATA | NUMBERS)


def test_help_with_lists_imports_no_extra() -> None:
    assert not loaded(RUN, "compose", "--help") & DATA


def test_version_imports_next_to_nothing() -> None:
    assert not loaded(RUN, "--version") & (DATA | NUMBERS | {"rich", "yaml"})


def test_a_mistyped_option_imports_no_numbers() -> None:
    assert not loaded(RUN, "compose", "0.1x50", "--detla", "1e-6", exit_code=2) & (DATA | NUMBERS)


def test_a_mistake_in_a_plan_imports_no_extra(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("version: 1\nbugdet: {epsilon: 1}\n")
    assert not loaded(RUN, "plan", str(plan), exit_code=2) & (DATA | {"rich"})


def test_every_name_has_a_room() -> None:
    assert optcomp.__all__ == list(optcomp._ROOM_OF)
    for name, room in optcomp._ROOM_OF.items():
        assert getattr(optcomp, name) is getattr(importlib.import_module(f"optcomp.{room}"), name)


def test_names_that_need_an_extra_are_fetched_by_name_only() -> None:
    assert not set(optcomp._ROOM_OF_EXTRAS) & set(optcomp.__all__)
    for name, room in optcomp._ROOM_OF_EXTRAS.items():
        assert getattr(optcomp, name) is getattr(importlib.import_module(f"optcomp.{room}"), name)


def test_dir_tells_names_that_are_not_fetched_yet() -> None:
    code = "import sys, optcomp; print(*dir(optcomp), file=sys.stderr)"
    assert loaded(code) >= {*optcomp.__all__, "guarantees", "theorems", "__version__"}


def test_rooms_are_attributes() -> None:
    code = "import sys, optcomp; print(optcomp.guarantees.PureDP.__name__, file=sys.stderr)"
    assert loaded(code) == {"PureDP"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'composse'"):
        getattr(optcomp, "composse")  # noqa: B009 - a type checker would refuse the name
    with pytest.raises(ImportError, match="composse"):
        exec("from optcomp import composse")
