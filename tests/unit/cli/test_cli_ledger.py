"""`optcomp ledger`: what the commands print, their exit codes, and that only `open` creates a ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optcomp.interactive import SumFilter
from optcomp.ledger import Ledger
from optcomp.statistics import Count
from tests.filled_ledger import change, filled, table
from tests.unit.cli.in_process import Result, invoke


def run(arguments: str) -> Result:
    return invoke(f"ledger {arguments}")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ledger() -> Ledger:
    made, _, _ = filled(("a.ledger", Path("a.ledger.private")))
    return made


def test_open_creates_and_finds() -> None:
    first = run("open a.ledger 'survey 2026' --epsilon 3 --delta 1e-6")
    assert (first.exit_code, first.stderr) == (0, "")
    assert first.stdout.startswith("Opened account 'survey 2026' in ")
    assert "BestFilter, (ε, δ) = (3, 1e-6) in all" in first.stdout
    again = run("open a.ledger 'survey 2026' --epsilon 3 --delta 1e-6 --json")
    assert json.loads(again.stdout)["account"] == "survey 2026"
    other = run("open a.ledger 'survey 2026' --epsilon 4 --delta 1e-6")
    assert (other.exit_code, other.stdout) == (2, "")
    assert "is not the budget of account 'survey 2026'" in other.stderr
    assert other.stderr.endswith("got 'BestFilter of (ε, δ) = (4, 1e-6)'\n")
    assert run("open a.ledger 'survey 2026'").stdout.startswith("Found account 'survey 2026' in ")
    assert run("open a.ledger another").stderr.startswith("optcomp: --epsilon: an account has a budget")


def test_overlap_must_be_said() -> None:
    run("open a.ledger one --epsilon 1")
    missing = run("open a.ledger two --epsilon 1")
    assert missing.exit_code == 2
    assert missing.stderr.startswith(
        "optcomp: --disjoint or --overlaps: must be said: may anybody of 'two' be in 'one'"
    )
    assert len(missing.stderr.splitlines()) == 1
    shared = run("open a.ledger two --epsilon 1 --overlaps")
    assert shared.exit_code == 2
    assert "share that account" in shared.stderr
    assert run("open a.ledger two --epsilon 1 --disjoint").exit_code == 0


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("--epsilon 1", "SumFilter, ε = 1 in all"),
        ("--rho 1/2", "ZCDPFilter, ρ = 0.5 in all"),
        ("--epsilon 1 --delta 1e-6 --filter sum", "SumFilter, (ε, δ) = (1, 1e-6) in all"),
        ("--epsilon 1 --delta 1e-6 --filter adaptive", "AdaptiveFilter, (ε, δ) = (1, 1e-6) in all"),
    ],
)
def test_filters(given: str, shown: str) -> None:
    assert shown in run(f"open a.ledger a {given}").stdout


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("open a.ledger a", "--epsilon: an account has a budget"),
        ("open a.ledger a --epsilon x", "epsilon"),
        ("open a.ledger a --epsilon 1 --rho 1", "--rho: stands in the place of"),
        ("open a.ledger a --epsilon 1 --filter best", "--filter: best needs a --delta"),
        ("open a.ledger a --epsilon 1 --filter worst", "--filter: must be one of best, sum, adaptive"),
        ("show a.ledger", "does not exist"),
        ("verify a.ledger", "does not exist"),
        ("export a.ledger out", "does not exist"),
        ("backup a.ledger out", "does not exist"),
        ("lower a.ledger a --epsilon 1", "does not exist"),
        ("rotate a.ledger", "does not exist"),
        (f"adopt a.ledger --head {'0' * 64}", "does not exist"),
        ("verify a.ledger --receipt no.json", "no.json"),
    ],
)
def test_bad_input_is_one_line_and_creates_nothing(given: str, complaint: str, tmp_path: Path) -> None:
    result = run(given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert complaint in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_show(ledger: Ledger) -> None:
    result = run("show a.ledger")
    assert (result.exit_code, result.stderr) == (0, "")
    for text in ("│ survey ", "BEST-FILTER", "by RRUV16", "by WRRW23", "│ waiting ", "overdrawn: a release", "│ slot "):
        assert text in result.stdout
    assert "survey" not in run("show a.ledger others").stdout
    view = json.loads(run("show a.ledger --json").stdout)
    assert (view["ledger"], view["doubt"], view["head"]) == (ledger.id, None, ledger.head.head)
    survey, others = view["accounts"]
    assert [survey[name] for name in ("state", "cap", "waiting", "releases")] == ["open", "(ε, δ) = (3, 1e-6)", 1, 0]
    assert {slot["name"]: slot["state"] for slot in survey["slots"]} == {
        "left": "taken",
        "middle": "free",
        "right": "split",
        "c": "free",
        "b": "free",
    }
    assert [each["name"] for each in survey["sessions"]] == ["ada", "left"]
    assert (others["cap"], others["left"], others["releases"]) == (None, None, 3)
    assert run("show a.ledger nobody").exit_code == 2


def test_verify_a_ledger_and_an_export_with_receipts(ledger: Ledger) -> None:
    session = ledger.account("survey").session(table(), SumFilter("0.6"), name="ada")
    receipt = session.ask(Count(), epsilon="0.1").receipt
    Path("r.json").write_text(json.dumps(receipt), encoding="utf8")
    Path("answer.json").write_text(json.dumps({"receipt": receipt}), encoding="utf8")
    Path("lost.json").write_text(json.dumps({**dict(receipt or {}), "head": "0" * 64}), encoding="utf8")
    good = run("verify a.ledger --receipt r.json --receipt answer.json")
    assert (good.exit_code, good.stderr) == (0, "")
    assert good.stdout.splitlines()[-1] == "Everything holds."
    key = json.loads(run("export a.ledger a.export --json").stdout)["public_key"]
    assert run(f"verify a.export --key {key} --receipt r.json").exit_code == 0
    assert run("export a.ledger a.export").exit_code == 2
    for name in ("a.ledger", "a.export"):
        lost = run(f"verify {name} --receipt lost.json")
        assert lost.exit_code == 1
        assert "this ledger has lost what the receipt proves" in lost.stdout
    change(ledger, "UPDATE requests SET answer = 'true' WHERE kind = 'ask'")
    wrong = json.loads(run("verify a.ledger --json").stdout)
    assert wrong["ok"] is False
    assert any("its answer is not the one" in text for text in wrong["findings"])


def test_backup_and_adopt(ledger: Ledger) -> None:
    head = json.loads(run("backup a.ledger b.ledger --json").stdout)["head"]
    assert run("backup a.ledger b.ledger").exit_code == 2
    assert "It may be a copy" in run("show b.ledger").stdout
    wrong = run(f"adopt b.ledger --head {'0' * 64}")
    assert (wrong.exit_code, len(wrong.stderr.splitlines())) == (2, 1)
    assert "--take-as-spent" in wrong.stderr
    assert "Adopted: incarnation 2" in run(f"adopt b.ledger --head {head}").stdout
    assert "It may be a copy" not in run("show b.ledger").stdout
    assert run("verify b.ledger").exit_code == 0
    spent = json.loads(run(f"adopt b.ledger --head {head} --take-as-spent --json").stdout)
    assert (spent["spent"], spent["incarnation"]) == (True, 3)
    assert "1 mechanism was" in run("rotate a.ledger").stdout
    assert ledger.verify().ok


def test_the_newest_receipt_adopts_a_copy_that_goes_on_behind_it(ledger: Ledger) -> None:
    newest = ledger.head
    ledger.open("a third group", epsilon=1, disjoint=True)  # for which nobody has a receipt
    run("backup a.ledger b.ledger")
    assert run(f"adopt b.ledger --head {newest.head}").exit_code == 0
    assert run("verify b.ledger").exit_code == 0


def test_receipts_in_releases_and_what_was_not_checked(ledger: Ledger) -> None:
    Path("r.release.json").write_text(json.dumps({"ledger": {"receipt": ledger.head.document()}}), encoding="utf8")
    assert "1 receipt looked for" in run("verify a.ledger --receipt r.release.json").stdout
    key = json.loads(run("export a.ledger a.export --json").stdout)["public_key"]
    assert "Who signed it was not checked" in run("verify a.export").stdout
    assert "Who signed it was not checked" not in run(f"verify a.export --key {key}").stdout
    run("backup a.ledger b.ledger")
    assert "It may be a copy" in run("verify b.ledger").stdout
    assert "It may be a copy" not in run("verify a.ledger").stdout


def test_lower_before_and_after_the_first_request() -> None:
    run("open a.ledger survey --epsilon 3 --delta 1e-6")
    first = run("lower a.ledger survey --epsilon 4 --delta 1e-6")  # nobody has asked
    assert (first.exit_code, first.stderr) == (0, "")
    assert "(ε, δ) = (4, 1e-6) in all" in first.stdout
    assert "limit" not in first.stdout
    with Ledger("a.ledger") as ledger:
        ledger.account("survey").session(table(), SumFilter(1), name="ada")
    later = run("lower a.ledger survey --epsilon 2 --delta 1e-6")
    assert "a limit and no promise; claimed in advance: (ε, δ) = (4, 1e-6)" in later.stdout
    view = json.loads(run("lower a.ledger survey --epsilon 1.5 --delta 1e-6 --json").stdout)
    assert (view["limit"], view["claimed"]) == (True, "(ε, δ) = (4, 1e-6)")
    assert view["left"].startswith("ε 0.5 of 1.5 left")
    for given, complaint in (
        ("survey --epsilon 3 --delta 1e-6", "the new budget must not raise the cap of ε from 1.5 to 3"),
        ("survey --epsilon 0.9 --delta 1e-6", "the new budget must not be less than what is spent"),
        ("survey --rho 0.1", "the new budget must be a BestFilter"),
        ("survey", "--epsilon: an account has a budget"),
        ("nobody --epsilon 1", "is no account of"),
    ):
        refused = run(f"lower a.ledger {given}")
        assert (refused.exit_code, refused.stdout, len(refused.stderr.splitlines())) == (2, "", 1)
        assert complaint in refused.stderr
    with Ledger("a.ledger") as ledger:
        assert str(ledger.account("survey").remaining()).startswith("ε 0.5 of 1.5 left")
        assert ledger.verify().ok


def test_the_private_folder_may_lie_elsewhere() -> None:
    run("open a.ledger survey --epsilon 3 --delta 1e-6 --private hidden")
    assert "It may be a copy" in run("show a.ledger").stdout
    assert "It may be a copy" not in run("show a.ledger --private hidden").stdout
    assert run("lower a.ledger survey --epsilon 2 --delta 1e-6").exit_code == 2
    assert run("lower a.ledger survey --epsilon 2 --delta 1e-6 --private hidden").exit_code == 0
    assert run("backup a.ledger b.ledger --private hidden").exit_code == 0
    assert not Path("a.ledger.private").exists()


def test_passwords_are_not_printed() -> None:
    result = run("show postgresql://owner:geheim@localhost:1/nothing --private p")
    assert result.exit_code == 2
    assert "geheim" not in result.stdout + result.stderr
