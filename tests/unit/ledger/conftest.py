"""Places for a ledger: a file, and a database on a PostgreSQL server that all tests of a process share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import empty_database, new_database, postgres_address

Place = tuple[str, Path]
"""The address of a ledger that is not there yet, and its private folder."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server."""
    with postgres_address() as address:
        yield address


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> str:
    """The address of a database that is emptied before each use: to make one for each test takes long."""
    return new_database(postgres_server)


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where a new ledger may be made."""
    if request.param == "sqlite":
        return str(tmp_path / "people.ledger"), tmp_path / "people.ledger.private"
    database: str = request.getfixturevalue("postgres_database")
    empty_database(database)
    return database, tmp_path / "people.private"
