"""Measure whether work that is free for some delays the answers of others: `python -m tests.campaign.fair_service`.

For each attack a server with the default number of processes is started, and an honest analyst asks paid questions one
after another: first alone, then beside the attack, then alone again.  Printed are the 95th percentiles of her waiting
times, their ratio, and how the server answered the attackers.  Attackers are processes of their own with the lowest
priority: what slows the analyst down is what the server does for them, and not their own use of the processor.

The exit code is 1 if a ratio exceeds `--most`.  Nothing else should run on the machine meanwhile.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pyarrow
import pyarrow.parquet

from optcomp.center import Catalogue, People, Settings, Store
from optcomp.ledger import Ledger
from optcomp.statistics import Categories, Count, Integers, Quantiles, Question
from tests.servers import postgres_address, postgres_at, stop_all
from tests.system.served_centers import serving

ROWS = 20_000
COLUMNS = {
    "age": Integers(0, 99),
    "region": Categories(["north", "east", "south", "west", "centre", "islands"]),
    "place": Integers(0, 449),
}
"""What is declared of the table."""
LOCKED = "locked_people"
"""A table of a listed database which another connection has locked."""
PERCENTILE = 0.95
LONGEST = 120.0  # seconds of one phase; what has not been answered then counts with the time that it has waited
ADDRESS_SECONDS = 200.0  # seconds after which a request of an attacker is given up
FORM_BYTES = 900_000  # of a form that the server accepted from anybody before bodies without a token were limited


@dataclass(frozen=True)
class Target:
    """What an attacker knows."""

    url: str
    attacker: str
    owner: str
    seat: int

    def request(
        self, method: str, path: str, token: str | None, body: Any = None, form: dict[str, str] | None = None
    ) -> int:
        """Send a request over a connection of its own and return the status."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        data = None if body is None else json.dumps(body).encode()
        kind = "application/json"
        if form is not None:
            data, kind = urlencode(form).encode(), "application/x-www-form-urlencoded"
        where = urlsplit(self.url)
        with closing(http.client.HTTPConnection(where.hostname or "", where.port, timeout=ADDRESS_SECONDS)) as opened:
            opened.request(method, path, data, headers | {"Content-Type": kind})
            found = opened.getresponse()
            found.read()
            return found.status


@dataclass(frozen=True)
class Attack:
    """What is sent again and again by so many clients at a time."""

    clients: int
    send: Callable[[Target], int]


def _sparse_vector(positives: int) -> dict[str, Any]:
    return {
        "mechanism": "sparse vector",
        "epsilon": "1/10",
        "threshold": "1000",
        "sensitivity": 1,
        "positives": positives,
        "monotone": False,
        "refresh": True,
        "share": "1/2",
    }


def _preview(target: Target, positives: int = 1_000_000) -> int:
    body = {"mechanism": _sparse_vector(positives)}
    return target.request("POST", f"/api/v1/seats/{target.seat}/mechanisms/preview", target.attacker, body)


def _open_and_cancel(target: Target) -> int:
    key, path = secrets.token_hex(8), f"/api/v1/seats/{target.seat}"
    body = {"mechanism": _sparse_vector(1_000_000), "key": key}
    opened = threading.Thread(target=target.request, args=("POST", f"{path}/mechanisms", target.attacker, body))
    opened.start()
    time.sleep(0.1)
    status = target.request("POST", f"{path}/cancel", target.attacker, {"key": key})
    opened.join()
    return status


def _dry_run(target: Target) -> int:
    quartiles = Quantiles("place", ["1/4", "1/2", "3/4"], by=["region", "age"])
    body = {"question": Question(quartiles, epsilon="1/10").document(), "rows": 1000}
    return target.request("POST", "/api/v1/datasets/survey/dry-run", target.attacker, body)


def _check(target: Target) -> int:
    declaration = {"columns": {"age": {"integers": [0, 99]}}}
    body = {"source": os.environ[LOCKED], "table": LOCKED, "declaration": declaration}
    return target.request("POST", "/api/v1/owner/checks", target.owner, body)


