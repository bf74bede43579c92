"""The owner's office without scripts: steps to a data set, slots, people, tokens; and that looking changes nothing."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from contextlib import closing
from hashlib import sha256
from typing import Any

import pytest

from optcomp.center.invented import VISITS, invented_visits
from optcomp.guarantees import ApproxDP
from optcomp.pages import office, office_jobs, office_people, office_register, office_slots
from optcomp.statistics import Count, Integers, Table
from tests.unit.center.served import QUESTION, Served
from tests.unit.pages.visitors import Visitor, hidden_fields, words_of

EVIL = "<script>alert(1)</script> \"'"
"""What nobody is called."""
WARDS = "surgery, medicine, children, maternity"
DECLARED = {
    "age": {"kind": "integers", "low": "0", "high": "120"},
    "sex": {"kind": "categories", "values": "f, m"},
    "ward": {"kind": "categories", "values": WARDS},
    "days": {"kind": "integers", "low": "0", "high": "366"},
    "cost": {"kind": "reals", "low": "0", "high": "50000", "step": "1"},
}
"""What is declared of the columns of the visits."""
COLUMNS = ("patient", "age", "sex", "ward", "days", "cost")


@pytest.fixture(scope="module")
def owner(centre: Served) -> Visitor:
    (centre.settings.folders[0] / VISITS).write_text(invented_visits(), encoding="utf8")
    return Visitor(centre, "olga")


def column_fields() -> dict[str, str]:
    fields: dict[str, str] = {"go": "next"}
    for place, name in enumerate(COLUMNS):
        known = DECLARED.get(name, {})
        for key in ("kind", "low", "high", "step", "values", "preset"):
            fields[f"{key}-{place}"] = known.get(key, "integers" if key == "kind" else "")
        if known:
            fields[f"use-{place}"] = "on"
    return fields


def started(owner: Visitor) -> str:
    """The address of a new draft about the visits."""
    found = owner.post("/owner/register", {"source": f'["{VISITS}", null]', "proof": owner.proof()})
    assert found.status_code == 303, words_of(found.text)
    return str(found.headers["location"].removesuffix("/columns"))


def filled(owner: Visitor, **about: str) -> str:
    """A draft with everything, ready to be confirmed."""
    draft = started(owner)
    assert owner.post(f"{draft}/columns", column_fields(), page=f"{draft}/columns").status_code == 303
    people = {"person": "patient", "rows_per_person": "3", "neighbours": "add-remove", "bad_cells": "missing"}
    assert owner.post(f"{draft}/people", people, page=f"{draft}/people").status_code == 303
    assert owner.post(f"{draft}/check", {}, page=f"{draft}/check").status_code == 303
    budget = {"title": "", "account": "", "epsilon": "2", "delta": "1e-6", "disjoint": "on", **about}
    found = owner.post(f"{draft}/account", budget, page=f"{draft}/account")
    assert found.status_code == 303, words_of(found.text)
    return draft


def everything(centre: Served) -> str:
    """All that the centre knows, but for the counters of requests; and the ledger's head."""
    with closing(sqlite3.connect(centre.settings.database)) as database:
        kept = [line for line in database.iterdump() if not re.match(r'INSERT INTO "?(counters|visits)"?', line)]
    return "\n".join(kept) + centre.service.ledger.head.head


def test_from_a_dirty_file_to_a_data_set(centre: Served, owner: Visitor) -> None:
    draft = filled(owner, name="clinic", title=EVIL)
    checked = words_of(owner.get(f"{draft}/check").text)
    lines = [line.split(",") for line in invented_visits().splitlines()[1:]]
    good = [line for line in lines if len(line) == len(COLUMNS)]
    rows = Counter(line[0] for line in good if line[0])
    assert f"Rows {len(lines):,}" in checked
    assert f"Lines that cannot be read {len(lines) - len(good):,}" in checked
    assert f"People {len(rows):,}" in checked
    assert f"more rows than 3 {sum(count > 3 for count in rows.values()):,}" in checked
    assert f"left out {sum(max(0, count - 3) for count in rows.values()):,}" in checked
    bad_ages = sum(line[1] == "unknown" for line in good)
    bad_days = sum(not line[4].isdecimal() for line in good)
    others = sum(line[3] not in WARDS.split(", ") for line in good)
    empty = len(lines) - len(good)
    assert f"age {sum(not line[1] for line in good) + empty:,} {bad_ages:,} 0 0 0" in checked
    assert f"days {empty:,} {bad_days:,} 0 0 0" in checked
    assert f"ward {empty:,} 0 0 0 {others:,}" in checked
    confirmation = owner.get(f"{draft}/confirmation")
    assert "<script>alert" not in confirmation.text
    assert "&lt;script&gt;alert(1)" in confirmation.text
    hidden = hidden_fields(confirmation.text)
    made = owner.post(f"{draft}/confirmation", hidden)
    assert made.headers["location"] == "/owner/datasets/clinic"
    again = owner.post(f"{draft}/confirmation", hidden)
    assert again.headers["location"] == "/owner/datasets/clinic"
    assert [each.name for each in centre.service.catalogue.datasets()].count("clinic") == 1
    page = owner.get("/owner/datasets/clinic").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    declared = centre.service.catalogue.dataset("clinic").declared
    assert declared.person == "patient"
    assert declared.contribution.rows == 3
    assert list(declared.columns) == list(DECLARED)


