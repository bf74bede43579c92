"""A ledger that is new lies in its file, so that a copy of the file alone is known as a copy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from optcomp.ledger import Ledger, LedgerCopied


def test_a_copy_of_a_new_ledger_without_its_log_is_a_copy(tmp_path: Path) -> None:
    first = Ledger(tmp_path / "first.ledger")
    first.open("people", epsilon="1")
    shutil.copy(tmp_path / "first.ledger", tmp_path / "second.ledger")  # without the -wal, where the account is
    second = Ledger(tmp_path / "second.ledger")
    assert second.id == first.id
    assert second.doubt == "it lies in another place than it was made in"
    with pytest.raises(LedgerCopied):
        second.open("people", epsilon="1")


def test_a_new_ledger_without_its_private_folder_debits_nothing(tmp_path: Path) -> None:
    Ledger(tmp_path / "first.ledger").close()
    shutil.rmtree(tmp_path / "first.ledger.private")
    again = Ledger(tmp_path / "first.ledger")
    assert again.doubt == "there is no anchor beside it"
    assert not (tmp_path / "first.ledger.private").exists()
    with pytest.raises(LedgerCopied):
        again.open("people", epsilon="1")
