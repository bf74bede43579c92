"""Passwords of databases are read from files, and never from the command line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from optcomp.center import Settings
from tests.unit.cli.in_process import Result, invoke

ADDRESS = "postgresql://owner:geheim@127.0.0.1:1/nothing"
HIDDEN = "postgresql://owner@127.0.0.1:1/nothing?sslmode=disable&password=geheim"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(line: str) -> Result:
    return invoke(shlex.split(line))


@pytest.mark.parametrize("address", [ADDRESS, HIDDEN])
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("admin init home --ledger '{}'", "--ledger"),
        ("admin init home --database '{}'", "--database"),
        ("admin init home --listed '{}'", "--listed"),
        ("admin register home people '{}' --declaration people.yaml", "SOURCE"),
        ("ledger show '{}' --private p", "LEDGER"),
        ("ledger verify '{}' --private p", "LEDGER|EXPORT"),
        ("data check plan.yaml --data '{}'", "--data"),
        ("plan init '{}'", "DATA"),
        ("plan release plan.yaml --data table.csv --ledger '{}'", "--ledger"),
    ],
)
def test_a_password_on_the_command_line_is_refused(line: str, name: str, address: str) -> None:
    result = run(line.format(address))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"optcomp: {name}: an address with a password")
    assert "@FILE" in result.stderr
    assert "geheim" not in result.stderr
    assert not Path("home").exists()


def test_an_address_is_read_from_a_file() -> None:
    Path("listed").write_text(f"{ADDRESS}\n", encoding="utf8")
    assert run("admin init home --listed @listed --listed postgresql://me@host/more").exit_code == 0
    assert Settings.read("home").databases == (ADDRESS, "postgresql://me@host/more")
    shown = run("ledger show @listed --private p")
    assert shown.exit_code == 2
    assert "127.0.0.1" in shown.stderr
    assert "geheim" not in shown.stderr
    Path("two").write_text(f"{ADDRESS}\n{ADDRESS}\n", encoding="utf8")
    for wrong in ("two", "absent"):
        refused = run(f"admin init other --ledger @{wrong}")
        assert refused.exit_code == 2
        assert refused.stderr.startswith(f"optcomp: --ledger: @{wrong}: ")
        assert "geheim" not in refused.stderr