def test_a_form_of_a_draft_whose_number_was_given_again_registers_nothing(owner: Visitor, centre: Served) -> None:
    first = filled(owner, name="gone")
    hidden = hidden_fields(owner.get(f"{first}/confirmation").text)
    assert owner.post(f"{first}/drop", hidden).status_code == 303
    second = filled(owner, name="other")
    assert second == first  # the database gives the number again
    owner.post(f"{first}/confirmation", hidden)
    assert {"gone", "other"}.isdisjoint(each.name for each in centre.service.catalogue.datasets())
    owner.post(f"{second}/drop", {}, page=f"{second}/confirmation")


def test_wrong_columns_are_told_beside_them(owner: Visitor) -> None:
    draft = started(owner)
    for place, name, changed, words in (
        ("kind-1", "age", {"low-1": "9", "high-1": "3"}, "low"),
        ("low-1", "age", {"low-1": "x"}, "whole numbers"),
        ("high-1", "age", {"high-1": ""}, "Both ends"),
        ("high-5", "cost", {"high-5": ""}, "Both ends"),
        ("high-5", "cost", {"high-5": "20'000"}, "a point and no comma"),
        ("low-5", "cost", {"low-5": "0,5"}, "a point and no comma"),
        ("step-5", "cost", {"step-5": "0,1"}, "a point and no comma"),
        ("values-3", "ward", {"values-3": " , "}, "at least one category"),
    ):
        found = owner.post(f"{draft}/columns", column_fields() | changed, page=f"{draft}/columns")
        assert found.status_code == 422, name
        wrong = re.search(rf'id="{place}-wrong">([^<]*)<', found.text)
        assert wrong is not None, name
        assert wrong.group(1).startswith(f"{name}: ")
        assert words in wrong.group(1), wrong.group(1)
    none = {key: value for key, value in column_fields().items() if not key.startswith("use-")}
    assert "at least one column" in owner.post(f"{draft}/columns", none, page=f"{draft}/columns").text
    presets = column_fields() | {"go": "fill", "preset-1": "age", "low-1": "", "high-1": ""}
    assert owner.post(f"{draft}/columns", presets, page=f"{draft}/columns").status_code == 303
    assert 'name="high-1" type="text" value="120"' in owner.get(f"{draft}/columns").text
    stale = hidden_fields(owner.get(f"{draft}/columns").text) | {"version": "1"}
    assert owner.post(f"{draft}/columns", column_fields() | stale).status_code == 409
    people = {"person": "nobody", "rows_per_person": "3", "neighbours": "add-remove", "bad_cells": "missing"}
    for changed in ({"person": "nobody"}, {"person": "patient", "rows_per_person": "0"}, {"bad_cells": "x"}):
        found = owner.post(f"{draft}/people", people | {"person": ""} | changed, page=f"{draft}/people")
        assert found.status_code == 422, changed
    owner.post(f"{draft}/drop", {}, page=f"{draft}/people")


def test_only_what_is_listed_can_be_chosen(owner: Visitor, centre: Served) -> None:
    secret = centre.settings.home / "center.yaml"
    for source in ('["../home/center.yaml", null]', f'["{secret}", null]', "", "people.parquet", '["x"]'):
        found = owner.post("/owner/register", {"source": source, "proof": owner.proof()})
        assert found.status_code == 422, source
        assert 'role="alert"' in found.text


