"""The database under a ledger: durable commits, one writer at a time, and nothing that two processes could share.

SQLite runs in WAL mode with synchronous = FULL, PostgreSQL with synchronous_commit = on: both are read back, for a
commit that may be lost with the power is none.  Every write begins by taking the lock of the whole ledger, BEGIN
IMMEDIATE in SQLite and an advisory lock in PostgreSQL; so what a write reads stays true until it commits.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Select, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from optcomp.errors import CannotBeShared, InvalidInput
from optcomp.extras import needed
from optcomp.ledger.transactions import Row, Run, Statement, Transaction

_WAIT = 120
"""Seconds that a write waits for its turn."""
_FETCHED = 2000
"""Rows that are in memory at a time while a whole table is read."""
LOCK = 7304170352
"""The number of PostgreSQL's advisory lock: a ledger has a database of its own, in which this is the only one."""
_BEGIN = {
    True: ("BEGIN IMMEDIATE",),
    False: ("BEGIN ISOLATION LEVEL READ COMMITTED", f"SELECT pg_advisory_xact_lock({LOCK})"),
}
"""How a write begins, in SQLite or not.  It must see what was written while it waited, whatever a server's default."""
_READY = 4
"""Connections that are kept for writes: more would not write at once."""
OWN_BEGIN = "optcomp_own_begin"
"""The execution option of a connection whose transactions are begun by ourselves, for they write."""
_PLACE = "optcomp_place"
"""Under which a connection remembers what it is connected to."""
_DURABLE = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
"""What every connection to SQLite must answer to these pragmas."""
_LIGHTLY = {
    True: ("PRAGMA synchronous = NORMAL", "BEGIN IMMEDIATE"),
    False: ("BEGIN", "SET LOCAL synchronous_commit = off"),
}
"""How SQLite, and how another database, begins a write that need not be durable."""
_CHECKPOINT = 8_000
"""Pages of SQLite's log, 4 kB each, after which it is brought into the file: a page that every write changes is copied
once for hundreds of writes."""


class NoLedgerYet(InvalidInput):
    """There is nothing at the address; somebody may be making a ledger there just now."""


class WholeReading:
    """Whole tables, row by row."""

    def __init__(self, connection: Connection, opened: ExitStack) -> None:
        self.connection, self._opened = connection, opened

    def rows(self, statement: Select[Any]) -> Iterator[Any]:
        """The rows of a query, of which few are in memory at a time; several queries may go on side by side."""
        found = self.connection.execute(statement.execution_options(yield_per=_FETCHED))
        return iter(self._opened.enter_context(closing(found)))


