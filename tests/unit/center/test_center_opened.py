"""Snapshots that a process has open: kept, told apart, and asked where their rows are."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from optcomp.center.desk import _OPENED
from optcomp.center.jobs import perform
from optcomp.center.opened import Opened, declared_in
from optcomp.errors import InvalidInput
from optcomp.statistics import Count, declaration_document
from tests import servers
from tests.unit.center.center_place import ACCOUNT, form, people, small_center


def test_a_snapshot_is_opened_once_and_another_one_in_its_place_is_seen(tmp_path: Path) -> None:
    """By its folder, and by when its keys were made."""
    opened, path = Opened(most=2), people().save(tmp_path / "one")
    first = opened.table(str(path))
    assert opened.table(str(path)) is first
    shutil.rmtree(path)
    people(rows=3).save(path)
    other = opened.table(str(path))
    assert Count().measure(other) == ((3,),)
    opened.forget(str(path))
    assert opened.table(str(path)) is not other


def test_the_one_that_was_asked_longest_ago_is_closed(tmp_path: Path) -> None:
    """Two are kept."""
    opened, paths = Opened(most=2), [str(people().save(tmp_path / name)) for name in "abc"]
    first, second = (opened.table(path) for path in paths[:2])
    assert opened.table(paths[0]) is first
    opened.table(paths[2])
    assert opened.table(paths[0]) is first
    assert opened.table(paths[1]) is not second


def test_a_declaration_is_read_without_rows(tmp_path: Path) -> None:
    """They may be lost."""
    path = people().save(tmp_path / "one")
    (path / "rows.parquet").unlink()
    assert declaration_document(declared_in(str(path))) == declaration_document(people())
    for wrong in ("none", "one/keys.json"):
        with pytest.raises(InvalidInput, match="is not a snapshot"):
            declared_in(str(tmp_path / wrong))


def test_rows_in_a_database_are_asked_there(center_databases: tuple[str, str], tmp_path: Path) -> None:
    """Only in one that is listed; a connection that was lost is made again, and the answer is paid once."""
    center = small_center(tmp_path / "home")
    database, elsewhere = center_databases
    for each in center_databases:
        servers.empty_database(each)
    with servers.postgres_at(database) as connection:
        path = people().save(tmp_path / "kept there", connection=connection)
    ledger, seat = center.ledger(), center.seat() | {"snapshot": str(path)}
    settings = replace(center.settings, databases=("sqlite:///x", elsewhere, database))
    asked = {"seat": seat, "question": form(Count(), epsilon="1/8"), "key": "a"}
    assert perform(ledger, replace(settings, databases=(elsewhere,)), "ask", asked)["error"] == "CannotAnswer"
    assert abs(perform(ledger, settings, "ask", asked)["value"] - 200) < 300  # noise of scale 8: e^-37
    with psycopg.connect(database, autocommit=True) as owner:
        mine = "datname = current_database() AND pid <> pg_backend_pid()"
        owner.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {mine}")
    later = asked | {"key": "b"}
    assert perform(ledger, settings, "ask", later)["error"] == "NotAnswered"
    assert "answer" in perform(ledger, settings, "ask", later)
    assert ledger.account(ACCOUNT).slot("ada").budget.spent.epsilon == Fraction(1, 4)
    _OPENED.forget(str(path))
