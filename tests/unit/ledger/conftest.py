"""Places for a ledger: a file, and a PostgreSQL database that all tests of a process share, emptied before each use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import empty_database, postgres_address

Place = tuple[str, Path]
"""The address of a ledger that is not there yet, and its private folder."""


@pytest.fixture(scope="session")
def postgres_database() -> Iterator[str]:
    """The address of a database; to make one for each test takes longer than most tests."""
    with postgres_address() as database:
        yield database


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where a new ledger may be made."""
    if request.param == "sqlite":
        return str(tmp_path / "people.ledger"), tmp_path / "people.ledger.private"
    database: str = request.getfixturevalue("postgres_database")
    empty_database(database)
    return database, tmp_path / "people.private"
