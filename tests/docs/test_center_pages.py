"""The pages about the data centre are true: commands run, every path, setting, code and command is told."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from optcomp.center import Settings, make_app
from optcomp.center.problems import STATUS
from tests.page_scripts import check_page, matches

ROOT = Path(__file__).parents[2]
CENTER = (ROOT / "docs" / "center.md").read_text(encoding="utf8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf8")


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


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the page asks by curl")
@pytest.mark.parametrize("name", ["center.md", "operations.md"])
def test_commands_print_what_is_shown(name: str, tmp_path: Path) -> None:
    assert check_page(ROOT / "docs" / name, tmp_path) > 2


def test_a_wrong_output_would_be_noticed() -> None:
    assert matches("a … c\nd\n", "a b c\nd\n\n")
    assert not matches("a … c\nd\n", "a b d\nd\n")
    assert not matches("a\n", "a\nb\n")
