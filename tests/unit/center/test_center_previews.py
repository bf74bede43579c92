"""Costs, errors and counts before anything is spent, from a declaration that was written and read."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from optcomp.center.previews import ROWS, preview
from optcomp.errors import InvalidInput
from optcomp.interactive import SumFilter, answer, question_offers
from optcomp.planner import ErrorModel
from optcomp.statistics import (
    CDF,
    Count,
    Declared,
    Histogram,
    Mean,
    Median,
    People,
    Question,
    Sum,
    Variance,
    declaration_document,
    noise_reach,
    read_declaration,
    read_question,
)
from tests.unit.center.center_place import form, people


@pytest.fixture(scope="module")
def declared() -> Declared:
    """As it is stored."""
    return read_declaration(json.loads(json.dumps(declaration_document(people()))))


def test_the_cost_is_told_exactly_and_in_words(declared: Declared) -> None:
    """Every guarantee that is proved."""
    found = preview(declared, form(Count(), epsilon="1/10"))
    assert found["cost"] == [{"words": "ε = 0.1", "exact": [{"kind": "PureDP", "epsilon": "1/10"}]}]
    gaussian = preview(declared, form(Count(), epsilon="1/2", delta="1e-7"))
    assert len(gaussian["cost"]) == 2
    assert gaussian["cost"][0]["words"].startswith("(ε, δ) = (0.5, ")
    assert json.dumps(found)


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_the_error_of_a_count_is_half_the_interval_of_its_answer(declared: Declared, confidence: str) -> None:
    """The same notion, and the same number."""
    question = Question(Count(), epsilon="1/10")
    found = preview(declared, question.document(), None, confidence)["error"]
    low, high = answer(question, people(rows=100_000)).interval(confidence)
    assert found["errors"] == [{"rows": None, "error": (high - low) / 2}]
    assert found["errors"][0]["error"] == noise_reach("laplace", question.scales(declared)[0], float(confidence))
    assert found["unit"] == "rows"


@pytest.mark.parametrize(
    ("statistic", "unit"),
    [
        (Mean("age"), "age"),
        (Median("age"), "rows"),
        (Median("age", by="region"), "rows"),
        (Mean("age", by="region"), "age"),
        (People(), "people"),
        (Variance("age"), "age, squared"),
        (CDF("age"), "share of rows"),
        (Sum("age"), "age"),
        (Histogram("region"), "rows"),
    ],
)
def test_errors_are_those_of_plans(declared: Declared, statistic: Any, unit: str) -> None:
    """For the numbers of rows that are told, where the error depends on it."""
    question = Question(statistic, epsilon="1/2")
    found = preview(declared, question.document())["error"]
    assert found["unit"] == unit
    assert [each["rows"] for each in found["errors"]] == (list(ROWS) if statistic.needs_rows else [None])
    for each in found["errors"]:
        model = ErrorModel(statistic, declared, question.noise, each["rows"], 0.95)
        assert each["error"] == model.error(Fraction(1, 2))
    one = preview(declared, question.document(), rows=5_000)["error"]["errors"]
    assert [each["rows"] for each in one] == [5_000]


@pytest.mark.parametrize("spent", [{"epsilon": "3/10"}, {"epsilon": "1/10", "delta": "3/100000000"}, {"epsilon": "2"}])
def test_so_many_more_really_fit(declared: Declared, spent: dict[str, str]) -> None:
    """Counted one by one; the budget is taken as it is, or as a job told it."""
    question = form(Count(), **spent)
    budget, fitted = SumFilter("1", "1e-7"), 0
    offer = question_offers(read_question(question), declared)[0]
    while hasattr(state := budget.admit(offer[0]), "state"):
        budget, fitted = state.state, fitted + 1
    whole = SumFilter("1", "1e-7")
    found = preview(declared, question, whole)
    assert (found["more"], found["fits"]) == (fitted, fitted > 0)
    assert preview(declared, question, {"budget": whole.document()}) == found


def test_what_a_slot_cannot_price_does_not_fit(declared: Declared) -> None:
    """A slot adds up ε and δ."""
    found = preview(declared, form(Count(), rho="1/100"), SumFilter("1"))
    assert (found["fits"], found["more"]) == (False, 0)


@pytest.mark.parametrize(
    "question",
    [
        form(Mean("income"), epsilon="1"),
        form(Count("income >= 3"), epsilon="1"),
        form(Count("age >= 'north'"), epsilon="1"),
        {"statistic": {"count": "rows"}},
    ],
)
def test_what_is_not_declared_is_refused(declared: Declared, question: dict[str, Any]) -> None:
    """By the declaration alone."""
    with pytest.raises(InvalidInput):
        preview(declared, question)
