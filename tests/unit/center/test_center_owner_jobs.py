"""Jobs of owners: in the background, with progress, cancelled, bounded, ended cleanly; the web process reads no source.

What is about rows, rights and turns is tested without processes.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pyarrow
import pyarrow.parquet
import pytest
from sqlalchemy import insert, select, update

from optcomp.center import Settings, Store
from optcomp.center.choices import Choices
from optcomp.center.folders import new_folder, remove_leftovers
from optcomp.center.owner_jobs import OwnerJobs
from optcomp.center.persons import Person, person_named
from optcomp.center.tables import FACTS, OWNER_JOBS, TOKENS, VERSION, VERSIONS
from optcomp.ledger import verify_export
from tests.servers import empty_database
from tests.unit.center.homes import Centre
from tests.unit.center.served import PATIENCE, SECRET, Served, served
from tests.unit.center.steps_held import go_on, hold, until_held, with_processes, with_processes_held

OWNER = "/api/v1/owner"
ABOUT = {"person": "who", "columns": [{"name": "age", "integers": [0, 99]}]}
BODY = {"name": "more", "source": "people.parquet", "declaration": ABOUT, "account": "survey"}
NEW = BODY | {"name": "new", "account": "new", "epsilon": "3", "delta": "1e-6", "disjoint": True}


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("jobs") / "home", processes=False) as found:
        yield found


def started(centre: Served, path: str, body: Any, who: str = "olga") -> int:
    """The number of a job in the background."""
    found = centre.call("post", f"{OWNER}/{path}?background=true", who, body)
    assert found.status_code == 202, found.text
    assert found.headers["location"] == f"{OWNER}/jobs/{found.json()['id']}"
    return int(found.json()["id"])


def ended(centre: Served, number: int, who: str = "olga") -> dict[str, Any]:
    """A job when it has ended."""

    async def awaited() -> Any:
        while True:
            found = (await centre.acall("get", f"{OWNER}/jobs/{number}", who)).json()
            if found["state"] not in ("waiting", "running"):
                return found
            await asyncio.sleep(0.02)

    return dict(centre.wait(asyncio.wait_for(awaited(), PATIENCE)))


def mark(store: Store, number: int) -> str:
    """What is in the names of folders that a job makes."""
    with store.read() as connection:
        return str(connection.scalar(select(OWNER_JOBS.c.mark).where(OWNER_JOBS.c.id == number)))


def folders(centre: Served, name: str) -> list[str]:
    folder = centre.settings.snapshots / name
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


def removed(centre: Served, name: str) -> bool:
    """Whether what a job has left goes away, soon after its end."""

    async def awaited() -> None:
        while folders(centre, name):
            await asyncio.sleep(0.02)

    centre.wait(asyncio.wait_for(awaited(), PATIENCE))
    return True


def names(centre: Served) -> list[str]:
    return [each.name for each in centre.service.catalogue.datasets()]


def test_a_job_in_the_background_has_the_same_result(centre: Served) -> None:
    number = started(centre, "datasets", BODY)
    found = ended(centre, number)
    assert (found["state"], found["kind"], found["who"], found["account"]) == ("done", "register", "olga", "survey")
    assert found["about"] == "more, people.parquet"
    assert found["asked"] <= found["began"] <= found["ended"]
    known = centre.service.catalogue.dataset("more")
    assert found["result"] == {**known.document(), "account": "survey"}
    assert known.snapshot.name == f"1-{mark(centre.service.store, number)}"
    listed = centre.call("get", f"{OWNER}/jobs", "omar").json()["jobs"]
    assert [each["result"] for each in listed if each["id"] == number] == [None]
    renewed = ended(centre, started(centre, "datasets/more/versions", {"source": "people.parquet"}))
    assert (renewed["state"], renewed["result"]["version"]) == ("done", 2)
    assert centre.service.catalogue.dataset("more").snapshot.name == f"2-{mark(centre.service.store, renewed['id'])}"
    for path, key in (("sources", "entries"), ("columns", "columns"), ("dialect", "dialect")):
        source = {} if path == "sources" else {"source": "people.parquet"}
        asked = centre.call("get", f"{OWNER}/{path}", "olga", params={**source, "background": True})
        waited = centre.call("get", f"{OWNER}/{path}", "olga", params=source)
        assert ended(centre, asked.json()["id"])["result"] == waited.json()
        assert key in waited.json()
    again = ended(centre, started(centre, "datasets", BODY))
    refused = centre.call("post", f"{OWNER}/datasets", "olga", BODY)
    assert (again["state"], refused.status_code) == ("failed", 409)
    assert again["error"] == refused.json()
    assert centre.call("post", f"{OWNER}/jobs/{number}/cancel", "olga").json() == {"cancelled": False}


def test_what_was_waited_for_is_listed_and_looks_are_not(centre: Served) -> None:
    before = centre.call("get", f"{OWNER}/jobs", "olga").json()["jobs"]
    check = {"source": "people.parquet", "declaration": ABOUT}
    assert centre.call("post", f"{OWNER}/checks", "olga", check).status_code == 200
    for path in ("sources", "columns?source=people.parquet", "dialect?source=people.parquet"):
        assert centre.call("get", f"{OWNER}/{path}", "olga").status_code == 200
    after = centre.call("get", f"{OWNER}/jobs", "olga").json()["jobs"]
    assert [each["kind"] for each in after[: len(after) - len(before)]] == ["check"]


def test_exact_numbers_are_for_whoever_asked(centre: Served) -> None:
    number = started(centre, "checks", {"source": "people.parquet", "declaration": ABOUT})
    assert ended(centre, number)["result"]["file"]["rows"] == 200
    assert ended(centre, number, "omar")["result"] is None
    assert SECRET not in str(ended(centre, number))


def test_jobs_of_other_accounts_are_not_there(centre: Served) -> None:
    people = centre.service.people
    centre.tokens["narrow olga"] = people.token("olga", scope=["survey"], by="olga")
    centre.tokens["narrow omar"] = people.token("omar", scope=["other"], by="omar")
    check = {"source": "people.parquet", "declaration": ABOUT}
    wide, narrow = started(centre, "checks", check), started(centre, "checks", check, "narrow olga")
    about = started(centre, "datasets", BODY)
    for number in (wide, narrow, about):
        ended(centre, number)
    seen = {
        "olga": {wide, narrow, about},
        "omar": {wide, narrow, about},
        "narrow olga": {narrow, about},  # not what her other token looked at
        "narrow omar": set(),
    }
    absent = centre.call("get", f"{OWNER}/jobs/99999", "narrow omar").json()
    for who, numbers in seen.items():
        listed = {each["id"] for each in centre.call("get", f"{OWNER}/jobs", who).json()["jobs"]}
        assert listed & {wide, narrow, about} == numbers, who
        for number in {wide, narrow, about} - numbers:
            for method, path in (("get", f"jobs/{number}"), ("post", f"jobs/{number}/cancel")):
                found = centre.call(method, f"{OWNER}/{path}", who)
                assert found.status_code == 404
                assert found.json()["message"].replace(str(number), "99999") == absent["message"]


def test_an_account_that_a_token_is_not_for_gets_no_job(centre: Served) -> None:
    centre.tokens["strange omar"] = centre.service.people.token("omar", scope=["elsewhere"], by="omar")
    number = started(centre, "datasets", BODY, "strange omar")
    found = ended(centre, number)
    assert (found["state"], found["account"]) == ("failed", None)


def test_a_password_is_in_no_job(centre: Served) -> None:
    address = "postgresql://olga:hunter2@127.0.0.1:1/people?password=hunter2"
    for path, body in (("checks", {"source": address, "declaration": ABOUT}), ("datasets", NEW | {"source": address})):
        found = ended(centre, started(centre, path, body | {"table": "people"}))
        assert found["state"] == "failed"
        assert "postgresql://127.0.0.1:1/people" in found["about"]
        assert "hunter2" not in str(found)
    with centre.service.store.read() as connection:
        assert "hunter2" not in str(connection.execute(select(OWNER_JOBS)).all())


def test_two_owners_in_the_background(tmp_path: Path) -> None:
    with served(tmp_path / "home", processes=False, two_persons=True) as centre:
        waits = ended(centre, started(centre, "datasets", BODY))
        assert waits["state"] == "done"
        number = waits["result"]["confirmation"]
        assert "more" not in names(centre)
        done = ended(centre, started(centre, f"confirmations/{number}", None, "omar"))
        assert (done["state"], done["result"]["second"], done["result"]["made"]["name"]) == ("done", "omar", "more")
        (noted,) = [each for each in centre.service.changes.all() if each.detail.get("name") == "more"]
        assert (noted.what, noted.who, noted.second) == ("registered", "olga", "omar")


@pytest.mark.slow
def test_waiting_jobs_of_an_owner_are_limited(tmp_path: Path) -> None:
    """One is at work and three wait; the fifth is refused, and the other owner comes in between."""
    with served(tmp_path / "home", with_processes_held, processes=False, waiting=3) as centre:
        hold(centre.settings.home, "read")
        numbers = [started(centre, "datasets", NEW | {"name": f"n{each}"}) for each in range(4)]
        centre.wait(until_held(centre.settings.home))
        refused = centre.call("post", f"{OWNER}/datasets?background=true", "olga", NEW)
        assert (refused.status_code, refused.json()["error"]) == (429, "too_many")
        assert "wait already" in refused.json()["message"]
        other = started(centre, "datasets", NEW | {"name": "other"}, "omar")
        cancelled = numbers.pop()
        assert centre.call("post", f"{OWNER}/jobs/{cancelled}/cancel", "omar").json() == {"cancelled": True}
        assert ended(centre, cancelled)["state"] == "cancelled"
        go_on(centre.settings.home)
        order = sorted((ended(centre, each)["ended"], each) for each in (*numbers, other))
        assert [each for _, each in order] == [numbers[0], numbers[1], other, numbers[2]]
        assert names(centre) == ["n0", "n1", "n2", "other", "survey"]


STEPS = ["read", "frozen", "account opened", "noted", "registered"]
KILLED = [(step, "sqlite") for step in STEPS] + [(step, "postgresql") for step in STEPS[2:]]


@pytest.mark.slow
@pytest.mark.parametrize(("step", "databases"), KILLED)
def test_kill_9_leaves_nothing_or_all_of_it(
    tmp_path: Path, step: str, databases: str, request: pytest.FixtureRequest
) -> None:
    """Whenever the process is killed: either nothing is registered, and the same again registers it, or all is."""
    given = {}
    if databases == "postgresql":
        ledger, database = request.getfixturevalue("center_databases")
        for address in (ledger, database):
            empty_database(address)
        given = {"ledger": ledger, "database": database}
    with served(tmp_path / "home", with_processes_held, processes=False, **given) as centre:
        hold(centre.settings.home, step)
        number = started(centre, "datasets", NEW)
        centre.wait(until_held(centre.settings.home))
        (process,) = centre.service.preparers.processes
        os.kill(process, signal.SIGKILL)
        found = ended(centre, number)
        go_on(centre.settings.home)
        done = step == "registered"
        assert found["state"] == ("done" if done else "failed")
        assert folders(centre, "new") == [f"1-{mark(centre.service.store, number)}"] if done else removed(centre, "new")
        assert ("new" in names(centre)) == done
        if not done:
            assert "Nothing was registered" in found["error"]["message"]
            assert ended(centre, started(centre, "datasets", NEW))["state"] == "done"
        noted = [each.what for each in centre.service.changes.all() if each.detail.get("name") == "new"]
        assert noted == ["registered"]
        assert [each.name for each in centre.service.ledger.accounts()] == ["survey", "new"]
        assert centre.service.ledger.verify().findings == ()
        body = {"batch": "b", "slots": {"ada": {"epsilon": "1"}}, "delta": "1e-9"}
        assert centre.call("post", f"{OWNER}/datasets/new/batches", "olga", body).status_code == 201
        export = centre.call("get", "/api/v1/audit/export", "ruth").json()["text"]
        (tmp_path / "export").write_text(export, encoding="utf8")
        assert verify_export(tmp_path / "export").findings == ()


@pytest.mark.slow
@pytest.mark.parametrize("by_flag", [False, True])
def test_cancelling_ends_the_process_and_removes_what_it_wrote(tmp_path: Path, by_flag: bool) -> None:
    """Here, or by a row that another worker wrote."""
    with served(tmp_path / "home", with_processes_held, processes=False) as centre:
        hold(centre.settings.home, "frozen")
        number = started(centre, "datasets", NEW)
        centre.wait(until_held(centre.settings.home))
        (process,) = centre.service.preparers.processes
        running = centre.call("get", f"{OWNER}/jobs/{number}", "olga").json()
        assert (running["state"], running["step"]) == ("running", "entering it")
        assert folders(centre, "new") == [f"1-{mark(centre.service.store, number)}"]
        if by_flag:
            with centre.service.store.read() as connection:
                olga = person_named(connection, "olga")
            assert OwnerJobs(centre.service.store).cancel(number, olga)
        else:
            assert centre.call("post", f"{OWNER}/jobs/{number}/cancel", "olga").json() == {"cancelled": True}
        found = ended(centre, number)
        go_on(centre.settings.home)
        assert (found["state"], found["error"]["error"]) == ("cancelled", "conflict")
        assert found["error"]["message"] == "The job was cancelled. Nothing was registered."
        assert removed(centre, "new")
        assert ended(centre, started(centre, "datasets", NEW))["state"] == "done"
        assert process not in centre.service.preparers.processes


@pytest.mark.slow
def test_a_job_past_its_time_is_ended(tmp_path: Path) -> None:
    with served(tmp_path / "home", with_processes_held, processes=False, prepare_seconds=0.5) as centre:
        hold(centre.settings.home, "read")
        found = centre.call("post", f"{OWNER}/datasets", "olga", NEW)
        go_on(centre.settings.home)
        assert (found.status_code, found.json()["error"]) == (409, "conflict")
        assert "longer than the 0.5 seconds" in found.json()["message"]
        assert (folders(centre, "new"), names(centre)) == ([], ["survey"])
        (job,) = centre.call("get", f"{OWNER}/jobs", "olga").json()["jobs"]
        assert (job["state"], job["error"]) == ("failed", found.json())


@pytest.mark.slow
def test_a_library_that_gets_no_more_memory_refuses_the_file(tmp_path: Path) -> None:
    """A cell of 300 megabytes, which takes no space in its file."""
    with served(tmp_path / "home", with_processes, processes=False, preparer_memory=300) as centre:
        table = pyarrow.table({"who": ["a" * 300_000_000], "age": [1]})
        pyarrow.parquet.write_table(table, centre.settings.folders[0] / "large.parquet", compression="zstd")
        found = centre.call("post", f"{OWNER}/datasets", "olga", NEW | {"source": "large.parquet"})
        assert (found.status_code, folders(centre, "new"), names(centre)) == (422, [], ["survey"])
        assert "ArrowMemoryError" in found.json()["message"]
        assert centre.call("post", f"{OWNER}/datasets", "olga", NEW).status_code == 201


@pytest.mark.slow
def test_a_process_that_gets_no_more_memory_ends(tmp_path: Path) -> None:
    """It asks for a gigabyte, and the operating system refuses it: another process takes its place."""
    with served(tmp_path / "home", with_processes_held, processes=False, preparer_memory=300) as centre:
        hold(centre.settings.home, "gigabyte")
        found = centre.call("post", f"{OWNER}/datasets", "olga", NEW)
        assert (found.status_code, found.json()["error"]) == (409, "conflict"), found.text
        assert "preparer_memory" in found.json()["message"]
        assert (folders(centre, "new"), names(centre)) == ([], ["survey"])
        hold(centre.settings.home, "read")
        go_on(centre.settings.home)
        assert centre.call("post", f"{OWNER}/datasets", "olga", NEW).status_code == 201


@pytest.mark.slow
def test_a_service_that_ends_interrupts_its_jobs(tmp_path: Path) -> None:
    with served(tmp_path / "home", with_processes_held, processes=False) as centre:
        hold(centre.settings.home, "frozen")
        number = started(centre, "datasets", NEW)
        centre.wait(until_held(centre.settings.home))
    with Store(centre.settings) as store, store.read() as connection:
        row = connection.execute(select(OWNER_JOBS).where(OWNER_JOBS.c.id == number)).one()
        assert row.state == "interrupted"
        assert "start it again" in row.error
    assert folders(centre, "new") == []


def olga_of(centre: Centre) -> Person:
    with centre.store.read() as connection:
        return person_named(connection, "olga")


def test_a_job_whose_worker_is_gone_is_interrupted_and_can_register_nothing(centre_of_files: Centre) -> None:
    place = centre_of_files
    jobs, olga = OwnerJobs(place.store), olga_of(place)
    lost, _ = jobs.add("register", olga, {"name": "people"}, account=None, key="once")
    kept, _ = jobs.add("check", olga, {}, account=None, key=None)
    jobs.begin(lost)
    assert jobs.add("register", olga, {}, account=None, key="once") == (lost, False)
    with place.store.write() as connection:
        connection.execute(update(OWNER_JOBS).where(OWNER_JOBS.c.id == lost).values(lease=0))
    assert jobs.add("register", olga, {}, account=None, key="once")[1]
    found = jobs.job(lost, olga)
    assert (found.state, found.active, jobs.job(kept, olga).state) == ("interrupted", False, "waiting")
    assert jobs.to_stop([lost, kept]) == [lost]
    slow = type(place.catalogue)(place.store, place.ledger, job=lost)  # it was alive after all, and is too late
    given: dict[str, Any] = {"declaration": {"columns": [{"name": "age", "integers": [0, 99]}]}, "by": "olga"}
    with pytest.raises(Exception, match="ended meanwhile; nothing was registered"):
        slow.register("people", place.file(), **given, epsilon="3", delta="1e-6")
    assert place.catalogue.datasets() == []
    assert jobs.job(lost, olga).state == "interrupted"
    assert remove_leftovers(place.store) == [f"people/1-{mark(place.store, lost)}"]
    made = place.catalogue.register("people", place.file(), **given, epsilon="3", delta="1e-6")
    assert made.snapshot.name == "1"


@pytest.fixture
def centre_of_files(tmp_path: Path) -> Iterator[Centre]:
    (tmp_path / "data").mkdir()
    made = Centre(tmp_path / "home", tmp_path / "data")
    yield made
    made.close()


def test_leftovers_are_those_of_jobs_that_ended_and_registered_nothing(centre_of_files: Centre) -> None:
    place = centre_of_files
    jobs, olga = OwnerJobs(place.store), olga_of(place)
    at_work, over, done = (jobs.add("register", olga, {}, account=None, key=None)[0] for _ in range(3))
    jobs.end(over, "failed", error={"error": "conflict"})
    working, ended, good = (mark(place.store, each) for each in (at_work, over, done))
    made = place.register()
    with place.store.write() as connection:
        values = {"version": 2, "snapshot": f"snapshots/people/2-{ended}", "mark": "x"}
        connection.execute(insert(VERSIONS).values(dataset=made.id, **values))
    jobs.end(done, "done")
    folder, unknown = place.settings.snapshots / "people", "f" * 16
    kept = ["1", ".9.0123abcd", "notes", f"2-{ended}", f"3-{working}", f".4-{working}.0123abcd", f"7-{good}"]
    kept.append(f"8-{unknown}")  # of a job that a database which was put back has forgotten
    left = [f"5-{ended}", f".6-{ended}.89abcdef"]
    for name in [*kept, *left]:
        (folder / name).mkdir(exist_ok=True)
    assert sorted(remove_leftovers(place.store)) == sorted(f"people/{name}" for name in left)
    assert sorted(each.name for each in folder.iterdir()) == sorted(kept)
    assert new_folder(folder, None).name == "9"
    assert new_folder(folder, unknown).name == f"9-{unknown}"


def test_old_jobs_are_forgotten(centre_of_files: Centre) -> None:
    jobs, olga = OwnerJobs(centre_of_files.store), olga_of(centre_of_files)
    old, _ = jobs.add("check", olga, {}, account=None, key=None)
    jobs.end(old, "done", result={"rows": 1})
    with centre_of_files.store.write() as connection:
        week = OWNER_JOBS.c.ended - 8 * 86400
        connection.execute(update(OWNER_JOBS).values(ended=week))
    new, _ = jobs.add("check", olga, {}, account=None, key=None)
    assert [each.id for each in jobs.all(olga)] == [new]


def test_a_database_of_version_3_gets_jobs_and_keeps_the_scopes_of_tokens(centre_of_files: Centre) -> None:
    """Scopes name accounts since version 3: an account that is called like nothing else stays in them."""
    place = centre_of_files
    place.people.token("olga", scope=["an account"], by="olga")
    with place.store.write() as connection:
        before = connection.execute(select(TOKENS)).all()
        OWNER_JOBS.drop(connection)
        connection.execute(update(FACTS).values(version=3))
    with Store(place.settings, create=False) as store, store.read() as connection:
        assert connection.execute(select(TOKENS)).all() == before
        assert connection.execute(select(OWNER_JOBS)).all() == []
        assert connection.scalar(select(FACTS.c.version)) == VERSION


_OPENED: list[str] = []
sys.addaudithook(lambda event, given: _OPENED.append(str(given[0])) if event in ("open", "sqlite3.connect") else None)


@contextmanager
def opened_here() -> Iterator[Callable[[str], list[str]]]:
    """Which files are opened in this process, by Python or by the libraries that read tables."""
    with patch.object(duckdb, "connect", side_effect=AssertionError("an engine in the web process")) as engine:
        files = pyarrow.parquet.ParquetFile
        with patch.object(pyarrow.parquet, "ParquetFile", side_effect=lambda path, **more: opened(path, **more)):

            def opened(path: Any, **more: Any) -> Any:
                _OPENED.append(str(path))
                return files(path, **more)

            start = len(_OPENED)
            yield lambda folder: [each for each in _OPENED[start:] if each.startswith(folder)]
        assert not engine.called


@pytest.mark.slow
def test_the_web_process_reads_no_source(tmp_path: Path) -> None:
    """Whatever owners do with files of every kind; and a read in this process would be noticed."""
    with served(tmp_path / "home", with_processes, processes=False, two_persons=True) as centre:
        folder = centre.settings.folders[0]
        (folder / "lines.csv").write_text("who,age\n" + "".join(f"{each},{each}\n" for each in range(30)), "utf8")
        with sqlite3.connect(folder / "rows.sqlite") as database:
            database.execute("CREATE TABLE people AS SELECT 'a' AS who, 7 AS age")
        database.close()
        sources = [("people.parquet", None), ("lines.csv", None), ("rows.sqlite", "people")]
        with opened_here() as opened:
            listed = centre.call("get", f"{OWNER}/sources", "olga").json()["entries"]
            assert len(listed) == len(sources)
            for source, table in sources:
                where = {"source": source, "table": table}
                query = {name: value for name, value in where.items() if value is not None}
                assert "age" in centre.call("get", f"{OWNER}/columns", "olga", params=query).text
                assert centre.call("get", f"{OWNER}/dialect", "olga", params={"source": source}).status_code == 200
                check = centre.call("post", f"{OWNER}/checks", "olga", {**where, "declaration": ABOUT})
                assert check.status_code == 200, check.text
                name = source.partition(".")[0]
                for path, body in (("datasets", BODY | where | {"name": name}), (f"datasets/{name}/versions", where)):
                    asked = centre.call("post", f"{OWNER}/{path}", "olga", body)
                    assert asked.status_code == 202, asked.text
                    confirm = f"{OWNER}/confirmations/{asked.json()['confirmation']}"
                    assert centre.call("post", confirm, "omar").status_code == 200
            assert {"people", "lines", "rows"} < set(names(centre))
            assert opened(str(folder)) == []
            choices = Choices(centre.service.store)
            for source, table in sources:
                choices.columns(source, table)
            assert {Path(each.partition("?")[0]).name for each in opened(str(folder))} >= {
                "people.parquet",
                "lines.csv",
            }


def test_settings_of_processes_for_owners(tmp_path: Path) -> None:
    found = Settings.write(tmp_path / "home", preparers=2, prepare_seconds=0.5, preparer_memory=0)
    assert (found.preparers, found.prepare_seconds, found.preparer_memory) == (2, 0.5, 0)
    for name, value in (("preparers", 0), ("prepare_seconds", 0), ("preparer_memory", -1)):
        with pytest.raises(Exception, match=name):
            Settings.write(tmp_path / name, **{name: value})
