"""Answers without code: the question and the noisy amounts say everything, and are read back exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from optcomp import InvalidInput
from optcomp.interactive import Answer, answer, read_answer
from optcomp.statistics import Count, Declared, Integers, Question, Sum
from tests.unit.statistics.test_forms import TABLE, questions, through_json


def same(one: Answer, other: Answer) -> bool:
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("question", "value", "costs", "scales", "theorem", "amounts")
    )


@pytest.mark.parametrize("question", questions()[::2], ids=str)
def test_an_answer_is_read_back(question: Question) -> None:
    """From a real table, with real noise."""
    told = answer(question, TABLE)
    found = read_answer(through_json(told.document()), TABLE.declared)
    assert found == told
    assert same(found, told)
    assert repr(found.value) == repr(told.value)
    assert type(found.declared) is Declared
    assert found.document() == told.document()
    if not question.noise.chooses:
        assert found.interval(0.9) == told.interval(0.9)
    assert not same(replace(found, amounts=(_other(told.amounts[0]),)), told)


def _other(amounts: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Other amounts than these; of values that nobody found there may be none."""
    return (*amounts[:-1], amounts[-1] + 1) if amounts else (Fraction(1),)


def test_a_table_declares_too_and_is_not_kept() -> None:
    told = answer(Question(Count(), epsilon=1), TABLE)
    assert type(read_answer(told.document(), TABLE).declared) is Declared


def test_a_receipt_is_about_the_answer() -> None:
    told = answer(Question(Count(), epsilon=1), TABLE)
    entered = replace(told, receipt={"sequence": 3})
    assert entered == told
    assert entered.document() == told.document()
    assert "sequence" not in repr(entered)
    assert told.receipt is None


def test_amounts_are_exact() -> None:
    told = answer(Question(Sum("income"), epsilon="1/7"), TABLE)
    (written,) = told.document()["amounts"][0]
    assert Fraction(written) == told.amounts[0][0]


@pytest.mark.parametrize(
    "amounts",
    [None, "1", [], [["1"], ["2"]], [["1", "2"]], [[1]], [["1/2"]], [[0.5]], [["x"]], [["inf"]], [[True]], ["1"]],
)
def test_amounts_of_no_answer_are_refused(amounts: Any) -> None:
    document = {**answer(Question(Count(), epsilon=1), TABLE).document(), "amounts": amounts}
    with pytest.raises(InvalidInput, match="amounts"):
        read_answer(document, TABLE)


def test_answers_about_another_table_are_refused() -> None:
    document = answer(Question(Sum("age"), epsilon=1), TABLE).document()
    with pytest.raises(InvalidInput, match="column"):
        read_answer(document, Declared({"x": Integers(0, 1)}))
    with pytest.raises(InvalidInput, match="other"):
        read_answer({**document, "other": 1}, TABLE)
