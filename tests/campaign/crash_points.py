"""Named points at which a worker kills itself, and ledgers that are broken on purpose: patched in the worker alone."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from sqlalchemy import text, update

from optcomp.interactive import GuessAndCheck, PrivateMultiplicativeWeights
from optcomp.interactive.sparse_vector import Comparing
from optcomp.ledger import anchor, books, database, holders, runs, session, transactions
from optcomp.ledger.schema import HOLDERS

_COMMITS = ("created", "opened", "unit", "session", "batch", "reserved", "answered", "started", "asked")
"""Commits that the anchor is told of: kinds of entries; `started` is the answer of a request for a mechanism."""
_MOMENTS = ("before the commit", "after the commit", "after the anchor")
_SILENT = ("delivered", "lease")
"""Commits that add nothing to the chain: answers that were handed out, and a request of a dead process taken over."""
POINTS = (
    *(f"{kind}: {moment}" for kind in _COMMITS for moment in _MOMENTS),
    *(f"{kind}: {moment}" for kind in _SILENT for moment in _MOMENTS[:2]),
    "question: before the run",
    "question: after the run",
    "mechanism: before its start",
    "mechanism: after its answer",
    "anchor: half written",
)
"""Everywhere that a worker can kill itself."""
BROKEN = {
    "tells before it stores": "answered: before the commit",
    "refunds on retry": "question: before the run",
    "debits nothing": "reserved: after the anchor",
    "draws the threshold again": "asked: after the anchor",
}
"""Ledgers that are wrong, to see that the judge finds it, and where a crash shows it."""


class Killer:
    """Kills this process when it passes a point for the n-th time."""

    def __init__(self, point: str | None, times: int) -> None:
        self._point, self._left = point, times
        self.doing: list[str] = []
        self.last = ""

    def at(self, point: str) -> bool:
        """Whether this is the time to die."""
        if point != self._point:
            return False
        self._left -= 1
        return self._left == 0

    def passing(self, point: str) -> None:
        """Die here, or go on."""
        if self.at(point):
            self.die()

    def die(self) -> None:
        """As a power cut would have it: nothing is cleaned up."""
        os.kill(os.getpid(), signal.SIGKILL)


def install(point: str | None, times: int) -> None:
    """Patch the ledger of this process."""
    killer = Killer(point, times)
    _watch_commits(killer)
    _watch_runs(killer)
    _watch_anchor(killer)
    session._LAZILY = 3  # so that answers are marked as delivered now and then


def _replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    setattr(owner, name, make(getattr(owner, name)))


def _watch_commits(killer: Killer) -> None:
    def finish(original: Any) -> Any:
        def finishing(self: books.Writing) -> None:
            kinds = [entry["kind"] for entry in self._appended]
            killer.last = (kinds or killer.doing[-1:] or [""])[0]
            if killer.last == "answered" and "start" in killer.doing:
                killer.last = "started"
            if not (self._appended or self._changes):  # everything was carried out at once
                killer.passing(f"{killer.last}: before the commit")
            original(self)

        return finishing

    def commit(original: Any) -> Any:
        def finishing(self: transactions.Transaction, changes: Any) -> Any:
            if killer.at(f"{killer.last}: before the commit"):
                self.run(changes)
                killer.die()
            return original(self, changes)

        return finishing

    def write(original: Any) -> Any:
        @contextmanager
        def writing(self: database.Database, *reads: Any) -> Iterator[transactions.Transaction]:
            killer.last = ""
            with original(self, *reads) as transaction:
                yield transaction
            killer.passing(f"{killer.last}: after the commit")

        return writing

    def tell(original: Any) -> Any:
        def telling(*arguments: Any) -> None:
            original(*arguments)
            killer.passing(f"{killer.last or 'created'}: after the anchor")

        return telling

    _replace(books.Writing, "finish", finish)
    _replace(transactions.Transaction, "finish", commit)
    _replace(database.Database, "transaction", write)
    _replace(books.Books, "_remember", tell)
    for owner, name, what in (
        (session.DurableSession, "_flush", "delivered"),
        (holders.Holder, "_take_over", "lease"),
        (holders.Holder, "_give_back_lease", "given back"),
    ):
        _replace(owner, name, partial(_during, killer, what))


def _during(killer: Killer, what: str, original: Any) -> Any:
    def wrapped(*arguments: Any, **named: Any) -> Any:
        killer.doing.append(what)
        try:
            return original(*arguments, **named)
        finally:
            killer.doing.pop()

    return wrapped


def _watch_runs(killer: Killer) -> None:
    def answering(original: Any) -> Any:
        def answered(*arguments: Any) -> Any:
            killer.passing("question: before the run")
            found = original(*arguments)
            killer.passing("question: after the run")
            return found

        return answered

    def before(point: str) -> Callable[[Any], Any]:
        def patched(original: Any) -> Any:
            def called(*arguments: Any, **named: Any) -> Any:
                killer.passing(point)
                return original(*arguments, **named)

            return called

        return patched

    def storing(original: Any) -> Any:
        def stored(self: holders.Holder, request: int, finished: holders.Finished) -> Any:
            what = "answer" if finished.beside is None else "start"
            return _during(killer, what, original)(self, request, finished)

        return stored

    _replace(session, "answer", answering)
    for mechanism in (Comparing, GuessAndCheck, PrivateMultiplicativeWeights):
        _replace(mechanism, "start", before("mechanism: before its start"))
    _replace(runs.DurableRun, "_store", before("mechanism: after its answer"))
    _replace(holders.Holder, "_store", storing)


def _watch_anchor(killer: Killer) -> None:
    def store(original: Any) -> Any:
        def stored(self: anchor.Anchor, seen: anchor.Seen) -> None:
            if killer.at("anchor: half written"):
                turn = self._turn + 1
                half = anchor._record(turn, seen)[:200]
                os.pwrite(self._handle, half, turn % 2 * 512)
                killer.die()
            original(self, seen)

        return stored

    _replace(anchor.Anchor, "_store", store)


def break_ledger(how: str, tell: Callable[[str], None]) -> None:
    """Patch a fault into this process; `tell` shows an answer to the outside."""
    {
        "tells before it stores": lambda: _tell_early(tell),
        "refunds on retry": _refund,
        "debits nothing": _forget_debits,
        "draws the threshold again": _draw_again,
    }[how]()


def _tell_early(tell: Callable[[str], None]) -> None:
    def answering(original: Any) -> Any:
        def answered(*arguments: Any) -> Any:
            found = original(*arguments)
            tell(json.dumps(found.document(), sort_keys=True))
            return found

        return answered

    _replace(session, "answer", answering)


def _refund() -> None:
    def take_over(original: Any) -> Any:
        def taken(self: holders.Holder, found: Any, *, anyway: bool) -> bool:
            mine: bool = original(self, found, anyway=anyway)
            if mine:
                with self.books.database.write() as connection:
                    back = update(HOLDERS).where(HOLDERS.c.id == self.id)
                    connection.execute(back.values(budget=self.opened.document_text(), guard=0))
            return mine

        return taken

    _replace(holders.Holder, "_take_over", take_over)


def _forget_debits() -> None:
    def debit(original: Any) -> Any:
        def debited(self: holders.Holder, writing: Any, *priced: Any) -> Any:
            found = original(self, writing, *priced)
            if not self.is_account:
                writing.carry_out()
                nothing = "UPDATE holders SET budget = opened, guard = 0 WHERE id = :id"
                writing.connection.execute(text(nothing), {"id": self.id})
            return found

        return debited

    _replace(holders.Holder, "debit", debit)


def _draw_again() -> None:
    def resume(original: Any) -> Any:
        def resumed(self: Comparing, table: Any, state: Any) -> Any:
            return original(self, table, {**state, "threshold": self.start(table).state()["threshold"]})

        return resumed

    _replace(Comparing, "resume", resume)
