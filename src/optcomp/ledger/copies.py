"""Backups, copies that are taken over, and new keys.

A backup holds the database and nothing else: the keys in the private folder are backed up apart, for whoever has both
can read what mechanisms remember.  A copy spends nothing until its owner adopts it.  Its owner says which head the last
receipt has; if the copy does not end there, debits may be missing in it, and all of the budget counts as spent.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, update

from optcomp.errors import InvalidInput
from optcomp.ledger.books import Books, Writing, adoptions, read_facts
from optcomp.ledger.chain import canonical
from optcomp.ledger.keys import Keys
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.schema import ENTRIES, FACTS, HOLDERS, MECHANISMS, REQUESTS, SLOTS
from optcomp.ledger.states import AccountState, RequestState, SlotState

_HEAD = re.compile(r"[0-9a-f]{64}")
"""A head of the chain."""
_ADVICE = "with take_as_spent it is adopted all the same, and all of its budget counts as spent"
"""What may be done without the last head."""


@dataclass(frozen=True)
class Adoption:
    """What became of a copy that was adopted."""

    ledger: str
    incarnation: int
    sequence: int
    head: str
    """Of the entry by which it was adopted."""
    spent: bool
    """Whether all of its budget counts as spent."""
    new_key: bool
    """Whether its keys were lost, and new ones were made: what mechanisms remember is lost then."""

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class Waiting:
    """A request that was paid for and has no answer."""

    id: int
    account: str
    holder: str
    """The account itself, or a session."""
    what: str


def backup(books: Books, path: str | Path) -> Receipt:
    """Copy the database into a new file, while others write; how far the copy goes."""
    if not books.database.sqlite:
        problem = "a ledger in PostgreSQL is backed up by pg_dump, or with its cluster"
        raise InvalidInput("ledger", books.database.shown, problem)
    target = Path(path)
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise InvalidInput("path", str(target), "exists already; it is not overwritten") from None
    except OSError as error:
        raise InvalidInput("path", str(target), f"cannot be written ({error.strerror})") from None
    try:
        return _copied(books, target)
    except BaseException:
        with suppress(OSError):
            target.unlink()
        raise


def _copied(books: Books, target: Path) -> Receipt:
    with books.database.borrowed() as connection, closing(sqlite3.connect(target)) as copy:
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a -wal that could be left behind
        ledger, sequence, head = copy.execute("SELECT ledger, sequence, head FROM facts").fetchone()
    handle = os.open(target, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return Receipt(ledger, "", sequence, head)


def adopt(books: Books, head: str | Receipt, *, take_as_spent: bool = False) -> Adoption:
    """Go on with a copy in the place where it lies; see `Ledger.adopt`."""
    given = head.head if isinstance(head, Receipt) else head
    if not isinstance(given, str) or not _HEAD.fullmatch(given):
        raise InvalidInput("head", given, "must be the head of a receipt: 64 digits in hex, small letters")
    seen = books.last_seen()
    if any(known is not None and known.ledger != books.id for known in seen.values()):
        raise InvalidInput("private", str(books.private), "is the private folder of another ledger")
    with books.writing(debits=False) as writing:
        if books.doubt_within(writing.connection, seen) is None and not take_as_spent:
            raise InvalidInput("ledger", books.database.shown, "is the original; there is nothing to adopt")
        missing = _missing(books, writing, given)
        if missing is not None and not take_as_spent:
            raise InvalidInput("head", given, f"{missing}; {_ADVICE}")
        new_key = _new_keys(books)
        _enter(books, writing, given, spent=take_as_spent)
    books.settle_memories()
    return Adoption(books.id, writing.incarnation, writing.sequence, writing.head, take_as_spent, new_key)


def _missing(books: Books, writing: Writing, given: str) -> str | None:
    """What says that debits may be missing in this copy."""
    for name, seen in books.last_seen().items():
        if seen is None:
            continue
        if seen.incarnation > writing.incarnation or seen.sequence > writing.sequence:
            return f"the {name} knows entry {seen.sequence}, and this copy ends at entry {writing.sequence}"
        known = select(ENTRIES.c.head).where(ENTRIES.c.sequence == seen.sequence)
        if writing.connection.scalar(known) != seen.head:
            return f"the {name} knows another head at entry {seen.sequence} than this copy has"
    if given == _adopted_before(writing):
        return None
    within = writing.connection.scalar(select(ENTRIES.c.sequence).where(ENTRIES.c.head == given))
    if within is not None:  # what follows it was told to nobody, or somebody would have a newer receipt
        return None
    return f"is that of none of its {writing.sequence} entries: debits may be missing in this copy"


def present(books: Books, given: Receipt | Mapping[str, Any], *, close: bool) -> str | None:
    """Return what a receipt shows to be missing in this ledger; with `close` it debits nothing from then on."""
    receipt = given if isinstance(given, Receipt) else Receipt.read(given)
    if receipt.ledger != books.id:
        raise InvalidInput("receipt", receipt.ledger, f"is of another ledger than this one, {books.id}")
    with books.database.read() as connection:
        facts = read_facts(connection)
        head = connection.scalar(select(ENTRIES.c.head).where(ENTRIES.c.sequence == receipt.sequence))
        spent = [entry for entry, body in adoptions(connection) if body["spent"] and entry <= receipt.sequence]
    if head == receipt.head:
        return None
    has = f"ends at entry {facts.sequence}" if head is None else "has another head there"
    reason = f"a receipt knows entry {receipt.sequence}, and this ledger {has}"
    if spent:  # what was lost counts as spent already
        return f"{reason}; it was adopted with all of its budget spent at entry {spent[0]}, which may be the reason"
    if close:
        books.note_lost(reason, facts.incarnation)
    return reason


def _adopted_before(writing: Writing) -> str | None:
    """The head of an adoption that was entered, and interrupted before the anchor knew of it."""
    last = writing.connection.execute(select(ENTRIES).where(ENTRIES.c.sequence == writing.sequence)).one()
    return str(json.loads(last.body)["head"]) if last.kind == "adopted" else None


def _new_keys(books: Books) -> bool:
    """Where the keys are lost, mechanisms stay closed; new ones sign from now on."""
    if books.private is None or books.keys is not None:
        return False
    books.keys = Keys.find(books.private) or Keys.create(books.private)
    return True


def _enter(books: Books, writing: Writing, given: str, *, spent: bool) -> None:
    connection, before = writing.connection, writing.connection.execute(select(FACTS)).one()
    key = before.public_key if books.keys is None else books.keys.public_key
    books.adopted(writing)
    connection.execute(update(FACTS).values(public_key=key))
    if spent:
        _spend(connection)
    body = {"from": before.place, "to": books.database.place(connection), "incarnation": writing.incarnation}
    writing.append("adopted", None, body | {"head": given, "spent": spent, "public_key": key})


def _spend(connection: Connection) -> None:
    """Close everything: what has no answer here may have been answered in what was lost."""
    spent = {"state": AccountState.SPENT, "version": HOLDERS.c.version + 1}
    connection.execute(update(HOLDERS).where(HOLDERS.c.state == AccountState.OPEN).values(**spent))
    overdrawn = select(HOLDERS.c.id, HOLDERS.c.about).where(HOLDERS.c.state == AccountState.OVERDRAWN)
    for row in connection.execute(overdrawn).all():  # neither their caps nor their sums hold
        about = canonical(json.loads(row.about) | {"capped": False})
        connection.execute(update(HOLDERS).where(HOLDERS.c.id == row.id).values(about=about, **spent))
    connection.execute(update(SLOTS).where(SLOTS.c.state == SlotState.FREE).values(state=SlotState.SPENT))


def _nothing(step: str) -> None:
    """Nobody watches the steps."""


def rotate_keys(books: Books, *, step: Callable[[str], None] = _nothing) -> int:
    """Encrypt everything that mechanisms remember under a new key, and drop the old ones; how many states there are.

    An interruption leaves keys that read everything; the next rotation finishes it.  `step` is told how far it came.
    """
    keys = books.keys
    if keys is None:
        raise InvalidInput("private", str(books.private), "the ledger is open without the keys in its private folder")
    with books.writing() as writing:
        keys.rotate()
        step("rotated")
        stored = writing.connection.execute(select(MECHANISMS.c.id, MECHANISMS.c.state)).all()
        states = [row for row in stored if keys.reads(row.state)]  # what no key reads is lost in any case
        for row in states:
            change = update(MECHANISMS).where(MECHANISMS.c.id == row.id)
            writing.connection.execute(change.values(state=keys.reencrypt(row.state)))
        step("encrypted")
    step("committed")
    with books.writing() as writing:  # under the lock: another rotation may be between its keys and its commit
        tokens = writing.connection.scalars(select(MECHANISMS.c.state)).all()
        if all(keys.is_newest(token) or not keys.reads(token) for token in tokens):
            keys.retire()
    step("retired")
    return len(states)


def waiting(books: Books) -> tuple[Waiting, ...]:
    """Requests that were paid for and have no answer."""
    accounts = HOLDERS.alias()
    wanted = select(REQUESTS.c.id, accounts.c.name, HOLDERS.c.name, REQUESTS.c.what)
    joined = wanted.join(HOLDERS, HOLDERS.c.id == REQUESTS.c.holder).join(accounts, accounts.c.id == HOLDERS.c.account)
    mine = joined.where(REQUESTS.c.state == RequestState.RESERVED).order_by(REQUESTS.c.id)
    with books.database.read() as connection:
        return tuple(Waiting(*row) for row in connection.execute(mine))


def give_up(books: Books, request: int) -> Receipt:
    """A request that is paid for will have no answer; what it cost stays spent."""
    with books.writing() as writing:
        wanted = select(REQUESTS.c.state, HOLDERS.c.account).join(HOLDERS, HOLDERS.c.id == REQUESTS.c.holder)
        row = writing.connection.execute(wanted.where(REQUESTS.c.id == request)).one_or_none()
        if row is None or row.state != RequestState.RESERVED:
            raise InvalidInput("request", request, "is no request that waits for an answer")
        name: str = writing.connection.scalar(select(HOLDERS.c.name).where(HOLDERS.c.id == row.account)) or ""
        writing.append("failed", row.account, {"request": request})
        values = {"state": RequestState.FAILED, "lease": None, "sequence": writing.sequence, "head": writing.head}
        writing.connection.execute(update(REQUESTS).where(REQUESTS.c.id == request).values(**values))
    return Receipt(books.id, name, writing.sequence, writing.head)
