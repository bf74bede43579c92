"""What an account protects: decided once, converted by GROUP, or refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp import ZCDP, ApproxDP, BudgetExceeded, HypothesisNotMet, InvalidInput, PureDP
from optcomp.interactive import BestFilter, Session, SumFilter, open_sessions
from optcomp.ledger import Ledger, Unit
from optcomp.statistics import Count, Table
from tests.unit.ledger.people import kinds, people, spent

Place = tuple[str, Path]


@pytest.fixture
def ledger(ledger_place: Place) -> Any:
    with Ledger(ledger_place[0], private=ledger_place[1]) as opened:
        yield opened


def test_the_first_table_decides(ledger: Ledger) -> None:
    account = ledger.open("people", SumFilter(1))
    assert "None" in str(account.unit)
    account.session(people(person="who", rows_per_person=2), SumFilter("0.1"), name="ada")
    assert account.unit == Unit("add-remove", "person")
    assert str(account.unit) == "all rows of a person (add-remove)"
    with pytest.raises(HypothesisNotMet, match="each row by itself"):
        account.session(people(), SumFilter("0.1"), name="bob")
    assert spent(account) == Fraction(1, 10)
    assert kinds(ledger).count("unit") == 1


def test_what_is_refused_decides_nothing(ledger: Ledger) -> None:
    account = ledger.open("people", SumFilter(1))
    head, rows = ledger.head, people()
    made: Any = {"key": "r", "what": "r", "form": {}, "run": lambda: "1", "declared": rows}
    with pytest.raises(BudgetExceeded):
        account.session(rows, SumFilter(2), name="ada")
    with pytest.raises(BudgetExceeded):
        account.release(offers=[(PureDP(2),)], **made)
    assert "None" in str(account.unit)
    assert ledger.head == head
    persons = people(person="who", rows_per_person=2)
    account.release(offers=[(PureDP("0.1"),)], **made | {"declared": persons})
    assert account.unit == Unit("add-remove", "person")
    assert kinds(ledger)[-3:] == ["unit", "reserved", "answered"]
    with pytest.raises(HypothesisNotMet, match="each row by itself"):
        account.release(offers=[(PureDP("0.1"),)], **made | {"key": "s"})
    assert spent(account) == Fraction(1, 10)
    assert ledger.verify().ok


def test_plans_decide_together_with_their_debit(ledger: Ledger) -> None:
    account, unit = ledger.open("people", SumFilter(1)), Unit("add-remove", "row")
    assert account.unit_for(people()) == unit
    with pytest.raises(BudgetExceeded):
        account.commit_plans({"ab" * 32: ApproxDP(2, 0)}, delta=0, unit=unit)
    assert "None" in str(account.unit)
    account.commit_plans({"ab" * 32: ApproxDP("1/4", 0)}, delta=0, unit=unit)
    assert account.unit == unit
    with pytest.raises(InvalidInput, match="since a moment ago"):
        account.commit_plans({"cd" * 32: ApproxDP("1/4", 0)}, delta=0, name="b", unit=Unit("replace", "row"))
    assert spent(account) == Fraction(1, 4)
    assert ledger.verify().ok


def test_the_owner_decides(ledger: Ledger) -> None:
    account = ledger.open("people", SumFilter(1), neighbours="replace", person=False)
    assert account.unit == Unit("replace", "row")
    assert "unit" not in kinds(ledger)
    assert ledger.open("others", SumFilter(1), person=True, disjoint=True).unit == Unit("add-remove", "person")


def test_what_is_private_for_a_person_added_counts_twice_for_one_replaced(ledger: Ledger) -> None:
    account = ledger.open("people", BestFilter(3, "1e-6", "5e-7"), neighbours="replace", person=False)
    account.session(people(), SumFilter("0.1"), name="ada")
    assert (spent(account), account.budget.spent.rho) == (Fraction(1, 5), Fraction(1, 50))
    account.session(people(neighbours="replace"), SumFilter("0.1"), name="bob")
    assert spent(account) == Fraction(3, 10)
    account.enter(key="r", what="r", offers=[(ZCDP("1/100"),)], declared=people())
    assert account.budget.spent.rho == Fraction(1, 50) + Fraction(1, 200) + Fraction(4, 100)


def test_a_delegate_is_about_the_table_of_its_session(ledger: Ledger) -> None:
    """The session has paid for the other unit; what it hands on is in its own."""
    account = ledger.open("people", SumFilter(3), neighbours="replace", person=False)
    session = account.session(people(), SumFilter(1))
    session.delegate(SumFilter("0.25")).ask(Count(), epsilon="0.25")
    assert (spent(account), spent(session)) == (Fraction(2), Fraction(1, 4))


def test_a_pair_is_converted_too(ledger: Ledger) -> None:
    """(ε, δ) for one step is (2ε, (1 + e^ε) δ) for two."""
    account = ledger.open("people", SumFilter(1, "1e-3"), neighbours="replace", person=False)
    account.enter(key="r", what="r", offers=[(ApproxDP("0.1", "1e-5"),)], declared=people())
    assert spent(account) == Fraction(1, 5)
    at_least = Fraction("1e-5") * (2 + Fraction(1, 10) + Fraction(1, 200))
    assert at_least < account.budget.spent.delta < at_least * Fraction(1001, 1000)


def test_the_other_way_no_theorem_leads(ledger: Ledger) -> None:
    account = ledger.open("people", SumFilter(1), neighbours="add-remove", person=False)
    replaced = people(neighbours="replace")
    with pytest.raises(HypothesisNotMet, match="GROUP"):
        account.session(replaced, SumFilter("0.1"))
    with pytest.raises(HypothesisNotMet, match="GROUP"):
        account.enter(key="r", what="r", offers=[(PureDP("0.1"),)], declared=replaced)
    assert spent(account) == 0


def test_a_snapshot_names_its_ledger_and_account(ledger: Ledger, tmp_path: Path) -> None:
    table = people()
    table.save(tmp_path / "people.snapshot")
    account = ledger.open("people", SumFilter(1))
    account.session(table, SumFilter("0.1"), name="ada").ask(Count(), epsilon="0.1")
    other = ledger.open("others", SumFilter(1), disjoint=True)
    head = ledger.head
    with pytest.raises(InvalidInput, match="is debited from account 'people'"):
        other.session(table, SumFilter("0.1"))
    assert spent(other) == 0
    assert ledger.head == head
    with Ledger(tmp_path / "second.ledger") as second, pytest.raises(InvalidInput):
        second.open("people", SumFilter(1)).session(table, SumFilter("0.1"))
    account.session(table, SumFilter("0.1"), name="ada")


def test_a_snapshot_that_names_a_ledger_is_not_asked_in_memory(ledger: Ledger, tmp_path: Path) -> None:
    table = people()
    table.save(tmp_path / "people.snapshot")
    before = Session(table, SumFilter(1))  # nobody pays yet
    ledger.open("people", SumFilter(1)).session(table, SumFilter("0.1"), name="ada")
    where = f"is debited from account 'people' of ledger {ledger.id}; use `Ledger"
    for opened in (table, Table.open(tmp_path / "people.snapshot")):
        with pytest.raises(InvalidInput, match=where) as refused:
            Session(opened, SumFilter(1))
        assert (refused.value.argument, refused.value.value) == ("table", table.name)
        with pytest.raises(InvalidInput, match=where):
            open_sessions(opened, {"ada": SumFilter(1)})
    part = before.delegate(SumFilter("0.5"))  # its budget was there before
    part.ask(Count(), epsilon="0.5")
    assert spent(before) == Fraction(1, 2)
    Session(people(), SumFilter(1))  # rows that were not saved have no ledger
