"""Owners' jobs on a real database and a real server: a locked table holds up nobody, a restart ends them cleanly."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import select, update

from optcomp.center import Store
from optcomp.center.settings import shown_address
from optcomp.center.tables import OWNER_JOBS
from tests.servers import postgres_address
from tests.system.served_centers import DATASET, OWNER, PATIENCE, call, make_home, serving, until
from tests.system.served_centers import Server as RealServer
from tests.unit.center.served import QUESTION, Served, served
from tests.unit.center.steps_held import with_processes

API = "/api/v1/owner"
ABOUT = {"columns": [{"name": "age", "integers": [0, 99]}]}
CHECKS, WAIT = 45, 32
"""Checks at the same time, and how many of them may wait."""


@contextmanager
def locked(address: str) -> Iterator[None]:
    """A table of 100 people, which nobody can read in this block."""
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS people AS SELECT generate_series(0, 99) AS age")
        connection.commit()
        connection.execute("LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


def where(address: str) -> dict[str, Any]:
    return {"source": shown_address(address), "table": "people", "declaration": ABOUT}


@pytest.mark.slow
@pytest.mark.parametrize("databases", ["sqlite", "postgresql"])
def test_checks_of_a_locked_table_hold_up_nobody(tmp_path: Path, databases: str) -> None:
    """One is at work, 32 wait and 12 are refused; meanwhile everybody is answered, and later all 33 are."""
    with postgres_address() as address, postgres_address() as ledger, postgres_address() as database:
        given = {} if databases == "sqlite" else {"ledger": ledger, "database": database}
        with served(tmp_path / "home", with_processes, processes=False, databases=[address], **given) as centre:
            seat = centre.seat("ada")
            with locked(address):
                asked = [
                    asyncio.run_coroutine_threadsafe(
                        centre.acall("post", f"{API}/checks", "olga", where(address)), centre.loop
                    )
                    for _ in range(CHECKS)
                ]
                until(lambda: sum(each.done() for each in asked) == CHECKS - WAIT - 1, "the checks that are refused")
                until(lambda: _running(centre) == 1, "a check that is at work")
                assert _answered_meanwhile(centre, seat) == 8 * 10
                assert sum(each.done() for each in asked) == CHECKS - WAIT - 1
            found = [each.result(PATIENCE) for each in asked]
            assert sorted(each.status_code for each in found) == [200] * (WAIT + 1) + [429] * (CHECKS - WAIT - 1)
            assert {each.json()["file"]["rows"] for each in found if each.status_code == 200} == {100}
            noted = [each for each in centre.service.changes.all() if each.what == "checked the data"]
            assert len(noted) == WAIT + 1


def _running(centre: Served) -> int:
    jobs = centre.call("get", f"{API}/jobs", "olga").json()["jobs"]
    return sum(each["state"] == "running" for each in jobs)


def _answered_meanwhile(centre: Served, seat: int) -> int:
    """How many requests of others, and of the same owner, are answered."""
    requests: list[tuple[str, str, str, Any]] = [
        ("get", "/health", "ada", None),
        ("get", "/api/v1/me", "ada", None),
        ("get", "/api/v1/datasets", "ben", None),
        ("get", f"/api/v1/seats/{seat}", "ada", None),
        ("get", f"{API}/people", "olga", None),
        ("get", f"{API}/columns?source=people.parquet", "omar", None),
        ("get", "/api/v1/audit/accounts", "ruth", None),
        ("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": QUESTION, "key": "once"}),
    ]
    found = [centre.call(method, path, who, body) for _ in range(10) for method, path, who, body in requests]
    return sum(each.status_code == 200 for each in found)


@pytest.mark.slow
@pytest.mark.parametrize("killed", [True, False])
def test_a_job_is_ended_by_the_next_server(tmp_path: Path, killed: bool) -> None:
    """Killed: when the lease has run out. Stopped: at once. Nothing is registered, and the same again registers it."""
    with postgres_address() as address:
        home, log = make_home(tmp_path, databases=[address]), tmp_path / "log"
        token, body = home.tokens[OWNER], {**where(address), "name": "more", "account": DATASET}
        server = RealServer(home.path, 1, log)
        try:
            with locked(address):
                status, job = call(server.url, "POST", "owner/datasets?background=true", token, body)
                assert status == 202, job
                path = f"owner/jobs/{job['id']}"
                until(lambda: call(server.url, "GET", path, token)[1]["state"] == "running", "a job at work")
                processes = server.everybody()
                (server.behead if killed else server.stop)()
                assert not any(Path(f"/proc/{each}/fd/0").exists() for each in processes)
            with Store(home.settings) as store, store.write() as connection:
                mark = connection.scalar(select(OWNER_JOBS.c.mark))
                if killed:  # as if half a minute had passed
                    connection.execute(update(OWNER_JOBS).values(lease=0))
            left = home.settings.snapshots / "more" / f".1-{mark}.0123abcd"
            left.mkdir(parents=True)
        finally:
            if not server.ended:
                server.kill()
        with serving(home.path, 1, log) as server:
            found = call(server.url, "GET", path, token)[1]
            assert (found["state"], found["error"]["error"]) == ("interrupted", "conflict")
            assert "start it again" in found["error"]["message"]
            until(lambda: not left.exists(), "that what was left behind is removed")
            names = [each["name"] for each in call(server.url, "GET", "datasets", token)[1]["datasets"]]
            assert names == [DATASET]
            status, made = call(server.url, "POST", "owner/datasets", token, body)
            assert (status, made["version"]) == (201, 1), made
        with home.ledger() as ledger:
            assert ledger.verify().findings == ()
