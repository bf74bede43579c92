"""Accounts: exact budgets, releases that are entered afterwards, caps that are lowered, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp import ZCDP, ApproxDP, BudgetExceeded, InvalidInput, PureDP
from optcomp.interactive import BestFilter, Offer, Refused, SumFilter, ZCDPFilter
from optcomp.ledger import Account, AccountState, BudgetClosed, Ledger, RequestState
from optcomp.theorems import bbg18
from tests.unit.ledger.people import kinds, people, spent

Place = tuple[str, Path]


@pytest.fixture
def ledger(ledger_place: Place) -> Any:
    with Ledger(ledger_place[0], private=ledger_place[1]) as opened:
        yield opened


def released(account: Account, key: str, *offers: Any, run: Callable[[], str] = lambda: "{}") -> Any:
    given = [offer if isinstance(offer, tuple) else (offer,) for offer in offers]
    return account.release(key=key, what=key, form={"of": key}, offers=given, run=run, declared=people())


def test_an_account_is_found_again(ledger: Ledger) -> None:
    account = ledger.open("survey", epsilon="3", delta="1e-6")
    assert isinstance(account.budget, BestFilter)
    assert account.budget.total == ApproxDP("3", "1e-6")
    assert account.budget.delta_parts == Fraction(1, 2 * 10**6)
    again = ledger.open("survey", epsilon="3", delta="1e-6")
    assert (again.name, again.ledger_id, again.state) == ("survey", ledger.id, AccountState.OPEN)
    assert [each.name for each in ledger.accounts()] == ["survey"]
    assert ledger.account("survey").budget.document() == account.budget.document()
    assert kinds(ledger) == ["created", "opened"]


def test_an_account_without_a_delta_adds_up(ledger: Ledger) -> None:
    assert ledger.open("pure", epsilon="1/3").budget.document() == SumFilter(Fraction(1, 3)).document()


def test_budgets_are_exact(ledger: Ledger) -> None:
    """A tenth fits ten times into one, and not once more; ten floats of a tenth are more than one."""
    account = ledger.open("tenths", SumFilter(1))
    for number in range(10):
        released(account, f"{number}", PureDP("0.1"))
    assert spent(account) == 1
    with pytest.raises(BudgetExceeded):
        released(account, "more", PureDP("1e-30"))
    assert spent(account) == 1
    floats = ledger.open("floats", SumFilter(1), disjoint=True)
    for number in range(9):
        released(floats, f"{number}", PureDP(0.1))
    rounded = Fraction(-(-Fraction(0.1).numerator * 10**30 // Fraction(0.1).denominator), 10**30)
    assert Fraction(0.1) < rounded
    assert spent(floats) == 9 * rounded
    with pytest.raises(BudgetExceeded, match="write such numbers as decimal strings"):
        released(floats, "tenth", PureDP(0.1))


def test_amounts_are_rounded_up_when_they_enter(ledger: Ledger) -> None:
    account = ledger.open("thirds", SumFilter(1))
    for number in range(2):
        released(account, f"{number}", PureDP(Fraction(1, 3)))
    third = Fraction(10**30 // 3 + 1, 10**30)
    assert spent(account) == 2 * third
    with pytest.raises(BudgetExceeded):  # three thirds are a little more than one
        released(account, "third", PureDP(Fraction(1, 3)))


def test_a_refusal_changes_nothing(ledger: Ledger) -> None:
    account = ledger.open("small", SumFilter(1))
    released(account, "first", PureDP("0.7"))
    before, head = account.budget, ledger.head
    for _ in range(2):
        with pytest.raises(BudgetExceeded):
            released(account, "large", PureDP("0.4"), run=lambda: pytest.fail("it ran"))
    assert (account.budget, ledger.head) == (before, head)
    released(account, "large", PureDP("0.3"))
    assert account.remaining(PureDP("0.1")).count == 0


def test_the_cheapest_offer_is_taken(ledger: Ledger) -> None:
    """(1, 10^-7) is ρ = 1/2 and a δ; its Gaussian noise alone has ρ = 1/50 and no δ."""
    account = ledger.open("best", epsilon="3", delta="1e-6")
    released(account, "offers", ApproxDP(1, "1e-7"), ZCDP("1/50"))
    assert (account.budget.spent.rho, account.budget.spent.delta) == (Fraction(1, 50), Fraction(0))
    (total,) = [each for each in account.totals() if each.theorem != "RRUV16"]
    assert 0 < total.epsilon < 3


def test_what_a_release_would_take_is_what_it_takes(ledger: Ledger) -> None:
    """Foreseen, nothing changes; then the same offer is paid, and the same state is left."""
    account = ledger.open("best", epsilon="3", delta="1e-6")
    offers: list[Offer] = [(ApproxDP(1, "1e-7"),), (ZCDP("1/50"),)]
    head = ledger.head
    found = account.foreseen(offers, people())
    assert ledger.head == head
    assert not isinstance(found, Refused)
    taken, paid = found
    assert paid == (ZCDP("1/50"),)
    assert account.request("it") is None
    released(account, "it", *offers)
    assert account.budget.document() == taken.state.document()
    view = account.request("it")
    assert view is not None
    assert (view.kind, view.state, view.paid) == ("release", RequestState.ANSWERED, (ZCDP("1/50"),))
    more = account.foreseen([(PureDP(4),)], people())
    assert isinstance(more, Refused)
    with pytest.raises(BudgetExceeded, match=re.escape(more.reason)):
        released(account, "more", PureDP(4))
    entered(account, "past", PureDP(9))
    with pytest.raises(BudgetClosed):
        account.foreseen(offers, people())


def test_a_release_is_run_once(ledger: Ledger) -> None:
    account, ran = ledger.open("once", SumFilter(1)), []

    def run() -> str:
        ran.append(1)
        return json.dumps(len(ran))

    first, again = (released(account, "key", PureDP("0.5"), run=run) for _ in range(2))
    assert (first.answer, again.answer, ran) == ("1", "1", [1])
    assert first.receipt == again.receipt
    assert spent(account) == Fraction(1, 2)
    with pytest.raises(InvalidInput, match="was used for something else"):
        account.release(
            key="key", what="other", form={"of": "other"}, offers=[(PureDP("0.1"),)], run=run, declared=people()
        )


def entered(account: Account, key: str, *offers: Any) -> Any:
    return account.enter(key=key, what=key, offers=[(offer,) for offer in offers], declared=people())


def test_a_release_that_has_happened_is_always_entered(ledger: Ledger) -> None:
    account = ledger.open("late", SumFilter(1))
    first = entered(account, "a", PureDP("0.6"))
    assert entered(account, "a", PureDP("0.6")) == first
    assert (spent(account), account.state) == (Fraction(3, 5), AccountState.OPEN)
    entered(account, "b", PureDP("0.5"))
    assert (spent(account), account.state) == (Fraction(3, 5), AccountState.OVERDRAWN)
    entered(account, "c", PureDP("0.2"))
    assert {total.exactly for total in account.totals() if total.theorem == "RRUV16"} == {Fraction(13, 10)}
    for call in (
        lambda: released(account, "d", PureDP("0.01")),
        lambda: account.session(people(), SumFilter("0.01")),
        lambda: account.cut({"a": "0.01"}, delta=0),
    ):
        with pytest.raises(BudgetClosed, match="overdrawn"):
            call()


def test_what_has_no_price_is_entered_all_the_same(ledger: Ledger) -> None:
    account = ledger.open("pure", SumFilter(1))
    entered(account, "gaussian", ZCDP("1/50"))
    assert account.state == AccountState.OVERDRAWN
    assert all(total.theorem != "RRUV16" for total in account.totals())


def test_a_key_of_something_else_is_not_taken_for_a_release(ledger: Ledger) -> None:
    account = ledger.open("keys", SumFilter(1))
    account.session(people(), SumFilter("0.1"), name="ada")
    with pytest.raises(InvalidInput, match="must not begin with"):
        entered(account, "session ada", PureDP("0.6"))
    assert spent(account) == Fraction(1, 10)


def test_a_cap_is_lowered_and_never_raised(ledger: Ledger) -> None:
    account = ledger.open("cap", SumFilter(1))
    account.lower(SumFilter(2))  # nothing was answered yet
    released(account, "a", PureDP("0.4"))
    for other in (SumFilter("2.1"), SumFilter("0.3"), ZCDPFilter("0.1")):
        with pytest.raises(InvalidInput):
            account.lower(other)
    account.lower(SumFilter("0.5"))
    with pytest.raises(BudgetExceeded):
        released(account, "b", PureDP("0.2"))
    released(account, "b", PureDP("0.1"))
    assert spent(account) == Fraction(1, 2)
    with pytest.raises(InvalidInput, match="is not the budget"):
        ledger.open("cap", SumFilter(1))
    ledger.open("cap", SumFilter("0.5"))


def test_other_people_must_be_other_people(ledger: Ledger) -> None:
    ledger.open("first", epsilon=1)
    with pytest.raises(InvalidInput, match="may anybody of 'second' be in 'first' too"):
        ledger.open("second", epsilon=1)
    with pytest.raises(InvalidInput, match="share that account"):
        ledger.open("second", epsilon=1, disjoint=False)
    ledger.open("second", epsilon=1, disjoint=True)
    assert [account.name for account in ledger.accounts()] == ["first", "second"]


def test_a_sample_is_told_from_outside(ledger: Ledger) -> None:
    account = ledger.open("sample", epsilon=1, sample=(100, 10_000))
    total = ApproxDP(1, 0)
    assert account.outside(total) == bbg18.outside(total, 100, 10_000)
    assert ledger.open("whole", epsilon=1, disjoint=True).outside(total) is None


BAD: dict[str, Callable[[Ledger], object]] = {
    "no such account": lambda ledger: ledger.account("nobody"),
    "empty name": lambda ledger: ledger.open("", epsilon=1),
    "long name": lambda ledger: ledger.open("x" * 201, epsilon=1),
    "unprintable": lambda ledger: ledger.open("a\nb", epsilon=1),
    "no text": lambda ledger: ledger.open(7, epsilon=1),  # type: ignore[arg-type]
    "delta alone": lambda ledger: ledger.open("a", delta="1e-6"),
    "both": lambda ledger: ledger.open("a", SumFilter(1), epsilon=1),
    "no filter": lambda ledger: ledger.open("a", 3),  # type: ignore[arg-type]
    "spent": lambda ledger: ledger.open("a", SumFilter(1).admit(PureDP("0.1")).state),  # type: ignore[union-attr]
    "useless": lambda ledger: ledger.open("a", SumFilter(0)),
    "tiny": lambda ledger: ledger.open("a", SumFilter("1e-12")),
    "neighbours": lambda ledger: ledger.open("a", epsilon=1, neighbours="both"),  # type: ignore[arg-type]
}


def test_what_is_no_account_is_refused(ledger: Ledger) -> None:
    for call in BAD.values():
        with pytest.raises(InvalidInput):
            call(ledger)
    assert kinds(ledger) == ["created"]


def test_another_budget_is_refused(ledger: Ledger) -> None:
    ledger.open("one", SumFilter(1))
    for other in (SumFilter(2), ZCDPFilter(1), BestFilter(1, "1e-6")):
        with pytest.raises(InvalidInput, match="is not the budget of account 'one'"):
            ledger.open("one", other)