ADDRESSES = (
    "/owner",
    "/owner/people",
    "/owner/register",
    "/owner/datasets/survey",
    "/owner/datasets/survey/slots",
    "/owner/datasets/survey/slots?batch=x&epsilon=2&delta=1e-7&analyst=3&weight-3=2",
    "/owner/datasets/survey/slots/confirmation?batch=x&epsilon=2&delta=1e-7&analyst=3",
    "/auditor",
    "/auditor?entries=1&changes=3",
    "/auditor/newest",
    "/auditor/verification",
)


def test_looking_changes_nothing(centre: Served, owner: Visitor) -> None:
    centre.seat("ada")
    draft = filled(owner, name="not yet")
    steps = [f"{draft}/{step}" for step in office_register.STEPS[1:]]
    batch = centre.service.catalogue.seats()[0].batch
    before = everything(centre)
    for address in (*ADDRESSES, *steps, f"/owner/datasets/survey/certificate?batch={batch}"):
        found = owner.get(address)
        assert found.status_code in (200, 303), address
        assert everything(centre) == before, address
    owner.post(f"{draft}/drop", {}, page=f"{draft}/columns")


def office_routes() -> list[tuple[str, str]]:
    parts = (office, office_jobs, office_people, office_register, office_slots)
    return [
        (method, re.sub(r"\{id\}", "1", re.sub(r"\{name\}", "survey", route.path)))
        for part in parts
        for route in part.router.routes
        for method in route.methods
    ]


def test_the_office_is_for_owners_and_its_forms_need_their_proof(centre: Served, owner: Visitor) -> None:
    routes = office_routes()
    assert len(routes) > 30
    before = everything(centre)
    for who in ("ada", "ruth", None):
        at = Visitor(centre, who)
        proof = "" if who is None else at.proof()
        for method, path in routes:
            found = at.get(path) if method == "GET" else at.post(path, {"proof": proof})
            assert found.status_code == (303 if who is None else 403), (who, path)
    for method, path in routes:
        if method == "POST":
            assert owner.post(path, {"proof": Visitor(centre, "omar").proof()}).status_code == 403, path
    assert everything(centre).replace("omar", "") == before.replace("omar", "")


def test_slots_are_proposed_cut_once_and_certified(centre: Served, owner: Visitor) -> None:
    ids = {each.name: each.id for each in centre.service.people.all()}
    query = f"batch=spring&epsilon=3&delta=1e-7&analyst={ids['ada']}&analyst={ids['ben']}&weight-{ids['ada']}=2"
    shown = words_of(owner.get(f"/owner/datasets/survey/slots?{query}").text)
    assert "No gain over splitting" in shown
    assert "ada ε 2 ε 2 ben ε 1 ε 1" in shown
    hidden = hidden_fields(owner.get(f"/owner/datasets/survey/slots/confirmation?{query}").text)
    assert (hidden["share-ada"], hidden["share-ben"]) == ("2", "1")
    before = centre.service.ledger.head.sequence
    assert owner.post("/owner/datasets/survey/slots", hidden).status_code == 303
    assert centre.service.ledger.head.sequence == before + 1
    for _ in range(2):
        assert owner.post("/owner/datasets/survey/slots", hidden).status_code == 303
    assert centre.service.ledger.head.sequence == before + 1
    assert owner.post("/owner/datasets/survey/slots", hidden | {"share-ada": "1"}).status_code in (409, 422)
    assert centre.service.ledger.head.sequence == before + 1
    file = owner.get("/owner/datasets/survey/certificate?batch=spring")
    assert file.headers["content-disposition"] == 'attachment; filename="certificate.json"'
    assert sorted(file.json()["mechanisms"]) == [["1", "0", 1], ["2", "0", 1]]
    assert owner.get("/owner/datasets/survey/certificate?batch=none").status_code == 404


