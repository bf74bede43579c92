"""Sessions that outlive the process: the surface of `Session`, the budget in the ledger.

A session is found again by its name.  What was asked before is answered again from the ledger, and costs nothing; what
was interrupted is finished under the key that paid for it.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import insert, select, update

from optcomp.errors import BudgetExceeded, InvalidInput
from optcomp.interactive import (
    Answer,
    Asking,
    Entry,
    Filter,
    Mechanism,
    Offer,
    Request,
    answer,
    checked_question,
    committed_offers,
    question_offers,
    read_answer,
    read_mechanism,
    read_request_document,
)
from optcomp.ledger.chain import canonical, digest
from optcomp.ledger.holders import Finished, Holder, Stored, Work
from optcomp.ledger.opening import check_key, checked_repeat, open_session
from optcomp.ledger.payments import fixed, mechanism_offer, paid_documents
from optcomp.ledger.requests import RequestView, request_of
from optcomp.ledger.runs import DurableRun, canonical_answer, needed_keys, opened_mechanism
from optcomp.ledger.schema import MECHANISMS, REQUESTS
from optcomp.ledger.states import RequestState
from optcomp.ledger.units import snapshot_name
from optcomp.numerics import Number
from optcomp.statistics import Question, Statistic, Table, read_question
from optcomp.statistics.noise import Noise
from optcomp.theorems import Bound

T = TypeVar("T")
_OUTCOMES: dict[str, Any] = {
    RequestState.RESERVED: "paid",
    RequestState.ANSWERED: "answered",
    RequestState.DELIVERED: "answered",
    RequestState.FAILED: "failed",
}
"""How a transcript names the states of requests."""
_LAZILY = 64
"""So many answers are handed out before they are marked as delivered, in one write."""


class DurableSession(Asking):
    """Questions and interactive mechanisms about one table, within a budget that a ledger keeps."""

    def __init__(self, holder: Holder, table: Table) -> None:
        self._holder, self._table = holder, table
        self._refused: list[Entry] = []
        self._handed_out: list[int] = []
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """By which it is found again."""
        return self._holder.name

    @property
    def table(self) -> Table:
        """The table it is about."""
        self._holder.books.database.check_process()
        return self._table

    @property
    def budget(self) -> Filter:
        """The filter as it stands now: an immutable value."""
        return self._holder.budget()

    @property
    def quota(self) -> Filter:
        """The filter as it was at the start."""
        return self._holder.opened

    @property
    def transcript(self) -> tuple[Entry, ...]:
        """Everything that was asked, with its outcome; no answers.  Refusals are those of this process."""
        rows = select(REQUESTS).where(REQUESTS.c.holder == self._holder.id).order_by(REQUESTS.c.id)
        with self._holder.books.database.read() as connection:
            found = connection.execute(rows).all()
        kept = [Entry(number, row.what, _paid(row.paid), _OUTCOMES[row.state]) for number, row in enumerate(found)]
        return (
            *kept,
            *(
                Entry(len(kept) + place, each.what, each.costs, each.outcome, each.note)
                for place, each in enumerate(self._refused)
            ),
        )

    def ask(
        self,
        statistic: Statistic | Question,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mechanism: str | Noise | None = None,
        key: str | None = None,
        repeat: int = 0,
    ) -> Answer:
        """Answer a statistic with noise for ε, (ε, δ) or ρ; BudgetExceeded if that does not fit.

        The same question again has the same answer, and costs nothing; `repeat=1` buys fresh noise.  A `key` of one's
        own names a request that may be tried again.
        """
        question = checked_question(statistic, self.table, epsilon, delta, rho, mechanism)
        return self._read_answer(self.ask_stored(question, key=key, repeat=repeat))

    def ask_stored(self, question: Question, *, key: str | None = None, repeat: int = 0) -> Stored:
        """The same, as it is in the ledger: the number of the request, the text of the answer, the receipt."""
        question = checked_question(question, self.table)
        form = self._form({"question": question.document()}, repeat)
        run = self._answering(question)
        return self._perform("question", key, str(question), form, question_offers(question, self.table), run)

    def request(self, number: int) -> RequestView:
        """A request that was made here, by its number."""
        return request_of(self._holder, number)

    def run(self, request: int) -> DurableRun:
        """The mechanism that this request opened; it goes on where it was."""
        found = self._found(request, "mechanism")
        self._check_snapshot(found)
        if found.answer is None:
            raise InvalidInput("request", request, "was paid for, and has not begun: open it again under its key")
        return DurableRun(self._holder, self._table, request)

    def plan(self, request: int) -> DurablePlan:
        """The plan that this request committed."""
        found = self._found(request, "plan")
        self._check_snapshot(found)
        asked = tuple(read_question(each) for each in found.form["plan"])
        return DurablePlan(self, asked, lambda: committed_offers(asked, self.table, found.form["delta"])[0], request)

    def _found(self, request: int, kind: str) -> RequestView:
        found = self.request(request)
        if found.kind != kind:
            raise InvalidInput("request", request, f"is no {kind}, but: {found.what}")
        return found

    def _check_snapshot(self, found: RequestView) -> None:
        """What goes on is about the rows that it began with."""
        if found.form["snapshot"] != snapshot_name(self._table):
            raise InvalidInput("request", found.id, "is about another snapshot of the table")

    def _answering(self, question: Question) -> Callable[[], Finished]:
        return lambda: Finished(canonical_answer(answer(question, self._table).document()))

    def _read_answer(self, stored: Stored) -> Answer:
        told = read_answer(json.loads(stored.answer), self._table.declared)
        return replace(told, receipt=stored.receipt.document())

    def _form(self, asked: dict[str, Any], repeat: int) -> dict[str, Any]:
        return {**asked, "snapshot": snapshot_name(self._table), "repeat": checked_repeat(repeat)}

    def _perform(
        self,
        kind: str,
        key: str | None,
        what: str,
        form: dict[str, Any],
        offers: Sequence[Offer],
        run: Callable[[], Finished],
    ) -> Stored:
        """Once for each key; a refusal is noted in the transcript of this process."""
        check_key(key)
        own = f"{kind} {digest(canonical(form))}" if key is None else f"key {key}"
        fresh = form.get("call") is not None
        try:
            stored = self._holder.perform(Work(kind, own, what, form, offers, run, fresh))
        except BudgetExceeded as refused:
            costs = tuple(offers[0]) if offers else ()
            self._refused.append(Entry(0, what, costs, "refused", refused.reason))
            raise
        self._hand_out(stored.id)
        return stored

    def _hand_out(self, request: int) -> None:
        """Remember that an answer was handed out; it is written down with others, for it costs a commit."""
        with self._lock:
            self._handed_out.append(request)
            if len(self._handed_out) < _LAZILY:
                return
        self._flush()

    def _flush(self) -> None:
        with self._lock:
            told, self._handed_out = self._handed_out, []
        if told:
            mine = REQUESTS.c.id.in_(told), REQUESTS.c.state == RequestState.ANSWERED
            with self._holder.books.writing(debits=False) as writing:
                writing.connection.execute(update(REQUESTS).where(*mine).values(state=RequestState.DELIVERED))

    def pay(self, what: str, costs: Sequence[Request], run: Callable[[], T], *, key: str | None = None) -> T:
        """Debit all costs or none, then run code of yours, whose result must be plain JSON data.

        With a `key` the result is kept and given again; without one, each call pays.
        """
        if not isinstance(what, str) or not what.isprintable():
            raise InvalidInput("what", what, "must be text that can be printed")
        if not isinstance(costs, Sequence) or not costs:
            raise InvalidInput("costs", costs, "must be a list of guarantees, at least one")
        offer = fixed(self.quota, tuple(costs))
        paid = paid_documents(self.quota, offer)  # a key that paid for little does not run what costs more
        form = {"code": what, "costs": paid, "call": secrets.token_hex(16) if key is None else None}
        stored = self._perform("code", key, what, form, [offer], lambda: Finished(canonical_answer(run())))
        found: T = json.loads(stored.answer)
        return found

    def open(self, mechanism: Mechanism, *, key: str | None = None, repeat: int = 0) -> DurableRun:
        """Pay for an interactive mechanism and start it; asked for again, it goes on where it was."""
        if not all(hasattr(mechanism, name) for name in ("costs", "start", "document", "resume")):
            raise InvalidInput("mechanism", mechanism, "must be an interactive mechanism such as SparseVector(...)")
        mechanism = read_mechanism(mechanism.document())  # what is written is what is paid for, and what goes on
        offer = mechanism_offer(self.quota, mechanism, self.table)
        needed_keys(self._holder, mechanism)

        def start() -> Finished:
            run = mechanism.start(self._table)

            def beside(connection: Any, request: int) -> None:
                connection.execute(insert(MECHANISMS).values(opened_mechanism(self._holder, request, mechanism, run)))

            return Finished("{}", beside)

        form = self._form({"mechanism": mechanism.document()}, repeat)
        stored = self._perform("mechanism", key, str(mechanism), form, [offer], start)
        return DurableRun(self._holder, self._table, stored.id)

    def delegate(self, budget: Filter, *, name: str = "delegate") -> DurableSession:
        """A session for somebody else, paid whole from this budget; what it leaves unspent is not refunded."""
        try:
            return DurableSession(open_session(self._holder, self._table, budget, name), self._table)
        except BudgetExceeded as refused:
            self._refused.append(Entry(0, f"delegation to {name}", (budget.total,), "refused", refused.reason))
            raise

    def commit(
        self, questions: Iterable[Question], *, delta: Number = 0, name: str = "plan", key: str | None = None
    ) -> DurablePlan:
        """Declare a batch whole before its first answer: one mechanism, at the price of its optimal composition."""
        asked = tuple(questions)
        bound, offers = committed_offers(asked, self.table, delta)
        form = self._form({"plan": [question.document() for question in asked], "delta": str(delta)}, 0)
        what = f"{name}: {len(asked)} question{'' if len(asked) == 1 else 's'} at once"
        stored = self._perform("plan", key, what, form, offers, lambda: Finished("{}"))
        return DurablePlan(self, asked, lambda: bound, stored.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write down what was handed out; the session stays in the ledger, and is found again by its name."""
        self._flush()

    def __repr__(self) -> str:
        return f"DurableSession({self.name!r}, {self._table.name!r}, account {self._holder.account_name!r})"


