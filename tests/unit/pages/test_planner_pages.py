"""The planner's pages: numbers as the library has them, steps back, two windows, and one way to spend."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html import unescape
from typing import Any

import httpx
import pytest

import optcomp
from optcomp.pages.planner_drafts import MOST_STEPS, bounded
from optcomp.planner import HARM, make_plan, parsed, read
from optcomp.release import near
from optcomp.statistics import known_keywords
from tests.unit.center.served import Served
from tests.unit.pages.visitors import Visitor, hidden_fields, words_of

NASTY = "<script>alert(1)</script>\"'{{7*7}}"
"""Text that must stay text."""
MADE: dict[str, dict[str, Any]] = {
    "count": {},
    "sum": {"sum": "age"},
    "mean": {"mean": "age", "by": ["region"]},
    "people": {"by": "region"},
    "variance": {"variance": "age"},
    "histogram": {"histogram": "region"},
    "contingency": {"columns": ["region", "age"], "edges": "age: 0, 50, 99"},
    "cdf": {"cdf": "age", "bins": "5"},
    "quantiles": {"quantiles": "age", "probabilities": "1/4, 1/2"},
    "median": {"median": "age"},
    "means": {"columns": ["age"]},
    "regression": {"regression": "age"},
    "frequent": {"frequent": "employer", "of": "people", "leak": "1e-9"},
}
"""For each kind what its form is told."""


def begun(at: Visitor, rows: str = "20000") -> str:
    """The address of a new draft about the data set."""
    found = at.post("/planner", {"begin": "dataset", "dataset": "survey", "rows": rows, "proof": at.proof()})
    assert found.status_code == 303, words_of(found.text)
    return str(found.headers["location"])


def add(at: Visitor, draft: str, kind: str, **fields: Any) -> httpx.Response:
    return at.post(f"{draft}/add", {**fields, "kind": kind}, page=f"{draft}/add?kind={kind}")


def fields_of(text: str) -> dict[str, str]:
    """All fields of the editor as a browser would send them."""
    found = {}
    for mark in re.findall(r"<input[^>]*>", text):
        given = dict(re.findall(r'([\w-]+)="([^"]*)"', mark))
        if given.get("type") != "checkbox" or " checked" in mark:
            found[given.get("name", "")] = unescape(given.get("value", "on"))
    for name, options in re.findall(r'<select[^>]*name="([\w-]+)"[^>]*>(.*?)</select>', text, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options) or re.search(
            r'<option value="([^"]*)"', options
        )
        found[name] = chosen.group(1) if chosen else ""
    return found


def change(at: Visitor, draft: str, **changes: str | None) -> httpx.Response:
    """Send the editor's form with other values; None for a box that is not ticked."""
    sent = fields_of(at.get(draft).text) | changes
    return at.post(draft, {name: value for name, value in sent.items() if value is not None})


def plan_in(at: Visitor, draft: str) -> dict[str, Any]:
    found: dict[str, Any] = parsed(at.get(f"{draft}/plan.yaml").text, "plan")
    return found


def spent(centre: Served) -> str:
    return centre.service.ledger.account("survey").budget.document_text()


@pytest.fixture
def owner(centre: Served) -> Visitor:
    return Visitor(centre, "olga")


@pytest.fixture
def draft(owner: Visitor) -> str:
    """A draft with a count, a mean and a histogram."""
    made = begun(owner)
    for kind in ("count", "mean", "histogram"):
        found = add(owner, made, kind, **MADE[kind])
        assert found.status_code == 303, words_of(found.text)
    return made


def test_every_kind_of_the_register_can_be_added(owner: Visitor) -> None:
    draft = begun(owner)
    assert set(MADE) == set(known_keywords())
    listed = owner.get(f"{draft}/add").text
    for kind, fields in MADE.items():
        assert f"kind={kind}" in listed
        if kind == "frequent":  # the data set has no column of text
            continue
        found = add(owner, draft, kind, **fields)
        assert found.status_code == 303, (kind, words_of(found.text))
    made = plan_in(owner, draft)["statistics"]
    assert [next(iter(entry)) for entry in made.values()] == [kind for kind in MADE if kind != "frequent"]
    assert made["mean_age"]["by"] == ["region"]


