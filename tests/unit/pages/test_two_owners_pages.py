"""Where two owners are wanted, the pages say what waits, and the other one confirms it; nothing is asked for twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from optcomp.pages import make_app
from tests.unit.center.served import Served, served
from tests.unit.pages.visitors import Visitor, hidden_fields, words_of


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("pair") / "home", make_app, processes=False, two_persons=True) as found:
        yield found


def test_slots_wait_for_another_owner(pair: Served) -> None:
    olga, omar = Visitor(pair, "olga"), Visitor(pair, "omar")
    query = "batch=one&epsilon=1&delta=1e-7&analyst=3&analyst=4"
    hidden = hidden_fields(olga.get(f"/owner/datasets/survey/slots/confirmation?{query}").text)
    found = olga.post("/owner/datasets/survey/slots", hidden)
    assert found.status_code == 202
    assert "A second owner must confirm this" in found.text
    assert pair.service.catalogue.seats() == []
    own = olga.get("/owner").text
    assert "You asked for this" in own
    number = str(pair.service.changes.waiting()[0].id)
    assert olga.post("/owner/confirmations", {"confirmation": number, "proof": olga.proof()}).status_code == 409
    assert "Confirm number" in words_of(omar.get("/owner").text)
    assert omar.post("/owner/confirmations", {"confirmation": number, "proof": omar.proof()}).status_code == 303
    assert {seat.analyst for seat in pair.service.catalogue.seats()} == {"ada", "ben"}
    assert omar.post("/owner/confirmations", {"confirmation": number, "proof": omar.proof()}).status_code == 409
    assert "confirmed by omar" in words_of(omar.get("/auditor").text)


def test_a_data_set_is_asked_for_once(pair: Served) -> None:
    olga = Visitor(pair, "olga")
    begun = olga.post("/owner/register", {"source": '["people.parquet", null]', "proof": olga.proof()})
    draft = begun.headers["location"].removesuffix("/columns")
    fields = {f"kind-{place}": "integers" for place in range(3)} | {"use-1": "on", "low-1": "0", "high-1": "99"}
    olga.post(f"{draft}/columns", fields | {"go": "next"}, page=f"{draft}/columns")
    people = {"person": "who", "rows_per_person": "2", "neighbours": "add-remove", "bad_cells": "missing"}
    olga.post(f"{draft}/people", people, page=f"{draft}/people")
    budget = {"name": "second", "account": "survey", "epsilon": "", "delta": "", "title": ""}
    assert olga.post(f"{draft}/account", budget, page=f"{draft}/account").status_code == 303
    hidden = hidden_fields(olga.get(f"{draft}/confirmation").text)
    assert olga.post(f"{draft}/confirmation", hidden).status_code == 202
    waiting = [each.kind for each in pair.service.changes.waiting()]
    assert olga.post(f"{draft}/confirmation", hidden).status_code == 303
    assert [each.kind for each in pair.service.changes.waiting()] == waiting == ["register"]


def test_a_token_waits_and_is_shown_to_the_owner_who_confirms_it(pair: Served) -> None:
    olga, omar, ada = Visitor(pair, "olga"), Visitor(pair, "omar"), Visitor(pair, "ada")
    begun = olga.post("/owner/tokens", {"name": "ada", "proof": olga.proof()}).headers["location"]
    found = olga.post(begun, {"days": "7", "scope": ""}, page=begun)
    assert found.status_code == 202
    assert "oc_" not in found.text
    (waiting,) = [each for each in pair.service.changes.waiting() if each.kind == "make token"]
    confirm = {"confirmation": str(waiting.id), "proof": omar.proof()}
    shown = omar.post("/owner/confirmations", confirm)
    assert "This is the token of ada" in words_of(shown.text)
    (token,) = re.findall(r"oc_[A-Za-z0-9_-]{43}", shown.text)
    assert pair.service.people.who(token).name == "ada"
    assert omar.post("/owner/confirmations", confirm).status_code == 409
    assert "olga, confirmed by omar" in words_of(ada.get("/analyst").text)
    assert "Made by olga, confirmed by omar." in words_of(olga.get("/owner/people").text)
