"""Downloads, and texts that somebody entered in order to harm: names of columns, categories, data sets, conditions."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from optcomp.checker import check
from optcomp.statistics import Categories, Integers
from tests.unit.center.served import Served
from tests.unit.pages.test_desk_pages import asked, confirmation
from tests.unit.pages.visitors import Visitor

EVIL = [
    "=1+1",
    "@SUM(A1)",
    "-2",
    "+3",
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "{{ 7919*7919 }}",
]
COLUMN = "<b>=bold"
TITLE = "<svg onload=alert(1)>"
HARM = ("<script>alert", "<img src=x", "<svg onload", "<b>=bold", "62710561")
"""None of it may be in a page. The number is what a template would make of the last name: no noise is that large."""


@pytest.fixture(scope="module")
def hostile(centre: Served) -> int:
    """A seat at a data set whose every name is an attack."""
    folder = centre.settings.folders[0]
    rows = {COLUMN: [EVIL[n % len(EVIL)] for n in range(70)], "age": list(range(70))}
    pyarrow.parquet.write_table(pyarrow.table(rows), folder / "hostile.parquet")
    columns = {COLUMN: Categories(EVIL), "age": Integers(0, 99)}
    catalogue = centre.service.catalogue
    given: dict[str, Any] = {
        "account": "hostile",
        "epsilon": "100",
        "delta": "1e-6",
        "title": TITLE,
        "free": True,
        "by": "olga",
    }
    catalogue.register("hostile", "hostile.parquet", columns, disjoint=True, **given)
    catalogue.cut("hostile", "<script>alert(2)</script>", {"ada": ("9", "0")}, delta="1e-9", by="olga")
    (seat,) = (each.id for each in catalogue.seats("ada") if each.dataset.name == "hostile")
    return seat


def test_a_table_is_what_was_answered_and_holds_no_formula(centre: Served, hostile: int) -> None:
    at = Visitor(centre, "ada")
    address = asked(at, hostile, "kind=histogram&column=%3Cb%3E%3Dbold&epsilon=1")
    found = at.get(f"{address}/answer.csv?confidence=0.99")
    assert found.headers["content-disposition"] == f'attachment; filename="answer-{address.rpartition("/")[2]}.csv"'
    rows = list(csv.DictReader(io.StringIO(found.text)))
    (line,) = centre.call("get", f"/api/v1/seats/{hostile}/transcript?newest=true&most=1", "ada").json()["requests"]
    assert [Fraction(row["value"]) for row in rows] == [Fraction(each) for each in line["answer"]["amounts"][0]]
    for row, name in zip(rows, [*EVIL, "(other)"], strict=True):
        assert row["cell"].removeprefix("'") == name
        assert row["cell"].startswith("'") == name.startswith(("=", "@", "-", "+"))
        assert row["cell"][0] not in "=@+-"
        assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
        assert (row["confidence"], row["invented"]) == ("0.99", "no")


def test_json_certificate_and_receipt(centre: Served, hostile: int) -> None:
    at = Visitor(centre, "ada")
    address = asked(at, hostile, "kind=count&epsilon=0.5")
    told = json.loads(at.get(f"{address}/answer.json").text)
    (line,) = centre.call("get", f"/api/v1/seats/{hostile}/transcript?newest=true&most=1", "ada").json()["requests"]
    assert {name: told[name] for name in ("request", "answer", "receipt", "paid")} == {
        name: line[name] for name in ("request", "answer", "receipt", "paid")
    }
    assert json.loads(at.get(f"{address}/receipt.json").text) == line["receipt"]
    certificate = at.get(f"{address}/certificate.json")
    assert certificate.headers["content-disposition"] == 'attachment; filename="certificate.json"'
    assert check(json.loads(certificate.text)).proved
    assert at.get(f"{address}/answer.csv").headers["x-content-type-options"] == "nosniff"


def test_names_are_text_on_every_page(centre: Served, hostile: int) -> None:
    at = Visitor(centre, "ada")
    base = f"/analyst/seats/{hostile}"
    query = "kind=histogram&column=%3Cb%3E%3Dbold&epsilon=0.1&where=age+%3E+1+or+age+%3C+0"
    answer = asked(at, hostile, query)
    at.post(f"{answer}/share", {}, page=answer)
    script = "%3Cscript%3Ealert(1)%3C/script%3E"
    pages = ["/analyst", base, f"{base}?{query}&dry=1", answer, confirmation(at, hostile, query), f"{base}/transcript"]
    pages += [f"{base}?{name}={script}" for name in ("kind", "where", "epsilon", "noise", "where_value", "confidence")]
    pages += [
        f"{base}?kind=histogram&column={script}&bins={script}",
        f"{base}?add=1&where_column=age&where_value={script}",
    ]
    pages += [f"{base}/open?mechanism={script}", f"{base}/open?threshold={script}&epsilon={script}"]
    pages += [f"{base}/open?mechanism=multiplicative+weights&columns=%3Cb%3E%3Dbold&where={script}"]
    for page in pages:
        found = at.get(page)
        assert found.status_code == 200, page
        for harm in HARM:
            assert harm not in found.text, (page, harm)


def test_what_has_no_answer_is_no_file(centre: Served, hostile: int) -> None:
    at = Visitor(centre, "ada")
    base = f"/analyst/seats/{hostile}"
    for name in ("answer.csv", "answer.json", "receipt.json", "certificate.json"):
        assert at.get(f"{base}/requests/999999/{name}").status_code in (404, 422)
    assert at.get(f"{base}/requests/999999").status_code == 404
    assert at.get(f"{base}/mechanisms/999999").status_code == 404