def test_errors_and_budgets_are_those_of_the_library(owner: Visitor, draft: str) -> None:
    plan = make_plan(read(plan_in(owner, draft)))
    shown = fields_of(owner.get(draft).text)
    for number, line in enumerate(plan.lines):
        assert shown[f"error-{number}"] == near(line.error, 4)
        assert float(shown[f"budget-{number}"]) == pytest.approx(float(line.spending.budget), rel=1e-3)
    text = owner.get(draft).text
    assert f"optcomp {optcomp.__version__}." in words_of(text)
    total = re.search(r'data-total="optimal">([^<]*)<', text)
    assert total is not None
    assert plan.total <= float(total.group(1)) <= plan.total * (1 + 1e-5)


def test_a_wanted_error_changes_the_budget_and_a_budget_the_error(owner: Visitor, draft: str) -> None:
    before = fields_of(owner.get(draft).text)
    wanted = str(Fraction(before["error-1"]) * 2)
    assert change(owner, draft, **{"error-1": wanted}).status_code == 303
    after = fields_of(owner.get(draft).text)
    assert Fraction(plan_in(owner, draft)["statistics"]["mean_age"]["error"]) == Fraction(wanted)
    assert after["error-1"] == wanted
    assert after["held-1"] == "on"
    assert float(after["budget-1"]) < float(before["budget-1"])
    assert float(after["error-0"]) < float(before["error-0"])
    plan = make_plan(read(plan_in(owner, draft)))
    assert float(after["budget-1"]) == pytest.approx(float(plan.lines[1].spending.budget), rel=1e-3)
    assert plan.lines[1].error <= Fraction(wanted)
    budget = str(Fraction(after["budget-1"]) * Fraction("0.9"))
    assert change(owner, draft, **{"budget-1": budget}).status_code == 303
    entry = plan_in(owner, draft)["statistics"]["mean_age"]
    assert "error" not in entry
    assert Fraction(entry.get("rho", entry.get("epsilon"))) == Fraction(budget)
    assert float(fields_of(owner.get(draft).text)["error-1"]) > Fraction(wanted)


def test_both_at_once_is_refused_beside_the_field_and_keeps_what_was_typed(owner: Visitor, draft: str) -> None:
    found = change(owner, draft, **{"error-0": "7", "budget-0": "0.01"})
    assert found.status_code == 422
    assert "error-0-wrong" in found.text
    assert fields_of(found.text)["error-0"] == "7"
    assert "error" not in plan_in(owner, draft)["statistics"]["count"]


@pytest.mark.parametrize("wrong", ["0", "-1", "much", "1e-30", "nan", "<b>"])
def test_an_error_that_cannot_be_is_told_beside_its_field(owner: Visitor, draft: str, wrong: str) -> None:
    found = change(owner, draft, **{"error-1": wrong})
    assert found.status_code == 422
    assert 'role="alert"' in found.text
    assert "<b>" not in found.text
    assert "error" not in plan_in(owner, draft)["statistics"]["mean_age"]


def test_hold_and_free(owner: Visitor, draft: str) -> None:
    before = fields_of(owner.get(draft).text)["error-0"]
    change(owner, draft, **{"held-0": "on"})
    change(owner, draft, epsilon="2")
    kept = fields_of(owner.get(draft).text)
    assert float(kept["error-0"]) == pytest.approx(float(before), rel=1e-3)
    change(owner, draft, **{"held-0": None})
    assert float(fields_of(owner.get(draft).text)["error-0"]) < float(before)


def test_undo_and_redo_go_step_by_step(owner: Visitor, draft: str) -> None:
    states = [plan_in(owner, draft)]
    for changes in ({"weight-0": "3"}, {"epsilon": "1.5"}, {"confidence": "0.9"}, {"drop": "count"}):
        assert change(owner, draft, **changes).status_code == 303
        states.append(plan_in(owner, draft))
    assert len({json.dumps(each) for each in states}) == 5
    for state in states[-2::-1]:
        change(owner, draft, undo="1")
        assert plan_in(owner, draft) == state
    for state in states[1:]:
        change(owner, draft, redo="1")
        assert plan_in(owner, draft) == state
    change(owner, draft, redo="1")
    assert plan_in(owner, draft) == states[-1]


def test_steps_back_are_bounded() -> None:
    steps = tuple({"plan": number} for number in range(200))
    assert bounded(steps) == steps[-MOST_STEPS:]
    large = tuple({"plan": "x" * 200_000, "number": number} for number in range(5))
    assert bounded(large) == large[-1:]


