"""The documentation is true: code blocks run, shown output is what is printed, generated pages are up to date."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import optcomp as oc
from optcomp.interactive import quotas

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf8")) if kind == language]


def _with(language: str) -> list[Path]:
    return [page for page in PAGES if _blocks(page, language)]


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", _with("python"), ids=_name)
def test_python_blocks_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A block followed by a text block shows exactly what it prints; each is a program of its own."""
    blocks = BLOCK.findall(page.read_text(encoding="utf8"))
    for (kind, text), (next_kind, shown) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if kind == "python":
            quotas.RECORD = quotas.Record()
            exec(compile(text, _name(page), "exec"), {})
            printed = capsys.readouterr().out
            if next_kind == "text":
                assert printed == shown


def _console_cases() -> list[tuple[Path, str, str]]:
    """Each `$ optcomp ...` line of a console block with the output shown below it."""
    cases = []
    for page in _with("console"):
        for block in _blocks(page, "console"):
            for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = piece.partition("\n")
                if command.startswith("optcomp"):
                    cases.append((page, command, shown))
    return cases


@pytest.mark.parametrize(("page", "command", "shown"), _console_cases(), ids=lambda value: str(value)[:60])
def test_console_blocks_show_real_output(page: Path, command: str, shown: str, tmp_path: Path) -> None:
    arguments = [
        str(tmp_path / argument) if argument.endswith(".png") else argument for argument in shlex.split(command)[1:]
    ]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    call = [str(Path(sys.executable).with_name("optcomp")), *arguments]
    run = subprocess.run(call, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    printed = run.stdout.replace(str(tmp_path) + "/", "")
    assert [line.rstrip() for line in printed.rstrip().splitlines()] == [
        line.rstrip() for line in shown.rstrip().splitlines()
    ]


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["theorems.md", "command-line.md", "figure-2.md", "plan-schema.json", "walks.md"])
def test_generated_pages_are_current(name: str) -> None:
    """Run `make docs` when this fails."""
    assert (ROOT / "docs" / name).read_text(encoding="utf8") == _generator().PAGES[name]()


def test_every_method_and_public_name_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf8") for page in PAGES)
    assert [method for method in oc.METHODS if f"`{method}`" not in text] == []
    assert [name for name in oc.__all__ if name not in text] == []


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf8")):
            assert (page.parent / link).exists(), f"{_name(page)} links to {link}"
