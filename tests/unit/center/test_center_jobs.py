"""What a process that answers can do, in this process: sums are compared with plain fractions."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp.center.failures import CANNOT_ANSWER, COPIED, NOT_ANSWERED, failure
from optcomp.center.jobs import JOBS, perform
from optcomp.center.kinds import _KINDS
from optcomp.checker import check
from optcomp.errors import InvalidInput
from optcomp.interactive import GuessAndCheck, PrivateMultiplicativeWeights, SparseVector
from optcomp.ledger import verify_export
from optcomp.statistics import Contingency, Count, Histogram, Mean, declaration_document
from optcomp.theorems import theorem
from tests.unit.center.center_place import ACCOUNT, ROWS, SmallCenter, form, people, small_center


class Desk:
    """Jobs in this process, with one ledger."""

    def __init__(self, center: SmallCenter, slot: str = "ada") -> None:
        self.center, self.slot, self.ledger = center, slot, center.ledger()

    def __call__(self, job: str, **arguments: Any) -> dict[str, Any]:
        """The result, through JSON; of a seat unless the job has none."""
        if job not in ("verify", "export", "accounts", "dry_run", "free", "finish_waiting"):
            arguments = {"seat": self.center.seat(self.slot), **arguments}
        found: dict[str, Any] = json.loads(json.dumps(perform(self.ledger, self.center.settings, job, arguments)))
        return found


def test_a_question_is_debited_once_for_each_key(center: SmallCenter) -> None:
    """Exactly what it says, and the receipt is on the chain."""
    desk, question = Desk(center), form(Count("age >= 50"), epsilon="1/10")
    first, again = (desk("ask", question=question, key="a") for _ in range(2))
    assert first["answer"] == again["answer"]
    assert first["paid"] == {"words": "ε = 0.1", "exact": [{"kind": "PureDP", "epsilon": "1/10"}]}
    assert first["remaining"]["amounts"]["epsilon"] == {"left": "9/10", "whole": "1"}
    assert center.spent() == Fraction(1, 10)
    assert desk("ask", question=question, repeat=1)["request"] != first["request"]
    assert center.spent() == Fraction(1, 5)
    assert desk("verify", receipts=[first["receipt"]])["ok"]
    assert abs(first["value"] - ROWS / 2) < 400  # noise of scale 10 is more with probability e^-40


def test_refusals_say_why_and_cost_nothing(center: SmallCenter) -> None:
    """From declarations and the transcript."""
    desk = Desk(center, "ben")
    more = desk("ask", question=form(Count(), epsilon="51/100"))
    assert (more["error"], more["remaining"]["amounts"]["epsilon"]["left"]) == ("BudgetExceeded", "1/2")
    unknown = desk("ask", question=form(Mean("income"), epsilon="1/10"))
    assert (unknown["error"], unknown["argument"]) == ("InvalidInput", "column")
    gaussian = desk("ask", question=form(Count(), rho="1/100"))
    assert gaussian["error"] == "HypothesisNotMet"
    assert desk("ask", question={"statistic": {"count": "rows"}})["error"] == "InvalidInput"
    desk("ask", question=form(Count(), epsilon="1/10"), key="a")
    other = desk("ask", question=form(Count(), epsilon="1/5"), key="a")
    assert (other["error"], other["argument"]) == ("InvalidInput", "key")
    assert center.spent("ben") == Fraction(1, 10)


def test_refusals_are_the_same_for_other_data(tmp_path: Path) -> None:
    """Word for word."""
    questions = [
        form(Count(), epsilon="2"),
        form(Mean("income"), epsilon="1/10"),
        form(Count("age >= 'north'"), epsilon="1/10"),
        form(Count(), rho="1/100"),
        form(Contingency(("place", "time", "age")), epsilon="1/10"),
    ]
    desks = [Desk(small_center(tmp_path / str(rows), rows)) for rows in (1, 200)]
    one, other = ([desk("ask", question=question) for question in questions] for desk in desks)
    assert one == other
    assert all("error" in result for result in one)


@pytest.mark.parametrize("instead", [None, b"", b"age,38;age,41"])
def test_a_failure_after_a_debit_tells_nothing(
    tmp_path: Path, instead: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever became of the rows, and whatever they were; the same key is answered when they are back."""
    told = []
    for rows in (1, 200):
        center = small_center(tmp_path / str(rows), rows)
        desk, lost = Desk(center), {"question": form(Count(), epsilon="1/10"), "key": "lost"}
        desk("ask", question=form(Count(), epsilon="1/10"), key="before")
        with center.without_rows(instead):
            told += [desk("ask", **lost), desk("ask", **lost)]  # the second one finds the table closed
            told.append(desk("ask", question=form(Count(), epsilon="1/10"), key="other"))
        assert center.spent() == Fraction(2, 10)
        assert "answer" in desk("ask", **lost)
        assert center.spent() == Fraction(2, 10)
    assert "age" not in caplog.text  # nor does the log
    assert told[:2] == told[3:5] == [{"error": "NotAnswered", "words": NOT_ANSWERED}] * 2
    assert told[2] == told[5] == {"error": "CannotAnswer", "words": CANNOT_ANSWER}


