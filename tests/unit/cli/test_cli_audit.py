"""`optcomp audit`: exit code 0 when nothing was seen, 1 for a violation, 2 for a call that makes no sense."""

from __future__ import annotations

import json
from typing import Any

import pytest

from optcomp.cli.audit.command import complete_mechanism
from optcomp.interactive.audit import known_mechanisms
from tests.unit.cli.in_process import Result, invoke

SURE = "--confidence 0.99999999999"
"""A false alarm has a probability of at most 1e-11: that is what an audit promises (`audit.run`)."""


def audit(arguments: str) -> Result:
    return invoke(f"audit {arguments}")


def test_nothing_seen() -> None:
    result = audit(f"randomized-response --trials 2000 {SURE}")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[3].split("│")[1].strip() == "randomized-response"
    assert lines[3].split("│")[5].strip() == "no violation seen"
    assert "of 1,000 runs, against" in lines[5]
    assert lines[6].startswith("With probability 0.99999999999 the lower bound holds.")


def test_violation() -> None:
    result = audit("broken-stoddard14 --trials 1e4")
    assert (result.exit_code, result.stderr) == (1, "")
    cells = [cell.strip() for cell in result.stdout.splitlines()[3].split("│")]
    assert cells[1:4] == ["broken-stoddard14", "1", "0"]
    assert cells[5] == f"VIOLATED: ε ≥ {cells[4]}"
    assert float(cells[4]) > 4  # at most 4 if an event of probability 0.197 is seen 230 times in 5,000: below 1e-200


def test_an_error_that_tells_for_certain() -> None:
    result = audit("broken-raw-cast")
    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    cells = [cell.strip() for cell in lines[3].split("│")]
    assert cells[1:6] == ["broken-raw-cast", "1", "0", "∞", "VIOLATED: ε = ∞"]
    assert lines[5] == (
        "broken-raw-cast: no output but MechanismFailed because of a ConversionException, always and only on the "
        "second input: 20 of 20 runs, against 0 on the other"
    )
    assert lines[-1] == "ε = ∞ is not an estimate: there is an error on one input, every time, and never on the other."
    view: dict[str, Any] = json.loads(audit("broken-raw-cast --delta 0.9 --json").stdout)
    assert (view["lower"], view["violated"]) == (None, True)


def test_json_of_one() -> None:
    result = audit("BROKEN-float-laplace --trials 20000 --json")
    view: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (view["mechanism"], view["claimed_epsilon"], view["delta"]) == ("broken-float-laplace", 1.0, 0.0)
    assert view["violated"] is True
    assert view["lower"] > 1  # seen in about 27 % of the runs on the first input and never on the second, so about 6
    assert (view["trials"], view["measured"], view["confidence"]) == (20000, 10000, 0.95)
    assert view["event"] == "output ≤ -54, likelier on the first input"


def test_json_of_several() -> None:
    """The broken one escapes if an event of probability 0.197 is seen at most 28 times in 500 runs: below 1e-17."""
    result = audit("randomized-response broken-stoddard14 randomized-response --trials 1000 --confidence 0.99 --json")
    view: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [found["mechanism"] for found in view["audits"]] == ["randomized-response", "broken-stoddard14"]
    assert (view["confidence"], view["violated"]) == (0.99, True)
    assert {found["confidence"] for found in view["audits"]} == {0.995}


@pytest.mark.slow
def test_all_are_the_shipped_ones() -> None:
    result = audit(f"--all --trials 200 {SURE} --json")
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)["audits"]
    assert tuple(one["mechanism"] for one in found) == known_mechanisms(private=True)


def test_broken_are_all_caught() -> None:
    """The nearest one escapes if an event with 23 expected cases in 50,000 runs is seen 105 times: below 1e-34."""
    result = audit("--broken --json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)["audits"]
    assert tuple(one["mechanism"] for one in found) == known_mechanisms(private=False)
    assert all(one["violated"] for one in found)


def test_list() -> None:
    result = audit("--list")
    assert (result.exit_code, result.stderr) == (0, "")
    assert all(name in result.stdout for name in known_mechanisms())
    views = json.loads(audit("--list --json").stdout)["mechanisms"]
    assert tuple(view["mechanism"] for view in views) == known_mechanisms()
    assert [view["private"] for view in views] == [not name.startswith("broken-") for name in known_mechanisms()]
    assert [view["mechanism"] for view in json.loads(audit("--list count-laplace --json").stdout)["mechanisms"]] == [
        "count-laplace"
    ]


def test_completion() -> None:
    assert complete_mechanism("broken-c") == ["broken-chen15"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("", "nothing to audit: give a mechanism, --all or --broken; --list names them"),
        ("count-laplac", "mechanism: is unknown (did you mean count-laplace?), got 'count-laplac'"),
        ("zzz", "mechanism: is unknown (--list names all), got 'zzz'"),
        ("count-gaussian --delta 0", "--delta: must be at least the 0.001 that count-gaussian claims, got '0'"),
        ("count-laplace --delta 1", "--delta: must be at least 0 and less than 1, got '1'"),
        ("count-laplace --delta 0,1", "--delta: must be a number such as 0.1, 1e-9 or 1/3, got '0,1' "),
        ("count-laplace --trials 99", "--trials: must be a whole number between 100 and 10^9, got '99'"),
        ("count-laplace --trials many", "--trials: must be a whole number between 100 and 10^9, got 'many'"),
        ("count-laplace --confidence 1", "--confidence: must lie strictly between 0 and 1, got '1'"),
        ("count-laplace --confidence 95%", "--confidence: must be a number such as 0.1, 1e-9 or 1/3, got '95%'"),
    ],
)
def test_bad_input_is_one_line_and_two(arguments: str, line: str) -> None:
    result = audit(arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"optcomp: {line}")
    assert result.stderr.count("\n") == 1
