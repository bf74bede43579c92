"""Questions over HTTP: paid once for each key, never past the slot, and never by a GET."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from optcomp.interactive import SparseVector
from optcomp.statistics import Count
from tests.unit.center.held import held_questions, until_held
from tests.unit.center.served import QUESTION, SECRET, Served, served

NOT_ANSWERED = "There is no answer yet. Ask again with the same key: what was paid for it is not paid twice."


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("questions") / "home") as found:
        yield found


def question(epsilon: str = "1/10", statistic: Any = None) -> dict[str, Any]:
    return {"statistic": statistic or {"count": "rows"}, "noise": "laplace", "epsilon": epsilon}


def left(centre: Served, seat: int, who: str = "ada") -> Fraction:
    """What the centre says is left, which must be what the ledger says."""
    told = centre.call("get", f"/api/v1/seats/{seat}", who).json()["left"]["amounts"]["epsilon"]["left"]
    found = centre.service.catalogue.seat(seat)
    slot = centre.service.ledger.account("survey").slot(found.slot)
    assert Fraction(told) == slot.remaining().amounts["epsilon"][0]
    return Fraction(told)


def ask(centre: Served, seat: int, body: dict[str, Any], who: str = "ada", **more: Any) -> Any:
    return centre.call("post", f"/api/v1/seats/{seat}/questions", who, body, **more)


def test_an_answer_is_paid_once_for_each_key(centre: Served) -> None:
    seat = centre.seat()
    first = ask(centre, seat, {"question": QUESTION, "key": "one"})
    assert first.status_code == 200, first.text
    again = ask(centre, seat, {"question": QUESTION}, headers={"Idempotency-Key": "one"})
    assert again.json()["answer"] == first.json()["answer"]
    assert again.json()["receipt"] == first.json()["receipt"]
    assert left(centre, seat) == 1 - Fraction(1, 10)
    ask(centre, seat, {"question": QUESTION, "key": "two"})
    assert left(centre, seat) == 1 - Fraction(2, 10)


def test_without_a_key_the_question_is_the_key(centre: Served) -> None:
    seat = centre.seat()
    answers = [ask(centre, seat, {"question": QUESTION}).json()["answer"] for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert left(centre, seat) == Fraction(9, 10)
    ask(centre, seat, {"question": QUESTION, "repeat": 1})
    assert left(centre, seat) == Fraction(8, 10)


def test_two_keys_that_differ_are_refused(centre: Served) -> None:
    seat = centre.seat()
    found = ask(centre, seat, {"question": QUESTION, "key": "a"}, headers={"Idempotency-Key": "b"})
    assert (found.status_code, found.json()["argument"]) == (422, "key")
    assert left(centre, seat) == 1


def test_a_key_is_for_one_question(centre: Served) -> None:
    seat = centre.seat()
    ask(centre, seat, {"question": QUESTION, "key": "k"})
    other = ask(centre, seat, {"question": question("1/5"), "key": "k"})
    assert (other.status_code, other.json()["error"]) == (422, "invalid")
    assert left(centre, seat) == Fraction(9, 10)


def test_a_slot_is_never_overdrawn(centre: Served) -> None:
    """Thirty requests at once for a slot of ten: ten are granted, by the ledger's own sums."""
    seat = centre.seat()

    async def all_at_once() -> list[Any]:
        path = f"/api/v1/seats/{seat}/questions"
        return await asyncio.gather(
            *(centre.acall("post", path, "ada", {"question": QUESTION, "key": f"k{n}"}) for n in range(30))
        )

    found = centre.wait(all_at_once())
    assert sorted(each.status_code for each in found) == [200] * 10 + [409] * 20
    refused = next(each for each in found if each.status_code == 409).json()
    assert refused["error"] == "budget_exceeded"
    assert refused["remaining"]["amounts"]["epsilon"]["left"] in {"0", "1/10"}
    assert left(centre, seat) == 0
    assert centre.service.ledger.verify().findings == ()


def test_little_left_is_told(centre: Served) -> None:
    seat = centre.seat()
    assert centre.call("get", f"/api/v1/seats/{seat}", "ada").json()["notice"] is None
    ask(centre, seat, {"question": question("0.95")})
    assert "Little is left" in centre.call("get", f"/api/v1/seats/{seat}", "ada").json()["notice"]


def test_a_get_spends_nothing(centre: Served) -> None:
    seat = centre.seat()
    number = ask(centre, seat, {"question": QUESTION}).json()["request"]
    before, head = left(centre, seat), centre.service.ledger.head
    paths = ["", "/transcript", f"/requests/{number}/why"]
    for path in paths:
        assert centre.call("get", f"/api/v1/seats/{seat}{path}", "ada").status_code == 200
    assert centre.call("get", f"/api/v1/seats/{seat}/questions", "ada").status_code == 405
    assert left(centre, seat) == before
    assert centre.service.ledger.head == head


