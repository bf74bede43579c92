"""Committed plans: priced as a whole before the first answer, answered once, in any order."""

from __future__ import annotations

import copy
import threading
from fractions import Fraction

import pyarrow
import pytest

from optcomp import BudgetExceeded, CannotBeShared, InvalidInput, compose
from optcomp.interactive import Answer, Cost, RenyiFilter, Session, SumFilter, ZCDPFilter
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


def test_it_costs_its_parts_where_these_are_cheaper() -> None:
    """By concentration 100 small questions come to Σε²/2, much less than half the square of their optimal ε."""
    session = Session(table(), ZCDPFilter("0.5", "1e-6"))
    plan = session.commit(counts(100, "0.05"), delta="1e-7")
    assert session.budget.spent == Cost(rho=100 * Fraction("0.05") ** 2 / 2)
    assert 100 * Fraction("0.05") ** 2 < Fraction(plan.bound.epsilon) ** 2
    assert (session.budget.admitted, len(session.transcript[0].costs)) == (1, 100)
    with pytest.raises(BudgetExceeded, match=r"^ρ: this request of 100 parts costs 0.5 and 0.375 of 0.5 is left"):
        session.commit(counts(100, "0.1"), delta="1e-7")
    assert [entry.outcome for entry in session.transcript] == ["answered", "refused"]
    assert len(session.transcript[1].costs) == 100


def test_a_delta_that_was_given_is_spent() -> None:
    """All of δ for less than half of ε, although the parts would fit as well."""
    session = Session(table(), SumFilter(6, "1e-6"))
    plan = session.commit(counts(100, "0.05"), delta="1e-6")
    assert session.budget.spent == Cost(epsilon=Fraction(plan.bound.epsilon), delta=Fraction("1e-6"))
    assert session.budget.spent.epsilon < Fraction("2.5")  # type: ignore[operator]
    session.commit(counts(100, "0.03"), delta="1e-6")  # no δ is left: now it costs its parts
    assert session.budget.spent.epsilon == Fraction(plan.bound.epsilon) + 3


def test_one_of_both_prices_is_enough() -> None:
    questions = [Question(Sum("age"), rho="0.01")]
    assert Session(table(), RenyiFilter(8, 1)).commit(questions, delta="1e-6")  # which takes no (ε, δ)
    session = Session(table(), SumFilter(5, "1e-3"))
    plan = session.commit(questions, delta="1e-6")  # which takes no ρ
    assert session.budget.spent == Cost(epsilon=Fraction(plan.bound.epsilon), delta=Fraction("1e-6"))


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
