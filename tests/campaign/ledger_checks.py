"""What must be true of a ledger's tables at every moment, worked out from their rows by hashlib and fractions."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

from optcomp.ledger import Ledger
from optcomp.ledger.chain import Entry, first_head, follow
from tests.oracles.budgets import FULL, ZERO, Holder, Slot

_NAMED = ("question", "code", "mechanism", "session", "batch", "entered")
"""Kinds of requests whose keys the model knows."""

_TABLES = ("holders ORDER BY id", "requests ORDER BY id", "entries ORDER BY sequence", "slots ORDER BY id")


@dataclass
class Rows:
    """All rows of a ledger, in one reading."""

    facts: Any
    holders: list[Any]
    requests: list[Any]
    entries: list[Any]
    slots: list[Any]

    @classmethod
    def of(cls, ledger: Ledger) -> Rows:
        with ledger._books.database.read() as connection:
            facts = connection.exec_driver_sql("SELECT * FROM facts").one()
            found = [list(connection.exec_driver_sql(f"SELECT * FROM {table}")) for table in _TABLES]
        return cls(facts, *found)


def check_chain(rows: Rows) -> None:
    """Every head is the hash of the entry and of the head before it, and the last one is the ledger's."""
    head = sha256(f"optcomp-ledger\n{rows.facts.ledger}".encode()).hexdigest()
    for number, entry in enumerate(rows.entries, start=1):
        assert entry.sequence == number
        listed = json.dumps([entry.sequence, entry.at, entry.kind, entry.account, entry.body], separators=(",", ":"))
        head = sha256(f"{head}\n{listed}".encode()).hexdigest()
        assert entry.head == head
    assert (rows.facts.sequence, rows.facts.head) == (len(rows.entries), head)
    known = ((Entry(each.sequence, each.at, each.kind, each.account, each.body), each.head) for each in rows.entries)
    followed = list(follow(known, first_head(rows.facts.ledger), end=(rows.facts.sequence, rows.facts.head)))
    assert len(followed) == len(rows.entries)


def paid_in_chain(rows: Rows) -> dict[int, Fraction]:
    """Σε that the chain says each holder has paid."""
    sums: dict[int, Fraction] = defaultdict(lambda: ZERO)
    for entry in rows.entries:
        body = json.loads(entry.body)
        if body.get("price"):
            payer = body["parent"] if entry.kind == "session" else body["holder"]
            sums[payer] += Fraction(body["price"]["epsilon"])
    return sums


def check_answers(rows: Rows) -> None:
    """Every stored answer was committed to in the chain, after the debit that paid for it."""
    debits: dict[tuple[int, str], int] = {}
    for entry in rows.entries:
        if entry.kind == "reserved":
            body = json.loads(entry.body)
            debits.setdefault((body["holder"], body["form"]), entry.sequence)
    at = {entry.sequence: entry for entry in rows.entries}
    for row in rows.requests:
        if row.answer is None or row.kind in ("session", "batch", "entered"):
            continue
        entry = at[row.sequence]
        assert entry.head == row.head
        committed = sha256(f"{row.salt}\n{row.answer}".encode()).hexdigest()
        assert json.loads(entry.body)["commitment"] == committed
        if row.kind == "ask":
            assert entry.kind == "asked"
        else:
            assert entry.kind == "answered"
            debit = debits.get((row.holder, sha256(row.form.encode()).hexdigest()))
            assert debit is not None, "an answer without a debit"
            assert debit < row.sequence, "an answer before its debit"


def check_holders(rows: Rows, accounts: dict[str, Holder], asks: dict[int, int]) -> None:
    """Each budget holds what the model adds up to, within its cap, and its requests are those of the model."""
    ids: dict[int, int] = {}
    for account in accounts.values():
        for holder in account.all():
            _check_holder(rows, account, holder, ids, asks)
    assert len(ids) == len(rows.holders), "a holder that nobody opened, or one that is lost"


def _check_holder(rows: Rows, account: Holder, holder: Holder, ids: dict[int, int], asks: dict[int, int]) -> None:
    parent = next((ids[id(each)] for each in account.all() if holder in each.sessions.values()), 0)
    (row,) = [each for each in rows.holders if (each.parent, each.name) == (parent, holder.name)]
    ids[id(holder)] = row.id
    document = json.loads(row.budget)
    assert Fraction(document["spent"]["epsilon"]) == holder.spent
    assert Fraction(document["spent"]["delta"]) == 0
    assert Fraction(document["spent"].get("rho", holder.rho)) == holder.rho
    assert Fraction(document["parameters"]["epsilon"]) == holder.epsilon
    assert document["admitted"] == holder.admitted
    assert holder.share() <= 1
    assert row.guard == holder.guard <= FULL
    assert row.state == ("open" if holder.open else "overdrawn")
    assert paid_in_chain(rows)[row.id] == holder.spent
    if holder.is_account:
        assert Fraction(json.loads(row.sums)["epsilon"]) == holder.recorded
    _check_requests([each for each in rows.requests if each.holder == row.id], holder, asks.get(id(holder), 0))


def _check_requests(rows: list[Any], holder: Holder, asks: int) -> None:
    found = {row.key: row for row in rows if row.kind in _NAMED}
    assert found.keys() == holder.requests.keys()
    for key, request in holder.requests.items():
        assert (found[key].answer is not None) == request.answered
        if request.told is not None:
            assert request.told == _told(found[key]), "something was revealed that is not stored"
    assert Counter(row.kind for row in rows)["ask"] == asks


def _told(row: Any) -> Any:
    """The number that a stored answer tells."""
    answer = json.loads(row.answer)
    return int(answer["amounts"][0][0]) if row.kind == "question" else answer


def check_slots(rows: Rows, slots: dict[str, Slot]) -> None:
    """Each slot is there once, with its share and its state."""
    assert {row.name: (Fraction(row.epsilon), row.state) for row in rows.slots} == {
        name: (slot.epsilon, slot.state) for name, slot in slots.items()
    }
