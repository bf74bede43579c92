"""The centre's own database: people, data sets, seats, and every change.  Time is told by its clock and no other."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, insert, inspect, select, text, update

from optcomp.center.settings import Settings
from optcomp.center.tables import FACTS, METADATA, VERSION
from optcomp.errors import InvalidInput
from optcomp.ledger import Database

_CLOCKS = {
    "sqlite": text("SELECT (julianday('now') - 2440587.5) * 86400"),
    "postgresql": text("SELECT extract(epoch FROM clock_timestamp())"),
}
"""How each database tells the time."""


class Store:
    """The database of a centre; made when it is not there."""

    def __init__(self, settings: Settings, *, create: bool = True) -> None:
        self.settings = settings
        self._database = Database(settings.database, create=create)
        try:
            with self._database.write() as connection:
                self.id = _opened(connection, self._database.shown, create)
        except BaseException:
            self._database.close()
            raise
        if self._database.sqlite:
            self._database.path.chmod(0o600)

    @property
    def database(self) -> Database:
        """Where it lives."""
        return self._database

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state."""
        with self._database.read() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that nobody else writes beside; durable when the block is left."""
        with self._database.write() as connection:
            yield connection

    @contextmanager
    def write_lightly(self) -> Iterator[Connection]:
        """A write that may be lost with the power: for counters, and nothing else."""
        with self._database.write_lightly() as connection:
            yield connection

    def close(self) -> None:
        """Give back all connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def now(connection: Connection) -> float:
    """Seconds since 1970, by the clock of the database."""
    return float(connection.execute(_CLOCKS[connection.dialect.name]).scalar_one())


def written(document: Mapping[str, Any] | list[Any]) -> str:
    """JSON, as it is kept."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _opened(connection: Connection, address: str, create: bool) -> str:
    """Which centre this is; a new one in an empty database."""
    looked = inspect(connection)
    if not looked.has_table(FACTS.name):
        if looked.get_table_names():
            raise InvalidInput("database", address, "holds other tables; a centre has a database of its own")
        if not create:
            raise InvalidInput("database", address, "is not the database of a centre")
        METADATA.create_all(connection)
        connection.execute(insert(FACTS).values(id=1, center=secrets.token_hex(16), version=VERSION))
    elif "center" not in {column["name"] for column in looked.get_columns(FACTS.name)}:
        raise InvalidInput("database", address, "is not the database of a centre")
    facts = connection.execute(select(FACTS)).one()
    if facts.version > VERSION:
        problem = f"has a version that this program does not know; it knows {VERSION}"
        raise InvalidInput("database", facts.version, problem)
    if facts.version < VERSION:  # newer versions have more tables, and nothing else
        METADATA.create_all(connection)
        connection.execute(update(FACTS).values(version=VERSION))
    return str(facts.center)
