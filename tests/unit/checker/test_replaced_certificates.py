"""Certificates where a record is replaced: two samples that pull apart, and batches of a fixed size."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import arb

import optcomp as oc
from optcomp.checker import check
from optcomp.checker.claimed import KINDS
from tests.oracles.replaced_losses import glued_gaussian_hockey, replaced_gaussian_hockey, replaced_laplace_hockey
from tests.unit.checker.certificates import Document
from tests.unit.cli.in_process import invoke


def replaced(mechanism: oc.Gaussian | oc.Laplace, rate: float | str) -> oc.PoissonSubsampled:
    return oc.PoissonSubsampled(mechanism, rate, neighbours="replace")


BATCH = oc.WithoutReplacement(oc.Gaussian(2), 10, 1000)
LAPLACE_BATCH = oc.WithoutReplacement(oc.Laplace(3), 10, 1000)
TIGHT: dict[str, dict[Any, int]] = {
    "gaussian": {replaced(oc.Gaussian(1), 0.01): 1000},
    "two rounds": {replaced(oc.Gaussian(1), "0.1"): 2},
    "laplace": {replaced(oc.Laplace(1), 0.01): 1000},
    "one": {replaced(oc.Gaussian("0.7"), "0.05"): 1},
    "one laplace": {replaced(oc.Laplace(1), "0.4"): 1},
    "one batch": {BATCH: 1},
    "one laplace batch": {LAPLACE_BATCH: 1, (0, 1e-9): 2},
    "everybody": {replaced(oc.Gaussian(3), 1): 2, replaced(oc.Laplace(9), 1): 3, oc.Laplace(2): 1},
    "mixture": {
        replaced(oc.Gaussian(1), 0.01): 300,
        replaced(oc.Laplace(2), "1/50"): 40,
        oc.Laplace(2): 3,
        oc.Gaussian(4): 5,
        oc.RandomizedResponse(0.5, 4): 4,
        (0.1, 1e-9): 10,
    },
}
"""Lists whose upper side two tables have."""
LOOSE: dict[str, dict[Any, int]] = {
    "gaussian": {BATCH: 1000},
    "laplace": {LAPLACE_BATCH: 1000},
    "mixture": {BATCH: 200, LAPLACE_BATCH: 40, replaced(oc.Gaussian(1), 0.01): 100, (0.1, 1e-9): 5},
}
"""Lists of several batches: the two sides are different sums."""
QUESTIONS: list[dict[str, Any]] = [{"delta": 1e-6}, {"epsilon": 0.7}]


def through_json(bound: oc.Bound, **options: float) -> Document:
    document: Document = json.loads(json.dumps(bound.certificate(**options), allow_nan=False))
    return document


@pytest.mark.slow_cases("two rounds")
@pytest.mark.parametrize("question", QUESTIONS, ids=str)
@pytest.mark.parametrize("name", TIGHT)
def test_proved_and_tight(name: str, question: dict[str, Any]) -> None:
    """What compose answers is proved; either end shaved by one part in a million is refused."""
    bound = oc.compose(TIGHT[name], **question)
    document = through_json(bound)
    verdict = check(document)
    assert (document["version"], verdict.status) == (3, "proved"), verdict.reason
    assert verdict.count == sum(TIGHT[name].values())
    assert bound.width < 5e-7
    shaved = document | {"lower": 0.0, "upper": bound.lower * (1 - 1e-6)}
    assert check(shaved).status == "false"
    raised = document | {"lower": bound.upper * (1 + 1e-6), "upper": bound.upper * 2}
    assert check(raised).status == "false"


@pytest.mark.slow_cases("mixture")
@pytest.mark.parametrize(
    ("name", "question"), [*((name, QUESTIONS[0]) for name in LOOSE), ("gaussian", QUESTIONS[1])], ids=str
)
def test_batches(name: str, question: dict[str, Any]) -> None:
    """What compose answers is proved; an upper end below what two tables have, or the opposite, is false."""
    bound = oc.compose(LOOSE[name], **question)
    document = through_json(bound)
    assert check(document).status == "proved"
    assert bound.width > 1e-3
    assert check(document | {"lower": 0.0, "upper": bound.lower * (1 - 1e-6)}).status == "false"
    assert check(document | {"lower": bound.upper * (1 + 1e-6), "upper": None}).status == "false"


@pytest.mark.parametrize("name", ["gaussian", "laplace"])
def test_between_the_sides_nothing_is_known(name: str) -> None:
    """An upper end just below what dominates is not proved, nor a lower end just above what two tables have."""
    bound = oc.compose(LOOSE[name], delta=1e-6)
    document = through_json(bound)
    for shaved in ({"upper": bound.upper * (1 - 1e-6)}, {"lower": bound.lower * (1 + 1e-6)}):
        assert check(document | shaved, effort=0.1).status == "undecided"


def test_one_mechanism_against_its_curve() -> None:
    """The truth is a hockey stick from first principles; a claim is proved just around it."""
    cases = [
        (
            {"kind": "poisson_replaced_gaussian", "mu": "3/2", "rate": "1/5"},
            replaced_gaussian_hockey(Fraction(3, 2), Fraction(1, 5)),
        ),
        (
            {"kind": "poisson_replaced_laplace", "epsilon": "3/2", "rate": "1/5"},
            replaced_laplace_hockey(Fraction(3, 2), Fraction(1, 5)),
        ),
        ({"kind": "batch_gaussian", "mu": "3/2", "rate": "1/5"}, glued_gaussian_hockey(Fraction(3, 2), Fraction(1, 5))),
    ]
    for law, hockey in cases:
        truth = float(hockey(arb("0.25")).mid())
        claim: Document = {
            "format": "optcomp-certificate",
            "version": 3,
            "quantity": "delta",
            "given": "1/4",
            "count": 1,
            "mechanisms": [],
            "neighbours": "replace",
            "laws": [law | {"copies": 1}],
        }
        assert check(claim | {"lower": truth * (1 - 1e-13), "upper": truth * (1 + 1e-13)}).proved
        assert check(claim | {"lower": 0.0, "upper": truth * (1 - 1e-13)}).status == "false"
        assert check(claim | {"lower": truth * (1 + 1e-13), "upper": 1.0}).status == "false"


def test_what_is_written() -> None:
    document = through_json(oc.compose(LOOSE["mixture"] | {replaced(oc.Laplace(2), "1/50"): 7}, delta=1e-6))
    assert (document["version"], document["neighbours"], document["count"]) == (3, "replace", 352)
    assert sorted(document["laws"], key=lambda law: law["kind"]) == [
        {"kind": "batch_gaussian", "mu": "1/2", "rate": "1/100", "copies": 200},
        {"kind": "batch_laplace", "epsilon": "1/3", "rate": "1/100", "copies": 40},
        {"kind": "poisson_replaced_gaussian", "mu": "1", "rate": 0.01, "copies": 100},
        {"kind": "poisson_replaced_laplace", "epsilon": "1/2", "rate": "1/50", "copies": 7},
    ]


def test_samples_of_everybody() -> None:
    """A replaced record moves a sum twice as far; a batch of everybody is no batch."""
    everybody = {**TIGHT["everybody"], oc.WithoutReplacement(oc.Gaussian(5), 10, 10): 1}
    document = through_json(oc.compose(everybody, delta=1e-6))
    assert document["gaussians"] == [["2/3", 2], ["1/5", 1]]
    laws = sorted(document["laws"], key=lambda law: Fraction(law["epsilon"]))
    assert [(law["kind"], law["epsilon"], law["copies"]) for law in laws] == [
        ("laplace", "2/9", 3),
        ("laplace", "1/2", 1),
    ]
    assert "neighbours" not in document
    assert check(document).proved


CHANGED: dict[str, Any] = {
    "poisson_replaced_gaussian": replaced(oc.Gaussian(1), "0.1"),
    "poisson_replaced_laplace": replaced(oc.Laplace(1), "0.4"),
    "batch_gaussian": oc.WithoutReplacement(oc.Gaussian(1), 10, 100),
    "batch_laplace": oc.WithoutReplacement(oc.Laplace(1), 40, 100),
}


@pytest.mark.parametrize("change", [f"{kind}.{name}" for kind in CHANGED for name in KINDS[kind]])
def test_changed_parameters_are_noticed(change: str) -> None:
    """A document about one mechanism with one number of its law changed, so that more is spent than is claimed."""
    kind, name = change.split(".")
    document = through_json(oc.compose({CHANGED[kind]: 1}, epsilon=0.1))
    (law,) = document["laws"]
    assert law["kind"] == kind
    law[name] = str(Fraction(law[name]) * Fraction(1000001, 1000000))
    assert check(document).status == "false"
    law["copies"] = 2
    assert check(document).status == "mismatch"


def test_neighbours_are_named_and_one_for_all() -> None:
    document = through_json(oc.compose({replaced(oc.Gaussian(1), 0.01): 10, oc.Laplace(2): 1}, delta=1e-6))
    for wrong in ("add/remove", None, 3):
        verdict = check(document | {"neighbours": wrong})
        assert (verdict.status, verdict.reason[:10]) == ("malformed", "neighbours")
    other = {"kind": "poisson_subsampled_gaussian", "mu": 1, "rate": 0.01, "copies": 1}
    mixed = document | {"laws": [*document["laws"], other], "count": document["count"] + 1}
    for named in ("add/remove", "replace"):
        assert check(mixed | {"neighbours": named}).reason.startswith("neighbours: must be the same")


def test_largest_losses() -> None:
    """With nothing to spare the largest loss is the answer; Gaussian noise has none."""
    for laplace in (replaced(oc.Laplace(1), "0.3"), oc.WithoutReplacement(oc.Laplace(1), 3, 10)):
        document = through_json(oc.compose({laplace: 2}, delta=0))
        assert check(document).proved
        assert check(document | {"lower": 0.0, "upper": document["lower"] * 0.999}).status == "false"
        assert check(document | {"lower": document["upper"] * 1.001, "upper": 100.0}).status == "false"
    for gaussian in (replaced(oc.Gaussian(1), 0.1), BATCH):
        document = through_json(oc.compose({gaussian: 2}, delta=0))
        assert (document["lower"], document["upper"], check(document).status) == (None, None, "proved")


@pytest.mark.parametrize("rounds", [200, pytest.param(12, marks=pytest.mark.slow)])
def test_wider_claims_about_batches(rounds: int) -> None:
    """Each side gets half of the room: they are different sums, and the bracket between them says nothing of either."""
    bound = oc.compose({oc.WithoutReplacement(oc.Gaussian(1), 100, 1000): rounds}, delta=1e-6)
    wide = through_json(bound, rtol=1e-2)
    assert wide["upper"] - bound.upper == pytest.approx(5e-3 * bound.upper)
    assert bound.lower - wide["lower"] == pytest.approx(5e-3 * bound.upper)
    assert check(wide | {"lower": 0.0}).proved


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    invoke(
        "train --examples 1000 --batch 10 --steps 200 --sigma 2 --neighbours replace --delta 1e-6 --certificate c.json"
    )
    document = json.loads(Path("c.json").read_text(encoding="utf8"))
    assert (document["neighbours"], document["laws"][0]["kind"]) == ("replace", "poisson_replaced_gaussian")
    assert invoke("verify c.json").stdout.startswith("proved: ")
