"""Leases: of a process that lives, of one that is gone, and of clocks that jump; they save work and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from optcomp import InvalidInput, PureDP
from optcomp.interactive import SumFilter
from optcomp.ledger import Ledger
from optcomp.ledger.leases import is_alive, lease_of_this_process
from tests.campaign.interruptions import Interruptions, Killed
from tests.unit.ledger.people import people, spent


def test_a_lease_names_this_process_and_ends() -> None:
    clock = Interruptions()
    with clock.installed():
        lease = lease_of_this_process(30)
        assert lease.split(" ")[1] == str(os.getpid())
        assert is_alive(lease)
        clock.clock.moved = 29.9
        assert is_alive(lease)
        clock.clock.moved = 30.1
        assert not is_alive(lease)


def test_a_process_that_is_gone_has_no_lease() -> None:
    code = "from optcomp.ledger.leases import lease_of_this_process as lease; print(lease(3600))"
    lease = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert not is_alive(lease)
    machine, process, started, until = lease_of_this_process(3600).split(" ")
    assert is_alive(" ".join(["another-machine", "1", "0", until]))  # nobody can tell from here
    assert not is_alive(" ".join([machine, process, f"{int(started) + 1}", until]))  # its number was given again


@pytest.mark.parametrize("moved", [-(10.0**7), 0.0, 10.0**7])
def test_a_request_is_finished_whatever_the_clock_says(moved: float, ledger_place: tuple[str, Path]) -> None:
    """Killed after the debit, with the lease of a process that lives: whoever asks again waits, and then runs it."""
    crash = Interruptions()
    with crash.installed(), Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        session = ledger.open("people", SumFilter(1)).session(people(), SumFilter(1))
        with crash.armed((1, "after the anchor")), pytest.raises(Killed):
            session.pay("code", [PureDP("0.5")], lambda: pytest.fail("it ran"), key="k")
        crash.clock.moved += moved
        assert session.pay("code", [PureDP("0.5")], lambda: 7, key="k") == 7
        assert (crash.clock.waits == 0) == (moved > 0)
        assert 2 * spent(session) == 1


def test_the_first_stored_answer_counts(ledger_place: tuple[str, Path]) -> None:
    crash = Interruptions()
    with crash.installed(), Ledger(ledger_place[0], private=ledger_place[1]) as ledger:
        account = ledger.open("people", SumFilter(1))
        session = account.session(people(), SumFilter(1))

        def slow() -> int:
            crash.clock.moved += 1000  # its lease is over
            assert session.pay("code", [PureDP("0.5")], lambda: 2, key="k") == 2
            return 1

        assert session.pay("code", [PureDP("0.5")], slow, key="k") == 2
        assert session.pay("code", [PureDP("0.5")], lambda: 3, key="k") == 2
        assert 2 * spent(session) == 1


def test_a_lease_must_be_a_time(tmp_path: Path) -> None:
    for lease in (0, -1, 86_401, "long", float("nan")):
        with pytest.raises(InvalidInput, match="lease"):
            Ledger(tmp_path / "a.ledger", lease=lease)  # type: ignore[arg-type]
