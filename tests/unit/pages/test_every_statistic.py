"""Every statistic of the register on the analyst's desk, about a table with every kind of column: no special case.

For each: the form, a question by its groups where it has any, the preview, the answer, and its files; and the same
question by the client.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest

from optcomp.pages import desk_view, numbers
from optcomp.statistics import (
    Categories,
    Dates,
    Declared,
    Entries,
    Integers,
    Question,
    Reals,
    Regression,
    Text,
    known_keywords,
)
from tests.unit.center.served import Served
from tests.unit.pages.visitors import Visitor, words_of

HEADER = "wer;Alter (Jahre);Lohn [EUR];Station / Haus;Eintritt;Beruf"
COLUMNS = {
    "Alter (Jahre)": Integers(0, 120),
    "Lohn [EUR]": Reals(0, 9000, unit="0.5"),
    "Station / Haus": Categories(["Süd", "Küche"]),
    "Eintritt": Dates("2015-01-01", "2024-12-31", unit="year", format="%d.%m.%Y"),
    "Beruf": Text(30),
}
ASKED: dict[str, dict[str, Any]] = {
    "count": {"by": "Station / Haus"},
    "people": {"by": "Station / Haus"},
    "sum": {"column": "Lohn [EUR]", "by": "Station / Haus"},
    "mean": {"column": "Lohn [EUR]", "public_rows": "150"},
    "variance": {"column": "Lohn [EUR]", "by": "Station / Haus"},
    "histogram": {"column": "Eintritt"},
    "contingency": {"columns": ["Station / Haus", "Eintritt"]},
    "cdf": {"column": "Eintritt"},
    "quantiles": {"column": "Eintritt", "by": "Station / Haus", "probabilities": "0.25, 0.75"},
    "median": {"column": "Lohn [EUR]", "by": "Station / Haus"},
    "frequent": {"column": "Beruf", "leak": "1e-12"},
    "means": {"columns": ["Alter (Jahre)", "Lohn [EUR]"], "by": "Station / Haus"},
    "regression": {"column": "Lohn [EUR]", "on": "Alter (Jahre)"},
}
"""Fields of the form for each; one that is not here is asked as the form proposes it."""


@pytest.fixture(scope="module")
def seat(centre: Served) -> int:
    """A seat at a table of 200 rows with decimal commas, of which 50 have no wage."""
    lines = [HEADER]
    for number in range(200):
        wage = "" if number % 4 == 0 else f"{2000 + 10 * number},5"
        place = ("Süd", "Küche", "Kueche")[number % 3]
        day = f"{1 + number % 28:02}.03.{2015 + number % 10}"
        lines.append(f"p{number // 2};{20 + number % 50};{wage};{place};{day};{('Köchin', 'Pfleger')[number % 2]}")
    (centre.settings.folders[0] / "dirty.csv").write_bytes("\n".join(lines).encode("latin-1"))
    catalogue = centre.service.catalogue
    dialect = {"delimiter": ";", "decimal": ",", "encoding": "latin-1"}
    about: dict[str, Any] = {"dialect": dialect, "person": "wer", "rows_per_person": 2, "account": "survey"}
    catalogue.register("dirty", "dirty.csv", COLUMNS, by="olga", **about)
    catalogue.cut("dirty", "all", {"ada": ("100", "1e-10")}, delta="1e-9", by="olga")
    return next(each.id for each in catalogue.seats() if each.dataset.name == "dirty")


@pytest.fixture(scope="module")
def ada(centre: Served) -> Visitor:
    return Visitor(centre, "ada")


@pytest.mark.parametrize("word", list(known_keywords()))
def test_a_statistic_is_asked_by_its_form(centre: Served, seat: int, ada: Visitor, word: str) -> None:
    query = urlencode({"kind": word, "epsilon": "2", **ASKED.get(word, {})}, doseq=True)
    shown = ada.get(f"/analyst/seats/{seat}?{query}")
    assert shown.status_code == 200
    assert 'class="wrong"' not in shown.text, words_of(shown.text)
    confirmation = ada.get(f"/analyst/seats/{seat}/ask?{query}")
    assert confirmation.status_code == 303, words_of(confirmation.text)
    address = confirmation.headers["location"]
    asked = ada.post(address, {}, page=address)
    assert asked.status_code == 303, words_of(asked.text)
    page = ada.get(asked.headers["location"])
    assert page.status_code == 200
    words = unescape(words_of(page.text))
    assert ("Paid (ε, δ) = (2, 1e-12)" if word == "frequent" else "Paid ε = 2") in words, words
    assert ("Each interval holds by itself" in words) == (word == "frequent")
    for column in ("by", "column", "on"):
        assert ASKED.get(word, {}).get(column, "") in words
    if word in ("quantiles", "median"):
        assert re.search(r"Its rank among the rows is off by at most [0-9.,]+ rows", words), words
    else:
        assert "with 95 % confidence" in words, words
    assert "No interval follows" not in words
    files = dict(re.findall(r'href="([^"]*\.(csv|json)[^"]*)"', page.text))
    for path in files:
        assert ada.get(unescape(path)).status_code == 200, path


def test_medians_are_drawn_in_the_unit_of_their_column(seat: int, ada: Visitor) -> None:
    query = urlencode({"kind": "median", "epsilon": "3", **ASKED["median"]})
    address = ada.get(f"/analyst/seats/{seat}/ask?{query}").headers["location"]
    page = ada.get(ada.post(address, {}, page=address).headers["location"]).text
    drawn = page[page.index("<svg") : page.index("</svg>")]
    assert "Lohn [EUR]" in drawn
    assert ">rows<" not in drawn


def test_an_interval_without_ends_says_so() -> None:
    """All moments of a regression came out as 0: whatever the noise was, any coefficient is possible."""
    declared = Declared(COLUMNS, name="dirty")
    question = Question(Regression("Lohn [EUR]", on=["Alter (Jahre)"]), epsilon="1/10")
    zeros = [["0"] * len(part.cells) for part in question.statistic.parts(declared)]
    told = desk_view.told({"question": question.document(), "amounts": zeros}, declared, "0.95", "title")
    assert (told.open, told.bounded, told.chart) == (True, False, "")
    assert [row.value for row in told.rows] != []


def test_numbers_below_zero_have_their_thousands_apart() -> None:
    assert numbers.low_end(-5740.5) == "-5,740.5"
    assert numbers.amount(-12345.5) == "-12,345.5"
    assert numbers.high_end(10048.25) == "10,048.25"


def test_the_client_asks_what_the_form_asks(centre: Served, seat: int) -> None:
    session = centre.client("ada").open("dirty")
    for word, named in known_keywords().items():
        given = {name: value for name, value in ASKED.get(word, {}).items() if name not in ("column", "columns")}
        about = ASKED.get(word, {}).get("column") or ASKED.get(word, {}).get("columns")
        statistic = _made(named, about, given)
        answer = session.ask(statistic, epsilon="2.5")
        rows = answer.rows("0.95")
        assert len(rows) == len(answer.to_pandas()), word
        assert len(answer.to_csv().splitlines()) == len(rows) + 1, word
        assert "<table" in answer._repr_html_(), word


def _made(named: Any, about: Any, given: dict[str, Any]) -> Any:
    word = named.keyword.word
    entries: dict[str, Any] = {word: about} if about else {word: named.keyword.entries[word]["enum"][0]}
    for name, value in given.items():
        if name in ("by", "on"):
            entries[name] = [value]
        elif name == "probabilities":
            entries[name] = [float(each) for each in value.split(",")]
        else:
            entries[name] = value if name == "leak" else int(value)
    return named.keyword.read(Entries(entries, "statistic"))
