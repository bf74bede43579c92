"""A table about people that statistics can be asked of: read, checked, bounded and frozen before anything is spent.

What questions see is a snapshot: integers on the grids of the declared columns, with no more rows of a person than are
declared.  The source is never looked at again.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from optcomp.errors import InvalidInput
from optcomp.extras import needed
from optcomp.statistics import snapshot
from optcomp.statistics.cells import as_words, plain
from optcomp.statistics.declared import Declared, Neighbours
from optcomp.statistics.domains import Domain, Numbers
from optcomp.statistics.encoding import PERSON, Encoder, cell_name, used_columns
from optcomp.statistics.engines import ParquetRows, Row, Rows, checked_memory, wide
from optcomp.statistics.predicates import columns_of, condition
from optcomp.statistics.preparing import (
    EVERYTHING,
    KEY_BYTES,
    ROWS,
    group_name,
    new_key,
    prepare,
    within_name,
)
from optcomp.statistics.row_files import WorkingFolder
from optcomp.statistics.snapshot import Frozen
from optcomp.statistics.sources import Dialect, Reading, Source, opened
from optcomp.statistics.spark import in_spark, prepare_in_spark

if TYPE_CHECKING:
    import ibis.expr.types as ir

Shape = tuple[str, Callable[[Any], Any]]
"""A column, and what is made of its integers."""
BadCells = Literal["refuse", "missing"]
"""What happens to cells that cannot be read: no table is prepared, or they count as missing."""
_MOST_QUERIES = 1024
"""Kept at a time; text of some kilobytes each."""


class Table(Declared):
    """A table that statistics can be asked of.

    `source` is a file, several by a pattern, the address of a database, a pandas or polars frame, arrays by their
    names, or a table of Arrow or Ibis (docs/snapshots.md lists all).  It is read here and now, and never again.  A cell
    that cannot be read raises `UnreadableData`; `bad_cells="missing"` counts it as missing instead.  `multiline` says
    that quoted cells of a CSV file may hold line breaks, `dialect` how it is written (`Dialect`, or a mapping).
    `rename` maps names in the source to those that are declared, `table` names a table of a database or a sheet of a
    workbook.  `memory` bounds what the engine takes, such as "512MB"; what is larger goes to disk.  `lot_key`, 32
    bytes, decides which rows of a person stay; without it one is drawn.  The rest is as in `Declared`.
    """

    _frozen: Frozen
    _rows: Rows
    _digest: str | None

    def __init__(
        self,
        source: object,
        columns: Mapping[str, Domain],
        *,
        person: str | None = None,
        rows_per_person: int = 1,
        groups_per_person: int | None = None,
        rows_per_group: int | None = None,
        grouped_by: Sequence[str] | None = None,
        neighbours: Neighbours = "add-remove",
        name: str | None = None,
        population: str | None = None,
        bad_cells: BadCells = "refuse",
        multiline: bool = False,
        dialect: Dialect | Mapping[str, Any] | None = None,
        rename: Mapping[str, str] | None = None,
        table: str | None = None,
        memory: str | None = None,
        lot_key: bytes | None = None,
    ) -> None:
        super().__init__(
            columns,
            person=person,
            rows_per_person=rows_per_person,
            groups_per_person=groups_per_person,
            rows_per_group=rows_per_group,
            grouped_by=grouped_by,
            neighbours=neighbours,
            population=population,
        )
        reading = Reading.of(multiline, dialect, rename, table)
        found = _source(source, self, reading)
        object.__setattr__(self, "name", name or found.name)
        if in_spark(found):
            key = _checked(bad_cells, lot_key)
            rows, texts = prepare_in_spark(found, self, key, refuse=bad_cells == "refuse")
            how_read = {"bad_cells": bad_cells, **found.dialect, **reading.written}
            self._hold(Frozen(rows, key, how_read, texts=texts))
            return
        how: dict[str, Any] = {"bad_cells": bad_cells, "memory": memory, "lot_key": lot_key}
        self._hold(Preparation(found, self, **how, **reading.arguments).frozen)

    def _hold(self, frozen: Frozen) -> None:
        self._frozen, self._rows = frozen, frozen.rows
        self._lock = threading.Lock()
        self._queries: dict[Hashable, str] = {}

    def save(self, path: str | Path, *, connection: Any = None) -> Path:
        """Write a snapshot; its rows into a file, or into a table on a connection of Ibis to a database or to Spark."""
        target = Path(path)
        digest = snapshot.save(target, self, self._frozen, connection)
        self._frozen = replace(self._frozen, digest=digest, path=target)
        return target

    @property
    def path(self) -> Path | None:
        """The folder of its snapshot; None of a table that was neither saved nor opened."""
        return self._frozen.path

    @property
    def bound_to(self) -> tuple[str, str] | None:
        """The ledger and the account that its snapshot names, if it names any."""
        return None if self._frozen.path is None else snapshot.named_ledger(self._frozen.path)

    def bind(self, ledger: str, account: str) -> None:
        """Let the snapshot name the ledger and account that pay for questions; one that names others is refused.

        A table that was not saved has nowhere to keep that.
        """
        if self._frozen.path is not None:
            snapshot.name_ledger(self._frozen.path, ledger, account)

    def check_bound(self, ledger: str, account: str) -> None:
        """Refuses a snapshot that names another ledger or account; before anything is paid."""
        if self._frozen.path is not None:
            snapshot.check_ledger(self._frozen.path, ledger, account)

    @classmethod
    def open(cls, path: str | Path, *, connection: Any = None, memory: str | None = None) -> Self:
        """A snapshot that was saved: verified, and ready to be asked."""
        needed("duckdb", "data")
        return cls._held(*snapshot.open_snapshot(Path(path), connection, memory))

    @classmethod
    def _held(cls, declared: Declared, frozen: Frozen) -> Self:
        """Rows that are prepared already."""
        table = cls.__new__(cls)
        for entry in ("columns", "person", "neighbours", "name", "population", "contribution", "grouped_by"):
            object.__setattr__(table, entry, getattr(declared, entry))
        table._hold(frozen)
        return table

    @property
    def digest(self) -> str | None:
        """That of its snapshot, under its own key; None of a table that was neither saved nor opened.  Private."""
        return self._frozen.digest

    @cached_property
    def _relation(self) -> ir.Table:
        """The rows, for expressions: no connection is needed to build them."""
        import ibis

        kinds = {name: "int64" if wide(most) else "int32" for name, most in snapshot.columns_of_rows(self).items()}
        return ibis.table(kinds, name=self._rows.name)

    def rows(
        self,
        shapes: Mapping[str, Shape],
        where: str | None = None,
        grouped: str | None = None,
        *,
        whose: bool = False,
    ) -> ir.Table:
        """The rows that satisfy the condition, with the columns that the shapes make of their integers.

        Of the column `grouped` the groups of each person, and the rows in each group, are bounded too; `whose` adds the
        column that tells people apart, which no answer may hold.
        """
        asked = columns_of(where, self.columns) if where is not None else ()
        for column, *_ in shapes.values():
            self.domain(column, Domain)
        kept = self._relation
        if grouped is not None:
            rank, bounds = self.grouped_by.index(grouped), self.contribution
            kept = kept.filter(kept[group_name(rank)] < bounds.groups, kept[within_name(rank)] < bounds.rows_per_group)
        if where is not None:
            kept = kept.filter(
                condition(where, {column: (self.columns[column], self._cell(kept, column)) for column in asked})
            )
        made = {name: shape(self._cell(kept, column)) for name, (column, shape) in shapes.items()}
        if whose:
            made[PERSON] = kept[PERSON]
        return kept.select(**made) if made else kept

    def _cell(self, rows: ir.Table, column: str) -> Any:
        """The integers of a column; those of numbers within their range, whoever wrote the rows."""
        cell: Any = rows[cell_name(list(self.columns).index(column))].cast("int64")
        domain = self.columns[column]
        if not isinstance(domain, Numbers):
            return cell
        import ibis

        return ibis.cases((cell > domain.top, domain.top), (cell < 0, 0), else_=cell)

    def texts(self, places: Sequence[int]) -> list[str]:
        """The texts of these cells of columns of text, which only what a threshold lets pass may be told by."""
        return [self._frozen.texts[place] for place in places]

    @property
    def text_count(self) -> int:
        """How many texts the owner's list has.  Private."""
        return len(self._frozen.texts)

    def prepared(self, question: Hashable, build: Callable[[Table], ir.Table]) -> str:
        """The query for a question, built once: building takes longer than many an answer.

        A question that could change between two answers is built anew each time.
        """
        lasting = _never_changes(question)
        with self._lock, suppress(TypeError):  # what cannot be hashed is hardly a question: building it will tell
            known = self._queries.get(question) if lasting else None
            if known is not None:
                return known
        import ibis

        known = str(ibis.to_sql(build(self), dialect=self._rows.dialect))
        if lasting:
            with self._lock:
                if len(self._queries) >= _MOST_QUERIES:
                    self._queries.clear()
                self._queries[question] = known
        return known

    def run(self, query: str) -> list[Row]:
        """The rows of a result, by the engine; safe from any thread."""
        return self._rows.run(query)