def test_two_windows_do_not_overwrite_each_other(owner: Visitor, draft: str) -> None:
    old = fields_of(owner.get(draft).text)
    assert change(owner, draft, epsilon="0.7").status_code == 303
    found = owner.post(draft, old | {"epsilon": "0.9"})
    assert found.status_code == 409
    assert "another window" in words_of(found.text)
    again = owner.post(draft, fields_of(found.text))
    assert again.status_code == 409
    assert plan_in(owner, draft)["budget"]["epsilon"] == "0.7"


def test_harm_proposes_a_budget_that_can_be_changed(owner: Visitor, draft: str) -> None:
    change(owner, draft, harm="extreme")
    shown = fields_of(owner.get(draft).text)
    assert (shown["epsilon"], shown["delta"]) == HARM["extreme"]
    change(owner, draft, epsilon="0.06")
    assert plan_in(owner, draft)["budget"] == {"epsilon": "0.06", "delta": HARM["extreme"][1]}
    change(owner, draft, rho="0.01")
    assert plan_in(owner, draft)["budget"] == {"rho": "0.01"}


def test_groups_are_a_statistic_each(owner: Visitor) -> None:
    draft = begun(owner)
    assert add(owner, draft, "mean", mean="age", each="region", where="age >= 18").status_code == 303
    made = plan_in(owner, draft)["statistics"]
    assert {name: entry["where"] for name, entry in made.items()} == {
        f"mean_age_{region}": f"(age >= 18) and region == '{region}'" for region in ("north", "south")
    }


def test_a_plan_comes_back_from_its_file(owner: Visitor, draft: str) -> None:
    text = owner.get(f"{draft}/plan.yaml").text
    for fields in ({"text": text}, {"text": text, "dataset": "survey"}):
        found = owner.post("/planner", {"begin": "text", **fields, "proof": owner.proof()})
        assert found.status_code == 303, words_of(found.text)
        assert plan_in(owner, found.headers["location"]) == parsed(text, "plan")
    files = {"file": ("p.yaml", text.encode(), "application/yaml")}
    found = owner.post("/planner", {"begin": "text", "proof": owner.proof()}, files=files)
    assert found.status_code == 303, words_of(found.text)
    assert plan_in(owner, found.headers["location"]) == parsed(text, "plan")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plan: 1",
        "- a",
        "a: &a [*a]",
        "{",
        "x: [" * 50,
        "plan: 1\ncolumns: {}\nbudget: {}\nstatistics: {a: {count: rows}}",
    ],
)
def test_what_is_no_plan_is_refused_in_the_form(owner: Visitor, text: str) -> None:
    found = owner.post("/planner", {"begin": "text", "text": text, "proof": owner.proof()})
    if text == "plan: 1":  # a plan without statistics is a draft too
        assert found.status_code in (303, 422)
        return
    assert found.status_code == 422
    assert 'role="alert"' in found.text


def test_a_table_by_hand(owner: Visitor) -> None:
    found = owner.post("/planner", {"begin": "hand", "title": NASTY, "proof": owner.proof()})
    table = found.headers["location"]
    assert table.endswith("/table")
    typed = {"rows": "1000", "person": "who", "rows_per_person": "2", "neighbours": "add-remove"}
    typed |= {"name-0": "age", "kind-0": "integers", "low-0": "0", "high-0": "99", "unit-0": "", "values-0": ""}
    assert owner.post(table, typed | {"more": "1"}, page=table).status_code == 303
    assert 'value="age"' in owner.get(table).text
    typed |= {"name-1": NASTY, "kind-1": "categories", "values-1": "a, b, =1+1"}
    typed |= {"name-2": "day", "kind-2": "dates", "low-2": "2020-01-01", "high-2": "2024-12-31", "unit-2": "month"}
    nowhen = owner.post(table, typed | {"high-2": ""}, page=table)
    assert "must be a date, such as 2024-12-31" in nowhen.text
    typed |= {"name-3": "employer", "kind-3": "text", "values-3": ""}
    wrong = owner.post(table, typed | {"high-0": "-5"}, page=table)
    assert wrong.status_code == 422
    assert "low-0-wrong" in wrong.text
    assert NASTY not in wrong.text
    assert owner.post(table, typed, page=table).status_code == 303
    draft = table.removesuffix("/table")
    assert add(owner, draft, "mean", mean="age").status_code == 303
    assert add(owner, draft, "histogram", histogram=NASTY, name=NASTY).status_code == 303
    assert add(owner, draft, "frequent", **MADE["frequent"]).status_code == 303
    made = plan_in(owner, draft)
    day = {"dates": ["2020-01-01", "2024-12-31"], "unit": "month"}
    columns = {
        "age": {"integers": [0, 99]},
        NASTY: {"categories": ["a", "b", "=1+1"]},
        "day": day,
        "employer": {"text": 64},
    }
    assert made["columns"] == columns
    assert {"frequent": "employer", "of": "people", "leak": "1e-9"} in made["statistics"].values()
    assert add(owner, draft, "median", median="day").status_code == 303
    assert made["data"]["rows_per_person"] == 2
    for page in (draft, f"{draft}/add", table, f"{draft}/cart", "/planner"):
        assert NASTY not in owner.get(page).text, page
    assert "<button" not in owner.get(f"{draft}/cart").text.partition("<main")[2].partition("</main>")[0]


