"""The rows of a ledger, read without any of its code: sqlite3 or psycopg, hashlib, json, and Fernet for the states."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
from cryptography.fernet import Fernet, InvalidToken

Rows = list[dict[str, Any]]
_TABLES = ("facts", "holders", "requests", "mechanisms", "entries")
_WAIT = 180.0
"""Seconds until a server has noticed that a client was killed."""


def digest(text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Records:
    """All rows; empty if there is no ledger yet."""

    facts: Rows
    holders: Rows
    requests: Rows
    mechanisms: Rows
    entries: Rows

    @property
    def bodies(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Entries of the chain, with their bodies read."""
        return ((entry, json.loads(entry["body"])) for entry in self.entries)

    def chain_breaks(self) -> list[str]:
        """Where the chain does not follow, by its formula."""
        if not self.facts:
            return []
        (facts,) = self.facts
        head, found = digest("optcomp-ledger\n" + facts["ledger"]), []
        for n, entry in enumerate(self.entries, 1):
            listed = [entry[name] for name in ("sequence", "at", "kind", "account", "body")]
            head = digest(head + "\n" + json.dumps(listed, separators=(",", ":")))
            if (entry["sequence"], entry["head"]) != (n, head):
                found.append(f"the chain breaks at entry {n}")
        if (facts["sequence"], facts["head"]) != (len(self.entries), head):
            found.append("the chain ends elsewhere than the ledger says")
        return found

    def debited(self) -> dict[int, Fraction]:
        """What the chain says that each holder paid."""
        found = {row["id"]: Fraction(0) for row in self.holders}
        for entry, body in self.bodies:
            if entry["kind"] in ("reserved", "batch", "session"):
                payer = body["parent" if entry["kind"] == "session" else "holder"]
                found[payer] += Fraction(body["price"].get("epsilon", 0))
        return found


def read(address: str) -> Records:
    """Whatever is committed."""
    if not address.startswith("postgresql"):
        if not Path(address).exists():
            return Records([], [], [], [], [])
        with closing(sqlite3.connect(address, timeout=60)) as connection:
            return _records(lambda query: connection.execute(query), "sqlite_master", "name")
    with psycopg.connect(address) as server:
        _wait_for_others(server)
        return _records(lambda query: server.execute(query), "pg_tables", "tablename")


def _wait_for_others(server: psycopg.Connection[Any]) -> None:
    """Until nobody else is connected: what a killed client had sent may still commit."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    until = time.monotonic() + _WAIT
    while time.monotonic() < until:
        row = server.execute(others).fetchone()
        server.commit()
        if row is not None and row[0] == 0:
            return
        time.sleep(0.002)
    raise TimeoutError("a killed client is still connected")


def _records(run: Callable[[str], Any], listing: str, name: str) -> Records:
    if run(f"SELECT count(*) FROM {listing} WHERE {name} = 'facts'").fetchone()[0] == 0:
        return Records([], [], [], [], [])
    found: list[Rows] = []
    for table in _TABLES:
        order = "sequence" if table == "entries" else "id"
        answer = run(f"SELECT * FROM {table} ORDER BY {order}")
        names = [column[0] for column in answer.description]
        found.append([dict(zip(names, row, strict=True)) for row in answer.fetchall()])
    return Records(*found)


def state(private: Path, token: str) -> dict[str, Any]:
    """What a mechanism remembers: the comparison with the noisy threshold, wherever it stands inside."""
    for key in json.loads((private / "keys.json").read_text())["fernet"]:
        try:
            found: dict[str, Any] = json.loads(Fernet(key).decrypt(token.encode()))["state"]
        except InvalidToken:
            continue
        while "threshold" not in found:
            found = found["check"]
        return found
    raise ValueError("no key fits")
