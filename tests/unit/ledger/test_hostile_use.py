"""What somebody may try, or do by mistake: other objects on one file, old copies, dear work under a cheap key."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from optcomp.errors import BudgetExceeded, InvalidInput, MechanismFailed
from optcomp.guarantees import PureDP, RenyiDP
from optcomp.interactive import RenyiFilter, SparseVector, SumFilter, ZCDPFilter
from optcomp.ledger import Account, BudgetClosed, Ledger
from optcomp.ledger.database import Database
from optcomp.statistics import Count, Question
from tests.unit.ledger.people import people, spent

SPARSE = SparseVector(10, epsilon="1", positives=1, sensitivity=1, monotone=True)
LOOK = """
import sys
from optcomp.ledger import Ledger
for _ in sys.stdin:
    with Ledger(sys.argv[1]) as it:
        print(it.head.sequence, it.doubt, flush=True)
"""


@contextmanager
def another_process(path: Path) -> Iterator[Callable[[], str]]:
    """What another process sees whenever it is called, which then closes the ledger."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen([sys.executable, "-c", LOOK, str(path)], **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        told, asked = process.stdout, process.stdin

        def looked() -> str:
            asked.write("\n")
            return str(told.readline())

        try:
            yield looked
        finally:
            process.kill()


def entered(account: Account, eps: str, key: str = "march") -> Any:
    return account.enter(key=key, what="a report", offers=[(PureDP(eps),)], declared=people())


def test_a_second_object_on_the_file_leaves_the_locks_of_the_first(tmp_path: Path) -> None:
    """POSIX drops all locks of a process when it closes any handle of the file; the log would be removed under it."""
    path = tmp_path / "a.ledger"
    with Ledger(path) as first, Ledger(path), another_process(path) as looked:
        account = first.open("people", epsilon="3")
        assert looked() == "2 None\n"
        assert path.with_name("a.ledger-wal").exists()
        entered(account, "1")
        assert looked() == f"{first.head.sequence} None\n"


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    path.write_bytes(b"SQLite format 2\0" + bytes(4096))
    with pytest.raises(InvalidInput, match="is not a ledger"):
        Ledger(path)