def test_what_is_wrong_with_slots_is_told(owner: Visitor, centre: Served) -> None:
    first = next(each.id for each in centre.service.people.all() if each.role == "analyst")
    for query, words in (
        ("epsilon=1&delta=1e-7", "at least one analyst"),
        (f"epsilon=x&delta=1e-7&analyst={first}", "such as 0.5, 1e-6 or 1/3"),
        (f"epsilon=1&delta=2&analyst={first}", "delta"),
        (f"epsilon=0&delta=1e-7&analyst={first}", "epsilon"),
        (f"epsilon=1&delta=1e-7&analyst={first}&weight-{first}=no", "weight"),
        (f"epsilon=9999&delta=1e-7&analyst={first}", "cannot pay"),
    ):
        found = owner.get(f"/owner/datasets/survey/slots?{query}")
        assert words in words_of(found.text), query
        assert "Cut these slots?" not in owner.get(f"/owner/datasets/survey/slots/confirmation?{query}").text or (
            "9999" in query
        )
    many = [f"analyst {number}" for number in range(40)]
    for name in many:
        centre.service.people.add(name, "analyst", by="olga")
    shown = owner.get("/owner/datasets/survey/slots").text
    assert "larger than by splitting" in shown
    assert "<svg" in shown


def token_page(owner: Visitor, name: str) -> tuple[str, dict[str, str]]:
    begun = owner.post("/owner/tokens", {"name": name, "proof": owner.proof()})
    assert begun.status_code == 303
    address = str(begun.headers["location"])
    return address, hidden_fields(owner.get(address).text)


def test_a_token_is_shown_once_and_made_once(centre: Served, owner: Visitor, capfd: pytest.CaptureFixture[str]) -> None:
    name = f"{EVIL} dora"
    assert owner.post("/owner/people", {"name": name, "role": "analyst", "proof": owner.proof()}).status_code == 303
    address, hidden = token_page(owner, name)
    assert owner.post(address, hidden | {"days": "x", "scope": ""}).status_code == 422
    assert owner.post(address, hidden | {"days": "99999", "scope": ""}).status_code == 422
    made = owner.post(address, hidden | {"days": "7", "scope": "survey"})
    assert made.status_code == 200
    assert made.headers["cache-control"] == "no-store"
    assert "<script>alert" not in made.text
    (token,) = re.findall(r"oc_[\w-]{43}", made.text)
    assert token not in address + str(made.headers)
    (kept,) = centre.service.people.tokens(name)
    assert kept.scope == ("survey",)
    assert kept.expires - kept.made == 7 * 86400
    assert centre.service.people.who(token).name == name
    for again in (owner.post(address, hidden | {"days": "7", "scope": "survey"}), owner.get(address)):
        assert again.status_code in (404, 409)
        assert token not in again.text
        assert "made already" in again.text
    other, fresh = token_page(owner, "ben")
    assert other == address  # the number was given again
    assert owner.post(address, hidden | {"days": "7", "scope": "survey"}).status_code == 409
    assert len(centre.service.people.tokens("ben")) == 1
    assert owner.post(other, fresh | {"days": "1", "scope": ""}).status_code == 200
    assert len(centre.service.people.tokens(name)) == 1
    dump = everything(centre)
    assert token not in dump
    assert sha256(token.encode()).hexdigest() in dump
    told = capfd.readouterr()
    assert "/owner/tokens" in told.err
    assert token not in told.err + told.out
    listed = owner.get("/owner/people").text
    assert token not in listed
    assert "<script>alert" not in listed


def test_people_are_suspended_and_tokens_revoked(centre: Served, owner: Visitor) -> None:
    people = centre.service.people
    token = people.token("ben", by="olga")
    number = str(people.tokens("ben")[-1].id)
    proof = owner.proof()
    assert owner.post("/owner/tokens/revocation", {"token": number, "proof": proof}).status_code == 303
    assert people.tokens("ben")[-1].revoked
    assert owner.post("/owner/tokens/revocation", {"token": "x", "proof": proof}).status_code == 422
    for sent, state in (("on", True), ("off", False)):
        owner.post("/owner/people/suspension", {"name": "ben", "suspended": sent, "proof": proof})
        assert people.person("ben").suspended is state
    assert owner.post("/owner/people/suspension", {"name": "ben", "suspended": "", "proof": proof}).status_code == 422
    empty = owner.post("/owner/people", {"name": " ", "role": "analyst", "proof": proof})
    assert empty.status_code == 422
    assert "Fill in this field." in empty.text
    twice = owner.post("/owner/people", {"name": "ben", "role": "analyst", "proof": proof})
    assert twice.status_code == 409
    assert 'id="name-wrong"' in twice.text
    assert token.startswith("oc_")


