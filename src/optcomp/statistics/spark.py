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
from optcomp.statistics.domains import Domain, Text
from optcomp.statistics.encoding import MOST_ROWS, PERSON, cell_name, check_kinds, text_name, unreadable
from optcomp.statistics.engines import Rows, SparkRows
from optcomp.statistics.preparing import SPARK, Lot
from optcomp.statistics.sources import Relation

_NOBODY = "unreadable"
"""The column that says why somebody's name cannot be read."""


def in_spark(source: object) -> TypeGuard[Relation]:
    """Whether the source is a table of Spark."""
    return isinstance(source, Relation) and source.backend.name == "pyspark"


def prepare_in_spark(source: Relation, declared: Declared, key: bytes, *, refuse: bool) -> tuple[Rows, tuple[str, ...]]:
    """The rows of a snapshot as a table of Spark, which is dropped with the object; and texts that nobody declared."""
    check_kinds(declared, source)
    session, token = source.backend._session, secrets.token_hex(8)
    staged, kept, listed = f"optcomp_staged_{token}", f"optcomp_{token}", f"optcomp_texts_{token}"
    try:
        _encoded(session, source, declared).write.format("parquet").saveAsTable(staged)
        _check(session, source, declared, staged, refuse=refuse)
        texts = _texts(session, declared, staged)
        session.createDataFrame(list(enumerate(texts)), "place long, word string").createOrReplaceTempView(listed)
        session.sql(_query(declared, key, staged, listed)).write.format("parquet").saveAsTable(kept)
    except UnreadableData:
        raise
    except Exception as error:
        raise UnreadableData(source.name, f"Spark cannot read it ({type(error).__name__})") from None
    finally:
        session.sql(f"DROP TABLE IF EXISTS {staged}")
        session.catalog.dropTempView(listed)
    rows = SparkRows(source.backend, kept)
    finalize(rows, _drop, session, kept)
    return rows, texts


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
    kinds += [f"{text_name(place)} string" for place in _text_places(declared)]
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
            words = dict[str, Any]()
            for place, (name, domain) in enumerate(columns.items()):
                column = cells.plain(batch.column(name))
                if isinstance(domain, Text):
                    text, codes = cells.texts(domain, column)
                    words[text_name(place)] = text.cast(pa.string())
                else:
                    codes, _ = cells.encode(domain, column)
                found[cell_name(place)] = pa.array(codes.astype(np.int32))
            found |= words
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


def _text_places(declared: Declared) -> list[int]:
    """The places of columns of text that nobody declared."""
    return [place for place, domain in enumerate(declared.columns.values()) if isinstance(domain, Text)]


def _texts(session: Any, declared: Declared, staged: str) -> tuple[str, ...]:
    """All texts that nobody declared, each once; on this machine, for the owner."""
    words = [f"SELECT {text_name(place)} AS word FROM {staged}" for place in _text_places(declared)]
    if not words:
        return ()
    found = session.sql(f"SELECT DISTINCT word FROM ({' UNION ALL '.join(words)}) WHERE word IS NOT NULL").collect()
    return tuple(row[0] for row in found)


def _query(declared: Declared, key: bytes, staged: str, listed: str) -> str:
    """What is missing or unreadable becomes null, a text its place in the owner's list; then the lot is drawn."""
    texts, cells_of = _text_places(declared), list[str]()
    for place in range(len(declared.columns)):
        name = cell_name(place)
        made = f"l{place}.place" if place in texts else f"CASE WHEN {name} >= 0 THEN {name} END"
        cells_of.append(f"{made} AS {name}")
    joined = [f"LEFT JOIN {listed} AS l{place} ON {text_name(place)} = l{place}.word" for place in texts]
    rows = " ".join([f"{staged} AS s", *joined])
    if declared.person is None:
        return f"SELECT {', '.join(cells_of or ['c'])} FROM {rows}"
    more = [*(text_name(place) for place in texts), PERSON]
    return Lot(declared, key, SPARK).query(f"(SELECT {', '.join([*(cells_of or ['c']), *more])} FROM {rows})")