class Preparation:
    """A table read, bounded and frozen, with exact counts of what was found: for whoever holds the data.

    `source` is what `Table` takes; `keep_everything` keeps the rows before the lot, too.
    """

    def __init__(
        self,
        source: object,
        declared: Declared,
        *,
        bad_cells: BadCells = "refuse",
        multiline: bool = False,
        dialect: Dialect | Mapping[str, Any] | None = None,
        rename: Mapping[str, str] | None = None,
        table: str | None = None,
        memory: str | None = None,
        lot_key: bytes | None = None,
        keep_everything: bool = False,
    ) -> None:
        self.lot_key, memory = _checked(bad_cells, lot_key), checked_memory(memory)
        self.declared = declared
        reading = Reading.of(multiline, dialect, rename, table)
        self.source = source if isinstance(source, Source) else _source(source, declared, reading)
        self._folder = WorkingFolder()
        folder = Path(self._folder.name)
        self.found: Encoder = prepare(
            self.source, declared, self.lot_key, folder, memory=memory, keep_everything=keep_everything
        )
        if bad_cells == "refuse":
            self.found.refuse()
        how = {"bad_cells": bad_cells, **self.source.dialect, **reading.written}
        kept = _Temporary(folder / ROWS, memory, self._folder)
        self.frozen = Frozen(kept, self.lot_key, how, texts=self.found.texts)
        self.rows = self.frozen.rows
        self.everything = _Temporary(folder / EVERYTHING, memory, self._folder) if keep_everything else None

    def save(self, path: str | Path) -> Path:
        """Write a snapshot into a new folder."""
        target = Path(path)
        snapshot.save(target, self.declared, self.frozen, None)
        return target


