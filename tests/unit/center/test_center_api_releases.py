"""Plans and releases over the interface: paid once, by what is proved of the plan, and the same record for ever."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp import compose
from optcomp.guarantees import PureDP
from optcomp.planner import make_plan, read
from optcomp.release import verify_release
from tests.unit.center.served import SECRET, Served, served

LOOK, RELEASES = "/api/v1/owner/datasets/survey/plans/look", "/api/v1/owner/datasets/survey/releases"
READ = "/api/v1/datasets/survey/releases"


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("releases") / "home", processes=False) as found:
        yield found


def plan(epsilon: str, **changes: Any) -> dict[str, Any]:
    """Laplace noise of ε each, so that the total can be had in another way."""
    held = {"epsilon": epsilon, "mechanism": "laplace"}
    statistics = {"people": {"count": None, **held}, "regions": {"histogram": "region", **held}}
    return {"data": {"rows": 200}, "budget": {"epsilon": 3}, "statistics": statistics} | changes


def whole(given: dict[str, Any]) -> dict[str, Any]:
    """The same plan written out by hand, as a file of a plan has it."""
    about = {"name": "survey", "neighbours": "add-remove", "person": "who", "rows_per_person": 2}
    about |= {"groups_per_person": 2, "rows_per_group": 2}
    columns = {"age": {"integers": [0, 99]}, "region": {"categories": ["north", "south"], "other": "(other)"}}
    return {"plan": 1, "columns": columns, **given, "data": {**about, **given["data"]}}


def spent(centre: Served, what: str = "epsilon") -> Fraction:
    account = centre.service.ledger.account("survey")
    return Fraction(json.loads(account.budget.document_text())["spent"][what])


def up(amount: Fraction) -> Fraction:
    """Rounded up to a multiple of 1e-30, as amounts enter the ledger."""
    return Fraction(math.ceil(amount * 10**30), 10**30)


def released(centre: Served, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    found = centre.call("post", RELEASES, "olga", {"plan": given, **more})
    assert found.status_code == 201, found.text
    told: dict[str, Any] = found.json()
    return told


def test_a_look_tells_cost_and_errors_and_spends_nothing(centre: Served) -> None:
    before = spent(centre)
    found = centre.call("post", LOOK, "olga", {"plan": plan("1/4")}).json()
    total = compose([PureDP("1/4")] * 2, delta=0).upper
    assert total == 0.5
    assert found["fits"]
    assert found["released"] is None
    assert not found["committed"]
    (paid,) = found["paid"]["exact"][:1]
    assert Fraction(paid["epsilon"]) in (Fraction(1, 2), Fraction(1, 4))
    left, after = (Fraction(found[name]["amounts"]["epsilon"]["left"]) for name in ("left", "after"))
    assert left - after == Fraction(1, 2)
    errors = {each["name"]: each["error"] for each in found["facts"]["statistics"]}
    assert errors == {line.wish.name: line.error for line in make_plan(read(whole(plan("1/4")))).lines}
    assert spent(centre) == before
    assert centre.call("get", READ, "olga").json() == {"releases": []}


def test_a_release_debits_the_certified_cost_once(centre: Served) -> None:
    before = spent(centre)
    first = centre.call("post", RELEASES, "olga", {"plan": plan("1/3"), "key": "k"})
    assert first.status_code == 201, first.text
    cost = Fraction(compose([PureDP("1/3")] * 2, delta=0).upper)
    taken = spent(centre) - before
    assert taken == up(min(cost, Fraction(2, 3)))
    again = [
        centre.call("post", RELEASES, "olga", {"plan": plan("1/3"), "key": "k"}),
        centre.call("post", RELEASES, "olga", {"plan": plan("1/3")}, headers={"Idempotency-Key": "k"}),
        centre.call("post", RELEASES, "omar", {"plan": whole(plan("1/3"))}),
    ]
    assert [each.content for each in again] == [first.content] * 3
    assert spent(centre) == before + taken
    record = first.json()["record"]
    assert Fraction(record["guarantee"]["total"]["epsilon"]) == cost
    assert verify_release(record).problems == ()
    assert verify_release(record).proved
    assert record["record"]["plan_sha256"] == first.json()["plan"]
    first_sum, last_sum = (Fraction(record["ledger"][when]["sums"]["epsilon"]) for when in ("before", "after"))
    assert last_sum - first_sum == sum(up(Fraction(each["epsilon"])) for each in record["ledger"]["paid"])


def test_many_statistics_cost_their_optimal_composition(tmp_path: Path) -> None:
    """Forty of ε = 1/20 are proved to come to less than 2; the account takes the cheapest offer, which is Σ ε²/2."""
    held = {"epsilon": "1/20", "mechanism": "laplace"}
    many = {f"n{age}": {"count": None, "where": f"age >= {age}", **held} for age in range(1, 41)}
    bound = compose([PureDP("1/20")] * 40, delta="1e-6")
    assert bound.upper < 1.6
    with served(tmp_path / "home", processes=False) as centre:
        assert spent(centre) == spent(centre, "rho") == 0
        told = released(centre, plan("1", budget={"epsilon": 2, "delta": "1e-6"}, statistics=many))
        record = told["record"]
        assert record["guarantee"]["total"] == {"epsilon": bound.upper, "delta": 1e-6}
        assert [Fraction(each["epsilon"]) for each in record["ledger"]["paid"]] == [Fraction(1, 20)] * 40
        assert spent(centre) == 2
        assert spent(centre, "rho") == 40 * Fraction(1, 20) ** 2 / 2
        assert [each["name"] for each in record["statistics"]] == list(many)
        assert verify_release(record).proved


def test_the_file_is_the_record(centre: Served) -> None:
    told = released(centre, plan("1/5"))
    found = centre.call("get", f"{READ}/{told['id']}", "olga")
    assert found.json() == told["record"]
    assert hashlib.sha256(found.content).hexdigest() == told["sha256"]
    path = centre.settings.home / "releases" / "survey" / f"{told['id']}.json"
    assert path.read_bytes() == found.content
    path.unlink()
    assert centre.call("get", f"{READ}/{told['id']}", "olga").content == found.content
    path.write_text("{}")
    assert centre.call("get", f"{READ}/{told['id']}", "olga").content == found.content == path.read_bytes()


def test_a_key_is_for_one_plan(centre: Served) -> None:
    released(centre, plan("1/7"), key="seventh")
    before = spent(centre)
    found = centre.call("post", RELEASES, "olga", {"plan": plan("1/8"), "key": "seventh"})
    assert (found.status_code, found.json()["argument"]) == (422, "key")
    header = {"Idempotency-Key": "other"}
    found = centre.call("post", RELEASES, "olga", {"plan": plan("1/8"), "key": "seventh"}, headers=header)
    assert (found.status_code, found.json()["argument"]) == (422, "key")
    assert spent(centre) == before


def test_past_the_cap_nothing_changes_and_auditors_see_the_refusal(centre: Served) -> None:
    state = centre.call("get", READ, "olga").json()
    known = centre.call("get", "/api/v1/audit/changes", "ruth").json()["entries"]
    before, head = spent(centre), centre.service.ledger.head
    much = plan("600", budget={"epsilon": 2000})
    look = centre.call("post", LOOK, "olga", {"plan": much}).json()
    assert not look["fits"]
    assert look["after"] is None
    assert look["reason"]
    found = centre.call("post", RELEASES, "olga", {"plan": much, "key": "much"})
    assert (found.status_code, found.json()["error"]) == (409, "budget_exceeded")
    assert found.json()["remaining"]["amounts"]
    assert centre.call("get", READ, "olga").json() == state
    assert (spent(centre), centre.service.ledger.head) == (before, head)
    *same, noted = centre.call("get", "/api/v1/audit/changes", "ruth").json()["entries"]
    assert same == known
    assert (noted["who"], noted["what"], noted["second"]) == ("olga", "refused", None)
    about = {"account": "survey", "dataset": "survey", "request": "release", "reason": found.json()["message"]}
    assert noted["detail"] == about | {"plan": look["plan"]}
    assert released(centre, plan("1/9"), key="much")["state"] == "done"  # the key was not used


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"columns": {"age": {"integers": [0, 98]}, "region": {"categories": ["north", "south"]}}},
            "declares something",
        ),
        ({"data": {"rows": 200, "rows_per_person": 3}}, "declares something else"),
        ({"data": {"rows": 200, "account": "another"}}, "must be 'survey'"),
        ({"statistics": {}}, "at least one statistic"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_plan_about_something_else_is_refused(centre: Served, changes: dict[str, Any], words: str) -> None:
    before = spent(centre)
    for path in (LOOK, RELEASES):
        found = centre.call("post", path, "olga", {"plan": plan("1/10", **changes)})
        assert (found.status_code, found.json()["error"]) == (422, "invalid"), found.text
        assert words in found.json()["message"]
        assert SECRET not in found.text
    assert spent(centre) == before


def test_who_may_read_it(centre: Served) -> None:
    centre.seat("ada")
    told = released(centre, plan("1/11"))
    one = f"{READ}/{told['id']}"
    statuses = {who: centre.call("get", one, who).status_code for who in ("olga", "omar", "ada", "ruth")}
    assert statuses == {"olga": 200, "omar": 200, "ada": 404, "ruth": 404}
    assert centre.call("get", READ, "ruth").json() == {"releases": []}
    assert centre.call("post", f"{RELEASES}/{told['id']}/publication", "olga", {"published": True}).json()["published"]
    assert {centre.call("get", one, who).status_code for who in ("olga", "ada", "ruth")} == {200}
    assert [each["id"] for each in centre.call("get", READ, "ada").json()["releases"]] == [told["id"]]
    assert centre.call("get", one, "ben").status_code == 404  # no seat at this dataset
    assert centre.call("get", f"{READ}/999999", "olga").status_code == 404
    assert released(centre, plan("1/12"), publish=True)["published"]


def test_a_token_for_other_datasets_releases_nothing(centre: Served) -> None:
    made = centre.call("post", "/api/v1/owner/people/omar/tokens", "olga", {"scope": ["another"]})
    centre.tokens["narrow omar"] = made.json()["token"]
    for path in (LOOK, RELEASES):
        assert centre.call("post", path, "narrow omar", {"plan": plan("1/13")}).status_code == 404
    assert centre.call("get", READ, "narrow omar").status_code == 404
    assert centre.call("post", f"{RELEASES}/1/publication", "narrow omar", {"published": True}).status_code == 404


def test_csv_and_report_are_made_from_the_record(centre: Served) -> None:
    given = plan("1/14")
    given["statistics"]["=1+1"] = {"count": None, "epsilon": "1/14", "mechanism": "laplace", "where": "age >= 50"}
    told = released(centre, given)
    sheet = centre.call("get", f"{READ}/{told['id']}?format=csv", "olga")
    assert sheet.headers["content-type"] == "text/csv; charset=utf-8"
    assert sheet.headers["content-disposition"] == f'attachment; filename="release-{told["id"]}.csv"'
    lines = list(csv.DictReader(io.StringIO(sheet.text)))
    by_name = {entry["name"]: entry for entry in told["record"]["statistics"]}
    assert [line["name"] for line in lines] == ["people", *["regions"] * len(by_name["regions"]["cells"]), "'=1+1"]
    assert float(lines[0]["value"]) == by_name["people"]["value"]
    assert [float(lines[0][end]) for end in ("low", "high")] == by_name["people"]["interval"]
    assert {line["cell"]: float(line["value"]) for line in lines if line["name"] == "regions"} == {
        each["cell"]: each["value"] for each in by_name["regions"]["cells"]
    }
    page = centre.call("get", f"{READ}/{told['id']}?format=html", "olga")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "sandbox" in page.headers["content-security-policy"]
    assert "<h1>Release about survey</h1>" in page.text
    assert told["plan"] in page.text
    assert centre.call("get", f"{READ}/{told['id']}?format=xlsx", "olga").status_code == 422
    assert SECRET not in sheet.text + page.text


def test_it_is_in_the_log_and_in_the_export(centre: Served) -> None:
    told = released(centre, plan("1/15"))
    entries = centre.call("get", "/api/v1/audit/changes", "ruth").json()["entries"]
    (mine,) = [each for each in entries if each["what"] == "released" and each["detail"]["release"] == told["id"]]
    assert mine["who"] == "olga"
    assert mine["detail"]["plan"] == told["plan"]
    assert mine["detail"]["receipt"] == told["record"]["ledger"]["receipt"]
    export = centre.call("get", "/api/v1/audit/export", "ruth").json()["text"]
    assert told["plan"] in export
    assert centre.call("get", "/api/v1/audit/verification", "ruth").json()["ok"]


def test_a_closed_dataset_releases_nothing(centre: Served) -> None:
    centre.service.catalogue.close("survey", True, by="olga")
    try:
        found = centre.call("post", RELEASES, "olga", {"plan": plan("1/16")})
        assert (found.status_code, found.json()["error"]) == (403, "suspended")
    finally:
        centre.service.catalogue.close("survey", False, by="olga")


def test_a_new_version_is_another_release(tmp_path: Path) -> None:
    with served(tmp_path / "home", processes=False) as centre:
        first = released(centre, plan("1/4"))
        centre.service.catalogue.renew("survey", "people.parquet", by="olga")
        second = released(centre, plan("1/4"))
        assert (first["version"], second["version"]) == (1, 2)
        assert first["id"] != second["id"]
        assert spent(centre) == 1
        assert centre.call("get", f"{READ}/{first['id']}", "olga").json() == first["record"]


def test_two_owners_release_together(tmp_path: Path) -> None:
    with served(tmp_path / "home", processes=False, two_persons=True) as centre:
        asked = centre.call("post", RELEASES, "olga", {"plan": plan("1/4"), "key": "k", "publish": True})
        assert asked.status_code == 202, asked.text
        number = asked.json()["confirmation"]
        assert centre.call("post", RELEASES, "olga", {"plan": plan("1/4"), "key": "k", "publish": True}).json() == (
            asked.json()
        )
        assert spent(centre) == 0
        assert centre.call("get", READ, "olga").json() == {"releases": []}
        confirm = f"/api/v1/owner/confirmations/{number}"
        assert centre.call("post", confirm, "olga").status_code == 409
        assert spent(centre) == 0
        made = centre.call("post", confirm, "omar")
        assert made.status_code == 200, made.text
        assert made.json()["made"]["state"] == "done"
        assert spent(centre) == Fraction(1, 2)
        (entry,) = [each for each in centre.service.changes.all() if each.what == "released"]
        assert (entry.who, entry.second) == ("olga", "omar")
        assert centre.call("post", confirm, "omar").status_code == 409
        told = released(centre, plan("1/4"), key="k")
        assert (told["who"], told["second"], told["published"]) == ("olga", "omar", True)
        assert spent(centre) == Fraction(1, 2)
        assert centre.service.changes.waiting() == []


def test_an_owner_confirms_on_the_machine(tmp_path: Path) -> None:
    with served(tmp_path / "home", processes=False, two_persons=True) as centre:
        number = centre.call("post", RELEASES, "olga", {"plan": plan("1/4")}).json()["confirmation"]
        made = centre.service.catalogue.confirm(number, by="omar")["made"]
        assert made["state"] == "done"
        assert spent(centre) == Fraction(1, 2)
        record = centre.call("get", f"{READ}/{made['id']}", "olga").json()
        assert verify_release(record).proved


def test_any_plan_is_worked_out_for_analysts_and_owners(centre: Served) -> None:
    before, given = spent(centre), whole(plan("1/3"))
    told = centre.call("post", "/api/v1/plans/work-out", "ada", {"plan": given}).json()
    made = make_plan(read(given))
    assert [each["error"] for each in told["facts"]["statistics"]] == [line.error for line in made.lines]
    assert told["units"] == ["rows", "rows"]
    assert told["totals"]["total"] == made.total == compose([PureDP("1/3")] * 2, delta=0).upper
    assert told["totals"]["sum"] == pytest.approx(2 / 3)
    again = centre.call("post", "/api/v1/plans/work-out", "olga", {"plan": given, "start": told["start"]}).json()
    assert again["facts"] == told["facts"]
    wrong = centre.call("post", "/api/v1/plans/work-out", "ada", {"plan": {**given, "statistics": {}}})
    assert (wrong.status_code, wrong.json()["argument"]) == (422, "statistics")
    assert spent(centre) == before


def test_script_and_notebook_hold_the_record(centre: Served) -> None:
    made = released(centre, plan("1/7"))
    here = f"{READ}/{made['id']}"
    record = centre.call("get", here, "olga").text
    script = centre.call("get", f"{here}?format=py", "olga")
    notebook = centre.call("get", f"{here}?format=ipynb", "olga")
    for found, name in ((script, "py"), (notebook, "ipynb")):
        assert found.headers["content-disposition"] == f'attachment; filename="release-{made["id"]}.{name}"'
    inside: dict[str, Any] = {}
    first_lines = script.text.partition("def rows")[0]
    exec(first_lines, inside)
    assert inside["RECORD"] == json.loads(record)
    exec(notebook.json()["cells"][1]["source"], inside)
    assert inside["RECORD"] == json.loads(record)
