"""`optcomp ask` against a real server, once as a process of its own: cost, answer, what is left, once and again."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.system.served_centers import PATIENCE, Home, make_home, serving
from tests.unit.cli.in_process import Result, invoke

pytestmark = pytest.mark.slow
COMMAND = [sys.executable, "-c", "from optcomp.cli.main import run; run()", "ask"]


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, dict[str, str]]]:
    """A served home, and the environment of somebody who asks it."""
    folder = tmp_path_factory.mktemp("ask")
    home = make_home(folder)
    with serving(home.path, 1, folder / "log") as server:
        yield home, {"OPTCOMP_SERVER": server.url, "OPTCOMP_TOKEN": home.tokens["ada"]}


def ran(environment: dict[str, str], *arguments: str) -> Result:
    return invoke(["ask", *arguments], env=environment)


def left(home: Home) -> Fraction:
    """What the ledger says."""
    with home.ledger() as ledger:
        slot = ledger.account("survey").slot(home.slot)
        return 1 - Fraction(slot.budget.spent.epsilon or 0)


def told(environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    result = ran(environment, *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_question_is_asked_once_and_paid_once(asking: tuple[Home, dict[str, str]]) -> None:
    home, environment = asking
    before = left(home)
    dry = told(environment, "survey", "histogram region", "--epsilon", "0.1", "--dry-run")
    assert dry["invented"]
    assert left(home) == before
    first = told(environment, "survey", "histogram region", "--epsilon", "0.1")
    assert left(home) == before - Fraction(1, 10) == Fraction(first["left"]["epsilon"]["left"])
    assert [each["cell"] for each in first["answers"]] == ["north", "south", "(other)"]
    assert all(each["low"] <= each["value"] <= each["high"] for each in first["answers"])
    assert first["receipt"]["account"] == "survey"
    assert told(environment, "survey", "histogram region", "--epsilon", "1/10") == first
    assert (
        told(environment, "survey", "histogram region", "--epsilon", "0.1", "--repeat", "1")["receipt"]
        != first["receipt"]
    )
    assert left(home) == before - Fraction(2, 10)


def test_people_read_cost_answer_and_what_is_left(asking: tuple[Home, dict[str, str]], tmp_path: Path) -> None:
    home, environment = asking
    token = tmp_path / "token.txt"
    token.write_text(environment["OPTCOMP_TOKEN"] + "\n")
    command = [*COMMAND, "survey", "count where age >= 20", "--epsilon", "0.2", "--token-file", str(token)]
    server = {**os.environ, "OPTCOMP_SERVER": environment["OPTCOMP_SERVER"]}
    result = subprocess.run(command, env=server, capture_output=True, text=True, timeout=PATIENCE)
    assert (result.returncode, result.stderr) == (0, "")
    cost, before, answer, after = result.stdout.splitlines()
    assert cost.startswith("count where age >= 20 at ε = 0.2: costs ε = 0.2; off by at most ")
    assert before.startswith("before: ε ")
    assert answer.startswith("answer: ")
    assert "95% interval" in answer
    assert after.startswith(f"after: ε {float(left(home)):g} of 1 left")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("survey", "count", "--epsilon", "5"), "costs 5"),
        (("nothing", "count", "--epsilon", "0.1"), "no such seat at 'nothing'"),
        (("survey", "mean nothing", "--epsilon", "0.1"), "is not a declared column"),
        (("survey", "count", "--epsilon", "0.1", "--slot", "none"), "no such seat"),
    ],
)
def test_what_is_refused_costs_nothing(
    asking: tuple[Home, dict[str, str]], arguments: tuple[str, ...], words: str
) -> None:
    home, environment = asking
    before = left(home)
    result = ran(environment, *arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert left(home) == before


def test_a_wrong_token_and_a_silent_server(asking: tuple[Home, dict[str, str]]) -> None:
    _, environment = asking
    wrong = ran(environment | {"OPTCOMP_TOKEN": "wrong-token"}, "survey", "count", "--epsilon", "0.1")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "A token is needed" in wrong.stderr
    assert "wrong-token" not in wrong.stderr
    with socket.socket() as nobody:  # has a port, and does not listen
        nobody.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        silent = ran(environment | {"OPTCOMP_SERVER": address}, "survey", "count", "--epsilon", "0.1")
    assert (silent.exit_code, silent.stdout) == (2, "")
    assert "nobody answered" in silent.stderr
