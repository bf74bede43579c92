"""Sessions together: quotas fixed before the first answer compose optimally; later ones are refused."""

from __future__ import annotations

import pyarrow
import pytest

from optcomp import BudgetExceeded, HypothesisNotMet, InvalidInput, compose
from optcomp.interactive import BestFilter, Session, SumFilter, ZCDPFilter, concurrent, open_sessions, quotas
from optcomp.statistics import Count, Integers, Table


@pytest.fixture(autouse=True)
def _nothing_told_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test is a process of its own, as far as the order of answers goes."""
    monkeypatch.setattr(quotas, "RECORD", quotas.Record())


def table(**options: object) -> Table:
    return Table(pyarrow.table({"age": [1, 2, 3]}), {"age": Integers(0, 99)}, **options)  # type: ignore[arg-type]


def test_the_total_is_the_optimal_composition_of_the_quotas() -> None:
    sessions = open_sessions(table(), {f"analyst {i}": SumFilter("0.1") for i in range(50)})
    for session in sessions.values():
        session.ask(Count(), epsilon="0.1")
        with pytest.raises(BudgetExceeded):
            session.ask(Count(), epsilon="0.1")
    total = concurrent(sessions.values(), delta="1e-6")
    assert total.epsilon == compose({"0.1": 50}, delta="1e-6").epsilon < 4
    assert any("Lyu22-1" in note for note in total.notes)
    assert concurrent(sessions.values(), epsilon=3).delta == compose({"0.1": 50}, epsilon=3).delta


def test_it_is_about_quotas_and_not_about_what_is_spent() -> None:
    sessions = list(open_sessions(table(), {"a": SumFilter(1), "b": SumFilter(2)}).values())
    before = concurrent(sessions, delta=0).epsilon
    sessions[0].ask(Count(), epsilon="0.1")
    assert concurrent(sessions, delta=0).epsilon == before == 3


def test_other_notions() -> None:
    quotas = {"a": ZCDPFilter("0.1"), "b": BestFilter(1, "1e-7"), "c": SumFilter(1)}
    total = concurrent(open_sessions(table(), quotas).values(), delta="1e-6")
    assert total.epsilon == compose([quota.total for quota in quotas.values()], delta="1e-6").epsilon
    assert any("Lyu22-2" in note for note in total.notes)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_late_sessions_are_refused(order: tuple[int, int]) -> None:
    about = table()
    first = Session(about, SumFilter(1), name="first")
    first.ask(Count(), epsilon="0.1")
    late = Session(about, SumFilter(1), name="late")
    both = [first, late]
    with pytest.raises(HypothesisNotMet, match="'late' was opened after 'first' had answered"):
        concurrent([both[place] for place in order], delta=0)


def test_one_answer_of_any_of_them_is_too_early() -> None:
    about = table()
    early = open_sessions(about, {name: SumFilter(1) for name in "abc"})
    early["b"].ask(Count(), epsilon="0.1")
    late = Session(about, SumFilter(1), name="late")
    with pytest.raises(HypothesisNotMet):
        concurrent([*early.values(), late], delta=0)
    with pytest.raises(HypothesisNotMet, match="'late' was opened after 'b' had answered about table"):
        concurrent([early["a"], early["c"], late], delta=0)
    assert concurrent([early["a"], early["c"]], delta=0).epsilon == 2


def test_what_failed_counts_as_an_answer_and_what_was_refused_does_not() -> None:
    about = table()
    first = Session(about, SumFilter(1))
    with pytest.raises(BudgetExceeded):
        first.ask(Count(), epsilon=2)
    second = Session(about, SumFilter(1))
    assert concurrent([first, second], delta=0).epsilon == 2
    with pytest.raises(KeyboardInterrupt):
        second.pay("x", ["0.1"], _interrupted)
    with pytest.raises(HypothesisNotMet):
        concurrent([first, second, Session(about, SumFilter(1))], delta=0)


def _interrupted() -> None:
    raise KeyboardInterrupt


def test_a_delegate_is_covered_by_who_delegated() -> None:
    parent = Session(table(), SumFilter(1))
    child = parent.delegate(SumFilter("0.5"))
    with pytest.raises(HypothesisNotMet):
        concurrent([parent, child], delta=0)


def test_the_answer_may_be_about_another_table_of_the_same_people() -> None:
    """No session can tell who is in two tables, so any answer counts, unless both are declared to be about others."""
    for first, second, apart in (
        (None, None, False),
        (None, "adults", False),
        ("children", None, False),
        ("adults", "adults", False),
        ("children", "adults", True),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(quotas, "RECORD", quotas.Record())
            Session(table(population=first), SumFilter(1), name="early").ask(Count(), epsilon=1)
            late = open_sessions(table(population=second), {"a": SumFilter(1), "b": SumFilter(1)}).values()
            if apart:
                assert concurrent(late, delta=0).epsilon == 2
            else:
                with pytest.raises(HypothesisNotMet, match=r"'a' was opened after 'early' had .* population="):
                    concurrent(late, delta=0)
            Session(table(population=first), SumFilter(1)).ask(Count(), epsilon=1)  # another one changes nothing
    with pytest.raises(InvalidInput, match="population"):
        table(population=3)


def test_a_session_protects_a_row_or_a_person() -> None:
    """A person of 30 rows loses 30 times what a row loses."""
    rows = pyarrow.table({"who": [1] * 30, "other": [2] * 30, "age": [5] * 30})
    declared = {"age": Integers(0, 99)}
    row = Session(Table(rows, declared), SumFilter("0.1"), name="row")
    person = Session(Table(rows, declared, person="who", rows_per_person=30), SumFilter("0.1"), name="person")
    house = Session(Table(rows, declared, person="other", rows_per_person=30), SumFilter("0.1"), name="house")
    for pair in ((row, person), (person, row), (person, house)):
        names = "|".join(session.name for session in pair)
        with pytest.raises(HypothesisNotMet, match=f"'({names})' protects .* and '({names})' protects"):
            concurrent(pair, delta=0)
    few = Session(Table(rows, declared, person="who", rows_per_person=2), SumFilter("0.1"))
    assert concurrent([person, few], delta=0).epsilon == pytest.approx(0.2)  # all rows of a person, by both


def test_neighbours_must_be_the_same() -> None:
    """An ε for who comes or goes is no ε for who is exchanged."""
    sessions = [Session(table(), SumFilter(1)), Session(table(neighbours="replace"), SumFilter(1))]
    with pytest.raises(HypothesisNotMet, match="neighbour"):
        concurrent(sessions, delta=0)


def test_bad_input() -> None:
    for wrong in ([], [SumFilter(1)]):
        with pytest.raises(InvalidInput):
            concurrent(wrong, delta=0)  # type: ignore[arg-type]
