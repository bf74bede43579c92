"""What all parts of an open ledger share: its database, its chain, its keys, and whether it is the original."""

from __future__ import annotations

import json
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
from optcomp.ledger.anchor import Anchor, Doubt, Seen, judge
from optcomp.ledger.chain import Canonical, canonical, first_head, next_head
from optcomp.ledger.columns import inserting_transaction, table_number, transaction_number
from optcomp.ledger.database import Database, NoLedgerYet
from optcomp.ledger.keys import Keys
from optcomp.ledger.schema import ENTRIES, FACTS
from optcomp.ledger.transactions import Row, Run, Statement, Transaction
from optcomp.ledger.witness import Memory, witness_of

_ANCHOR = "anchor"
"""The file in the private folder, and what it is called."""
_WITNESS = "witness"
"""What a witness is called."""
_TRANSACTIONS = 2**32
"""PostgreSQL keeps so many numbers of transactions with its rows; then it begins again, with another epoch."""


class Facts(NamedTuple):
    """Which ledger this is, and how far its chain has come."""

    ledger: str
    incarnation: int
    place: str
    sequence: int
    head: str
    lost: str | None
    """What showed that entries are missing."""
    witnessed: int | None
    """1 if nothing is debited without a witness."""
    entries_table: int | None
    """The number of the table of entries that the head was written for; this and what follows only in PostgreSQL."""
    table_now: int | None
    inserted_by: int | None
    """The number of the transaction that inserted the last entry, as it was stored with it."""
    inserting: int | None
    """Its low 32 bits, as PostgreSQL keeps them."""


_STORED_FACTS = ("ledger", "incarnation", "place", "sequence", "head", "lost", "witnessed", "entries_table")
_FACTS = select(
    *(FACTS.c[name] for name in _STORED_FACTS),
    table_number(ENTRIES.name),
    ENTRIES.c.inserted_by,
    inserting_transaction(ENTRIES.name),
).select_from(FACTS.outerjoin(ENTRIES, ENTRIES.c.sequence == FACTS.c.sequence))
_READ_FACTS = Statement(_FACTS)
_HEAD_AT = Statement(select(ENTRIES.c.head).where(ENTRIES.c.sequence == bindparam("known")))
_ENTER = Statement(
    insert(ENTRIES).values(
        {name: bindparam(name) for name in ("sequence", "at", "kind", "account", "body", "head")}
        | {"inserted_by": transaction_number()}
    )
)
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

    def __init__(
        self,
        address: str | Path,
        private: str | Path | None,
        *,
        lease: float,
        create: bool,
        witness: str | Path | None = None,
    ) -> None:
        self.database = Database(address, create=create)
        self.lease = lease
        self.private = _private(self.database, private)
        self._anchor = None if self.private is None else Anchor(self.private / _ANCHOR)
        self._memories: dict[str, Memory] = {} if self._anchor is None else {_ANCHOR: self._anchor}
        try:
            self.keys = self._keys(create=create)
            self.id, public_key = self._begin(witness, create=create)
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

    def _begin(self, witness: str | Path | None, *, create: bool) -> tuple[str, str | None]:
        """Create the tables where there are none, in one transaction; then say which ledger this is."""
        if create and self._is_new():
            self._create(witnessed=witness is not None)
        with self.database.read() as connection:
            if not schema.exists(connection):
                if schema.holds_nothing(connection):
                    raise NoLedgerYet("ledger", self.database.shown, "is an empty database")
                raise InvalidInput("ledger", self.database.shown, "is not a ledger")
        with self.database.transaction() as transaction:
            if schema.migrate(transaction.connection):
                writing = Writing(transaction, read_facts(transaction.connection))
                writing.append("migrated", None, {"version": schema.VERSION})
                writing.finish()
            facts = transaction.connection.execute(select(FACTS)).one()
            place = self.database.place(transaction.connection)
        if facts.sequence == 1:
            self.database.settle()
        if witness is not None:
            self._memories[_WITNESS] = witness_of(witness, facts.ledger, place)
        new = facts.sequence == 1 and self.keys is not None  # a copy has no keys beside it
        if new and None in self.last_seen().values():  # nothing has happened yet
            self._remember(Seen(facts.ledger, facts.incarnation, 1, facts.head, facts.place))
        return facts.ledger, facts.public_key

    def _create(self, *, witnessed: bool) -> None:
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
            first |= {"entries_table": table_number(ENTRIES.name), "witnessed": int(witnessed)}
            connection.execute(insert(FACTS).values(first))
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
        seen = self.last_seen() if debits else {}  # before the lock, which others wait for
        with self.database.transaction([(_READ_FACTS, {}), *([] if read is None else [read])]) as transaction:
            found = transaction.first
            facts = Facts(*found[0] or ())
            if debits:
                self._check_original(transaction.connection, facts, seen)
            writing = Writing(transaction, facts, None if read is None else found[1])
            yield writing
            writing.finish()
        if writing.sequence != facts.sequence and debits:
            self._remember(Seen(writing.ledger, writing.incarnation, writing.sequence, writing.head, facts.place))

    def _remember(self, seen: Seen) -> None:
        for memory in self._memories.values():
            memory.write(seen)

    def _check_original(self, connection: Connection, facts: Facts, seen: Mapping[str, Seen | None]) -> None:
        doubt = self._doubt(connection, facts, seen)
        if doubt is not None:
            raise LedgerCopied(self.database.shown, doubt.reason)

    def _doubt(self, connection: Connection, facts: Facts, seen: Mapping[str, Seen | None]) -> Doubt | None:
        """Return why this may not be the original, if so; what anchor and witness know was read before the facts."""
        place = self.database.place(connection)
        if place != facts.place:
            return Doubt("it lies in another place than it was made in")
        if facts.lost is not None:
            return Doubt(facts.lost)
        restored = _restored(facts)
        if restored is not None:
            return Doubt(restored)
        if facts.witnessed and _WITNESS not in seen:
            return Doubt("it debits only together with its witness, and was opened without it")

        def head_at(sequence: int) -> str | None:
            if sequence == facts.sequence:
                return facts.head
            found = _HEAD_AT.row(connection, {"known": sequence})
            return None if found is None else str(found[0])

        own = facts.ledger, facts.incarnation, facts.sequence, head_at, place
        found = (judge(known, *own, name) for name, known in seen.items() if not _spent_since(connection, known, facts))
        return next(filter(None, found), None)

    def doubt(self) -> str | None:
        """Return why this may not be the original; None if it is."""
        seen = self.last_seen()
        with self.database.read() as connection:
            return self.doubt_within(connection, seen)

    def doubt_within(self, connection: Connection, seen: Mapping[str, Seen | None]) -> str | None:
        """The same inside a transaction, with what anchor and witness knew before it began."""
        found = self._doubt(connection, read_facts(connection), seen)
        return None if found is None else found.reason

    def watch(self) -> str | None:
        """Let anchor and witness know how far the ledger has come; return why it may not be the original, if so.

        What proves that entries are missing is stored in the ledger, and then refuses debits on every server.
        """
        seen = self.last_seen()
        with self.database.read() as connection:
            facts = read_facts(connection)
            doubt = self._doubt(connection, facts, seen)
        if doubt is None:
            self._remember(Seen(facts.ledger, facts.incarnation, facts.sequence, facts.head, facts.place))
            return None
        if doubt.lost:
            with suppress(InvalidInput):  # whoever may only read the ledger does not debit it either
                self.note_lost(doubt.reason, facts.incarnation)
        return doubt.reason

    def note_lost(self, reason: str, incarnation: int) -> None:
        """Have every server refuse debits until the ledger is adopted; not if that has happened meanwhile."""
        change = update(FACTS).where(FACTS.c.incarnation == incarnation, FACTS.c.lost.is_(None)).values(lost=reason)
        with self.database.write() as connection:
            connection.execute(change)

    def adopted(self, writing: Writing) -> None:
        """Where the ledger lies now is its place from now on."""
        place = self.database.place(writing.connection)
        writing.incarnation += 1
        change = {"incarnation": writing.incarnation, "place": place, "lost": None}
        change |= {"entries_table": table_number(ENTRIES.name), "witnessed": int(_WITNESS in self._memories)}
        writing.connection.execute(update(FACTS).values(**change))

    def settle_memories(self) -> None:
        """Write anchor and witness anew, after an adoption."""
        with self.database.read() as connection:
            facts = read_facts(connection)
        for memory in self._memories.values():
            memory.replace(Seen(facts.ledger, facts.incarnation, facts.sequence, facts.head, facts.place))

    def last_seen(self) -> dict[str, Seen | None]:
        """Return what the anchor and the witness know, as far as there are any."""
        return {name: memory.read() for name, memory in self._memories.items()}

    def close(self) -> None:
        """Give everything back."""
        self.database.close()
        for memory in self._memories.values():
            memory.close()


