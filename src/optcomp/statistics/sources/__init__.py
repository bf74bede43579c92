"""Where tables come from: CSV and Parquet files, data frames, Arrow tables, tables of databases and of Spark.

A source gives batches of cells of the columns that are asked for, and nothing else is read.  Nothing about a file is
guessed from its rows, only from its header: one person's cell must not change how the cells of others are read.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from optcomp.extras import needed
from optcomp.statistics.sources.files import opened_file
from optcomp.statistics.sources.frames import Frame
from optcomp.statistics.sources.relations import Relation, is_relation
from optcomp.statistics.sources.source import Lines, Source

__all__ = ["Lines", "Relation", "Source", "is_relation", "named_columns", "opened"]


def opened(source: object, used: Collection[str], numbers: Collection[str], multiline: bool = False) -> Source:
    """The cells of the columns `used`, of which `numbers` are declared as numbers."""
    needed("pyarrow", "data")
    if is_relation(source):
        return Relation(source, used)
    if isinstance(source, str | Path):
        return opened_file(Path(source), used, multiline)
    return Frame(source, used, numbers)


def named_columns(source: object, *, multiline: bool = False) -> dict[str, str]:
    """All columns of a source, each with what its type says it holds: integers, reals, categories; or nothing.

    No cell is read.  The cells of a file of lines are text, so nothing is said of them.
    """
    import pyarrow as pa

    names = opened(source, (), (), multiline).columns
    kinds = opened(source, dict.fromkeys(names), (), multiline).kinds
    tests = {
        "integers": pa.types.is_integer,
        "reals": lambda kind: pa.types.is_floating(kind) or pa.types.is_decimal(kind),
        "categories": lambda kind: (
            pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
        ),
    }
    return {name: next((what for what, test in tests.items() if test(kinds[name])), "") for name in names}
