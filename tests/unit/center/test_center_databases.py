"""A database that cannot be used: analysts and owners are told to wait, and not where it lies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from optcomp.ledger import Database
from tests.unit.center.served import QUESTION, Served, served

BUSY = {"error": "busy", "message": "A database of the centre cannot be used at the moment. Ask again in a while."}


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("databases") / "home") as found:
        yield found


@contextmanager
def unusable(database: Database, path: Path) -> Iterator[None]:
    """A folder lies where the file was, and no connection to the file is left."""
    kept = path.with_name("kept")
    database.close()
    path.rename(kept)
    path.mkdir()
    try:
        yield
    finally:
        path.rmdir()
        kept.rename(path)


def test_the_database_of_the_centre(centre: Served) -> None:
    seat = centre.seat()
    store = centre.service.store.database
    with unusable(store, store.path):
        for method, path, who, body in (
            ("get", "/api/v1/seats", "ada", None),
            ("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": QUESTION}),
            ("get", "/api/v1/owner/people", "olga", None),
        ):
            found = centre.call(method, path, who, body)
            assert (found.status_code, found.json()) == (503, BUSY)
    assert centre.call("get", f"/api/v1/seats/{seat}", "ada").json()["left"]["amounts"]["epsilon"]["left"] == "1"


def test_the_database_of_the_ledger(centre: Served) -> None:
    """Which version a seat is about is in the ledger, and is looked up in the process that serves."""
    seat = centre.seat()
    renewed = centre.call("post", "/api/v1/owner/datasets/survey/versions", "olga", {"source": "people.parquet"})
    assert renewed.status_code == 201, renewed.text
    with unusable(centre.service.ledger._books.database, Path(centre.settings.ledger)):
        for path in ("/api/v1/seats", f"/api/v1/seats/{seat}"):
            found = centre.call("get", path, "ada")
            assert (found.status_code, found.json()) == (503, BUSY)
        cut = {"batch": "late", "slots": {"ada": {"epsilon": "1/2"}}, "delta": "1e-9"}
        found = centre.call("post", "/api/v1/owner/datasets/survey/batches", "olga", cut)
        assert (found.status_code, found.json()) == (503, BUSY)
    assert centre.call("get", f"/api/v1/seats/{seat}", "ada").status_code == 200


def test_an_answer_that_could_not_be_shared_was_paid_for(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The centre's database fails after the debit: that is the one failure after a debit."""
    seat = centre.seat()
    store = centre.service.store.database
    agree = centre.service.catalogue.agree

    def broken(*given: object, **named: object) -> None:
        with unusable(store, store.path):
            agree(*given, **named)  # type: ignore[arg-type]

    body = {"question": QUESTION, "key": "shared", "share": True}
    with monkeypatch.context() as patch:
        patch.setattr(centre.service.catalogue, "agree", broken)
        failed = centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", body)
    assert (failed.status_code, failed.json()["error"]) == (424, "not_answered")
    again = centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", body)
    assert again.status_code == 200, again.text
    assert again.json()["remaining"]["amounts"]["epsilon"]["left"] == "9/10"
