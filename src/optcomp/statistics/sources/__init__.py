"""Where tables come from: files, data frames, arrays, tables of databases and of Spark.

A source gives batches of cells of the columns that are asked for, and nothing else is read.  Nothing about a file is
guessed from its rows, only from its header: one person's cell must not change how the cells of others are read.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.extras import needed
from optcomp.statistics.sources.database_files import DatabaseTable, database_at, tables_in
from optcomp.statistics.sources.dialect import DECIMALS, ENCODINGS, QUOTES, THOUSANDS, Dialect, read_dialect
from optcomp.statistics.sources.files import FILE_ENDINGS, files_of, is_pattern, opened_file, tables_of
from optcomp.statistics.sources.frames import Frame
from optcomp.statistics.sources.looking import Proposal, has_dialect, propose
from optcomp.statistics.sources.reading import Reading
from optcomp.statistics.sources.relations import JOINS, Relation, is_relation
from optcomp.statistics.sources.source import Lines, Source

__all__ = [
    "DECIMALS",
    "Dialect",
    "ENCODINGS",
    "FILE_ENDINGS",
    "JOINS",
    "Lines",
    "Proposal",
    "QUOTES",
    "Reading",
    "Relation",
    "Source",
    "THOUSANDS",
    "database_at",
    "files_of",
    "has_dialect",
    "is_address",
    "is_pattern",
    "is_relation",
    "named_columns",
    "opened",
    "propose",
    "read_dialect",
    "tables_in",
    "tables_of",
]

_PLAIN = Reading()
"""Nothing is said."""


def is_address(source: object) -> bool:
    """Whether it is the address of a database."""
    return isinstance(source, str) and "://" in source


def opened(source: object, used: Collection[str], numbers: Collection[str], reading: Reading = _PLAIN) -> Source:
    """The cells of the columns `used`, of which `numbers` are declared as numbers."""
    needed("pyarrow", "data")
    if is_relation(source):
        reading.only_lines("a table of Ibis")
        reading.no_table("a table of Ibis")
        return Relation(source, used, reading)
    if isinstance(source, str) and is_address(source):
        return DatabaseTable(source, used, reading)
    if isinstance(source, str | Path):
        return opened_file(Path(source), used, numbers, reading)
    if isinstance(source, list | tuple):
        raise InvalidInput("source", type(source).__name__, f"must be one table: {JOINS}")
    return Frame(source, used, numbers, reading)


def named_columns(
    source: object, *, multiline: bool = False, dialect: object = None, table: str | None = None
) -> dict[str, str]:
    """All columns of a source, each with what its type says it holds: integers, reals, categories; or nothing.

    No cell is read, but the keys of the first line of a file of JSON lines.  The cells of a file of lines are text, so
    nothing is said of them.
    """
    import pyarrow as pa

    reading = Reading.of(multiline, dialect, None, table)
    with closing(opened(source, (), (), reading)) as found:
        names = found.columns
    with closing(opened(source, dict.fromkeys(names), (), reading)) as found:
        kinds: Any = found.kinds
    tests = {
        "integers": pa.types.is_integer,
        "reals": lambda kind: pa.types.is_floating(kind) or pa.types.is_decimal(kind),
        "categories": lambda kind: (
            pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
        ),
    }
    return {name: next((what for what, test in tests.items() if test(kinds[name])), "") for name in names}
