"""The engines that tables are read from, each with its types of columns and its own odd cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import ibis
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tests.campaign import column_kinds, odd_cells
from tests.campaign.column_kinds import Kind
from tests.oracles.cells import Cell
from tests.oracles.lines import read_lines

Row = Any
"""Cells of an engine by column, or a line of a file."""
Record = tuple[int, list[Cell] | None]
"""The number of a row or line, counted from 1, and what an oracle reads in it: nothing if it is no row at all."""
Kinds = Mapping[str, Kind]


class Engine(ABC):
    """Makes tables of rows that may be odd."""

    kinds: Sequence[Kind]
    others: Sequence[Kind] = ()
    """Types of columns that may be there if they are not declared."""
    where = "the table"
    unit = "row"
    ordered = True
    """Whether rows are read in the order in which they were written."""

    def row(self, rng: Random, kinds: Kinds, numbers: frozenset[str], owner: Any, *, odd: bool) -> Row:
        """A row of a person, whose cell is the first."""
        others = list(kinds.items())[1:]
        return (owner, *(kind.odd(rng) if odd else kind.plain(rng, name in numbers) for name, kind in others))

    def records(self, kinds: Kinds, rows: Sequence[Row]) -> list[Record]:
        """What an oracle reads."""
        return [
            (place, [kind.read(cell) for kind, cell in zip(kinds.values(), row, strict=True)])
            for place, row in enumerate(rows, 1)
        ]

    @abstractmethod
    def source(self, kinds: Kinds, rows: Sequence[Row]) -> Any:
        """The table, as people would give it."""

    @property
    def told(self) -> str:
        """How errors name the last table."""
        return self.where

    def forget(self) -> None:  # noqa: B027
        """Drop what was made for the last instance; most make nothing."""


class Files(Engine):
    """Lines with a delimiter; all cells are text."""

    unit = "line"

    def __init__(self, folder: Path, suffix: str, delimiter: str) -> None:
        self._path, self._delimiter, self.where = folder / f"people.{suffix}", delimiter.encode(), f"people.{suffix}"
        self.kinds = [column_kinds.words("text", lambda rng: odd_cells.raw(rng).replace(b"\n", b""), encode=True)]

    def row(self, rng: Random, kinds: Kinds, numbers: frozenset[str], owner: Any, *, odd: bool) -> Row:
        """A line; if it is odd, perhaps one that cannot be told apart into cells."""
        cells = super().row(rng, kinds, numbers, owner, odd=odd)
        line = self._delimiter.join(self._written(rng, cell or b"") for cell in cells)
        if not odd or rng.random() < 0.6:
            return line
        broken = self._broken(rng, line)
        ((_, found),) = self.records(kinds, [broken]) or [(0, None)]
        return broken if found is None or found[0] == (owner or b"") else line

    def _written(self, rng: Random, cell: bytes) -> bytes:
        if rng.random() < 0.3 or any(each in cell for each in (b'"', b"\r", self._delimiter)):
            return b'"' + cell.replace(b'"', b'""') + b'"'
        return cell

    def _broken(self, rng: Random, line: bytes) -> bytes:
        """With something too many, or too few."""
        place = rng.randint(0, len(line))
        change = rng.choice([b'"', self._delimiter, b"\r", b'""', b'"x', b"\0", b"\xff", b""])
        if not change:
            return line[:place]
        return line[:place] + change + line[place:]

    def _body(self, rows: Sequence[Row]) -> bytes:
        return b"\n".join([*rows, b""])

    def records(self, kinds: Kinds, rows: Sequence[Row]) -> list[Record]:
        """Line by line."""
        lines = read_lines(self._body(rows), self._delimiter, len(kinds))
        return [(number, None if cells is None else [*cells]) for number, cells in lines]

    def source(self, kinds: Kinds, rows: Sequence[Row]) -> Any:
        """A file."""
        self._path.write_bytes(self._delimiter.join(name.encode() for name in kinds) + b"\n" + self._body(rows))
        return self._path


class Arrow(Engine):
    """Tables of Arrow."""

    kinds, others = column_kinds.ARROW, (column_kinds.nested(pa.list_(pa.int64())),)

    def source(self, kinds: Kinds, rows: Sequence[Row]) -> Any:
        """In memory."""
        cells = list(zip(*rows, strict=True)) or [()] * len(kinds)
        return pa.table(
            {name: _array(kind.name, each) for (name, kind), each in zip(kinds.items(), cells, strict=True)}
        )


def _array(kind: Any, cells: Sequence[Any]) -> Any:
    """Text is made of bytes without a look at them, so that it may be anything."""
    if isinstance(kind, str):
        if kind == "string_view":
            return pa.array(cells, pa.binary_view()).view(pa.string_view())
        if kind in ("string", "dictionary"):
            found = pa.array(cells, pa.binary()).view(pa.string())
            return found.dictionary_encode() if kind == "dictionary" else found
        if kind == "large_string":
            return pa.array(cells, pa.large_binary()).view(pa.large_string())
        return pa.array(cells, getattr(pa, kind)())
    if pa.types.is_temporal(kind):
        return pa.array(cells, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)
    return pa.array(cells, kind)


class Parquet(Arrow):
    """Files of Parquet."""

    where = "people.parquet"

    def __init__(self, folder: Path) -> None:
        self.kinds = [kind for kind in self.kinds if kind.name != pa.timestamp("s")]  # which Parquet does not have
        self._path = folder / "people.parquet"

    def source(self, kinds: Kinds, rows: Sequence[Row]) -> Any:
        """In row groups of a few rows."""
        pq.write_table(super().source(kinds, rows), self._path, row_group_size=3)
        return self._path


class Pandas(Engine):
    """Data frames of Python objects."""

    kinds = column_kinds.PANDAS

    def source(self, kinds: Kinds, rows: Sequence[Row]) -> Any:
        """In memory."""
        made = {}
        for place, name in enumerate(kinds):
            column = pd.Series([None] * len(rows), dtype=object)
            for number, row in enumerate(rows):
                column.array[number] = row[place]
            made[name] = column
        return pd.DataFrame(made)


class Database(Engine):
    """Tables of a database."""

    _numbers = count()

    def __init__(self, backend: Any) -> None:
        self.backend, self._made = backend, list[str]()

    def source(self, kinds: Kinds, rows: Sequence[Row]) -> Any:
        """A new table."""
        name = f"people{next(self._numbers)}"
        self._made.append(name)
        self._fill(name, kinds, rows)
        return self.backend.table(name)

    @property
    def told(self) -> str:
        """By its name."""
        return self._made[-1]

    @abstractmethod
    def _fill(self, name: str, kinds: Kinds, rows: Sequence[Row]) -> None: ...

    def _typed(self, kinds: Kinds) -> str:
        return ", ".join(f"{name} {kind.name}" for name, kind in kinds.items())


class DuckDB(Database):
    """Tables of DuckDB."""

    kinds, others = column_kinds.DUCKDB, (column_kinds.nested("INTEGER[]"),)

    def _fill(self, name: str, kinds: Kinds, rows: Sequence[Row]) -> None:
        cursor = self.backend.con.cursor()
        cursor.execute(f"CREATE TABLE {name} ({self._typed(kinds)})")
        places = ", ".join("?" * len(kinds))
        for row in rows:
            cursor.execute(f"INSERT INTO {name} VALUES ({places})", list(row))

    def forget(self) -> None:
        """By name."""
        for name in self._made:
            self.backend.con.cursor().execute(f"DROP TABLE {name}")
        self._made.clear()


class Postgres(Database):
    """Tables of PostgreSQL."""

    kinds, others = column_kinds.POSTGRES, (column_kinds.nested("integer[]"),)

    def _fill(self, name: str, kinds: Kinds, rows: Sequence[Row]) -> None:
        places = ", ".join(["%s"] * len(kinds))
        with self.backend.con.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {name} ({self._typed(kinds)})")
            cursor.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
        self.backend.con.commit()

    def forget(self) -> None:
        """By name."""
        with self.backend.con.cursor() as cursor:
            for name in self._made:
                cursor.execute(f"DROP TABLE {name}")
        self.backend.con.commit()
        self._made.clear()


class Spark(Database):
    """Tables of Spark."""

    kinds, others = column_kinds.SPARK, (column_kinds.nested("array<int>"),)
    ordered = False

    def _fill(self, name: str, kinds: Kinds, rows: Sequence[Row]) -> None:
        session = self.backend._session
        session.createDataFrame([tuple(row) for row in rows], self._typed(kinds)).createOrReplaceTempView(name)

    def forget(self) -> None:
        """By name."""
        for name in self._made:
            self.backend._session.catalog.dropTempView(name)
        self._made.clear()


def local_engines(folder: Path) -> dict[str, Engine]:
    """Those that need no server."""
    return {
        "csv": Files(folder, "csv", ","),
        "tsv": Files(folder, "tsv", "\t"),
        "parquet": Parquet(folder),
        "arrow": Arrow(),
        "pandas": Pandas(),
        "duckdb": DuckDB(ibis.duckdb.connect(threads=1)),
    }
