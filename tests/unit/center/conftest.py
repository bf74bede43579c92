"""Homes of centres: with files, and with PostgreSQL databases that all tests of a process share, emptied before use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from optcomp.center import desk
from tests.servers import empty_database, postgres_address
from tests.unit.center.center_place import SmallCenter, small_center
from tests.unit.center.homes import Centre


@pytest.fixture(scope="session")
def center_databases() -> Iterator[tuple[str, str]]:
    """Addresses of two databases, for a ledger and for a centre."""
    with postgres_address() as ledger, postgres_address() as centre:
        yield ledger, centre


@pytest.fixture(params=["sqlite", "postgresql"])
def addresses(request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings that say where the databases are."""
    if request.param == "sqlite":
        return {}
    found: tuple[str, str] = request.getfixturevalue("center_databases")
    for address in found:
        empty_database(address)
    return {"ledger": found[0], "database": found[1]}


@pytest.fixture
def centre(addresses: dict[str, str], tmp_path: Path) -> Iterator[Centre]:
    """A centre with nothing registered."""
    data = tmp_path / "data"
    data.mkdir()
    made = Centre(tmp_path / "home", data, **addresses)
    yield made
    made.close()


@pytest.fixture
def pair(addresses: dict[str, str], tmp_path: Path) -> Iterator[Centre]:
    """A centre with two owners, who must agree."""
    data = tmp_path / "data"
    data.mkdir()
    first = Centre(tmp_path / "home", data, **addresses)
    first.people.add("otto", "owner", by="olga")
    first.close()
    first.open(first.settings.rewrite(folders=[str(data)], two_persons=True, **addresses))
    yield first
    first.close()


@pytest.fixture
def center(tmp_path: Path) -> SmallCenter:
    """A small centre with nothing asked."""
    return small_center(tmp_path)


@pytest.fixture(scope="session", autouse=True)
def open_tables() -> Iterator[None]:
    """Jobs that are done in this process keep tables open, with a temporary folder each; closed at the end."""
    yield
    for path, *_ in list(desk._OPENED._open):
        desk._OPENED.forget(path)
