"""Servers that are killed between the debit of a release and its record: paid once, and one record."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from optcomp.release import verify_release
from tests.campaign import crash_records
from tests.system.served_centers import DATASET, Home, Server, call, make_home, serving

PLAN = {
    "data": {"rows": 300},
    "budget": {"epsilon": 1},
    "statistics": {
        "people": {"count": None, "epsilon": "1/4", "mechanism": "laplace"},
        "places": {"contingency": ["place", "age"], "epsilon": "1/2", "mechanism": "laplace"},
    },
}
"""Takes a second after its debit: forty-five thousand cells get noise."""
COST = Fraction(3, 4)
PATH, READ = f"owner/datasets/{DATASET}/releases", f"datasets/{DATASET}/releases"


def debited(home: Home) -> list[Fraction]:
    """What releases took, by the rows of the ledger alone."""
    records = crash_records.read(home.settings.ledger)
    assert records.chain_breaks() == []
    rows = [row for row in records.requests if row["kind"] == "release"]
    return [sum((Fraction(each["epsilon"]) for each in json.loads(row["paid"])), Fraction(0)) for row in rows]


def until(home: Home, waiting: int, seconds: float = 120.0) -> None:
    """Until so many releases are paid for and have no answer."""
    end = time.monotonic() + seconds
    with home.ledger() as ledger:
        while sum("a plan" in each.what for each in ledger.waiting()) != waiting:
            assert time.monotonic() < end, "it took too long"
            time.sleep(0.01)


def asks(server: Server, home: Home, told: list[Any]) -> threading.Thread:
    """Somebody who releases the plan, and may be told nothing."""

    def ask() -> None:
        try:
            told.append(call(server.url, "POST", PATH, home.tokens["olga"], {"plan": PLAN, "key": "once"}))
        except (OSError, ValueError):
            told.append(None)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


def check(server: Server, home: Home) -> None:
    """The record is there, without anybody asking for it again; and whoever does gets the same."""
    token, end = home.tokens["olga"], time.monotonic() + 120
    while call(server.url, "GET", READ, token)[1]["releases"][0]["state"] != "done":
        assert time.monotonic() < end, "it is not finished"
        time.sleep(0.05)
    (listed,) = call(server.url, "GET", READ, token)[1]["releases"]
    status, record = call(server.url, "GET", f"{READ}/{listed['id']}", token)
    assert status == 200
    assert verify_release(record).proved
    assert len(record["statistics"][1]["cells"]) > 40_000
    for body in ({"plan": PLAN, "key": "once"}, {"plan": PLAN}):
        status, again = call(server.url, "POST", PATH, token, body)
        assert status == 201
        assert again["record"] == record
    changes = call(server.url, "GET", "audit/changes", home.tokens["ruth"])[1]["entries"]
    assert [each["detail"]["release"] for each in changes if each["what"] == "released"] == [listed["id"]]
    assert debited(home) == [COST]


def test_everything_is_killed_after_the_debit(tmp_path: Path) -> None:
    home, log, told = make_home(tmp_path), tmp_path / "log", list[Any]()
    server = Server(home.path, 1, log)
    try:
        lost = asks(server, home, told)
        until(home, 1)
    finally:
        server.kill()
    lost.join(60)
    assert told == [None]
    assert debited(home) == [COST]
    assert not list((home.path / "releases").rglob("*.json"))
    with serving(home.path, 1, log) as server:
        until(home, 0)
        check(server, home)


def test_a_runner_is_killed_after_the_debit(tmp_path: Path) -> None:
    home, told = make_home(tmp_path, word="zanzibar"), list[Any]()
    with serving(home.path, 1, tmp_path / "log") as server:
        lost = asks(server, home, told)
        until(home, 1)
        (runner,) = server.workers()  # with one worker the first process serves, and what it started answers
        os.kill(runner, signal.SIGKILL)
        lost.join(60)
        (status, body) = told[0]
        assert (status, body["error"]) == (424, "not_answered")
        assert set(body) == {"error", "message"}
        status, again = call(server.url, "POST", PATH, home.tokens["olga"], {"plan": PLAN, "key": "once"})
        assert (status, again["state"]) == (201, "done")
        check(server, home)
    assert "zanzibar" not in (tmp_path / "log").read_text()


def test_killed_while_the_record_is_noted(tmp_path: Path) -> None:
    """The ledger has the answer, and the centre has not noted it; there is half a file."""
    from optcomp.center import Catalogue, Store
    from optcomp.center.release_jobs import release

    home = make_home(tmp_path)
    with Store(home.settings) as store, home.ledger() as ledger:
        catalogue = Catalogue(store, ledger)
        meant = catalogue.mean_release(DATASET, PLAN, key="once", by="olga")
        record = release(ledger, home.settings, dataset=catalogue.place_of_release(meant), plan=meant.source)["record"]
        catalogue._write(meant, json.dumps(record)[:1000])
    assert debited(home) == [COST]
    with serving(home.path, 1, tmp_path / "log") as server:
        check(server, home)
