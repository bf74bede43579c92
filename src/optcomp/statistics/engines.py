"""Where the rows of a snapshot are kept and asked: a Parquet file, or a table of DuckDB, PostgreSQL or Spark.

A query is text, made of sums, counts and comparisons of bounded integers, so nothing about the rows can make it fail.
An engine that is down is an error that depends on nothing else.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.statistics.row_files import WorkingFolder, literal_path, read_parquet

VIEW = "optcomp_rows"
"""The name of a Parquet file for queries."""
_CHUNK = 1 << 20
"""Bytes read at a time."""
_QUICKER = (
    "SET GLOBAL perfect_ht_threshold = 0",
    "SET GLOBAL disabled_optimizers = 'compressed_materialization'",
    "SET GLOBAL parquet_metadata_cache = true",
)
"""Columns of few values lie in dictionaries: without two of DuckDB's rewritings groups are looked up once for each
entry of a dictionary, not once for each row.  And the file is frozen: what is known about it stays true."""
_BATCH = 1 << 16
"""Rows at a time."""
_SUMS = 8
"""Pieces of 16 bits of the digest of a row, each of which is summed up by itself."""
_SIZE = r" *[0-9]+(\.[0-9]+)? *[KMGT]i?B *"
"""How engines write sizes of memory."""
Row = tuple[Any, ...]
"""Of a result."""


def checked_memory(memory: str | None) -> str | None:
    """A size as engines write it."""
    if memory is not None and not (isinstance(memory, str) and re.fullmatch(_SIZE, memory)):
        raise InvalidInput("memory", memory, "must be a size such as '512MB' or '4GB'")
    return memory


def wide(most: int) -> bool:
    """Whether integers from 0 to this take 64 bits, and not 32."""
    return most >= 2**31


class Rows(ABC):
    """The rows of a snapshot."""

    dialect: str
    """As Ibis names it."""
    name: str
    """Of the table, for queries."""

    @abstractmethod
    def run(self, query: str) -> list[Row]:
        """The rows of a result; safe from any thread."""

    @abstractmethod
    def digest(self, key: bytes, columns: Sequence[str]) -> str:
        """Of all rows, under a key."""

    @abstractmethod
    def about(self) -> dict[str, str]:
        """Where they are, for the snapshot's description."""


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What another file at the same path does not have in common; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class ParquetRows(Rows):
    """A Parquet file, asked by an engine that can read no other and change none."""

    dialect, name = "duckdb", VIEW

    def __init__(self, path: Path, memory: str | None = None) -> None:
        self.path, self._memory = literal_path(path), checked_memory(memory)
        self._opening = threading.Lock()
        self._connections: dict[int, tuple[Any, Any]] = {}
        self._stamp = _stamp(self.path)

    def _connection(self) -> Any:
        """Opened for the first question of each process: what runs an engine is not there after a fork."""
        here = os.getpid()
        with self._opening:
            if here not in self._connections:
                self._connections[here] = self._connected()
            return self._connections[here][0]

    def _connected(self) -> tuple[Any, Any]:
        """An engine, and the folder for what does not fit into its memory: nobody else's, and gone with it."""
        import duckdb

        spilled = WorkingFolder()
        settings: dict[str, Any] = {"autoinstall_known_extensions": "false", "temp_directory": spilled.name}
        if self._memory is not None:
            settings |= {"memory_limit": self._memory}
        connection = duckdb.connect(":memory:", config=settings)
        quoted = str(self.path).replace("'", "''")
        for statement in (
            f"SET allowed_paths = ['{quoted}']",
            "SET enable_external_access = false",
            f"CREATE VIEW {VIEW} AS FROM {read_parquet(self.path)}",
            *_QUICKER,
            "SET lock_configuration = true",
        ):
            connection.execute(statement)
        return connection, spilled

    def run(self, query: str) -> list[Row]:
        """By a cursor of its own: threads do not wait for each other.  Refused if it is another file by now."""
        if _stamp(self.path) != self._stamp:
            raise UnreadableData(str(self.path), "is not the file that was opened")
        return list(self._connection().cursor().execute(query).fetchall())

    def digest(self, key: bytes, columns: Sequence[str]) -> str:
        """HMAC-SHA256 of the file."""
        found = hmac.new(key, digestmod=hashlib.sha256)
        with self.path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                found.update(chunk)
        return found.hexdigest()

    def about(self) -> dict[str, str]:
        """Beside the description."""
        return {"engine": "parquet"}


