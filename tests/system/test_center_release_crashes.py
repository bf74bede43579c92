"""Servers that are killed between the debit of a release and its record: paid once, and one record."""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

from optcomp.release import verify_release
from tests.campaign import crash_records
from tests.system.served_centers import (
    DATASET,
    PATIENCE,
    Home,
    Server,
    answering,
    call,
    killed_at_the_end,
    make_home,
    no_answer_is_stored,
    serving,
    until,
)

pytestmark = pytest.mark.slow

PLAN = {
    "data": {"rows": 300},
    "budget": {"epsilon": 1},
    "statistics": {
        "people": {"count": None, "epsilon": "1/4", "mechanism": "laplace"},
        "ages": {"contingency": ["region", "age"], "epsilon": "1/2", "mechanism": "laplace"},
    },
}
COST = Fraction(3, 4)
BODY = {"plan": PLAN, "key": "once"}
PATH, READ = f"owner/datasets/{DATASET}/releases", f"datasets/{DATASET}/releases"


def debited(home: Home) -> list[Fraction]:
    """What releases took, by the rows of the ledger alone."""
    records = crash_records.read(home.settings.ledger)
    assert records.chain_breaks() == []
    rows = [row for row in records.requests if row["kind"] == "release"]
    return [sum((Fraction(each["epsilon"]) for each in json.loads(row["paid"])), Fraction(0)) for row in rows]


def check(server: Server, home: Home) -> None:
    """The record is there, without anybody asking for it again; and whoever does gets the same."""
    token = home.tokens["olga"]
    until(lambda: call(server.url, "GET", READ, token)[1]["releases"][0]["state"] == "done", "a finished release")
    (listed,) = call(server.url, "GET", READ, token)[1]["releases"]
    status, record = call(server.url, "GET", f"{READ}/{listed['id']}", token)
    assert status == 200
    assert verify_release(record).proved
    assert len(record["statistics"][1]["cells"]) > 200
    for body in (BODY, {"plan": PLAN}):
        status, again = call(server.url, "POST", PATH, token, body)
        assert status == 201
        assert again["record"] == record
    changes = call(server.url, "GET", "audit/changes", home.tokens["ruth"])[1]["entries"]
    assert [each["detail"]["release"] for each in changes if each["what"] == "released"] == [listed["id"]]
    assert debited(home) == [COST]


def test_everything_is_killed_after_the_debit(tmp_path: Path) -> None:
    home, log = make_home(tmp_path), tmp_path / "log"
    with no_answer_is_stored(home), ThreadPoolExecutor(1) as beside:
        with killed_at_the_end(home.path, 1, log) as server:
            lost = beside.submit(call, server.url, "POST", PATH, home.tokens["olga"], BODY)
            home.until_waiting(1)
        with pytest.raises((OSError, ValueError)):
            lost.result(PATIENCE)
    assert debited(home) == [COST]
    assert not list((home.path / "releases").rglob("*.json"))
    with serving(home.path, 1, log) as server:
        home.until_waiting(0)
        check(server, home)


def test_a_runner_is_killed_after_the_debit(tmp_path: Path) -> None:
    home = make_home(tmp_path, word="zanzibar")
    with serving(home.path, 1, tmp_path / "log") as server, ThreadPoolExecutor(1) as beside:
        with no_answer_is_stored(home):
            lost = beside.submit(call, server.url, "POST", PATH, home.tokens["olga"], BODY)
            home.until_waiting(1)
            (runner,) = answering(server.workers())  # with one worker the first process serves
            os.kill(runner, signal.SIGKILL)
            (status, body) = lost.result(PATIENCE)
        assert (status, body["error"]) == (424, "not_answered")
        assert set(body) == {"error", "message"}
        status, again = call(server.url, "POST", PATH, home.tokens["olga"], BODY)
        assert (status, again["state"]) == (201, "done")
        check(server, home)
    assert "zanzibar" not in (tmp_path / "log").read_text()


def test_killed_while_the_record_is_noted(tmp_path: Path) -> None:
    """The ledger has the answer, and the centre has not noted it; there is half a file."""
    from optcomp.center import Catalogue, Store, desk
    from optcomp.center.release_jobs import release

    home = make_home(tmp_path)
    with Store(home.settings) as store, home.ledger() as ledger:
        catalogue = Catalogue(store, ledger)
        meant = catalogue.mean_release(DATASET, PLAN, key="once", by="olga")
        place = catalogue.place_of_release(meant)
        record = release(ledger, home.settings, dataset=place, plan=meant.source)["record"]
        catalogue._write(meant, json.dumps(record)[:1000])
        desk._OPENED.forget(place["snapshot"])
    assert debited(home) == [COST]
    with serving(home.path, 1, tmp_path / "log") as server:
        check(server, home)
