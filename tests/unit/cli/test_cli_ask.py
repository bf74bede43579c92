"""`optcomp ask`: a statistic in words, where the token comes from, and what is refused before anybody is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from optcomp.cli.ask.words import statistic_in
from optcomp.cli.failures import Complaint
from optcomp.errors import InvalidInput
from optcomp.statistics import (
    CDF,
    Contingency,
    Count,
    Histogram,
    Mean,
    Median,
    People,
    Quantiles,
    Statistic,
    Sum,
    Variance,
)
from tests.unit.cli.in_process import invoke

NOBODY = "http://127.0.0.1:9"
"""Where nobody answers."""


@pytest.mark.parametrize(
    ("text", "statistic"),
    [
        ("count", Count()),
        ("count rows", Count()),
        ("  count where age >= 65 ", Count("age >= 65")),
        ("count where region == 'where it is'", Count("region == 'where it is'")),
        ("mean income", Mean("income")),
        ("mean income where age >= 18 and woman == True", Mean("income", "age >= 18 and woman == True")),
        ("sum whereabouts", Sum("whereabouts")),
        ("variance income", Variance("income")),
        ("histogram region", Histogram("region")),
        ("contingency region, age where age >= 18", Contingency(("region", "age"), where="age >= 18")),
        ("mean income by region, sex where age >= 18", Mean("income", "age >= 18", by=("region", "sex"))),
        ("count by region", Count(by="region")),
        ("people where age >= 18", People("age >= 18")),
        ("cdf income", CDF("income")),
        ("median income", Median("income")),
        ("{quantiles: income, probabilities: [0.5, 0.9]}", Quantiles("income", ["0.5", "0.9"])),
        ('{"count": "rows", "where": "age >= 65"}', Count("age >= 65")),
    ],
)
def test_a_statistic_in_words(text: str, statistic: Statistic) -> None:
    assert statistic_in(text) == statistic


@pytest.mark.parametrize(
    "text", ["", "howmany", "mean", "contingency", "count income", "count where", "{", "{mean: a, sum: b}", "[1]"]
)
def test_what_is_no_statistic_is_refused(text: str) -> None:
    with pytest.raises((InvalidInput, Complaint)):
        statistic_in(text)


def said(*arguments: str, **environment: str) -> str:
    """What is said on standard error; nothing is printed, and the exit code is 2."""
    given = {"OPTCOMP_TOKEN": None, "OPTCOMP_SERVER": None} | environment
    result = invoke(["ask", *arguments], env=given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_server_budget_and_token_must_be_given(tmp_path: Path) -> None:
    asked = ("survey", "count")
    assert "--server: give the address" in said(*asked, "--epsilon", "0.1", OPTCOMP_TOKEN="t")
    assert "--epsilon: say what may be spent" in said(*asked, OPTCOMP_TOKEN="t", OPTCOMP_SERVER=NOBODY)
    assert "there is no token: set OPTCOMP_TOKEN" in said(*asked, "--epsilon", "0.1", OPTCOMP_SERVER=NOBODY)
    missing = str(tmp_path / "token.txt")
    assert "--token-file" in said(*asked, "--epsilon", "0.1", "--token-file", missing, OPTCOMP_SERVER=NOBODY)


@pytest.mark.parametrize(
    ("option", "value"), [("epsilon", "-1"), ("epsilon", "much"), ("repeat", "-1"), ("confidence", "x"), ("noise", "x")]
)
def test_a_bad_option_is_named(option: str, value: str) -> None:
    given = {"epsilon": "0.1", option: value}
    options = [text for name, each in given.items() for text in (f"--{name}", each)]
    words = said("survey", "count", *options, OPTCOMP_TOKEN="t", OPTCOMP_SERVER=NOBODY)
    assert option in words or option == "noise"
    assert repr(value) in words or value in words


def test_no_option_takes_the_token_itself() -> None:
    """Whoever lists processes would read it."""
    shown = invoke(["ask", "--help"], env={"COLUMNS": "200"}).stdout
    assert "--token-file" in shown
    assert "--token " not in shown


def test_a_token_is_never_told(tmp_path: Path) -> None:
    file = tmp_path / "token.txt"
    file.write_text("séc ret-token\n", encoding="utf8")
    words = said("survey", "count", "--epsilon", "0.1", "--server", NOBODY, "--token-file", str(file))
    assert "must be a token" in words
    assert "ret-token" not in words