def test_what_was_interrupted_is_finished(center: SmallCenter) -> None:
    """Questions, mechanisms and answers of plans, under the keys that paid for them; nothing is paid again."""
    desk = Desk(center)
    plan = desk("commit", questions=[form(Count(), epsilon="1/100")] * 2, delta="0", key="p")["plan"]
    weights = PrivateMultiplicativeWeights(["region"], tolerance=60, epsilon="1/10", corrections=1)
    jobs: list[tuple[str, dict[str, Any]]] = [
        ("ask", {"question": form(Histogram("region"), epsilon="1/10"), "key": "k"}),
        ("ask", {"question": form(Count("age >= 9"), epsilon="1/10"), "repeat": 3}),
        ("planned", {"plan": plan, "index": 1}),
        ("open_mechanism", {"mechanism": weights.document(), "key": "w"}),
    ]
    for number, (job, arguments) in enumerate(jobs):
        desk("ask", question=form(Count(), epsilon="1/1000"), repeat=number)  # opens the table
        with center.without_rows():
            assert desk(job, **arguments) == {"error": "NotAnswered", "words": NOT_ANSWERED}
    assert (center.waiting(), center.spent()) == (4, Fraction(2, 100) + Fraction(3, 10) + Fraction(4, 1000))
    with center.without_rows():
        assert len(desk("finish_waiting", seats=[center.seat()])["left"]) == 4
    found = desk("finish_waiting", seats=[center.seat("ada"), center.seat("ben")])
    assert (len(found["finished"]), found["left"]) == (4, [])
    assert not any("error" in desk(job, **arguments) for job, arguments in jobs)
    assert (center.waiting(), center.spent()) == (0, Fraction(2, 100) + Fraction(3, 10) + Fraction(4, 1000))


def test_what_the_owner_gave_up_has_no_answer_and_stays_paid(center: SmallCenter) -> None:
    """The transcript says so, and so does the answer."""
    desk, asked = Desk(center), {"question": form(Count(), epsilon="1/8"), "key": "k"}
    desk("ask", question=form(Count(), epsilon="1/8"), key="first")
    with center.without_rows():
        desk("ask", **asked)
    desk.ledger.give_up(desk.ledger.waiting()[0].id)
    assert "gave this request up" in desk("ask", **asked)["words"]
    assert [line["outcome"] for line in desk("transcript")["requests"]] == ["answered", "failed"]
    assert center.spent() == Fraction(1, 4)


def test_a_copy_of_the_ledger_debits_nothing_and_does_not_say_where_it_lies(center: SmallCenter) -> None:
    """What is stored is served."""
    stored = {"question": form(Count(), epsilon="1/8"), "key": "k"}
    first = Desk(center)("ask", **stored)
    folder = center.settings.home / "copy"
    folder.mkdir()
    with center.ledger() as ledger:
        ledger.backup(folder / "center.ledger")
    place = replace(center.settings, ledger=str(folder / "center.ledger"))
    copy = Desk(SmallCenter(place, center.snapshot))
    assert copy("ask", **stored)["answer"] == first["answer"]
    assert copy("ask", **stored | {"key": "new"}) == {"error": "LedgerCopied", "words": COPIED}


def test_looking_takes_nothing(center: SmallCenter) -> None:
    """A slot in which nothing was asked can still be handed on."""
    desk = Desk(center)
    assert desk("transcript") == {"requests": [], "more": False}
    left = desk("remaining", like=form(Count(), epsilon="3/10"))
    assert (left["state"], left["count"]) == ("free", 3)
    assert desk("why", request=1)["error"] == "InvalidInput"
    assert desk.ledger.account(ACCOUNT).slot("ada").hand_on("eve").name == "eve"


