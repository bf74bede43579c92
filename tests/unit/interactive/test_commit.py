"""Committed plans: priced as a whole before the first answer, answered once, in any order."""

from __future__ import annotations

import copy
import threading
from fractions import Fraction

import pyarrow
import pytest

from optcomp import BudgetExceeded, CannotBeShared, InvalidInput, compose
from optcomp.interactive import Answer, Session, SumFilter
from optcomp.statistics import Count, Integers, Mean, Median, Question, Sum, Table


def table() -> Table:
    return Table(pyarrow.table({"age": list(range(100))}), {"age": Integers(0, 99)})


def counts(number: int, epsilon: str) -> list[Question]:
    return [Question(Count(f"age < {age}"), epsilon=epsilon) for age in range(number)]


def test_priced_by_optimal_composition() -> None:
    session = Session(table(), SumFilter(3, "1e-6"))
    plan = session.commit(counts(100, "0.05"), delta="1e-6")
    assert plan.bound.epsilon == compose({"0.05": 100}, delta="1e-6").epsilon
    assert session.budget.spent.epsilon == Fraction(plan.bound.epsilon) < 3
    assert session.budget.spent.delta == Fraction("1e-6")
    (entry,) = session.transcript
    assert entry.what == "plan: 100 questions at once"
    alone = session.commit(counts(1, "0.05"))
    assert session.transcript[1].what == "plan: 1 question at once"
    with pytest.raises(CannotBeShared, match=r"^a committed plan of 1 question cannot"):
        copy.copy(alone)


def test_it_may_cost_less_than_its_parts() -> None:
    session = Session(table(), SumFilter(3, "1e-6"))
    with pytest.raises(BudgetExceeded):
        session.commit(counts(100, "0.05"))  # five without a δ
    assert session.budget is session.quota
    session.commit(counts(100, "0.05"), delta="1e-6")


@pytest.mark.parametrize(("number", "epsilon"), [(3, "0.1"), (6, "0.1"), (7, "1/7"), (3, "1/9"), (49, "0.01")])
def test_without_a_delta_it_costs_the_exact_sum(number: int, epsilon: str) -> None:
    """Not a float next to it: the plan uses up the budget, and does not fail by a rounding."""
    session = Session(table(), SumFilter(number * Fraction(epsilon)))
    session.commit(counts(number, epsilon))
    assert session.budget.spent.epsilon == number * Fraction(epsilon)
    with pytest.raises(BudgetExceeded):
        session.ask(Count(), epsilon="1e-8")


def test_questions_of_all_kinds() -> None:
    session = Session(table(), SumFilter(5, "1e-3"))
    questions = [
        Question(Count(), epsilon="0.1"),
        Question(Mean("age"), epsilon="0.5"),
        Question(Sum("age"), rho="0.01"),
        Question(Count(), epsilon="0.2", delta="1e-9"),
        Question(Median("age"), epsilon="0.3"),
    ]
    plan = session.commit(questions, delta="1e-3")
    assert [answer.question for answer in plan.answers()] == questions
    costs = [cost for question in questions for cost in question.costs(session.table)]
    assert plan.bound.epsilon == compose(costs, delta="1e-3").epsilon


def test_a_delta_that_is_too_small() -> None:
    session = Session(table(), SumFilter(5, "1e-3"))
    with pytest.raises(InvalidInput, match="delta"):
        session.commit([Question(Count(), epsilon="0.2", delta="1e-5")], delta="1e-6")
    assert session.transcript == ()


def test_the_same_answer_again() -> None:
    plan = Session(table(), SumFilter(1)).commit(counts(4, "0.01"))
    last = plan.answer(3)
    assert plan.answer(3) is last
    assert plan.answers()[3] is last
    assert plan.answers() == plan.answers()
    with pytest.raises(InvalidInput):
        plan.answer(4)
    with pytest.raises(InvalidInput):
        plan.answer(-1)


def test_parameters_are_fixed() -> None:
    """The plan keeps what it was given, not the list that may change later; answering costs nothing more."""
    session, asked = Session(table(), SumFilter(1)), counts(3, "0.1")
    plan = session.commit(iter(asked))
    asked.append(Question(Count(), epsilon=100))
    asked[0] = Question(Count(), epsilon=100)
    assert len(plan.questions) == 3
    assert all(question.epsilon == Fraction("0.1") for question in plan.questions)
    before = session.budget
    plan.answers()
    assert session.budget is before
    with pytest.raises(AttributeError):
        plan.questions[0].epsilon = Fraction(100)  # type: ignore[misc]


def test_from_many_threads_every_question_has_one_answer() -> None:
    plan = Session(table(), SumFilter(1)).commit(counts(3, "0.001"))
    found: list[tuple[Answer, ...]] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        found.append(plan.answers())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    for index in range(3):
        assert len({id(answers[index]) for answers in found}) == 1
