"""Backups of a home: what is in them, and what a restored one may do."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from optcomp.center import Catalogue, Settings, Store, back_up, restore
from optcomp.errors import InvalidInput
from optcomp.ledger import Ledger, LedgerCopied
from tests.unit.center.homes import Centre


def test_a_backup_holds_the_home_without_the_keys(centre: Centre, tmp_path: Path) -> None:
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1"}, delta="1e-8", by="olga")
    made = back_up(centre.settings.home, tmp_path / "copy")
    files = {path.name for path in (tmp_path / "copy").iterdir()}
    if centre.store.database.sqlite:
        assert files == {"center.yaml", "center.db", "center.ledger", "snapshots"}
        assert made["not_copied"] == []
    else:
        assert files == {"center.yaml", "snapshots"}
        assert made["not_copied"] == ["database", "ledger"]
    assert made["head"] == centre.ledger.head.head
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o700
    back_up(centre.settings.home, tmp_path / "small", snapshots=False)
    assert not (tmp_path / "small" / "snapshots").exists()
    with pytest.raises(InvalidInput, match="is there already"):
        back_up(centre.settings.home, tmp_path / "copy")


def test_a_backup_under_way_is_whole(tmp_path: Path) -> None:
    """Seats in the copy of the centre have slots in the copy of the ledger, whatever happens meanwhile."""
    (tmp_path / "data").mkdir()
    centre = Centre(tmp_path / "home", tmp_path / "data")
    centre.register()
    done = Event()

    def cut() -> None:
        for number in range(30):
            if done.is_set():
                return
            centre.catalogue.cut("people", f"batch {number}", {"ada": "0.01"}, delta=0, by="olga")

    with ThreadPoolExecutor(1) as pool:
        cutting = pool.submit(cut)
        try:
            made = [back_up(centre.settings.home, tmp_path / f"copy {number}") for number in range(3)]
        finally:
            done.set()
    cutting.result()
    for number, each in enumerate(made):
        restore(tmp_path / f"copy {number}", tmp_path / f"again {number}")
        settings = Settings.read(tmp_path / f"again {number}")
        with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
            catalogue = Catalogue(store, ledger)
            slots = {slot.name for slot in ledger.account("people").slots}
            assert {seat.slot for seat in catalogue.seats()} <= slots
            with pytest.raises(LedgerCopied):
                catalogue.cut("people", "new", {"ada": "0.01"}, delta=0, by="olga")
            ledger.adopt(each["head"])
            catalogue.cut("people", "new", {"ada": "0.01"}, delta=0, by="olga")
    centre.close()


def test_a_restored_home_has_its_own_files(tmp_path: Path) -> None:
    """Settings that named the original by its whole path name the copy."""
    (tmp_path / "data").mkdir()
    elsewhere = {"ledger": str(tmp_path / "far.ledger"), "database": str(tmp_path / "far.db")}
    centre = Centre(tmp_path / "home", tmp_path / "data", **elsewhere)
    centre.register()
    back_up(tmp_path / "home", tmp_path / "copy")
    told = restore(tmp_path / "copy", tmp_path / "again")
    found = Settings.read(tmp_path / "again")
    assert found.ledger == told["ledger"] == str(tmp_path / "again" / "center.ledger")
    assert found.database == str(tmp_path / "again" / "center.db")
    assert found.private == tmp_path / "again" / "center.ledger.private"
    with Store(found) as store, Ledger(found.ledger, private=found.private) as ledger:
        snapshot = Catalogue(store, ledger).dataset("people").snapshot
    assert snapshot == tmp_path / "again" / "snapshots" / "people" / "1"
    assert snapshot.is_dir()
    for source, target in ((tmp_path / "data", "b"), (tmp_path / "copy", "again")):
        with pytest.raises(InvalidInput):
            restore(source, tmp_path / target)
    centre.close()
