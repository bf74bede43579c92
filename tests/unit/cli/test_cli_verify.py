"""`optcomp verify`: exit code 0 for what is proved, 1 for what is not, 2 for a call that makes no sense."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import optcomp as oc
from tests.oracles.truth import Mechanism
from tests.unit.checker.certificates import Document, by_digest, claim
from tests.unit.cli.in_process import Result, invoke

COINS: list[Mechanism] = [(0.5, 0.0, 2), (0.1, 1e-9, 3)]
TRUE = claim(COINS, "epsilon", "1/1000000", 1.2, 1.3)
FALSE = TRUE | {"upper": 1.25}


def verify(tmp_path: Path, document: object, arguments: str = "", text: str | None = None) -> Result:
    path = tmp_path / "certificate.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf8")
    return invoke(["verify", str(path), *shlex.split(arguments)], text)


def lines(result: Result) -> list[str]:
    return result.stdout.splitlines()


def test_proved(tmp_path: Path) -> None:
    result = verify(tmp_path, TRUE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert lines(result)[0] == "proved: 1.2 ≤ ε ≤ 1.3 at δ = 1e-6, 5 mechanisms"


def test_rejected(tmp_path: Path) -> None:
    result = verify(tmp_path, FALSE)
    assert (result.exit_code, result.stderr) == (1, "")
    assert lines(result)[0] == "rejected: 1.2 ≤ ε ≤ 1.25 at δ = 1e-6, 5 mechanisms"
    assert lines(result)[1] == "upper: the optimal ε is proved to be larger"


def test_infinite(tmp_path: Path) -> None:
    result = verify(tmp_path, claim(COINS, "epsilon", 0, None, None))
    assert result.exit_code == 0
    assert "∞ ≤ ε ≤ ∞" in result.stdout


def test_ends_are_rounded_away_from_each_other(tmp_path: Path) -> None:
    bound = oc.compose({oc.PureDP(1.2069710237367983): 1000}, epsilon=1.4987, bits=64)
    result = verify(tmp_path, bound.certificate())
    assert lines(result)[0] == "proved: 0.9999999999999999 ≤ δ ≤ 1.0 at ε = 1.4987, 1,000 mechanisms"


def test_json(tmp_path: Path) -> None:
    for document, code, status in ((TRUE, 0, "proved"), (FALSE, 1, "false"), ({}, 1, "malformed")):
        result = verify(tmp_path, document, "--json")
        view: dict[str, Any] = json.loads(result.stdout)
        assert (result.exit_code, result.stderr) == (code, "")
        assert (view["proved"], view["status"]) == (code == 0, status)


MALFORMED: dict[str, tuple[Document | str, str]] = {
    "not JSON": ("{", "line 1: is not JSON: Expecting property name enclosed in double quotes"),
    "a list": ("[]", "certificate: must be a JSON object"),
    "deep": (100_000 * "[", "is not JSON that can be read"),
    "another format": (TRUE | {"format": "x"}, "format: must be 'optcomp-certificate', got 'x'"),
    "count": (TRUE | {"count": "5"}, "count: must be a whole number, got '5'"),
    "NaN": (TRUE | {"lower": float("nan")}, 'lower: must be a finite number or a string such as "1/3", got nan'),
}


@pytest.mark.parametrize(("document", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_malformed(tmp_path: Path, document: Document | str, reason: str) -> None:
    result = verify(tmp_path, document)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"optcomp: {tmp_path / 'certificate.json'}: {reason}\n"


@pytest.mark.parametrize("eps", ["0.1", "0.1000000000000000055511151231257827"])
def test_mechanisms_from_a_file(tmp_path: Path, eps: str) -> None:
    """As written where that fits the digest, else as doubles."""
    file = tmp_path / "mechanisms.csv"
    file.write_text(f"epsilon,delta,count\n0.5,,2\n{eps},1e-9,3\n", encoding="utf8")
    document = by_digest(TRUE, COINS)
    assert verify(tmp_path, document, f"--from {file}").exit_code == 0
    missing = verify(tmp_path, document)
    assert missing.exit_code == 1
    assert "mechanisms: the certificate holds only their digest; supply them (--from FILE)" in missing.stderr
    file.write_text("0.5,0,3\n", encoding="utf8")
    other = verify(tmp_path, document, f"--from {file}")
    assert (other.exit_code, other.stderr) == (1, "")
    assert other.stdout == "rejected: mechanisms: the ones supplied do not have the digest of the certificate\n"


def test_standard_input(tmp_path: Path) -> None:
    result = invoke(["verify", "-"], json.dumps(TRUE))
    assert result.exit_code == 0
    result = verify(tmp_path, by_digest(TRUE, COINS), "--from -", "0.5,0,2\n0.1,1e-9,3\n")
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("nowhere.json", "nowhere.json: No such file or directory"),
        ("- --from -", "--from: standard input can be read only once"),
        ("", "Missing argument 'FILE'."),
    ],
)
def test_bad_calls(arguments: str, reason: str) -> None:
    result = invoke(f"verify {arguments}", "{}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"optcomp: {reason}\n"


def test_a_certificate_says_nothing_twice(tmp_path: Path) -> None:
    """The claim that is proved must be the claim that other readers see."""
    good = json.dumps(TRUE)
    assert verify(tmp_path, good).exit_code == 0
    for key, value in (("upper", "0.5"), ("lower", "1.2"), ("format", "1")):
        result = verify(tmp_path, good.replace(f'"{key}": ', f'"{key}": {value}, "{key}": ', 1))
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"'{key}' is given twice" in result.stderr
