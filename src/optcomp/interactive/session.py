"""A session guards a table with a budget: check, debit, then run.

The budget is a filter, an immutable value; the one thing that changes is which value the session holds, and that
changes under a lock.  A request is debited before the table is touched, and stays debited whatever happens then.  A
refused request changes nothing.  Sessions may be used from any thread or task of the process that opened them; they
are not copied, nor taken to another process.

Why interleaving is harmless: whatever the analysts do, each session is one interactive mechanism with the guarantee of
its filter (HSTVVXZ23), and such mechanisms compose as if they ran one after another (Lyu22-1, Lyu22-2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Protocol, TypeVar

from optcomp.composition import compose
from optcomp.errors import BudgetExceeded, CannotBeShared, HypothesisNotMet, InvalidInput, MechanismFailed
from optcomp.guarantees import ApproxDP
from optcomp.interactive import quotas
from optcomp.interactive.answers import Answer, answer
from optcomp.interactive.asking import Asking, Entry, Outcome, checked_question, committed_offers
from optcomp.interactive.filters import (
    Admitted,
    Cost,
    Filter,
    Offer,
    Refused,
    Request,
    charge_cheapest,
    price_offers,
)
from optcomp.interactive.filters.requests import read_request
from optcomp.interactive.live import BUDGET, Live, Turn
from optcomp.numerics import Number
from optcomp.statistics import Question, Statistic, Table
from optcomp.statistics.noise import Noise
from optcomp.theorems import Bound

T = TypeVar("T")
S = TypeVar("S", covariant=True)


class Interactive(Protocol[S]):
    """What can be opened: says what it costs, and starts."""

    def costs(self, table: Table) -> tuple[Request, ...]:
        """The guarantees that are spent together; depends on declarations only."""

    def start(self, table: Table) -> S:
        """Begin; the caller has paid."""


class Session(Live, Asking):
    """Questions and interactive mechanisms about one table, within one budget.

    A snapshot that names a ledger is refused: its questions are debited there.
    """

    def __init__(self, table: Table, budget: Filter, *, name: str = "session") -> None:
        if not isinstance(table, Table):
            raise InvalidInput("table", table, "must be a Table; Table.open opens one that was saved")
        _check_no_ledger(table)
        self._start(table, budget, name)

    def _start(self, table: Table, budget: Filter, name: str) -> None:
        if not isinstance(budget, Filter):
            raise InvalidInput("budget", budget, "must be a filter such as SumFilter(1)")
        if type(budget).admit is not Filter.admit:
            raise InvalidInput("budget", budget, "must not have an `admit` of its own: `price` and `charge` are asked")
        super().__init__(table, f"session {name!r}", BUDGET)
        self._name = name
        self._budget = self._quota = budget
        self._entries: list[Entry] = []
        self._followed = quotas.RECORD.before(table)

    @property
    def name(self) -> str:
        """For people."""
        return self._name

    @property
    def budget(self) -> Filter:
        """The filter as it stands now: an immutable value."""
        with self._lock:
            return self._budget

    @property
    def quota(self) -> Filter:
        """The filter as it was at the start."""
        return self._quota

    @property
    def transcript(self) -> tuple[Entry, ...]:
        """Everything that was asked, with its outcome; no answers."""
        with self._lock:
            return tuple(self._entries)

    def ask(
        self,
        statistic: Statistic | Question,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mechanism: str | Noise | None = None,
    ) -> Answer:
        """Answer a statistic with noise for ε, (ε, δ) or ρ; BudgetExceeded if that does not fit."""
        question = checked_question(statistic, self.table, epsilon, delta, rho, mechanism)
        return self.pay(str(question), question.costs(self.table), lambda: answer(question, self.table))

    def pay(self, what: str, costs: Sequence[Request], run: Callable[[], T]) -> T:
        """Debit all costs or none, then run; an error of `run` never refunds, and tells nothing about the data."""
        spending = tuple(costs)
        if not spending:
            raise InvalidInput("costs", costs, "must be at least one")
        return self._run(what, self._debit(what, spending), run)

    def _run(self, what: str, place: int, run: Callable[[], T]) -> T:
        """Run what was paid for in an entry."""
        try:
            found = run()
        except BaseException as error:
            kind = type(error).__name__
            self._settle(place, "failed", kind)
            if isinstance(error, MechanismFailed) or not isinstance(error, Exception):
                raise
        else:
            self._settle(place, "answered")
            return found
        raise MechanismFailed(what, kind)  # out here, so that no __context__ leads to the error

    def _debit(self, what: str, costs: tuple[Request, ...]) -> int:
        """The number of the new entry, after the budget has moved on; or the refusal as an error.

        What a request costs may be up to code of the caller, such as a Rényi curve: it runs before the lock is taken.
        """
        requests = [read_request(cost) for cost in costs]
        prices = [self._quota.price(request) for request in requests]  # type: ignore[arg-type]
        with self._lock:
            state = self._budget
            for request, price in zip(requests, prices, strict=True):
                outcome = state.charge(request, price)
                if isinstance(outcome, Refused):
                    raise self._refused(what, costs, outcome if len(costs) == 1 else self._refusal(what, costs, prices))
                assert isinstance(outcome, Admitted)
                state = outcome.state
            return self._paid(what, costs, state)

    def _debit_cheapest(self, what: str, offers: Sequence[Offer]) -> int:
        """The same for the cheapest of several offers, which counts as one request; their δ is there to be spent."""
        prices = price_offers(self._quota, offers, places=None)
        with self._lock:
            outcome = charge_cheapest(self._budget, prices, delta_counts=False)
            if isinstance(outcome, Refused):
                best = outcome.request
                raise self._refused(what, best if isinstance(best, tuple) else (best,), outcome)
            return self._paid(what, offers[outcome.index], outcome.state)

    def _refused(self, what: str, costs: tuple[Any, ...], refused: Refused) -> BudgetExceeded:
        self._entries.append(Entry(len(self._entries), what, costs, "refused", refused.reason))
        return refused.error()

    def _paid(self, what: str, costs: tuple[Request, ...], state: Filter) -> int:
        self._budget = state
        quotas.RECORD.answered(self._table, self.name)
        self._entries.append(Entry(len(self._entries), what, costs, "paid"))
        return len(self._entries) - 1

    def _refusal(self, what: str, costs: tuple[Request, ...], prices: Sequence[Cost]) -> Refused:
        """In terms of the whole, where several costs are spent together."""
        whole, left = reduce(Cost.plus, prices), self._budget.remaining()
        return Refused(costs, f"{what} costs {whole} in {len(costs)} parts, and there is {left}", left)

    def _settle(self, place: int, outcome: Outcome, note: str = "") -> None:
        with self._lock:
            entry = self._entries[place]
            self._entries[place] = Entry(entry.number, entry.what, entry.costs, outcome, note)

    def open(self, mechanism: Interactive[T]) -> T:
        """Pay for an interactive mechanism and start it; it may be interleaved with everything else."""
        if not all(hasattr(mechanism, name) for name in ("costs", "start")):
            raise InvalidInput("mechanism", mechanism, "must be an interactive mechanism such as SparseVector(...)")
        return self.pay(str(mechanism), mechanism.costs(self.table), lambda: mechanism.start(self.table))

    def delegate(self, budget: Filter, *, name: str = "delegate") -> Session:
        """A session for somebody else, paid whole from this budget; what it leaves unspent is not refunded."""
        if not isinstance(budget, Filter):
            raise InvalidInput("budget", budget, "must be a filter such as SumFilter(1)")
        return self.pay(f"delegation to {name}", [budget.total], lambda: paid_session(self.table, budget, name=name))

    def commit(self, questions: Iterable[Question], *, delta: Number = 0, name: str = "plan") -> CommittedPlan:
        """Declare a batch whole before its first answer: one mechanism, at the price of its optimal composition.

        It costs that of its parts where the budget counts these for less.
        """
        asked = tuple(questions)
        bound, offers = committed_offers(asked, self.table, delta)
        what = f"{name}: {_counted(asked)} at once"
        place = self._debit_cheapest(what, offers)
        return self._run(what, place, lambda: CommittedPlan(self, asked, bound))

    def __repr__(self) -> str:
        try:
            state = str(self.budget)
        except CannotBeShared:
            state = "of another process"
        return f"Session({self.name!r}, {self._table.name!r}, {state})"


class CommittedPlan(Live):
    """A batch whose parameters were fixed before its first answer; each question is answered once, in any order."""

    def __init__(self, session: Session, questions: tuple[Question, ...], bound: Bound) -> None:
        super().__init__(session.table, f"a committed plan of {_counted(questions)}")
        self.bound = bound
        self._questions = questions
        self._turns = [Turn(str(question)) for question in questions]
        self._answers: list[Answer | None] = [None] * len(questions)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What is answered."""
        return self._questions

    def answer(self, index: int) -> Answer:
        """The answer to a question; the same one when asked again."""
        if not 0 <= index < len(self.questions):
            raise InvalidInput("index", index, f"must lie between 0 and {len(self.questions) - 1}")
        with self._turns[index]:
            found = self._answers[index]
            if found is None:
                found = self._answers[index] = answer(self.questions[index], self.table)
            return found

    def answers(self) -> tuple[Answer, ...]:
        """All answers."""
        return tuple(self.answer(index) for index in range(len(self.questions)))


