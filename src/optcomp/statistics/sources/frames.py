"""Data frames, Arrow tables, records of numpy, and dictionaries of arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from optcomp.errors import InvalidInput
from optcomp.statistics.sources.frame_cells import text_array
from optcomp.statistics.sources.reading import Reading
from optcomp.statistics.sources.source import BATCH, Source, all_known

if TYPE_CHECKING:
    import pyarrow as pa

_WANTED = "must be the path of a file, a data frame, arrays by their names, or a table of Arrow or Ibis"
"""What a source is."""


class Frame(Source):
    """A table in memory: what is read of it is copied at once.

    Columns that hold Python objects, whose type would follow from what is in them, become text cell by cell.
    """

    def __init__(self, source: Any, used: Collection[str], numbers: Collection[str], reading: Reading) -> None:
        super().__init__()
        reading.only_lines("a data frame")
        reading.no_table("a data frame")
        self.name = "table"
        try:
            self._read(source, used, numbers, reading)
        except InvalidInput:
            raise
        except Exception as error:
            raise InvalidInput("source", type(source).__name__, f"{_WANTED} ({type(error).__name__})") from None
        self.kinds = {field.name: field.type for field in self._table.schema}

    def _read(self, source: Any, used: Collection[str], numbers: Collection[str], reading: Reading) -> None:
        import pyarrow as pa

        columns = _Columns(source)
        known = [str(name) for name in columns.names]
        self.columns = reading.new_names(known)
        own = reading.own_names(used)
        all_known(own.values(), known)
        for name in own.values():
            if known.count(name) > 1:
                raise InvalidInput("columns", name, "is in the table twice")
        found = columns.taken([columns.names[known.index(own[name])] for name in used]) if used else []
        arrays = {name: _array(cells, name in numbers) for name, cells in zip(used, found, strict=True)}
        self._table: pa.Table = pa.table(arrays or {"0": pa.nulls(columns.rows)})

    def batches(self) -> Generator[Any]:
        """Slices."""
        yield from self._table.to_batches(BATCH)


class _Columns:
    """The columns of anything that has some: their names, how many rows there are, and cells on demand."""

    def __init__(self, source: Any) -> None:
        pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
        self._lazy = polars is not None and isinstance(source, polars.LazyFrame)
        self._source = source
        self.names: list[Any]
        self._take: Callable[[list[Any]], list[Any]]
        if pandas is not None and isinstance(source, pandas.DataFrame):
            self.names, self._take = list(source.columns), lambda names: [source[name] for name in names]
        elif self._lazy:
            self.names, self._take = source.collect_schema().names(), self._collected
        elif isinstance(source, np.ndarray) and source.dtype.names is not None:
            flat = source.reshape(-1)
            self.names, self._take = list(source.dtype.names), lambda names: [flat[name] for name in names]
        elif isinstance(source, Mapping):
            self.names, self._take = list(source), lambda names: [source[name] for name in names]
            _same_length(source)
        else:
            self._from_arrow(source)

    def _from_arrow(self, source: Any) -> None:
        import pyarrow as pa

        if isinstance(source, np.ndarray):
            raise InvalidInput("source", "ndarray", f"has no names of columns; {_WANTED}")
        table = source if isinstance(source, pa.Table) else pa.table(source)
        self._source = table
        self.names, self._take = table.column_names, lambda names: [table[name] for name in names]

    def _collected(self, names: list[Any]) -> list[Any]:
        import pyarrow as pa

        table = pa.table(self._source.select(names).collect())
        return [table[name] for name in names]

    @property
    def rows(self) -> int:
        """How many there are."""
        if self._lazy:
            return int(self._source.select(sys.modules["polars"].len()).collect().item())
        if isinstance(self._source, Mapping):
            return max((len(cells) for cells in self._source.values()), default=0)
        return len(self._source)

    def taken(self, names: list[Any]) -> list[Any]:
        """The cells of these columns, of whatever kind."""
        return self._take(names)


def _same_length(source: Mapping[Any, Any]) -> None:
    lengths = {len(cells) for cells in source.values()}
    if len(lengths) > 1:
        raise InvalidInput("source", type(source).__name__, "must have columns of one length")


def _array(cells: Any, number: bool) -> Any:
    """An Arrow array whose type does not follow from single cells."""
    import pyarrow as pa

    pandas = sys.modules.get("pandas")
    if isinstance(cells, pa.Array | pa.ChunkedArray):
        return cells
    if pandas is not None and isinstance(cells, pandas.Series):
        if cells.dtype.kind == "O":  # objects, text, categories
            return text_array(cells.astype(object).tolist(), number)
        return pa.array(cells, from_pandas=True)
    if isinstance(cells, np.ndarray):
        if cells.ndim != 1:
            raise InvalidInput("source", "ndarray", "must have columns of one dimension")
        if cells.dtype.kind in "OUSV":
            return text_array(_decoded(cells), number)
        return pa.array(cells, from_pandas=True)
    if hasattr(cells, "__arrow_c_stream__") or hasattr(cells, "__arrow_c_array__"):  # a column of polars
        return pa.chunked_array(cells) if hasattr(cells, "__arrow_c_stream__") else pa.array(cells)
    if isinstance(cells, str | bytes | Mapping):
        raise InvalidInput("source", type(cells).__name__, "must have arrays or lists as columns")
    return text_array(list(cells), number)


def _decoded(cells: Any) -> list[Any]:
    """Bytes of numpy are text if they are UTF-8; what is none stays what it is, and cannot be read."""
    if cells.dtype.kind != "S":
        return list(cells.tolist())
    return [_utf8(cell) for cell in cells.tolist()]


def _utf8(cell: bytes) -> str | bytes:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return cell
