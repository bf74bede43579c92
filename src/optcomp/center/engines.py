"""Connections to the databases and to the Spark that the settings list.

A Spark is listed as `pyspark://?spark.master=spark://HOST:7077&spark.sql.catalogImplementation=hive&…`: what follows
the question mark is its configuration.  A process has one Spark, so only one may be listed.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from optcomp.extras import needed
from optcomp.statistics import database_at

SPARK = "pyspark://"
"""How the address of a Spark begins."""
_POSTGRES = ("postgresql://", "postgres://")
"""How those of PostgreSQL begin."""
_CATALOGUE = "spark.sql.catalogImplementation"
"""Which catalogue a Spark has: that of Hive outlasts a process, the other one does not."""


def connected(address: str) -> Any:
    """A connection of Ibis, for an owner who registers a table."""
    return spark_at(address) if address.startswith(SPARK) else database_at(address)


def reading(engine: str | None, address: str) -> Any:
    """A connection for questions to an engine of this name; None if the address is of another kind."""
    if engine == "postgres" and address.startswith(_POSTGRES):
        return _postgres(address)
    return spark_at(address) if engine == "pyspark" and address.startswith(SPARK) else None


def spark_at(address: str) -> Any:
    """Spark with the configuration that its address has."""
    ibis, spark = needed("ibis", "data"), needed("pyspark.sql", "spark")
    builder = spark.SparkSession.builder.appName("optcomp")
    for name, value in parse_qsl(urlsplit(address).query):
        builder = builder.config(name, value)
    return ibis.pyspark.connect(builder.getOrCreate())


def keeps_rows(connection: Any) -> bool:
    """Whether the rows of a snapshot stay where its source is: in a Spark whose catalogue outlasts this process."""
    return bool(connection.name == "pyspark" and connection._session.conf.get(_CATALOGUE, "") == "hive")


def _postgres(address: str) -> Any:
    """A connection that only reads."""
    import ibis
    import psycopg

    connection = psycopg.connect(address, options="-c default_transaction_read_only=on")
    return ibis.postgres.from_connection(connection)
