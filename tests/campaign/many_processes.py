"""Many processes ask on one account until its budget is gone; exit code 1 on any finding.

`shared`: all in one session, a tenth of their requests under keys that all of them use.  `own`: each in a session of
its own, of which the last does not fit any more.  `releases`: each debits the account itself.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from optcomp.errors import BudgetExceeded
from optcomp.guarantees import PureDP
from optcomp.interactive import SumFilter
from optcomp.ledger import Account, Ledger
from optcomp.statistics import Count, Table
from tests.campaign import crash_records
from tests.campaign.crash_worker import Place
from tests.campaign.crashes import DATABASES, addresses, place_of, warmed

MODES = ("shared", "own", "releases")
PRICE = Fraction(1, 1000)
"""ε of every request."""
SHARED = 10
"""Every tenth request of the first mode has a key that all processes use."""
_KINDS = {"shared": "question", "own": "question", "releases": "release"}


@dataclass(frozen=True)
class Size:
    """How many do how much."""

    mode: str
    processes: int
    requests: int

    @property
    def distinct(self) -> int:
        """Requests with different keys."""
        common = len(range(0, self.requests, SHARED)) if self.mode == "shared" else 0
        return self.processes * (self.requests - common) + common

    @property
    def fitting(self) -> int:
        """Requests that the budget has room for."""
        return (self.processes - 1) * (self.requests // 2) if self.mode == "own" else self.distinct // 2

    @property
    def quota(self) -> Fraction:
        """Of a session."""
        return PRICE * (self.requests // 2 if self.mode == "own" else self.fitting)

    @property
    def budget(self) -> Fraction:
        """Of the account: in `own` half a session too little."""
        return self.quota * (2 * self.processes - 1) / 2 if self.mode == "own" else PRICE * self.fitting


def asking(account: Account, table: Table, size: Size, number: int) -> Callable[[int], str]:
    """What a process does for its n-th request; its answer."""
    if size.mode == "releases":

        def release(n: int) -> str:
            key, offers = f"{number} {n}", [(PureDP(PRICE),)]
            found = account.release(
                key=key, what="a count", form={"n": key}, offers=offers, run=lambda: key, declared=table
            )
            return found.answer

        return release
    session = account.session(table, SumFilter(size.quota), name="all" if size.mode == "shared" else f"s{number}")

    def ask(n: int) -> str:
        common = size.mode == "shared" and n % SHARED == 0
        who = "all" if common else str(number)
        repeat = n if common else n + (number + 1) * 10**6
        found = session.ask(Count("age > 40"), epsilon=PRICE, key=f"{who} {n}", repeat=repeat)
        return json.dumps(found.document(), sort_keys=True)

    return ask


def client(place: Place, size: Size, number: int, ready: int, go: int) -> dict[str, Any]:
    """One process: what it was granted, and how long it took."""
    table = Table.open(place.snapshot)
    with Ledger(place.address, private=place.private) as ledger:
        account, granted, refused = ledger.account("people"), dict[str, str](), 0
        os.close(ready)
        os.read(go, 1)  # until the parent closes it
        start = time.time()
        try:
            ask = asking(account, table, size, number)
        except BudgetExceeded:
            return {"granted": {}, "refused": size.requests, "start": start, "end": time.time()}
        for n in range(size.requests):
            try:
                answer = ask(n)
            except BudgetExceeded:
                refused += 1
            else:
                common = size.mode == "shared" and n % SHARED == 0
                granted[f"{'all' if common else number} {n}"] = answer
        return {"granted": granted, "refused": refused, "start": start, "end": time.time()}


def run_clients(place: Place, size: Size, folder: Path) -> list[dict[str, Any]]:
    """All at once, each a process of its own."""
    waiting, go = os.pipe()
    heard, ready = os.pipe()
    paths = [folder / f"{token_hex(8)}.json" for _ in range(size.processes)]
    children: list[int] = []
    try:
        for number, path in enumerate(paths):
            child = os.fork()
            if child == 0:
                os.close(go)
                _end_with(path, partial(client, place, size, number, ready, waiting))
            children.append(child)
        os.close(ready)
        os.read(heard, 1)  # until all children have closed it: they are ready, or have failed
        os.close(go)
        while children:
            os.waitpid(children[-1], 0)
            children.pop()
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    os.close(waiting)
    os.close(heard)
    return [json.loads(path.read_text()) for path in paths]


def _end_with(path: Path, work: Callable[[], dict[str, Any]]) -> NoReturn:
    """What a forked process does, and writes into a file."""
    try:
        found = work()
    except BaseException:  # whatever it is
        found = {"error": traceback.format_exc()}
    path.write_text(json.dumps(found))
    os._exit(0)


def judged(place: Place, size: Size, found: list[dict[str, Any]]) -> list[str]:
    """Everything that is wrong: by sums of Fractions over what was granted, against the rows and the chain."""
    wrong = [f"unexpected error: {each['error']}" for each in found if "error" in each]
    if wrong:
        return wrong
    told: dict[str, set[str]] = {}
    for number, each in enumerate(found):
        for key, answer in each["granted"].items():
            told.setdefault(f"{number} {key}" if size.mode == "own" else key, set()).add(answer)
    records = crash_records.read(place.address)
    wrong += records.chain_breaks()
    debited, kind = records.debited(), _KINDS[size.mode]
    rows = [row for row in records.requests if row["kind"] == kind]
    payers = {row["holder"] for row in rows}
    if any(len(answers) != 1 for answers in told.values()):
        wrong.append("two answers under one key")
    if len(told) != size.fitting or len(rows) != len(told) or any(row["state"] == "reserved" for row in rows):
        wrong.append(f"{len(told)} granted, {len(rows)} in the ledger, {size.fitting} fit")
    if sum(entry["kind"] == "reserved" for entry in records.entries) != len(rows):
        wrong.append("not every grant is in the chain")
    if sum(debited[payer] for payer in payers) != PRICE * len(told):
        wrong.append("the chain has other debits than were granted")
    for row in records.holders:
        budget = json.loads(row["budget"])
        spent, cap = Fraction(budget["spent"]["epsilon"]), Fraction(budget["parameters"]["epsilon"])
        if spent != debited[row["id"]] or spent > cap or (row["id"] in payers and spent != cap):
            wrong.append(f"{row['name']}: spent {spent} of {cap}, debited {debited[row['id']]}")
    stored = {row["answer"] for row in rows}
    read = {json.dumps(json.loads(answer), sort_keys=True) if size.mode != "releases" else answer for answer in stored}
    if not {answer for answers in told.values() for answer in answers} <= read:
        wrong.append("an answer was told that is not stored")
    return wrong


def measure(folder: Path, snapshot: Path, database: str, address: str, size: Size) -> list[str]:
    """Run once on an empty database, print the figures, return the findings."""
    place = place_of(folder, token_hex(8), address, snapshot)
    child = os.fork()
    if child == 0:
        with Ledger(place.address, private=place.private) as ledger:
            ledger.open("people", SumFilter(size.budget))
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        return ["the account could not be opened"]
    found = run_clients(place, size, folder)
    wrong = judged(place, size, found)
    if any("error" in each for each in found):
        return wrong
    seconds = max(each["end"] for each in found) - min(each["start"] for each in found)
    granted, refused = (sum(map(count, found)) for count in (lambda e: len(e["granted"]), lambda e: e["refused"]))
    asked = f"{database:>9}{size.mode:>9}: {size.processes} x {size.requests} requests in {seconds:.1f} s"
    rate = f"{(granted + refused) / seconds:.0f} a second"
    print(
        f"{asked}, {rate}, {granted} granted ({size.fitting} debits), {refused} refused, {len(wrong)} findings",
        flush=True,
    )
    return wrong


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.many_processes", description=__doc__)
    parser.add_argument("--processes", type=int, default=8, help="(%(default)s)")
    parser.add_argument("--requests", type=int, default=2000, help="of each process (%(default)s)")
    parser.add_argument("--database", choices=(*DATABASES, "both"), default="both", help="(%(default)s)")
    parser.add_argument("--server", help="the address of a PostgreSQL that runs; else one is started")
    parser.add_argument("--mode", action="append", choices=MODES, help="only this one (may be repeated)")
    options = parser.parse_args(arguments)
    wrong = []
    with TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True) as home:
        folder = Path(home)
        snapshot = warmed(folder)
        for database in DATABASES if options.database == "both" else (options.database,):
            with addresses(database, folder, options.server) as fresh:
                for mode in options.mode or MODES:
                    size = Size(mode, options.processes, options.requests)
                    wrong += measure(folder, snapshot, database, next(fresh), size)
    for line in wrong:
        print("FOUND", line)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
