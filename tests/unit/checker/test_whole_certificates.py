"""Certificates about discrete Gaussian noise on samples: persons added or removed, and records replaced."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

import optcomp as oc
from optcomp.checker import check
from optcomp.checker.claimed import KINDS
from tests.oracles.sampled_whole import whole_hockey
from tests.unit.checker.certificates import Document


def sampled(sigma: float, rate: str, shift: int = 1, neighbours: str = "add-remove") -> oc.PoissonSubsampled:
    return oc.PoissonSubsampled(oc.DiscreteGaussian(sigma, shift), rate, neighbours)  # type: ignore[arg-type]


def through_json(bound: oc.Bound, **options: float) -> Document:
    document: Document = json.loads(json.dumps(bound.certificate(**options), allow_nan=False))
    return document


LISTS: dict[str, dict[Any, int]] = {
    "one": {sampled(3, "0.05", 2, "replace"): 1},
    "three": {sampled(3, "0.05", 2): 3},
    "six replaced": {sampled(1, "0.05", 1, "replace"): 6},
    "few beside pairs": {sampled(1, "0.1"): 3, 0.25: 2, oc.RandomizedResponse(0.5, 3): 1},
    "many": {sampled(2, "0.02", 2): 1000},
    "many replaced": {sampled(4, "0.01", 1, "replace"): 1000},
    "many of two kinds": {sampled(2, "0.02"): 600, sampled(3, "0.02"): 500},
    "many beside pairs": {sampled(4, "0.01"): 300, (0.1, 1e-9): 20},
    "many beside noise": {sampled(2, "0.02"): 200, oc.Laplace(3): 2, (0.1, 1e-9): 4},
}
"""Lists whose answers are proved as they are."""


@pytest.mark.parametrize(
    ("name", "question"),
    [*((name, {"delta": 1e-6}) for name in LISTS), ("three", {"epsilon": 0.4}), ("many", {"epsilon": 0.4})],
    ids=str,
)
def test_proved_and_tight(name: str, question: dict[str, Any]) -> None:
    """What compose answers is proved; ends beyond the truth by little are refused."""
    bound = oc.compose(LISTS[name], **question)
    document = through_json(bound)
    verdict = check(document)
    assert verdict.status == "proved", verdict.reason
    assert bound.width < 2e-9
    below, above = (
        (bound.lower * (1 - 2e-8), bound.lower * (1 - 1e-8)),
        (bound.upper * (1 + 1e-8), bound.upper * (1 + 2e-8)),
    )
    for lower, upper in (below, above):
        assert check(document | {"lower": lower, "upper": upper}).status == "false"


@pytest.mark.parametrize(
    ("kind", "side", "neighbours"),
    [
        ("poisson_subsampled_discrete_gaussian", "towards", "add/remove"),
        ("poisson_replaced_discrete_gaussian", "replaced", "replace"),
    ],
)
def test_one_mechanism_against_its_curve(kind: str, side: Any, neighbours: str) -> None:
    """The truth is a hockey stick from first principles; a claim is proved just around it."""
    truth = float(whole_hockey(3, 2, Fraction(1, 5), side)(arb("0.25")).mid())
    claim: Document = {
        "format": "optcomp-certificate",
        "version": 3,
        "quantity": "delta",
        "given": "1/4",
        "count": 1,
        "mechanisms": [],
        "neighbours": neighbours,
        "laws": [{"kind": kind, "sigma": 3, "sensitivity": 2, "rate": "1/5", "copies": 1}],
    }
    assert check(claim | {"lower": truth * (1 - 1e-13), "upper": truth * (1 + 1e-13)}).proved
    assert check(claim | {"lower": 0.0, "upper": truth * (1 - 1e-13)}).status == "false"
    assert check(claim | {"lower": truth * (1 + 1e-13), "upper": 1.0}).status == "false"
    for wrong in {"add/remove", "replace", None} - {neighbours}:
        assert check(claim | {"neighbours": wrong, "lower": 0.0, "upper": 1.0}).status == "malformed"


def test_what_is_written_and_changed_parameters() -> None:
    """The law is written exactly, and a law that spends more than is claimed is noticed."""
    document = through_json(oc.compose({sampled(3, "0.05", 2, "replace"): 1}, epsilon=0.1))
    law = {
        "kind": "poisson_replaced_discrete_gaussian",
        "sigma": "3",
        "sensitivity": 2,
        "rate": "1/20",
        "copies": 1,
    }
    assert document["laws"] == [law]
    changed = {"sigma": Fraction(2999999, 1000000), "sensitivity": 3, "rate": Fraction(50001, 1000000)}
    assert set(changed) == set(KINDS[law["kind"]])  # type: ignore[index]
    for name, value in changed.items():
        other = copy.deepcopy(document)
        other["laws"][0][name] = str(value) if isinstance(value, Fraction) else value
        assert check(other).status == "false"


def test_a_sample_of_everybody_is_no_sample() -> None:
    document = through_json(oc.compose({sampled(9, "1", 2, "replace"): 3}, delta=1e-6))
    assert document["laws"] == [{"kind": "discrete_gaussian", "sigma": "9", "sensitivity": 4, "copies": 3}]
    assert "neighbours" not in document
    assert check(document).proved