def _checked(bad_cells: str, lot_key: bytes | None) -> bytes:
    """The key of the lot, given or new."""
    if bad_cells not in get_args(BadCells):
        raise InvalidInput("bad_cells", bad_cells, "must be 'refuse' or 'missing'")
    if lot_key is not None and (not isinstance(lot_key, bytes) or len(lot_key) != KEY_BYTES):
        raise InvalidInput("lot_key", type(lot_key).__name__, f"must be {KEY_BYTES} bytes")
    return new_key() if lot_key is None else lot_key


class _Temporary(ParquetRows):
    """Rows in a folder that is there for as long as they are."""

    def __init__(self, path: Path, memory: str | None, folder: Any) -> None:
        super().__init__(path, memory)
        self._folder = folder


def _source(source: object, declared: Declared, reading: Reading) -> Source:
    if isinstance(source, str | Path) and snapshot.is_snapshot(Path(source)):
        raise InvalidInput("source", str(source), "is a snapshot: open it by Table.open")
    numbers = {column for column, domain in declared.columns.items() if domain.holds in (int, float)}
    return opened(source, used_columns(declared), numbers, reading)


def cells_digest(source: object, declared: Declared, reading: Reading) -> str:
    """SHA-256 of the cells that are read of a table in memory, in their order; a plain digest, and private."""
    digest, found = hashlib.sha256(), _source(source, declared, reading)
    for name in used_columns(declared):
        digest.update(f"{len(name)} {name} {found.kinds[name]}\n".encode())
    with closing(found.batches()) as batches:
        for batch in batches:
            for column in batch.columns:
                for word in as_words(plain(column)).to_pylist():
                    digest.update(b"-" if word is None else f"{len(word)} {word}".encode())
    return digest.hexdigest()


def _never_changes(question: Hashable) -> bool:
    """A frozen data class; what it holds can be hashed, or it could not be looked up."""
    parameters = getattr(type(question), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)
