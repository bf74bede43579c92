"""Verification: what follows from the chain is what the tables say, and every change of either is found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, select
from sqlalchemy.exc import IntegrityError

from optcomp.guarantees import PureDP
from optcomp.interactive import BestFilter, RenyiFilter, SumFilter, ZCDPFilter
from optcomp.ledger import AccountState, Ledger, Receipt, RequestState, SlotState
from optcomp.ledger.chain import canonical, digest, next_head
from optcomp.ledger.schema import ENTRIES, FACTS, HOLDERS, METADATA, REQUESTS
from optcomp.statistics import Count
from tests.filled_ledger import change, filled, interrupt, table

MAY_CHANGE = {
    ("requests", "lease"): "who is at work may change at any time, and is in no entry",
    ("requests", "state"): "whether an answer was handed out is written lazily, and is in no entry",
}
ONLY_DOUBT = {"inserted_by", "entries_table", "lost", "witnessed"}
"""Columns that say whether this is the original, and nothing that the chain says too."""
ROWS = 5
"""Rows of each table that are changed."""


@pytest.fixture
def ledger(ledger_place: tuple[str, Path]) -> Iterator[Ledger]:
    made, _, _ = filled(ledger_place)
    yield made
    made.close()


def test_everything_is_derived_again(ledger: Ledger) -> None:
    found = ledger.verify()
    assert found.findings == ()
    assert found.ok
    assert (found.entries, found.head) == (ledger.head.sequence, ledger.head.head)
    survey, others = found.accounts
    assert (survey.name, survey.state, survey.total) == ("survey", "open", "(ε, δ) = (3, 1e-6) (BEST-FILTER)")
    assert set(survey.theorems) == {"BEST-FILTER", "RRUV16", "Lyu22-1", "GROUP", "MV18-1.5"}
    assert (survey.sessions, survey.slots, survey.requests) == (2, 5, 2)
    assert (others.state, others.total) == ("overdrawn", None)
    assert [each.theorem for each in others.recorded] == ["RRUV16", "WRRW23"]
    assert 0 <= others.recorded[0].exactly - Fraction(10, 9) <= Fraction(3, 10**30)  # each is rounded up
    assert {"RRUV16", "WRRW23"} <= set(found.theorems)
    assert json.loads(json.dumps(found.document()))["ok"] is True


def other(column: Column[Any], value: Any) -> Any:
    """A value that the column could hold."""
    if column.name == "state":
        states = {"requests": RequestState, "slots": SlotState, "holders": AccountState}.get(column.table.name, ())
        return next((each.value for each in reversed(states) if each != value), "a" + str(value)[1:])
    if value is None:
        return 1 if column.type.python_type is int else "x"
    if isinstance(value, int):
        return value + (10**6 if column.name == "id" else 1)
    return ("b" if value[:1] == "a" else "a") + value[1:]


def altered(ledger: Ledger, column: Column[Any], key: str, number: int, value: Any) -> bool:
    """Whether the database took it."""
    statement = f"UPDATE {column.table.name} SET {column.name} = :value WHERE {key} = :number"
    try:
        change(ledger, statement, value=value, number=number)
    except IntegrityError:
        return False
    return True


@pytest.mark.parametrize("name", sorted(METADATA.tables))
def test_a_change_of_any_column_is_found(ledger: Ledger, name: str) -> None:
    whole = METADATA.tables[name]
    key = "sequence" if name == "entries" else "id"
    with ledger._books.database.read() as connection:
        rows = connection.execute(select(whole).order_by(whole.c[key])).all()
    assert rows
    step, tried = max(1, len(rows) // ROWS), 0
    for row in rows[:-1:step] or rows:  # nothing but their order depends on the numbers of requests, so not the last
        number = getattr(row, key)
        for column in whole.c:
            value = getattr(row, column.name)
            changed = other(column, value)
            if not altered(ledger, column, key, number, changed):
                continue  # the database itself refuses it
            verified = ledger.verify()
            found = verified.findings
            moved = changed if column.name == key else number
            assert altered(ledger, column, key, moved, value)
            tried += 1
            if column.name in ONLY_DOUBT:  # SQLite has no numbers of transactions and tables
                noticed = "://" in ledger.address or column.name in ("lost", "witnessed")
                assert (found, verified.doubt is not None) == ((), noticed), (column.name, verified.doubt)
                continue
            may = (name, column.name) in MAY_CHANGE and {value, changed} != {"reserved", "failed"}
            assert bool(found) != may, (name, column.name, value, changed, found)
    assert tried >= min(len(rows), 3)
    assert ledger.verify().findings == ()


@pytest.mark.parametrize("name", ["entries", "holders", "mechanisms", "requests", "slots"])
def test_a_row_that_is_taken_away_is_found(ledger: Ledger, name: str) -> None:
    key = "sequence" if name == "entries" else "id"
    change(ledger, f"DELETE FROM {name} WHERE {key} = (SELECT max({key}) FROM {name})")
    assert not ledger.verify().ok


def test_a_request_without_entry_is_found(ledger: Ledger) -> None:
    with ledger._books.database.write() as connection:
        last = connection.execute(select(REQUESTS).order_by(REQUESTS.c.id.desc()).limit(1)).one()._asdict()
        connection.execute(REQUESTS.insert().values(last | {"id": last["id"] + 1, "key": "a free one"}))
    assert ledger.verify().findings == (f"request {last['id'] + 1} is in no entry of the chain",)


def test_a_damaged_chain_names_the_first_broken_entry(ledger: Ledger) -> None:
    change(ledger, "UPDATE entries SET body = '{}' WHERE sequence = 7")
    found = ledger.verify()
    assert [text.partition(";")[0] for text in found.findings] == [
        "the chain is broken at entry 7: it was changed, or one before it was taken away"
    ]
    assert found.entries == 6


def forged(ledger: Ledger, sequence: int, body: dict[str, Any]) -> None:
    """Write another body, and all heads after it anew, as somebody would who knows how."""
    with ledger._books.database.write() as connection:
        rows = connection.execute(select(ENTRIES).order_by(ENTRIES.c.sequence)).all()
        head = ""
        for row in rows:
            text = canonical(body) if row.sequence == sequence else row.body
            if row.sequence >= sequence:
                head = next_head(head, row.sequence, row.at, row.kind, row.account, text)
                mine = ENTRIES.update().where(ENTRIES.c.sequence == row.sequence)
                connection.execute(mine.values(body=text, head=head))
                connection.execute(REQUESTS.update().where(REQUESTS.c.sequence == row.sequence).values(head=head))
            else:
                head = row.head
        connection.execute(FACTS.update().values(head=head))


def entry(ledger: Ledger, kind: str, place: int = 0) -> tuple[int, dict[str, Any]]:
    with ledger._books.database.read() as connection:
        rows = connection.execute(select(ENTRIES).where(ENTRIES.c.kind == kind).order_by(ENTRIES.c.sequence)).all()
    return rows[place].sequence, json.loads(rows[place].body)


@pytest.mark.parametrize(
    ("kind", "place", "changed", "found"),
    [
        ("reserved", 0, {"price": {"delta": "0", "epsilon": "1/11"}}, "its price is not that of what was paid"),
        ("reserved", 0, {"paid": [], "price": {}}, "it was not paid for"),
        ("reserved", 0, {"form": "0" * 64}, "has another form than the one that was entered"),
        ("session", 0, {"paid": [{"kind": "PureDP", "epsilon": "6/10"}]}, "did not pay for its whole budget"),
        ("batch", 0, {"slots": {"left": ["1", "0"], "middle": ["1", "0"], "right": ["1", "0"]}}, "compose to more"),
        ("split", 0, {"parts": {"a": ["1/10", "0"], "b": ["2/10", "0"]}}, "are more than it had"),
        ("asked", 0, {"mechanism": 999}, "it asks mechanism 999, which was not paid for"),
        ("answered", 1, {"request": 2}, "which was not waiting for an answer"),
        ("opened", 1, {"disjoint": []}, "it does not say that its people are in no other account"),
        ("answered", 0, {"commitment": "0" * 64}, "its answer is not the one"),
    ],
)
def test_a_whole_chain_that_was_forged_is_found_where_it_does_not_add_up(
    ledger: Ledger, kind: str, place: int, changed: dict[str, Any], found: str
) -> None:
    sequence, body = entry(ledger, kind, place)
    forged(ledger, sequence, body | changed)
    assert any(found in text for text in ledger.verify().findings)


def test_a_budget_that_is_exceeded_is_found(ledger_place: tuple[str, Path]) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        session = ledger.open("a", SumFilter("2")).session(table(), SumFilter("1"), name="s")
        session.ask(Count(), epsilon="0.9")
        sequence, body = entry(ledger, "reserved")
        more = {"paid": [{"kind": "PureDP", "epsilon": "2"}], "price": {"epsilon": "2", "delta": "0"}}
        forged(ledger, sequence, body | more)
        assert "session 's' has paid more than its cap admits" in ledger.verify().findings


def test_receipts_must_lie_on_the_chain(ledger: Ledger) -> None:
    session = ledger.account("survey").session(table(), SumFilter("0.6"), name="ada")
    first = Receipt.read(session.ask(Count(), epsilon="0.1").receipt)
    assert ledger.verify(receipts=[first, first.document(), ledger.head]).ok
    lost = "this ledger has lost what the receipt proves"
    wrong = [
        (Receipt("0" * 32, "survey", first.sequence, first.head, None), "it is of another ledger"),
        (Receipt(first.ledger, "survey", first.sequence, "0" * 64, None), "the chain has another head there"),
        (Receipt(first.ledger, "survey", 10**6, first.head, None), "the chain does not reach so far"),
        (Receipt(first.ledger, "survey", first.sequence, first.head, "0" * 64), "the answer that was committed to"),
        (Receipt(first.ledger, "others", first.sequence, first.head, None), "the entry there is of another account"),
    ]
    for receipt, reason in wrong:
        found = ledger.verify(receipts=[receipt])
        assert len(found.findings) == 1
        assert lost in found.findings[0]
        assert reason in found.findings[0]
    salt, answer = ledger.opening(first)
    assert sha256(f"{salt}\n{answer}".encode()).hexdigest() == first.commitment
    assert first.opens(salt, answer)
    assert not first.opens(salt, answer + " ")


@pytest.mark.parametrize(
    "budget", [SumFilter("1", "1e-9"), ZCDPFilter("1/2"), RenyiFilter(4, "1"), BestFilter("2", "1e-6", "1e-7")], ids=str
)
def test_every_filter_is_derived_again(tmp_path: Path, budget: Any) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("a", budget)
        total = SumFilter("1/7")
        session = account.session(table(), total, name="s")
        for place in range(5):
            session.ask(Count(f"age > {place}"), epsilon="1/70")
        interrupt_free = PureDP("1/70")
        session.pay("by hand", [interrupt_free, interrupt_free], lambda: 1)
        account.lower(type(budget)(*_smaller(budget)))
        account.session(table(), SumFilter("1/9"), name="t")
        found = ledger.verify()
        assert found.findings == ()
        assert budget.theorem in found.theorems
        with ledger._books.database.read() as connection:
            spent = json.loads(connection.scalar(select(HOLDERS.c.budget).where(HOLDERS.c.name == "s")) or "")["spent"]
        assert 0 <= Fraction(spent["epsilon"]) - Fraction(1, 10) <= Fraction(7, 10**30)


def _smaller(budget: Any) -> tuple[Any, ...]:
    match budget:
        case SumFilter():
            return "1/2", "1e-9"
        case ZCDPFilter():
            return ("1/3",)
        case RenyiFilter():
            return 4, "1/2"
    return "1", "1e-6", "1e-7"


def test_a_request_that_is_given_up(ledger: Ledger) -> None:
    (one,) = ledger.waiting()
    assert (one.account, one.holder, one.what) == ("survey", "ada", "something")
    receipt = ledger.give_up(one.id)
    assert ledger.waiting() == ()
    assert ledger.verify(receipts=[receipt]).ok
    session = ledger.account("survey").session(table(), SumFilter("0.6"), name="ada")
    interrupt(session)  # the key is not run again
    assert ledger.verify().entries == receipt.sequence


def test_forms_hold_no_digest_of_the_snapshot(tmp_path: Path) -> None:
    people = table()
    people.save(tmp_path / "people.snapshot")
    assert people.digest is not None
    with Ledger(tmp_path / "a.ledger") as ledger:
        session = ledger.open("a", SumFilter("1")).session(people, SumFilter("1"), name="s")
        session.ask(Count(), epsilon="0.1")
        with ledger._books.database.read() as connection:
            texts = [*connection.scalars(select(REQUESTS.c.form)), *connection.scalars(select(HOLDERS.c.about))]
        assert not any(people.digest in text for text in texts)
        assert sum(digest(people.digest) in text for text in texts) == 2