def test_a_preview_costs_nothing_and_counts_right(centre: Served) -> None:
    seat = centre.seat()
    ask(centre, seat, {"question": question("0.35")})
    found = centre.call("post", f"/api/v1/seats/{seat}/preview", "ada", {"question": QUESTION})
    assert found.status_code == 200, found.text
    assert found.json()["more"] == 6
    assert left(centre, seat) == Fraction(65, 100)


def test_why_an_answer_is_private(centre: Served) -> None:
    seat = centre.seat()
    told = ask(centre, seat, {"question": QUESTION}).json()
    why = centre.call("get", f"/api/v1/seats/{seat}/requests/{told['request']}/why", "ada")
    assert why.status_code == 200, why.text
    assert "Lyu22-1" in why.text
    assert told["receipt"]["head"] in why.text
    other = centre.seat()
    assert centre.call("get", f"/api/v1/seats/{other}/requests/{told['request']}/why", "ada").status_code == 422


def test_a_mechanism_goes_on(centre: Served) -> None:
    seat, spec = centre.seat(), SparseVector(epsilon="1/2", threshold=-(10**4), sensitivity=2, positives=1)
    opened = centre.call("post", f"/api/v1/seats/{seat}/mechanisms", "ada", {"mechanism": spec.document()})
    assert opened.status_code == 200, opened.text
    assert left(centre, seat) == Fraction(1, 2)
    path = f"/api/v1/seats/{seat}/mechanisms/{opened.json()['mechanism']}/questions"
    told = [centre.call("post", path, "ada", {"ask": {"statistic": Count().document()}, "repeat": n}) for n in range(3)]
    assert told[0].json()["answer"] is True  # 200 rows are above -10^4, but for a chance of e^-700
    assert [each.status_code for each in told] == [200, 409, 409]
    assert told[1].json()["closed"] is True
    assert left(centre, seat) == Fraction(1, 2)


def test_a_plan_is_paid_before_its_first_answer(centre: Served) -> None:
    seat = centre.seat()
    body = {"questions": [question("1/10"), question("1/5")], "delta": "0"}
    plan = centre.call("post", f"/api/v1/seats/{seat}/plans", "ada", body)
    assert plan.status_code == 200, plan.text
    assert left(centre, seat) == Fraction(7, 10)
    path = f"/api/v1/seats/{seat}/plans/{plan.json()['plan']}/answers"
    answers = [centre.call("post", path, "ada", {"index": index}).json() for index in (0, 1, 0)]
    assert answers[0]["answer"] == answers[2]["answer"] != answers[1]["answer"]
    assert centre.call("post", path, "ada", {"index": 2}).status_code == 422
    assert left(centre, seat) == Fraction(7, 10)


def test_answers_are_shared_only_where_both_agree(centre: Served) -> None:
    seat = centre.seat()
    shared = ask(centre, seat, {"question": question("1/7"), "share": True}).json()
    kept = ask(centre, seat, {"question": question("1/9")}).json()
    found = centre.call("get", "/api/v1/datasets/survey/free", "olga").json()["answers"]
    assert shared["answer"] in [each["answer"] for each in found]
    assert kept["answer"] not in [each["answer"] for each in found]
    refused = centre.call("get", "/api/v1/datasets/survey/free", "ruth")
    assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")


def test_a_dry_run_is_marked_and_opens_nothing(centre: Served) -> None:
    seat = centre.seat()
    found = centre.call("post", "/api/v1/datasets/survey/dry-run", "ada", {"question": QUESTION, "rows": 10})
    assert found.json()["dry_run"] is True
    assert found.json()["receipt"] is None
    assert left(centre, seat) == 1


def test_wishes_reach_the_owner(centre: Served) -> None:
    seat = centre.seat()
    number = centre.call("post", f"/api/v1/seats/{seat}/wishes", "ada", {"words": "two more tables"}).json()["wish"]
    wishes = centre.call("get", "/api/v1/owner/wishes", "olga").json()["entries"]
    assert wishes[-1]["words"] == "two more tables"
    assert centre.call("post", f"/api/v1/owner/wishes/{number}", "olga", {"granted": True}).status_code == 200
    assert centre.call("post", f"/api/v1/owner/wishes/{number}", "olga", {"granted": True}).status_code == 409
    assert centre.call("post", "/api/v1/owner/wishes/99999", "olga", {"granted": True}).status_code == 404


def test_cancelling_what_does_not_run(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optcomp.center.cancellations._PATIENCE", 0.1)
    seat = centre.seat()
    assert centre.call("post", f"/api/v1/seats/{seat}/cancel", "ada", {"key": "none"}).json() == {"cancelled": False}


WRONG: list[Any] = [
    {},
    {"question": {}},
    {"question": []},
    {"question": {"statistic": {"count": "rows"}, "noise": "laplace"}},
    {"question": {**QUESTION, "epsilon": "-1"}},
    {"question": {**QUESTION, "epsilon": "nan"}},
    {"question": {**QUESTION, "noise": "none"}},
    {"question": {**QUESTION, "statistic": {"mean": "income"}}},
    {"question": {**QUESTION, "statistic": {"count": "rows", "where": "__import__('os').system('x')"}}},
    {"question": {**QUESTION, "statistic": {"count": "rows", "where": "age > (select 1)"}}},
    {"question": {**QUESTION, "more": 1}},
    {"question": QUESTION, "more": 1},
    {"question": QUESTION, "repeat": -1},
    {"question": QUESTION, "repeat": True},
    {"question": QUESTION, "key": ""},
    {"question": QUESTION, "key": "a\x00b"},
    {"question": QUESTION, "key": "x" * 201},
    {"question": {"statistic": {"count": "rows"}, "noise": "\ud800", "epsilon": "1"}},
    {
        "question": {
            "statistic": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]],
            "noise": "laplace",
            "epsilon": "1",
        }
    },
]


