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

__all__ = ["Lines", "Relation", "Source", "is_relation", "opened"]


def opened(source: object, used: Collection[str], numbers: Collection[str], multiline: bool = False) -> Source:
    """The cells of the columns `used`, of which `numbers` are declared as numbers."""
    needed("pyarrow", "data")
    if is_relation(source):
        return Relation(source, used)
    if isinstance(source, str | Path):
        return opened_file(Path(source), used, multiline)
    return Frame(source, used, numbers)