def test_wishes_seats_budget_and_closing(centre: Served, owner: Visitor) -> None:
    catalogue, proof = centre.service.catalogue, owner.proof()
    number = centre.seat("ada")
    catalogue.wish(number, EVIL, by="ada")
    shown = owner.get("/owner").text
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)" in shown
    wish = catalogue.wishes()[-1]
    owner.post("/owner/wishes", {"wish": str(wish.id), "decision": "decline", "proof": proof})
    assert catalogue.wishes()[-1].state == "declined"
    assert "&lt;script&gt;" not in owner.get("/owner").text.partition("odometer")[0]
    seat = {"seat": str(number), "dataset": "survey", "proof": proof}
    owner.post("/owner/seats/suspension", seat | {"suspended": "on"})
    assert catalogue.seat(number).suspended
    owner.post("/owner/seats/suspension", seat | {"suspended": "off"})
    owner.post("/owner/seats/hand-on", seat | {"analyst": "ben"})
    assert catalogue.seat(number).analyst == "ben"
    centre.call("POST", f"/api/v1/seats/{number}/questions", "ben", {"question": QUESTION})
    used = owner.post("/owner/seats/hand-on", seat | {"analyst": "ada"})
    assert used.status_code == 409
    assert "stays where it is" in used.text
    address = "/owner/datasets/survey"
    owner.post(f"{address}/budget", {"epsilon": "900", "delta": "1e-3", "proof": proof})
    assert str(catalogue.account(catalogue.dataset("survey")).budget.total) == str(ApproxDP("900", "1e-3"))
    assert owner.post(f"{address}/budget", {"epsilon": "950", "delta": "1e-3", "proof": proof}).status_code in (
        409,
        422,
    )
    assert 'id="epsilon-wrong"' in owner.post(f"{address}/budget", {"epsilon": "?", "proof": proof}).text
    for sent, state in (("on", "closed"), ("off", "open")):
        owner.post(f"{address}/suspension", {"suspended": sent, "proof": proof})
        assert catalogue.dataset("survey").state == state


def test_an_owner_with_a_token_for_one_data_set_sees_that_one(centre: Served, owner: Visitor) -> None:
    budget: dict[str, Any] = {"epsilon": 1, "delta": 0, "disjoint": True, "by": "olga"}
    centre.service.catalogue.register("sample", "people.parquet", {"age": Integers(0, 99)}, **budget)
    made: dict[str, Any] = {"scope": ["sample"], "by": "olga"}
    centre.tokens["narrow"] = centre.service.people.token("olga", **made)
    at = Visitor(centre, "narrow")
    shown = at.get("/owner").text
    assert "/owner/datasets/sample" in shown
    assert "/owner/datasets/survey" not in shown
    assert at.get("/owner/datasets/survey").status_code == 404


def test_a_usual_range_that_is_chosen_counts_and_semicolons_part_categories(owner: Visitor) -> None:
    draft = started(owner)
    changed = {"preset-1": "age", "low-1": "", "high-1": "", "values-3": "A; B;C", "preset-5": "age"}
    assert owner.post(f"{draft}/columns", column_fields() | changed, page=f"{draft}/columns").status_code == 303
    text = owner.get(f"{draft}/columns").text
    assert 'name="high-1" type="text" value="120"' in text
    assert f'name="high-5" type="text" value="{DECLARED["cost"]["high"]}"' in text  # what was typed stays
    people = {"person": "patient", "rows_per_person": "3", "neighbours": "add-remove", "bad_cells": "missing"}
    owner.post(f"{draft}/people", people, page=f"{draft}/people")
    budget = {"name": "three", "title": "", "account": "", "epsilon": "2", "delta": "1e-6", "disjoint": "on"}
    assert owner.post(f"{draft}/account", budget, page=f"{draft}/account").status_code == 303
    shown = words_of(owner.get(f"{draft}/confirmation").text)
    assert "0 – 120" in shown
    assert "A, B, C" in shown
    owner.post(f"{draft}/drop", {}, page=f"{draft}/people")


def test_whether_people_overlap_is_asked_for_before_the_last_page(owner: Visitor) -> None:
    draft = started(owner)
    assert owner.post(f"{draft}/columns", column_fields(), page=f"{draft}/columns").status_code == 303
    budget = {"name": "apart", "title": "", "account": "", "epsilon": "2", "delta": "1e-6"}
    found = owner.post(f"{draft}/account", budget, page=f"{draft}/account")
    assert found.status_code == 422
    assert 'id="disjoint-wrong"' in found.text
    assert "tick this box" in found.text
    owner.post(f"{draft}/drop", {}, page=f"{draft}/people")


