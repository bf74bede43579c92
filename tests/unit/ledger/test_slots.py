"""Slots: certified together, taken once, split by sums, handed on, and never grown."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp import ApproxDP, BudgetExceeded, HypothesisNotMet, InvalidInput, compose
from optcomp.interactive import SumFilter, ZCDPFilter
from optcomp.ledger import Account, Ledger, SlotState
from optcomp.statistics import Count
from tests.unit.ledger.people import kinds, people, spent

Place = tuple[str, Path]


@pytest.fixture
def opened(ledger_place: Place) -> Any:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        yield ledger


@pytest.fixture
def account(opened: Ledger) -> Account:
    return opened.open("people", epsilon="3", delta="1e-6")


def test_a_batch_is_one_request_at_its_optimal_composition(account: Account) -> None:
    shares: dict[str, Any] = {f"analyst {number}": "0.05" for number in range(20)}
    slots = account.cut(shares, delta="1e-7")
    best = compose([ApproxDP("0.05", 0)] * 20, delta="1e-7").upper
    assert best < 1
    assert Fraction(best) <= spent(account) < Fraction(best) + Fraction(1, 10**29)
    assert account.budget.spent.delta == Fraction(1, 10**7)
    assert account.budget.admitted == 1
    assert [slot.epsilon for slot in slots.values()] == [Fraction(1, 20)] * 20
    assert [slot.name for slot in account.slots] == list(shares)


def test_a_batch_may_be_given_more_and_not_less(account: Account) -> None:
    account.cut({"a": "0.25", "b": ("0.25", "1e-8")}, delta="2e-8", epsilon="0.6")
    assert (spent(account), account.budget.spent.delta) == (Fraction(3, 5), Fraction(2, 10**8))
    before = account.budget
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        account.cut({"c": "0.25", "d": "0.25"}, delta=0, epsilon="0.4", name="second")
    with pytest.raises(InvalidInput, match="too small for these slots"):
        account.cut({"c": ("0.25", "1e-3")}, delta="1e-4", name="second")
    assert account.budget == before


def test_a_slot_is_taken_once(opened: Ledger, account: Account) -> None:
    slot = account.cut({"ada": "1/4"}, delta=0)["ada"]
    paid = spent(account)
    session = slot.session(people())
    session.ask(Count(), epsilon="1/4")
    with pytest.raises(BudgetExceeded):
        session.ask(Count(), epsilon="1e-9")
    assert spent(account) == paid == Fraction(1, 4)
    assert slot.state == SlotState.TAKEN
    assert slot.session(people()).name == "ada"  # the same again
    for call in (
        lambda: slot.session(people(), name="another"),
        lambda: slot.split({"c": "1/8"}),
        lambda: slot.hand_on("bob"),
    ):
        head = opened.head
        with pytest.raises(InvalidInput, match="is taken, or was split"):
            call()
        assert opened.head == head


def test_two_who_take_a_slot_at_once(account: Account) -> None:
    slot = account.cut({"ada": "1/4"}, delta=0)["ada"]
    table = people()

    def take(number: int) -> bool:
        try:
            slot.session(table, name=f"taker {number}")
        except InvalidInput:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(8))) == 1
    assert len(account.sessions()) == 1


def test_parts_add_up_to_no_more(account: Account) -> None:
    slot = account.cut({"whole": ("0.3", "1e-8")}, delta="1e-8")["whole"]
    paid = account.budget
    too_much: list[Any] = [{"a": "0.1", "b": "0.2000000001"}, {"a": ("0.1", "1e-8"), "b": ("0.1", "1e-20")}]
    for given in too_much:
        with pytest.raises(BudgetExceeded, match="nothing was changed"):
            slot.split(given)
    parts = slot.split({"a": "0.1", "b": ("0.2", "1e-8")})
    assert {name: (part.epsilon, part.delta) for name, part in parts.items()} == {
        "a": (Fraction(1, 10), 0),
        "b": (Fraction(1, 5), Fraction(1, 10**8)),
    }
    assert slot.state == SlotState.SPLIT
    with pytest.raises(InvalidInput):
        slot.session(people())
    parts["b"].split({"c": "0.2"})["c"].session(people()).ask(Count(), epsilon="0.2")
    assert account.budget == paid


def test_a_slot_is_handed_on(account: Account) -> None:
    slot = account.cut({"ada": "1/4"}, delta=0)["ada"]
    other = slot.hand_on("bob")
    assert (other.name, other.epsilon) == ("bob", Fraction(1, 4))
    assert account.slot("bob").state == SlotState.FREE
    with pytest.raises(InvalidInput, match="is no slot"):
        account.slot("ada")
    assert other.session(people()).name == "bob"


def test_names_are_used_once(account: Account) -> None:
    slot = account.cut({"a": "1/8", "b": "1/8"}, delta=0)["a"]
    before = account.budget
    with pytest.raises(InvalidInput, match="another batch of such a name"):
        account.cut({"c": "1/8"}, delta=0)  # a second batch of this name
    for call in (
        lambda: account.cut({"a": "1/8"}, delta=0, name="second"),
        lambda: slot.split({"b": "1/8"}),
        lambda: slot.hand_on("b"),
    ):
        with pytest.raises(InvalidInput, match="of such a name"):
            call()
    assert account.budget == before
    assert slot.state == SlotState.FREE


def test_a_session_in_a_slot_has_no_more_than_the_slot(account: Account) -> None:
    slot = account.cut({"ada": "1/4"}, delta=0)["ada"]
    with pytest.raises(InvalidInput, match="is more than slot"):
        slot.session(people(), SumFilter("0.26"))
    with pytest.raises(InvalidInput, match="is more than slot"):
        slot.session(people(), SumFilter("0.25", "1e-9"))
    with pytest.raises(HypothesisNotMet, match="use a SumFilter"):
        slot.session(people(), ZCDPFilter("0.001"))
    session = slot.session(people(), SumFilter("0.2"))
    assert session.quota.total == ApproxDP("0.2", 0)


def test_a_slot_is_in_the_unit_of_its_account(opened: Ledger) -> None:
    """ε = 1/4 for a person added is 1/2 where one is replaced: it fits in a slot of 1/2, and not in one of 1/4."""
    account = opened.open("replaced", SumFilter(1), neighbours="replace", person=False)
    slots = account.cut({"small": "1/4", "large": "1/2"}, delta=0)
    with pytest.raises(InvalidInput, match="in the unit of its account"):
        slots["small"].session(people())
    slots["large"].session(people(), SumFilter("1/4"))
    slots["small"].session(people(neighbours="replace"))


def test_plans_are_committed_by_their_digests(account: Account) -> None:
    digests = ["ab" * 32, "cd" * 32]
    bound, slots = account.commit_plans({digest: ApproxDP("1/4", 0) for digest in digests}, delta=0)
    assert bound.upper == 0.5
    assert [slot.plan for slot in slots.values()] == digests
    assert spent(account) == Fraction(1, 2)


def test_what_are_no_slots_is_refused(opened: Ledger, account: Account) -> None:
    for slots in ({}, [("a", 1)], {"": "0.1"}, {"a": "-0.1"}, {"a": ("0.1", 2)}, {"a\n": "0.1"}):
        with pytest.raises(InvalidInput):
            account.cut(slots, delta=0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        account.cut({"a": "0.1"}, delta=0, name="")
    assert kinds(opened) == ["created", "opened"]
