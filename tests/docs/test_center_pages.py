"""The pages about the data centre are true: commands run, every path, setting, code and command is told."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from optcomp.center import Settings, make_app
from optcomp.center.problems import STATUS

ROOT = Path(__file__).parents[2]
CENTER = (ROOT / "docs" / "center.md").read_text(encoding="utf8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "@@@ the end of a block @@@"


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    app = make_app(Settings.write(tmp_path_factory.mktemp("home") / "center"))
    service = app.state.service
    service.store.close()
    service.ledger.close()
    found: dict[str, Any] = app.openapi()
    return found


def test_every_request_is_on_the_page(described: dict[str, Any]) -> None:
    asked = [f"{method.upper()} {path}" for path, methods in described["paths"].items() for method in methods]
    assert len(asked) > 30
    assert [each for each in asked if f"`{each}`" not in CENTER] == []


def test_the_page_has_no_request_that_is_not_there(described: dict[str, Any]) -> None:
    told = re.findall(r"`(GET|POST|PUT|DELETE) (/[^`]*)`", CENTER)
    known = {(method.upper(), path) for path, methods in described["paths"].items() for method in methods}
    assert [each for each in told if each not in known] == []


def test_every_error_is_on_the_page_with_its_status() -> None:
    rows = [line for line in CENTER.splitlines() if line.startswith("| `")]
    for code, status in STATUS.items():
        assert any(f"`{code}`" in row and f"| {status} |" in row for row in rows), code


def test_every_setting_is_on_the_page() -> None:
    told = set(re.findall(r"^\| `(\w+)` \|", OPERATIONS, re.MULTILINE))
    assert {entry.name for entry in fields(Settings)} - {"home"} - told == set()


def test_every_command_of_the_centre_is_on_a_page() -> None:
    from optcomp.cli.admin.command import admin_app

    names = [command.name or command.callback.__name__ for command in admin_app.registered_commands if command.callback]
    assert len(names) > 10
    pages = CENTER + OPERATIONS
    assert [name for name in names if f"optcomp admin {name}" not in pages] == []


def _script(page: str) -> tuple[str, list[str]]:
    """All bash blocks of a page as one program, and what is shown below each."""
    blocks = BLOCK.findall(page)
    parts, shown = [], []
    for (kind, text), (next_kind, output) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if kind == "bash":
            parts.append(f"{text}\necho\necho '{MARK}'\n")
            shown.append(output if next_kind == "text" else "")
    return "set -eu\n" + "".join(parts), shown


def _matches(shown: str, printed: str) -> bool:
    """Line by line; … in what is shown stands for anything within a line."""
    wanted, found = ([line.rstrip() for line in text.strip().splitlines()] for text in (shown, printed))
    patterns = [".*".join(map(re.escape, line.split("…"))) for line in wanted]
    return len(wanted) == len(found) and all(map(re.fullmatch, patterns, found))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the page asks by curl")
@pytest.mark.parametrize("name", ["center.md", "operations.md"])
def test_commands_print_what_is_shown(name: str, tmp_path: Path) -> None:
    script, shown = _script((ROOT / "docs" / name).read_text(encoding="utf8"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    call = ["bash", "-c", script.replace("8000", str(_free_port()))]
    run = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr
    printed = run.stdout.split(MARK)[:-1]
    assert len(printed) == len(shown) > 2
    for wanted, found in zip(shown, printed, strict=True):
        assert _matches(wanted, found) or not wanted, f"shown:\n{wanted}\nprinted:\n{found}"


def test_a_wrong_output_would_be_noticed() -> None:
    assert _matches("a … c\nd\n", "a b c\nd\n\n")
    assert not _matches("a … c\nd\n", "a b d\nd\n")
    assert not _matches("a\n", "a\nb\n")
