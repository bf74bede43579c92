"""Crashes at named points of a write, and a clock that is moved by hand: in one process, so that histories are quick.

A write of a ledger that appends to the chain has three points: before it commits, after that and before the anchor is
told, and after both.  What runs between two writes lies between the last point of one and the first of the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from optcomp.ledger import books, holders, leases, transactions

POINTS = ("before the commit", "before the anchor", "after the anchor")
"""Where a write may be interrupted."""
_STEP = 4.0
"""Seconds by which the clock moves on when somebody waits: a few looks, instead of real time."""


class Killed(BaseException):
    """The process is gone; nothing may catch this."""


@dataclass
class Clock:
    """Stands for the module `time`: the time of day may be put forward or back, and waiting takes no time."""

    passed: float = 0.0
    moved: float = 0.0
    waits: int = 0

    def time(self) -> float:
        return 1.7e9 + self.passed + self.moved

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, _seconds: float) -> None:
        self.passed += _STEP
        self.waits += 1


@dataclass
class Interruptions:
    """Counts the writes that append to the chain, and kills one of them."""

    clock: Clock = field(default_factory=Clock)
    committed: list[str] = field(default_factory=list)
    """The kinds of the entries that were committed."""
    _pending: list[str] = field(default_factory=list)
    _at: tuple[int, str] | None = None
    _writes: int = 0

    @contextmanager
    def armed(self, at: tuple[int, str] | None) -> Iterator[None]:
        """Kill the n-th write from here on, at a point of it."""
        self.committed, self._pending, self._at, self._writes = [], [], at, 0
        try:
            yield
        finally:
            self._at = None

    def _reach(self, point: str) -> None:
        if self._at == (self._writes, point):
            self._at = None
            raise Killed

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Patch the ledger's writes and its clock."""
        finish, commit, tell = books.Writing.finish, transactions.Transaction.finish, books.Books._remember

        def finishing(writing: books.Writing) -> None:
            if writing._appended:
                self._writes += 1
                self._pending = [entry["kind"] for entry in writing._appended]
            finish(writing)

        def committing(transaction: transactions.Transaction, changes: Any) -> Any:
            if self._pending and self._at == (self._writes, POINTS[0]):
                transaction.run(changes)
                self._reach(POINTS[0])
            return commit(transaction, changes)

        def telling(opened: books.Books, *seen: Any) -> None:
            self.committed += self._pending
            self._pending = []
            self._reach(POINTS[1])
            tell(opened, *seen)
            self._reach(POINTS[2])

        with ExitStack() as stack:
            stack.enter_context(patch.object(books.Writing, "finish", finishing))
            stack.enter_context(patch.object(transactions.Transaction, "finish", committing))
            stack.enter_context(patch.object(books.Books, "_remember", telling))
            stack.enter_context(patch.object(holders, "time", self.clock))
            stack.enter_context(patch.object(leases, "time", self.clock))
            yield
