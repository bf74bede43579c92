"""The auditor's view: everything that happened, once and in order; the chain verified; downloads that are noted."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from optcomp.ledger import verify_export
from optcomp.pages import auditor
from optcomp.pages.downloads import csv_text
from tests.unit.center.served import QUESTION, Served
from tests.unit.pages.visitors import Visitor, words_of

FORMULA = "=cmd|'/C calc'!A0"
"""What a spreadsheet would take for a formula."""


@pytest.fixture(scope="module", autouse=True)  # the first of all, whichever test is the first
def seat(centre: Served) -> int:
    """A seat with an answer, a refusal and a wish; and a person with an evil name."""
    number = centre.seat("ada", "1")
    asked = {"question": QUESTION}
    assert centre.call("POST", f"/api/v1/seats/{number}/questions", "ada", asked).status_code == 200
    too_much = {"question": QUESTION | {"epsilon": "7"}}
    assert centre.call("POST", f"/api/v1/seats/{number}/questions", "ada", too_much).status_code == 409
    centre.service.people.add(FORMULA, "analyst", by="olga")
    centre.service.people.add("<img src=x onerror=alert(1)>", "analyst", by="olga")
    return number


@pytest.fixture(scope="module")
def ruth(centre: Served, seat: int) -> Visitor:
    return Visitor(centre, "ruth")


def rows(path: str, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def pages_of_events(visitor: Visitor) -> Iterator[str]:
    """Return the auditor's pages from the first to the last."""
    address = "/auditor"
    for _ in range(20):
        text = visitor.get(address).text
        yield text
        more = re.search(r'href="(/auditor\?entries=\d+&amp;changes=\d+)#events"', text)
        if more is None:
            return
        address = more.group(1).replace("&amp;", "&")


def test_everything_is_there_once_and_in_order(centre: Served, ruth: Visitor) -> None:
    for number in range(35):
        centre.service.people.add(f"extra {number}", "analyst", by="olga")
        centre.seat(f"extra {number}", "1/100")
    shown: list[str] = []
    for text in pages_of_events(ruth):
        shown += re.findall(r"<td role=\"cell\">(entry \d+|log \d+)</td>", text)
        assert len(re.findall(r">(?:entry|log) \d+</td>", text)) <= 50
    entries = [f"entry {row[0]}" for row in rows(centre.settings.ledger, "SELECT sequence FROM entries ORDER BY 1")]
    changes = [f"log {row[0]}" for row in rows(centre.settings.database, "SELECT id FROM changes ORDER BY 1")]
    assert len(entries) > 35
    assert len(changes) > 60
    assert [each for each in shown if each.startswith("entry")] == entries
    assert [each for each in shown if each.startswith("log")] == changes
    last = ruth.get("/auditor/newest").headers["location"]
    assert changes[-1] in ruth.get(last).text


def test_requests_and_refusals_are_told_without_any_answer(centre: Served, ruth: Visitor, seat: int) -> None:
    # all pages: within one second entries of the ledger come before the log, and those of other tests fill a page
    text = "".join(pages_of_events(ruth))
    shown, slot = words_of(text), centre.slot_of(seat)
    assert f"request paid : count at ε = 0.1 {slot} ε = 0.1" in shown
    assert f"request answered : count at ε = 0.1 {slot}" in shown
    refused = re.search(r"refused : account survey; reason ε: .{,60} costs 7 and 0\.9 .{,60}; slot batch 0: ada", shown)
    assert refused is not None
    assert "onerror=alert" not in text.replace("&lt;img src=x onerror=alert(1)&gt;", "")
    answers = rows(centre.settings.ledger, "SELECT answer, salt FROM requests WHERE answer != ''")
    assert answers
    for answer, salt in answers:
        assert str(salt) not in shown
        assert str(answer) not in shown


def test_refusals_of_one_seat_do_not_fill_the_log(centre: Served) -> None:
    number = centre.seat("ben", "1")
    for _ in range(35):
        centre.call("POST", f"/api/v1/seats/{number}/questions", "ben", {"question": QUESTION | {"epsilon": "7"}})
    query = "SELECT count(*) FROM changes WHERE what = 'refused' AND who = 'ben'"
    assert 30 <= int(str(rows(centre.settings.database, query)[0][0])) <= 35  # thirty in a minute, which may end