def test_a_transcript_has_questions_and_answers_and_only_ones_own(center: SmallCenter) -> None:
    """By pages; what somebody else asked is not found."""
    ada, ben = Desk(center), Desk(center, "ben")
    made = [ada("ask", question=form(Count(), epsilon="1/100"), repeat=n) for n in range(3)]
    lines = ada("transcript", most=2)
    assert lines["more"]
    rest = ada("transcript", after=lines["requests"][-1]["request"])
    told = lines["requests"] + rest["requests"]
    assert [line["answer"] for line in told] == [each["answer"] for each in made]
    assert [line["receipt"] for line in told] == [each["receipt"] for each in made]
    assert "snapshot" not in json.dumps(told)
    assert ben("why", request=made[0]["request"])["error"] == "InvalidInput"


def test_mechanisms_go_on(center: SmallCenter) -> None:
    """Sparse vector, guess and check, multiplicative weights; each is paid for when it is opened."""
    desk = Desk(center)
    vector = SparseVector(-(10**4), epsilon="1/10", positives=1, sensitivity=1, monotone=True)
    opened = desk("open_mechanism", mechanism=vector.document(), key="v")
    assert desk("open_mechanism", mechanism=vector.document(), key="v")["mechanism"] == opened["mechanism"]
    asked = {"mechanism": opened["mechanism"], "asked": {"statistic": {"count": "rows", "where": "age >= 0"}}}
    first = desk("ask_mechanism", **asked)
    assert first["answer"] is True  # noise of scale 20 reaches 10^4 with probability e^-500
    assert first["paid"]["words"] == "nothing more"
    assert center.spent() == Fraction(1, 10)
    for repeat in range(1, 3):
        assert desk("ask_mechanism", **asked, repeat=repeat)["error"] == "MechanismClosed"
    check_ = GuessAndCheck(50, epsilon="1/10", corrections=2, sensitivity=1)
    guess = desk("open_mechanism", mechanism=check_.document())["mechanism"]
    told = desk("ask_mechanism", mechanism=guess, asked={"statistic": {"count": "rows"}, "guess": 200})
    assert set(told["answer"]) == {"value", "corrected"}
    weights = PrivateMultiplicativeWeights(["region"], tolerance=60, epsilon="1/10", corrections=1)
    opened = desk("open_mechanism", mechanism=weights.document())
    told = desk("ask_mechanism", mechanism=opened["mechanism"], asked={"where": "region == 'north'"})
    assert set(told["answer"]) == {"value", "corrected", "checked"}
    told = desk("ask_mechanism", mechanism=opened["mechanism"], asked={"weights": [4096, 2048, 0]})
    assert "value" in told["answer"]
    wrong = desk("ask_mechanism", mechanism=guess, asked={"statistic": {"count": "rows"}})
    assert wrong["error"] == "InvalidInput"
    assert desk("ask_mechanism", mechanism=10**9, asked={})["error"] == "InvalidInput"
    assert center.spent() == Fraction(3, 10)


def test_a_plan_costs_its_composition_and_each_answer_nothing(center: SmallCenter) -> None:
    """Ten pure questions: the sum."""
    desk = Desk(center)
    questions = [form(Count(f"age >= {age}"), epsilon="1/100") for age in range(10)]
    plan = desk("commit", questions=questions, delta="0", key="p")
    assert center.spent() == Fraction(1, 10)
    assert desk("commit", questions=questions, delta="0", key="p")["plan"] == plan["plan"]
    first = desk("planned", plan=plan["plan"], index=3)
    assert first["answer"]["question"] == questions[3]
    assert desk("planned", plan=plan["plan"], index=3)["answer"] == first["answer"]
    assert desk("planned", plan=plan["plan"], index=10)["error"] == "InvalidInput"
    assert desk("planned", plan=first["request"], index=0)["error"] == "InvalidInput"
    assert center.spent() == Fraction(1, 10)


