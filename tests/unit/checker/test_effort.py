"""Every check ends within its effort, whatever a document asks for: under a hard limit of processor time."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp.checker import check
from optcomp.checker.balls import exact_sum, working
from optcomp.checker.effort import Spent, left, limited, look, looked, precise, reducible, room
from optcomp.checker.laws import Laplace, TooMuch
from optcomp.checker.sums.laplaces import laplace_sum
from optcomp.checker.sums.total import Total
from optcomp.errors import InvalidInput
from tests.campaign.hostile_certificates import SPARE
from tests.unit.cli.in_process import invoke

ROOT = Path(__file__).parents[3]
DOCUMENTS, TOGETHER = 500, 25
"""Hostile documents in all, and in one process."""
STATUSES = {"proved", "false", "undecided", "mismatch", "malformed"}
NEAR = f"{10**40 - 1}/{10**40}"


def claim(*laws: dict[str, Any], lower: float | None = 1.0, upper: float | None = 2.0) -> dict[str, Any]:
    shape: dict[str, Any] = {"format": "optcomp-certificate", "version": 3, "quantity": "epsilon", "given": "1/1000000"}
    shape |= {"mechanisms": [], "laws": list(laws), "count": sum(law["copies"] for law in laws)}
    shape |= {"neighbours": "add/remove"} if any("rate" in law for law in laws) else {}
    return shape | {"lower": lower, "upper": upper}


def gaussian(mu: float, rate: float | str, copies: int) -> dict[str, Any]:
    return {"kind": "poisson_subsampled_gaussian", "mu": mu, "rate": rate, "copies": copies}


NAMED = {
    "a long Laplace law": claim({"kind": "laplace", "epsilon": 1e7, "copies": 2}),
    "a thousand laws": claim(*(gaussian(1 + place / 1000, 0.01, 1) for place in range(1000))),
    "mu 100 twice": claim(gaussian(100.0, 0.01, 2), lower=9000.0, upper=11_000.0),
    "mu 10000": claim(gaussian(1e4, 0.01, 1000)),
    "a rate next to 1": claim(gaussian(1.0, NEAR, 2)),
    "long fractions": claim(
        *(
            {"kind": "laplace", "epsilon": f"{10**4000 + place}/{10**4000 + 7 * place + 1}", "copies": 1}
            for place in range(200)
        )
    ),
}
SCRIPT = """
import json, math, resource, sys, time
from optcomp.checker import check
for name, document in json.load(sys.stdin).items():
    before = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(before + {effort} + {spare}), resource.RLIM_INFINITY))
    print(check(document, effort={effort}).status, time.process_time() - before)
"""


def child(*words: str, text: str = "") -> list[list[str]]:
    """What a process prints, line by line; it must end by itself, and without an error."""
    done = subprocess.run([sys.executable, *words], input=text, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [line.split() for line in done.stdout.splitlines()]


def test_named_documents_end_in_time() -> None:
    """What ran for ever, or many times its effort, before every loop was bounded."""
    found = child("-c", SCRIPT.format(effort=0.05, spare=SPARE), text=json.dumps(NAMED))
    assert len(found) == len(NAMED)
    for name, (status, seconds) in zip(NAMED, found, strict=True):
        assert float(seconds) <= 0.05 + SPARE, name
        assert status == "undecided", name


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DOCUMENTS, TOGETHER))
def test_hostile_documents_end_in_time(first: int) -> None:
    """Five hundred documents: each ends within its effort and two seconds, with a verdict and no raw error."""
    found = child("-m", "tests.campaign.hostile_certificates", str(first), str(first + TOGETHER))
    assert len(found) == TOGETHER
    for seed, status, effort, seconds in found:
        assert status in STATUSES, seed
        assert float(seconds) <= float(effort) + SPARE, seed


def test_commands_end_with_a_verdict() -> None:
    """`verify` says that these are not decided; there is no raw error."""
    documents = [claim(gaussian(1.0, NEAR, 2)), claim({"kind": "laplace", "epsilon": 1e7, "copies": 2})]
    for document in documents:
        result = invoke("verify -", text=json.dumps(document))
        assert (result.exit_code, result.stderr) == (1, "")
        assert "not decided within the effort allowed" in result.stdout


@pytest.mark.slow
def test_a_command_about_much_noise_ends_with_a_verdict() -> None:
    result = invoke("verify -", text=json.dumps(NAMED["mu 10000"]))
    assert (result.exit_code, result.stderr) == (1, "")


def test_the_largest_loss_of_a_rate_next_to_one_is_known() -> None:
    """-log(1-q) = 40 log 10 for one person who is added."""
    far = gaussian(1.0, NEAR, 1)
    assert check(claim(far, lower=None, upper=None) | {"given": 0}).proved
    laplace = {"kind": "poisson_subsampled_laplace", "epsilon": 1e3, "rate": NEAR, "copies": 1}
    top = 1000.0
    assert check(claim(laplace, lower=top * (1 - 1e-9), upper=top * (1 + 1e-9)) | {"given": 0}).proved


def test_an_effort_is_a_number_of_seconds() -> None:
    for wrong in (-1, math.nan, "1", None, True, 1j):
        with pytest.raises(InvalidInput, match="effort: must be a number of seconds"):
            check(NAMED["mu 10000"], effort=wrong)  # type: ignore[arg-type]
    for many in (math.inf, 10**400):
        assert check(claim({"kind": "laplace", "epsilon": 1.0, "copies": 1}, lower=0.9, upper=1.0), effort=many).proved
    assert check(NAMED["mu 10000"], effort=0).status == "undecided"


@pytest.mark.parametrize("name", ["groups", "gaussians"])
def test_what_is_given_beside_a_document_is_a_list(name: str) -> None:
    for wrong in (5, "text"):
        verdict = check(NAMED["mu 10000"], effort=0.1, **{name: wrong})  # type: ignore[arg-type]
        assert (verdict.status, name in verdict.reason) == ("malformed", True)


def test_counts_are_told_however_long_they_are() -> None:
    copies = 9 * 10**4299
    laws = [{"kind": "laplace", "epsilon": 1.0 + place, "copies": copies} for place in range(20)]
    assert check(claim(*laws) | {"count": 1}).status == "mismatch"


def test_looks_end_loops() -> None:
    look()
    assert left() == math.inf
    with limited(0):
        for refused in (look, lambda: room(1), lambda: precise(64), lambda: reducible(10), lambda: list(looked([1]))):
            with pytest.raises(Spent):
                refused()
        with pytest.raises(Spent), working(64):
            pass
    with limited(1000), limited(0), pytest.raises(Spent):
        look()
    with limited(1):
        assert list(looked([1, 2])) == [1, 2]
        room(0.5)
        for refused in (lambda: room(2), lambda: precise(1 << 24), lambda: reducible(1 << 24)):
            with pytest.raises(Spent):
                refused()
        long = [(Fraction(1, 3**power), 1) for power in (10**6, 10**6 + 1)]
        with pytest.raises(Spent):
            exact_sum(long)
    assert left() == math.inf


def test_an_exact_sum_that_is_too_long_is_given_up() -> None:
    with pytest.raises(TooMuch):
        laplace_sum(Total(((Laplace(1e7), 2),)), Fraction(1), 128)
