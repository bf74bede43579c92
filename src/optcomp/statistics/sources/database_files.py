"""Files that are databases: SQLite by the standard library, DuckDB by itself; and tables by the address of a database.

DuckDB and SQLite are opened to be read only, and nothing is downloaded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.extras import needed
from optcomp.statistics.sources.reading import Reading
from optcomp.statistics.sources.relations import Relation, sqlite_batches
from optcomp.statistics.sources.source import Source, all_known

_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
}
"""DuckDB reads the file, and nothing else."""


def sqlite_tables(path: Path) -> list[str]:
    """The tables of an SQLite file."""
    with closing(_connected(path)) as connection:
        query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        return [name for (name,) in connection.execute(query)]


def duckdb_tables(path: Path) -> list[str]:
    """The tables of a DuckDB file."""
    connection = _duckdb(path)
    try:
        return tables_in(connection)
    finally:
        connection.disconnect()


def _duckdb(path: str | Path) -> Any:
    """A connection of Ibis to a DuckDB file that is there."""
    return needed("ibis", "data").duckdb.connect(path, read_only=True, **_SETTINGS)


def database_at(address: str) -> Any:
    """A connection of Ibis to the database at an address; files must be there, and DuckDB reads nothing else."""
    scheme, _, rest = address.partition("://")
    path = rest.partition("?")[0]
    if scheme == "duckdb":
        return _duckdb(path)
    if scheme == "sqlite" and not Path(path).is_file():  # which would be made
        raise FileNotFoundError(path)
    return needed("ibis", "data").connect(address)


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


class SqliteFile(Source):
    """One table of an SQLite file."""

    def __init__(self, path: Path, used: Collection[str], numbers: Collection[str], reading: Reading) -> None:
        import pyarrow as pa

        super().__init__()
        reading.only_lines("a database")
        self.where, self.size, self._path = path.name, path.stat().st_size, path
        try:
            self.name = chosen_table(sqlite_tables(path), reading.table, path.name)
            with closing(_connected(path)) as connection:
                described = connection.execute(f"SELECT * FROM {quoted(self.name)} LIMIT 0").description
        except sqlite3.Error as error:
            raise InvalidInput("source", str(path), f"cannot be read as SQLite ({type(error).__name__})") from None
        names = [column for column, *_ in described]
        self.columns, self._own = reading.new_names(names), reading.own_names(used)
        all_known(self._own.values(), names)
        self.kinds = dict.fromkeys(used, pa.large_binary())

    def batches(self) -> Generator[Any]:
        """Every cell as text by itself."""
        try:
            with closing(_connected(self._path)) as connection:
                yield from sqlite_batches(connection, quoted(self.name), self._own)
        except sqlite3.Error as error:
            raise UnreadableData(self.where, f"cannot be read as SQLite ({type(error).__name__})") from None


class _Closing(Relation):
    """A table on a connection that is closed when it was read."""

    def __init__(self, connection: Any, found: Callable[[], Any], used: Collection[str], reading: Reading) -> None:
        self._connection = connection
        try:
            super().__init__(found(), used, Reading(rename=reading.rename))
        except BaseException:
            self.close()
            raise

    def batches(self) -> Generator[Any]:
        """As the database gives them."""
        try:
            yield from super().batches()
        finally:
            self.close()

    def close(self) -> None:
        """The connection, too."""
        with suppress(Exception):
            self._connection.disconnect()


class DuckdbFile(_Closing):
    """One table of a DuckDB file."""

    def __init__(self, path: Path, used: Collection[str], numbers: Collection[str], reading: Reading) -> None:
        reading.only_lines("a database")
        try:
            connection = _duckdb(path)
        except Exception as error:
            raise InvalidInput("source", str(path), f"cannot be read as DuckDB ({type(error).__name__})") from None

        def found() -> Any:
            return connection.table(chosen_table(tables_in(connection), reading.table, path.name))

        super().__init__(connection, found, used, reading)
        self.where, self.size = path.name, path.stat().st_size


class DatabaseTable(_Closing):
    """A table of a database that an address names."""

    def __init__(self, address: str, used: Collection[str], reading: Reading) -> None:
        shown = shown_address(address)
        reading.only_lines("a database")
        try:
            connection = database_at(address)
        except Exception as error:  # its text may quote the address
            problem = f"cannot be opened ({type(error).__name__})"
            raise InvalidInput("source", shown, problem) from None

        def found() -> Any:
            schema, _, name = (reading.table or chosen_table(tables_in(connection), None, shown)).rpartition(".")
            try:
                return connection.table(name, **({"database": schema} if schema else {}))
            except Exception as error:
                raise InvalidInput("table", name, f"cannot be opened in {shown} ({type(error).__name__})") from None

        super().__init__(connection, found, used, reading)


def tables_in(connection: Any) -> list[str]:
    """The tables of a database, by name; not by Ibis from DuckDB, whose version 2 it does not know how to ask."""
    if connection.name != "duckdb":
        return sorted(connection.list_tables())
    query = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1"
    return [name for (name,) in connection.con.execute(query).fetchall()]


def chosen_table(names: Sequence[str], wanted: str | None, where: str) -> str:
    """The table that is named, or the only one."""
    if wanted is None and len(names) == 1:
        return names[0]
    listed = ", ".join(sorted(names)) or "none"
    if wanted is None:
        raise InvalidInput("table", None, f"must name a table of {where}, which has {listed}")
    if wanted not in names:
        raise InvalidInput("table", wanted, f"is not a table of {where}, which has {listed}")
    return wanted


def shown_address(address: str) -> str:
    """An address without the password, and without what else it asks for."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def quoted(name: str) -> str:
    """A name in a query."""
    return '"' + name.replace('"', '""') + '"'
