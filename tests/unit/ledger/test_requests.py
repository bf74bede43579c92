"""What a slot tells of its requests, its budget and its batch, and how what was paid for is found again."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from optcomp.composition import compose
from optcomp.errors import InvalidInput
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.interactive import SparseVector
from optcomp.ledger import Account, Ledger, RequestState
from optcomp.statistics import Count, Question, Table
from tests.unit.ledger.people import people

SHARES = {"ada": ("1", "1e-7"), "ben": ("1/2", "0")}


@pytest.fixture
def account(tmp_path: Path) -> Account:
    """With a batch of two slots."""
    ledger = Ledger(tmp_path / "people.ledger")
    made = ledger.open("people", epsilon="3", delta="1e-6")
    made.cut(SHARES, delta="1e-7", name="first")
    return made


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """With a snapshot."""
    found = people()
    found.save(tmp_path / "people")
    return found


def test_a_slot_that_nobody_took_is_looked_at_for_nothing(account: Account) -> None:
    """It stays free."""
    slot = account.slot("ada")
    assert slot.holder() is None
    assert slot.requests() == ()
    assert slot.remaining(PureDP("3/10")).count == 3
    assert slot.budget.spent.epsilon == 0
    with pytest.raises(InvalidInput, match="is no request"):
        slot.request(1)
    assert slot.state == "free"


def test_requests_are_told_as_they_were_made(account: Account, table: Table) -> None:
    """With keys that were given, what was paid, and what was stored."""
    slot, question = account.slot("ada"), Question(Count(), epsilon="1/10")
    session = slot.session(table)
    one, other = session.ask_stored(question, key="mine"), session.ask_stored(question, repeat=1)
    views = slot.requests()
    assert [view.id for view in views] == [one.id, other.id]
    assert [view.key for view in views] == ["mine", None]
    assert [view.paid for view in views] == [(PureDP(Fraction(1, 10)),)] * 2
    assert [view.receipt for view in views] == [one.receipt, other.receipt]
    assert [view.answer for view in views] == [one.answer, other.answer]
    assert views[0].form["question"] == question.document()
    assert {view.state for view in views} == {RequestState.ANSWERED}
    assert not any(view.running for view in views)
    assert slot.requests(after=one.id) == views[1:]
    assert slot.requests(most=1) == views[:1]
    assert slot.remaining().amounts["epsilon"] == (Fraction(4, 5), Fraction(1))
    assert json.loads(one.answer)["amounts"] == [[str(session.ask(question, key="mine").amounts[0][0])]]
    account.slot("ben").session(table).ask(Count(), epsilon="1/10")
    with pytest.raises(InvalidInput, match="is no request of 'ben'"):
        account.slot("ben").request(one.id)


def test_a_batch_is_proved_again(account: Account) -> None:
    """Its slots compose to no more than what was debited."""
    batch = account.slot("ben").batch()
    assert batch is not None
    assert (batch.name, dict(batch.shares)) == ("first", {name: ApproxDP(*pair) for name, pair in SHARES.items()})
    assert batch.bound().upper == compose([ApproxDP(*pair) for pair in SHARES.values()], delta="1e-7").upper
    assert Fraction(batch.bound().upper) <= Fraction(batch.whole.epsilon)
    parts = account.slot("ben").split({"eve": "1/4", "dan": "1/4"})
    assert parts["eve"].batch() == batch


def test_mechanisms_and_plans_are_found_by_their_numbers(account: Account, table: Table) -> None:
    """And go on; what is something else is refused."""
    session = account.slot("ada").session(table)
    run = session.open(SparseVector(50, epsilon="1/10", positives=1, sensitivity=1, monotone=True))
    plan = session.commit([Question(Count(), epsilon="1/100")] * 3)
    spent = session.budget.spent.epsilon
    first = run.ask(Count())
    again = session.run(run.request)
    assert again.ask(Count()) == first
    assert again.asked == run.asked == 1
    answer = plan.answer(2)
    assert session.plan(plan.request).answer(2).amounts == answer.amounts
    assert session.plan(plan.request).bound.upper == plan.bound.upper
    assert session.budget.spent.epsilon == spent
    for find, number in ((session.run, plan.request), (session.plan, run.request), (session.run, 10**9)):
        with pytest.raises(InvalidInput, match="request"):
            find(number)
    with pytest.raises(InvalidInput, match="whole number"):
        plan.answer(True)
