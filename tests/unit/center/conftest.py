"""Homes of centres: with files, and with databases on a PostgreSQL server that all tests of a process share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import empty_database, new_database, postgres_address
from tests.unit.center.homes import Centre


@pytest.fixture(scope="session")
def center_databases() -> Iterator[tuple[str, str]]:
    """Addresses of two databases, for a ledger and for a centre."""
    with postgres_address() as address:
        yield new_database(address), new_database(address)


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
