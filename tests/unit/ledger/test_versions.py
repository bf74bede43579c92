"""A ledger that was written by the first version opens, follows its chain, and goes on.

`version-1.sql` and `version-1.postgresql.sql` are dumps of such ledgers, `version-1.keys.json` their keys, which were
made for this test and guard nothing.  `make_dump` made all three.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from optcomp import MechanismClosed
from optcomp.interactive import BestFilter, SparseVector, SumFilter
from optcomp.ledger import Account, AccountState, DurableSession, Ledger, LedgerCopied, SlotState
from optcomp.ledger.schema import MIGRATIONS, VERSION
from optcomp.statistics import Count
from tests.campaign.ledger_checks import Rows, check_answers, check_chain
from tests.unit.ledger.people import people, spent

HERE = Path(__file__).parent


def loaded(place: tuple[str, Path]) -> None:
    """The dump in this place, with its keys."""
    address, private = place
    private.mkdir(mode=0o700)
    shutil.copyfile(HERE / "version-1.keys.json", private / "keys.json")
    (private / "keys.json").chmod(0o600)
    if "://" not in address:
        with closing(sqlite3.connect(address)) as connection:
            connection.executescript((HERE / "version-1.sql").read_text(encoding="utf-8"))
        return
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute((HERE / "version-1.postgresql.sql").read_bytes())


def verified(ledger: Ledger, *, original: bool = True) -> None:
    """Everything follows from the chain, and nothing was left out."""
    found = ledger.verify()
    assert found.findings == ()
    assert found.ok == original
    assert (found.sequence, found.head) == (ledger.head.sequence, ledger.head.head)


def test_version_one(ledger_place: tuple[str, Path]) -> None:
    loaded(ledger_place)
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        rows = Rows.of(ledger)
        check_chain(rows)
        check_answers(rows)
        verified(ledger, original=False)
        assert rows.facts.version == VERSION
        assert [each.kind for each in ledger.history()].count("migrated") == 1
        with pytest.raises(LedgerCopied):
            ledger.account("people").session(people(), SumFilter("0.1"), name="new")
        assert not ledger.adopt(ledger.head).new_key  # its place is here, and nothing is missing
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        verified(ledger)
        goes_on(ledger, rows)
        check_chain(Rows.of(ledger))
        verified(ledger)


def goes_on(ledger: Ledger, rows: Rows) -> None:
    """Everything that the dump holds is there, and can be used."""
    account = ledger.open("people", SumFilter(3))
    assert (spent(account), account.state) == (Fraction(11, 4), AccountState.OPEN)
    assert isinstance(ledger.account("other people").budget, BestFilter)
    session = account.session(people(), SumFilter(1), name="ada")
    assert spent(session) == Fraction(3, 10)
    assert str(session.ask(Count(), epsilon="0.1").value) == told(rows, "ada")
    grace = account.session(people(), SumFilter("1/4"), name="grace")
    assert str(grace.ask(Count("age > 60"), epsilon="1/8").value) == told(rows, "grace")
    run_goes_on(session)
    slots_go_on(account, rows)
    assert [each.what for each in account.releases()] == ["a release made elsewhere", "a release"]
    stored = account.answered("release")
    assert stored is not None
    assert stored.answer == '{"told":1}'
    session.ask(Count(), epsilon="0.2")
    grace.ask(Count(), epsilon="1/8")
    assert (spent(account), spent(session), spent(grace)) == (Fraction(11, 4), Fraction(1, 2), Fraction(1, 4))


def told(rows: Rows, name: str) -> str:
    """The answer of the only question of a session, as it is in the dump."""
    (holder,) = [row.id for row in rows.holders if row.name == name]
    (answer,) = [row.answer for row in rows.requests if (row.holder, row.kind) == (holder, "question")]
    return str(json.loads(answer)["amounts"][0][0])


def run_goes_on(session: DurableSession) -> None:
    run = session.open(SparseVector(-(10**6), epsilon="0.2", positives=3))
    assert (run.positives_left, run.ask(Count())) == (2, True)
    assert [run.ask(Count(f"age > {number}")) for number in range(2)] == [True, True]
    with pytest.raises(MechanismClosed):
        run.ask(Count("age > 7"))


def slots_go_on(account: Account, rows: Rows) -> None:
    free, split, taken = SlotState.FREE, SlotState.SPLIT, SlotState.TAKEN
    states = {"bob": free, "carol": split, "dan": taken, "carol 1": free, "carol 2": free}
    assert {slot.name: slot.state for slot in account.slots} == states
    assert str(account.slot("dan").session(people()).ask(Count(), epsilon="1/8").value) == told(rows, "dan")
    account.slot("bob").session(people()).ask(Count(), epsilon="1/4")
    account.slot("carol 1").session(people()).ask(Count(), epsilon="1/8")


def test_every_version_has_its_migration() -> None:
    assert sorted(MIGRATIONS) == list(range(1, VERSION))
