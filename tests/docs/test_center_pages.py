"""The pages about the data centre are true: commands run, every path, setting, code and command is told."""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import optcomp as oc
from optcomp.center import Settings, make_app
from optcomp.center.problems import STATUS
from tests.page_scripts import check_page, matches, run_script, with_any_port

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


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the page asks by curl")
@pytest.mark.parametrize("name", ["center.md", "operations.md"])
def test_commands_print_what_is_shown(name: str, tmp_path: Path) -> None:
    assert check_page(ROOT / "docs" / name, tmp_path) > 2


def test_a_wrong_output_would_be_noticed() -> None:
    assert matches("a … c\nd\n", "a b c\nd\n\n")
    assert not matches("a … c\nd\n", "a b d\nd\n")
    assert not matches("a\n", "a\nb\n")


def test_commands_of_a_script_run_here_with_its_folder_environment_and_exit_codes(tmp_path: Path) -> None:
    script = """
    mkdir inner && cd inner
    printf 'epsilon,count\\n0.1,3\\n' > list.csv
    optcomp compose --from list.csv --delta 0 --json | grep -o '"count": 3'
    echo 0.1x2 | sed s/x/,0,/ | optcomp compose --from - --delta 0 --json | grep -o '"count": 2'
    total=$(optcomp --version); echo "$total"
    optcomp compose x --delta 0 2> complaint || echo "exit code $?"
    cut -c 1-17 complaint
    unset OPTCOMP_TOKEN; export OPTCOMP_SERVER=http://localhost
    optcomp ask survey count --epsilon 1 2>&1 | grep -o 'there is no token'
    """
    assert run_script(f"set -eu\n{dedent(script)}", tmp_path).splitlines() == [
        '"count": 3',
        '"count": 2',
        f"optcomp {oc.__version__}",
        "exit code 2",
        "optcomp: item 'x'",
        "there is no token",
    ]
    assert "OPTCOMP_SERVER" not in os.environ
    assert Path.cwd() != tmp_path / "inner"


def test_a_script_that_fails_is_an_error_and_leaves_no_process(tmp_path: Path) -> None:
    script = "set -e\nsleep 600 &\necho $! > process\necho 'nothing here' >&2\nfalse\necho unreachable"
    with pytest.raises(AssertionError, match="nothing here"):
        run_script(script, tmp_path)
    status = Path("/proc") / (tmp_path / "process").read_text(encoding="utf8").strip() / "status"
    until = time.monotonic() + 60
    with suppress(FileNotFoundError, ProcessLookupError):  # it is gone
        while "State:\tZ" not in status.read_text(encoding="utf8"):
            assert time.monotonic() < until, "the process that the script has started does not end"
            time.sleep(0.01)


def test_servers_of_a_page_choose_their_port() -> None:
    page = "optcomp serve center --port 8000 > started &\nuntil [ -s started ]; do sleep 0.2; done\n"
    script = with_any_port(f"{page}curl -s http://localhost:8000/health\n")
    assert "8000" not in script
    _, waiting, port, asking = script.splitlines()
    assert waiting == "until [ -s started ]; do sleep 0.2; done"
    assert port.startswith("port_of_server=$(")
    assert asking == "curl -s http://localhost:$port_of_server/health"