def _private(database: Database, given: str | Path | None) -> Path | None:
    if given is not None:
        return Path(given)
    return database.path.with_name(f"{database.path.name}.private") if database.sqlite else None


def _restored(facts: Facts) -> str | None:
    """Return what shows, inside a database of PostgreSQL, that its rows were restored from a dump."""
    if facts.table_now is None:  # SQLite
        return None
    if facts.entries_table != facts.table_now:
        return "its tables were made anew, as a restored dump makes them"
    if facts.inserting is None:
        return f"entry {facts.sequence} is missing"
    return wrongly_inserted(facts.sequence, facts.inserted_by, facts.inserting)


def wrongly_inserted(sequence: int, inserted_by: int | None, inserting: int) -> str | None:
    """Return why a row of `entries` in PostgreSQL is not as the ledger inserted it; None if it is."""
    if inserted_by is None:
        return f"entry {sequence} was written by an older version of this program: stop all of its servers"
    if inserted_by % _TRANSACTIONS != inserting:
        return (
            f"entry {sequence} was not inserted by the ledger: it was restored from a dump, or its table was rewritten"
        )
    return None


def _spent_since(connection: Connection, known: Seen | None, facts: Facts) -> bool:
    """Whether the ledger was adopted with all of its budget spent, after what an anchor or a witness knows."""
    if known is None or known.ledger != facts.ledger or known.incarnation >= facts.incarnation:
        return False
    return any(body["spent"] and body["incarnation"] > known.incarnation for _, body in adoptions(connection))


def adoptions(connection: Connection) -> list[tuple[int, dict[str, Any]]]:
    """Return the entries by which the ledger was adopted: sequence and body."""
    wanted = select(ENTRIES.c.sequence, ENTRIES.c.body).where(ENTRIES.c.kind == "adopted").order_by(ENTRIES.c.sequence)
    return [(row.sequence, json.loads(row.body)) for row in connection.execute(wanted)]


def read_facts(connection: Connection) -> Facts:
    """As they stand."""
    return Facts(*connection.execute(_FACTS).one())


def now() -> str:
    """The time, in UTC and whole seconds."""
    return _written(int(time.time()))


@lru_cache(maxsize=1)
def _written(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")
