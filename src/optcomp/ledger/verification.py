"""Verifying a ledger: the chain is followed once, everything is derived again from it, and compared with the tables.

Nothing is trusted but the formulas.  The chain tells what happened; holders, slots, requests and mechanisms must say
what follows from it, to the last digit.  Whoever can write the database can also write a whole other chain, so the
receipts that people keep are checked against it: a chain without the head of a receipt has lost what that one proves.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import Row, Table, select

from optcomp.errors import InvalidInput, OptcompError
from optcomp.interactive import RecordedTotal, in_words, recorded_total
from optcomp.ledger.books import Books, wrongly_inserted
from optcomp.ledger.chain import Broken, Entry, commitment, digest, first_head, follow
from optcomp.ledger.claims import promised
from optcomp.ledger.columns import inserting_transaction
from optcomp.ledger.database import WholeReading
from optcomp.ledger.derivation import CREATING, HOLDING, Derivation
from optcomp.ledger.derived import DerivedHolder
from optcomp.ledger.keys import WrongKey
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.runs import unsealed
from optcomp.ledger.schema import ENTRIES, FACTS, HOLDERS, MECHANISMS, REQUESTS, SLOTS, VERSION
from optcomp.ledger.states import AccountState, RequestState

_ANSWERED = (RequestState.ANSWERED, RequestState.DELIVERED)
"""States with a stored answer; which of the two says only whether it was handed out, and is not in the chain."""
_ACCEPTING = frozenset({"adopted", "migrated"})
"""Kinds of entries from which on every entry must be one that the ledger inserted."""
_ENTERED = ("", None)
"""Answer and salt of a request that is answered by being entered."""


@dataclass(frozen=True)
class VerifiedAccount:
    """What is proved of an account."""

    name: str
    state: AccountState
    total: str | None
    """In words, what holds of everything that it admits; None where no cap is claimed."""
    theorems: tuple[str, ...]
    recorded: tuple[RecordedTotal, ...]
    """What holds of everything that was recorded; none where debits may be missing."""
    sessions: int
    slots: int
    requests: int
    """Debits of the account itself."""

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        recorded = [
            {"epsilon": each.epsilon, "delta": str(each.delta), "theorem": each.theorem} for each in self.recorded
        ]
        own = {"name": self.name, "state": str(self.state), "total": self.total, "theorems": list(self.theorems)}
        return own | {"recorded": recorded, "sessions": self.sessions, "slots": self.slots, "requests": self.requests}


@dataclass(frozen=True)
class Verification:
    """What a verification found."""

    ledger: str
    sequence: int
    head: str
    """The end of the chain."""
    entries: int
    """How many of its entries hold."""
    findings: tuple[str, ...]
    """What is wrong, in plain words; empty if everything holds."""
    doubt: str | None
    """Why this may be a copy, or may have gone back in time; None if nothing shows it, and for exports."""
    accounts: tuple[VerifiedAccount, ...]
    theorems: tuple[str, ...]
    """All that were used."""
    receipts: int
    """How many receipts were looked for."""
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether everything holds, and this is the original as far as can be seen."""
        return not self.findings and self.doubt is None

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        own = {"ok": self.ok, "ledger": self.ledger, "sequence": self.sequence, "head": self.head}
        own |= {"entries": self.entries, "findings": list(self.findings), "doubt": self.doubt}
        own |= {"theorems": list(self.theorems)}
        accounts = [each.document() for each in self.accounts]
        return own | {"accounts": accounts, "receipts": self.receipts, "seconds": round(self.seconds, 3)}


class Sought:
    """Receipts that must lie on a chain."""

    def __init__(self, receipts: Iterable[Receipt | Mapping[str, Any]], ledger: str, derivation: Derivation) -> None:
        self._derivation = derivation
        self._at: dict[int, list[Receipt]] = {}
        self.count = 0
        for given in receipts:
            receipt = given if isinstance(given, Receipt) else Receipt.read(given)
            self.count += 1
            if receipt.ledger != ledger:
                self._lost(receipt, f"it is of another ledger, {receipt.ledger}")
            else:
                self._at.setdefault(receipt.sequence, []).append(receipt)

    def look(self, entry: Entry, body: Any, head: str) -> None:
        """Whether the receipts of an entry are those of this chain."""
        for receipt in self._at.pop(entry.sequence, ()):
            account = self._derivation.holders.get(entry.account or 0)
            if receipt.head != head:
                self._lost(receipt, "the chain has another head there")
            elif receipt.commitment is not None and receipt.commitment != body.get("commitment"):
                self._lost(receipt, "the answer that was committed to there is another one")
            elif receipt.account and (account is None or account.name != receipt.account):
                self._lost(receipt, "the entry there is of another account")

    def finish(self) -> None:
        """What was not found."""
        for receipt in (each for several in self._at.values() for each in several):
            self._lost(receipt, "the chain does not reach so far")

    def _lost(self, receipt: Receipt, why: str) -> None:
        where = f"the receipt of entry {receipt.sequence}"
        self._derivation.findings.add(f"{where}: this ledger has lost what the receipt proves: {why}")