def paid_session(table: Table, budget: Filter, *, name: str) -> Session:
    """A session whose budget was debited before: from another session, or from the ledger that the snapshot names."""
    session = Session.__new__(Session)
    session._start(table, budget, name)
    return session


def _check_no_ledger(table: Table) -> None:
    """What a session in memory spends, a ledger does not see."""
    bound = table.bound_to
    if bound is not None:
        where = f"is debited from account {bound[1]!r} of ledger {bound[0]}"
        raise InvalidInput("table", table.name, f"{where}; use `Ledger(...).account({bound[1]!r}).session(...)`")


def open_sessions(table: Table, quotas: Mapping[str, Filter]) -> dict[str, Session]:
    """A session for each analyst, all opened before the first answer: `concurrent` then covers them together."""
    return {name: Session(table, quota, name=name) for name, quota in quotas.items()}


def concurrent(sessions: Iterable[Session], *, delta: Number | None = None, epsilon: Number | None = None) -> Bound:
    """The total of sessions with fixed quotas, however they are interleaved and whoever colludes (Lyu22-1, Lyu22-2).

    It holds if all quotas were fixed before the first answer, listed or not, about people who may be the same, and if
    all sessions protect the same: otherwise it is refused.
    """
    known = list(sessions)
    if not known or any(not isinstance(session, Session) for session in known):
        raise InvalidInput("sessions", known, "must be sessions, at least one")
    for session in known:
        quotas.check_unit((known[0].name, known[0].table), (session.name, session.table))
        if session._followed is not None:
            raise HypothesisNotMet(
                "Lyu22-1",
                f"{session.name!r} was opened after {session._followed}, so its quota may depend on answers; open all "
                "sessions before the first answer, or delegate from one session; if the two are about different "
                "people, name these: Table(..., population=...)",
            )
    totals = [session.quota.total for session in known]
    proof = "Lyu22-1" if all(isinstance(total, ApproxDP) for total in totals) else "Lyu22-2"
    bound = compose(totals, delta=delta, epsilon=epsilon)
    return replace(bound, notes=(*bound.notes, f"interleaved sessions compose as if one after another ({proof})"))


def _counted(questions: Sequence[Question]) -> str:
    return f"{len(questions)} question{'' if len(questions) == 1 else 's'}"
