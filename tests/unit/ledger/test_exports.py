"""Exports: an auditor derives every total from the file alone, and finds no answer in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy import select

from optcomp.errors import InvalidInput
from optcomp.interactive import SumFilter
from optcomp.ledger import Ledger, Receipt, verify_export
from optcomp.ledger.schema import HOLDERS, MECHANISMS, REQUESTS
from optcomp.statistics import Count
from tests.filled_ledger import filled, table


@pytest.fixture
def ledger(ledger_place: tuple[str, Path]) -> Iterator[Ledger]:
    made, _, _ = filled(ledger_place)
    yield made
    made.close()


def test_an_auditor_finds_what_the_owner_finds(ledger: Ledger, tmp_path: Path) -> None:
    made = ledger.export(tmp_path / "a.export")
    own, found = ledger.verify(), verify_export(tmp_path / "a.export", made.public_key, receipts=[ledger.head])
    assert found.findings == ()
    assert (found.accounts, found.theorems, found.entries, found.head) == (
        own.accounts,
        own.theorems,
        own.entries,
        own.head,
    )
    assert made.head == own.head


def test_the_signature_is_that_of_the_lines(ledger: Ledger, tmp_path: Path) -> None:
    made = ledger.export(tmp_path / "a.export")
    *lines, last = (tmp_path / "a.export").read_bytes().splitlines(keepends=True)
    found = sha256(b"".join(lines)).hexdigest()
    assert json.loads(last) == {"sha256": found, "signature": made.signature}
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(made.public_key))
    key.verify(bytes.fromhex(made.signature), f"optcomp-ledger-export\n{found}".encode())
    with pytest.raises(InvalidSignature):
        key.verify(bytes.fromhex(made.signature), b"something else")


def test_nothing_secret_is_in_it(ledger: Ledger, tmp_path: Path) -> None:
    session = ledger.account("survey").session(table(), SumFilter("0.6"), name="ada")
    session.ask(Count("age > 70"), epsilon="0.01")
    ledger.export(tmp_path / "a.export")
    text = (tmp_path / "a.export").read_text()
    with ledger._books.database.read() as connection:
        rows = connection.execute(select(REQUESTS)).all()
        states = connection.scalars(select(MECHANISMS.c.state)).all()
    secrets = [row.salt for row in rows if row.salt] + list(states)
    secrets += [row.answer for row in rows if row.answer and len(row.answer) > 10]
    secrets += [json.dumps(row.answer)[1:-1] for row in rows if row.answer and len(row.answer) > 10]
    secrets += [row.lease for row in rows if row.lease]
    assert len(secrets) >= 20
    assert not any(secret in text for secret in secrets)


def test_digests_of_snapshots_are_not_in_it(tmp_path: Path) -> None:
    people = table()
    people.save(tmp_path / "people.snapshot")
    with Ledger(tmp_path / "a.ledger") as ledger:
        session = ledger.open("a", SumFilter("1")).session(people, SumFilter("1"), name="s")
        session.ask(Count(), epsilon="0.1")
        ledger.export(tmp_path / "a.export")
    assert str(people.digest) not in (tmp_path / "a.export").read_text()


def test_every_line_that_is_changed_or_missing_is_noticed(ledger: Ledger, tmp_path: Path) -> None:
    made, path = ledger.export(tmp_path / "a.export"), tmp_path / "b.export"
    lines = (tmp_path / "a.export").read_text().splitlines()
    for place in range(1, len(lines), 3):
        path.write_text("\n".join([*lines[:place], *lines[place + 1 :]]) + "\n")
        assert not verify_export(path, made.public_key).ok
        spot = len(lines[place]) // 2
        changed = lines[place][:spot] + ("0" if lines[place][spot] != "0" else "1") + lines[place][spot + 1 :]
        path.write_text("\n".join([*lines[:place], changed, *lines[place + 1 :]]) + "\n")
        assert not verify_export(path, made.public_key).ok


def test_a_question_that_was_exchanged_is_found_though_somebody_signs_again(ledger: Ledger, tmp_path: Path) -> None:
    ledger.export(tmp_path / "a.export")
    *lines, _ = (tmp_path / "a.export").read_text().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if '"question"' in line)
    lines[place] = lines[place].replace('\\"epsilon\\":\\"1/10\\"', '\\"epsilon\\":\\"1/20\\"', 1)
    whole = "".join(lines)
    found = sha256(whole.encode()).hexdigest()
    assert ledger._books.keys is not None
    signature = ledger._books.keys.sign(f"optcomp-ledger-export\n{found}")
    (tmp_path / "b.export").write_text(whole + json.dumps({"sha256": found, "signature": signature}) + "\n")
    assert not verify_export(tmp_path / "b.export").ok


def test_another_key_is_noticed(ledger: Ledger, tmp_path: Path) -> None:
    ledger.export(tmp_path / "a.export")
    found = verify_export(tmp_path / "a.export", "0" * 64)
    assert found.findings == ("the export is signed by another key than the one that was given",)
    lost = Receipt(ledger.id, "survey", 10**5, "0" * 64)
    (text,) = verify_export(tmp_path / "a.export", receipts=[lost]).findings
    assert "this ledger has lost what the receipt proves" in text


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    for text in ("", "{}\n", "hello\nworld\n", '{"format": "optcomp-ledger-export", "version": 2}\n{}\n'):
        (tmp_path / "x").write_text(text)
        with pytest.raises(InvalidInput, match="export"):
            verify_export(tmp_path / "x")
    with pytest.raises(InvalidInput, match="cannot be read"):
        verify_export(tmp_path / "nothing")


def test_files_are_not_overwritten_and_keys_are_needed(ledger_place: tuple[str, Path], tmp_path: Path) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        ledger.export(tmp_path / "a.export")
        with pytest.raises(InvalidInput, match="exists already"):
            ledger.export(tmp_path / "a.export")
    elsewhere = Ledger(ledger_place[0], private=tmp_path / "elsewhere")
    with elsewhere as ledger, pytest.raises(InvalidInput, match="signed"):
        ledger.export(tmp_path / "b.export")
    assert not (tmp_path / "b.export").exists()


def test_no_account_and_no_holder_is_needed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        ledger.export(tmp_path / "a.export")
        with ledger._books.database.read() as connection:
            assert connection.execute(select(HOLDERS)).all() == []
    found = verify_export(tmp_path / "a.export")
    assert (found.ok, found.entries, found.accounts) == (True, 1, ())
