"""The register: every theorem is tested, documented, and the only thing a Bound may name."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from optcomp import (
    METHODS,
    ZCDP,
    Gaussian,
    HypothesisNotMet,
    Laplace,
    UnknownTheorem,
    compare,
    compose,
    known_theorems,
    theorem,
)
from tests.oracles.instances import small_instances

TESTS = Path(__file__).parent
DOCS = TESTS.parents[1] / "docs" / "theorems.md"
IDS = [record.id for record in known_theorems()]
STEPS_ON_THE_WAY = {"M17", "BS16", "BDRS18", "CR21", "Lyu22-1", "Lyu22-2", "VZ22", "BBG18", "GROUP", "KS14"} | {
    *("REPLACE", "ZDW22-11", "KKMN09")
}
"""Used inside the proofs of other answers: how divergences add up, why interaction may be concurrent, what a sample is
to its population, what one person is to a group, what a guarantee is to a reader, which law a sample has, and what a
threshold leaks.
"""
FILTERS = {"RRUV16", "FZ21", "WRRW23", "BEST-FILTER", "HSTVVXZ23"}
"""Prove the totals of filters and odometers, which `compose` does not give."""
MECHANISMS = {"LSL17", "DNRRV09", "ZW20", "HR10"}
"""Prove the guarantees of single interactive mechanisms."""


def test_ids_are_unique() -> None:
    names = [name for record in known_theorems() for name in (record.id, *record.aliases)]
    assert len(names) == len(set(names)) >= 9


@pytest.mark.parametrize("id", IDS)
def test_has_a_test_file(id: str) -> None:
    name = "test_" + re.sub(r"[^a-z0-9]", "_", id.lower()) + ".py"
    assert (TESTS / name).is_file()


@pytest.mark.parametrize("id", IDS)
def test_has_a_heading_in_the_docs(id: str) -> None:
    headings = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert any(re.search(rf"(?<![\w.-]){re.escape(id)}(?![\w-]|\.\d)", line) for line in headings)


@pytest.mark.parametrize("id", IDS)
def test_says_what_it_says(id: str) -> None:
    record = theorem(id)
    assert record.id == id
    assert all((record.name, record.statement, record.hypotheses, record.source))
    assert record.statement.endswith(".")


def test_aliases_lead_to_the_record() -> None:
    assert theorem("MV18-1.4") is theorem("KOV15-3.3")


def test_unknown_id() -> None:
    with pytest.raises(UnknownTheorem) as refusal:
        theorem("MV18-9.9")
    assert str(refusal.value) == f"theorem: must be one of {', '.join(IDS)}, got 'MV18-9.9'"


@pytest.mark.parametrize("id", IDS)
def test_adaptive_parameters_are_covered_by_basic_composition_and_filters_only(id: str) -> None:
    record = theorem(id)
    if id in {"DKMMN06", *FILTERS}:
        record.require(parameters="adaptive", all_equal=False)
        return
    with pytest.raises(HypothesisNotMet) as refusal:
        record.require(parameters="adaptive", all_equal=True)
    assert refusal.value.theorem == id


def test_bounds_name_registered_theorems() -> None:
    found: set[str] = set()
    for instance in small_instances(77, 40, most=9):
        for bound in compare(instance.parts, delta=instance.delta) + compare(instance.parts, epsilon=instance.epsilon):
            found.add(bound.theorem)
    many = np.linspace(0.01, 0.02, 90)
    found |= {bound.theorem for bound in compare(many, delta=1e-9)}
    found |= {compose({0.1: 9}, delta=1e-6, method=method).theorem for method in METHODS}
    found |= {bound.theorem for bound in compare({Laplace(9): 5, ZCDP(0.01): 2}, delta=1e-6)}
    found |= {compose({mechanism: 5}, delta=1e-6).theorem for mechanism in (Laplace(9), Gaussian(4))}
    assert found == set(IDS) - STEPS_ON_THE_WAY - FILTERS - MECHANISMS
