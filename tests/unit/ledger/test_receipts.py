"""Receipts: they name an entry of the chain and commit to the answer, and are read back as they were written."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from optcomp import InvalidInput, PureDP
from optcomp.interactive import SparseVector, SumFilter
from optcomp.ledger import Ledger, Receipt
from optcomp.statistics import Count
from tests.unit.ledger.people import people


def committed(ledger: Ledger, receipt: Receipt) -> Any:
    """The row of the answer that a receipt is about, if its entry and commitment are right."""
    with ledger._books.database.read() as connection:
        entry = connection.exec_driver_sql(f"SELECT * FROM entries WHERE sequence = {receipt.sequence}").one()
        row = connection.exec_driver_sql(f"SELECT * FROM requests WHERE sequence = {receipt.sequence}").one()
    assert (receipt.ledger, receipt.head) == (ledger.id, entry.head)
    assert sha256(f"{row.salt}\n{row.answer}".encode()).hexdigest() == receipt.commitment
    assert json.loads(entry.body)["commitment"] == receipt.commitment
    assert row.answer not in entry.body
    return row


def test_every_answer_has_one(ledger_place: tuple[str, Path]) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        account = ledger.open("people", SumFilter(3))
        session = account.session(people(), SumFilter(2))
        answer = session.ask(Count(), epsilon="0.5")
        receipt = Receipt.read(answer.receipt)
        assert receipt.account == "people"
        assert json.loads(committed(ledger, receipt).answer)["amounts"] == [[str(answer.value)]]
        assert session.ask(Count(), epsilon="0.5").receipt == answer.receipt
        run = session.open(SparseVector(50, epsilon="0.5"))
        run.ask(Count())
        assert run.receipt is not None
        committed(ledger, run.receipt)
        entered = account.enter(key="r", what="r", offers=[(PureDP("0.1"),)], declared=people())
        assert (entered.sequence, entered.head) == (ledger.head.sequence, ledger.head.head)
        assert ledger.head.commitment is None


RECEIPT = Receipt("ab", "people", 3, "cd", None)


def test_a_receipt_is_read_back() -> None:
    for receipt in (RECEIPT, Receipt("ab", "people", 0, "cd", "ef")):
        assert Receipt.read(json.loads(json.dumps(receipt.document()))) == receipt


BAD: list[object] = [
    None,
    [],
    {},
    {**RECEIPT.document(), "more": 1},
    {**RECEIPT.document(), "sequence": "3"},
    {**RECEIPT.document(), "sequence": True},
    {**RECEIPT.document(), "sequence": -1},
    {**RECEIPT.document(), "head": None},
    {**RECEIPT.document(), "commitment": 7},
]


@pytest.mark.parametrize("document", BAD)
def test_what_is_no_receipt_is_refused(document: object) -> None:
    with pytest.raises(InvalidInput, match="receipt"):
        Receipt.read(document)
