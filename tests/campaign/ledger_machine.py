"""Random histories of a ledger, with crashes at every point of a write, against a model that adds up fractions.

The model says which entries each call appends to the chain, in which order, and what each of them changes.  A call that
is killed has done what was committed until then: that much of it, and no more, must be true of the tables afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

import pyarrow
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from optcomp import BudgetExceeded, InvalidInput, MechanismClosed, MechanismFailed, OptcompError, PureDP
from optcomp.interactive import BestFilter, Filter, SparseVector, SumFilter
from optcomp.ledger import Account, DurableRun, DurableSession, Ledger
from optcomp.ledger.chain import canonical, digest
from optcomp.statistics import Count, Integers, Question, Table
from tests.campaign.interruptions import POINTS, Interruptions, Killed
from tests.campaign.ledger_places import File, Place
from tests.oracles.budgets import Holder, Request, Slot

AMOUNTS = [Fraction(1, 100), Fraction(1, 30), Fraction(1, 17), Fraction(1, 10), Fraction(1, 7), Fraction(1, 3)]
"""What requests cost; most are no finite decimals, so that they are rounded up when they enter."""
CAPS = [Fraction(1, 2), Fraction(2)]
"""What accounts have."""
QUOTAS = [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)]
"""What sessions have."""
GONE = object()
"""What a call comes to that was killed."""
Effect = tuple[str, Callable[[], object]]
"""The kind of an entry in the chain, and what it changes in the model."""

crashes = st.one_of(st.none(), st.none(), st.tuples(st.integers(1, 2), st.sampled_from(POINTS)))
amounts = st.sampled_from(AMOUNTS)
some = st.integers(0, 60)
keys = st.sampled_from([None, "one", "two"])


@cache
def people() -> Table:
    return Table(pyarrow.table({"age": list(range(40))}), {"age": Integers(0, 99)}, name="people")


def filter_of(holder: Holder) -> Filter:
    return SumFilter(holder.epsilon) if holder.rho_cap is None else _best(holder.epsilon)


def _best(eps: Fraction) -> BestFilter:
    return BestFilter(eps, "1e-6", "5e-7")


class Run:
    """A sparse vector: what it told, by question and repeat; `GONE` if that was stored and never seen."""

    def __init__(self, session: Holder, spec: SparseVector, repeat: int) -> None:
        self.session, self.spec, self.repeat = session, spec, repeat
        self.told: dict[tuple[int, int], Any] = {}


class Sessions(RuleBasedStateMachine):
    """Accounts, sessions and mechanisms, and the model of them."""

    place_of: ClassVar[Callable[[], Place]] = File
    broken: ClassVar[Callable[[ExitStack], None] | None] = None
    """Makes the ledger wrong, for tests of the machine itself."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts: dict[str, Holder] = {}
        self.units: set[str] = set()
        self.slots: dict[str, Slot] = {}
        self.runs: list[Run] = []
        self.backup: tuple[int, bytes] | None = None
        self.ran = 0
        self._stack = ExitStack()
        self.interruptions = Interruptions()
        if type(self).broken is not None:
            type(self).broken(self._stack)  # type: ignore[misc]
        self._stack.enter_context(self.interruptions.installed())
        self.place = type(self).place_of()
        self._stack.callback(self.place.clear)
        self._ledger: Ledger | None = None
        self._objects: dict[int, Any] = {}

    def teardown(self) -> None:
        try:
            if sys.exception() is None:  # a history that failed says why itself
                assert self.ledger.verify().findings == ()
        finally:
            self.drop()
            self._stack.close()

    # what is open

    @property
    def ledger(self) -> Ledger:
        if self._ledger is None:
            self._ledger = self.place.open()
        return self._ledger

    def drop(self) -> None:
        """All objects are gone, as after the end of the process."""
        self._objects = {}
        if self._ledger is not None:
            self._ledger.close()
        self._ledger = None

    def live(self, holder: Holder) -> Any:
        """The account or session in the ledger: found again by its name."""
        if id(holder) not in self._objects:
            self._objects[id(holder)] = self.found(self.ledger, holder)
        return self._objects[id(holder)]

    def found(self, ledger: Ledger, holder: Holder) -> Any:
        account = holder.account
        if account is None:
            return ledger.account(holder.name)
        if holder.slot is not None:
            return ledger.account(account.name).slot(holder.slot).session(people())
        parent = next(each for each in account.all() if holder in each.sessions.values())
        above: Account | DurableSession = self.found(ledger, parent)
        budget = filter_of(holder)
        if isinstance(above, Account):
            return above.session(people(), budget, name=holder.name)
        return above.delegate(budget, name=holder.name)

    def run_of(self, run: Run) -> DurableRun:
        found: DurableRun = self.live(run.session).open(run.spec, repeat=run.repeat)
        return found

    # the model

    def attempt(
        self,
        call: Callable[[], Any],
        effects: Sequence[Effect] = (),
        crash: tuple[int, str] | None = None,
        refused: type[OptcompError] | None = None,
    ) -> Any:
        """Call, and see that the ledger writes the effects in their order; `refused` is how it must end, if so."""
        error: OptcompError | None = None
        found: Any = GONE
        with self.interruptions.armed(crash):
            try:
                found = call()
            except Killed:
                found = GONE
            except OptcompError as raised:
                error = raised
        committed = self.interruptions.committed
        killed = found is GONE and error is None
        assert committed == [kind for kind, _ in effects][: len(committed) if killed else None]
        for _, effect in list(effects)[: len(committed)]:
            effect()
        if killed:
            assert crash is None or len(committed) == crash[0] - (crash[1] == POINTS[0])
            self.drop()
        elif error is not None and (refused is None or not isinstance(error, refused)):
            raise AssertionError(f"{refused} was due") from error
        else:
            assert (error is None) == (refused is None), f"{found!r} where {refused} was due"
        return found

    def perform(self, holder: Holder, key: str, form: Any, eps: Fraction, call: Callable[[], Any], crash: Any) -> Any:
        """A request of a session, whatever became of its key before."""
        known = holder.requests.get(key)
        if known is not None and known.form != form:
            return self.attempt(call, [], crash, InvalidInput)
        effects: list[Effect] = []
        if known is None:
            if not holder.admits(eps):
                return self.attempt(call, [], crash, BudgetExceeded)
            known = Request(form)
            effects.append(("reserved", self.reserving(holder, key, known, eps)))
        if not known.answered:
            effects.append(("answered", lambda: setattr(known, "answered", True)))
        return self.attempt(call, effects, crash)

    def reserving(self, holder: Holder, key: str, request: Request, eps: Fraction) -> Callable[[], None]:
        def reserve() -> None:
            holder.pay(eps)
            holder.requests[key] = request

        return reserve

    def tell(self, holder: Holder, key: str, found: Any) -> None:
        """What was revealed once is what is revealed ever after."""
        if found is None or found is GONE:
            return
        request = holder.requests[key]
        assert request.told in (None, found), "another answer for the same key"
        request.told = found

    def unit(self, account: Holder) -> list[Effect]:
        """The first use of an account decides what it protects."""
        return [] if account.name in self.units else [("unit", lambda: self.units.add(account.name))]

    def all_holders(self) -> list[Holder]:
        return [holder for account in self.accounts.values() for holder in account.all()]

    def account_at(self, number: int) -> Holder:
        return list(self.accounts.values())[number % len(self.accounts)]

    def session_at(self, number: int) -> Holder | None:
        sessions = [holder for holder in self.all_holders() if not holder.is_account]
        return sessions[number % len(sessions)] if sessions else None

    # accounts and sessions

    @initialize(eps=st.sampled_from([Fraction(1), Fraction(2)]), best=st.booleans())
    def begin(self, eps: Fraction, best: bool) -> None:
        self.ledger  # noqa: B018
        self.open_account(0, eps, best, None)
        self.open_session(0, 0, Fraction(1, 2), None)

    @rule(number=st.integers(0, 2), eps=st.sampled_from(CAPS), best=st.booleans(), crash=crashes)
    def open_account(self, number: int, eps: Fraction, best: bool, crash: Any) -> None:
        name = f"account {number}"
        made = Holder(name, eps, _best(eps).cap if best else None)
        known = self.accounts.get(name)
        if known is None:
            effects: list[Effect] = [("opened", lambda: self.accounts.setdefault(name, made))]
            self.attempt(lambda: self.ledger.open(name, filter_of(made), disjoint=True), effects, crash)
        else:
            other = (known.epsilon, known.rho_cap) != (eps, made.rho_cap)
            self.attempt(lambda: self.ledger.open(name, filter_of(made)), [], crash, InvalidInput if other else None)

    @rule(parent=some, number=st.integers(0, 2), eps=st.sampled_from(QUOTAS), crash=crashes)
    def open_session(self, parent: int, number: int, eps: Fraction, crash: Any) -> None:
        holders = self.all_holders()
        above = holders[parent % len(holders)]
        name = f"session {number}"
        made = Holder(name, eps, account=above.account or above)

        def call() -> Any:
            found = self.live(above)
            if above.is_account:
                return found.session(people(), SumFilter(eps), name=name)
            return found.delegate(SumFilter(eps), name=name)

        known = above.sessions.get(name)
        if known is not None:
            self.attempt(call, [], crash, InvalidInput if known.epsilon != eps else None)
            return

        def enter() -> None:
            above.pay(eps)
            above.sessions[name] = made
            above.requests[f"session {name}"] = Request(None, True)

        effects = self.unit(above) if above.is_account else []
        if above.admits(eps):
            self.attempt(call, [*effects, ("session", enter)], crash)
        else:
            self.attempt(call, effects, crash, BudgetExceeded)

    @rule(number=some, eps=amounts, key=keys, repeat=st.integers(0, 1), crash=crashes)
    def ask(self, number: int, eps: Fraction, key: str | None, repeat: int, crash: Any) -> None:
        session = self.session_at(number)
        if session is None:
            return
        asked = {"question": Question(Count(), epsilon=eps).document(), "snapshot": None, "repeat": repeat}
        own = f"question {digest(canonical(asked))}" if key is None else f"key {key}"

        def call() -> Any:
            return self.live(session).ask(Count(), epsilon=eps, key=key, repeat=repeat)

        found = self.perform(session, own, ("ask", eps, repeat), eps, call, crash)
        if found is not None and found is not GONE:
            self.tell(session, own, found.value)

    @rule(number=some, eps=amounts, key=st.sampled_from(["one", "three"]), crash=crashes)
    def pay(self, number: int, eps: Fraction, key: str, crash: Any) -> None:
        session = self.session_at(number)
        if session is not None:
            own = f"key {key}"
            call = self.paying(self.live(session), eps, key)
            self.tell(session, own, self.perform(session, own, ("code", eps), eps, call, crash))

    def paying(self, session: DurableSession, eps: Fraction, key: str) -> Callable[[], Any]:
        def run() -> int:
            self.ran += 1
            return self.ran  # another answer each time it runs

        return lambda: session.pay("code", [PureDP(eps)], run, key=key)

    @rule(number=some, eps=amounts, kill=st.booleans())
    def fail(self, number: int, eps: Fraction, kill: bool) -> None:
        """The code of a request fails, or the process dies in it: it stays paid, and may be tried again."""
        session = self.session_at(number)
        if session is None:
            return

        def run() -> None:
            raise Killed if kill else ZeroDivisionError

        def call() -> Any:
            return self.live(session).pay("code", [PureDP(eps)], run, key="three")

        known, form = session.requests.get("key three"), ("code", eps)
        if known is not None and (known.form != form or known.answered):
            refused = InvalidInput if known.form != form else None
            self.tell(session, "key three", self.attempt(call, [], None, refused))
        elif known is None and not session.admits(eps):
            self.attempt(call, [], None, BudgetExceeded)
        else:
            new: list[Effect] = [("reserved", self.reserving(session, "key three", Request(form), eps))]
            self.attempt(call, new if known is None else [], None, None if kill else MechanismFailed)

    @rule(number=some, eps=amounts, key=st.sampled_from(["four", "five"]))
    def overtake(self, number: int, eps: Fraction, key: str) -> None:
        """The lease of a request ends while it runs, and another process runs it too: the first stored answer wins."""
        session, own = self.session_at(number), f"key {key}"
        if session is None or own in session.requests:
            return
        heard: list[Any] = []

        def run() -> int:
            self.interruptions.clock.moved += 10_000
            with self.place.open() as other:
                heard.append(self.paying(self.found(other, session), eps, key)())
            self.ran += 1
            return self.ran

        def call() -> Any:
            return self.live(session).pay("code", [PureDP(eps)], run, key=key)

        found = self.perform(session, own, ("code", eps), eps, call, None)
        for answer in [found, *heard]:
            self.tell(session, own, answer)

    # mechanisms

    @rule(number=some, eps=amounts, positives=st.integers(1, 2), repeat=st.integers(0, 1), crash=crashes)
    def open_run(self, number: int, eps: Fraction, positives: int, repeat: int, crash: Any) -> None:
        session = self.session_at(number)
        if session is None:
            return
        spec = SparseVector(20, epsilon=eps, positives=positives)
        form = {"mechanism": spec.document(), "snapshot": None, "repeat": repeat}
        key, new = f"mechanism {digest(canonical(form))}", Run(session, spec, repeat)
        found = self.perform(session, key, form, eps, lambda: self.run_of(new), crash)
        same = [run for run in self.runs if (run.session, run.spec, run.repeat) == (session, spec, repeat)]
        if isinstance(found, DurableRun) and not same:
            self.runs.append(new)

    @rule(number=some, question=st.integers(0, 5), repeat=st.integers(0, 1), crash=crashes)
    def ask_run(self, number: int, question: int, repeat: int, crash: Any) -> None:
        if not self.runs:
            return
        run = self.runs[number % len(self.runs)]
        opened, asked = self.run_of(run), (question, repeat)
        if GONE not in run.told.values():
            left = run.spec.positives - sum(run.told.values())
            assert (opened.positives_left, opened.asked) == (left, len(run.told))
            if asked not in run.told and not left:
                self.attempt(lambda: opened.ask(Count(f"age > {question}"), repeat=repeat), [], crash, MechanismClosed)
                return
        elif asked not in run.told:
            return  # whether it is closed is not known before the lost answer is seen

        new: list[Effect] = [("asked", lambda: run.told.setdefault(asked, GONE))]
        effects = [] if asked in run.told else new
        found = self.attempt(lambda: opened.ask(Count(f"age > {question}"), repeat=repeat), effects, crash)
        if found is not GONE:
            assert run.told[asked] in (GONE, found), "another answer for the same question"
            run.told[asked] = found