def test_why_has_theorems_and_a_certificate_that_holds(center: SmallCenter) -> None:
    """The certificate is checked by the checker, which knows nothing of the engine."""
    desk = Desk(center)
    asked = desk("ask", question=form(Count(), epsilon="1/10"))
    found = desk("why", request=asked["request"])
    named = {each["id"]: each["statement"] for each in found["theorems"]}
    assert {"RRUV16", "Lyu22-1", "HSTVVXZ23"} <= set(named)
    assert all(theorem(name).statement == statement for name, statement in named.items())
    assert found["receipt"] == asked["receipt"]
    assert (found["slot"]["epsilon"], found["slot"]["delta"]) == ("1", "1/10000000")
    batch = found["batch"]
    assert batch["certificate"]["mechanisms"] == [["1", "1/10000000", 1], ["1/2", "0", 1]]
    assert check(batch["certificate"]).proved
    assert Fraction(batch["total"]["epsilon"]) >= Fraction(batch["certificate"]["upper"])
    plan = desk("commit", questions=[form(Count(), epsilon="1/100")] * 2, delta="0")["plan"]
    desk("planned", plan=plan, index=0)
    for line in desk("transcript")["requests"]:
        assert desk("why", request=line["request"])["theorems"]


def test_free_answers_are_stored_ones_to_questions(center: SmallCenter) -> None:
    """Never those of a mechanism, nor of another question or snapshot."""
    desk = Desk(center)
    same, other = form(Count(), epsilon="1/10"), form(Count(), epsilon="1/5")
    made = [desk("ask", question=question)["request"] for question in (same, other)]
    vector = SparseVector(50, epsilon="1/10", positives=1, sensitivity=1, monotone=True)
    opened = desk("open_mechanism", mechanism=vector.document())["mechanism"]
    bit = desk("ask_mechanism", mechanism=opened, asked={"statistic": {"count": "rows"}})["request"]
    seats = [center.seat() | {"requests": [*made, opened, bit]}]
    assert len(desk("free", seats=seats)["answers"]) == 2
    found = desk("free", seats=seats, question=same, snapshot=str(center.snapshot))["answers"]
    assert [each["form"]["question"] for each in found] == [same]
    elsewhere = small_center(center.settings.home / "other").snapshot
    assert desk("free", seats=seats, question=same, snapshot=str(elsewhere))["answers"] == []
    assert center.spent() == Fraction(4, 10)


def test_auditors_see_totals_and_no_answer(center: SmallCenter, tmp_path: Path) -> None:
    """The export is verified from its text alone."""
    desk = Desk(center)
    desk("ask", question=form(Count(), epsilon="1/10"))
    made = desk("export")
    path = tmp_path / "export.jsonl"
    path.write_text(made["text"], encoding="utf8")
    assert verify_export(path, made["public_key"]).ok
    assert '"amounts"' not in made["text"]
    assert "path" not in made
    view = desk("accounts")["accounts"][0]
    assert (view["name"], view["waiting"]) == (ACCOUNT, 0)


def test_a_dry_run_is_marked_and_needs_no_snapshot(center: SmallCenter) -> None:
    """And no budget."""
    desk = Desk(center)
    declaration = declaration_document(people())
    found = desk("dry_run", declaration=declaration, question=form(Count(), epsilon="10"), rows=500)
    assert found["dry_run"] is True
    assert abs(found["value"] - 500) < 20  # noise of scale 1/10 is more with probability e^-200
    assert center.spent() == 0


def test_jobs_have_names_and_take_what_they_say(center: SmallCenter) -> None:
    """Unknown and missing arguments are refused by name."""
    desk = Desk(center)
    assert set(JOBS) >= set(_KINDS)
    assert desk("ask", question={}, keys="a")["error"] == "InvalidInput"
    assert "is missing" in desk("ask")["words"]
    assert desk("ask", question=form(Count(), epsilon="1/10"), key="\n")["argument"] == "key"
    assert desk("ask", question=form(Count(), epsilon="1/10"), repeat=-1)["argument"] == "repeat"
    for wrong in (True, "1", 2**70, -1, None):
        assert desk("why", request=wrong)["argument"] == "request"
        assert desk("ask_mechanism", mechanism=wrong, asked={})["argument"] == "request"
        assert desk("transcript", most=wrong)["argument"] == "most"
    assert desk("commit", questions={}, delta="0")["argument"] == "questions"
    assert center.spent() == 0


def test_where_the_ledger_lies_is_told_to_nobody() -> None:
    error = InvalidInput("ledger", "/srv/secret/center.ledger", "the database cannot be used now (OperationalError)")
    before, after = failure(error, spends=False), failure(error, spends=True)
    assert "secret" not in f"{before} {after}"
    assert (before["error"], after["error"]) == ("CannotAnswer", "NotAnswered")
