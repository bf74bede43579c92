"""The rest of a ledger's life: slots, releases, caps, clocks, copies, backups; and what is true at every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from optcomp import BudgetExceeded, InvalidInput, OptcompError, PureDP
from optcomp.interactive import SumFilter
from optcomp.ledger import AccountState, BudgetClosed, Ledger, LedgerCopied
from optcomp.statistics import Count
from tests.campaign.ledger_checks import Rows, check_answers, check_chain, check_holders, check_slots
from tests.campaign.ledger_machine import Effect, Sessions, _best, amounts, crashes, filter_of, people, some
from tests.campaign.ledger_places import File, Place
from tests.oracles.budgets import Holder, Request, Slot, entered

DYADIC = [Fraction(1, 16), Fraction(1, 8), Fraction(1, 4)]
"""Sums of these are floats, so that the optimal composition of a few at δ = 0 is their exact sum."""


class LedgerMachine(Sessions):
    """Anything that owners, analysts, crashes, clocks and copies may do to a ledger."""

    # slots

    @rule(number=some, shares=st.lists(st.sampled_from(DYADIC), min_size=1, max_size=3), crash=crashes)
    def cut(self, number: int, shares: list[Fraction], crash: Any) -> None:
        account, first = self.account_at(number), len(self.slots)
        named = {f"slot {first + place}": eps for place, eps in enumerate(shares)}
        name, whole = f"{first}", sum(shares, Fraction(0))

        def enter() -> None:
            account.pay(whole)
            account.requests[f"batch {name}"] = Request(None, True)
            self.slots |= {each: Slot(eps, account=account.name) for each, eps in named.items()}

        fits = account.admits(whole)
        effects: list[Effect] = [("batch", enter)] if fits else []
        call = lambda: self.live(account).cut(named, delta=0, name=name)  # noqa: E731
        self.attempt(call, effects, crash, None if fits else BudgetExceeded)

    def slot_at(self, number: int) -> tuple[str, Slot, Holder] | None:
        if not self.slots:
            return None
        name, slot = list(self.slots.items())[number % len(self.slots)]
        return name, slot, self.accounts[slot.account]

    @rule(number=some, parts=st.lists(st.sampled_from(DYADIC), min_size=1, max_size=3), crash=crashes)
    def split(self, number: int, parts: list[Fraction], crash: Any) -> None:
        picked = self.slot_at(number)
        if picked is None:
            return
        (name, slot, account), first = picked, len(self.slots)
        named = {f"slot {first + place}": eps for place, eps in enumerate(parts)}

        def enter() -> None:
            slot.state = "split"
            self.slots |= {each: Slot(eps, account=account.name) for each, eps in named.items()}

        call = lambda: self.live(account).slot(name).split(named)  # noqa: E731
        if sum(parts) > slot.epsilon:
            self.attempt(call, [], crash, BudgetExceeded)
        elif slot.state != "free":
            self.attempt(call, [], crash, InvalidInput)
        else:
            self.attempt(call, [("split", enter)], crash)

    @rule(number=some, crash=crashes)
    def hand_on(self, number: int, crash: Any) -> None:
        picked = self.slot_at(number)
        if picked is None:
            return
        (name, slot, account), other = picked, f"slot {len(self.slots)} of somebody else"
        if other in self.slots:
            return

        def enter() -> None:
            del self.slots[name]
            self.slots[other] = slot

        call = lambda: self.live(account).slot(name).hand_on(other)  # noqa: E731
        free = slot.state == "free"
        self.attempt(call, [("handed on", enter)] if free else [], crash, None if free else InvalidInput)

    @rule(number=some, crash=crashes)
    def take(self, number: int, crash: Any) -> None:
        picked = self.slot_at(number)
        if picked is None:
            return
        name, slot, account = picked

        def enter() -> None:
            slot.state = "taken"
            account.sessions[name] = Holder(name, slot.epsilon, account=account, slot=name)
            account.requests[f"session {name}"] = Request(None, True)

        call = lambda: self.live(account).slot(name).session(people())  # noqa: E731
        if name in account.sessions:
            self.attempt(call, [], crash)
        elif slot.state == "free":
            self.attempt(call, [*self.unit(account), ("session", enter)], crash)
        else:
            self.attempt(call, self.unit(account), crash, InvalidInput)

    # releases and caps

    @rule(number=some, key=st.sampled_from(["release 1", "release 2"]), eps=amounts, crash=crashes)
    def enter(self, number: int, key: str, eps: Fraction, crash: Any) -> None:
        """A release that has happened elsewhere is recorded, past the cap too."""
        account, key = self.account_at(number), f"{key} of {eps}"  # under one key there is one cost

        def record() -> None:
            if account.admits(eps):
                account.pay(eps)
            else:
                account.open = False
                account.recorded += entered(eps)
            account.requests[key] = Request(None, True)

        def call() -> Any:
            return self.live(account).enter(key=key, what=key, offers=[(PureDP(eps),)], declared=people())

        new: list[Effect] = [] if key in account.requests else [("entered", record)]
        self.attempt(call, [*self.unit(account), *new], crash)

    @rule(number=some, eps=st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(1)]), crash=crashes)
    def lower(self, number: int, eps: Fraction, crash: Any) -> None:
        account = self.account_at(number)
        cap = None if account.rho_cap is None else _best(eps).cap
        changed = Holder(account.name, eps, cap, spent=account.spent, rho=account.rho)
        fits = eps <= account.epsilon and changed.share() <= 1

        def enter() -> None:
            account.epsilon, account.rho_cap = eps, cap

        call = lambda: self.live(account).lower(filter_of(changed))  # noqa: E731
        if fits or not account.admitted:
            self.attempt(call, [("cap", enter)], crash)
        else:
            self.attempt(call, [], crash, InvalidInput)

    # processes, clocks and copies

    @rule()
    def reopen(self) -> None:
        self.drop()

    @rule(seconds=st.sampled_from([-(10**7), -20, 5, 40, 10**7]))
    def jump(self, seconds: int) -> None:
        self.interruptions.clock.moved += seconds

    @rule(with_private=st.booleans())
    def copy(self, with_private: bool) -> None:
        """A copy answers what was answered, and debits nothing."""
        self.drop()
        with self.place.copy(with_private=with_private) as copied:
            self.check_copy(copied, self.all_holders())
        assert self.ledger.doubt is None

    @precondition(lambda self: isinstance(self.place, File) and self.backup is None)
    @rule()
    def back_up(self) -> None:
        assert isinstance(self.place, File)
        self.backup = self.ledger.head.sequence, self.place.backup()

    @precondition(lambda self: self.backup is not None)
    @rule()
    def restore(self) -> None:
        """An older state in the same file is known by the anchor; with the newest one back, everything goes on."""
        assert isinstance(self.place, File)
        assert self.backup is not None
        last = self.ledger.head.sequence
        newest = self.place.backup()
        self.drop()
        self.place.put(self.backup[1])
        with self.place.open() as restored:
            if self.backup[0] < last:
                self.check_copy(restored, [])
            else:
                assert restored.doubt is None
        self.place.put(newest)
        self.backup = None
        assert self.ledger.doubt is None

    @rule(wrong=st.booleans())
    def adopt_copy(self, wrong: bool) -> None:
        """Who knows the last head goes on with a copy that has it; another head is refused, and changes nothing."""
        last = self.ledger.head.head
        self.drop()
        with self.place.copy(with_private=True) as copied:
            adopt = copied.adopt
            if wrong:
                _must_refuse(lambda: adopt("0" * 64), OptcompError)
                self.check_copy(copied, [])
                return
            adopt(last)
            assert copied.doubt is None
            copied.open("another", epsilon=1, disjoint=True)
            assert copied.verify().findings == ()

    @precondition(lambda self: self.backup is not None)
    @rule()
    def adopt_backup(self) -> None:
        """A backup that lacks entries is adopted as spent, or not at all; meanwhile the original is the copy."""
        assert isinstance(self.place, File)
        assert self.backup is not None
        last, newest = self.ledger.head, self.place.backup()
        if self.backup[0] == last.sequence:
            return
        self.drop()
        anchor = (self.place.private / "anchor").read_bytes()
        self.place.put(self.backup[1])
        with self.place.open() as restored:
            adopt = restored.adopt
            _must_refuse(lambda: adopt(last.head), OptcompError)
            adopt(last.head, take_as_spent=True)
            for account in restored.accounts():
                assert account.state == AccountState.SPENT
                with_session = lambda account=account: account.session(  # noqa: E731
                    people(), SumFilter("1/1000"), name="adopted"
                )
                _must_refuse(with_session, BudgetClosed)
            assert restored.verify().findings == ()
        self.place.put(newest)
        with self.place.open() as original:
            self.check_copy(original, [])
        (self.place.private / "anchor").write_bytes(anchor)
        self.backup = None
        assert self.ledger.doubt is None

    def check_copy(self, ledger: Ledger, holders: list[Holder]) -> None:
        before = ledger.head
        assert ledger.doubt is not None
        for account in ledger.accounts():
            with_release = lambda account=account: account.enter(  # noqa: E731
                key="copied", what="copied", offers=[(PureDP("1/1000"),)], declared=people()
            )
            _must_refuse(with_release)
        _must_refuse(lambda: ledger.open("another", epsilon=1, disjoint=True))
        for holder in holders:
            if not holder.is_account:
                self.check_copied_session(self.found(ledger, holder), holder)
        assert ledger.head == before

    def check_copied_session(self, session: Any, holder: Holder) -> None:
        for key, request in holder.requests.items():
            given = key.removeprefix("key ")
            if request.told is None:
                continue
            if request.form[0] == "code":
                assert session.pay("code", [PureDP(request.form[1])], lambda: 0, key=given) == request.told
            else:
                own = None if key.startswith("question") else given
                eps, repeat = request.form[1:]
                assert session.ask(Count(), epsilon=eps, repeat=repeat, key=own).value == request.told
        if holder.admits(Fraction(1, 10**6)):
            _must_refuse(lambda: session.ask(Count(), epsilon="0.000001", repeat=9))

    # what is true at every step

    @invariant()
    def tables(self) -> None:
        rows = Rows.of(self.ledger)
        check_chain(rows)
        check_answers(rows)
        asks = Counter[int]()
        for run in self.runs:
            asks[id(run.session)] += len(run.told)
        check_holders(rows, self.accounts, asks)
        check_slots(rows, self.slots)
        assert self.ledger.doubt is None


def _must_refuse(call: Callable[[], object], error: type[OptcompError] = LedgerCopied) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError("a copy debited, or was adopted")


def machine(place_of: Callable[[], Place], broken: Callable[[ExitStack], None] | None = None) -> type[LedgerMachine]:
    """The machine for ledgers in such places, broken or not."""
    entries = {"place_of": staticmethod(place_of), "broken": None if broken is None else staticmethod(broken)}
    return type("LedgerMachine", (LedgerMachine,), entries)
