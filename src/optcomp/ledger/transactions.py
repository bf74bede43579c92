"""Writes by few statements: compiled once, given to the driver as they are, and waited for once.

What is under the ledger's lock keeps everybody else waiting.  PostgreSQL is therefore sent all changes of a write as
one statement, and the COMMIT right behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.elements import ClauseElement

_TOGETHER = 64
"""Statements that are made one: PostgreSQL takes at most 1,664 values back and 65,535 parameters."""
_MERGED = 256
"""So many combinations of statements are kept as one."""


class Overtaken(Exception):
    """Somebody else was first: the write is taken back, and what they wrote counts."""


class Statement:
    """A statement that is compiled once, and then given to the driver as it is: the writes of a request take few.

    All its values are parameters with names.  Rows are tuples in the order of the statement's columns.  One that
    `changes_one` raises `Overtaken` unless it changes one row; one that `returns` tells a single value.
    """

    def __init__(self, statement: ClauseElement, *, changes_one: bool = False, returns: bool = False) -> None:
        self._statement, self.changes_one, self.returns = statement, changes_one, returns
        self._texts: dict[str, str] = {}

    def text(self, dialect: Dialect) -> str:
        """In the language of a database, with named parameters."""
        found = self._texts.get(dialect.name)
        if found is None:
            named = SQLiteDialect_pysqlite(paramstyle="named") if dialect.name == "sqlite" else dialect
            found = self._texts[dialect.name] = str(self._statement.compile(dialect=named))
        return found

    def row(self, connection: Connection, values: Mapping[str, Any]) -> Row:
        """The first row of a query, inside a transaction."""
        driver: Any = connection.connection.driver_connection
        found: Row = driver.execute(self.text(connection.dialect), values).fetchone()
        return found


Run = tuple[Statement, Mapping[str, Any]]
"""A statement with its values."""
Row = tuple[Any, ...] | None
"""The first row of what a statement returns, if it returns any."""


class Transaction:
    """A transaction that nobody else writes beside; `first` are the rows that were read as soon as it had begun."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._dialect = connection.dialect
        self._sqlite = self._dialect.name == "sqlite"
        self._driver: Any = connection.connection.driver_connection
        self.first: list[Row] = []

    def begin(self, commands: Sequence[str], reads: Sequence[Run]) -> None:
        """Begin, and read the first rows."""
        if self._sqlite:
            for command in commands:
                self._driver.execute(command)
            self.first = [self._one(statement, values) for statement, values in reads]
            return
        with self._driver.pipeline():
            for command in commands:
                self._driver.execute(command)
            cursors = [self._driver.execute(each.text(self._dialect), values) for each, values in reads]
        self.first = [cursor.fetchone() for cursor in cursors]

    def run(self, runs: Sequence[Run]) -> list[Row]:
        """What each of the statements returns; `Overtaken` if one that must change a row changed none."""
        if self._sqlite:
            return [self._one(statement, values) for statement, values in runs]
        return self._all_in_one(runs)

    def finish(self, runs: Sequence[Run]) -> list[Row]:
        """The same, and commit: all of it is durable then, or none of it has happened."""
        if not self._sqlite:
            return self._all_in_one(runs, "COMMIT")
        found = self.run(runs)
        self.commit()
        return found

    def commit(self) -> None:
        """Make what was done durable, if that has not happened."""
        self._driver.commit()

    def roll_back(self) -> None:
        """Take everything back."""
        self._driver.rollback()

    def _all_in_one(self, runs: Sequence[Run], *after: str) -> list[Row]:
        """By PostgreSQL, which is sent one statement made of all, and is waited for once.

        If it fails, then what is sent after it in the same pipeline is not carried out.
        """
        pieces = [runs[start : start + _TOGETHER] for start in range(0, len(runs), _TOGETHER)]
        known, cursors, failures = self._dialect.loaded_dbapi, [], []
        try:
            with self._driver.pipeline():
                try:
                    cursors = [self._driver.execute(*self._as_one(piece)) for piece in pieces]
                    for command in after:
                        self._driver.execute(command)
                except known.Error as error:  # told outside: the driver would write into the log of its own
                    failures.append(error)
        except known.Error as error:
            failures.append(error)
        if failures:
            raise self._told(failures[0])
        return [(value,) for cursor in cursors for value in cursor.fetchone()]

    def _as_one(self, runs: Sequence[Run]) -> tuple[str, dict[str, Any]]:
        words = _merged(tuple(statement for statement, _ in runs), self._dialect)
        return words, {
            f"s{place}_{name}": value for place, (_, each) in enumerate(runs) for name, value in each.items()
        }

    def _told(self, error: Exception) -> Exception:
        """What a failure of PostgreSQL means."""
        known = self._dialect.loaded_dbapi
        if isinstance(error, known.errors.DivisionByZero):
            return Overtaken()
        return IntegrityError("", None, error) if isinstance(error, known.IntegrityError) else error

    def _one(self, statement: Statement, values: Mapping[str, Any]) -> Row:
        """By SQLite, which answers at once."""
        written = statement.text(self._dialect)
        try:
            cursor = self._driver.execute(written, values)
            rows = cursor.fetchall()  # all of them: SQLite does not commit beside a statement that is not at its end
        except self._dialect.loaded_dbapi.IntegrityError as error:
            raise IntegrityError(written, None, error) from None
        if statement.changes_one and cursor.rowcount != 1:
            raise Overtaken
        return rows[0] if rows else None


@lru_cache(maxsize=_MERGED)
def _merged(statements: tuple[Statement, ...], dialect: Dialect) -> str:
    """One statement of PostgreSQL that does what all of these do; one that must change a row and does not, fails."""
    parts, told = [], []
    for place, statement in enumerate(statements):
        words = statement.text(dialect).replace("%(", f"%(s{place}_")
        parts.append(f"s{place} AS ({words}{' RETURNING 1' if statement.changes_one else ''})")
        count = f"1 / (SELECT count(*) FROM s{place})"
        told.append(count if statement.changes_one else f"(SELECT * FROM s{place})" if statement.returns else "NULL")
    return f"WITH {', '.join(parts)} SELECT {', '.join(told)}"
