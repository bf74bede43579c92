"""Many processes at one account at once: `python -m tests.campaign.crowd ADDRESS PRIVATE PROCESSES REQUESTS [BROKEN]`.

The processes are forked before anything is opened.  Each asks for so many releases of ε = 1/100 and counts what it is
granted; the counts are printed as JSON.  `crowd` starts it and compares the ledger with the counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

from optcomp import BudgetExceeded, PureDP
from optcomp.interactive import SumFilter
from optcomp.ledger import Ledger
from optcomp.statistics import Declared, Integers
from tests.campaign.broken_ledgers import FOR_CROWDS
from tests.campaign.ledger_checks import Rows, check_chain, paid_in_chain
from tests.campaign.ledger_places import Place

EACH = Fraction(1, 100)
"""ε of a release."""
_HERE = Path(__file__).parents[2]
_LEASE = 0.5
"""Seconds: a broken ledger loses requests, for which nobody waits long."""
_SECONDS = 300
"""After which a crowd that does not come to an end is ended."""


def crowd(place: Place, processes: int, requests: int, grants: int, broken: str = "") -> None:
    """A budget for so many grants, of which a crowd wants more; AssertionError if the ledger is wrong afterwards.

    A process that fails is a RuntimeError: it says nothing about the budget.
    """
    with place.open() as ledger:
        ledger.open("people", SumFilter(grants * EACH), neighbours="add-remove", person=False)
    told = _started(place, processes, requests, broken)
    with place.open() as ledger:
        rows = Rows.of(ledger)
        spent = Fraction(json.loads(rows.holders[0].budget)["spent"]["epsilon"])
        assert sum(told) == min(grants, processes * requests), "another number of grants than the budget is for"
        assert spent == sum(told) * EACH, "grants that are not in the budget"
        assert sum(entry.kind == "reserved" for entry in rows.entries) == sum(told)
        assert len(rows.requests) == sum(told)
        check_chain(rows)
        assert paid_in_chain(rows)[rows.holders[0].id] == spent


def _started(place: Place, processes: int, requests: int, broken: str) -> list[int]:
    command = [sys.executable, "-m", "tests.campaign.crowd", place.address, str(place.private)]
    found = subprocess.run(
        [*command, str(processes), str(requests), *filter(None, [broken])],
        cwd=_HERE,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    counts: list[int] = json.loads(found.stdout or "[]")
    if len(counts) != processes or None in counts:
        raise RuntimeError(f"a process of the crowd failed: {found.stderr.decode(errors='replace')}")
    return counts


def _ask(address: str, private: str, name: int, requests: int) -> int:
    """What one process is granted."""
    declared, granted = Declared({"age": Integers(0, 99)}), 0
    with Ledger(address, private=private, lease=_LEASE) as ledger:
        account = ledger.account("people")
        for number in range(requests):
            key = f"{name}-{number}"
            try:
                account.release(
                    key=key, what=key, form={"of": key}, offers=[(PureDP(EACH),)], run=lambda: "{}", declared=declared
                )
            except BudgetExceeded:
                continue
            granted += 1
    return granted


def _forked(address: str, private: str, name: int, requests: int) -> tuple[int, int]:
    """The process and the end of a pipe from which its count can be read."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child:
        os.close(theirs)
        return child, ours
    try:
        os.write(theirs, str(_ask(address, private, name, requests)).encode())
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def main(arguments: list[str]) -> None:
    """Start the crowd."""
    address, private, processes, requests, *broken = arguments
    with ExitStack() as stack:
        for name in broken:
            FOR_CROWDS[name](stack)
        started = [_forked(address, private, name, int(requests)) for name in range(int(processes))]
        counts: list[int | None] = []
        for child, pipe in started:
            with os.fdopen(pipe, "rb") as file:
                counts.append(int(file.read() or -1))
            os.waitpid(child, 0)
    print(json.dumps([None if count == -1 else count for count in counts]))


if __name__ == "__main__":
    main(sys.argv[1:])
