"""A ledger: accounts of groups of people in a database, usable without any server.

>>> from optcomp.ledger import Ledger
>>> ledger = Ledger("survey.ledger")
>>> account = ledger.open("survey 2026", epsilon="3", delta="1e-6")
>>> with account.session(table, SumFilter("0.5"), name="ada") as session:
...     session.ask(Count(), epsilon="0.1").value
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Row, insert, select, update

from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.guarantees import ApproxDP, PureDP, checked_delta
from optcomp.interactive import BestFilter, Filter, Refused, charge_cheapest, in_words, price_offers, restore
from optcomp.ledger import copies, exports, overview, verification
from optcomp.ledger.account import Account
from optcomp.ledger.amounts import NOTHING, written_sums
from optcomp.ledger.books import Books, Writing
from optcomp.ledger.caps import cap_of
from optcomp.ledger.chain import canonical
from optcomp.ledger.copies import Adoption, Waiting
from optcomp.ledger.exports import Export
from optcomp.ledger.history import HistoryEntry, history
from optcomp.ledger.holders import Holder
from optcomp.ledger.opening import check_name
from optcomp.ledger.overview import AccountView
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.schema import FACTS, HOLDERS, NOBODY, REQUESTS
from optcomp.ledger.states import AccountState
from optcomp.ledger.units import Unit
from optcomp.ledger.verification import Verification
from optcomp.numerics import Number
from optcomp.statistics import Declared, Neighbours

LEASE = 30.0
"""Seconds after which a request that nobody finished may be run by somebody else."""
_DELTA = Fraction(1, 10**6)
"""δ of the odometer of an account that has no δ of its own."""
_UNCAPPED: tuple[Number, Number, Number] = 10**4, "1/2", "1/4"
"""The filter of an account without a cap: as much as any plan may ask for, and no promise to anybody."""
_TINY = Fraction(1, 10**9)
"""ε of a plan that every account must be able to price."""


class Ledger:
    """Accounts in a file (SQLite) or at a postgresql:// address.

    `private` is the folder with the keys and the anchor: by default beside the file; without it mechanisms are closed.
    `lease` is how many seconds a request may run before somebody else may finish it.
    `witness` is a folder on other storage, or a second postgresql:// database, that learns of every debit before its
    answer is told; without it nothing is debited.  It notices a ledger that went back in time with its private folder.
    """

    def __init__(
        self,
        address: str | Path,
        *,
        private: str | Path | None = None,
        lease: float = LEASE,
        create: bool = True,
        witness: str | Path | None = None,
    ) -> None:
        if not isinstance(lease, int | float) or not 0 < lease <= 86_400:
            raise InvalidInput("lease", lease, "must be a number of seconds above 0, at most a day")
        self._books = Books(address, private, lease=float(lease), create=create, witness=witness)

    @property
    def id(self) -> str:
        """By which receipts and snapshots name it."""
        return self._books.id

    @property
    def address(self) -> str:
        """Where it lives, without any password."""
        return self._books.database.shown

    @property
    def head(self) -> Receipt:
        """How far the chain has come."""
        with self._books.database.read() as connection:
            facts = connection.execute(select(FACTS)).one()
        return Receipt(facts.ledger, "", facts.sequence, facts.head)

    @property
    def doubt(self) -> str | None:
        """Why this may be a copy, which debits nothing; None if it is the original."""
        return self._books.doubt()

    def watch(self) -> str | None:
        """Let the anchor and the witness know how far the ledger has come; return why it may be a copy, if so.

        A server that calls it now and then notices a restore although it debited nothing since.
        """
        return self._books.watch()

    def present(self, receipt: Receipt | Mapping[str, Any], *, close: bool = True) -> str | None:
        """Return what a receipt shows to be missing here; None if the ledger has what the receipt proves.

        A ledger that lacks it went back in time: it debits nothing any more, on any server, until it is adopted.
        `close=False` only looks: receipts are not signed, so do not let everybody close a ledger.
        """
        return copies.present(self._books, receipt, close=close)

    def open(
        self,
        name: str,
        budget: Filter | None = None,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        neighbours: Neighbours | None = None,
        person: bool | None = None,
        disjoint: bool | None = None,
        sample: tuple[int, int] | None = None,
    ) -> Account:
        """The account of this name; opened with a filter, or with ε and δ, if there is none.

        With ε and δ it is a `BestFilter` that keeps half of δ for requests with a δ of their own, or a `SumFilter` if
        there is no δ.  `neighbours`, and whether all rows of a person are protected (`person`), are otherwise decided
        by the first table.  A second account must be about other people, and its owner must say so: `disjoint=True`.
        `sample` is (rows, population) of a secret random sample, for the total that is told (BBG18).
        """
        check_name(name)
        if isinstance(budget, Filter) and budget.admitted:
            raise InvalidInput("budget", budget, "has been spent from: open an account with a fresh filter")
        given = cap_of(budget, epsilon, delta)
        found = self._find(name)
        if found is None:
            if given is None:
                raise InvalidInput("name", name, f"is no account of {self.address}; open it with epsilon and delta")
            found = self._opened(name, given, _unit(neighbours, person), disjoint, sample, capped=True)
        _check_about(found, neighbours, person, sample)
        if given is not None and found.opened != given.document_text():
            problem = f"is not the budget of account {name!r}, which is {_words(restore(found.opened))}"
            raise InvalidInput("budget", _words(given), f"{problem}; `Account.lower` lowers it")
        return Account(Holder(self._books, found, name))

    def open_uncapped(
        self,
        name: str,
        *,
        declared: Declared,
        delta: Number | None = None,
        sample: tuple[int, int] | None = None,
        disjoint: bool | None = None,
    ) -> Account:
        """The account of this name; if there is none, one without a cap, about the unit of a table.

        It claims what its odometer says of everything recorded, at the δ that is fixed here, and nothing else.  A cap
        that `Account.lower` sets before the first request is claimed too; one that is set later is a limit, and no
        promise.
        """
        check_name(name)
        found = self._find(name)
        if found is None:
            unit, given = Unit.of(declared), None if delta is None else Fraction(checked_delta(delta))
            about = name, BestFilter(*_UNCAPPED), [unit.neighbours, unit.whose], disjoint, sample
            found = self._opened(*about, capped=False, delta=given)
        return Account(Holder(self._books, found, name))

    def account(self, name: str) -> Account:
        """An account that is there."""
        return self.open(name)

    def accounts(self) -> tuple[Account, ...]:
        """All accounts, in the order in which they were opened."""
        with self._books.database.read() as connection:
            rows = connection.execute(select(HOLDERS).where(HOLDERS.c.parent == NOBODY).order_by(HOLDERS.c.id)).all()
        return tuple(Account(Holder(self._books, row, row.name)) for row in rows)

    def _find(self, name: str) -> Row[Any] | None:
        with self._books.database.read() as connection:
            return self._find_within(connection, name)

    def _find_within(self, connection: Any, name: str) -> Row[Any] | None:
        named = select(HOLDERS).where(HOLDERS.c.parent == NOBODY, HOLDERS.c.name == name)
        found: Row[Any] | None = connection.execute(named).one_or_none()
        return found

    def _opened(
        self,
        name: str,
        budget: Filter,
        unit: list[str] | None,
        disjoint: bool | None,
        sample: tuple[int, int] | None,
        *,
        capped: bool,
        delta: Fraction | None = None,
    ) -> Row[Any]:
        _check_useful(budget)
        _check_sample(sample)
        total = budget.total
        if capped:
            delta = Fraction(total.delta) if isinstance(total, ApproxDP) else None
        about: dict[str, Any] = {"unit": unit, "capped": capped, "sample": None if sample is None else list(sample)}
        about |= {"delta": str(delta or _DELTA)}
        with self._books.writing() as writing:
            found = self._find_within(writing.connection, name)
            if found is not None:
                return found  # somebody else opened it a moment ago
            others = list(writing.connection.scalars(select(HOLDERS.c.name).where(HOLDERS.c.parent == NOBODY)))
            _check_disjoint(name, others, disjoint)
            return self._insert(writing, name, budget, canonical(about), others)

    def _insert(self, writing: Writing, name: str, budget: Filter, about: str, others: Sequence[str]) -> Row[Any]:
        text = budget.document_text()
        values = {"account": NOBODY, "parent": NOBODY, "slot": None, "name": name, "about": about, "opened": text}
        values |= {"budget": text, "version": 1, "guard": 0, "sums": written_sums(NOTHING), "state": AccountState.OPEN}
        number: int = writing.connection.scalar(insert(HOLDERS).values(values).returning(HOLDERS.c.id))
        own = update(HOLDERS).where(HOLDERS.c.id == number).values(account=number).returning(HOLDERS)
        found = writing.connection.execute(own).one()
        body = {"holder": number, "name": name, "about": json.loads(about), "opened": json.loads(text)}
        writing.append("opened", number, body | {"disjoint": list(others)})
        return found

    def verify(self, *, receipts: Iterable[Receipt | Mapping[str, Any]] = ()) -> Verification:
        """Derive every total again from the chain, with the theorem that proves it, and compare with the tables.

        Receipts that people kept are looked for: a ledger without the head of a receipt has lost what it proves.
        """
        return verification.verify(self._books, receipts=receipts)

    def overview(self) -> tuple[AccountView, ...]:
        """All accounts as they stand: what they promised, what is left, what was recorded."""
        return overview.overview(self._books)

    def history(self, *, after: int = 0, most: int = 100) -> tuple[HistoryEntry, ...]:
        """What happened after an entry, the oldest first, in words: no answer, no data."""
        return history(self._books, after=after, most=most)

    def export(self, path: str | Path) -> Export:
        """Write a signed export into a new file: all entries and questions, and no answer; `verify_export` reads it."""
        return exports.export(self._books, path)

    def backup(self, path: str | Path) -> Receipt:
        """Copy the database into a new file, while others go on writing; how far the copy goes.

        The private folder is not in it: back up its keys apart.  A ledger in PostgreSQL is backed up by pg_dump.
        """
        return copies.backup(self._books, path)

    def adopt(self, head: str | Receipt, *, take_as_spent: bool = False) -> Adoption:
        """Go on with a copy, or with a backup that was restored, in the place where it lies.

        `head` is that of the last receipt anybody has.  If the copy does not end there, debits are missing in it: it is
        refused, or `take_as_spent=True` closes all accounts, sessions and free slots.  Stored answers are served.  What
        was paid for and has no answer here may have been answered before, and is closed too.  Adopt one copy only, and
        never one whose original goes on.
        """
        return copies.adopt(self._books, head, take_as_spent=take_as_spent)

    def rotate_keys(self) -> int:
        """Encrypt what mechanisms remember under a new key, and drop the old ones; how many mechanisms there are."""
        return copies.rotate_keys(self._books)

    def waiting(self) -> tuple[Waiting, ...]:
        """Requests that were paid for and have no answer: the same question again runs them."""
        return copies.waiting(self._books)

    def give_up(self, request: int) -> Receipt:
        """A request of `waiting` will have no answer any more; what it cost stays spent."""
        return copies.give_up(self._books, request)

    def opening(self, receipt: Receipt) -> tuple[str, str]:
        """Salt and answer of a receipt with a commitment: whoever is shown both can check that this was the answer."""
        mine = select(REQUESTS.c.salt, REQUESTS.c.answer).where(REQUESTS.c.sequence == receipt.sequence)
        with self._books.database.read() as connection:
            found = connection.execute(mine.where(REQUESTS.c.head == receipt.head)).one_or_none()
        if found is None or found.salt is None:
            raise InvalidInput("receipt", receipt.sequence, "is not that of an answer in this ledger")
        return found.salt, found.answer

    def close(self) -> None:
        """Give back all connections; nothing is lost by not doing it."""
        self._books.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self.address!r})"


def _check_useful(budget: Filter) -> None:
    """Refuses a filter that could price none of the plans that people make."""
    try:
        refused = isinstance(charge_cheapest(budget, price_offers(budget, [(PureDP(_TINY),)])), Refused)
    except HypothesisNotMet:
        refused = True
    if refused:
        raise InvalidInput("budget", _words(budget), "could not pay for any plan")


def _check_sample(sample: object) -> None:
    if sample is None:
        return
    whole = isinstance(sample, tuple | list) and len(sample) == 2 and all(type(each) is int for each in sample)
    if not whole or not 0 < sample[0] <= sample[1]:  # type: ignore[index]
        raise InvalidInput(
            "sample", sample, "must be (rows, population), whole numbers, the first not above the second"
        )


def _check_about(row: Row[Any], neighbours: str | None, person: bool | None, sample: tuple[int, int] | None) -> None:
    """Refuses to find an account that protects something else than its owner believes."""
    about, whose = json.loads(row.about), None if person is None else "person" if person else "row"
    known = about["unit"] or [neighbours, whose]
    for argument, given, found in (("neighbours", neighbours, known[0]), ("person", whose, known[1])):
        if given is not None and given != found:
            raise InvalidInput(argument, given, f"account {row.name!r} protects {Unit(*known)}")
    if sample is not None and list(sample) != about["sample"]:
        raise InvalidInput("sample", sample, f"is not the one of account {row.name!r}, {about['sample']}")


def _check_disjoint(name: str, others: Sequence[str], disjoint: bool | None) -> None:
    if not others or disjoint is True:
        return
    shown = ", ".join(map(repr, others[:3])) + (" and others" if len(others) > 3 else "")
    if disjoint is None:
        problem = f"must be said: may anybody of {name!r} be in {shown} too? If so, use that account; if not, True"
        raise InvalidInput("disjoint", disjoint, problem)
    raise InvalidInput("disjoint", disjoint, f"people who may be in {shown} share that account: use it for {name!r}")


def _unit(neighbours: str | None, person: bool | None) -> list[str] | None:
    if neighbours is None and person is None:
        return None
    if neighbours not in ("add-remove", "replace", None):
        raise InvalidInput("neighbours", neighbours, "must be add-remove or replace")
    return [neighbours or "add-remove", "row" if person is False else "person"]


def _words(budget: Filter) -> str:
    return f"{type(budget).__name__} of {in_words(budget.total)}"
