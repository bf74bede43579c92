"""Ledgers that are put back in time, as people do it: whether a second server notices, with and without a witness.

Server A spends after the backup was made; server B, with a private folder of its own, has debited nothing since and was
not running meanwhile, so that its anchor knows nothing newer.  B is asked first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import psycopg
import pytest

from optcomp.interactive import SumFilter
from optcomp.ledger import Ledger, LedgerCopied
from optcomp.ledger.anchor import Anchor, Seen
from optcomp.ledger.database import Database
from optcomp.statistics import Count
from tests.servers import drop_database, new_database, on_server, own_postgres, postgres_address, postgres_program
from tests.unit.ledger.people import people

pytestmark = pytest.mark.slow

HERE = Path(__file__).parents[1] / "unit/ledger"
"""Where the dumps of the first version are."""
PATIENCE = 600
"""Looks at a subscriber, each a tenth of a second after the one before, until it has what was published."""
REFUSED, BY_WITNESS, NOT_NOTICED = "refused", "refused by the witness", "not noticed"


@dataclass
class Place:
    """A ledger with two servers, and a witness on other storage."""

    address: str
    home: Path
    witnessed: bool
    account: int = 2
    """The ε of the account."""

    def opened(self, server: str) -> Ledger:
        witness = self.home / "witness" if self.witnessed else None
        return Ledger(self.address, private=self.home / server, witness=witness)

    def spend(self, server: str, age: int) -> None:
        """Ask one more question, which costs a twentieth of the budget."""
        with self.opened(server) as ledger:
            ask(ledger, age, self.account)

    def outcome(self, server: str) -> str:
        """What comes of one more question."""
        try:
            self.spend(server, 90)
        except LedgerCopied as error:
            return BY_WITNESS if "witness" in error.reason else REFUSED
        return NOT_NOTICED


def ask(ledger: Ledger, age: int, account: int = 2) -> None:
    session = ledger.open("people", SumFilter(account)).session(people(), SumFilter(1), name="ada")
    session.ask(Count(f"age > {age}"), epsilon="0.05")


def begun(address: str, home: Path, *, witnessed: bool) -> Place:
    """A ledger with a debit, which both servers know."""
    (home / "witness").mkdir()
    place = Place(address, home, witnessed)
    place.spend("A", 10)
    shutil.copytree(home / "A", home / "B")
    place.spend("B", 20)
    return place


def check(place: Place, expected: str) -> None:
    """B and then A; a ledger that refuses says so when it is verified, and closes for every server."""
    assert place.outcome("B") == expected
    if expected == NOT_NOTICED:
        return
    with place.opened("B") as ledger:  # as a centre does every few seconds
        assert ledger.watch() is not None
    for server in "AB":
        with place.opened(server) as ledger:
            found = ledger.verify()
            assert found.doubt is not None
            assert not found.ok
            assert found.findings == ()
    assert {place.outcome(server) for server in "AB"} <= {REFUSED, BY_WITNESS}


Restore = Callable[[Place, Callable[[], None]], None]


def run(program: str, *arguments: str, **more: Any) -> None:
    done = subprocess.run([postgres_program(program), *arguments], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr


def custom_format(place: Place, spend: Callable[[], None]) -> None:
    file = str(place.home / "custom.dump")
    run("pg_dump", "--format=custom", f"--file={file}", place.address)
    spend()
    run("pg_restore", "--clean", "--if-exists", f"--dbname={place.address}", file)


def plain_sql(place: Place, spend: Callable[[], None]) -> None:
    file = str(place.home / "plain.sql")
    run("pg_dump", "--clean", "--if-exists", f"--file={file}", place.address)
    spend()
    run("psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={file}", f"--dbname={place.address}")


def data_only(place: Place, spend: Callable[[], None]) -> None:
    file = str(place.home / "data.dump")
    run("pg_dump", "--format=custom", "--data-only", f"--file={file}", place.address)
    spend()
    on_server(place.address, "TRUNCATE facts, holders, slots, requests, mechanisms, entries")
    run("pg_restore", "--data-only", f"--dbname={place.address}", file)


def template_copy(place: Place, spend: Callable[[], None]) -> None:
    server, name = urlparse(place.address)._replace(path="/postgres").geturl(), urlparse(place.address).path[1:]
    on_server(server, f'CREATE DATABASE "{name}_copy" TEMPLATE "{name}"')
    spend()
    drop_database(server, place.address)
    on_server(server, f'ALTER DATABASE "{name}_copy" RENAME TO "{name}"')


def nothing_restored(place: Place, spend: Callable[[], None]) -> None:
    spend()


@pytest.fixture(params=[False, True], ids=["alone", "witness"])
def witnessed(request: pytest.FixtureRequest) -> bool:
    found: bool = request.param
    return found


@pytest.mark.parametrize(
    ("restore", "expected"),
    [
        (custom_format, REFUSED),
        (plain_sql, REFUSED),
        (data_only, REFUSED),
        (template_copy, REFUSED),
        (nothing_restored, NOT_NOTICED),
    ],
)
def test_logical_restores(restore: Restore, expected: str, witnessed: bool, tmp_path: Path) -> None:
    """These are seen inside the database, with or without a witness."""
    with postgres_address() as address:
        place = begun(address, tmp_path, witnessed=witnessed)
        restore(place, lambda: place.spend("A", 30))
        check(place, expected)


def put_back(copy: Path, target: Path) -> None:
    """Have a copy of a folder in the place of the folder, with the owners of its files."""
    owner = target.stat()
    shutil.rmtree(target)
    copy.rename(target)
    for left in target.glob(".s.PGSQL*"):  # the socket of the server that was backed up
        left.unlink()
    for path in (target, *target.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)
    target.chmod(0o700)


@pytest.mark.parametrize("watched", [False, True], ids=["unwatched", "watched"])
def test_a_base_backup(witnessed: bool, watched: bool, tmp_path: Path) -> None:
    """Everything in the cluster is as it was: only what lies outside of it can notice."""
    with own_postgres() as server:
        place = begun(server.get_uri(), tmp_path, witnessed=witnessed)
        run("pg_basebackup", f"--dbname={place.address}", f"--pgdata={tmp_path / 'backup'}", "--checkpoint=fast")
        place.spend("A", 30)
        if watched:  # by a server that debits nothing
            with place.opened("B") as ledger:
                assert ledger.watch() is None
        server.stop()
        put_back(tmp_path / "backup", server.pgdata)
        server.start()
        place.address = server.get_uri()
        check(place, REFUSED if watched else BY_WITNESS if witnessed else NOT_NOTICED)


def of_version_one(address: str) -> Seen:
    """Have a ledger of the first version in this database, as if it had been made there; what anchors know of it."""
    dump = (HERE / "version-1.postgresql.sql").read_bytes()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.execute(dump)
    database = Database(address, create=False)
    with database.read() as connection:
        lies = database.place(connection)
    database.close()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("UPDATE facts SET place = %s", [lies])
        found = connection.execute("SELECT ledger, incarnation, sequence, head, place FROM facts").fetchone()
    assert found is not None
    return Seen(*found)


@pytest.mark.parametrize("watched", [False, True], ids=["unwatched", "watched"])
def test_a_dump_from_before_the_migration(witnessed: bool, watched: bool, tmp_path: Path) -> None:
    """It is migrated again, and stores nothing from which it could be told from the ledger that it replaces."""
    (tmp_path / "witness").mkdir()
    with postgres_address() as address:
        known = of_version_one(address)
        for server in "AB":
            (tmp_path / server).mkdir(mode=0o700)
            shutil.copyfile(HERE / "version-1.keys.json", tmp_path / server / "keys.json")
            (tmp_path / server / "keys.json").chmod(0o600)
            anchor = Anchor(tmp_path / server / "anchor")
            anchor.replace(known)
            anchor.close()
        place = Place(address, tmp_path, witnessed, account=3)
        if witnessed:
            with place.opened("A") as ledger:  # the witness is new
                ledger.adopt(ledger.head)
        place.spend("A", 30)
        if watched:
            with place.opened("B") as ledger:
                assert ledger.watch() is None
        of_version_one(address)
        assert place.outcome("B") == (REFUSED if watched else BY_WITNESS if witnessed else NOT_NOTICED)


def test_one_server_that_notices_closes_the_ledger_for_all(tmp_path: Path) -> None:
    """A knows what is missing; it need not be asked a question for B to refuse."""
    with own_postgres() as server:
        place = begun(server.get_uri(), tmp_path, witnessed=False)
        run("pg_basebackup", f"--dbname={place.address}", f"--pgdata={tmp_path / 'backup'}", "--checkpoint=fast")
        place.spend("A", 30)
        with place.opened("A") as ledger:
            head = ledger.head.head
        server.stop()
        put_back(tmp_path / "backup", server.pgdata)
        server.start()
        place.address = server.get_uri()
        with place.opened("A") as ledger:
            assert ledger.watch() == "the anchor knows entry 10, and this ledger ends at entry 8"
        assert place.outcome("B") == REFUSED
        with place.opened("A") as ledger:
            ledger.adopt(head, take_as_spent=True)
        with place.opened("B") as ledger:  # one adoption is enough
            assert ledger.doubt is None


def test_an_upgraded_cluster(tmp_path: Path) -> None:
    """pg_upgrade makes another cluster, which is refused until it is adopted; rows keep their transactions."""
    with own_postgres() as old, own_postgres() as new:
        place = begun(old.get_uri(), tmp_path, witnessed=False)
        with place.opened("A") as ledger:
            head = ledger.head.head
        old.stop()
        new.stop()
        folders = [f"--old-datadir={old.pgdata}", f"--new-datadir={new.pgdata}", "--username=postgres"]
        programs = [f"--old-bindir={old.bin_path}", f"--new-bindir={new.bin_path}"]
        run("pg_upgrade", *folders, *programs, user=new.system_user, cwd=new.pgdata)
        new.start()
        place.address = new.get_uri()
        check(place, REFUSED)
        with place.opened("A") as ledger:
            assert ledger.doubt == "it lies in another place than it was made in"
            ledger.adopt(head)
        for server in "BA":
            with place.opened(server) as ledger:
                assert ledger.verify().ok
                ask(ledger, 40 if server == "A" else 50)


def test_a_replicated_database(tmp_path: Path) -> None:
    """A subscriber of logical replication has rows that another process inserted, in another database."""
    with own_postgres() as server:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET wal_level = logical")
        server.stop()
        server.start()
        place = begun(server.get_uri(), tmp_path, witnessed=False)
        copy = new_database(server.get_uri())
        schema = str(tmp_path / "schema.sql")
        run("pg_dump", "--schema-only", f"--file={schema}", place.address)
        run("psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={schema}", f"--dbname={copy}")
        on_server(place.address, "CREATE PUBLICATION ours FOR ALL TABLES")
        on_server(place.address, "SELECT pg_create_logical_replication_slot('ours', 'pgoutput')")
        where = urlparse(place.address)
        source = f"dbname={where.path[1:]} user={where.username} host={parse_qs(where.query)['host'][0]}"
        options = "WITH (create_slot = false, slot_name = 'ours')"
        on_server(copy, f"CREATE SUBSCRIPTION ours CONNECTION '{source}' PUBLICATION ours {options}")
        with psycopg.connect(copy, autocommit=True) as connection:
            for _ in range(PATIENCE):
                if connection.execute("SELECT count(*) FROM facts").fetchone() == (1,):
                    break
                time.sleep(0.1)
        original, place.address = place.address, copy
        check(place, REFUSED)
        on_server(copy, "ALTER SUBSCRIPTION ours DISABLE")
        on_server(copy, "DROP SUBSCRIPTION ours")
        place.address = original
        place.spend("A", 60)


def in_place(copy: Path, target: Path) -> None:
    """Write over a file, which keeps its inode."""
    subprocess.run(["cp", str(copy), str(target)], check=True)
    for end in ("-wal", "-shm"):
        target.with_name(target.name + end).unlink(missing_ok=True)


@pytest.mark.parametrize("kind", ["file", "file without its wal", "disk image", "disk image without wal"])
def test_a_file_put_back(kind: str, witnessed: bool, tmp_path: Path) -> None:
    """The anchor beside the file notices it, unless it went back in time too, as in the image of a disk."""
    file, copy = tmp_path / "people.ledger", tmp_path / "copy"
    place = begun(str(file), tmp_path, witnessed=witnessed)
    if kind == "disk image without wal":
        with place.opened("B"):  # what was committed last is in the log, which is left out
            shutil.copytree(tmp_path / "B", tmp_path / "B copy")
            subprocess.run(["cp", str(file), str(copy)], check=True)
            place.spend("A", 30)
    else:
        with place.opened("A") as ledger:
            ledger.backup(copy)
            if kind == "file without its wal":
                copy.unlink()
                ask(ledger, 25)
                subprocess.run(["cp", str(file), str(copy)], check=True)
        shutil.copytree(tmp_path / "B", tmp_path / "B copy")
        place.spend("B", 30)
    in_place(copy, file)
    if kind.startswith("disk image"):
        shutil.rmtree(tmp_path / "B")
        (tmp_path / "B copy").rename(tmp_path / "B")
        check(place, BY_WITNESS if witnessed else NOT_NOTICED)
    else:
        check(place, REFUSED)
