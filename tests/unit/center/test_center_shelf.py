"""Releases in the centre's database and folder: meant, debited, kept; and what is told when something goes wrong."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

import optcomp.release.proved_plan as asking
from optcomp.center import Conflict, NotFound, Settings, Store, back_up, restore
from optcomp.center.failures import CANNOT_ANSWER, NOT_ANSWERED
from optcomp.center.jobs import perform
from optcomp.center.shelf import Release
from optcomp.center.tables import FACTS, RELEASES, VERSION
from optcomp.errors import InvalidInput
from optcomp.release import text_of, verify_release
from tests.unit.center.homes import Centre

PLAN = {
    "data": {"rows": 40},
    "budget": {"epsilon": 1},
    "statistics": {"people": {"count": None, "epsilon": "1/2", "mechanism": "laplace"}},
}
SECRET = "zanzibar"


def job(centre: Centre, name: str, meant: Release) -> dict[str, Any]:
    """What a runner tells, through JSON."""
    arguments = {"dataset": centre.catalogue.place_of_release(meant), "plan": meant.source}
    found: dict[str, Any] = json.loads(json.dumps(perform(centre.ledger, centre.settings, name, arguments)))
    return found


def spent(centre: Centre) -> Fraction:
    return Fraction(json.loads(centre.ledger.account("people").budget.document_text())["spent"]["epsilon"])


def kept(centre: Centre, plan: dict[str, Any] = PLAN, **more: Any) -> Release:
    meant = centre.catalogue.mean_release("people", plan, by="olga", **more)
    return centre.catalogue.keep_release(meant, job(centre, "release", meant)["record"])


def test_meant_debited_kept(centre: Centre) -> None:
    centre.register()
    meant = centre.catalogue.mean_release("people", PLAN, key="k", by="olga")
    assert meant.state == "waiting"
    assert spent(centre) == 0
    assert centre.catalogue.mean_release("people", PLAN, key="k", by="olga") == meant
    assert job(centre, "finish_release", meant) == {"record": None}  # nothing was debited: nothing is finished
    record = job(centre, "release", meant)["record"]
    assert spent(centre) == Fraction(1, 2)
    assert job(centre, "finish_release", meant)["record"] == record
    done = centre.catalogue.keep_release(meant, record)
    assert centre.catalogue.keep_release(meant, record) == done
    assert centre.catalogue.interrupted_releases() == []
    text = centre.catalogue.record_text(done)
    assert text == text_of(record)
    assert done.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert verify_release(json.loads(text)).proved
    assert [each.what for each in centre.changes.all()].count("released") == 1
    assert stat.S_IMODE((centre.settings.home / "releases").stat().st_mode) == 0o700
    with pytest.raises(NotFound):
        centre.catalogue.release("people", done.id + 1)


def test_a_failure_after_the_debit_tells_nothing(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are the same whatever happened, and the same call again is not paid again."""
    centre.register()
    meant = centre.catalogue.mean_release("people", PLAN, by="olga")

    def fails(*_: object) -> None:
        raise ValueError(f"{SECRET} is the value of a cell")

    with monkeypatch.context() as broken:
        broken.setattr(asking, "answer", fails)
        found = job(centre, "release", meant)
    assert found == {"error": "NotAnswered", "words": NOT_ANSWERED}
    assert spent(centre) == Fraction(1, 2)
    centre.catalogue.drop_release(meant)  # it was debited, and stays
    assert centre.catalogue.interrupted_releases() == [meant]
    record = job(centre, "finish_release", meant)["record"]
    assert centre.catalogue.keep_release(meant, record).done
    assert spent(centre) == Fraction(1, 2)


def test_a_table_that_does_not_open(centre: Centre) -> None:
    centre.register()
    meant = centre.catalogue.mean_release("people", PLAN, by="olga")
    snapshot = Path(centre.catalogue.place_of_release(meant)["snapshot"])
    shutil.move(snapshot, snapshot.with_name("away"))
    assert job(centre, "release", meant) == {"error": "CannotAnswer", "words": CANNOT_ANSWER}
    assert spent(centre) == 0
    centre.catalogue.drop_release(meant)
    assert centre.catalogue.releases("people") == []
    shutil.move(snapshot.with_name("away"), snapshot)


def test_a_release_that_another_try_dropped_is_kept(centre: Centre) -> None:
    """Two tries at once share a row: one is refused and drops it, the other was debited meanwhile."""
    centre.register()
    meant = centre.catalogue.mean_release("people", PLAN, key="k", by="olga")
    centre.catalogue.drop_release(meant)
    done = centre.catalogue.keep_release(meant, job(centre, "release", meant)["record"])
    assert (done.done, done.key, done.plan) == (True, "k", meant.plan)


def test_what_was_never_debited_is_forgotten(centre: Centre) -> None:
    centre.register()
    meant = centre.catalogue.mean_release("people", PLAN, by="olga")
    assert centre.catalogue.interrupted_releases() == [meant]
    with centre.store.write() as connection:
        connection.execute(update(RELEASES).values(at=meant.at - 90_000))
    assert centre.catalogue.interrupted_releases() == []
    assert centre.catalogue.releases("people") == []


def test_a_record_that_the_ledger_does_not_have(centre: Centre) -> None:
    centre.register()
    done = kept(centre)
    (centre.settings.home / "releases" / "people" / f"{done.id}.json").unlink()
    with centre.store.write() as connection:
        connection.execute(update(RELEASES).values(sha256="0" * 64))
    with pytest.raises(Conflict, match="not in the ledger as it was written"):
        centre.catalogue.record_text(centre.catalogue.release("people", done.id))
    unfinished = centre.catalogue.mean_release("people", PLAN | {"confidence": "0.9"}, by="olga")
    with pytest.raises(Conflict, match="no record yet"):
        centre.catalogue.record_text(unfinished)


def test_keys_are_text(centre: Centre) -> None:
    centre.register()
    wrong: list[Any] = ["", " ", "a\nb", "x" * 201, 3]
    for key in wrong:
        with pytest.raises(InvalidInput, match="key"):
            centre.catalogue.mean_release("people", PLAN, key=key, by="olga")


def test_publishing_is_noted_once(centre: Centre) -> None:
    centre.register()
    done = kept(centre)
    for published in (True, True, False):
        assert centre.catalogue.publish_release("people", done.id, published, by="olga").published is published
    notes = [each.what for each in centre.changes.all() if each.what.startswith("release ")]
    assert notes == ["release published", "release not published any more"]


def test_a_backup_has_the_records(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    centre = Centre(tmp_path / "home", tmp_path / "data")
    centre.register()
    done = kept(centre)
    text = centre.catalogue.record_text(done)
    back_up(centre.settings.home, tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "again")
    centre.close()
    assert (tmp_path / "again" / "releases" / "people" / f"{done.id}.json").read_text() == text


def test_a_database_of_the_first_version_gets_the_table(tmp_path: Path) -> None:
    settings = Settings.write(tmp_path / "home")
    with Store(settings) as store, store.write() as connection:
        RELEASES.drop(connection)
        connection.execute(update(FACTS).values(version=1))
    with Store(settings, create=False) as store, store.read() as connection:
        assert connection.execute(RELEASES.select()).all() == []
        assert connection.execute(FACTS.select()).one().version == VERSION
