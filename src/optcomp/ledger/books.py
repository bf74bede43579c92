"""What all parts of an open ledger share: its database, its chain, its keys, and whether it is the original."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from optcomp.errors import InvalidInput, OptcompError
from optcomp.ledger import schema
from optcomp.ledger.anchor import Anchor, Seen, judge
from optcomp.ledger.chain import Canonical, canonical, first_head, next_head
from optcomp.ledger.database import Database, NoLedgerYet
from optcomp.ledger.keys import Keys
from optcomp.ledger.schema import ENTRIES, FACTS
from optcomp.ledger.transactions import Row, Run, Statement, Transaction

_ANCHOR = "anchor"
"""The file in the private folder."""


class Facts(NamedTuple):
    """Which ledger this is, and how far its chain has come."""

    ledger: str
    incarnation: int
    place: str
    sequence: int
    head: str


_FACTS = select(*(FACTS.c[name] for name in Facts._fields))
_READ_FACTS = Statement(_FACTS)
_HEAD_AT = Statement(select(ENTRIES.c.head).where(ENTRIES.c.sequence == bindparam("known")))
_ENTER = Statement(insert(ENTRIES))
_MOVE = Statement(update(FACTS).values(sequence=bindparam("last"), head=bindparam("newest")), changes_one=True)


class LedgerCopied(OptcompError):
    """The ledger is a copy, or went back in time: it serves stored answers, and debits nothing until it is adopted."""

    def __init__(self, ledger: str, reason: str) -> None:
        self.ledger = ledger
        self.reason = reason
        advice = "nothing was spent; `optcomp ledger adopt` takes it over, with the head of the last receipt"
        super().__init__(f"{ledger} may be a copy: {reason}; {advice}")


class Change:
    """One statement of a write, carried out with the others at its end."""

    def __init__(self, statement: Statement, values: Mapping[str, Any]) -> None:
        self.run = statement, values
        self.row: tuple[Any, ...] = ()
        """What it returned, if it returns anything."""


class Writing:
    """One write: what is appended to the chain commits with everything else in it, or not at all."""

    def __init__(self, transaction: Transaction, facts: Facts, read: tuple[Any, ...] | None = None) -> None:
        self._transaction = transaction
        self.ledger: str = facts.ledger
        self.incarnation: int = facts.incarnation
        self.sequence: int = facts.sequence
        self.head: str = facts.head
        self.read = read
        """The row that was read together with the facts, if one was asked for."""
        self._appended: list[dict[str, Any]] = []
        self._changes: list[Change] = []

    @property
    def connection(self) -> Connection:
        """For statements that are carried out at once."""
        return self._transaction.connection

    def change(self, statement: Statement, values: Mapping[str, Any]) -> Change:
        """A statement that is carried out when the write ends; it may return one row."""
        made = Change(statement, values)
        self._changes.append(made)
        return made

    def append(self, kind: str, account: int | None, body: Mapping[str, Any] | Canonical) -> None:
        """One more entry; `sequence` and `head` are then those of the entry."""
        at, written = now(), body if isinstance(body, str) else canonical(body)
        self.sequence += 1
        self.head = next_head(self.head, self.sequence, at, kind, account, written)
        entry = {"sequence": self.sequence, "at": at, "kind": kind, "account": account, "body": written}
        entry["head"] = self.head
        self._appended.append(entry)

    def carry_out(self) -> None:
        """All changes so far; `Overtaken` if one of them changed nothing."""
        self._carry_out(self._transaction.run)

    def finish(self) -> None:
        """All changes, and what was appended; then the commit."""
        for entry in self._appended:
            self.change(_ENTER, entry)
        if self._appended:
            self.change(_MOVE, {"last": self.sequence, "newest": self.head})
        if self._changes:
            self._carry_out(self._transaction.finish)

    def _carry_out(self, run: Callable[[Sequence[Run]], Sequence[Row]]) -> None:
        changes, self._changes = self._changes, []
        for each, row in zip(changes, run([each.run for each in changes]), strict=True):
            each.row = row or ()


class Books:
    """An open ledger, from within."""

    def __init__(self, address: str | Path, private: str | Path | None, *, lease: float, create: bool) -> None:
        self.database = Database(address, create=create)
        self.lease = lease
        self.private = _private(self.database, private)
        self._anchor = None if self.private is None else Anchor(self.private / _ANCHOR)
        try:
            self.keys = self._keys(create=create)
            self.id, public_key = self._begin(create=create)
        except BaseException:
            self.close()
            raise
        if self.keys is not None and self.keys.public_key != public_key:
            self.keys = None  # of another ledger

    def _keys(self, *, create: bool) -> Keys | None:
        if self.private is None:
            return None
        found = Keys.find(self.private)
        if found is None and create and self._is_new():
            try:
                return Keys.create(self.private)
            except InvalidInput:
                found = Keys.find(self.private)  # somebody else creates the same ledger
                if found is None:
                    raise
        return found

    def _is_new(self) -> bool:
        """Whether there is no ledger yet; one whose file is gone is not new."""
        if self._anchor is not None and self._anchor.read() is not None:
            if not self._exists():
                problem = "is gone, but its private folder is here; restore a backup, and adopt it"
                raise InvalidInput("ledger", self.database.shown, problem)
            return False
        return not self._exists()

    def _exists(self) -> bool:
        if self.database.sqlite and not self.database.path.exists():
            return False
        with self.database.read() as connection:
            return schema.exists(connection)

    def _begin(self, *, create: bool) -> tuple[str, str | None]:
        """Create the tables where there are none, in one transaction; then say which ledger this is."""
        if create and self._is_new():
            self._create()
        with self.database.read() as connection:
            if not schema.exists(connection):
                if schema.holds_nothing(connection):
                    raise NoLedgerYet("ledger", self.database.shown, "is an empty database")
                raise InvalidInput("ledger", self.database.shown, "is not a ledger")
        with self.database.write() as connection:
            schema.migrate(connection)
            facts = connection.execute(select(FACTS)).one()
        if facts.sequence == 1:
            self.database.settle()
        new = facts.sequence == 1 and self.keys is not None  # a copy has no keys beside it
        if self._anchor is not None and new and self._anchor.read() is None:
            self._tell_anchor(facts.ledger, facts.incarnation, 1, facts.head, facts.place)  # nothing has happened yet
        return facts.ledger, facts.public_key

    def _create(self) -> None:
        if self.database.sqlite:
            with suppress(FileExistsError):  # one that is there is not opened: closing it would drop SQLite's locks
                os.close(os.open(self.database.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with self.database.transaction() as transaction:
            connection = transaction.connection
            if schema.exists(connection):
                return
            schema.create(connection, self.database.shown)
            ledger, key = secrets.token_hex(16), None if self.keys is None else self.keys.public_key
            place = self.database.place(connection)
            first = {"id": 1, "ledger": ledger, "version": schema.VERSION, "incarnation": 1, "sequence": 0}
            first |= {"place": place, "public_key": key, "head": first_head(ledger)}
            connection.execute(insert(FACTS), first)
            writing = Writing(transaction, read_facts(connection))
            writing.append("created", None, {"ledger": ledger, "public_key": key, "place": place})
            writing.finish()

    @contextmanager
    def writing(
        self, *, debits: bool = True, read: tuple[Statement, Mapping[str, Any]] | None = None
    ) -> Iterator[Writing]:
        """A write; refused where the ledger is a copy, unless it debits nothing.

        The anchor is told after the commit and before anything can be revealed.  `read` is a query that is asked as
        soon as the ledger is locked; it saves waiting once more.
        """
        seen = self.last_seen() if debits else None  # before the lock, which others wait for
        with self.database.transaction([(_READ_FACTS, {}), *([] if read is None else [read])]) as transaction:
            found = transaction.first
            facts = Facts(*found[0] or ())
            if debits:
                self._check_original(transaction.connection, facts, seen)
            writing = Writing(transaction, facts, None if read is None else found[1])
            yield writing
            writing.finish()
        if writing.sequence != facts.sequence and debits:
            self._tell_anchor(writing.ledger, writing.incarnation, writing.sequence, writing.head, facts.place)

    def _tell_anchor(self, ledger: str, incarnation: int, sequence: int, head: str, place: str) -> None:
        if self._anchor is not None:
            self._anchor.write(Seen(ledger, incarnation, sequence, head, place))

    def _check_original(self, connection: Connection, facts: Facts, seen: Seen | None) -> None:
        reason = self._doubt(connection, facts, seen)
        if reason is not None:
            raise LedgerCopied(self.database.shown, reason)

    def _doubt(self, connection: Connection, facts: Facts, seen: Seen | None) -> str | None:
        """Why this may not be the original, if so; what the anchor knows was read before the facts."""
        place = self.database.place(connection)
        if place != facts.place:
            return "it lies in another place than it was made in"
        if self._anchor is None:
            return None

        def head_at(sequence: int) -> str | None:
            if sequence == facts.sequence:
                return facts.head
            found = _HEAD_AT.row(connection, {"known": sequence})
            return None if found is None else str(found[0])

        return judge(seen, facts.ledger, facts.incarnation, facts.sequence, head_at, place)

    def doubt(self) -> str | None:
        """Why this may not be the original; None if it is."""
        seen = self.last_seen()
        with self.database.read() as connection:
            return self.doubt_within(connection, seen)

    def doubt_within(self, connection: Connection, seen: Seen | None) -> str | None:
        """The same inside a transaction, with what the anchor knew before it began."""
        return self._doubt(connection, read_facts(connection), seen)

    def adopted(self, writing: Writing) -> None:
        """Where the ledger lies now is its place from now on."""
        place = self.database.place(writing.connection)
        writing.incarnation += 1
        change = {"incarnation": writing.incarnation, "place": place}
        writing.connection.execute(update(FACTS).values(**change))

    def settle_anchor(self) -> None:
        """Write the anchor anew, after an adoption."""
        if self._anchor is None:
            return
        with self.database.read() as connection:
            facts = read_facts(connection)
        self._anchor.replace(Seen(facts.ledger, facts.incarnation, facts.sequence, facts.head, facts.place))

    def last_seen(self) -> Seen | None:
        """What the anchor knows."""
        return None if self._anchor is None else self._anchor.read()

    def close(self) -> None:
        """Give everything back."""
        self.database.close()
        if self._anchor is not None:
            self._anchor.close()


def _private(database: Database, given: str | Path | None) -> Path | None:
    if given is not None:
        return Path(given)
    return database.path.with_name(f"{database.path.name}.private") if database.sqlite else None


def read_facts(connection: Connection) -> Facts:
    """As they stand."""
    return Facts(*connection.execute(_FACTS).one())


def now() -> str:
    """The time, in UTC and whole seconds."""
    return _written(int(time.time()))


@lru_cache(maxsize=1)
def _written(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")
