"""Certificates about few rounds of samples, which neither a closed form nor a short integral decides."""

from __future__ import annotations

import json
from typing import Any

import pytest

import optcomp as oc
from optcomp.checker import check
from tests.unit.checker.certificates import Document


def sampled(noise: Any, rate: float, neighbours: Any = "add-remove") -> oc.PoissonSubsampled:
    return oc.PoissonSubsampled(noise, rate, neighbours)


CASES: dict[str, tuple[dict[Any, int], dict[str, Any], float]] = {
    "two": ({sampled(oc.Gaussian(1), 0.01): 2}, {"delta": 1e-6}, 1e-6),
    "two, at an ε": ({sampled(oc.Gaussian(1), 0.01): 2}, {"epsilon": 0.4}, 1e-5),
    "five of little noise": ({sampled(oc.Gaussian(0.4), 0.01): 5}, {"delta": 1e-9}, 1e-5),
    "three replaced": ({sampled(oc.Gaussian(0.6), 0.01, "replace"): 3}, {"delta": 1e-6}, 1e-4),
    "three of Laplace noise": ({sampled(oc.Laplace(1), 0.01): 3}, {"delta": 1e-6}, 1e-4),
    "thirty of discrete noise": ({sampled(oc.DiscreteGaussian(4), 0.01): 30}, {"delta": 1e-6}, 1e-5),
    "of two kinds": ({sampled(oc.Gaussian(0.5), 0.01): 2, oc.Laplace(4): 1, (0.1, 1e-9): 2}, {"delta": 1e-6}, 1e-4),
}


@pytest.mark.slow_cases("five of little noise", "three replaced", "three of Laplace noise", "thirty of discrete noise")
@pytest.mark.parametrize("name", CASES)
def test_proved_and_tight(name: str) -> None:
    """What is claimed is proved, by cells; a claim moved by a little more than its width never is."""
    mechanisms, question, rtol = CASES[name]
    bound = oc.compose(mechanisms, **question)
    document: Document = json.loads(json.dumps(bound.certificate(rtol=rtol), allow_nan=False))
    verdict = check(document)
    assert verdict.status == "proved", verdict.reason
    assert any("cells of a grid" in step for step in verdict.steps)
    lower, upper = document["lower"], document["upper"]
    assert upper - lower < 2 * rtol * upper + 2 * (bound.upper - bound.lower)
    for share in (-1.05, 1.05):
        moved = {"lower": lower + share * (upper - lower), "upper": upper + share * (upper - lower)}
        assert check(document | moved, effort=4).status in ("false", "undecided")