class DurablePlan:
    """A batch whose parameters were fixed before its first answer; each question is answered once, in any order."""

    def __init__(
        self, session: DurableSession, questions: tuple[Question, ...], bound: Callable[[], Bound], request: int
    ) -> None:
        self._session, self._request, self._bound = session, request, bound
        self.questions = questions

    @cached_property
    def bound(self) -> Bound:
        """The optimal composition of its questions; to answer them takes none."""
        return self._bound()

    @property
    def request(self) -> int:
        """Its number: `DurableSession.plan` finds it again."""
        return self._request

    def answer(self, index: int) -> Answer:
        """The answer to a question; the same one when asked again."""
        return self._session._read_answer(self.answer_stored(index))

    def answer_stored(self, index: int) -> Stored:
        """The same, as it is in the ledger."""
        if isinstance(index, bool) or not isinstance(index, int):
            raise InvalidInput("index", index, "must be a whole number")
        if not 0 <= index < len(self.questions):
            raise InvalidInput("index", index, f"must lie between 0 and {len(self.questions) - 1}")
        question, session = self.questions[index], self._session
        form = {"committed": self._request, "index": index, "question": question.document()}
        what = f"{question}, paid with its plan"
        return session._perform("planned", None, what, form, (), session._answering(question))

    def answers(self) -> tuple[Answer, ...]:
        """All answers."""
        return tuple(self.answer(index) for index in range(len(self.questions)))


def _paid(text: str) -> tuple[Request, ...]:
    return tuple(read_request_document(each) for each in json.loads(text))