def test_drafts_are_their_writer_s(centre: Served, owner: Visitor, draft: str) -> None:
    for who, status in (("omar", 404), ("ada", 404), ("ruth", 403)):
        other = Visitor(centre, who)
        for path in (draft, f"{draft}/cart", f"{draft}/plan.yaml", f"{draft}/add"):
            assert other.get(path).status_code == status, (who, path)
        assert other.post(f"{draft}/drop", {"proof": other.proof()}).status_code == status
    assert Visitor(centre).get(draft).headers["location"].startswith("/sign-in")


def test_analysts_plan_about_what_they_may_see_and_release_nothing(centre: Served) -> None:
    ada = Visitor(centre, "ada")
    if "survey" not in words_of(ada.get("/planner").text):
        centre.seat("ada")
    draft = begun(ada)
    assert add(ada, draft, "count").status_code == 303
    before = spent(centre)
    assert "Only an owner" in words_of(ada.get(f"{draft}/cart").text)
    refused = ada.post(f"{draft}/cart", {"proof": ada.proof(), "plan": "x", "key": "k"})
    assert refused.status_code == 403
    assert spent(centre) == before


def test_no_get_spends_or_changes_anything(centre: Served, owner: Visitor, draft: str) -> None:
    before, plan = spent(centre), plan_in(owner, draft)
    paths = [draft, f"{draft}?undo=1&drop=count&epsilon=9", f"{draft}/cart", f"{draft}/add?kind=mean", "/planner"]
    for path in (*paths, f"{draft}/drop", f"{draft}/cart?key=x&plan=y"):
        owner.get(path)
    assert spent(centre) == before
    assert plan_in(owner, draft) == plan


def test_every_form_needs_its_proof(centre: Served, owner: Visitor, draft: str) -> None:
    before = spent(centre)
    fields = hidden_fields(owner.get(f"{draft}/cart").text) | {"proof": "x"}
    for path in ("/planner", draft, f"{draft}/add", f"{draft}/drop", f"{draft}/cart", f"{draft}/table"):
        assert owner.post(path, fields).status_code == 403, path
    assert spent(centre) == before


def test_the_cart_says_what_is_debited_and_the_button_debits_it_once(centre: Served, owner: Visitor) -> None:
    draft = begun(owner)
    add(owner, draft, "count", mechanism="laplace")
    change(owner, draft, epsilon="0.125", delta="0")
    cart = owner.get(f"{draft}/cart").text
    fields = hidden_fields(cart)
    before = json.loads(spent(centre))["spent"]
    after = re.search(r'id="after">([^<]*)<', cart)
    assert after is not None
    posts = [owner.post(f"{draft}/cart", fields) for _ in range(3)]
    assert {each.status_code for each in posts} == {303}
    assert len({each.headers["location"] for each in posts}) == 1
    now = json.loads(spent(centre))["spent"]
    assert Fraction(now["epsilon"]) - Fraction(before["epsilon"]) == Fraction("0.125")
    again = owner.get(f"{draft}/cart").text
    assert "was released" in words_of(again)
    assert 'name="key"' not in again
    change(owner, draft, epsilon="0.5")
    stale = owner.post(f"{draft}/cart", fields)
    assert stale.headers["location"] == posts[0].headers["location"]
    changed = owner.post(f"{draft}/cart", fields | {"plan": "0" * 64})
    assert changed.status_code == 409
    assert "changed after" in words_of(changed.text)
    assert json.loads(spent(centre))["spent"] == now


