"""A centre for measurements: a table of invented people, an owner, as many analysts as wanted, and a slot for each."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet
from sqlalchemy import insert, select

from optcomp.center import Catalogue, People, Settings, Store, invented_people
from optcomp.center.invented import COLUMNS
from optcomp.center.store import now
from optcomp.center.tables import PEOPLE, TOKENS
from optcomp.ledger import Ledger

OWNER, DATASET = "olga", "survey"
"""Who cuts the slots, and of what."""
_SLOT, _BUDGET = "1", "100000"
"""ε of a slot, and of the account: nobody runs out of it here."""
_STARTS_WITHIN, _ENDS_WITHIN = 120, 40
"""Seconds that a server may take."""


def make_home(home: Path, analysts: int) -> list[str]:
    """A new home in which every analyst has a slot of its own; the tokens."""
    source = home.with_name(f"{home.name}.people")
    source.mkdir()
    pyarrow.parquet.write_table(invented_people(), source / "people.parquet")
    settings = Settings.write(home, folders=[str(source)], rate=10**6, free_processor_seconds=10**6)
    with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
        People(store).add(OWNER, "owner", by=None)
        tokens = add_analysts(store, analysts)
        catalogue = Catalogue(store, ledger)
        catalogue.register(
            DATASET,
            "people.parquet",
            COLUMNS,
            epsilon=_BUDGET,
            delta="1e-3",
            person="person",
            rows_per_person=2,
            by=OWNER,
        )
        if analysts:
            catalogue.cut(DATASET, "all", dict.fromkeys(names(analysts), _SLOT), delta="1e-6", by=OWNER)
    return tokens


def names(count: int, first: int = 0) -> list[str]:
    """Of analysts."""
    return [f"analyst {number:07}" for number in range(first, first + count)]


def add_analysts(store: Store, count: int, first: int = 0) -> list[str]:
    """Register many at once, with a token each: rows like those that `People` writes, in one transaction."""
    tokens = [f"oc_{secrets.token_urlsafe(32)}" for _ in range(count)]
    if not count:
        return tokens
    with store.write() as connection:
        made = now(connection)
        people = names(count, first)
        rows = [{"name": name, "role": "analyst", "suspended": False} for name in people]
        connection.execute(insert(PEOPLE), rows)
        new = PEOPLE.c.name.between(people[0], people[-1])
        known = {row.name: row.id for row in connection.execute(select(PEOPLE.c.name, PEOPLE.c.id).where(new))}
        same = {"scope": None, "made": made, "expires": made + 86_400.0, "revoked": False}
        hashes = (hashlib.sha256(token.encode()).hexdigest() for token in tokens)
        connection.execute(
            insert(TOKENS),
            [{"person": known[name], "hash": found, **same} for name, found in zip(people, hashes, strict=True)],
        )
    return tokens


@contextmanager
def running(home: Path, *more: str) -> Iterator[dict[str, Any]]:
    """A real server on loopback: what it prints when it answers, with its process number."""
    command = [str(Path(sys.executable).with_name("optcomp")), "serve", str(home), "--port", "0", "--json", *more]
    with (home.parent / f"{home.name}.log").open("w") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
        try:
            assert server.stdout is not None
            yield {**json.loads(server.stdout.readline()), "pid": server.pid}
        finally:
            server.terminate()
            server.wait(_ENDS_WITHIN)


def memory(pid: int) -> int:
    """Bytes of a process and all that it started, each shared page counted once."""
    return sum(_pages(each) for each in [pid, *_below(pid)])


def processor_time(pid: int) -> float:
    """Seconds that a process and all that it started have worked, those that ended included."""
    ticks = 0
    for each in [pid, *_below(pid)]:
        times = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:15]
        ticks += sum(map(int, times))
    return ticks / os.sysconf("SC_CLK_TCK")


def _below(pid: int) -> list[int]:
    parents: dict[int, int] = {}
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{each}/stat").read_text()
        except OSError:
            continue
        parents[int(each)] = int(text.rpartition(")")[2].split()[1])
    found = [pid]
    for above in found:
        found += [child for child, parent in parents.items() if parent == above]
    return found[1:]


def _pages(pid: int) -> int:
    """The proportional set size."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
