"""Holders of budgets, and how a request is debited from one, run, and answered: the same for accounts and sessions.

A request is reserved in one write: the filter's next state replaces the one that was read, by compare-and-swap on its
version, beside the request and its entry in the chain.  Then it runs.  Then its answer is stored in a second write, and
only what is stored is ever revealed.  If two run the same request, after a crash or a lease that ran out, the first
answer that is stored is the answer of both.  So leases and clocks save work; nothing about privacy rests on them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Row, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from optcomp.errors import BudgetExceeded, InvalidInput, MechanismFailed
from optcomp.interactive import (
    Cost,
    Filter,
    Offer,
    PricedOffer,
    Refused,
    charge_cheapest,
    price_offers,
    read_request_document,
    restore,
)
from optcomp.ledger.amounts import guard, named, read_sums, summed, written_cost, written_sums
from optcomp.ledger.books import Books, Change, Writing
from optcomp.ledger.chain import canonical, commitment, digest, new_salt
from optcomp.ledger.leases import is_alive, lease_of_this_process
from optcomp.ledger.payments import fixed, paid_documents
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.schema import HOLDERS, REQUESTS
from optcomp.ledger.states import AccountState, RequestState
from optcomp.ledger.transactions import Overtaken, Statement

_POLL = 0.02
"""Seconds between two looks at a request that somebody else is running."""
_ANSWERED = (RequestState.ANSWERED, RequestState.DELIVERED)
"""States with a stored answer."""


class Standing(NamedTuple):
    """What a debit must know of a holder."""

    version: int
    budget: str
    sums: str | None
    state: str


class Asked(NamedTuple):
    """A request as it is in the ledger."""

    id: int
    key: str
    kind: str
    what: str
    form: str
    paid: str
    state: str
    lease: str | None
    answer: str | None
    salt: str | None
    sequence: int
    head: str


_BY_ID = select(HOLDERS).where(HOLDERS.c.id == bindparam("holder"))
IS_OPEN = ~_BY_ID.where(HOLDERS.c.state == bindparam("spent")).exists()
"""That no copy of the holder was adopted which may lack answers: what it would draw now may have been told before."""
_STANDING = Statement(_BY_ID.with_only_columns(*(HOLDERS.c[name] for name in Standing._fields)))
_ASKED = select(*(REQUESTS.c[name] for name in Asked._fields))
_BY_KEY = Statement(_ASKED.where(REQUESTS.c.holder == bindparam("holder"), REQUESTS.c.key == bindparam("key")))
_BY_NUMBER = Statement(_ASKED.where(REQUESTS.c.id == bindparam("request")))
_SWAP = (
    update(HOLDERS)
    .where(HOLDERS.c.id == bindparam("holder"), HOLDERS.c.version == bindparam("read"))
    .values(version=bindparam("next"), budget=bindparam("moved"), guard=bindparam("share"))
)
_SWAP_SESSION = Statement(_SWAP, changes_one=True)
_SWAP_ACCOUNT = Statement(_SWAP.values(sums=bindparam("recorded")), changes_one=True)
_NEW = ("holder", "key", "kind", "what", "form", "paid", "state", "lease", "sequence", "head")
"""What is known of a request when it is reserved."""
_RESERVE = Statement(
    insert(REQUESTS).values({name: bindparam(name) for name in _NEW}).returning(REQUESTS.c.id), returns=True
)
_TOLD = ("state", "answer", "salt", "lease", "sequence", "head")
"""What changes when it is answered."""
_STORE = Statement(
    update(REQUESTS)
    .where(REQUESTS.c.id == bindparam("request"), REQUESTS.c.state == bindparam("reserved"), IS_OPEN)
    .values({name: bindparam(f"new_{name}") for name in _TOLD}),
    changes_one=True,
)


class BudgetClosed(BudgetExceeded):
    """The account or session admits nothing any more; `.reason` says why."""


@dataclass(frozen=True)
class Finished:
    """What a request came to."""

    answer: str
    beside: Callable[[Connection, int], None] | None = None
    """Writes what belongs to the answer in the same transaction; is given the number of the request."""
    entries: Callable[[Writing, int], None] | None = None
    """The same for what has entries of its own in the chain, which follow that of the answer."""


@dataclass(frozen=True)
class Work:
    """What is to be done for a holder, once."""

    kind: str
    key: str
    what: str
    """For people."""
    form: Mapping[str, Any]
    """Exactly what is asked, without code."""
    offers: Sequence[Offer]
    """What it costs: every guarantee that is proved of it; the cheapest is taken.  None: it is paid for already."""
    run: Callable[[], Finished]
    """Gives the answer; runs after the debit."""
    fresh: bool = False
    """Its key was just drawn, so nobody has used it."""
    paid_by: Callable[[Writing], Mapping[str, Any]] | None = None
    """Belongs to the write that reserves, such as taking a slot that pays; its words for the chain."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What a debit comes to, in one state of a filter."""

    before: str
    """The text of that state."""
    after: Filter
    text: str
    """Of the state after it."""
    guard: int
    """The same for the database."""
    requests: tuple[Any, ...]
    entry: dict[str, Any]
    """What was paid, for the chain."""