def _form(target: Target) -> int:
    return target.request("POST", "/colours", None, form={"theme": "a=%&" * (FORM_BYTES // 10)})


def _fields(target: Target) -> int:
    return target.request("POST", "/colours", None, form={f"f{number}": "x" for number in range(FORM_BYTES // 10)})


def _forbidden(target: Target) -> int:
    return target.request("GET", "/api/v1/owner/people", target.attacker)


def _sign_in(target: Target) -> int:
    return target.request("POST", "/sign-in", None, form={"token": target.attacker, "next": "/"})


def _budget_request(target: Target) -> int:
    return target.request("POST", f"/api/v1/seats/{target.seat}/wishes", target.attacker, {"words": "more"})


ATTACKS = {
    "preview of a million positives": Attack(4, _preview),
    "preview of 10,000 positives": Attack(4, lambda target: _preview(target, 10_000)),
    "opened and cancelled": Attack(4, _open_and_cancel),
    "dry runs of grouped quantiles": Attack(4, _dry_run),
    "checks of a locked table": Attack(45, _check),
    "large forms without a token": Attack(4, _form),
    "forms with many fields": Attack(4, _fields),
    "forbidden requests": Attack(4, _forbidden),
    "sign-ins": Attack(4, _sign_in),
    "budget requests": Attack(4, _budget_request),
}
"""By name; a client sends its next request when it has the answer to the last one."""


def attack(name: str, target: Target) -> None:
    """Attack until standard input ends, and print how often each status came."""
    os.nice(19)
    statuses: Counter[str] = Counter()
    chosen = ATTACKS[name]

    def client() -> None:
        while True:
            try:
                statuses[str(chosen.send(target))] += 1
            except OSError as error:
                statuses[type(error).__name__] += 1
                time.sleep(0.1)

    for _ in range(chosen.clients):
        threading.Thread(target=client, daemon=True).start()
    print("attacking", flush=True)
    sys.stdin.read()
    print(json.dumps(statuses), flush=True)
    os._exit(0)  # threads may wait for answers


@contextmanager
def attacked(name: str, target: Target, found: Counter[str]) -> Iterator[None]:
    """Have an attack go on meanwhile; `found` receives how often each status came."""
    told = json.dumps([name, target.url, target.attacker, target.owner, target.seat])
    command = [sys.executable, "-m", "tests.campaign.fair_service", "--attack-now", told]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            time.sleep(3)  # until what the first requests start is at work
            yield
        finally:
            output, _ = process.communicate()
            found.update(json.loads(output or "{}"))


class Honest:
    """An analyst who asks one paid question after another."""

    def __init__(self, url: str, token: str, seat: int) -> None:
        self._where, self._token, self._seat, self._asked = urlsplit(url), token, seat, 0

    def waits(self, count: int) -> list[float]:
        """Seconds that each of so many questions took."""
        found: list[float] = []
        until = time.monotonic() + LONGEST
        while len(found) < count and time.monotonic() < until:
            self._asked += 1
            begun = time.monotonic()
            self._ask(max(1.0, until - begun))
            found.append(time.monotonic() - begun)
        return found

    def _ask(self, seconds: float) -> None:
        question = Question(Count(f"age > {self._asked % 99}"), epsilon="1/1000").document()
        body = {"question": question, "key": f"question {self._asked}"}
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection(self._where.hostname or "", self._where.port, timeout=seconds)) as to:
            try:
                to.request("POST", f"/api/v1/seats/{self._seat}/questions", json.dumps(body), headers)
                response = to.getresponse()
                answer = response.read()
            except TimeoutError:
                return  # the time counts
            assert response.status == 200, answer


def percentile(waits: Sequence[float]) -> float:
    """The smallest time that at least 95 % of the waiting times do not exceed."""
    return sorted(waits)[-(-int(100 * PERCENTILE) * len(waits) // 100) - 1]


@contextmanager
def center(folder: Path, database: str) -> Iterator[tuple[Target, Honest]]:
    """A server with the default number of processes, an attacker with a seat of hers, and an honest analyst."""
    with ExitStack() as stack:
        files = folder / "files"
        files.mkdir()
        cells: dict[str, list[Any]] = {"who": list(range(ROWS)), "age": [row % 100 for row in range(ROWS)]}
        cells["region"] = [("north", "south", "west")[row % 3] for row in range(ROWS)]
        cells["place"] = [row * 7 % 450 for row in range(ROWS)]
        pyarrow.parquet.write_table(pyarrow.table(cells), files / "people.parquet")
        listed = stack.enter_context(postgres_address())
        stack.enter_context(_locked_table(listed))
        os.environ[LOCKED] = listed
        given: dict[str, Any] = {"folders": [str(files)], "databases": [listed]}
        if database == "postgresql":
            addresses = {name: stack.enter_context(postgres_address()) for name in ("ledger", "database")}
            given |= addresses
        settings = Settings.write(folder / "home", **given)
        with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
            people, catalogue = People(store), Catalogue(store, ledger)
            people.add("olga", "owner", by=None)
            for name in ("ada", "eve"):
                people.add(name, "analyst", by="olga")
            budget: dict[str, Any] = {"account": "survey", "epsilon": "100", "delta": "1e-3"}
            catalogue.register("survey", "people.parquet", COLUMNS, person="who", **budget, free=True, by="olga")
            shares = {"ada": ("10", "0"), "eve": ("10", "0")}
            catalogue.cut("survey", "first", shares, delta="1e-9", by="olga")
            tokens = {name: people.token(name, by="olga") for name in ("olga", "ada", "eve")}
            seats = {name: catalogue.seats(name)[0].id for name in ("ada", "eve")}
        server = stack.enter_context(serving(settings.home, 1, folder / "log"))
        target = Target(server.url, tokens["eve"], tokens["olga"], seats["eve"])
        yield target, Honest(server.url, tokens["ada"], seats["ada"])


@contextmanager
def _locked_table(address: str) -> Iterator[None]:
    """A table that nobody else can read meanwhile."""
    with postgres_at(address) as holder:
        with holder.con.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {LOCKED} (who BIGINT, age BIGINT)")
        holder.con.commit()
        with holder.con.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(f"LOCK TABLE {LOCKED} IN ACCESS EXCLUSIVE MODE")
            yield
        holder.con.rollback()


def measure(name: str, database: str, questions: int) -> float:
    """Print one row of the table and return the ratio."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="optcomp-fair-") as folder, center(Path(folder), database) as (to, honest):
        honest.waits(10)  # what is slow at first is no attack
        alone = honest.waits(questions)
        with attacked(name, to, found):
            beside = honest.waits(questions)
        time.sleep(1)
        after = honest.waits(questions)
    before, during = percentile(alone + after), percentile(beside)
    statuses = ", ".join(f"{count} × {status}" for status, count in sorted(found.items()))
    ratio = during / before
    times = f"{before * 1000:.0f} ms | {during * 1000:.0f} ms | {ratio:.1f}"
    print(f"| {name} | {database} | {times} | {statuses} |", flush=True)
    return ratio


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaign.fair_service", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--only", nargs="+", choices=ATTACKS, default=list(ATTACKS), metavar="ATTACK", help="by name")
    parser.add_argument("--database", nargs="+", choices=("sqlite", "postgresql"), default=["sqlite", "postgresql"])
    parser.add_argument("--questions", type=int, default=60, help="in each phase (%(default)s)")
    parser.add_argument("--most", type=float, default=3.0, help="ratio from which on the exit code is 1 (%(default)s)")
    parser.add_argument("--attack-now", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.attack_now:
        name, *about = json.loads(options.attack_now)
        attack(name, Target(*about))
    print("| attack | database | 95th percentile alone | beside the attack | ratio | answers to the attackers |")
    print("|---|---|---|---|---|---|", flush=True)
    try:
        ratios = [measure(name, database, options.questions) for database in options.database for name in options.only]
    finally:
        stop_all()
    return int(max(ratios) > options.most)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
