"""Samples on the command line: how they are written, and what is refused with the reason."""

from __future__ import annotations

import json

import pytest

import optcomp as oc
from optcomp.reading import Malformed, make, parse, written
from tests.unit.cli.in_process import invoke

PARTS = {
    "subsampled(gaussian(sigma=2), rate=0.01, neighbours=replace)": oc.PoissonSubsampled(
        oc.Gaussian("2"), "0.01", "replace"
    ),
    "subsampled(discrete-gaussian(sigma=2, sensitivity=3), rate=0.01)": oc.PoissonSubsampled(
        oc.DiscreteGaussian("2", 3), "0.01"
    ),
    "without-replacement(gaussian(sigma=2, sensitivity=2), batch=6, population=600)": oc.WithoutReplacement(
        oc.Gaussian("2", "2"), 6, 600
    ),
}


@pytest.mark.parametrize(("text", "count"), list(zip(PARTS, (2, 3, 3), strict=True)))
def test_written_read_and_composed(text: str, count: int) -> None:
    assert written(PARTS[text]) == text
    assert make(parse(text)[0]) == PARTS[text]
    told = invoke(["compose", f"{text}x{count}", "--delta", "1e-6", "--json"])
    assert told.exit_code == 0, told.stderr
    known, found = oc.compose({PARTS[text]: count}, delta="1e-6"), json.loads(told.stdout)
    assert (found["lower"], found["upper"]) == (known.lower, known.upper)


@pytest.mark.parametrize("name", ["shuffled", "shuffle", "fixed-batches", "Batches", "epochs"])
def test_shuffled_batches_are_refused_with_the_reason_and_what_to_write(name: str) -> None:
    told = invoke(["compose", f"{name}(gaussian(sigma=1), 10)", "--delta", "1e-6"])
    assert told.exit_code == 2
    for part in ("exactly one batch", "gaussian(sigma=1, sensitivity=2)x10", "without-replacement(…)"):
        assert part in told.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("with-replacement(gaussian(1), 10)", "drawn several times"),
        ("subsampled(gaussian(1), 0.1, neighbours=swap)", "must be 'add-remove' or 'replace', got 'swap'"),
        ("subsampled(gaussian(1), 0.1, neighbours=laplace(1))", "must be a word"),
        ("without-replacement(gaussian(1), 10)", "population is missing"),
        ("without-replacement(zcdp(1), 10, 20)", "must be gaussian(…) or laplace(…)"),
        ("without-replacement(discrete-gaussian(1), 10, 20)", "must be gaussian(…) or laplace(…)"),
    ],
)
def test_slips(text: str, problem: str) -> None:
    with pytest.raises(Malformed) as refusal:
        make(parse(text)[0])
    assert problem in str(refusal.value)


def test_mixing_is_refused() -> None:
    told = invoke("compose 'subsampled(gaussian(1), 0.1)' 'without-replacement(gaussian(1), 1, 9)' --delta 1e-6")
    assert told.exit_code == 2
    assert "one kind of neighbours" in told.stderr
