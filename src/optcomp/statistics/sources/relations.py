"""Tables of Ibis: of PostgreSQL, Spark, DuckDB and other engines."""

from __future__ import annotations

import sys
from collections.abc import Collection, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.extras import needed
from optcomp.statistics.cells import MOST_LETTERS
from optcomp.statistics.engines import connection_lock
from optcomp.statistics.sources.reading import Reading
from optcomp.statistics.sources.source import BATCH, Source, all_known

if TYPE_CHECKING:
    import ibis.expr.types as ir

_BLOCK = 1 << 23
"""Bytes that a reader of a stream looks at."""
_LONGEST = 8 * MOST_LETTERS
"""Bytes of a cell that was cut: four for a letter, or two quotation marks."""

_AS_TEXT = ("HUGEINT", "UHUGEINT", "BIGNUM", "BIT")
"""Types of DuckDB that hold more than any type of Arrow."""
JOINS = "join tables before you prepare them, keep the result as a table or a file, and declare whose row each is"
"""A row of a join may belong to several people, and one person's row may change how many rows others have."""


def is_relation(source: object) -> TypeGuard[ir.Table]:
    """Whether it is a table of Ibis; without Ibis there is none."""
    types = sys.modules.get("ibis.expr.types")
    return types is not None and isinstance(source, types.Table)


class Relation(Source):
    """A table of Ibis.  Reading may fail inside the engine: then nothing is prepared, and its owner is told."""

    def __init__(self, relation: ir.Table, used: Collection[str], reading: Reading) -> None:
        import pyarrow as pa

        super().__init__()
        needed("ibis", "data")
        _no_join(relation)
        self.columns, own = reading.new_names(relation.columns), reading.own_names(used)
        all_known(own.values(), relation.columns)
        self.name, self._used = str(getattr(relation.op(), "name", "table")), list(used)
        self.where, self.backend = self.name, relation.get_backend()
        self.relation = relation.select(**{new: relation[old] for new, old in own.items()}) if own else relation
        kinds = self.relation.schema()
        if self.backend.name == "sqlite":  # whose columns hold cells of any type
            self.kinds = dict.fromkeys(self._used, pa.large_binary())
            return
        self.kinds = {
            name: pa.large_string() if kinds[name].is_unknown() or kinds[name].is_uuid() else kinds[name].to_pyarrow()
            for name in self._used
        }

    def batches(self) -> Generator[Any]:
        """As text from PostgreSQL, whose types hold more than others; as they are from other engines.

        Not by Ibis from DuckDB: it asks for a reader that DuckDB 2 has under another name.
        """
        try:
            with connection_lock(self.backend):  # what is asked meanwhile on this connection waits
                yield from self._read()
        except UnreadableData:
            raise
        except Exception as error:
            raise UnreadableData(self.name, f"the engine cannot read it ({type(error).__name__})") from None

    def _read(self) -> Iterator[Any]:
        if self.backend.name == "sqlite":
            inner = f"({self.backend.compile(self.relation)})"
            yield from sqlite_batches(self.backend.con, inner, {name: name for name in self._used})
        elif self.backend.name == "postgres":
            yield from self._copied()
        elif self.backend.name == "duckdb":
            self.backend._run_pre_execute_hooks(self.relation)
            yield from self.backend.con.sql(_duckdb_query(self.backend, self.relation)).to_arrow_reader(BATCH)
        else:
            yield from self.relation.to_pyarrow_batches(chunk_size=BATCH)

    def _copied(self) -> Iterator[Any]:
        """COPY of every cell as text, cut where it is longer than any cell may be."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        names = [str(place) for place in range(max(len(self._used), 1))]
        block = max(_BLOCK, len(names) * _LONGEST)
        query = _postgres_text(self.backend, self.relation, self._used)
        with self.backend.con.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv)") as copied:
            stream = _Stream(copied)
            if not stream.begun:
                return
            reader = arrow_csv.open_csv(
                pa.PythonFile(stream, mode="r"),
                read_options=arrow_csv.ReadOptions(block_size=block, column_names=names, skip_rows=1),
                parse_options=arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.large_binary()),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    null_values=[""],
                    check_utf8=False,
                ),
            )
            for batch in reader:
                yield (
                    pa.record_batch(
                        {
                            name: _typed(cells, self.kinds[name])
                            for name, cells in zip(self._used, batch.columns, strict=True)
                        }
                    )
                    if self._used
                    else batch
                )


def sqlite_batches(connection: Any, table: str, own: Mapping[str, str]) -> Iterator[Any]:
    """Every cell as text by itself: one that is missing does not make floats of the integers beside it."""
    import pyarrow as pa

    names = [_quoted(name) for name in own.values()]
    cells = [f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END" for name in names]
    found = connection.execute(f"SELECT {', '.join(cells) or '1'} FROM {table}")
    while rows := found.fetchmany(BATCH):
        columns = [pa.array([_bytes(cell) for cell in each], pa.large_binary()) for each in zip(*rows, strict=True)]
        yield pa.record_batch(columns, list(own) or ["0"])


def _no_join(relation: ir.Table) -> None:
    """Refuses what is made of several tables."""
    import ibis.expr.operations as operations

    if relation.op().find(operations.JoinChain):
        raise InvalidInput("source", "a join", f"must be one table: {JOINS}")


def _bytes(cell: Any) -> bytes | None:
    """What a cell of SQLite says; whole floats as integers."""
    if cell is None or isinstance(cell, bytes):
        return cell
    whole = isinstance(cell, float) and abs(cell) <= 2**53 and cell == int(cell)
    return str(int(cell) if whole else cell).encode()


def _postgres_text(backend: Any, relation: ir.Table, used: list[str]) -> str:
    """Every column as text, no longer than just too long."""
    inner = str(backend.compile(relation))
    cells = [f"left({_quoted(name)}::text, {MOST_LETTERS + 1})" for name in used] or ["'x'"]
    return f"SELECT {', '.join(cells)} FROM ({inner}) AS optcomp_source"


def _duckdb_query(backend: Any, relation: ir.Table) -> str:
    """Types that Arrow does not have as text: for the largest integer of 128 bits DuckDB would give -1."""
    inner = str(backend.compile(relation))
    described = backend.con.execute(f"DESCRIBE {inner}").fetchall()
    wide = [_quoted(name) for name, kind, *_ in described if kind in _AS_TEXT]
    if not wide:
        return inner
    cells = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in wide)
    return f"SELECT * REPLACE ({cells}) FROM ({inner}) AS optcomp_source"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _typed(cells: Any, kind: Any) -> Any:
    """Text of truth values, integers and floats as what it was; everything else stays text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(kind):
        return pc.equal(cells, b"true")
    if pa.types.is_floating(kind):
        return cells.cast(pa.large_string()).cast(kind)
    return cells.cast(pa.large_string()).cast(pa.int64()) if pa.types.is_integer(kind) else cells


class _Stream:
    """What a COPY sends, as a file; after an empty line, or its reader would take a byte order mark off a cell."""

    closed = False

    def __init__(self, copied: Any) -> None:
        self._blocks = iter(copied)
        self._ready = memoryview(next(self._blocks, b""))
        self.begun = bool(self._ready)
        self._ready = memoryview(b"\n" + bytes(self._ready))

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        pieces, left = list[bytes](), size
        while left > 0:
            if not self._ready:
                self._ready = memoryview(next(self._blocks, b""))
                if not self._ready:
                    break
            piece = bytes(self._ready[:left])
            self._ready = self._ready[len(piece) :]
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """Nothing to do: the cursor is closed by whoever opened it."""
