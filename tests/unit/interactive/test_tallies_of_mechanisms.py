"""What a mechanism has left follows from its answers: the same as the mechanism at work counts."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from optcomp.errors import MechanismClosed
from optcomp.interactive import GaussianSparseVector, added_up, known_mechanisms, read_mechanism
from optcomp.statistics import Count
from tests.unit.interactive.runs import ALL_MECHANISMS, MECHANISMS, QUIET, TABLE, asked


@pytest.mark.parametrize("name", ALL_MECHANISMS)
def test_answers_tell_what_is_left(name: str) -> None:
    """With real noise, whatever it is; the quiet ones come to their end."""
    mechanism, rng = ALL_MECHANISMS[name], Random(5)
    run = mechanism.start(TABLE)
    answers: list[Any] = []
    for _ in range(60):
        tally = mechanism.tally(answers)
        for counter, count in tally.left.items():
            if counter != "questions_left":
                assert count == getattr(run, counter)
        question = asked(mechanism, rng)
        if tally.closed:
            with pytest.raises(MechanismClosed):
                run.ask(*question)
            break
        answers.append(run.ask(*question))
    assert len(answers) > 1  # each may give two positive answers or corrections before it closes
    if name in QUIET:
        assert not any(count for counter, count in tally.left.items() if counter != "questions_left")


def test_a_gaussian_one_closes_after_its_questions_too() -> None:
    mechanism = GaussianSparseVector(10**9, sigma_threshold=1, sigma_questions=1, questions=3)
    run = mechanism.start(TABLE)
    answers = [run.ask(Count()) for _ in range(3)]
    assert answers == [False] * 3
    assert mechanism.tally(answers[:2]).left == {"positives_left": 1, "questions_left": 1}
    assert not mechanism.tally(answers[:2]).closed
    assert mechanism.tally(answers).closed
    with pytest.raises(MechanismClosed):
        run.ask(Count())


def test_all_that_documents_may_name_are_known() -> None:
    assert {type(each) for each in MECHANISMS.values()} == set(known_mechanisms())
    for each in MECHANISMS.values():
        assert read_mechanism(each.document()) == each


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_reach_is_the_accuracy(name: str) -> None:
    mechanism = MECHANISMS[name]
    found = mechanism.reach(TABLE.declared, 10, "0.9")
    own = (10, TABLE, "0.9") if hasattr(mechanism, "cells") else (10, "0.9")
    assert found == mechanism.accuracy(*own)
    assert mechanism.reach(TABLE.declared, 1000, "0.9") > found


@pytest.mark.parametrize("name", ALL_MECHANISMS)
def test_what_is_paid_at_once_is_the_sum_of_all_parts(name: str) -> None:
    """To the last digit, for floats too; a curve has no such sum."""
    mechanism = ALL_MECHANISMS[name]
    whole, added = mechanism.sum_of_costs(), added_up(mechanism.costs())
    assert (whole is None) == (added is None) == (name in ("gaussian", "quiet gaussian"))
    if whole is not None and added is not None:
        assert Fraction(whole.epsilon) == Fraction(added.epsilon)
        assert Fraction(whole.delta) == Fraction(added.delta)