def test_a_copy_that_counts_as_spent_draws_nothing_a_second_time(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "a.ledger")
    session = ledger.open("people", epsilon="3").session(people(), SumFilter(3), name="ada")
    run, plan = session.open(SPARSE), session.commit([Question(Count("age > 30"), epsilon="1")])
    with pytest.raises(MechanismFailed):
        session.pay("mine", [PureDP(1)], lambda: 1 // 0, key="k")
    ledger.backup(tmp_path / "b.ledger")
    run.ask(Count("age > 30")), plan.answer(0), session.pay("mine", [PureDP(1)], lambda: 1, key="k")
    head = ledger.head
    ledger.close()
    shutil.copytree(tmp_path / "a.ledger.private", tmp_path / "b.ledger.private")
    with Ledger(tmp_path / "b.ledger") as copy:
        copy.adopt(head, take_as_spent=True)
        session = copy.account("people").session(people(), SumFilter(3), name="ada")
        with pytest.raises(BudgetClosed):
            session.open(SPARSE).ask(Count("age > 40"))
        with pytest.raises(BudgetClosed):
            session.commit([Question(Count("age > 30"), epsilon="1")]).answer(0)
        with pytest.raises(BudgetClosed):
            session.pay("mine", [PureDP(1)], lambda: 2, key="k")
        assert copy.verify().ok


def test_what_is_running_when_a_copy_is_taken_as_spent_is_not_stored(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        session = ledger.open("people", epsilon="3").session(people(), SumFilter(3), name="ada")

        def meanwhile() -> int:
            ledger.adopt("0" * 64, take_as_spent=True)
            return 1

        with pytest.raises(BudgetClosed):
            session.pay("mine", [PureDP(1)], meanwhile, key="k")
        assert [each.state for each in ledger.overview()] == ["spent"]
        assert len(ledger.waiting()) == 1


def test_nothing_is_claimed_of_a_spent_account_after_more_was_entered(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("people", epsilon="3")
        ledger.adopt("0" * 64, take_as_spent=True)
        assert ledger.verify().accounts[0].total is not None  # the cap, all of which may be spent
        entered(account, "1")
        found = ledger.verify()
        assert found.ok
        assert (found.accounts[0].total, found.accounts[0].recorded, account.totals()) == (None, (), ())
        with pytest.raises(BudgetClosed):
            account.lower(SumFilter(2))


class _Cheap(SumFilter):
    @property
    def total(self) -> Any:
        return PureDP("1/1000")


class _CheapSparse(SparseVector):
    def costs(self, table: Any = None) -> Any:
        return (PureDP("1/1000"),)


def test_a_subclass_pays_what_it_writes(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("people", epsilon="3")
        session = account.session(people(), _Cheap(2), name="ada")
        assert spent(account) == 2
        with pytest.raises(BudgetExceeded):
            session.open(_CheapSparse(10, epsilon="5", positives=1))
        assert ledger.verify().ok


def test_a_key_that_paid_for_little_runs_nothing_dear(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("people", epsilon="3")

        def release(eps: str, run: Any) -> Any:
            common: dict[str, Any] = {"key": "r", "what": "a release", "form": {"plan": "p"}, "declared": people()}
            return account.release(offers=[(PureDP(eps),)], run=run, **common)

        with pytest.raises(MechanismFailed):
            release("0.1", lambda: str(1 // 0))
        with pytest.raises(InvalidInput, match="another cost"):
            release("2.5", lambda: "all")
        assert release("0.1", lambda: "little").answer == "little"
        assert spent(account) == Fraction(1, 10)


def test_what_was_paid_part_by_part_goes_on_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that was paid by an older version, and interrupted before its first answer, costs nothing more."""
    spec = SparseVector(10, epsilon="1", positives=3, refresh=True)
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("people", epsilon="3")
        session = account.session(people(), SumFilter(3), name="ada")
        with monkeypatch.context() as before:
            before.setattr("optcomp.ledger.session.mechanism_offer", lambda _, mechanism, table: mechanism.costs(table))
            before.setattr(SparseVector, "start", lambda *_: 1 / 0)
            with pytest.raises(MechanismFailed):
                session.open(spec, key="first")
        (waiting,) = ledger.waiting()
        assert [len(debit) for debit in (session.transcript[0].costs,)] == [3]
        run = session.open(spec, key="first")
        assert run.request == waiting.id
        assert spent(account) == 3
        monkeypatch.setattr(SparseVector, "start", lambda *_: 1 / 0)
        with pytest.raises(MechanismFailed):
            session.open(spec, key="second")
        assert [len(entry.costs) for entry in session.transcript] == [3, 1]
        assert session.budget.spent.epsilon == 2
        assert ledger.verify().ok


def test_two_releases_under_one_key_are_not_taken_for_one(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("people", epsilon="3")
        assert entered(account, "0.5") == entered(account, "0.5")
        with pytest.raises(InvalidInput, match="another cost"):
            entered(account, "2")


def test_many_at_once_find_what_the_first_made(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:

        def one(_: int) -> None:
            account = ledger.open("people", epsilon="3")
            entered(account, "0.5")
            account.cut({"ada": "0.125"}, delta=0)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(one, range(6)))
        assert spent(ledger.account("people")) == Fraction(5, 8)


def test_a_curve_is_asked_once_and_never_under_the_lock(tmp_path: Path) -> None:
    path, calls = tmp_path / "a.ledger", []
    with Ledger(path) as ledger:
        session = ledger.open("people", RenyiFilter(8, 3)).session(people(), RenyiFilter(8, 1), name="ada")

        def curve(order: float) -> float:
            beside = sqlite3.connect(path, timeout=0, isolation_level=None)
            beside.execute("BEGIN IMMEDIATE")  # an error, if the ledger is locked
            beside.close()
            calls.append(order)
            return 0.01 * len(calls)

        session.pay("mine", [RenyiDP(curve)], lambda: 1)
        assert len(calls) == 1
        assert ledger.verify().ok


def test_a_reserve_is_within_what_is_paid(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("people", epsilon="3")
        account.cut({"taken": "0.125"}, delta=0)
        common: dict[str, Any] = {"what": "a release", "form": {}, "declared": people(), "run": lambda: ""}
        for reserve in (("later", PureDP(2)), ("taken", PureDP("0.1"))):
            with pytest.raises(InvalidInput, match="nothing was spent"):
                account.release(key="r", offers=[(PureDP(1),)], reserve=reserve, **common)
        assert spent(account) == Fraction(1, 8)


def test_an_account_is_not_found_as_something_else(tmp_path: Path) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger, Ledger(tmp_path / "a.ledger") as other:
        ledger.open("people", epsilon="3", neighbours="add-remove", person=True, sample=(10, 100))
        same = other.open("people", neighbours="add-remove", person=True, sample=(10, 100))
        for wrong in ({"neighbours": "replace"}, {"person": False}, {"sample": (20, 100)}):
            with pytest.raises(InvalidInput, match="account 'people'"):
                ledger.open("people", **wrong)
        for sample in ((100, 10), (0, 5), ("a", 5), 5):
            with pytest.raises(InvalidInput, match="whole numbers"):
                ledger.open("more", epsilon="1", disjoint=True, sample=sample)  # type: ignore[arg-type]
        ledger.account("people").lower(ZCDPFilter("0.5"))
        with pytest.raises(InvalidInput, match="open it again"):
            same.cut({"ada": "0.1"}, delta=0)


@pytest.mark.parametrize("key", ["", "k" * 501, "\ud800", "a\0b", 5])
def test_keys_are_such_that_every_database_finds_them(tmp_path: Path, key: Any) -> None:
    with Ledger(tmp_path / "a.ledger") as ledger:
        account = ledger.open("people", epsilon="3")
        session = account.session(people(), SumFilter(2), name="ada")
        for ask in (
            lambda: session.ask(Count(), epsilon="0.1", key=key),
            lambda: session.open(SPARSE).ask(Count(), key=key),
            lambda: entered(account, "0.1", key),
        ):
            with pytest.raises(InvalidInput, match="key"):
                ask()


def test_no_password_of_an_address_is_shown() -> None:
    pytest.importorskip("psycopg")
    for address in ("postgresql://u:hunter2@h/db", "postgresql://u@h/db?password=hunter2&sslpassword=hunter2"):
        assert "hunter2" not in Database(address, create=False).shown
