"""Several files by a pattern and new names of columns, in the office: by forms without scripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from optcomp.statistics import Count, Table
from tests.unit.center.served import SECRET, Served
from tests.unit.pages.visitors import Visitor, hidden_fields, words_of

HEADER = "Kunden-Nr ;Alter (Jahre);Region"
PARTS = {
    "2025-01.csv": [f"a{number};{20 + number};Süd" for number in range(8)],
    "2025-02.csv": [f"b{number};{40 + number};Nord" for number in range(5)] + [f"{SECRET};{SECRET};{SECRET}"],
}
"""Files of two months; in the first column's name the blank at the end is real."""


@pytest.fixture(scope="module")
def months(centre: Served) -> Path:
    folder = centre.settings.folders[0] / "months"
    folder.mkdir()
    for name, lines in PARTS.items():
        (folder / name).write_bytes("\n".join([HEADER, *lines, ""]).encode("latin-1"))
    return folder


@pytest.fixture(scope="module")
def owner(centre: Served) -> Visitor:
    return Visitor(centre, "olga")


def typed(owner: Visitor, pattern: str) -> dict[str, str]:
    return {"source": "pattern", "pattern": pattern, "proof": owner.proof()}


def column_fields(**changed: str) -> dict[str, str]:
    fields = {"go": "next", "use-1": "on", "use-2": "on", "kind-0": "integers"}
    fields |= {"kind-1": "integers", "low-1": "0", "high-1": "120", "rename-1": "age"}
    return fields | {"kind-2": "categories", "values-2": "Nord, Süd", "rename-0": "customer"} | changed


def test_files_by_a_pattern_with_new_names(centre: Served, owner: Visitor, months: Path) -> None:
    begun = owner.post("/owner/register", typed(owner, "months/2025-*.csv"))
    assert begun.status_code == 303, words_of(begun.text)
    draft = begun.headers["location"].removesuffix("/columns")
    page = owner.get(f"{draft}/columns").text
    assert "2 files, read as one table in this order: 2025-01.csv, 2025-02.csv" in words_of(page)
    assert 'placeholder="Alter (Jahre)"' in page
    assert SECRET not in page
    taken = owner.post(f"{draft}/columns", column_fields(**{"rename-1": "Region"}), page=f"{draft}/columns")
    assert taken.status_code == 422
    assert re.search(r'id="rename-1-wrong">Alter \(Jahre\): is the name of another column', taken.text)
    twice = owner.post(f"{draft}/columns", column_fields(**{"rename-0": "age"}), page=f"{draft}/columns")
    assert "is given to two columns" in twice.text
    assert owner.post(f"{draft}/columns", column_fields(), page=f"{draft}/columns").status_code == 303
    assert ">customer</option>" in owner.get(f"{draft}/people").text
    people = {"person": "Kunden-Nr ", "rows_per_person": "1", "neighbours": "add-remove", "bad_cells": "missing"}
    saved = owner.post(f"{draft}/people", people, page=f"{draft}/people")
    assert saved.status_code == 303, words_of(saved.text)
    checked = owner.post(f"{draft}/check", {}, page=f"{draft}/check")
    assert checked.status_code == 303, words_of(checked.text)
    looked = words_of(owner.get(f"{draft}/check").text)
    assert "Rows 14" in looked
    assert "People 14" in looked
    assert "age 0 1 0 0 0" in looked
    budget = {"name": "months", "title": "", "account": "", "epsilon": "9", "delta": "1e-6", "disjoint": "on"}
    assert owner.post(f"{draft}/account", budget, page=f"{draft}/account").status_code == 303
    shown = owner.get(f"{draft}/confirmation")
    assert "Alter (Jahre) → age" in words_of(shown.text)
    assert "The column customer says whose a row is" in words_of(shown.text)
    made = owner.post(f"{draft}/confirmation", hidden_fields(shown.text))
    assert made.headers["location"] == "/owner/datasets/months", words_of(made.text)
    known = centre.service.catalogue.dataset("months")
    assert (list(known.declared.columns), known.declared.person) == (["age", "Region"], "customer")
    table = Table.open(known.snapshot)
    assert Count("age >= 40 and Region == 'Nord'").measure(table) == ((5,),)
    assert Count("age < 40 and Region == 'Süd'").measure(table) == ((8,),)
    noted = str(centre.call("get", "/api/v1/audit/changes", "ruth").json())
    assert "months/2025-*.csv" in noted
    assert SECRET not in noted


def test_a_version_by_a_pattern(centre: Served, owner: Visitor, months: Path) -> None:
    address = "/owner/datasets/months/version"
    (months / "2025-03.csv").write_bytes(f"{HEADER}\nc1;70;Nord\n".encode("latin-1"))
    none = owner.post(address, typed(owner, "months/2024-*.csv"), page=address)
    assert none.status_code == 422
    assert 'id="pattern-wrong"' in none.text
    assert 'value="months/2024-*.csv"' in none.text
    assert owner.post(address, typed(owner, "months/*.csv"), page=address).status_code == 303
    known = centre.service.catalogue.dataset("months")
    assert known.version == 2
    assert Count("age >= 40 and Region == 'Nord'").measure(Table.open(known.snapshot)) == ((6,),)


def test_patterns_lead_nowhere_else(centre: Served, owner: Visitor, months: Path) -> None:
    secret = centre.settings.home / f"{SECRET}.csv"
    secret.write_text(f"{HEADER}\n{SECRET};1;Nord\n", encoding="latin-1")
    for pattern in (
        "",
        "../*",
        "../home/*.csv",
        f"{centre.settings.home}/*.csv",
        "sqlite:///x*",
        "*/2025-*.csv",
        "no*",
    ):
        found = owner.post("/owner/register", typed(owner, pattern))
        assert found.status_code == 422, pattern
        assert 'id="pattern-wrong"' in found.text, pattern
        assert SECRET not in found.text
    (months / "linked-1.csv").symlink_to(secret)
    (months / "linked-2.csv").symlink_to(centre.settings.home / "nothing.csv")
    told = set()
    for pattern in ("months/linked-1*", "months/linked-2*"):
        found = owner.post("/owner/register", typed(owner, pattern))
        assert found.status_code == 422, pattern
        told |= {words_of(found.text).replace(pattern, "")}
        assert SECRET not in found.text
    assert len(told) == 1  # whether a file is there that may not be read is not told
    (months / "other-1.csv").write_text("a,b\n", encoding="utf8")
    (months / "other-2.csv").write_text("a,c\n", encoding="utf8")
    found = owner.post("/owner/register", typed(owner, "months/other-*"))
    assert "must have the same columns as other-1.csv" in found.text