def verify(books: Books, *, receipts: Iterable[Receipt | Mapping[str, Any]] = ()) -> Verification:
    """Derive everything again from the chain, and compare: see `Verification`."""
    started = time.monotonic()
    seen = books.last_seen()
    with books.database.read_whole() as reading:
        doubt = books.doubt_within(reading.connection, seen)
        return _Check(books, reading, doubt).run(receipts, started)


class _Check:
    """One verification of one state of a database."""

    def __init__(self, books: Books, reading: WholeReading, doubt: str | None) -> None:
        self._books, self._reading, self._doubt = books, reading, doubt
        self._derivation = Derivation()
        self._wrong = self._derivation.findings.add
        self._facts = reading.connection.execute(select(FACTS)).one()
        self._head, self._entries = first_head(self._facts.ledger), 0
        self._next = self._head
        self._waiting: dict[int, Row[Any]] = {}
        """Requests with an answer, until the entry of the answer comes."""
        self._restored: str | None = None
        """What shows that an entry was restored from a dump, since the ledger was last adopted or migrated."""

    def run(self, receipts: Iterable[Receipt | Mapping[str, Any]], started: float) -> Verification:
        facts, sought = self._facts, Sought(receipts, self._facts.ledger, self._derivation)
        try:
            self._follow(sought)
        except Broken as broken:
            self._wrong(f"the chain is broken at {broken}; what follows was not looked at")
        else:
            self._derivation.finish()
            self._compare()
        sought.finish()
        doubt = self._doubt or self._restored
        return concluded(self._derivation, facts.ledger, self._entries, self._head, sought.count, started, doubt)

    def _follow(self, sought: Sought) -> None:
        requests = self._reading.rows(select(REQUESTS).order_by(REQUESTS.c.id))
        abouts = self._reading.rows(select(HOLDERS.c.id, HOLDERS.c.about).order_by(HOLDERS.c.id))
        loads, take = json.loads, self._derivation.take
        end = self._facts.sequence, self._facts.head
        for entry in follow(self._rows(), self._head, end=end):
            self._entries, self._head = self._entries + 1, self._next
            try:
                body, kind = loads(entry.body), entry.kind
            except ValueError:
                self._wrong(f"entry {entry.sequence}: its body is not JSON")
                continue
            row = next(requests, None) if kind in CREATING else None
            about = next(abouts, None) if kind in HOLDING else None
            take(entry, body, row, None if about is None else about.about)
            if row is not None:
                self._check_request(entry, body, row)
            elif kind == "answered" or kind == "failed":
                self._check_answer(entry, body)
            sought.look(entry, body, self._head)
        for row in requests:
            self._wrong(f"request {row.id} is in no entry of the chain")

    def _rows(self) -> Iterator[tuple[Entry, str]]:
        columns = [ENTRIES.c[name] for name in ("sequence", "at", "kind", "account", "body", "head", "inserted_by")]
        every = select(*columns, inserting_transaction(ENTRIES.name)).order_by(ENTRIES.c.sequence)
        for *entry, head, inserted_by, inserting in self._reading.rows(every):
            self._next, found = head, Entry(*entry)
            if inserting is not None:  # in PostgreSQL
                self._trace(found, inserted_by, inserting)
            yield found, head

    def _trace(self, entry: Entry, inserted_by: int | None, inserting: int) -> None:
        """Notice entries that the ledger did not insert; an adoption or a migration accepts those before it."""
        if entry.kind in _ACCEPTING:
            self._restored = None
        self._restored = self._restored or wrongly_inserted(entry.sequence, inserted_by, inserting)

    def _check_request(self, entry: Entry, body: Any, row: Row[Any]) -> None:
        """What only the database has of a request that this entry creates."""
        if row.paid != self._paid(body):
            self._wrong(f"request {row.id}: what it paid is not what entry {entry.sequence} says")
        if entry.kind == "reserved" and row.state != RequestState.RESERVED:
            self._waiting[row.id] = row
            return
        if (row.sequence, row.head) != (entry.sequence, self._head):
            self._wrong(f"request {row.id} names another entry than its own, {entry.sequence}")
        if entry.kind == "asked":
            self._check_commitment(entry, body, row)
        elif entry.kind != "reserved" and ((row.answer, row.salt) != _ENTERED or row.state not in _ANSWERED):
            self._wrong(f"request {row.id} has an answer, and was only entered")

    def _paid(self, body: Any) -> str | None:
        try:
            return self._derivation.written(body.get("paid", []))
        except OptcompError:
            return None

    def _check_answer(self, entry: Entry, body: Any) -> None:
        """The answer, or the end, of a request."""
        row = self._waiting.pop(body["request"], None)
        if row is None:
            self._wrong(f"request {body['request']} has no answer, and entry {entry.sequence} says that it has")
            return
        if (row.sequence, row.head) != (entry.sequence, self._head):
            self._wrong(f"request {row.id} names another entry than that of its answer, {entry.sequence}")
        if entry.kind == "answered":
            self._check_commitment(entry, body, row)
        elif row.state != RequestState.FAILED:
            self._wrong(f"request {row.id} was given up, and is {row.state}")

    def _check_commitment(self, entry: Entry, body: Any, row: Row[Any]) -> None:
        try:
            same = row.state in _ANSWERED and commitment(row.salt, row.answer) == body["commitment"]
        except (TypeError, InvalidInput):
            same = False
        if not same:
            self._wrong(f"request {row.id}: its answer is not the one that entry {entry.sequence} commits to")

    def _compare(self) -> None:
        for number in self._waiting:
            self._wrong(f"request {number} has an answer, or was given up, and no entry says so")
        derived = self._derivation
        expected: dict[str, object] = {"ledger": derived.ledger, "incarnation": derived.incarnation}
        expected |= {"place": derived.place, "public_key": derived.public_key, "version": VERSION}
        self._same("the ledger", expected, self._facts)
        self._compare_rows(HOLDERS, {number: each.columns() for number, each in derived.holders.items()}, "holder")
        self._compare_rows(SLOTS, {number: each.columns() for number, each in derived.slots.items()}, "slot")
        opened = {number: each.columns() for number, each in derived.mechanisms.items() if each.opened}
        self._compare_rows(MECHANISMS, opened, "mechanism")

    def _compare_rows(self, table: Table, expected: dict[int, dict[str, object]], what: str) -> None:
        for row in self._reading.rows(select(table).order_by(table.c.id)):
            known = expected.pop(row.id, None)
            if known is None:
                self._wrong(f"{what} {row.id} is in no entry of the chain")
                continue
            self._same(f"{what} {row.id}", known, row)
            if table is HOLDERS:
                self._check_about(row)
            elif table is MECHANISMS:
                self._check_state(row)
        for number in expected:
            self._wrong(f"{what} {number} is in the chain and not in its table")

    def _same(self, what: str, expected: Mapping[str, object], row: Row[Any]) -> None:
        for name, value in expected.items():
            if getattr(row, name) != value:
                self._wrong(f"{what}: its {name.replace('_', ' ')} is not what follows from the chain")

    def _check_about(self, row: Row[Any]) -> None:
        holder = self._derivation.holders[row.id]
        if (row.about if holder.is_account else digest(row.about)) != holder.about:
            self._wrong(f"holder {row.id}: its about is not what follows from the chain")

    def _check_state(self, row: Row[Any]) -> None:
        if self._books.keys is None or self._derivation.mechanisms[row.id].lost:  # nobody can read it
            return
        try:
            unsealed(self._books.keys, row)
        except (WrongKey, KeyError, TypeError, ValueError):
            self._wrong(f"mechanism {row.id}: what it remembers cannot be read, or is not its newest state")


