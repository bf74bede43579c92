"""Settings: read strictly, kept closed; a store refuses what is not its own."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from optcomp.center import People, Settings, Store
from optcomp.center.store import now
from optcomp.center.tables import CANCELLATIONS, FACTS, VERSION
from optcomp.errors import InvalidInput
from optcomp.ledger import Ledger


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_home_and_its_defaults(tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = Settings.write(home)
    assert made == Settings.read(home)
    assert (mode(home), mode(home / "center.yaml"), mode(home / "snapshots")) == (0o700, 0o600, 0o700)
    assert (made.ledger, made.private) == (f"{home}/center.ledger", home / "center.ledger.private")
    assert made.database == f"{home}/center.db"
    assert made.hosts == ("localhost", "127.0.0.1", "[::1]")
    assert (made.rate, made.logins, made.most_bytes, made.seconds, made.runners) == (600, 30, 2**20, 60.0, 2)
    assert (made.readers, made.waiting, made.memory, made.header_seconds, made.connections) == (2, 32, 4096, 15.0, 256)
    assert (made.free_seconds, made.free_memory, made.free_processor_seconds) == (10.0, 1024, 20.0)
    assert (made.bucket, made.two_persons, made.notice, made.folders) == (0.0, False, "0.1", ())
    with pytest.raises(InvalidInput, match="is there already"):
        Settings.write(home)


def test_given_settings_are_read_again(tmp_path: Path) -> None:
    given: dict[str, Any] = {"name": "Survey", "folders": [tmp_path], "rate": 5, "seconds": "2.5", "two_persons": True}
    given |= {"ledger": "postgresql://me:secret@host/l", "databases": ["postgresql://me:secret@host/d"], "bucket": 0.5}
    made = Settings.write(tmp_path / "home", **given)
    assert made == Settings.read(tmp_path / "home")
    assert (made.seconds, made.bucket, made.two_persons, made.folders) == (2.5, 0.5, True, (tmp_path,))
    assert made.private == tmp_path / "home" / "center.ledger.private"
    assert "secret" not in repr(made)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"colour": 1}, "is no setting"),
        ({"rate": 0}, "whole number"),
        ({"rate": "many"}, "number"),
        ({"rate": True}, "number"),
        ({"seconds": 0}, "above 0"),
        ({"bucket": -1}, "bucket"),
        ({"header_seconds": 0}, "above 0"),
        ({"readers": -1}, "whole number"),
        ({"free_seconds": 0}, "above 0"),
        ({"free_memory": -1}, "whole number"),
        ({"free_processor_seconds": "0"}, "above 0"),
        ({"waiting": 0}, "whole number"),
        ({"memory": "1.5"}, "whole number"),
        ({"connections": "all"}, "number"),
        ({"folders": "here"}, "list"),
        ({"folders": ["here"]}, "whole path"),
        ({"two_persons": 1}, "true or false"),
        ({"notice": 2}, "between 0 and 1"),
        ({"name": ""}, "text"),
        ({"hosts": [3]}, "text"),
    ],
)
def test_bad_settings(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Settings.write(tmp_path / "home", **given)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("text", ["- a", "rate: 3\nrate: 4", "unknown: 3", "a: &a [*a]", "3"])
def test_bad_files(tmp_path: Path, text: str) -> None:
    Settings.write(tmp_path / "home")
    (tmp_path / "home" / "center.yaml").write_text(text, encoding="utf8")
    with pytest.raises(InvalidInput):
        Settings.read(tmp_path / "home")


def test_a_folder_that_is_no_home(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not the home of a centre"):
        Settings.read(tmp_path)


def test_a_store_keeps_to_its_own(tmp_path: Path) -> None:
    settings = Settings.write(tmp_path / "home")
    with pytest.raises(InvalidInput):
        Store(settings, create=False)
    with Store(settings) as store:
        first = store.id
    assert mode(tmp_path / "home" / "center.db") == 0o600
    with Store(settings, create=False) as store:
        assert store.id == first
        with store.write() as connection:
            connection.execute(update(FACTS).values(version=VERSION + 1))
    with pytest.raises(InvalidInput, match="does not know"):
        Store(settings)


def test_an_older_database_gets_the_table_that_it_lacks(tmp_path: Path) -> None:
    settings = Settings.write(tmp_path / "home")
    with Store(settings) as store:
        first = store.id
        with store.write() as connection:
            CANCELLATIONS.drop(connection)
            connection.execute(update(FACTS).values(version=1))
    for _ in range(2):
        with Store(settings, create=False) as store, store.read() as connection:
            assert store.id == first
            assert connection.execute(select(CANCELLATIONS)).all() == []
            assert connection.scalar(select(FACTS.c.version)) == VERSION


def test_a_database_of_something_else(tmp_path: Path) -> None:
    settings = Settings.write(tmp_path / "home")
    with Ledger(settings.database):
        pass
    with pytest.raises(InvalidInput, match="not the database of a centre"):
        Store(settings)
    other = Settings.write(tmp_path / "other")
    with sqlite3.connect(other.database) as connection:
        connection.execute("CREATE TABLE mine (a)")
    with pytest.raises(InvalidInput, match="other tables"):
        Store(other)


def test_both_clocks_tell_seconds(addresses: dict[str, str], tmp_path: Path) -> None:
    import time

    with Store(Settings.write(tmp_path / "home", **addresses)) as store, store.read() as connection:
        before, found, after = time.time(), now(connection), time.time()
        assert before - 1 < found < after + 1  # SQLite tells milliseconds


def test_the_first_person_is_an_owner(tmp_path: Path) -> None:
    with Store(Settings.write(tmp_path / "home")) as store:
        with pytest.raises(InvalidInput, match="is an owner"):
            People(store).add("ada", "analyst", by=None)
        People(store).add("olga", "owner", by=None)
        assert People(store).person("olga").role == "owner"


def test_no_web_server_is_needed() -> None:
    words = "import sys; from optcomp.center import Catalogue, People, Settings, Store; print('fastapi' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_the_public_address(tmp_path: Path) -> None:
    made = Settings.write(tmp_path / "home", address="https://Center.example.org:443/")
    assert (made.address, made.public_host) == ("https://center.example.org", "center.example.org")
    assert made.names == (*made.hosts, "center.example.org")
    for place, wrong in enumerate(
        ("http://center.example.org", "https://u:p@host", "https://host/path", "host", "https://")
    ):
        with pytest.raises(InvalidInput, match="address: must be https://"):
            Settings.write(tmp_path / str(place), address=wrong)
