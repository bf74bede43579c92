"""Sessions: bad input and refusals cost nothing, a delegate is paid whole, and the session says why it is private."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pyarrow
import pytest

from optcomp import ZCDP, ApproxDP, BudgetExceeded, HypothesisNotMet, InvalidInput, PureDP
from optcomp.interactive import (
    AdaptiveFilter,
    BestFilter,
    Filter,
    GaussianSparseVector,
    RenyiFilter,
    Session,
    SparseVector,
    SumFilter,
    ZCDPFilter,
)
from optcomp.statistics import Count, Histogram, Integers, Mean, Median, Question, Sum, Table


def table() -> Table:
    return Table(pyarrow.table({"age": list(range(100))}), {"age": Integers(0, 99)}, name="people")


def spent(session: Session) -> Fraction:
    found = session.budget.spent.epsilon
    assert found is not None
    return found


def test_asking() -> None:
    session = Session(table(), SumFilter(31))
    answer = session.ask(Count(), epsilon=30)
    assert abs(answer.value - 100) <= 2  # beyond: a probability of 2·e^-90
    assert answer.costs == (PureDP(30),)
    low, high = answer.interval("0.99")
    assert low <= answer.value <= high
    assert spent(session) == 30
    (entry,) = session.transcript
    assert (entry.number, entry.outcome, entry.costs) == (0, "answered", answer.costs)
    assert str(answer.value) not in repr(entry)


def test_several_parts_are_paid_together() -> None:
    """A mean is a count and a sum; three quarters would fit, but nothing is taken."""
    session = Session(table(), SumFilter("0.9"))
    with pytest.raises(BudgetExceeded) as refusal:
        session.ask(Mean("age"), epsilon=1)
    assert "2 parts" in str(refusal.value)
    assert spent(session) == 0
    assert session.budget is session.quota


def test_a_refusal_changes_nothing_and_the_session_lives_on() -> None:
    session = Session(table(), SumFilter(1))
    session.ask(Count(), epsilon="0.6")
    before = session.budget
    for _ in range(3):
        with pytest.raises(BudgetExceeded) as refusal:
            session.ask(Count(), epsilon="0.5")
        assert refusal.value.requested == PureDP("0.5")
        assert session.budget is before
    session.ask(Count(), epsilon="0.4")
    assert spent(session) == 1
    assert [entry.outcome for entry in session.transcript] == ["answered", "refused", "refused", "refused", "answered"]
    assert str(session.remaining(PureDP("1/10"))).endswith("0 more requests of ε = 0.1")


BAD: list[Callable[[Session], Any]] = [
    lambda session: session.ask(Count()),
    lambda session: session.ask(Count(), epsilon="0.1", rho="0.1"),
    lambda session: session.ask(Count(), epsilon=0),
    lambda session: session.ask(Count(), epsilon=float("nan")),
    lambda session: session.ask(Count(), epsilon="1e-30"),
    lambda session: session.ask(Sum("income"), epsilon="0.1"),
    lambda session: session.ask(Count("income > 3"), epsilon="0.1"),
    lambda session: session.ask(Count("age > DROP TABLE people"), epsilon="0.1"),
    lambda session: session.ask(Histogram("age", edges=(3, 1)), epsilon="0.1"),
    lambda session: session.ask("count", epsilon="0.1"),  # type: ignore[arg-type]
    lambda session: session.ask(Question(Count(), epsilon="0.1"), epsilon="0.1"),
    lambda session: session.ask(Median("age"), epsilon="0.1", mechanism="laplace"),
    lambda session: session.open("mechanism"),  # type: ignore[arg-type]
    lambda session: session.delegate("0.1"),  # type: ignore[arg-type]
    lambda session: session.commit([]),
    lambda session: session.commit([Count()]),  # type: ignore[list-item]
    lambda session: session.commit([Question(Sum("income"), epsilon="0.1")]),
    lambda session: session.commit([Question(Count(), epsilon="0.1")], delta=1),
    lambda session: session.commit([Question(Count(), rho="0.1")]),
    lambda session: session.pay("nothing", [object()], lambda: 1),  # type: ignore[list-item]
    lambda session: session.pay("nothing", [], lambda: 1),
]


@pytest.mark.parametrize("bad", BAD)
def test_bad_input_costs_nothing(bad: Callable[[Session], Any]) -> None:
    session = Session(table(), SumFilter(1))
    with pytest.raises(InvalidInput):
        bad(session)
    assert session.budget is session.quota
    assert session.transcript == ()
    session.ask(Count(), epsilon=1)


@pytest.mark.parametrize("wrong", [("people", SumFilter(1)), (None, 1)])
def test_what_a_session_is_made_of(wrong: tuple[Any, Any]) -> None:
    about, budget = wrong
    with pytest.raises(InvalidInput):
        Session(about or table(), budget)


def test_what_the_filter_cannot_account_for_costs_nothing() -> None:
    spec = GaussianSparseVector(9, sigma_threshold=4, sigma_questions=8, questions=9)
    for budget in (SumFilter(9, "0.1"), ZCDPFilter(9), BestFilter(9, "0.1"), AdaptiveFilter(9, "0.1")):
        session = Session(table(), budget)
        with pytest.raises(HypothesisNotMet):
            session.open(spec)
        assert session.budget is budget
    session = Session(table(), RenyiFilter(4, 9))
    session.open(spec)
    assert session.budget.spent.divergence == Fraction(spec.divergence(4.0))


@pytest.mark.parametrize(
    "budget", [ZCDPFilter("0.5"), BestFilter(2, "1e-6"), AdaptiveFilter(2, "1e-6"), RenyiFilter(8, 9)]
)
def test_other_filters(budget: Filter) -> None:
    session = Session(table(), budget)
    session.ask(Count(), rho="0.001")
    session.ask(Mean("age"), epsilon="0.1")
    session.open(SparseVector(50, epsilon="0.1")).ask(Count())
    assert session.budget.admitted == 4
    assert len(session.transcript) == 3


def test_a_delegate_is_paid_whole_and_cannot_exceed_its_share() -> None:
    session = Session(table(), SumFilter(1, "1e-6"))
    child = session.delegate(SumFilter("0.4", "1e-6"), name="child")
    assert spent(session) == Fraction("0.4")
    assert session.budget.spent.delta == Fraction("1e-6")
    child.ask(Count(), epsilon="0.3")
    with pytest.raises(BudgetExceeded):
        child.ask(Count(), epsilon="0.2")
    assert spent(session) == Fraction("0.4")  # the child's answers cost nothing more, its rest is not refunded
    grandchild = child.delegate(SumFilter("0.1"))
    with pytest.raises(BudgetExceeded):
        child.ask(Count(), epsilon="1e-8")
    grandchild.ask(Count(), epsilon="0.1")
    with pytest.raises(BudgetExceeded):
        session.delegate(SumFilter("0.7"))
    session.ask(Count(), epsilon="0.6")
    assert [spent(each) for each in (session, child, grandchild)] == [1, Fraction("0.4"), Fraction("0.1")]


def test_a_delegate_with_part_of_its_budget_spent_costs_all_of_it() -> None:
    used = SumFilter("0.5").admit("0.4").state  # type: ignore[union-attr]
    session = Session(table(), SumFilter("0.5"))
    session.delegate(used)
    assert spent(session) == Fraction("0.5")


def test_delegates_with_other_filters() -> None:
    session = Session(table(), SumFilter(3, "1e-6"))
    inner = session.delegate(BestFilter(2, "1e-6"))
    assert session.budget.spent.delta == Fraction("1e-6")
    inner.ask(Count(), rho="0.01")
    with pytest.raises(HypothesisNotMet):
        session.delegate(ZCDPFilter("0.001"))
    concentrated = Session(table(), ZCDPFilter(1))
    concentrated.delegate(ZCDPFilter("0.5"))
    concentrated.delegate(SumFilter("0.2"))
    assert concentrated.budget.spent.rho == Fraction("0.52")


def test_it_explains_itself() -> None:
    session = Session(table(), SumFilter(1), name="Ada")
    session.ask(Count(), epsilon="0.25")
    with pytest.raises(BudgetExceeded):
        session.ask(Count(), epsilon=2)
    session.open(SparseVector(50, epsilon="0.5"))
    text = session.explain()
    for piece in ("Ada asks about people", "add-remove", "RRUV16", "HSTVVXZ23", "0.25 of 1 left", "refused", "sparse"):
        assert piece in text
    assert "FZ21" in Session(table(), ZCDPFilter(1)).explain()
    assert "WRRW23" in Session(table(), AdaptiveFilter(1, "1e-6")).explain()


def test_asynchronous() -> None:
    session = Session(table(), SumFilter(1))

    async def main() -> list[Any]:
        calls = [session.ask_async(Count(), epsilon="0.3") for _ in range(5)]
        return await asyncio.gather(*calls, return_exceptions=True)

    found = asyncio.run(main())
    assert sum(isinstance(each, BudgetExceeded) for each in found) == 2
    assert spent(session) == Fraction("0.9")


def test_a_cancelled_task_has_paid() -> None:
    session = Session(table(), SumFilter(1))

    async def main() -> None:
        task = asyncio.create_task(session.ask_async(Count(), epsilon="0.3"))
        while not session.transcript:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert spent(session) == Fraction("0.3")


def test_costs_of_every_kind() -> None:
    session = Session(table(), SumFilter(2, "0.1"))
    session.pay("plain numbers", ["0.1", ("0.2", "0.05"), PureDP("0.3"), ApproxDP("0.4", "0.05")], lambda: None)
    assert session.budget.spent.epsilon == 1
    assert session.budget.spent.delta == Fraction("0.1")
    with pytest.raises(HypothesisNotMet):
        session.pay("zCDP", [PureDP("0.1"), ZCDP("0.1")], lambda: None)
    assert session.budget.spent.epsilon == 1