def concluded(
    derivation: Derivation,
    ledger: str,
    entries: int,
    head: str,
    receipts: int,
    started: float,
    doubt: str | None = None,
) -> Verification:
    """The result, after the last entry."""
    accounts = tuple(_account(each) for each in derivation.holders.values() if each.is_account)
    used = {name for each in derivation.holders.values() for name in each.theorems}
    used |= {total.theorem for account in accounts for total in account.recorded}
    found = derivation.findings.all()
    seconds = time.monotonic() - started
    return Verification(ledger, entries, head, entries, found, doubt, accounts, tuple(sorted(used)), receipts, seconds)


def _account(holder: DerivedHolder) -> VerifiedAccount:
    claimed = None
    if holder.state != AccountState.OVERDRAWN:
        claimed = promised(holder.facts, holder.opened.document())
    recorded: tuple[RecordedTotal, ...] = ()
    if holder.state != AccountState.SPENT:
        try:
            recorded = recorded_total(holder.sums, Fraction(holder.facts["delta"]))
        except OptcompError:
            recorded = ()
    total = None if claimed is None else f"{in_words(claimed.total)} ({claimed.theorem})"
    used = tuple(sorted(holder.theorems))
    counts = holder.sessions, holder.slots, holder.requests
    return VerifiedAccount(holder.name, holder.state, total, used, recorded, *counts)