def test_the_release_shows_its_record_and_its_files_cost_nothing(centre: Served, owner: Visitor) -> None:
    draft = begun(owner)
    add(owner, draft, "count", name="=cmd()")
    add(owner, draft, "histogram", histogram="region", name=NASTY)
    page = owner.post(f"{draft}/cart", hidden_fields(owner.get(f"{draft}/cart").text)).headers["location"]
    before = spent(centre)
    record = owner.get(f"{page}/json").json()
    text = owner.get(page).text
    assert NASTY not in text
    count, histogram = record["statistics"]
    shown = words_of(text)
    assert f"{count['value']}" in shown  # below a thousand: noise of scale 18 on 200 rows
    for cell in histogram["cells"]:
        assert str(cell["value"]) in shown
    assert "\n'=cmd()," in owner.get(f"{page}/csv").text.replace("\r", "")
    for form in ("html", "csv", "py", "ipynb", "json"):
        first, second = owner.get(f"{page}/{form}"), owner.get(f"{page}/{form}")
        assert first.status_code == 200
        assert first.headers["content-disposition"].startswith('attachment; filename="release-')
        assert first.content == second.content
        assert "<script>alert" not in first.text or form in ("csv", "py", "ipynb", "json")
    assert owner.get(f"{page}/exe").status_code == 422
    assert spent(centre) == before
    ada = Visitor(centre, "ada")
    assert ada.get(page).status_code == 404
    assert ada.get(f"{page}/csv").status_code == 404
    if not centre.service.catalogue.seats(centre.service.people.who(centre.tokens["ada"])):
        centre.seat("ada")
    assert owner.post(f"{page}/publication", {"published": "yes", "proof": owner.proof()}).status_code == 303
    assert ada.get(page).status_code == 200
    assert ada.get(f"{page}/csv").status_code == 200
    assert Visitor(centre, "ruth").get(page).status_code == 200


@pytest.mark.parametrize("comma", ["0,003", "1,5", "12,34", "1,2345"])
def test_a_decimal_comma_is_refused_and_not_read_as_a_thousand(owner: Visitor, draft: str, comma: str) -> None:
    before = plan_in(owner, draft)
    for field in ("error-1", "budget-1", "weight-1", "rows"):
        found = change(owner, draft, **{field: comma})
        assert found.status_code == 422, (field, words_of(found.text))
        assert comma in found.text
    assert plan_in(owner, draft) == before


def test_thousands_may_stand_apart(owner: Visitor, draft: str) -> None:
    for text in ("12,345", "12 345"):
        assert change(owner, draft, rows=text).status_code == 303
        assert plan_in(owner, draft)["data"]["rows"] == 12345


def test_a_value_that_is_not_declared_is_refused_in_a_condition(owner: Visitor) -> None:
    draft = begun(owner)
    found = add(owner, draft, "count", where="region == 'nroth'")
    assert found.status_code == 422
    assert "names 'nroth', which is no declared category of 'region' ('north', " in unescape(found.text)
    assert "statistics." not in words_of(found.text)
    assert add(owner, draft, "count", where="region == 'north'").status_code == 303


def test_the_example_of_a_condition_is_about_this_table(owner: Visitor) -> None:
    draft = begun(owner)
    found = re.search(r"Such as (.*?)\. Empty", unescape(owner.get(f"{draft}/add").text))
    assert found is not None
    assert add(owner, draft, "count", where=found.group(1)).status_code == 303


def test_what_is_wrong_is_a_sentence_about_what_was_typed(owner: Visitor, draft: str) -> None:
    found = unescape(change(owner, draft, **{"error-1": "abc"}).text)
    assert "'abc' must be" in found
    assert "got 'abc'" not in found


def test_what_is_known_about_values_can_be_told(owner: Visitor) -> None:
    draft = begun(owner)
    assert add(owner, draft, "mean", mean="age", present="0.9", centre="40").status_code == 303
    assert plan_in(owner, draft)["statistics"]["mean_age"] == {"mean": "age", "present": "0.9", "centre": "40"}
    assert add(owner, draft, "mean", mean="age", present="90").status_code == 422
    assert "Share of rows that have a value" not in owner.get(f"{draft}/add?kind=count").text