@pytest.mark.parametrize("body", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_costs_nothing(centre: Served, body: Any) -> None:
    seat = centre.seat()
    found = ask(centre, seat, body)
    assert (found.status_code, found.json()["error"]) == (422, "invalid"), found.text
    assert set(found.json()) <= {"error", "message", "argument", "theorem"}
    assert SECRET not in found.text
    assert left(centre, seat) == 1


@pytest.mark.slow
def test_a_killed_question_is_paid_and_answered_later(centre: Served) -> None:
    """A process is killed after the debit: one error for all of that; the same key has the answer, paid once."""
    seat, home = centre.seat(), centre.settings.home

    async def killed() -> Any:
        path = f"/api/v1/seats/{seat}/questions"
        task = asyncio.ensure_future(centre.acall("post", path, "ada", {"question": QUESTION, "key": "killed"}))
        await until_held(home)
        for process in centre.service.runners.processes:
            os.kill(process, signal.SIGKILL)
        return await task

    with held_questions(home):
        found = centre.wait(killed())
    assert (found.status_code, found.json()) == (424, {"error": "not_answered", "message": NOT_ANSWERED})
    assert left(centre, seat) == Fraction(9, 10)
    again = ask(centre, seat, {"question": QUESTION, "key": "killed"})
    assert again.status_code == 200, again.text
    assert left(centre, seat) == Fraction(9, 10)


@pytest.mark.slow
def test_a_request_is_stopped_by_its_key(centre: Served) -> None:
    """The process that answers stands still, so both requests are there for certain: one at work, one that waits.

    Each has the one error for that; asked again it is answered, and paid once.
    """
    seat, keys = centre.seat(), ("at work", "waits")
    path = f"/api/v1/seats/{seat}"
    (process,) = centre.service.runners.processes

    async def stopped() -> tuple[list[Any], list[Any]]:
        bodies = [{"question": QUESTION, "key": key} for key in keys]
        asked = [asyncio.ensure_future(centre.acall("post", f"{path}/questions", "ada", body)) for body in bodies]
        while not (centre.service.runners.working and centre.service.runners.waiting):
            await asyncio.sleep(0.01)
        cancelled = [await centre.acall("post", f"{path}/cancel", "ada", {"key": key}) for key in reversed(keys)]
        return [await each for each in asked], cancelled

    os.kill(process, signal.SIGSTOP)
    found, cancelled = centre.wait(stopped())
    assert [each.json() for each in cancelled] == [{"cancelled": True}] * 2
    assert [(each.status_code, each.json()["message"]) for each in found] == [(424, NOT_ANSWERED)] * 2
    assert process not in centre.service.runners.processes
    for key in keys:
        assert ask(centre, seat, {"question": QUESTION, "key": key}).status_code == 200
    assert left(centre, seat) == Fraction(8, 10)
    assert centre.call("post", f"{path}/cancel", "ben", {"key": "waits"}).status_code == 404


def test_a_failure_after_the_debit(centre: Served) -> None:
    """The rows are lost after the table was opened: one error, paid once, and finished by the centre later."""
    seat = centre.seat()
    ask(centre, seat, {"question": question("1/100")})
    rows = centre.service.catalogue.seat(seat).dataset.snapshot / "rows.parquet"
    kept = rows.with_name("kept.parquet")
    rows.rename(kept)
    try:
        failed = ask(
            centre, seat, {"question": question("1/10", {"count": "rows", "where": "age >= 7"}), "key": "lost"}
        )
    finally:
        kept.rename(rows)
    assert failed.status_code == 424
    assert failed.json() == {"error": "not_answered", "message": NOT_ANSWERED}
    assert left(centre, seat) == 1 - Fraction(11, 100)
    assert len(centre.service.ledger.waiting()) == 1
    centre.wait(centre.service.finish())
    assert centre.service.ledger.waiting() == ()
    lines = centre.call("get", f"/api/v1/seats/{seat}/transcript", "ada").json()["requests"]
    assert [line["outcome"] for line in lines] == ["answered", "answered"]
    assert left(centre, seat) == 1 - Fraction(11, 100)


def test_a_closed_dataset_is_not_asked(centre: Served) -> None:
    seat = centre.seat()
    centre.service.catalogue.close("survey", True, by="olga")
    try:
        found = ask(centre, seat, {"question": QUESTION})
        assert (found.status_code, found.json()["error"]) == (403, "suspended")
    finally:
        centre.service.catalogue.close("survey", False, by="olga")
    assert left(centre, seat) == 1
