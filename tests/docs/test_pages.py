"""The documentation is true: code blocks run, shown output is what is printed, generated pages are up to date."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import optcomp as oc
from optcomp.interactive import quotas
from tests.unit.cli.in_process import invoke

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
@pytest.mark.slow_cases(
    "README.md",  # this and the next three start a server
    "docs/center.md",
    "docs/how-to/ask-from-python.md",
    "docs/how-to/make-a-budget-last.md",
    "docs/auditing.md",
    "docs/interactive.md",
    "docs/ledger.md",
)
def test_python_blocks_run(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block followed by a text block shows exactly what it prints; each is a program of its own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # pages do not remove their folders
    blocks = BLOCK.findall(page.read_text(encoding="utf8"))
    for (kind, text), (next_kind, shown) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if kind == "python":
            monkeypatch.setattr(quotas, "RECORD", quotas.Record())
            exec(compile(text, _name(page), "exec"), {})
            printed = capsys.readouterr().out
            if next_kind == "text":
                assert printed == shown


def _shown_commands(page: Path) -> Iterator[tuple[str, str]]:
    """Each `$ optcomp ...` line of a console block with the output shown below it."""
    for block in _blocks(page, "console"):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = piece.partition("\n")
            if command.startswith("optcomp "):
                yield command, shown


@pytest.mark.parametrize("page", _with("console"), ids=_name)
def test_console_blocks_show_real_output(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process; pictures are written elsewhere."""
    monkeypatch.chdir(ROOT)
    wrong = []
    for command, shown in _shown_commands(page):
        words = [str(tmp_path / word) if word.endswith(".png") else word for word in shlex.split(command)[1:]]
        done = invoke(words, env={"COLUMNS": "100", "NO_COLOR": "1"})
        printed = done.stdout.replace(f"{tmp_path}/", "")
        if done.exit_code != 0 or _lines(printed) != _lines(shown):
            wrong.append(f"$ {command}\n{printed}{done.stderr}exit code {done.exit_code}; the page shows:\n{shown}")
    assert wrong == [], "\n".join(wrong)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _help(command: tuple[str, ...]) -> str:
    """What --help prints, in this process; `make docs` starts a process for each command, with the same settings."""
    plain = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb"}
    return "\n".join(_lines(invoke([*command, "--help"], env=plain).stdout.strip()))


@pytest.mark.parametrize(
    "name", ["command-line.md", "figure-2.md", "plan-schema.json", pytest.param("walks.md", marks=pytest.mark.slow)]
)
def test_generated_pages_are_current(name: str) -> None:
    """Run `make docs` when this fails; `test_reference_pages.py` has the other pages."""
    generator = _generator()
    generator._help = _help
    assert (ROOT / "docs" / name).read_text(encoding="utf8") == generator.PAGES[name]()


def test_every_method_and_public_name_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf8") for page in PAGES)
    assert [method for method in oc.METHODS if f"`{method}`" not in text] == []
    assert [name for name in oc.__all__ if name not in text] == []


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf8")):
            assert (page.parent / link).exists(), f"{_name(page)} links to {link}"
