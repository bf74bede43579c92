"""`optcomp admin`: a centre from nothing to a batch, what is printed, and what is refused in one line."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from optcomp.center import Catalogue, People, Settings, Store
from optcomp.ledger import Ledger, LedgerCopied
from optcomp.statistics import Count, Table
from tests.unit.cli.in_process import Result, invoke

DECLARATION = "columns:\n  age: {integers: [0, 99]}\n"


def run(arguments: str) -> Result:
    return invoke(f"admin {arguments}")


def told(arguments: str) -> Any:
    result = run(f"{arguments} --json")
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return json.loads(result.stdout)


def said(arguments: str) -> str:
    result = run(arguments)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return result.stdout


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    rows = "".join(f"{number}\n" for number in range(40))
    (tmp_path / "data" / "people.csv").write_text(f"age\n{rows}", encoding="utf8")
    Path("people.yaml").write_text(DECLARATION, encoding="utf8")


@pytest.fixture
def home() -> Path:
    told("init home --folder data --owner olga")
    for name in ("ada", "ben"):
        told(f"people home {name} --role analyst")
    return Path("home")


@pytest.fixture
def registered(home: Path) -> Path:
    told("register home people people.csv --declaration people.yaml --epsilon 3 --delta 1e-6")
    return home


def test_init_prints_the_token_once() -> None:
    printed = said("init home --folder data")
    (token,) = re.findall(r"^oc_[A-Za-z0-9_-]{43}$", printed, re.MULTILINE)
    assert stat.S_IMODE(Path("home").stat().st_mode) == 0o700
    with Store(Settings.read("home")) as store:
        assert People(store).who(token).role == "owner"
    for file in Path("home").rglob("*"):
        assert file.is_dir() or token.encode() not in file.read_bytes()
    again = run("init home")
    assert (again.exit_code, again.stdout) == (2, "")
    assert again.stderr.startswith("optcomp: home: is there already")


def test_from_nothing_to_an_answer(registered: Path) -> None:
    proposal = told("propose home people --epsilon 1 --delta 1e-7")
    assert proposal["slots"] == {"ada": ["0.5", "0"], "ben": ["0.5", "0"]}
    assert "gains nothing over splitting" in said("propose home people --epsilon 1 --delta 1e-7")
    proof = told("cut home people spring --slot ada=0.5 --slot ben=0.25,1e-9 --delta 1e-7")
    assert proof["slots"]["ben"] == {"slot": "spring: ben", "share": ["1/4", "1/1000000000"]}
    first, second = told("seats home")["seats"]
    assert (first["analyst"], first["epsilon"], first["state"]) == ("ada", "1/2", "free")
    assert "spring" in said("seats home")
    assert told(f"hand-on home {second['id']} ada")["analyst"] == "ada"
    token = told("token home ada --days 1 --dataset people")["token"]
    settings = Settings.read("home")
    with Store(settings) as store, Ledger(settings.ledger) as ledger:
        person = People(store).who(token)
        seat = Catalogue(store, ledger).seats(person)[0]
        with ledger.account("people").slot(seat.slot).session(Table.open(seat.dataset.snapshot)) as session:
            answer = session.ask(Count(), epsilon="0.5").value
            assert abs(answer - 40) < 100  # noise of scale 2 reaches 100 with probability 2e-22
        Catalogue(store, ledger).wish(seat.id, "More, please", by=person)
    assert run(f"hand-on home {first['id']} ben").stderr.startswith(f"optcomp: seat {first['id']} has been asked in")
    assert "More, please" in said("wishes home")
    assert told("wishes home 1 --decline")["wishes"][0]["state"] == "declined"
    assert told("renew home people people.csv")["version"] == 2
    assert "(2, 1e-6)" in told("lower home people --epsilon 2 --delta 1e-6")["budget"]
    found = told("changes home")
    whats = [each["what"] for each in found["changes"]]
    assert whats[4:] == ["registered", "cut", "handed on", "token made", "wish declined", "renewed", "lowered"]
    assert {each["who"] for each in found["changes"]} == {"olga"}
    assert "wish declined" in said("changes home")


def test_a_plan_says_what_happens_to_cells_that_cannot_be_read(home: Path) -> None:
    Path("data/dirty.csv").write_text("age\n20\nold\n", encoding="utf8")
    plan = "plan: 1\ncolumns: {age: {integers: [0, 99]}}\nbudget: {epsilon: 1}\nstatistics: {all: {count: rows}}\n"
    Path("plan.yaml").write_text(plan, encoding="utf8")
    refused = run("register home dirty dirty.csv --declaration plan.yaml --epsilon 1")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "dirty.csv, line 3" in refused.stderr
    assert told("register home dirty dirty.csv --declaration plan.yaml --epsilon 1 --bad-cells missing")["version"] == 1
    Path("plan.yaml").write_text(f"{plan}data: {{bad_cells: missing}}\n", encoding="utf8")
    other = "register home other dirty.csv --declaration plan.yaml --epsilon 1 --disjoint"
    assert run(f"{other} --bad-cells refuse").exit_code == 2
    assert told(other)["version"] == 1
    assert "Cut 1 slot; it comes to ε = 0.5 at" in said("cut home other spring --slot ada=0.5 --delta 0")


def test_weights(registered: Path) -> None:
    found = told("propose home people --epsilon 0.9 --delta 0 --analyst ada=2 --analyst ben")
    assert found["slots"] == {"ada": ["0.6", "0"], "ben": ["0.3", "0"]}


def test_tokens_are_listed_and_ended(home: Path) -> None:
    token = said("token home ada").strip()
    (view,) = told("token home ada --list")["tokens"]
    assert token not in json.dumps(view)
    assert "good" in said("token home ada --list")
    assert "no token of 'ben'" in run(f"token home ben --revoke {view['id']}").stderr
    told(f"token home ada --revoke {view['id']}")
    assert "revoked" in said("token home ada --list")


def test_suspension(registered: Path) -> None:
    told("cut home people spring --slot ada=0.5 --delta 1e-7")
    assert told("suspend home ada")["suspended"] is True
    assert [each["suspended"] for each in told("people home")["people"]] == [False, True, False]
    told("suspend home ada --lift")
    assert "is suspended" in said("suspend home --seat 1")
    assert told("seats home")["seats"][0]["state"] == "suspended"
    told("suspend home --seat 1 --lift")
    assert told("suspend home --dataset people")["dataset"] == "people"
    assert run("suspend home").exit_code == run("suspend home ada --seat 1").exit_code == 2


def test_init_leaves_nothing_behind() -> None:
    refused = run("init home --database /")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert not Path("home").exists()
    told("init first")
    taken = run(f"init home --database {Path('first/center.db').resolve()}")
    assert "--database: is that of a centre that is there already" in taken.stderr
    assert not Path("home").exists()


def test_two_persons() -> None:
    told("init home --folder data --owner olga --two-persons")
    assert told("people home otto --role owner") == {"waits": 1, "kind": "add owner"}
    assert "by another owner" in run("confirm home 1").stderr


def test_two_owners() -> None:
    told("init home --folder data --owner olga")
    told("people home otto --role owner")
    settings = Path("home/center.yaml")
    settings.write_text(settings.read_text(encoding="utf8") + "two_persons: true\n", encoding="utf8")
    register = "register home people people.csv --declaration people.yaml --epsilon 3 --delta 1e-6"
    assert "--by: name the owner who does this; there are 2" in run(register).stderr
    assert "optcomp admin confirm home 1 --by OWNER" in said(f"{register} --by olga")
    assert told("changes home")["waiting"][0]["kind"] == "register"
    assert "by another owner" in run("confirm home 1 --by olga").stderr
    assert "confirmed by 'otto'" in said("confirm home 1 --by otto")
    assert told("changes home")["waiting"] == []


def test_backup_and_restore(registered: Path) -> None:
    told("cut home people spring --slot ada=0.5 --delta 1e-7")
    made = told("backup home copy")
    assert made["not_copied"] == []
    assert {path.name for path in Path("copy").iterdir()} == {"center.db", "center.ledger", "center.yaml", "snapshots"}
    told("cut home people later --slot ada=0.5 --delta 1e-7")
    assert "optcomp ledger adopt" in said("restore copy again")
    assert stat.S_IMODE(Path("again").stat().st_mode) == 0o700
    (seat,) = told("seats again")["seats"]
    assert seat["batch"] == "spring"
    settings = Settings.read("again")
    assert settings.ledger == str(Path("again/center.ledger").resolve())
    refused = run("cut again people more --slot ada=0.5 --delta 1e-7")
    assert refused.exit_code == 2
    with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
        seat = Catalogue(store, ledger).seat(1)
        with pytest.raises(LedgerCopied):
            ledger.account("people").slot(seat.slot).session(Table.open(seat.dataset.snapshot))
        ledger.adopt(made["head"])
    told("cut again people more --slot ada=0.5 --delta 1e-7")
    for taken in ("backup home copy", "restore copy again"):
        assert "is there already" in run(taken).stderr


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("people nowhere", "is not the home of a centre"),
        ("people home eve", "--role"),
        ("people home eve --role root", "must be one of owner, analyst, auditor"),
        ("people home ada --role analyst", "is there already"),
        ("token home nobody", "there is no person 'nobody'"),
        ("token home ada --by ada", "the role analyst may not do this"),
        ("register home people people.csv --epsilon 1", "--declaration"),
        ("register home people /etc/passwd --declaration people.yaml --epsilon 1", "not below a folder"),
        ("register home people ../people.yaml --declaration people.yaml --epsilon 1", "without .."),
        ("register home people people.csv --declaration data/people.csv --epsilon 1", "named like a file of data"),
        ("register home people people.csv --declaration people.yaml --epsilon x", "epsilon"),
        ("renew home people people.csv", "there is no data set 'people'"),
        ("cut home people b --slot ada --delta 1e-7", "--slot: must be NAME=EPS"),
        ("propose home people --epsilon 1 --delta 0", "there is no data set"),
        ("hand-on home 7 ada", "there is no seat 7"),
        ("confirm home 7", "there is no confirmation 7"),
        ("wishes home 7", "--grant or --decline"),
        ("wishes home 7 --grant", "there is no wish 7"),
        ("backup nowhere out", "is not the home of a centre"),
        ("restore nowhere out", "is not the home of a centre"),
    ],
)
def test_bad_input_is_one_line(home: Path, given: str, complaint: str) -> None:
    result = run(given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert complaint in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not Path("out").exists()
    assert not Path("nowhere").exists()
