"""Copies, backups, lost folders and new keys: nothing spends twice unnoticed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from optcomp.errors import CannotBeShared, InvalidInput, MechanismClosed
from optcomp.interactive import SparseVector, SumFilter
from optcomp.ledger import BudgetClosed, DurableSession, Ledger, LedgerCopied, Receipt
from optcomp.statistics import Count
from tests.filled_ledger import change, filled, table


def small(path: Path) -> tuple[Ledger, DurableSession, Receipt]:
    """A ledger with one answer, and its receipt."""
    ledger = Ledger(path)
    session = ledger.open("a", SumFilter("1")).session(table(), SumFilter("1"), name="s")
    return ledger, session, Receipt.read(session.ask(Count(), epsilon="0.1").receipt)


def again(ledger: Ledger) -> DurableSession:
    return ledger.account("a").session(table(), SumFilter("1"), name="s")


def check_copy(path: Path, private: Path | None = None) -> None:
    """It serves what it knows, and debits nothing."""
    with Ledger(path, private=private) as copy:
        assert copy.doubt is not None
        assert again(copy).ask(Count(), epsilon="0.1").value is not None
        with pytest.raises(LedgerCopied):
            again(copy).ask(Count("age > 50"), epsilon="0.1")
        with pytest.raises(LedgerCopied):
            copy.open("b", SumFilter("1"), disjoint=True)


def copied(ledger: Ledger, path: Path) -> None:
    ledger.close()
    shutil.copy(path, path.with_name("copy.ledger"))


def backed_up(ledger: Ledger, path: Path) -> None:
    ledger.backup(path.with_name("copy.ledger"))


def whole_folder(ledger: Ledger, path: Path) -> None:
    ledger.close()
    shutil.copy(path, path.with_name("copy.ledger"))
    shutil.copytree(path.with_name("a.ledger.private"), path.with_name("copy.ledger.private"))


@pytest.mark.parametrize("how", [copied, backed_up, whole_folder])
def test_a_copy_is_noticed(tmp_path: Path, how: Callable[[Ledger, Path], None]) -> None:
    ledger, _, _ = small(tmp_path / "a.ledger")
    how(ledger, tmp_path / "a.ledger")
    check_copy(tmp_path / "copy.ledger")
    with Ledger(tmp_path / "a.ledger") as original:
        assert original.doubt is None


def test_a_file_that_was_copied_without_its_wal_is_noticed(tmp_path: Path) -> None:
    ledger, session, _ = small(tmp_path / "a.ledger")
    ledger.close()
    ledger = Ledger(tmp_path / "a.ledger")
    session = again(ledger)
    kept = Receipt.read(session.ask(Count("age > 60"), epsilon="0.1").receipt)  # lies in the -wal
    assert (tmp_path / "a.ledger-wal").stat().st_size
    shutil.copy(tmp_path / "a.ledger", tmp_path / "copy.ledger")
    ledger.close()
    with Ledger(tmp_path / "copy.ledger") as copy:
        assert copy.doubt is not None
        assert copy.head.sequence < kept.sequence
        assert not copy.verify(receipts=[kept]).ok
        with pytest.raises(InvalidInput, match="is that of none of its 6 entries"):
            copy.adopt(kept)


def test_a_backup_restored_over_the_file_is_noticed(tmp_path: Path) -> None:
    ledger, session, _ = small(tmp_path / "a.ledger")
    ledger.backup(tmp_path / "backup")
    kept = Receipt.read(session.ask(Count("age > 60"), epsilon="0.1").receipt)
    ledger.close()
    with (tmp_path / "backup").open("rb") as source, (tmp_path / "a.ledger").open("r+b") as target:
        target.write(source.read())  # the same file: only the anchor can tell
        target.truncate()
    check_copy(tmp_path / "a.ledger")
    with Ledger(tmp_path / "a.ledger") as restored:
        with pytest.raises(InvalidInput, match="the anchor knows entry"):
            restored.adopt(restored.head)
        found = restored.adopt(kept, take_as_spent=True)
        assert (found.spent, found.incarnation, restored.doubt) == (True, 2, None)
        assert restored.verify().ok
        with pytest.raises(BudgetClosed, match="counts as spent"):
            again(restored).ask(Count("age > 50"), epsilon="0.1")


def test_a_copy_that_lacks_nothing_goes_on(tmp_path: Path) -> None:
    ledger, _, _ = small(tmp_path / "a.ledger")
    last = ledger.backup(tmp_path / "b.ledger")
    ledger.close()
    assert (tmp_path / "b.ledger").stat().st_mode & 0o777 == 0o600
    with Ledger(tmp_path / "b.ledger") as copy:
        with pytest.raises(InvalidInput, match="must be the head"):
            copy.adopt("12")
        with pytest.raises(InvalidInput, match="debits may be missing"):
            copy.adopt("0" * 64)
        found = copy.adopt(last)
        assert (found.spent, found.incarnation, found.new_key) == (False, 2, True)
        again(copy).ask(Count("age > 50"), epsilon="0.1")
        assert copy.verify(receipts=[last]).findings == ()
        with pytest.raises(InvalidInput, match="nothing to adopt"):
            copy.adopt(copy.head)
    with Ledger(tmp_path / "b.ledger") as copy:
        assert copy.doubt is None


def test_an_adoption_that_was_interrupted_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, _, _ = small(tmp_path / "a.ledger")
    last = ledger.backup(tmp_path / "b.ledger")
    ledger.close()
    with Ledger(tmp_path / "b.ledger") as copy, monkeypatch.context() as patched:
        patched.setattr(copy._books, "settle_memories", lambda: None)  # as if it was killed there
        copy.adopt(last)
    with Ledger(tmp_path / "b.ledger") as copy:
        assert copy.doubt is not None
        assert copy.adopt(last).incarnation == 3
        assert copy.verify().ok
    with Ledger(tmp_path / "b.ledger") as copy:
        assert copy.doubt is None


def test_everything_is_closed_when_it_is_taken_as_spent(ledger_place: tuple[str, Path]) -> None:
    ledger, account, _ = filled(ledger_place)
    found = ledger.adopt("0" * 64, take_as_spent=True)
    assert found.spent
    assert account.state == "spent"
    assert {slot.state.value for slot in account.slots} == {"taken", "split", "spent"}
    verified = ledger.verify()
    assert verified.findings == ()
    assert [(each.state, each.recorded == ()) for each in verified.accounts] == [("spent", True), ("spent", True)]
    assert verified.accounts[1].total is None  # it was overdrawn
    session = account.session(table(), SumFilter("0.6"), name="ada")
    assert session.ask(Count(), epsilon="0.1").value is not None
    with pytest.raises(BudgetClosed):  # it was debited before, and may have been answered in what was lost
        session.pay("something", [_hundredth()], lambda: 7, key="later")
    with pytest.raises(BudgetClosed):
        session.ask(Count("age > 51"), epsilon="0.01")
    with pytest.raises(BudgetClosed):
        account.slot("middle").session(table(), SumFilter("0.05"))
    assert ledger.verify().ok
    ledger.close()


def _hundredth() -> Any:
    from optcomp.guarantees import PureDP

    return PureDP("1/100")


def test_a_forked_process_is_refused(tmp_path: Path) -> None:
    _, session, _ = small(tmp_path / "a.ledger")
    child = os.fork()
    if not child:
        try:
            session.ask(Count("age > 50"), epsilon="0.1")
        except CannotBeShared:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_links_and_relative_paths_are_the_same_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, _, _ = small(tmp_path / "a.ledger")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "link").symlink_to(tmp_path / "a.ledger")
    monkeypatch.chdir(tmp_path)
    for path in ("there/link", "a.ledger", "./there/../a.ledger"):
        with Ledger(path) as same:
            assert (same.id, same.doubt) == (ledger.id, None)
            again(same).ask(Count(), epsilon="0.01", key=path)
    assert ledger.verify().ok


def test_a_ledger_whose_file_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    ledger, _, _ = small(tmp_path / "a.ledger")
    ledger.close()
    (tmp_path / "a.ledger").unlink()
    with pytest.raises(InvalidInput, match="is gone, but its private folder is here"):
        Ledger(tmp_path / "a.ledger")
    with pytest.raises(InvalidInput, match="does not exist"):
        Ledger(tmp_path / "a.ledger", create=False)


def test_without_its_private_folder_answers_are_served_and_mechanisms_closed(ledger_place: tuple[str, Path]) -> None:
    ledger, _, _ = filled(ledger_place)
    ledger.close()
    shutil.move(ledger_place[1], ledger_place[1].with_name("lost"))
    with Ledger(ledger_place[0], private=ledger_place[1]) as found:
        session = found.account("survey").session(table(), SumFilter("0.6"), name="ada")
        assert session.ask(Count(), epsilon="0.1").value is not None
        with pytest.raises(MechanismClosed):
            session.open(SparseVector(10**6, epsilon="0.1"))
        with pytest.raises(LedgerCopied, match="no anchor"):
            session.ask(Count("age > 51"), epsilon="0.01")
        adoption = found.adopt(found.head)
        assert adoption.new_key
        session.ask(Count("age > 51"), epsilon="0.01")
        run = session.open(SparseVector(10**6, epsilon="0.1"))
        assert run.ask(Count("age > 100")) is False  # stored
        with pytest.raises(MechanismClosed, match="cannot be read"):
            run.ask(Count("age > 103"))
        assert found.verify().findings == ()
        assert found.rotate_keys() == 0


def test_the_private_folder_of_another_ledger_is_refused(tmp_path: Path) -> None:
    ledger, _, _ = small(tmp_path / "a.ledger")
    ledger.close()
    small(tmp_path / "b.ledger")[0].close()
    check_copy(tmp_path / "a.ledger", tmp_path / "b.ledger.private")
    with Ledger(tmp_path / "a.ledger", private=tmp_path / "b.ledger.private") as mixed:
        with pytest.raises(InvalidInput, match="of another ledger"):
            mixed.adopt(mixed.head)
        with pytest.raises(InvalidInput, match="signed"):
            mixed.export(tmp_path / "x")
    with Ledger(tmp_path / "b.ledger") as other:
        assert other.doubt is None


def test_an_anchor_that_was_deleted_needs_an_adoption(tmp_path: Path) -> None:
    ledger, _, last = small(tmp_path / "a.ledger")
    ledger.close()
    (tmp_path / "a.ledger.private" / "anchor").unlink()
    check_copy(tmp_path / "a.ledger")
    with Ledger(tmp_path / "a.ledger") as found:
        assert found.adopt(last).new_key is False
        again(found).ask(Count("age > 50"), epsilon="0.1")
        assert found.verify().ok


def test_backups_of_postgresql_are_refused_and_nothing_is_overwritten(
    ledger_place: tuple[str, Path], tmp_path: Path
) -> None:
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        if ledger_place[0].startswith("postgresql"):
            with pytest.raises(InvalidInput, match="pg_dump"):
                ledger.backup(tmp_path / "x")
            return
        ledger.backup(tmp_path / "x")
        with pytest.raises(InvalidInput, match="exists already"):
            ledger.backup(tmp_path / "x")
        with pytest.raises(InvalidInput, match="cannot be written"):
            ledger.backup(tmp_path / "no" / "x")


def test_a_cluster_that_was_restored_elsewhere_is_noticed(ledger_place: tuple[str, Path]) -> None:
    ledger, _, _ = filled(ledger_place)
    change(ledger, "UPDATE facts SET place = 'somewhere else'")
    with pytest.raises(LedgerCopied, match="another place"):
        ledger.open("c", SumFilter("1"), disjoint=True)
    ledger.close()


CREATE = """
import sys
from optcomp.ledger import Ledger
print("ready", flush=True)
sys.stdin.readline()
with Ledger(sys.argv[1], private=sys.argv[2]) as ledger:
    print(ledger.id, ledger.doubt)