class Database:
    """Where a ledger lives."""

    def __init__(self, address: str | Path, *, create: bool, argument: str = "ledger") -> None:
        """`argument` is what errors call it."""
        self._process, self._argument = os.getpid(), argument
        self.url = _url(address)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        if self.sqlite:
            _check_file(self.path, create=create)
        self._begin = _BEGIN[self.sqlite]
        self.engine = _engine(self.url, sqlite=self.sqlite)
        self._ready: list[Connection] = []

    @property
    def path(self) -> Path:
        """The file, of SQLite."""
        return Path(str(self.url.database))

    @property
    def shown(self) -> str:
        """The address without its password and its options."""
        if self.sqlite:
            return str(self.path)
        return self.url.set(query={}).render_as_string(hide_password=True)  # options may hold a password too

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the ledger."""
        self.check_process()
        with self._told(), self.engine.begin() as connection:
            yield connection

    def row(self, statement: Statement, values: Mapping[str, Any]) -> Row:
        """The only row of one query, which needs no transaction."""
        self.check_process()
        with self._told():
            borrowed = self.engine.raw_connection()
            try:
                driver: Any = borrowed.driver_connection
                found: Row = driver.execute(statement.text(self.engine.dialect), values).fetchone()
                return found
            finally:
                borrowed.close()

    @contextmanager
    def read_whole(self) -> Iterator[WholeReading]:
        """A transaction of many reads that all see the same state; rows are fetched as they are needed."""
        with self.read() as connection, ExitStack() as opened:
            yield WholeReading(connection, opened)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """The connection of a transaction that nobody else writes beside; durable when the block is left."""
        with self.transaction() as transaction:
            yield transaction.connection

    @contextmanager
    def write_lightly(self) -> Iterator[Connection]:
        """A write that may be lost with the power, such as of a counter; it does not wait for the disk."""
        self.check_process()
        with self._told(), self.engine.connect().execution_options(**{OWN_BEGIN: True}) as connection:
            driver: Any = connection.connection.driver_connection
            try:
                for command in _LIGHTLY[self.sqlite]:
                    driver.execute(command)
                yield connection
                driver.commit()
            except BaseException:
                driver.rollback()
                raise
            finally:
                if self.sqlite:
                    driver.execute(f"PRAGMA synchronous = {_DURABLE['synchronous']}")

    @contextmanager
    def transaction(self, reads: Sequence[Run] = ()) -> Iterator[Transaction]:
        """The same with its first reads; what is `finish`ed inside is committed there."""
        self.check_process()
        with self._told(), self._kept() as connection:
            transaction = Transaction(connection)
            try:
                transaction.begin(self._begin, reads)
                yield transaction
                transaction.commit()
            except BaseException:
                transaction.roll_back()
                raise

    @contextmanager
    def _kept(self) -> Iterator[Connection]:
        """A connection that is kept for the next write, unless this one fails: making one ready takes time."""
        try:
            connection = self._ready.pop()
        except IndexError:
            connection = self.engine.connect().execution_options(**{OWN_BEGIN: True})
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if connection.in_transaction():  # as SQLAlchemy sees it, which was told nothing of the commit
            connection.rollback()
        if len(self._ready) < _READY:
            self._ready.append(connection)
        else:
            connection.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What a database says about its failures may quote addresses and parameters: it is told by type alone."""
        try:
            yield
        except IntegrityError:
            raise
        except (DBAPIError, self.engine.dialect.loaded_dbapi.Error) as error:
            kind = type(error.orig if isinstance(error, DBAPIError) else error).__name__
        else:
            return
        raise InvalidInput(
            self._argument, self.shown, f"the database cannot be used now ({kind}); nothing was revealed"
        ) from None

    def check_process(self) -> None:
        """Refuses a process that was forked: it would share the connections of its parent."""
        here = os.getpid()
        if here != self._process:
            reason = f"was opened in process {self._process} and is used in process {here}: open it again in this one"
            raise CannotBeShared(f"ledger {self.shown!r}", reason)

    @contextmanager
    def borrowed(self) -> Iterator[Any]:
        """The driver's own connection."""
        self.check_process()
        with self._told(), self.engine.connect() as connection:
            yield connection.connection.driver_connection

    def place(self, connection: Connection) -> str:
        """Which file or database this is; a copy is another one."""
        if self.sqlite:
            found = os.stat(str(self.url.database))
            return f"inode {found.st_ino}"  # the number of a device may change when the machine starts
        known = connection.info.get(_PLACE)
        if known is None:
            known = connection.info[_PLACE] = _postgres_place(connection)
        return str(known)

    def settle(self) -> None:
        """Bring what was committed into SQLite's file: a copy of a new ledger without its -wal must not look empty."""
        if self.sqlite:
            with self.engine.connect() as connection:
                connection.connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Give back all connections."""
        if os.getpid() == self._process:
            while self._ready:
                self._ready.pop().close()
        self.engine.dispose(close=os.getpid() == self._process)


def _postgres_place(connection: Connection) -> str:
    """The cluster, the database and the timeline, which a restored cluster or a promoted standby has not in common."""
    found = connection.execute(
        text(
            "SELECT s.system_identifier, d.oid, c.timeline_id"
            " FROM pg_control_system() s, pg_control_checkpoint() c, pg_database d"
            " WHERE d.datname = current_database()"
        )
    ).one()
    return ":".join(str(part) for part in found)


def _url(address: str | Path) -> URL:
    words = str(address)
    if not isinstance(address, str | Path) or not words or "\0" in words:
        raise InvalidInput("ledger", address, "must be the path of a file or a postgresql:// address")
    if "://" not in words:
        return URL.create("sqlite", database=os.path.realpath(words))  # a link is the ledger that it leads to
    try:
        url = make_url(words)
    except (ArgumentError, ValueError):
        raise InvalidInput("ledger", words.partition("://")[0] + "://…", "is not an address") from None
    if url.get_backend_name() != "postgresql":
        raise InvalidInput("ledger", url.drivername, "must be the path of a file or a postgresql:// address")
    needed("psycopg", "postgres")
    return url.set(drivername="postgresql+psycopg")


def _check_file(path: Path, *, create: bool) -> None:
    if path.is_dir():
        raise InvalidInput("ledger", str(path), "is a folder; a ledger is a file")
    if path.exists() and path.stat().st_size:
        if not _is_database(path):
            raise InvalidInput("ledger", str(path), "is not a ledger")
        return
    if not create:
        raise NoLedgerYet("ledger", str(path), "is an empty file" if path.exists() else "does not exist")
    if not path.parent.is_dir():
        raise InvalidInput("ledger", str(path), "lies in a folder that does not exist")


def _is_database(path: Path) -> bool:
    """Whether it is a file of SQLite; asked of SQLite itself.

    Whoever opens and closes the file by other means takes away all locks that this process has on it (POSIX).  Another
    process then believes that it is the last one, and removes the log into which this one goes on writing.
    """
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as looking:
        try:
            looking.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError:  # it cannot be read now, which is told when it is used
            return True
        except sqlite3.DatabaseError:
            return False
    return True


def _engine(url: URL, *, sqlite: bool) -> Engine:
    if not sqlite:
        engine = create_engine(url, pool_size=8, max_overflow=32, pool_timeout=_WAIT, hide_parameters=True)
        event.listen(engine, "connect", _prepare_postgres)
        event.listen(engine, "begin", _begin_postgres)
        return engine
    options = {"timeout": _WAIT, "check_same_thread": False}
    engine = create_engine(url, connect_args=options, pool_size=8, max_overflow=32, pool_timeout=_WAIT)
    engine.hide_parameters = True
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(raw: Any, _record: Any) -> None:
    raw.isolation_level = None  # transactions begin where we say
    raw.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}")
    for pragma, wanted in _DURABLE.items():
        raw.execute(f"PRAGMA {pragma} = {wanted}")
        (found,) = raw.execute(f"PRAGMA {pragma}").fetchone()
        if found != wanted:
            raise InvalidInput("ledger", f"{pragma} = {found}", f"its folder does not allow {pragma} = {wanted}")


def _begin_sqlite(connection: Connection) -> None:
    if OWN_BEGIN not in connection.get_execution_options():
        connection.exec_driver_sql("BEGIN")


def _begin_postgres(connection: Connection) -> None:
    if OWN_BEGIN not in connection.get_execution_options():
        connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


def _prepare_postgres(raw: Any, _record: Any) -> None:
    raw.autocommit = True  # transactions begin where we say
    with raw.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")
        cursor.execute("SELECT current_setting('synchronous_commit'), current_setting('fsync')")
        found = cursor.fetchone()
    if found != ("on", "on"):
        raise InvalidInput("ledger", f"synchronous_commit, fsync = {found}", "must both be on")
