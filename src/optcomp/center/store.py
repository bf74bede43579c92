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
from optcomp.center.tables import CHANGES, DATASETS, FACTS, METADATA, SCOPES_NAME_ACCOUNTS, TOKENS, VERSION
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
        """A write that may be lost with the power: for counters and for the state of jobs, and nothing else."""
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
    if facts.version < VERSION:
        METADATA.create_all(connection)
        if facts.version < SCOPES_NAME_ACCOUNTS:
            _complete_tokens(connection)
        connection.execute(update(FACTS).values(version=VERSION))
    return str(facts.center)


def _complete_tokens(connection: Connection) -> None:
    """Note who made each token, and limit to accounts those that were limited to data sets.

    A token keeps the accounts of which it was for every data set, so that no token is good for more than before.
    """
    known = {column["name"] for column in inspect(connection).get_columns(TOKENS.name)}
    for name in {TOKENS.c.made_by.name, TOKENS.c.second.name} - known:
        connection.execute(text(f"ALTER TABLE {TOKENS.name} ADD COLUMN {name} TEXT"))
    for row in connection.execute(select(CHANGES).where(CHANGES.c.what == "token made")).all():
        values = {"made_by": row.who, "second": row.second}
        connection.execute(update(TOKENS).where(TOKENS.c.id == json.loads(row.detail)["token"]).values(**values))
    datasets: dict[str, set[str]] = {}
    for row in connection.execute(select(DATASETS.c.account, DATASETS.c.name)):
        datasets.setdefault(row.account, set()).add(row.name)
    limited = select(TOKENS.c.id, TOKENS.c.scope).where(TOKENS.c.scope.is_not(None))
    for row in connection.execute(limited).all():
        before = set(json.loads(row.scope))
        kept = sorted(account for account, names in datasets.items() if names <= before)
        connection.execute(update(TOKENS).where(TOKENS.c.id == row.id).values(scope=written(kept)))