def test_the_chain_is_verified_on_the_page(centre: Served, ruth: Visitor) -> None:
    shown = words_of(ruth.get("/auditor/verification").text)
    assert "Everything holds." in shown
    assert centre.service.ledger.head.head in shown
    for name in ("BEST-FILTER", "Lyu22-1", "MV18-1.5", "RRUV16"):
        assert f"{name}:" in shown
    with closing(sqlite3.connect(centre.settings.ledger)) as database:
        (text,) = database.execute("SELECT what FROM requests WHERE id = 3").fetchone()
        database.execute("UPDATE requests SET what = 'nothing at all' WHERE id = 3")
        database.commit()
        try:
            broken = words_of(ruth.get("/auditor/verification").text)
        finally:
            database.execute("UPDATE requests SET what = ? WHERE id = 3", (text,))
            database.commit()
    assert "Something is wrong." in broken
    assert "Everything holds." not in broken
    assert "Everything holds." in ruth.get("/auditor/verification").text


def test_the_export_verifies_and_is_noted(centre: Served, ruth: Visitor, tmp_path: Path) -> None:
    found = ruth.post("/auditor/export", {"proof": ruth.proof()})
    assert found.headers["content-disposition"] == 'attachment; filename="ledger.jsonl"'
    (tmp_path / "ledger.jsonl").write_bytes(found.content)
    assert verify_export(tmp_path / "ledger.jsonl").ok
    *lines, last = found.content.splitlines(keepends=True)
    digest = sha256(b"".join(lines)).hexdigest()
    assert json.loads(last)["sha256"] == digest
    for answer, salt in rows(centre.settings.ledger, "SELECT answer, salt FROM requests WHERE answer != ''"):
        assert str(salt) not in found.text
        assert str(answer) not in found.text
    note = centre.service.changes.all()[-1]
    assert (note.who, note.what, note.detail["sha256"]) == ("ruth", "exported the ledger", digest)
    assert "exported the ledger" in ruth.get(ruth.get("/auditor/newest").headers["location"]).text


def test_the_log_is_a_table_without_formulas(centre: Served, ruth: Visitor) -> None:
    centre.service.changes.record(FORMULA, "tried", {"=a": "b"})
    found = ruth.post("/auditor/log", {"proof": ruth.proof()})
    assert found.headers["content-disposition"] == 'attachment; filename="changes.csv"'
    table = list(csv.reader(io.StringIO(found.text)))
    count = int(str(rows(centre.settings.database, "SELECT count(*) FROM changes")[0][0]))
    assert len(table) == count  # a heading more, and its own note less
    assert not [cell for row in table for cell in row if cell.startswith(("=", "+", "-", "@"))]
    assert f"'{FORMULA}" in [row[2] for row in table]
    assert centre.service.changes.all()[-1].what == "exported the log"


def test_cells_that_look_like_formulas_are_text() -> None:
    assert csv_text([["=1", "+1", "-1", "@x", "\tx", "x", -1, None]]) == "'=1,'+1,'-1,'@x,'\tx,x,-1,\r\n"


def test_certificates_are_those_of_the_batches(centre: Served, ruth: Visitor) -> None:
    found = ruth.get("/auditor/certificate?account=survey&batch=batch 0")
    assert found.json()["mechanisms"] == [["1", "0", 1]]
    assert found.json()["format"] == "optcomp-certificate"
    assert ruth.get("/auditor/certificate?account=survey&batch=other").status_code == 404


def test_the_view_is_for_auditors_and_owners(centre: Served, seat: int) -> None:
    notes = len(centre.service.changes.all())
    for who in ("ada", None):
        at = Visitor(centre, who)
        for route in auditor.router.routes:
            path, method = route.path, next(iter(route.methods))  # type: ignore[attr-defined]
            found = at.get(path) if method == "GET" else at.post(path, {"proof": "" if who is None else at.proof()})
            assert found.status_code == (303 if who is None else 403), path
    ruth = Visitor(centre, "ruth")
    for path in ("/auditor/export", "/auditor/log"):
        assert ruth.post(path, {"proof": "x"}).status_code == 403
    assert len(centre.service.changes.all()) == notes
    assert Visitor(centre, "olga").get("/auditor").status_code == 200