def test_a_german_file_with_dates_is_confirmed_and_registered(owner: Visitor, centre: Served) -> None:
    text = "Größe (m);Tag\n1,75;31.12.2020\n2;01.01.2021\n"
    (centre.settings.folders[0] / "german.csv").write_bytes(text.encode("latin-1"))
    found = owner.post("/owner/register", {"source": '["german.csv", null]', "proof": owner.proof()})
    draft = str(found.headers["location"].removesuffix("/columns"))
    shown = owner.get(f"{draft}/columns").text
    assert "Größe (m)" in shown
    for chosen in ("semicolon", "comma", "latin-1"):
        assert f'<option value="{chosen}" selected>' in shown, chosen
    dialect = {"delimiter": "semicolon", "quote": "double", "decimal": "comma", "thousands": "none"}
    fields = {f"dialect-{part}": word for part, word in (dialect | {"encoding": "cp1252"}).items()}
    for wrong in ({"dialect-quote": "x"}, {"dialect-encoding": "morse"}):
        assert owner.post(f"{draft}/dialect", fields | wrong, page=f"{draft}/columns").status_code == 422
    assert owner.post(f"{draft}/dialect", fields, page=f"{draft}/columns").status_code == 303
    assert '<option value="cp1252" selected>' in owner.get(f"{draft}/columns").text
    size = {"use-0": "on", "kind-0": "reals", "low-0": "0", "high-0": "3", "step-0": "0.01"}
    day = {"use-1": "on", "kind-1": "dates", "low-1": "2020-01-01", "high-1": "2021-12-31", "format-1": "%d.%m.%Y"}
    columns = size | day | {"unit-1": "month", "go": "next"}
    soon = owner.post(f"{draft}/columns", columns | {"low-1": "soon"}, page=f"{draft}/columns")
    assert soon.status_code == 422
    assert "Tag: " in soon.text
    assert owner.post(f"{draft}/columns", columns, page=f"{draft}/columns").status_code == 303
    people = {"person": "", "rows_per_person": "1", "neighbours": "add-remove", "bad_cells": "refuse"}
    assert owner.post(f"{draft}/people", people, page=f"{draft}/people").status_code == 303
    assert owner.post(f"{draft}/check", {}, page=f"{draft}/check").status_code == 303
    budget = {"name": "german", "title": "", "account": "", "epsilon": "2", "delta": "1e-6", "disjoint": "on"}
    assert owner.post(f"{draft}/account", budget, page=f"{draft}/account").status_code == 303
    assert "Letters: cp1252" in words_of(owner.get(f"{draft}/confirmation").text)
    assert owner.post(f"{draft}/confirmation", {}, page=f"{draft}/confirmation").status_code == 303
    made = centre.service.catalogue.dataset("german")
    assert Count("`Größe (m)` > 1.7 and Tag == '2020-12'").measure(Table.open(made.snapshot)) == ((1,),)
    assert "2020-01 – 2021-12" in words_of(owner.get("/owner/datasets/german").text)


def test_a_new_version_is_registered_once(owner: Visitor, centre: Served) -> None:
    draft = filled(owner, name="renewed")
    assert owner.post(f"{draft}/confirmation", {}, page=f"{draft}/confirmation").status_code == 303
    address = "/owner/datasets/renewed/version"
    before = everything(centre)
    shown = owner.get(address)
    assert everything(centre) == before
    sent = hidden_fields(shown.text) | {"source": f'["{VISITS}", null]'}
    assert owner.post(address, sent | {"source": "[]"}).status_code == 422
    for _ in range(2):  # a double click
        assert owner.post(address, sent).headers["location"] == "/owner/datasets/renewed"
        assert centre.service.catalogue.dataset("renewed").version == 2
    assert "renewed, version 2" in words_of(owner.get("/owner/datasets/renewed").text)
    (centre.settings.folders[0] / "other.csv").write_text("a,b\n1,2\n", encoding="utf8")
    wrong = owner.post(address, {"source": '["other.csv", null]'}, page=address)
    assert wrong.status_code >= 400
    assert centre.service.catalogue.dataset("renewed").version == 2


def test_the_folder_for_files_is_named(owner: Visitor, centre: Served) -> None:
    assert f"<code>{centre.settings.folders[0]}</code>" in owner.get("/owner/register").text
