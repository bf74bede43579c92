"""Preparation inside Spark, for tables that one machine cannot hold: the same encoder on its workers, the same lot.

The workers need optcomp and PyArrow.  What the encoder gives is written once, so that a task which Spark runs again, or
a source that changes, cannot give two versions of it; then the lot is drawn from that.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeGuard
from weakref import finalize

import numpy as np

from optcomp.errors import UnreadableData
from optcomp.statistics import cells
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Domain
from optcomp.statistics.encoding import MOST_ROWS, PERSON, cell_name, check_kinds, unreadable
from optcomp.statistics.engines import Rows, SparkRows
from optcomp.statistics.preparing import SPARK, Lot
from optcomp.statistics.sources import Relation

_NOBODY = "unreadable"
"""The column that says why somebody's name cannot be read."""


def in_spark(source: object) -> TypeGuard[Relation]:
    """Whether the source is a table of Spark."""
    return isinstance(source, Relation) and source.backend.name == "pyspark"


def prepare_in_spark(source: Relation, declared: Declared, key: bytes, *, refuse: bool) -> Rows:
    """The rows of a snapshot as a table of Spark, which is dropped with the object."""
    check_kinds(declared, source)
    session, token = source.backend._session, secrets.token_hex(8)
    staged, kept = f"optcomp_staged_{token}", f"optcomp_{token}"
    try:
        _encoded(session, source, declared).write.format("parquet").saveAsTable(staged)
        _check(session, source, declared, staged, refuse=refuse)
        session.sql(_query(declared, key, staged)).write.format("parquet").saveAsTable(kept)
    except UnreadableData:
        raise
    except Exception as error:
        raise UnreadableData(source.name, f"Spark cannot read it ({type(error).__name__})") from None
    finally:
        session.sql(f"DROP TABLE IF EXISTS {staged}")
    rows = SparkRows(source.backend, kept)
    finalize(rows, _drop, session, kept)
    return rows


def _drop(session: Any, table: str) -> None:
    with suppress(Exception):  # the session may have ended before
        session.sql(f"DROP TABLE IF EXISTS {table}")


def _encoded(session: Any, source: Relation, declared: Declared) -> Any:
    """Codes of all cells, those of unreadable ones too."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType

    source.backend._run_pre_execute_hooks(source.relation)
    frame = session.sql(str(source.backend.compile(source.relation)))
    short = [
        sql.substring(sql.col(_quoted(field.name)), 1, cells.MOST_LETTERS + 1).alias(field.name)
        if isinstance(field.dataType, StringType)
        else sql.col(_quoted(field.name))
        for field in frame.schema.fields
    ]
    kinds = [f"{cell_name(place)} int" for place in range(len(declared.columns))] or ["c int"]
    kinds += [f"{PERSON} string", f"{_NOBODY} int"] if declared.person is not None else []
    with _same_python(session):
        return frame.select(*short).mapInArrow(_encoder(dict(declared.columns), declared.person), ", ".join(kinds))


@contextmanager
def _same_python(session: Any) -> Iterator[None]:
    """Workers on this machine run the Python that runs here, not whichever is called python3."""
    context = session.sparkContext
    before = context.pythonExec
    if context.master.startswith("local"):
        context.pythonExec = sys.executable
    try:
        yield
    finally:
        context.pythonExec = before


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _encoder(columns: dict[str, Domain], person: str | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What runs on the workers."""

    def encode(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            found = dict[str, Any]()
            for place, (name, domain) in enumerate(columns.items()):
                codes, _ = cells.encode(domain, cells.plain(batch.column(name)))
                found[cell_name(place)] = pa.array(codes.astype(np.int32))
            if not found:
                found["c"] = pa.nulls(batch.num_rows, pa.int32())
            if person is not None:
                owner, codes = cells.person(cells.plain(batch.column(person)))
                found[PERSON] = owner.cast(pa.string())
                found[_NOBODY] = pa.array(codes.astype(np.int32))
            yield pa.record_batch(found)

    return encode


def _check(session: Any, source: Relation, declared: Declared, staged: str, *, refuse: bool) -> None:
    """Refuses a table that is too large, or has cells that cannot be read."""
    columns = {name: cell_name(place) for place, name in enumerate(declared.columns)}
    if declared.person is not None:
        columns[declared.person] = _NOBODY
    counts = [f"sum(CASE WHEN {column} = {why} THEN 1 ELSE 0 END)" for column in columns.values() for why in cells.WHY]
    ((rows, *found),) = (
        tuple(row) for row in session.sql(f"SELECT {', '.join(['count(*)', *counts])} FROM {staged}").collect()
    )
    if rows > MOST_ROWS:
        raise UnreadableData(source.name, f"has more than {MOST_ROWS:,} rows")
    bad = {
        (name, why): int(count or 0)
        for (name, why), count in zip(((name, why) for name in columns for why in cells.WHY), found, strict=True)
        if count
    }
    if bad and refuse:
        (name, why), *_ = bad
        raise unreadable(f"{source.name}, column {name!r}", cells.WHY[why], 0, sum(bad.values()))


def _query(declared: Declared, key: bytes, staged: str) -> str:
    """What is missing or unreadable becomes null, then the lot is drawn."""
    names = [cell_name(place) for place in range(len(declared.columns))]
    plain = ", ".join([f"CASE WHEN {name} >= 0 THEN {name} END AS {name}" for name in names] or ["c"])
    if declared.person is None:
        return f"SELECT {plain} FROM {staged}"
    return Lot(declared, key, SPARK).query(f"(SELECT {plain}, {PERSON} FROM {staged})")
