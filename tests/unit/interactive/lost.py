"""A table whose rows a database keeps, and loses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import ibis

from optcomp.statistics import Table


def kept_by_an_engine(table: Table) -> tuple[Table, Callable[[], None]]:
    """The same table with its rows in a database, and what makes the database lose them."""
    connection = ibis.duckdb.connect()
    with TemporaryDirectory() as folder:
        path = table.save(Path(folder) / "snapshot", connection=connection)
        found = Table.open(path, connection=connection)
    ((name,),) = connection.con.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    return found, lambda: connection.drop_table(name)
