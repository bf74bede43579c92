"""A centre whose ledger went back in time: what it says of itself, and receipts that are presented to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.center.served import QUESTION, Served, served

READY = "/ready"
RECEIPTS = "/api/v1/audit/receipts"


@pytest.fixture
def centre(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "home", processes=False) as found:
        yield found


def asked(centre: Served) -> dict[str, Any]:
    """The receipt of an answer."""
    answer = centre.call("POST", f"/api/v1/seats/{centre.seat()}/questions", "ada", {"question": QUESTION})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["receipt"]
    return found


def presented(centre: Served, who: str, receipt: dict[str, Any]) -> dict[str, Any]:
    answer = centre.call("POST", RECEIPTS, who, receipt)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_centre_that_is_ready(centre: Served) -> None:
    found = centre.call("GET", READY)
    assert (found.status_code, found.json()) == (200, {"ok": True, "state": "ready"})


def test_a_receipt_that_the_ledger_has(centre: Served) -> None:
    receipt = asked(centre)
    for who in ("ada", "olga", "ruth"):
        assert presented(centre, who, receipt) == {"found": True, "problem": None, "closed": False}


def test_an_analyst_closes_nothing(centre: Served) -> None:
    """And is not told how long the ledger is."""
    lost = asked(centre) | {"sequence": 10**6}
    told = {"found": False, "problem": "the ledger has no such entry", "closed": False}
    assert presented(centre, "ada", lost) == told
    assert centre.service.ledger.doubt is None
    changes = [change.what for change in centre.service.changes.all()]
    assert changes.count("presented a receipt that does not fit") == 1


@pytest.mark.parametrize("who", ["olga", "ruth"])
def test_a_receipt_that_shows_what_is_missing_closes_the_ledger(centre: Served, who: str) -> None:
    lost = asked(centre) | {"sequence": 10**6}
    found = presented(centre, who, lost)
    assert found["closed"]
    assert found["problem"].startswith("a receipt knows entry 1000000, and this ledger ends at entry ")
    centre.wait(centre.service.readiness.look())
    ready = centre.call("GET", READY)
    assert (ready.status_code, ready.json()) == (503, {"ok": False, "state": "doubt"})
    assert centre.call("GET", "/health").status_code == 200
    verified = centre.call("GET", "/api/v1/audit/verification", "ruth").json()
    assert (verified["ok"], verified["findings"], verified["doubt"]) == (False, [], found["problem"])
    refused = centre.call(
        "POST", f"/api/v1/seats/{seat_of(centre)}/questions", "ada", {"question": QUESTION, "repeat": 1}
    )
    assert (refused.status_code, refused.json()["error"]) == (409, "conflict")


def seat_of(centre: Served) -> int:
    (seat,) = {each.id for each in centre.service.catalogue.seats()}
    return seat


def test_a_ledger_that_cannot_be_reached(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    anchor = centre.settings.private / "anchor"
    anchor.unlink()
    anchor.mkdir()  # cannot be read as a file
    centre.wait(centre.service.readiness.look())
    ready = centre.call("GET", READY)
    assert (ready.status_code, ready.json()) == (503, {"ok": False, "state": "unreachable"})


@pytest.mark.parametrize(
    "wrong", [{"head": "x"}, {"sequence": -1}, {"sequence": "1"}, {"ledger": "0" * 32}, {"more": 1}]
)
def test_what_is_no_receipt(centre: Served, wrong: dict[str, Any]) -> None:
    receipt = {"ledger": centre.service.ledger.id, "account": "survey", "sequence": 1, "head": "0" * 64}
    answer = centre.call("POST", RECEIPTS, "ada", receipt | wrong)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