@dataclass(frozen=True)
class Stored:
    """A request with its answer."""

    id: int
    answer: str
    receipt: Receipt


class Holder:
    """An account or a session in the ledger."""

    def __init__(self, books: Books, row: Row[Any], account_name: str) -> None:
        self.books, self.id, self.account, self.name = books, int(row.id), int(row.account), str(row.name)
        self.account_name = account_name
        self.opened = restore(row.opened)
        self._last = self.opened.document_text(), self.opened
        """A state of the filter and its text, which saves reading it if nobody else was debited meanwhile."""
        self._asked_last: tuple[tuple[Offer, ...], tuple[PricedOffer, ...] | None] = (), None

    @property
    def is_account(self) -> bool:
        """Whether it is an account, and not a session."""
        return self.id == self.account

    def row_within(self, writing: Writing) -> Row[Any]:
        """As it stands, and stays until the write is done."""
        return writing.connection.execute(_BY_ID, {"holder": self.id}).one()

    def row(self) -> Row[Any]:
        """As it stands now."""
        with self.books.database.read() as connection:
            return connection.execute(_BY_ID, {"holder": self.id}).one()

    def standing(self, writing: Writing) -> Standing:
        """What a debit must know of it, true until the write is done."""
        found = writing.read
        if found is None:
            found = _STANDING.row(writing.connection, {"holder": self.id})
        return Standing(*found or ())

    def budget(self) -> Filter:
        """The filter as it stands now."""
        return restore(self.row().budget)

    def perform(self, work: Work) -> Stored:
        """Debit, run, store: once for each key, whatever crashes in between and whoever tries again."""
        form = canonical(work.form)
        found = self._found_or_reserved(work, form)
        if isinstance(found, Asked):
            return self.stored(found)
        try:
            finished = work.run()
        except BaseException as error:
            told = isinstance(error, MechanismFailed) or not isinstance(error, Exception)
            failed = error if told else MechanismFailed(work.what, type(error).__name__)
        else:
            return self._store(found, finished)
        self._give_back_lease(found)  # out here, so that no __context__ of what follows leads to the error
        raise failed

    def _found_or_reserved(self, work: Work, form: str) -> Asked | int:
        """The request of this key if it is answered, or its number if it is ours to run."""
        prices = self._priced(tuple(work.offers))
        patience = time.monotonic() + 2 * self.books.lease
        found = None if work.fresh else self.find(work.key)
        while True:
            if found is None:
                try:
                    return self._reserve(work, form, prices)
                except IntegrityError:
                    found = self.find(work.key)
                    if found is None:
                        raise AssertionError("the database refused a debit that the filter admitted") from None
                    # somebody else reserved it a moment ago
            self.check_same(found, work.kind, form)
            if found.state in _ANSWERED:
                return found
            self.check_not_spent()
            self._check_paid(found, prices)
            if self._take_over(found, anyway=time.monotonic() > patience):
                return found.id
            time.sleep(_POLL)
            found = self.find(work.key)

    def _priced(self, offers: tuple[Offer, ...]) -> tuple[PricedOffer, ...] | None:
        """What the offers cost here, whatever is spent; equal ones are often asked for again."""
        if not offers:
            return None
        known, prices = self._asked_last
        if prices is None or known != offers:
            prices = price_offers(self.opened, [fixed(self.opened, offer) for offer in offers])
            self._asked_last = offers, prices
        return prices

    def find(self, key: str) -> Asked | None:
        """The request of a key."""
        row = self.books.database.row(_BY_KEY, {"holder": self.id, "key": key})
        return None if row is None else Asked(*row)

    def requests(self, kind: str) -> list[Row[Any]]:
        """All requests of a kind, oldest first."""
        mine = select(REQUESTS).where(REQUESTS.c.holder == self.id, REQUESTS.c.kind == kind).order_by(REQUESTS.c.id)
        with self.books.database.read() as connection:
            return list(connection.execute(mine).all())

    def find_within(self, writing: Writing, key: str) -> bool:
        """Whether there is a request of a key, as it stands until the write is done."""
        return _BY_KEY.row(writing.connection, {"holder": self.id, "key": key}) is not None

    def check_same(self, found: Asked, kind: str, form: str) -> None:
        """Refuses a key that was used for something else, and a request that was given up."""
        if found.form != form or found.kind != kind:
            raise InvalidInput("key", found.key, f"was used for something else: {found.what}")
        if found.state == RequestState.FAILED:
            raise MechanismFailed(found.what, "given up by the owner")

    def check_not_spent(self) -> None:
        """Refuses to draw anything for a holder of a copy that may lack answers: it may have been told before."""
        row = Standing(*self.books.database.row(_STANDING, {"holder": self.id}) or ())
        if row.state == AccountState.SPENT:
            raise closed(self, row)

    def _check_paid(self, found: Asked, prices: Sequence[PricedOffer] | None) -> None:
        """A key that paid for little does not run what costs more."""
        offered: list[Any] = [each.requests for each in prices or ()]  # none, or "[]": by a slot, or with a plan
        if not offered or found.paid in ("[]", *(canonical(paid_documents(self.opened, each)) for each in offered)):
            return
        if self._cost_of(found.paid) not in [each.cost for each in prices or ()]:
            raise InvalidInput("key", found.key, f"has paid for something of another cost: {found.what}")

    def _cost_of(self, paid: str) -> Cost:
        """What was paid part by part may be offered as one guarantee now; it costs the same."""
        requests = tuple(read_request_document(each) for each in json.loads(paid))
        (priced,) = price_offers(self.opened, [requests])
        return priced.cost

    def _reserve(self, work: Work, form: str, prices: Sequence[PricedOffer] | None) -> int:
        words: dict[str, Any] = {"holder": self.id, "kind": work.kind, "form": digest(form)}
        words["named"] = named(work.key, work.what)
        documents = self._documents(prices)  # what takes time is made before the ledger is locked
        expected = None if prices is None else self._charge(*self._last, prices, documents)
        known: dict[str, Any] = expected.entry if isinstance(expected, Charge) else {"paid": []}
        written = canonical(words | known), canonical(known["paid"])
        with self.books.writing(read=(_STANDING, {"holder": self.id})) as writing:
            entry = self.debit(writing, prices, documents, expected)
            if work.paid_by is not None:
                entry = {**entry, **work.paid_by(writing)}
            if entry is not known:
                written = canonical(words | entry), canonical(entry["paid"])
            writing.append("reserved", self.account, written[0])
            made = self._insert(writing, work, form, written[1])
        return int(made.row[0])

    def _insert(self, writing: Writing, work: Work, form: str, paid: str) -> Change:
        values: dict[str, Any] = {"holder": self.id, "key": work.key, "kind": work.kind, "what": work.what}
        values |= {"form": form, "paid": paid, "state": RequestState.RESERVED.value}
        values |= {"lease": lease_of_this_process(self.books.lease), "sequence": writing.sequence, "head": writing.head}
        return writing.change(_RESERVE, values)

    def _documents(self, prices: Sequence[PricedOffer] | None) -> dict[int, Any]:
        """What is written of each offer, if it is the one that is paid."""
        return {each.index: paid_documents(self.opened, cast(Any, each.requests)) for each in prices or ()}

    def debit(
        self,
        writing: Writing,
        prices: Sequence[PricedOffer] | None,
        documents: Mapping[int, Any] | None = None,
        expected: Charge | Refused | None = None,
    ) -> dict[str, Any]:
        """Move the filter on; what was paid, for the chain.  BudgetExceeded if it does not fit: nothing changes.

        `expected` is what comes of it if nobody else was debited meanwhile.
        """
        row = self.standing(writing)
        if row.state == AccountState.SPENT or (prices is not None and row.state != AccountState.OPEN):
            raise closed(self, row)
        if prices is None:
            return {"paid": [], "price": {}}
        charge = expected
        if not isinstance(charge, Charge) or charge.before != row.budget:
            text, budget = self._last
            known = budget if text == row.budget else restore(row.budget)
            written = self._documents(prices) if documents is None else documents
            charge = self._charge(row.budget, known, prices, written)
        if isinstance(charge, Refused):
            raise charge.error()
        sums = None if row.sums is None else written_sums(summed(read_sums(row.sums), charge.requests))
        self._swap(writing, row.version, charge.after, charge.text, charge.guard, sums)
        return charge.entry

    def _charge(
        self, before: str, budget: Filter, prices: Sequence[PricedOffer], documents: Mapping[int, Any]
    ) -> Charge | Refused:
        """What a debit comes to in a state of the filter."""
        if budget.measure != prices[0].measure:
            raise InvalidInput(
                "account", self.name, "has another kind of budget since it was opened here: open it again"
            )
        charged = charge_cheapest(budget, prices, delta_counts=False)
        if isinstance(charged, Refused):
            return charged
        paid: tuple[Any, ...] = next(each.requests for each in prices if each.index == charged.index)
        entry = {"paid": documents[charged.index], "price": written_cost(charged.cost)}
        after = charged.state
        return Charge(before, after, after.document_text(), guard(after), paid, entry)

    def swap(
        self, writing: Writing, row: Row[Any] | Standing, budget: Filter, sums: str | None = None, **more: Any
    ) -> None:
        """Put another state in the place of the one that was read; the database refuses one beyond its cap."""
        self._swap(writing, row.version, budget, budget.document_text(), guard(budget), sums)
        if more:
            writing.connection.execute(update(HOLDERS).where(HOLDERS.c.id == self.id).values(**more))

    def _swap(self, writing: Writing, version: int, budget: Filter, text: str, share: int, sums: str | None) -> None:
        self._last = text, budget
        values = {"holder": self.id, "read": version, "next": version + 1, "moved": text, "share": share}
        statement = _SWAP_SESSION if sums is None else _SWAP_ACCOUNT
        writing.change(statement, values if sums is None else values | {"recorded": sums})

    def _store(self, request: int, finished: Finished) -> Stored:
        """Keep an answer, unless there is one already; then that one is returned."""
        salt, answer = new_salt(), finished.answer
        committed = commitment(salt, answer)
        body = canonical({"request": request, "commitment": committed})
        try:
            with self.books.writing() as writing:
                writing.append("answered", self.account, body)
                sequence, head = writing.sequence, writing.head
                told = (RequestState.ANSWERED.value, answer, salt, None, writing.sequence, writing.head)
                values: dict[str, Any] = {f"new_{name}": value for name, value in zip(_TOLD, told, strict=True)}
                values |= {"request": request, "reserved": RequestState.RESERVED.value, "holder": self.id}
                values["spent"] = AccountState.SPENT.value
                writing.change(_STORE, values)
                if finished.beside is not None or finished.entries is not None:
                    writing.carry_out()  # what belongs to the answer is written only if this is the first one
                if finished.beside is not None:
                    finished.beside(writing.connection, request)
                if finished.entries is not None:
                    finished.entries(writing, request)
        except Overtaken:
            self.check_not_spent()
            first = self.books.database.row(_BY_NUMBER, {"request": request})
            return self.stored(Asked(*first or ()))
        return Stored(request, answer, self.receipt(sequence, head, committed))

    def stored(self, row: Asked) -> Stored:
        """The answer of a request that has one."""
        if row.state not in _ANSWERED or row.answer is None:
            raise MechanismFailed(row.what, "given up by the owner")
        committed = None if row.salt is None else commitment(row.salt, row.answer)
        return Stored(row.id, row.answer, self.receipt(row.sequence, row.head, committed))

    def receipt(self, sequence: int, head: str, committed: str | None) -> Receipt:
        """Of an entry in the chain."""
        return Receipt(self.books.id, self.account_name, sequence, head, committed)

    def _take_over(self, found: Asked, *, anyway: bool) -> bool:
        """Whether a reserved request is ours to run: nobody has it, or whoever had it is gone."""
        if found.lease is not None and is_alive(found.lease) and not anyway:
            return False
        mine = lease_of_this_process(self.books.lease)
        same = REQUESTS.c.lease.is_(None) if found.lease is None else REQUESTS.c.lease == found.lease
        with self.books.writing(debits=False) as writing:
            change = update(REQUESTS).where(REQUESTS.c.id == found.id, REQUESTS.c.state == RequestState.RESERVED, same)
            return writing.connection.execute(change.values(lease=mine)).rowcount == 1

    def _give_back_lease(self, request: int) -> None:
        with self.books.writing(debits=False) as writing:
            change = update(REQUESTS).where(REQUESTS.c.id == request, REQUESTS.c.state == RequestState.RESERVED)
            writing.connection.execute(change.values(lease=None))


def closed(holder: Holder, row: Standing | Row[Any]) -> BudgetClosed:
    """Why nothing is admitted any more."""
    what = "account" if holder.is_account else "session"
    why = {
        AccountState.OVERDRAWN: "is overdrawn: a release that had happened elsewhere was entered, and did not fit",
        AccountState.SPENT: "counts as spent: a copy of the ledger was adopted that may lack debits",
    }[AccountState(row.state)]
    return BudgetClosed(None, restore(row.budget).remaining(), f"{what} {holder.name!r} {why}")
