"""Tables for tests: the same rows as CSV, Parquet, Arrow or a data frame, and tables whose rows can be exchanged."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from optcomp.statistics import Domain, Statistic, Table

Row = tuple[Any, ...]
Vectors = tuple[tuple[int, ...], ...]
KINDS = ("csv", "tsv", "parquet", "arrow", "pandas")


class Changing:
    """A table that is prepared anew, when it is needed, after its rows have changed; its queries are built once."""

    def __init__(self, types: Mapping[str, str], columns: Mapping[str, Domain], **declared: Any) -> None:
        self._backend = ibis.duckdb.connect(threads=1)
        self._execute = self._backend.con.execute
        typed = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
        self._execute(f"CREATE TABLE people ({typed})")
        self._columns, self._declared = columns, declared
        self._queries: dict[Any, str] = {}
        self._rows: list[Row] = []
        self._table: Table | None = None

    @property
    def table(self) -> Table:
        """Of the rows that are there now."""
        if self._table is None:
            self._table = Table(self._backend.table("people"), self._columns, **self._declared)
            self._table._queries = self._queries  # the same text whatever the rows are
        return self._table

    def fill(self, rows: Sequence[Row]) -> None:
        """These rows and no others."""
        self._execute("DELETE FROM people")
        if rows:
            places = ", ".join("(" + ", ".join("?" * len(rows[0])) + ")" for _ in rows)
            self._execute(f"INSERT INTO people VALUES {places}", [cell for row in rows for cell in row])
        self._rows, self._table = list(rows), None

    def query(self, rows: str) -> None:
        """The rows of a query and no others."""
        self._execute("DELETE FROM people")
        self._execute(f"INSERT INTO people {rows}")
        self._rows, self._table = self.stored(), None

    def stored(self) -> list[Row]:
        """The rows as the engine keeps them."""
        return list(self._execute("FROM people").fetchall())

    def measure(self, statistic: Statistic, rows: Sequence[Row]) -> Vectors:
        """The exact integers of a statistic of these rows."""
        if self._rows is not rows and list(rows) != self._rows:
            self.fill(rows)
        return statistic.measure(self.table)


def made(kind: str, folder: Path, data: Mapping[str, Sequence[Any]], columns: Mapping[str, Domain], **kw: Any) -> Table:
    """The columns of text or of plain values, opened in one of the ways there are."""
    if kind in ("csv", "tsv"):
        path = folder / f"people.{kind}"
        with path.open("w", encoding="utf8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL, delimiter="," if kind == "csv" else "\t")
            writer.writerow(data)
            writer.writerows(zip(*data.values(), strict=True))
        return Table(path, columns, **kw)
    if kind == "pandas":
        frame = pd.DataFrame({name: pd.Series(list(cells), dtype=object) for name, cells in data.items()})
        return Table(frame, columns, **kw)
    arrow = pa.table({name: pa.array(cells) for name, cells in data.items()})
    if kind == "arrow":
        return Table(arrow, columns, **kw)
    pq.write_table(arrow, folder / "people.parquet")
    return Table(folder / "people.parquet", columns, **kw)


def l1(vector: Sequence[int], other: Sequence[int]) -> int:
    """How far apart two vectors are, summed up."""
    return sum(abs(a - b) for a, b in zip(vector, other, strict=True))


def l2_squared(vector: Sequence[int], other: Sequence[int]) -> int:
    """The same for squares."""
    return sum((a - b) ** 2 for a, b in zip(vector, other, strict=True))
