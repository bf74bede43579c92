"""What owners and auditors do over HTTP: register, cut, hand on, confirm, verify."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from optcomp.guarantees import ApproxDP
from optcomp.ledger import verify_export
from optcomp.statistics import Table, declaration_document
from tests.unit.center.served import COLUMNS, QUESTION, SECRET, Served, served

OWNER = "/api/v1/owner"


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("owner") / "home", processes=False) as found:
        yield found


def declaration(centre: Served) -> dict[str, Any]:
    return declaration_document(centre.service.catalogue.dataset("survey").declared)


def registered(centre: Served, name: str, **more: Any) -> Any:
    body = {"name": name, "source": "people.parquet", "declaration": declaration(centre), "account": "survey"} | more
    return centre.call("post", f"{OWNER}/datasets", "olga", body)


def test_from_a_file_to_a_first_answer(centre: Served) -> None:
    """A dataset, a batch and an answer, by HTTP alone."""
    made = registered(centre, "second", title="The same again")
    assert made.status_code == 201, made.text
    assert made.json()["title"] == "The same again"
    assert "rows" not in made.json()
    body = {"batch": "spring", "slots": {"ada": {"epsilon": "1/2"}, "ben": {"epsilon": "1/4"}}, "delta": "1e-9"}
    cut = centre.call("post", f"{OWNER}/datasets/second/batches", "olga", body)
    assert cut.status_code == 201, cut.text
    seats = centre.call("get", "/api/v1/seats", "ben").json()["seats"]
    (seat,) = [each for each in seats if each["batch"] == "spring"]
    answer = centre.call("post", f"/api/v1/seats/{seat['id']}/questions", "ben", {"question": QUESTION})
    assert answer.status_code == 200, answer.text
    renewed = centre.call("post", f"{OWNER}/datasets/second/versions", "olga", {"source": "people.parquet"})
    assert (renewed.status_code, renewed.json()["version"]) == (201, 2)


def test_several_files_with_new_names(centre: Served) -> None:
    """By HTTP alone: look at the files, check them, register them and ask by the new name."""
    folder = centre.settings.folders[0]
    for month in ("01", "02", "03"):
        lines = ["wer;Alter (Jahre)", *(f"{SECRET}{month}{each};{each}" for each in range(30)), f"x;{SECRET}"]
        (folder / f"2025-{month}.csv").write_text("\n".join(lines) + "\n", encoding="utf8")
    query = {"source": "2025-0[12].csv"}
    told = centre.call("get", f"{OWNER}/columns", "olga", params=query).json()
    assert told == {"columns": {"wer": "", "Alter (Jahre)": ""}, "files": ["2025-01.csv", "2025-02.csv"]}
    dialect = centre.call("get", f"{OWNER}/dialect", "olga", params=query).json()["dialect"]
    about = {"person": "who", "columns": [{"name": "age", "integers": [0, 120]}]}
    how = query | {"dialect": dialect, "rename": {"wer": "who", "Alter (Jahre)": "age"}, "declaration": about}
    checked = centre.call("post", f"{OWNER}/checks", "olga", how)
    assert checked.json()["file"]["rows"] == 62, checked.text
    assert SECRET not in checked.text
    made = centre.call("post", f"{OWNER}/datasets", "olga", how | {"name": "months", "account": "survey"})
    assert made.status_code == 201, made.text
    cut = {"batch": "months", "slots": {"ada": {"epsilon": "1"}}, "delta": "1e-9"}
    assert centre.call("post", f"{OWNER}/datasets/months/batches", "olga", cut).status_code == 201
    seats = centre.call("get", "/api/v1/seats", "ada").json()["seats"]
    (seat,) = [each["id"] for each in seats if each["batch"] == "months"]
    question = {"statistic": {"count": "rows", "where": "age >= 10"}, "noise": "laplace", "epsilon": "1"}
    answer = centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": question})
    assert abs(answer.json()["value"] - 40) < 25, answer.text  # more by chance once in 10^10
    renewed = centre.call("post", f"{OWNER}/datasets/months/versions", "olga", {"source": "2025-*.csv"})
    assert (renewed.status_code, renewed.json()["version"]) == (201, 2)
    for wrong in ({"source": "/etc/*"}, {"source": "../*.csv"}, {"rename": {"wer": "age", "Alter (Jahre)": "age"}}):
        refused = centre.call("post", f"{OWNER}/checks", "olga", how | wrong)
        assert refused.status_code == 422, wrong
        assert SECRET not in refused.text


def test_a_proposal_changes_nothing(centre: Served) -> None:
    head = centre.service.ledger.head
    body = {"analysts": {"ada": 1, "ben": 1}, "epsilon": "1", "delta": "1e-9"}
    found = centre.call("post", f"{OWNER}/datasets/survey/proposals", "olga", body)
    assert found.status_code == 200, found.text
    assert "gains nothing" in found.json()["words"]
    assert centre.service.ledger.head == head


@pytest.mark.parametrize("source", ["../../etc/passwd", "/etc/passwd", "postgresql://x@y/z", "nothing.csv"])
def test_sources_lie_below_the_folders(centre: Served, source: str) -> None:
    found = registered(centre, "third", source=source)
    assert (found.status_code, found.json()["error"]) == (422, "invalid")


def test_a_seat_is_handed_on_before_anything_is_asked(centre: Served) -> None:
    seat = centre.seat("ada")
    moved = centre.call("post", f"{OWNER}/seats/{seat}/hand-on", "olga", {"analyst": "ben"})
    assert (moved.status_code, moved.json()["analyst"]) == (200, "ben")
    assert centre.call("get", f"/api/v1/seats/{seat}", "ada").status_code == 404
    assert centre.call("post", f"/api/v1/seats/{seat}/questions", "ben", {"question": QUESTION}).status_code == 200
    again = centre.call("post", f"{OWNER}/seats/{seat}/hand-on", "olga", {"analyst": "ada"})
    assert (again.status_code, again.json()["error"]) == (409, "conflict")


def test_what_is_there_already_is_a_conflict(centre: Served) -> None:
    body = {"name": "ada", "role": "analyst"}
    assert centre.call("post", f"{OWNER}/people", "olga", body).status_code == 409
    assert registered(centre, "survey").status_code == 409
    over = {"batch": "too much", "slots": {"ada": {"epsilon": "5000"}}, "delta": "1e-9"}
    found = centre.call("post", f"{OWNER}/datasets/survey/batches", "olga", over)
    assert (found.status_code, found.json()["error"]) == (409, "budget_exceeded")
    *_, noted = centre.call("get", "/api/v1/audit/changes", "ruth").json()["entries"]
    assert (noted["who"], noted["what"], noted["detail"]["batch"]) == ("olga", "refused", "too much")
    assert noted["detail"]["reason"] in found.json()["message"]


def test_an_auditor_verifies_without_answers(centre: Served, tmp_path: Path) -> None:
    seat = centre.seat("ada")
    answer = centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": QUESTION}).json()
    verified = centre.call("get", "/api/v1/audit/verification", "ruth").json()
    assert verified["findings"] == []
    assert verified["sequence"] >= answer["receipt"]["sequence"]
    export = centre.call("get", "/api/v1/audit/export", "ruth").json()
    path = tmp_path / "export"
    path.write_text(export["text"], encoding="utf8")
    assert verify_export(path).findings == ()
    assert str(answer["answer"]["amounts"]) not in export["text"]
    accounts = centre.call("get", "/api/v1/audit/accounts", "ruth").json()["entries"]
    assert [each["name"] for each in accounts] == ["survey"]
    changes = centre.call("get", "/api/v1/audit/changes", "ruth")
    assert changes.json() == centre.call("get", f"{OWNER}/changes", "olga").json()
    assert SECRET not in changes.text


def test_two_owners_change_a_budget(tmp_path: Path) -> None:
    with served(tmp_path / "home", processes=False, two_persons=True) as centre:
        body = {"batch": "spring", "slots": {"ada": {"epsilon": "1/2"}}, "delta": "1e-9"}
        asked = centre.call("post", f"{OWNER}/datasets/survey/batches", "olga", body)
        assert asked.status_code == 202, asked.text
        number = asked.json()["confirmation"]
        assert centre.call("get", "/api/v1/seats", "ada").json() == {"seats": []}
        alone = centre.call("post", f"{OWNER}/confirmations/{number}", "olga")
        assert (alone.status_code, alone.json()["error"]) == (409, "conflict")
        waiting = centre.call("get", f"{OWNER}/confirmations", "omar").json()["entries"]
        assert [each["id"] for each in waiting] == [number]
        done = centre.call("post", f"{OWNER}/confirmations/{number}", "omar")
        assert (done.status_code, done.json()["who"], done.json()["second"]) == (200, "olga", "omar"), done.text
        assert len(centre.call("get", "/api/v1/seats", "ada").json()["seats"]) == 1
        assert centre.call("post", f"{OWNER}/confirmations/{number}", "omar").status_code == 409


def test_a_budget_is_lowered(tmp_path: Path) -> None:
    """What is left is what the smaller budget leaves; it is never raised again, nor below what is spent."""
    with served(tmp_path / "home", processes=False) as centre:
        seat = centre.seat("ada", "3/2")
        path = f"{OWNER}/datasets/survey/budget"
        lowered = centre.call("post", path, "olga", {"epsilon": "2", "delta": "1e-6"})
        assert lowered.status_code == 200, lowered.text
        assert (lowered.json()["dataset"], lowered.json()["account"]) == ("survey", "survey")
        assert "(2, 1e-6)" in lowered.json()["budget"]
        assert centre.service.ledger.account("survey").budget.total == ApproxDP(2, "1e-6")
        for wrong in ({"epsilon": "3", "delta": "1e-6"}, {"epsilon": "1", "delta": "1e-6"}, {"epsilon": "2"}):
            refused = centre.call("post", path, "olga", wrong)
            assert (refused.status_code, refused.json()["error"]) == (422, "invalid"), refused.text
        for share, status in (("3/5", 409), ("2/5", 201)):
            body = {"batch": f"late {share}", "slots": {"ben": {"epsilon": share}}, "delta": "1e-9"}
            cut = centre.call("post", f"{OWNER}/datasets/survey/batches", "olga", body)
            assert cut.status_code == status, cut.text
        asked = centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": QUESTION})
        assert asked.status_code == 200
        assert centre.call("post", f"{OWNER}/datasets/nothing/budget", "olga", {"epsilon": "1"}).status_code == 404
        assert centre.service.ledger.verify().findings == ()
        changes = centre.call("get", f"{OWNER}/changes", "olga").json()["entries"]
        assert [each["detail"]["epsilon"] for each in changes if each["what"] == "lowered"] == ["2"]


def test_a_dataset_is_closed_and_opened_again(centre: Served) -> None:
    seat, path = centre.seat(), f"{OWNER}/datasets/survey/suspension"
    asked = {"question": QUESTION, "key": "closed"}
    try:
        assert centre.call("post", path, "olga", {"suspended": True}).json() == {"done": True}
        assert centre.call("get", "/api/v1/datasets/survey", "ada").json()["state"] == "closed"
        refused = centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", asked)
        assert (refused.status_code, refused.json()["error"]) == (403, "suspended")
    finally:
        assert centre.call("post", path, "olga", {"suspended": False}).json() == {"done": True}
    assert centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", asked).status_code == 200
    assert centre.call("post", f"{OWNER}/datasets/nothing/suspension", "olga", {"suspended": True}).status_code == 404


def test_a_narrow_token_of_an_owner_changes_no_other_dataset(centre: Served) -> None:
    made = centre.call("post", f"{OWNER}/people/olga/tokens", "olga", {"scope": ["another"]})
    centre.tokens["narrow olga"] = made.json()["token"]
    for path, body in (("suspension", {"suspended": True}), ("budget", {"epsilon": "1", "delta": "1e-6"})):
        found = centre.call("post", f"{OWNER}/datasets/survey/{path}", "narrow olga", body)
        assert (found.status_code, found.json()["error"]) == (404, "not_found")
    assert centre.service.catalogue.dataset("survey").state == "open"


def test_a_snapshot_is_registered_and_bad_cells_are_refused(centre: Served) -> None:
    files = Path(centre.settings.folders[0])
    table = Table(str(files / "people.parquet"), COLUMNS, person="who", rows_per_person=2, bad_cells="missing")
    table.save(files / "made.snapshot")
    body = {"name": "made", "source": "made.snapshot", "snapshot": True, "account": "survey"}
    both = centre.call("post", f"{OWNER}/datasets", "olga", body | {"declaration": declaration(centre)})
    assert (both.status_code, both.json()["argument"]) == (422, "declaration")
    found = centre.call("post", f"{OWNER}/datasets", "olga", body)
    assert found.status_code == 201, found.text
    assert found.json()["declaration"]["columns"] == declaration(centre)["columns"]
    neither = centre.call("post", f"{OWNER}/datasets", "olga", body | {"name": "other", "snapshot": False})
    assert (neither.status_code, neither.json()["argument"]) == (422, "declaration")
    (files / "bad.csv").write_text(f"who,age,region\na,7,north\nb,{SECRET},south\n", encoding="utf8")
    assert registered(centre, "lenient", source="bad.csv").status_code == 201
    strict = registered(centre, "strict", source="bad.csv", bad_cells="refuse")
    assert (strict.status_code, strict.json()["error"]) == (422, "invalid")
    assert SECRET not in strict.text


def test_two_owners_lower_a_budget_and_open_a_dataset(tmp_path: Path) -> None:
    """Closing needs one owner and is done at once; what gives more away, or changes a budget, needs two."""
    with served(tmp_path / "home", processes=False, two_persons=True) as centre:
        survey = f"{OWNER}/datasets/survey"
        assert centre.call("post", f"{survey}/suspension", "olga", {"suspended": True}).status_code == 200
        opened = centre.call("post", f"{survey}/suspension", "olga", {"suspended": False})
        lowered = centre.call("post", f"{survey}/budget", "olga", {"epsilon": "2", "delta": "1e-6"})
        assert (opened.status_code, lowered.status_code) == (202, 202)
        assert centre.call("post", f"{survey}/budget", "olga", {"epsilon": "2", "delta": "2"}).status_code == 422
        assert centre.service.catalogue.dataset("survey").state == "closed"
        assert centre.service.ledger.account("survey").budget.total == ApproxDP(1000, "1e-3")
        waiting = centre.call("get", f"{OWNER}/confirmations", "omar").json()["entries"]
        assert [each["kind"] for each in waiting] == ["open data set", "lower"]
        for each in waiting:
            assert centre.call("post", f"{OWNER}/confirmations/{each['id']}", "olga").status_code == 409
            done = centre.call("post", f"{OWNER}/confirmations/{each['id']}", "omar")
            assert done.status_code == 200, done.text
        assert centre.service.catalogue.dataset("survey").state == "open"
        assert centre.service.ledger.account("survey").budget.total == ApproxDP(2, "1e-6")


def test_a_limited_owner_sees_no_other_budget(centre: Served) -> None:
    made = centre.call("post", f"{OWNER}/people/olga/tokens", "olga", {"scope": ["elsewhere"]})
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    body = {"analysts": {"ada": 1}, "epsilon": "1", "delta": "1e-7"}
    path = f"{OWNER}/datasets/survey/proposals"
    assert centre.call("post", path, "olga", body).status_code == 200
    assert centre.call("post", path, None, body, headers=headers).status_code == 404
    assert centre.call("post", f"{OWNER}/people/olga/tokens", None, {}, headers=headers).status_code == 403
