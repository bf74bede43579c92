"""Ledgers that are wrong on purpose: whoever tests ledgers must catch every one of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from sqlalchemy import bindparam, delete, update
from sqlalchemy import insert as insert_into
from sqlalchemy.exc import IntegrityError

from optcomp.interactive import price_offers, read_request_document, restore
from optcomp.ledger import books, holders, opening, runs, transactions
from optcomp.ledger.amounts import named
from optcomp.ledger.chain import canonical, commitment, digest, new_salt
from optcomp.ledger.holders import Finished, Holder, Stored, Work
from optcomp.ledger.schema import ENTRIES, FACTS, HOLDERS, REQUESTS
from optcomp.ledger.states import RequestState
from optcomp.ledger.transactions import Statement

Breaking = Callable[[ExitStack], None]
"""Makes every ledger of this process wrong, until the stack is closed."""
_BLIND = (
    update(HOLDERS)
    .where(HOLDERS.c.id == bindparam("holder"))
    .values(version=bindparam("next"), budget=bindparam("moved"), guard=bindparam("share"))
)
"""A swap that does not compare."""
_OVERWRITE = update(REQUESTS).where(REQUESTS.c.id == bindparam("request"))
"""Storing without looking whether there is an answer."""
_MEANWHILE = 0.002
"""Seconds between reading and writing: somebody else has time to be quicker."""


def _patched(stack: ExitStack, owner: Any, name: str, value: Any) -> None:
    stack.enter_context(patch.object(owner, name, value))


def _swapped_blindly(stack: ExitStack) -> None:
    _patched(stack, holders, "_SWAP_SESSION", Statement(_BLIND))
    _patched(stack, holders, "_SWAP_ACCOUNT", Statement(_BLIND.values(sums=bindparam("recorded"))))


def no_lock(stack: ExitStack) -> None:
    """Statements one by one: neither BEGIN IMMEDIATE nor an advisory lock, and a swap that compares nothing.

    The chain stays whole, so that nobody fails: what must be caught is the budget.
    """
    debit, begin, append = Holder.debit, transactions.Transaction.begin, insert_into(ENTRIES)

    def slowly(holder: Holder, writing: books.Writing, *priced: Any) -> Any:
        row = holder.standing(writing)
        time.sleep(_MEANWHILE)
        with patch.object(Holder, "standing", lambda _self, _writing: row):
            return debit(holder, writing, *priced)

    def without_lock(opened: transactions.Transaction, commands: Any, reads: Any) -> None:
        begin(opened, commands[:-1], reads)

    def finish(writing: books.Writing) -> None:
        writing.carry_out()
        connection, left = writing.connection, list(writing._appended)
        while left:
            moved = books.Writing(writing._transaction, books.read_facts(connection))
            moved.append(left[0]["kind"], left[0]["account"], json.loads(left[0]["body"]))
            with suppress(IntegrityError), connection.begin_nested():  # somebody else was quicker: behind that one
                connection.execute(append, moved._appended)
                connection.execute(update(FACTS).values(sequence=moved.sequence, head=moved.head))
                del left[0]

    _patched(
        stack, transactions.Transaction, "begin", lambda opened, commands, reads: begin(opened, commands[:-1], reads)
    )
    _patched(stack, books.Books, "_doubt", lambda _books, _connection, _facts, _seen: None)
    _patched(stack, books.Writing, "finish", finish)
    _swapped_blindly(stack)
    _patched(stack, Holder, "debit", slowly)


def read_then_write(stack: ExitStack) -> None:
    """The budget is read before the lock is taken, and replaced whatever it is by then."""
    reserve = Holder._reserve

    def reading_first(holder: Holder, *given: Any) -> Any:
        row = holders.Standing(*holder.books.database.row(holders._STANDING, {"holder": holder.id}) or ())
        time.sleep(_MEANWHILE)
        with patch.object(Holder, "standing", lambda _self, _writing: row):
            return reserve(holder, *given)

    _swapped_blindly(stack)
    _patched(stack, Holder, "_reserve", reading_first)


def refund_on_failure(stack: ExitStack) -> None:
    """What failed is given back."""
    reserve = Holder._reserve
    before: dict[int, str] = {}

    def remembering(holder: Holder, *given: Any) -> int:
        budget = holder.row().budget
        request = reserve(holder, *given)
        before[request] = budget
        return request

    def give_back(holder: Holder, request: int) -> None:
        if request in before:
            with holder.books.writing(debits=False) as writing:
                holder.swap(writing, holder.row_within(writing), restore(before[request]))
                writing.connection.execute(delete(REQUESTS).where(REQUESTS.c.id == request))

    _patched(stack, Holder, "_reserve", remembering)
    _patched(stack, Holder, "_give_back_lease", give_back)


def answer_before_debit(stack: ExitStack) -> None:
    """It runs and stores, and then it is paid for."""
    perform, insert = Holder.perform, Holder._insert

    def running_first(holder: Holder, work: Work) -> Stored:
        if holder.find(work.key) is not None or not work.offers:
            return perform(holder, work)
        form = canonical(work.form)
        prices = price_offers(holder.opened, work.offers)
        finished, salt = work.run(), new_salt()
        committed = commitment(salt, finished.answer)
        with holder.books.writing() as writing:
            made = insert(holder, writing, work, form, "[]")
            writing.carry_out()
            request = int(made.row[0])
            writing.append("answered", holder.account, {"request": request, "commitment": committed})
            values: dict[str, Any] = {"state": RequestState.ANSWERED, "answer": finished.answer, "salt": salt}
            values |= {"sequence": writing.sequence, "head": writing.head}
            writing.connection.execute(update(REQUESTS).where(REQUESTS.c.id == request).values(**values))
            if finished.beside is not None:
                finished.beside(writing.connection, request)
        with holder.books.writing() as writing:
            body = {"holder": holder.id, "kind": work.kind, "form": digest(form), "named": named(work.key, work.what)}
            writing.append("reserved", holder.account, body | holder.debit(writing, prices))
        return perform(holder, work)

    _patched(stack, Holder, "perform", running_first)


def no_anchor(stack: ExitStack) -> None:
    """Nothing outside the database knows how far it had come."""

    def doubt(opened: books.Books, connection: Any, facts: Any, _seen: Any) -> str | None:
        return None if opened.database.place(connection) == facts.place else "it lies in another place"

    _patched(stack, books.Books, "_doubt", doubt)


def revealed_before_stored(stack: ExitStack) -> None:
    """Answers are stored with the next request, to save a commit."""
    store = Holder._store
    late: list[Callable[[], object]] = []

    def later(holder: Holder, request: int, finished: Finished) -> Stored:
        while late:
            late.pop()()
        if finished.beside is not None:
            return store(holder, request, finished)
        late.append(lambda: store(holder, request, finished))
        return Stored(request, finished.answer, holder.receipt(0, "", None))

    _patched(stack, Holder, "_store", later)


def last_answer_wins(stack: ExitStack) -> None:
    """Whoever stores later puts another answer in the place of the first."""
    told: dict[str, Any] = {name: bindparam(f"new_{name}") for name in holders._TOLD}
    _patched(stack, holders, "_STORE", Statement(_OVERWRITE.values(told)))


def paid_again(stack: ExitStack) -> None:
    """Whoever takes over a request pays for it once more."""
    take = Holder._take_over

    def paying(holder: Holder, found: Any, *, anyway: bool) -> bool:
        taken = take(holder, found, anyway=anyway)
        if taken:
            paid = [read_request_document(each) for each in json.loads(found.paid)]
            with holder.books.writing() as writing:
                holder.debit(writing, price_offers(holder.opened, [tuple(paid)]))
        return taken

    _patched(stack, Holder, "_take_over", paying)


def any_question(stack: ExitStack) -> None:
    """A key gets its answer, whatever is asked under it."""
    _patched(stack, Holder, "check_same", lambda _holder, _found, _kind, _form: None)


def rounded_down(stack: ExitStack) -> None:
    """Prices are rounded to the nearest float."""
    price = price_offers

    def rounded(*given: Any) -> Any:
        found = price(*given)
        near = [Fraction(float(each.cost.epsilon or 0)).limit_denominator(10**9) for each in found]
        return tuple(replace(each, cost=replace(each.cost, epsilon=eps)) for each, eps in zip(found, near, strict=True))

    _patched(stack, holders, "price_offers", rounded)


def slots_for_everybody(stack: ExitStack) -> None:
    """A slot may be taken again, and after it was split."""
    _patched(stack, opening, "change_free_slot", lambda _writing, _number, _name, **_values: None)


def forgetful_mechanisms(stack: ExitStack) -> None:
    """A mechanism begins anew whenever it is opened."""

    def current(run: runs.DurableRun) -> tuple[int, Any]:
        return run._row().version, run._spec.start(run._table)

    _patched(stack, runs.DurableRun, "_current", current)


FOR_CROWDS: dict[str, Breaking] = {each.__name__: each for each in (no_lock, read_then_write)}
"""Caught by several processes at once."""
FOR_HISTORIES: dict[str, Breaking] = {
    each.__name__: each
    for each in (
        refund_on_failure,
        answer_before_debit,
        no_anchor,
        revealed_before_stored,
        last_answer_wins,
        paid_again,
        any_question,
        rounded_down,
        slots_for_everybody,
        forgetful_mechanisms,
    )
}
"""Caught by histories of one process."""
