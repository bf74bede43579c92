"""Mechanisms in a ledger: another process goes on where the first one was, with the same noise and the same counts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from optcomp import InvalidInput, MechanismClosed
from optcomp.interactive import (
    GaussianSparseVector,
    GuessAndCheck,
    Mechanism,
    PrivateMultiplicativeWeights,
    RenyiFilter,
    SparseVector,
    SumFilter,
)
from optcomp.ledger import DurableRun, Ledger
from optcomp.statistics import Count
from tests.unit.ledger.people import kinds, people

Place = tuple[str, Path]
ROOT = Path(__file__).parents[3]
EDGES = {"age": (0, 25, 50, 75, 99)}
MECHANISMS: dict[str, Mechanism] = {
    "sparse": SparseVector(50, epsilon="0.2", positives=4),
    "gaussian": GaussianSparseVector(50, sigma_threshold=9, sigma_questions=9, questions=30, positives=4),
    "checked": GuessAndCheck(10, epsilon="0.3", corrections=4),
    "weights": PrivateMultiplicativeWeights(["age"], edges=EDGES, tolerance=2, epsilon="0.5", corrections=3),
}


def question(name: str, number: int) -> tuple[Any, ...]:
    if name == "weights":
        return (lambda label: (7 * number + len(str(label))) % 5 / 4,)
    return (Count(f"age > {number}"), 100 - 9 * number) if name == "checked" else (Count(f"age > {number}"),)


def opened(ledger: Ledger) -> dict[str, DurableRun]:
    account = ledger.open("people", RenyiFilter(8, 60))
    session = account.session(people(), RenyiFilter(8, 50))
    return {name: session.open(mechanism) for name, mechanism in MECHANISMS.items()}


def state(run: DurableRun) -> Any:
    return run._current()[1].state()


def told(ledger: Ledger, numbers: range) -> dict[str, Any]:
    """States before, answers to some questions, and states after, of all mechanisms."""
    found = {}
    for name, run in opened(ledger).items():
        before, answers = state(run), []
        for number in numbers:
            try:
                answers.append(repr(run.ask(*question(name, number))))
            except MechanismClosed:
                answers.append("closed")
        found[name] = {"before": before, "answers": answers, "after": state(run)}
    return found


def in_another_process(place: Place, numbers: range) -> dict[str, Any]:
    code = (
        "import json, sys\nfrom optcomp.ledger import Ledger\nfrom tests.unit.ledger.test_runs import told\n"
        "with Ledger(sys.argv[1], private=sys.argv[2]) as ledger:\n"
        "    print(json.dumps(told(ledger, range(int(sys.argv[3]), int(sys.argv[4])))))"
    )
    given = [place[0], str(place[1]), str(numbers.start), str(numbers.stop)]
    command = [sys.executable, "-c", code, *given]
    found: dict[str, Any] = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    return found


@pytest.mark.slow
def test_another_process_goes_on(ledger_place: Place) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        first = json.loads(json.dumps(told(ledger, range(6))))
        paid = ledger.account("people").session(people(), RenyiFilter(8, 50)).budget
    second = in_another_process(ledger_place, range(3, 30))
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        third = json.loads(json.dumps(told(ledger, range(30))))
        assert ledger.account("people").session(people(), RenyiFilter(8, 50)).budget == paid
        assert kinds(ledger).count("reserved") == len(MECHANISMS)
    for name in MECHANISMS:
        assert second[name]["before"] == first[name]["after"]
        assert third[name]["before"] == third[name]["after"] == second[name]["after"]
        assert second[name]["answers"][:3] == first[name]["answers"][3:]
        assert third[name]["answers"] == first[name]["answers"] + second[name]["answers"][3:]
    for name in ("sparse", "gaussian"):
        assert third[name]["answers"].count("True") == 4 - third[name]["after"]["positives_left"]


def test_the_positives_are_those_of_one_mechanism(ledger_place: Place) -> None:
    """However often it is opened again: four times yes, and then it is closed."""
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        session = ledger.open("people", SumFilter(3)).session(people(), SumFilter(2))
        spec = SparseVector(-(10**6), epsilon=1, positives=4)
        for number in range(4):
            run = session.open(spec)
            assert run.positives_left == 4 - number
            assert run.ask(Count(f"age > {number}")) is True
        with pytest.raises(MechanismClosed):
            session.open(spec).ask(Count("age > 70"))
        assert run.ask(Count("age > 2")) is True  # what was told is told again
        with pytest.raises(MechanismClosed):
            run.ask(Count("age > 2"), repeat=1)
        assert session.open(spec, repeat=1).positives_left == 4  # another one, paid for again
        assert session.budget.spent.epsilon == 2


def test_two_objects_of_one_run(ledger_place: Place) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        session = ledger.open("people", SumFilter(1)).session(people(), SumFilter(1))
        spec = SparseVector(10**6, epsilon=1, positives=2)
        one, two = session.open(spec), session.open(spec)
        for number in range(6):
            assert (one, two)[number % 2].ask(Count(f"age > {number}")) is False
        assert one.asked == two.asked == 6
        assert (one.spec, one.table.name) == (spec, "people")
        with pytest.raises(AttributeError):
            one.threshold  # noqa: B018


def test_without_the_private_folder_mechanisms_are_closed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        session = ledger.open("people", SumFilter(2)).session(people(), SumFilter(1))
        run = session.open(SparseVector(10**6, epsilon="0.5", positives=2))
        told = run.ask(Count())
        answer = session.ask(Count(), epsilon="0.1")
    (tmp_path / "a.ledger.private").rename(tmp_path / "hidden")
    with Ledger(tmp_path / "a.ledger") as ledger:
        session = ledger.account("people").session(people(), SumFilter(1))
        assert session.ask(Count(), epsilon="0.1") == answer
        with pytest.raises(MechanismClosed, match="private folder"):
            session.open(SparseVector(10**6, epsilon="0.5", positives=2))
    (tmp_path / "hidden").rename(tmp_path / "a.ledger.private")
    with Ledger(tmp_path / "a.ledger") as ledger:
        again = ledger.account("people").session(people(), SumFilter(1)).open(run.spec)
        assert again.ask(Count()) == told


def test_what_the_database_refuses_for_ever_is_not_tried_for_ever(tmp_path: Path) -> None:
    refuse = (
        "CREATE TRIGGER refuse BEFORE INSERT ON requests WHEN NEW.kind = 'ask' BEGIN SELECT RAISE(ABORT, 'never'); END"
    )
    with Ledger(tmp_path / "a.ledger") as ledger:
        run = ledger.open("people", SumFilter(1)).session(people(), SumFilter(1)).open(SparseVector(0, epsilon=1))
        with ledger._books.database.write() as connection:
            connection.exec_driver_sql(refuse)
        with pytest.raises(AssertionError, match="the database refused an answer"):
            run.ask(Count())
        with ledger._books.database.write() as connection:
            connection.exec_driver_sql("DROP TRIGGER refuse")
        assert run.asked == 0
        run.ask(Count())
        assert run.asked == 1


BAD: list[Callable[[DurableRun], object]] = [
    lambda run: run.ask(),
    lambda run: run.ask(5),
    lambda run: run.ask(Count(), Count()),
    lambda run: run.ask(Count(), repeat=-1),
    lambda run: run.ask(Count(), repeat=True),
    lambda run: run.ask(Count(), repeat="1"),  # type: ignore[arg-type]
]


def test_bad_questions_change_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        session = ledger.open("people", SumFilter(1)).session(people(), SumFilter(1))
        run, head = session.open(SparseVector(0, epsilon=1)), ledger.head
        for ask in BAD:
            with pytest.raises((InvalidInput, TypeError)):
                ask(run)
        assert run.asked == 0
        assert ledger.head.sequence == head.sequence
