"""Reports: everything inside, nothing taken for markup, and the numbers of the plan."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from html import unescape
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from optcomp.planner import Plan, make_plan, read
from optcomp.planner.edits import hold, put
from optcomp.release.pictures import MOST_BARS, printable
from optcomp.release.plan_facts import cautions, down, facts, growth, near, shares, up, words
from optcomp.release.report import MOST_CELLS, _cells, page
from optcomp.statistics import Count
from tests.plans import Plain, every_kind, example, small

VOID = {"meta", "br", "wbr"}
HOSTILE = "</title><script>alert('&')</script>$\\frac{1}$\x1b[1m\x00" + "long" * 50


class Reader(HTMLParser):
    """Checks that tags are closed in order, and gathers ids, links and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href", "action"):
                self.links.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(text: str) -> Reader:
    """A page that is well formed and stands by itself."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)
    assert all(link.startswith("#") and link[1:] in reader.ids for link in reader.links)
    assert {re.sub(r"^\w+://", "", url).split("/")[0] for url in re.findall(r"https?://[^\s\"'<)]+", text)} <= {
        "www.w3.org"
    }
    assert not {"script", "iframe", "link", "img", "object"} & set(reader.tags)
    assert "url(http" not in text
    assert "@import" not in text
    return reader


@cache
def planned(kind: str) -> Plan:
    documents: dict[str, Plain] = {
        "example": example(),
        "pure": hold(small(), "people"),
        "rho": small(budget={"rho": "0.1"}),
        "reserve": small(budget={"epsilon": 1, "delta": "1e-6"}, reserve="0.2"),
        "sample": small(
            data={"rows": 1000, "rows_public": True, "population": 100_000, "neighbours": "replace"},
            budget={"epsilon": 1, "delta": "1e-6"},
        ),
        "wanted": put(put(put(small(objective="wanted"), "people.error", 1), "mean_age.error", 1), "regions.error", 2),
        "hostile": small(
            data={"rows": 1000, "name": HOSTILE},
            columns={HOSTILE: {"categories": [HOSTILE, "b"]}},
            statistics={HOSTILE: {"histogram": HOSTILE}, "$": {"count": None}},
        ),
        "many": small(statistics={f"s{i}": {"count": None, "where": f"age >= {i}"} for i in range(80)}),
    }
    return make_plan(read(documents[kind]))


def release(results: list[dict[str, Any]]) -> dict[str, Any]:
    record = {"versions": {"optcomp": "0"}, "plan_sha256": "abc"}
    return {"statistics": results, "finished": "now", "record": record}


KINDS = ("example", "pure", "rho", "reserve", "sample", "wanted", "hostile", "many")


@pytest.mark.parametrize("printing", [False, True], ids=["screen", "paper"])
@pytest.mark.parametrize("kind", KINDS)
def test_pages_stand_by_themselves(kind: str, printing: bool) -> None:
    plan = planned(kind)
    found = facts(plan)
    reader = checked(page(found, growth(plan), printing=printing))
    assert reader.tags.count("svg") == 3
    assert reader.tags.count("tr") == len(plan.lines) + 1 + len(found["words"]) - 1 + len(found["columns"])
    assert plan.verdict() in reader.text


def test_paper_has_its_own_style() -> None:
    plan = planned("pure")
    screen, paper = (page(facts(plan), growth(plan), printing=printing) for printing in (False, True))
    assert "size: A4" in paper
    assert "@media print" not in paper
    assert "@media print" in screen
    assert "background: none" in paper.split("size: A4")[1]


def test_the_same_plan_gives_the_same_page() -> None:
    plan = planned("example")
    assert page(facts(plan), growth(plan)) == page(facts(plan), growth(plan))


def test_text_is_never_markup() -> None:
    """Names of statistics, columns and tables are shown as they are, cut, and without control characters."""
    plan = planned("hostile")
    results = [
        {"name": HOSTILE, "statistic": "histogram", "cells": [{"cell": HOSTILE, "value": 3, "interval": [1.0, 5.0]}]}
    ]
    text = page(facts(plan), growth(plan), release(results))
    reader = checked(text)
    assert reader.tags.count("title") == 1
    assert "</title><script>alert('&')" in reader.text
    assert "$\\frac{1}$" in unescape(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", text)
    for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(svg)


def test_numbers_of_the_plan_are_in_the_table() -> None:
    plan = planned("example")
    reader = checked(page(facts(plan), growth(plan)))
    for line in plan.lines:
        assert line.wish.name in reader.text
        assert near(line.error, 4) in reader.text
        assert near(plan.naive[line.wish.name], 4) in reader.text
        assert near(plan.by_rho[line.wish.name], 4) in reader.text


def test_many_statistics_are_cut_in_pictures_and_not_in_the_table() -> None:
    plan = planned("many")
    reader = checked(page(facts(plan), growth(plan)))
    assert f"The first {MOST_BARS} of 80 statistics." in reader.text
    assert "s79" in reader.text
    assert len(growth(plan)) <= 24


def test_results() -> None:
    results: list[dict[str, Any]] = [
        {"name": "n", "statistic": "count", "value": 1234567, "interval": [1234560.0, 1234574.0]},
        {"name": "m", "statistic": "median of x", "value": 0.5, "interval": None},
        {
            "name": "h",
            "statistic": "histogram of x",
            "cells": [{"cell": ["a", i], "value": i, "interval": [0.0, 2.0 * i]} for i in range(MOST_CELLS + 5)],
        },
    ]
    plan = planned("pure")
    reader = checked(page(facts(plan), growth(plan), release(results)))
    assert "Intervals leave out impossible values but always contain the published number." in reader.text
    assert "how much the total would fall if this statistic cost a little less" in reader.text
    assert "Released on now by optcomp 0; plan abc" in reader.text
    assert "suggestions" not in reader.text
    assert "1,234,567" in reader.text
    assert "1,234,560 to 1,234,574" in reader.text
    assert f"The first {MOST_CELLS} of {MOST_CELLS + 5} cells." in reader.text
    assert "a, 399" in reader.text
    assert "a, 400" not in reader.text
    assert reader.tags.count("svg") == 4


def test_growth_ends_at_the_total() -> None:
    for kind in ("example", "pure", "rho"):
        plan = planned(kind)
        points = growth(plan)
        assert [points[0]["count"], points[-1]["count"]] == [1, len(plan.lines)]
        totals = [point["total"] for point in points]
        assert totals == sorted(totals)  # type: ignore[type-var]
        assert totals[-1] == pytest.approx(plan.total, rel=1e-6)
        for point in points:
            assert (point["sum"] is None) == (kind == "rho")
            assert point["sum"] is None or point["total"] <= point["sum"] * (1 + 1e-9)  # type: ignore[operator]
            assert (point["rho"] is None) == (kind != "example")
            assert point["rho"] is None or point["total"] <= point["rho"]  # type: ignore[operator]


def test_shares_add_up() -> None:
    for kind in KINDS:
        found = shares(planned(kind))
        assert math.fsum(found) == pytest.approx(1)
        assert min(found) > 0
    pure = planned("pure")
    budgets = [float(line.spending.budget) for line in pure.lines]
    assert shares(pure) == pytest.approx([each / sum(budgets) for each in budgets])


def test_words() -> None:
    assert dict(words(planned("pure")))["budget"] == "ε = 1, δ = 0"
    assert dict(words(planned("rho")))["total"] == "ρ = 0.1, the sum of its parts (BS16)"
    reserve = dict(words(planned("reserve")))["reserve"]
    assert reserve == (
        "20 % of the budget: ε = 0.2 is kept for later questions, and counted in the total as one more mechanism"
    )
    sample = dict(words(planned("sample")))
    assert sample["sample"] == (
        "1,000 rows drawn at random from 100,000 people: ε = 5.1523, δ = 0.0001 may be spent on the sample; that is "
        "ε = 1, δ = 1e-6 for all 100,000 people (BBG18), as long as nobody knows who was drawn"
    )
    assert sample["protects"] == "one person, who has one row: what the rows say"
    assert dict(words(planned("example")))["protects"] == (
        "one person, with up to 2 rows: whether the person is in the table at all"
    )
    assert "rules of thumb" in sample["suggestions"]
    assert "MORE than the budget of ε = 1: this plan cannot be released" in dict(words(planned("wanted")))["total"]


KINDS_OF_COLUMNS: Plain = {
    "age": {"integers": [0, 99]},
    "employed": {"categories": [True, False]},
    "code": {"categories": [1, 2], "other": "none of these"},
    "income": {"reals": ["0.5", "1e5"], "unit": "0.01"},
}
KINDS_OF_STATISTICS: Plain = {
    "h": {"histogram": "employed"},
    "codes": {"histogram": "code"},
    "e": {"histogram": "age", "edges": [0, 50, 99]},
    "bins": {"histogram": "income", "bins": 3},
    "c": {"contingency": ["employed", "income"], "edges": {"income": ["0.5", "10", "1e5"]}},
    "q": {"quantiles": "income", "probabilities": ["0.1", "1/3"]},
    "cdf": {"cdf": "income", "bins": 3},
    "v": {"variance": "income", "where": "age >= 18", "rows": 500},
}
PYTHON = (
    r"\b[A-Z]\w+\(",  # Categories(, Fraction(, PosixPath(
    r"\[['\"]|\{['\"]|\('",  # lists, sets, mappings and tuples of text
    r"\b(None|True|False|nan|inf)\b",
    r"\d\.\d{11,}|\d{3}\.0\b",  # floats as Python writes them
    r"<[a-z.]+ object|\bnp\.|\bfloat64",
)


def no_python(text: str) -> None:
    found = [match[0] for pattern in PYTHON for match in re.finditer(pattern, text)]
    assert found == []


def cells_of(plan: Plan) -> list[dict[str, Any]]:
    """A release of zeros, with the cells that the plan has."""
    found: list[dict[str, Any]] = []
    for line in plan.lines:
        parts = line.wish.statistic.parts(plan.document.table)
        single = line.mechanism == "exponential"
        value = line.wish.statistic.value(
            plan.document.table, [[Fraction(0)] * (1 if single else len(part.cells)) for part in parts]
        )
        about: dict[str, Any] = {"name": line.wish.name, "statistic": str(line.wish.statistic)}
        if isinstance(value, Mapping):
            cells = [{"cell": cell, "value": 0, "interval": None if single else [0.0, 1 / 3]} for cell in value]
            found.append(about | {"cells": cells})
        else:
            found.append(about | {"value": 2 / 3, "interval": [0.0, 1e5 / 3]})
    return found


BUDGETS: list[Plain] = [{"epsilon": 1}, {"epsilon": "1/3", "delta": "1e-6"}, {"rho": "0.1"}]


def of_columns(budget: Plain) -> Plan:
    return make_plan(read(small(columns=KINDS_OF_COLUMNS, statistics=KINDS_OF_STATISTICS, budget=budget)))


@pytest.mark.parametrize(
    "plan",
    [
        *(partial(planned, kind) for kind in ("example", "reserve", "sample", "wanted", "many")),
        *(partial(of_columns, budget) for budget in BUDGETS),
        lambda: make_plan(read(every_kind())),
    ],
)
def test_reports_hold_nothing_of_python(plan: Callable[[], Plan]) -> None:
    """Neither constructors nor quoted lists, None, or floats to their last digit."""
    made = plan()
    found = facts(made)
    told = [*found["words"].values(), *found["columns"].values(), *found["notes"], found["verdict"]]
    for results in (None, release(cells_of(made))):
        text = re.sub(r"<(style|svg).*?</\1>", "", page(found, growth(made), results), flags=re.DOTALL)
        text = re.sub(r"where [^<]*", "", text)  # conditions are told as they were written
        told.append(checked(text.replace("</t", " </t")).text)
    no_python("\n".join(told))


def test_declared_columns_in_words() -> None:
    assert facts(make_plan(read(small(columns=KINDS_OF_COLUMNS, statistics={"n": {"count": None}}))))["columns"] == {
        "age": "whole numbers from 0 to 99",
        "employed": "true, false; anything else counts as (other)",
        "code": "1, 2; anything else counts as none of these",
        "income": "numbers from 0.5 to 100000 in steps of 0.01",
    }


def test_cells_without_intervals_are_not_said_to_have_any() -> None:
    plan = planned("pure")
    for interval, caption in ((None, "All cells."), ([0.0, 2.0], "All cells, with intervals.")):
        cells = [{"cell": 0.25, "value": 1.0, "interval": interval}]
        reader = checked(page(facts(plan), growth(plan), release([{"name": "q", "statistic": "q", "cells": cells}])))
        assert re.findall(r"All cells[^.]*\.", reader.text) == [caption]


def test_the_shipped_plan_calls_rows_rows() -> None:
    """People of the survey have up to two rows, so a count of rows is not a count of people."""
    document = read(example())
    assert document.table.contribution.rows > 1
    counts = [wish.name for wish in document.wishes if isinstance(wish.statistic, Count)]
    assert counts == ["rows"]


def test_the_lower_side_is_about_stand_ins() -> None:
    """It is said of what; and nothing is said where the noise that is drawn counts by its own loss."""
    start = "The lower side is not about the noise that is drawn. It is proved with"
    laplace = "Laplace noise and exponential choices replaced by the worst mechanism of the same ε"
    both = f"{laplace}, and Gaussian noise by continuous noise of slightly smaller σ"
    end = ". The upper side holds for the noise that is drawn."
    assert dict(words(planned("pure")))["lower side"] == f"{start} {laplace}{end}"
    assert dict(words(planned("example")))["lower side"] == f"{start} {both}{end}"
    assert facts(planned("example"))["notes"] == [f"{start} {both}{end}"]
    assert facts(planned("rho"))["notes"] == ["No lower side is proved for a sum of ρ."]
    assert facts(planned("rho"))["lower"] is None
    own = small(budget={"epsilon": 3, "delta": "1e-6"}, statistics={"n": {"count": None, "mechanism": "gaussian"}})
    assert facts(make_plan(read(own)))["notes"] == []
    vector = small(
        columns={"age": {"integers": [0, 9]}},
        budget={"epsilon": 9, "delta": "1e-6"},
        data={"rows": 1000, "rows_per_person": 2, "person": "id"},
        statistics={"ages": {"histogram": "age", "mechanism": "gaussian"}},
    )
    assert facts(make_plan(read(vector)))["notes"] == [
        f"{start} Gaussian noise of small σ replaced by Gaussian noise of the same ρ{end}"
    ]


def test_notes_say_what_an_error_rests_on() -> None:
    conditions = {
        "a": {"mean": "age", "where": "age > 3"},
        "b": {"mean": "age", "where": "age > 3", "rows": 500, "present": "0.5", "centre": [40, 60]},
        "c": {"median": "age"},
        "d": {"cdf": "age", "bins": 3},
        "e": {"count": None, "where": "age > 3"},
        "f": {"mean": "income", "where": "age > 3", "rows": 500},
        "g": {"variance": "income", "spread": [5, 20]},
    }
    columns = {"age": {"integers": [0, 99]}, "income": {"reals": [0, 100], "present": "0.9", "centre": 50}}
    plan = make_plan(read(small(columns=columns, statistics=conditions)))
    entries = facts(plan)["statistics"]
    full, even = "no cell of age is missing (else tell `present`)", "values are spread evenly over the bounds"
    all_rows = "the condition keeps all rows (else tell `rows`)"
    as_often = "cells of income are missing as often where the condition holds (else tell `present`)"
    assert [entry["note"] for entry in entries] == [
        f"± for 1,000 rows with a value, wherever their mean lies, if {all_rows} and {full}",
        "± for 250 rows with a value, for a mean anywhere from 40 to 60",
        None,
        f"± for 1,000 rows with a value, if {full} and {even}",
        "relative to all rows: tell how many satisfy the condition by `rows`",
        f"± for 450 rows with a value, wherever their mean lies, if {as_often}",
        "± for 900 rows with a value, for a mean of 50, with a standard deviation anywhere from 5 to 20",
    ]
    assumed = [[all_rows, full], [], [], [full, even], [], [as_often], []]
    assert [entry["assumes"] for entry in entries] == assumed
    assert [entry["rows"] for entry in entries] == [1000, 250, None, 1000, None, 450, 900]
    assert [entry["otherwise"] is not None for entry in entries] == [True, False, True, True, False, True, False]
    assert entries[3]["otherwise"]["error"] > entries[3]["error"]
    assert entries[0]["otherwise"]["error"] < entries[0]["error"]


def test_a_page_marks_errors_that_rest_on_what_nobody_says() -> None:
    open_plan, known = (
        make_plan(read(small(columns=small()["columns"] | {"age": {"integers": [0, 99], **said}})))
        for said in ({}, {"present": 1, "centre": 40})
    )
    shown = page(facts(open_plan), growth(open_plan))
    assert "*</td>" in shown
    assert "if no cell of age is missing (else tell `present`)" in shown
    assert "an error with a star rests on something that the plan does not say" in shown
    told = page(facts(known), growth(known))
    assert "*</td>" not in told
    assert "rests on something" not in told
    assert "± for 1,000 rows with a value" in told


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [(1 / 3, "0.333", "0.334"), (1e-12, "1e-12", "1e-12"), (2.0, "2", "2"), (math.inf, "∞", "∞")],
)
def test_digits_are_rounded_outwards(value: float, low: str, high: str) -> None:
    assert (down(value, 3), up(value, 3)) == (low, high)


def test_printable() -> None:
    assert printable("a\nb\x1b") == "a�b�"
    assert len(printable("x" * 100)) == 40


def test_cautions() -> None:
    careful = small(budget={"epsilon": 20, "delta": "0.01"}, statistics={"n": {"count": None, "rows": 5000}})
    assert cautions(make_plan(read(careful))) == [
        "ε = 20 promises very little",
        "δ = 0.01 is not far below 1/1,000: it would allow publishing a few rows unchanged",
        "`rows` is more than data.rows: n",
    ]
    wide = small(budget={"epsilon": "0.001"}, statistics={f"s{i}": {"count": None} for i in range(7)})
    assert cautions(make_plan(read(wide))) == ["relative errors of 50 % or more: s0, s1, s2, s3, s4 and 2 more"]
    assert cautions(planned("example")) == []


def test_what_nobody_uses() -> None:
    held = small(statistics={"n": {"count": None, "epsilon": "0.1"}})
    assert dict(words(make_plan(read(held))))["left"] == (
        "all statistics are held, so a part of the budget is not used"
    )


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [(100.0, 3, "100"), (3017000.4, 4, "3,017,000"), (5e-7, 2, "5e-7"), (0.0001234, 2, "0.00012"), (2e16, 3, "2e+16")],
)
def test_numbers_for_people(value: float, digits: int, shown: str) -> None:
    assert near(value, digits) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(100.0, "100"), (99.9999, "100"), (1e-6, "1e-6"), (1.00001e-7, "1.01e-7")]
)
def test_numbers_rounded_up(value: float, shown: str) -> None:
    assert up(value, 3) == shown


def test_dates_in_cells_are_told_without_a_picture_and_numbers_with_one() -> None:
    for value, pictures in (("2024-06-09", 0), (6.5, 1)):
        cells = [{"cell": "north", "value": value, "interval": None}, {"cell": "x", "value": value, "interval": None}]
        entry = {"name": "d", "statistic": "median of day by region", "cells": cells, "rows_off": 12.5}
        shown = "".join(_cells(entry, 0.95, draw=True, place=0))
        assert shown.count("<svg") == pictures
        assert shown.count("its rank within 12.5 rows") == 2


def test_an_interval_that_has_no_ends_is_any_number() -> None:
    cells = [{"cell": "age", "value": 1.5, "interval": [None, None]}, {"cell": "x", "value": 2, "interval": [1.0, 3.0]}]
    shown = "".join(_cells({"name": "r", "statistic": "regression", "cells": cells}, 0.95, draw=True, place=0))
    assert "any number" in shown
    assert "1 to 3" in shown