class TableRows(Rows):
    """A table of an engine, on a connection that the owner opened."""

    def __init__(self, backend: Any, name: str) -> None:
        self.backend, self.name, self.dialect = backend, name, backend.name
        self._lock = connection_lock(backend)

    def about(self) -> dict[str, str]:
        """The engine and the table; not its address, which may hold a password."""
        return {"engine": self.dialect, "table": self.name}

    def digest(self, key: bytes, columns: Sequence[str]) -> str:
        """Of the sums of the digests of the rows: their order does not matter."""
        ((count, *sums),) = self.run(self._sums(key, columns))
        text = ",".join(str(int(each or 0)) for each in (count, *sums))
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

    def _sums(self, key: bytes, columns: Sequence[str]) -> str:
        words = " || ',' || ".join(f"coalesce(CAST({column} AS {self._text}), '')" for column in columns)
        hashed = "SELECT " + self._hash(f"'{key.hex()}/' || {words}") + f" AS h FROM {self.name}"
        pieces = ", ".join(f"sum({self._piece(place)}) AS s{place}" for place in range(_SUMS))
        return f"SELECT count(*) AS n, {pieces} FROM ({hashed}) AS hashed"

    _text = "VARCHAR"
    """The type of text."""

    @abstractmethod
    def _hash(self, words: str) -> str:
        """SHA-256 in this engine."""

    @abstractmethod
    def _piece(self, place: int) -> str:
        """16 bits of the hash `h` as an integer."""

    def export(self, path: Path, bounds: dict[str, int]) -> None:
        """Write the rows to a Parquet file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        query = f"SELECT {', '.join(bounds)} FROM {self.name}"
        schema = pa.schema([pa.field(name, pa.int64() if wide(most) else pa.int32()) for name, most in bounds.items()])
        with pq.ParquetWriter(path, schema) as writer:
            for batch in self._batches(query):
                writer.write_table(pa.Table.from_batches([batch]).cast(schema))

    def copied(self, name: str, bounds: dict[str, int]) -> TableRows:
        """A new table on the same connection with the same rows, which do not leave the engine."""
        self.execute(f"CREATE TABLE {name} AS SELECT {', '.join(bounds)} FROM {self.name}")
        return type(self)(self.backend, name)

    def drop(self) -> None:
        """Remove the table."""
        self.execute(f"DROP TABLE {self.name}")

    @abstractmethod
    def execute(self, statement: str) -> None:
        """A statement that changes tables: for the owner."""

    @abstractmethod
    def _batches(self, query: str) -> Iterator[Any]:
        """The rows of a result as batches of Arrow."""

    @classmethod
    @abstractmethod
    def written(cls, backend: Any, name: str, path: Path, bounds: dict[str, int]) -> TableRows:
        """A new table from a Parquet file; `bounds` has the largest integer of each column."""


class DuckdbRows(TableRows):
    """A table of DuckDB."""

    def run(self, query: str) -> list[Row]:
        """By a cursor of its own."""
        return list(self.backend.con.cursor().execute(query).fetchall())

    def _batches(self, query: str) -> Iterator[Any]:
        yield from self.backend.con.cursor().sql(query).to_arrow_reader(_BATCH)

    def _hash(self, words: str) -> str:
        return f"sha256({words})"

    def _piece(self, place: int) -> str:
        return f"CAST('0x' || substr(h, {4 * place + 1}, 4) AS BIGINT)"

    def execute(self, statement: str) -> None:
        """By a cursor of its own."""
        self.backend.con.cursor().execute(statement)

    @classmethod
    def written(cls, backend: Any, name: str, path: Path, bounds: dict[str, int]) -> DuckdbRows:
        """In one statement."""
        backend.con.cursor().execute(f"CREATE TABLE {name} AS FROM {read_parquet(path)}")
        return cls(backend, name)


class PostgresRows(TableRows):
    """A table of PostgreSQL, whose columns are checked, and which nobody may change who is not allowed to."""

    def run(self, query: str) -> list[Row]:
        """One at a time on a connection, in a transaction that can change nothing."""
        with self._lock, self.backend.con.transaction(), self.backend.con.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            return list(cursor.execute(query).fetchall())

    def _batches(self, query: str) -> Iterator[Any]:
        import pyarrow as pa

        with self._lock, self.backend.con.transaction(), self.backend.con.cursor(name="optcomp_rows") as cursor:
            cursor.execute(query)
            while rows := cursor.fetchmany(_BATCH):
                names = [column.name for column in cursor.description]
                yield pa.record_batch([pa.array(cells, pa.int64()) for cells in zip(*rows, strict=True)], names)

    def _hash(self, words: str) -> str:
        return f"sha256(convert_to({words}, 'UTF8'))"

    def _piece(self, place: int) -> str:
        return f"(get_byte(h, {2 * place}) * 256 + get_byte(h, {2 * place + 1}))"

    def execute(self, statement: str) -> None:
        """In a transaction."""
        with self._lock, self.backend.con.transaction(), self.backend.con.cursor() as cursor:
            cursor.execute(statement)

    def copied(self, name: str, bounds: dict[str, int]) -> PostgresRows:
        """With the same checks."""
        columns = ", ".join(bounds)
        made = _created(name, bounds)
        self.execute(f"{made}; INSERT INTO {name} ({columns}) SELECT {columns} FROM {self.name}")
        return PostgresRows(self.backend, name)

    @classmethod
    def written(cls, backend: Any, name: str, path: Path, bounds: dict[str, int]) -> PostgresRows:
        """Batch by batch, all in one transaction."""
        made = cls(backend, name)
        with made._lock, backend.con.transaction(), backend.con.cursor() as cursor:
            cursor.execute(_created(name, bounds))
            with cursor.copy(f"COPY {name} ({', '.join(bounds)}) FROM STDIN (FORMAT csv)") as copied:
                for block in _as_csv(path, list(bounds)):
                    copied.write(block)
        return made


def _created(name: str, bounds: dict[str, int]) -> str:
    """The statements that make a table of PostgreSQL, each column within its range."""
    columns = ", ".join(
        f"{column} {'bigint' if wide(most) else 'integer'} CHECK ({column} BETWEEN 0 AND {most})"
        for column, most in bounds.items()
    )
    return f"CREATE TABLE {name} ({columns}); REVOKE ALL ON {name} FROM PUBLIC"


class SparkRows(TableRows):
    """A table of Spark."""

    _text = "STRING"

    def run(self, query: str) -> list[Row]:
        """Not by Ibis, which would take the rows through floats because of their nulls."""
        return [tuple(row) for row in self.backend.raw_sql(query).collect()]

    def _batches(self, query: str) -> Iterator[Any]:
        """Through this machine whole: Spark has no stream of batches."""
        yield from self.backend._session.sql(query).toArrow().to_batches(_BATCH)

    def _hash(self, words: str) -> str:
        return f"sha2({words}, 256)"

    def _piece(self, place: int) -> str:
        return f"CAST(conv(substr(h, {4 * place + 1}, 4), 16, 10) AS BIGINT)"

    def execute(self, statement: str) -> None:
        """By Spark itself."""
        self.backend._session.sql(statement.replace(" AS SELECT", " USING parquet AS SELECT", 1))

    @classmethod
    def written(cls, backend: Any, name: str, path: Path, bounds: dict[str, int]) -> SparkRows:
        """Spark reads the file, which must be where its workers see it."""
        backend._session.read.parquet(str(path)).select(*bounds).write.format("parquet").saveAsTable(name)
        return cls(backend, name)


_KINDS: dict[str, type[TableRows]] = {"duckdb": DuckdbRows, "postgres": PostgresRows, "pyspark": SparkRows}
"""By the name of the engine."""


def kind_of_rows(backend: Any) -> type[TableRows]:
    """How rows are kept on this connection; refuses other engines."""
    found = _KINDS.get(str(getattr(backend, "name", "")))
    if found is None:
        known = "DuckDB, PostgreSQL or Spark"
        raise InvalidInput("connection", type(backend).__name__, f"must be a connection of Ibis to {known}")
    return found


_locks: WeakKeyDictionary[Any, threading.Lock] = WeakKeyDictionary()
"""By connection, for as long as it lives."""
_locking = threading.Lock()
"""Held while a lock is looked up."""


def connection_lock(backend: Any) -> threading.Lock:
    """The lock of a connection, the same for all tables on it: an engine takes one query at a time from it."""
    with _locking:
        try:
            return _locks.setdefault(getattr(backend, "con", backend), threading.Lock())
        except TypeError:  # a connection that cannot be referred to: of this backend, then
            return _locks.setdefault(backend, threading.Lock())


def _as_csv(path: Path, columns: list[str]) -> Iterator[bytes]:
    """The rows of a Parquet file as lines."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq

    options = arrow_csv.WriteOptions(include_header=False)
    for batch in pq.ParquetFile(path).iter_batches(columns=columns):
        sink = pa.BufferOutputStream()
        arrow_csv.write_csv(batch.select(columns), sink, options)
        yield sink.getvalue().to_pybytes()