"""


@pytest.mark.slow
def test_a_ledger_that_several_create_at_once_is_one(ledger_place: tuple[str, Path]) -> None:
    call = [sys.executable, "-c", CREATE, ledger_place[0], str(ledger_place[1])]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with ExitStack() as ends:
        started = [ends.enter_context(subprocess.Popen(call, **pipes)) for _ in range(4)]
        for each in started:
            ends.callback(each.kill)
        assert [each.stdout.readline() for each in started if each.stdout] == ["ready\n"] * 4
        told = [each.communicate("\n")[0] for each in started]
    assert [each.returncode for each in started] == [0] * 4
    assert len(set(told)) == 1
    assert told[0].split()[1] == "None"
    with Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        assert ledger.verify().ok
        assert ledger._books.keys is not None


ROTATE = """
import os, signal, sys
from optcomp.ledger import Ledger
from optcomp.ledger.copies import rotate_keys

def step(name):
    if name == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

with Ledger(sys.argv[1], private=sys.argv[2]) as ledger:
    rotate_keys(ledger._books, step=step)
"""


@pytest.mark.parametrize("step", ["rotated", "encrypted", "committed", "retired"])
def test_a_rotation_that_is_killed_loses_nothing(ledger_place: tuple[str, Path], step: str) -> None:
    ledger, _, _ = filled(ledger_place)
    run = ledger.account("survey").session(table(), SumFilter("0.6"), name="ada")
    mechanism = run.open(SparseVector(10**6, epsilon="0.1"))
    before = (ledger_place[1] / "keys.json").read_bytes()
    killed = subprocess.run([sys.executable, "-c", ROTATE, *map(str, ledger_place), step], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (ledger_place[1] / "keys.json").read_bytes() != before
    assert mechanism.ask(Count("age > 104")) is False
    assert ledger.verify().ok
    assert ledger.rotate_keys() == 1
    assert ledger._books.keys is not None
    assert ledger._books.keys.count == 1
    assert mechanism.ask(Count("age > 105")) is False
    assert ledger.verify().ok
    ledger.close()
