"""Durable sessions: the surface and the numbers of `Session`, kept in a ledger."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp import ZCDP, ApproxDP, BudgetExceeded, InvalidInput, MechanismFailed, PureDP
from optcomp.interactive import (
    AdaptiveFilter,
    BestFilter,
    Filter,
    RenyiFilter,
    Session,
    SparseVector,
    SumFilter,
    ZCDPFilter,
)
from optcomp.ledger import DurableSession, Ledger
from optcomp.statistics import Count, Histogram, Integers, Mean, Question, Sum
from tests.unit.ledger.people import kinds, people, spent

Place = tuple[str, Path]
SURFACE = {"ask", "ask_async", "pay", "open", "delegate", "commit", "remaining", "transcript", "explain"}
VALUES = {"budget", "quota", "name", "table"}


@pytest.fixture
def ledger(ledger_place: Place) -> Any:
    with Ledger(ledger_place[0], private=ledger_place[1]) as opened:
        yield opened


def opened(ledger: Ledger, budget: Filter, name: str = "ada") -> DurableSession:
    """In an account that has enough."""
    whole = SumFilter(10, "1e-3") if isinstance(budget.total, ApproxDP) else budget
    return ledger.open(f"for {name}", whole, disjoint=True).session(people(), budget, name=name)


def test_the_surface_is_that_of_a_session() -> None:
    public = {name for name in dir(Session) if not name.startswith("_")}
    assert public - set(dir(DurableSession)) == set()
    assert public >= SURFACE | VALUES


FILTERS: list[Filter] = [
    SumFilter(1),
    SumFilter(1, "1e-6"),
    BestFilter(1, "1e-6", "5e-7"),
    ZCDPFilter("1/10", "1e-6"),
    AdaptiveFilter(2, "1e-6", "5e-7"),
    RenyiFilter(8, 1),
]
ASKED: list[Callable[[Any], object]] = [
    lambda session: session.ask(Count(), epsilon="0.1"),
    lambda session: session.ask(Mean("age"), epsilon="0.25"),
    lambda session: session.ask(Histogram("age", (0, 50, 99)), epsilon="1/8"),
    lambda session: session.ask(Count("age > 30"), rho="1/1000"),
    lambda session: session.ask(Sum("age"), epsilon="0.3"),
    lambda session: session.pay("code", [PureDP("0.2"), PureDP("0.1")], lambda: 1),
    lambda session: session.open(SparseVector(50, epsilon="0.2")),
    lambda session: session.commit([Question(Count(), epsilon="1/16"), Question(Sum("age"), epsilon="1/16")]),
    lambda session: session.delegate(SumFilter("0.05")),
    lambda session: session.ask(Count(), epsilon="0.7"),
    lambda session: session.ask(Count(), epsilon="0.01"),
]


@pytest.mark.parametrize("budget", FILTERS, ids=lambda budget: type(budget).__name__)
def test_the_numbers_are_those_of_a_session(budget: Filter, tmp_path: Path) -> None:
    """The same requests are granted and refused, and leave the same sums; every ε here is a decimal of a few places."""
    memory = Session(people(), budget, name="ada")
    with Ledger(tmp_path / "a.ledger") as ledger:
        durable = opened(ledger, budget)
        assert (durable.name, durable.quota, durable.budget) == (memory.name, memory.quota, memory.budget)
        for ask in ASKED:
            ends = []
            for session in (memory, durable):
                try:
                    ask(session)
                    ends.append("granted")
                except Exception as error:
                    ends.append(type(error).__name__)
            assert ends[0] == ends[1]
            grid = 10**30
            for name in budget.currencies():
                one, two = memory.budget.spent.get(name), durable.budget.spent.get(name)
                if one is None or two is None:
                    assert one is two
                    continue
                assert one <= two <= one + Fraction(len(ASKED), grid)
                assert two * grid == int(two * grid)
            assert str(memory.remaining()) == str(durable.remaining())
        outcomes = sorted(entry.outcome for entry in durable.transcript)
        assert outcomes == sorted(entry.outcome for entry in memory.transcript)


def test_the_same_question_has_the_same_answer(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    first = session.ask(Count(), epsilon="0.001")
    assert [session.ask(Count(), epsilon="0.001") for _ in range(3)] == [first] * 3
    assert session.ask(Question(Count(), epsilon="1/1000")).value == first.value
    assert spent(session) == Fraction(1, 1000)
    fresh = [session.ask(Count(), epsilon="0.001", repeat=number).value for number in range(1, 6)]
    assert len({first.value, *fresh}) > 1  # six draws of scale 1000 are equal with probability 1e-17
    assert spent(session) == Fraction(6, 1000)
    assert session.ask(Count(), epsilon="0.001", repeat=3).value == fresh[2]


def test_a_key_is_for_one_question(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    answer = session.ask(Count(), epsilon="0.1", key="k")
    assert session.ask(Count(), epsilon="0.1", key="k") == answer
    before, head = session.budget, ledger.head
    for call in (
        lambda: session.ask(Count(), epsilon="0.2", key="k"),
        lambda: session.ask(Count("age > 3"), epsilon="0.1", key="k"),
        lambda: session.ask(Count(), epsilon="0.1", key="k", repeat=1),
        lambda: session.pay("code", [PureDP("0.1")], lambda: 1, key="k"),
        lambda: session.open(SparseVector(1, epsilon="0.1"), key="k"),
    ):
        with pytest.raises(InvalidInput, match="was used for something else"):
            call()
    assert (session.budget, ledger.head) == (before, head)
    session.ask(Count(), epsilon="0.1", key="other")  # another key pays again
    assert spent(session) == Fraction(1, 5)


def test_a_key_that_paid_for_little_does_not_run_what_costs_more(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    with pytest.raises(MechanismFailed):
        session.pay("code", [PureDP("0.01")], lambda: 1 / 0, key="k")
    with pytest.raises(InvalidInput, match="was used for something else"):
        session.pay("code", [PureDP("0.9")], lambda: pytest.fail("it ran"), key="k")
    assert spent(session) == Fraction(1, 100)


def test_paying_without_a_key_pays_each_time(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    assert [session.pay("code", [PureDP("0.1")], lambda: [1.5, "x"]) for _ in range(3)] == [[1.5, "x"]] * 3
    assert spent(session) == Fraction(3, 10)


def test_gaussian_noise_is_paid_by_its_rho(ledger: Ledger) -> None:
    """(ε, δ) of Gaussian noise as a pair costs ε²/2 and a δ; its own ρ is far less."""
    session = opened(ledger, BestFilter(3, "1e-6", "5e-7"))
    question = Question(Count(), epsilon="1", delta="1e-7")
    session.ask(question)
    rho = Fraction(question.allowance.whole_rho)
    assert rho < Fraction(1, 20)
    assert 0 <= session.budget.spent.rho - rho < Fraction(1, 10**30)  # type: ignore[operator]
    assert session.budget.spent.delta == 0
    pair = opened(ledger, SumFilter(3, "1e-6"), "bob")
    pair.ask(question)
    assert (spent(pair), pair.budget.spent.delta) == (Fraction(1), Fraction(1, 10**7))


def test_a_session_is_found_again_by_its_name(ledger: Ledger) -> None:
    account = ledger.open("people", SumFilter(1))
    session = account.session(people(), SumFilter("0.5"), name="ada")
    answer = session.ask(Count(), epsilon="0.2")
    again = account.session(people(), SumFilter("0.5"), name="ada")
    assert again.ask(Count(), epsilon="0.2") == answer
    assert (spent(account), spent(again)) == (Fraction(1, 2), Fraction(1, 5))
    for other in (SumFilter("0.4"), SumFilter("0.5", "1e-9"), ZCDPFilter("0.1")):
        with pytest.raises(InvalidInput, match="is not the one that session 'ada' was opened with"):
            account.session(people(), other, name="ada")
    changed = people(rows_per_person=2, person="who")
    for table in (changed, people(neighbours="replace")):
        with pytest.raises(InvalidInput, match="was opened about"):
            account.session(table, SumFilter("0.5"), name="ada")
    assert account.sessions() == ("ada",)
    assert spent(account) == Fraction(1, 2)
    with pytest.raises(BudgetExceeded):
        account.session(people(), SumFilter("0.6"), name="bob")


def test_a_delegate_is_paid_whole(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    inner = session.delegate(SumFilter("0.3"), name="inner")
    innermost = inner.delegate(SumFilter("0.3"), name="inner")
    innermost.ask(Count(), epsilon="0.1")
    assert [spent(each) for each in (session, inner, innermost)] == [Fraction(3, 10), Fraction(3, 10), Fraction(1, 10)]
    assert session.delegate(SumFilter("0.3"), name="inner").ask is not None
    with pytest.raises(BudgetExceeded):
        inner.ask(Count(), epsilon="0.1")
    with pytest.raises(BudgetExceeded):
        session.delegate(SumFilter("0.8"), name="second")
    assert spent(session) == Fraction(3, 10)


def test_a_committed_plan(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    questions = [Question(Count(), epsilon="1/8"), Question(Sum("age"), epsilon="1/4")]
    plan = session.commit(questions)
    assert spent(session) == Fraction(3, 8)
    assert plan.answers() == plan.answers()
    again = session.commit(questions)
    assert [each.value for each in again.answers()] == [each.value for each in plan.answers()]
    assert spent(session) == Fraction(3, 8)
    with pytest.raises(InvalidInput, match="index"):
        plan.answer(2)


def test_stored_answers_of_a_plan_compose_nothing_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened(ledger, SumFilter(1))
    plan = session.commit([Question(Count(), epsilon="1/8"), Question(Count("age > 1"), epsilon="1/4")])
    answers, bound = plan.answers(), plan.bound
    assert session.plan(plan.request).bound == bound
    monkeypatch.setattr("optcomp.ledger.session.committed_offers", lambda *_: 1 / 0)
    assert session.plan(plan.request).answers() == answers


def test_a_failure_stays_paid_and_tells_nothing(ledger: Ledger) -> None:
    session, tries = opened(ledger, SumFilter(1)), []

    def run() -> int:
        tries.append(1)
        if len(tries) < 3:
            raise ValueError("age 47 of Ada")
        return 5

    for _ in range(2):
        with pytest.raises(MechanismFailed) as failure:
            session.pay("code", [PureDP("0.4")], run, key="k")
        assert "47" not in str(failure.value)
        assert failure.value.__context__ is None
        assert spent(session) == Fraction(2, 5)
        assert [entry.outcome for entry in session.transcript] == ["paid"]
    assert session.pay("code", [PureDP("0.4")], run, key="k") == 5
    assert spent(session) == Fraction(2, 5)
    assert [entry.outcome for entry in session.transcript] == ["answered"]
    assert kinds(ledger).count("reserved") == 1


def test_what_is_no_json_is_a_failure(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    with pytest.raises(MechanismFailed):
        session.pay("code", [PureDP("0.1")], lambda: float("nan"))
    with pytest.raises(MechanismFailed):
        session.pay("code", [PureDP("0.1")], lambda: object())


def test_threads(ledger: Ledger) -> None:
    """Eight threads want 80 grants of a budget for 50."""
    session = opened(ledger, SumFilter("0.5"))

    def want(number: int) -> bool:
        try:
            session.ask(Count(), epsilon="0.01", repeat=number)
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(want, range(80))) == 50
    assert 2 * spent(session) == 1
    assert kinds(ledger).count("reserved") == kinds(ledger).count("answered") == 50


def test_threads_that_ask_the_same(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda _: session.ask(Count(), epsilon="0.001").value, range(24)))
    assert len(set(values)) == 1
    assert spent(session) == Fraction(1, 1000)


def test_tasks(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter("0.1"))

    async def all_of_them() -> list[Any]:
        asked = (session.ask_async(Count(), epsilon="0.01", repeat=number) for number in range(12))
        return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(all_of_them())
    assert sum(isinstance(each, BudgetExceeded) for each in found) == 2
    assert spent(session) == Fraction(1, 10)


def test_transcripts_hold_no_answers(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    session.ask(Count(), epsilon="0.5")
    with pytest.raises(BudgetExceeded):
        session.ask(Count(), epsilon="0.6")
    session.pay("mine", [PureDP("0.25"), PureDP("0.125")], lambda: 4711)
    shown = [(entry.number, entry.outcome, entry.costs) for entry in session.transcript]
    assert shown == [
        (0, "answered", (PureDP("0.5"),)),
        (1, "answered", (PureDP("0.25"), PureDP("0.125"))),
        (2, "refused", (PureDP("0.6"),)),
    ]
    words = session.explain()
    assert "RRUV16" in words
    assert "refused" in words
    assert "4711" not in words


def test_answers_are_marked_as_delivered_when_the_session_is_closed(ledger: Ledger) -> None:
    with opened(ledger, SumFilter(1)) as session:
        session.ask(Count(), epsilon="0.5")
    with ledger._books.database.read() as connection:
        states = {row.state for row in connection.exec_driver_sql("SELECT state FROM requests")}
    assert states == {"delivered"}
    assert len(session.transcript) == 1


def test_what_is_no_session_or_question_is_refused(ledger: Ledger) -> None:
    account = ledger.open("people", SumFilter(2))
    spent_from: Any = SumFilter(1).admit(PureDP("0.1"))
    for table, budget, name in (
        (people(), SumFilter(1), ""),
        (people(), SumFilter(1), 7),
        (people(), 1, "a"),
        ({"age": [1]}, SumFilter(1), "a"),
        (people(), spent_from.state, "a"),
    ):
        with pytest.raises(InvalidInput):
            account.session(table, budget, name=name)  # type: ignore[arg-type]
    session = account.session(people(), SumFilter(1))
    head = ledger.head
    bad: list[Callable[[], object]] = [
        lambda: session.ask(Count()),
        lambda: session.ask(Count(), epsilon=0),
        lambda: session.ask(Count(), epsilon=float("nan")),
        lambda: session.ask(Sum("income"), epsilon="0.1"),
        lambda: session.ask(Count(), epsilon="0.1", key=""),
        lambda: session.ask(Count(), epsilon="0.1", key=3),  # type: ignore[arg-type]
        lambda: session.ask(Count(), epsilon="0.1", repeat=-1),
        lambda: session.ask(Count(), epsilon="0.1", repeat=True),
        lambda: session.pay("nothing", [], lambda: 1),
        lambda: session.open(Count()),  # type: ignore[arg-type]
        lambda: session.commit([]),
    ]
    for call in bad:
        with pytest.raises(InvalidInput):
            call()
    assert ledger.head == head


def test_a_renyi_session(ledger: Ledger) -> None:
    """ρ-zCDP is αρ at order α."""
    session = opened(ledger, RenyiFilter(8, 1))
    session.ask(Count(), rho="1/100")
    assert session.budget.spent.divergence == Fraction(8, 100)
    session.pay("curve", [ZCDP("1/50")], lambda: 0)
    assert session.budget.spent.divergence == Fraction(24, 100)
    assert json.loads(json.dumps(session.budget.document())) == session.budget.document()


def test_a_pair_in_an_account_of_sums(ledger: Ledger) -> None:
    account = ledger.open("people", SumFilter(1, "1e-6"))
    account.session(people(), SumFilter("0.5", "5e-7"), name="a")
    assert (spent(account), account.budget.spent.delta) == (Fraction(1, 2), Fraction(1, 2 * 10**6))
    with pytest.raises(BudgetExceeded, match="δ"):
        account.session(people(), SumFilter("0.1", "6e-7"), name="b")
    assert account.budget.total == ApproxDP(1, "1e-6")


def test_columns_are_those_of_the_table(ledger: Ledger) -> None:
    session = opened(ledger, SumFilter(1))
    assert session.table.columns["age"] == Integers(0, 99)
    assert "ada" in repr(session)
