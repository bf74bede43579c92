"""Where tables come from: CSV and Parquet files, data frames, Arrow tables, Ibis tables.

One person's cell must not change how the cells of others are read.  So nothing about a file is guessed from its rows,
only from its header; and columns of a data frame that hold Python objects, whose type would follow from what is in
them, become text cell by cell.  A line of a CSV file that cannot be read counts as no row.
"""

from __future__ import annotations

import csv
import string
import sys
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard
from weakref import WeakKeyDictionary

from optcomp.errors import InvalidInput
from optcomp.extras import needed

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

_READERS = {".csv": ",;\t|", ".tsv": "\t", ".parquet": "", ".pq": ""}
"""The delimiters that a header may have."""
_ONE_THREAD = {"sqlite"}
"""Engines whose connections fail in all threads but the one that opened them: a failed question would be charged."""
_MOST_DIGITS = 300
"""Integers of more digits are too large for floats, and as text too long for engines."""
_OWN = "optcomp_people"
"""The name of a table that we make."""
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
"""With which files begin that are not UTF-8."""
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
"""Engines take names for the same that differ in case, of these letters only."""


def is_relation(source: object) -> TypeGuard[ir.Table]:
    """Whether it is a table of Ibis; without Ibis there is none."""
    types = sys.modules.get("ibis.expr.types")
    return types is not None and isinstance(source, types.Table)


def opened(source: object, used: Collection[str], numbers: Collection[str]) -> tuple[Any, ir.Table, str]:
    """The backend, the table and a name for it; `used` are the columns that are needed, `numbers` those of numbers."""
    needed("ibis", "data")
    if is_relation(source):
        _all_known(used, source.columns)
        backend = source.get_backend()
        if backend.name in _ONE_THREAD:
            problem = "is on an engine whose connections answer to one thread only: read its file with DuckDB"
            raise InvalidInput("source", f"a table of {backend.name}", problem)
        if backend.name == "duckdb":
            with connection_lock(backend):
                _distrust_statistics(backend)
        return backend, source, str(getattr(source.op(), "name", "table"))
    if isinstance(source, str | Path):
        path = Path(source)
        backend, relation = _file(path, used)
        return backend, relation, path.stem
    arrow, backend = _arrow(source, used, numbers), _connected()
    try:
        backend.con.register("optcomp_source", arrow)
        backend.con.execute(f"CREATE TABLE {_OWN} AS FROM optcomp_source")
        backend.con.unregister("optcomp_source")
        relation = backend.table(_OWN)
    except Exception as error:
        raise InvalidInput("source", type(source).__name__, f"is not a table: {error}") from None
    _all_known(used, relation.columns)  # some names differ for people, and not for the engine
    return backend, relation, "table"


_locks: WeakKeyDictionary[Any, threading.Lock] = WeakKeyDictionary()
"""By connection, for as long as it lives."""
_locking = threading.Lock()
"""Held while a lock is looked up."""


def connection_lock(backend: Any) -> threading.Lock:
    """The lock of a connection, the same for all tables on it: an engine takes one query at a time from it."""
    with _locking:
        try:
            return _locks.setdefault(getattr(backend, "con", backend), threading.Lock())
        except TypeError:  # a connection that cannot be referred to: of this backend, then
            return _locks.setdefault(backend, threading.Lock())


@dataclass(frozen=True)
class Lines:
    """How many lines of a CSV file are not read, and how many are read only in part, by what is wrong with them."""

    unread: Mapping[str, int]
    cut: Mapping[str, int]


def inspected(path: Path, used: Collection[str]) -> tuple[ir.Table, Lines]:
    """A file exactly as `opened` reads it, and the lines that are lost by that; for whoever holds the data."""
    needed("ibis", "data")
    backend, relation = _file(path, used, "store_rejects=true, rejects_table='optcomp_unread'")
    delimiters = _READERS[path.suffix.lower()]
    if not delimiters:
        return relation, Lines({}, {})
    strict = "store_rejects=true, rejects_table='optcomp_cut', rejects_scan='optcomp_cut_scan', strict_mode=true"
    backend.con.execute(f"SELECT count(*) FROM {_csv_reader(path, delimiters, used, strict)}").fetchall()
    elsewhere = "line_byte_position NOT IN (SELECT line_byte_position FROM optcomp_unread)"
    cut = _rejects(backend, f"optcomp_cut WHERE error_type IN {_CUT} AND {elsewhere}")
    return relation, Lines(_rejects(backend, "optcomp_unread"), cut)


_WHY = {
    "INVALID ENCODING": "not UTF-8",
    "MISSING COLUMNS": "too few cells",
    "LINE SIZE OVER MAXIMUM": "too long",
    "TOO MANY COLUMNS": "too many cells",
    "UNQUOTED VALUE": "something after a closing quotation mark",
}
"""What the engine calls it, and what people do."""
_CUT = ("TOO MANY COLUMNS", "UNQUOTED VALUE")
"""What is wrong with lines that are read in part."""


def _rejects(backend: Any, rows: str) -> dict[str, int]:
    """One cause for each line; the engine's own numbers of lines leave out those inside quotation marks."""
    query = f"SELECT min(error_type::VARCHAR) AS why FROM {rows} GROUP BY line_byte_position"
    found = backend.con.execute(f"SELECT why, count(*) FROM ({query}) GROUP BY why ORDER BY why").fetchall()
    return {_WHY.get(why, why.lower()): count for why, count in found}


def _connected() -> Any:
    import ibis

    backend = ibis.duckdb.connect()
    _distrust_statistics(backend)
    return backend


def _distrust_statistics(backend: Any) -> None:
    """Parquet files do not count NaN among the values they hold; DuckDB would believe that, and drop our tests for it.

    A NaN would then get past all bounds (duckdb/duckdb#25521).
    """
    (before,) = backend.con.execute("SELECT current_setting('disabled_optimizers')").fetchone()
    names = {*filter(None, before.split(",")), "statistics_propagation"}
    backend.con.execute(f"SET disabled_optimizers = {_quoted(','.join(sorted(names)))}")


def _all_known(used: Iterable[str], known: Collection[Any]) -> None:
    for column in used:
        if column not in known:
            raise InvalidInput("columns", column, f"is not in the table, which has {', '.join(map(str, known))}")


def _file(path: Path, used: Collection[str], options: str = "") -> tuple[Any, ir.Table]:
    delimiters = _READERS.get(path.suffix.lower())
    if delimiters is None:
        raise InvalidInput("source", str(path), f"must end in one of {', '.join(_READERS)}")
    if not path.is_file() or any(sign in str(path) for sign in "*?["):  # which the engine takes for patterns
        raise InvalidInput("source", str(path), "is not a file")
    backend = _connected()
    try:
        if delimiters:
            backend.con.execute(f"CREATE TABLE {_OWN} AS FROM {_csv_reader(path, delimiters, used, options)}")
        else:
            backend.con.execute(f"CREATE VIEW {_OWN} AS FROM read_parquet({_quoted(str(path))})")
        relation = backend.table(_OWN)
    except InvalidInput:
        raise
    except Exception as error:
        raise InvalidInput("source", str(path), f"cannot be read: {error}") from None
    _all_known(used, relation.columns)
    untyped = {name: relation[name].cast("string") for name in used if relation[name].type().is_unknown()}
    return backend, relation.mutate(**untyped) if untyped else relation  # such as columns of nulls only


def _csv_reader(path: Path, delimiters: str, used: Collection[str], options: str = "") -> str:
    """Everything about the format is fixed by the header; all cells are text, in one pass from the beginning."""
    headers = {delimiter: _header(path, delimiter) for delimiter in delimiters}
    delimiter = max(delimiters, key=lambda each: len(set(used) & set(headers[each])))
    _each_once(path, headers[delimiter])
    columns = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in headers[delimiter])
    loose = "" if "strict_mode" in options else "strict_mode=false, "
    return (
        f"read_csv({_quoted(str(path))}, auto_detect=false, header=true, delim={_quoted(delimiter)}, quote='\"', "
        f"escape='\"', {loose}ignore_errors=true, parallel=false, columns={{{columns}}}{options and ', ' + options})"
    )


def _header(path: Path, delimiter: str) -> list[str]:
    with path.open("rb") as start:
        if start.read(2) in _UTF16:
            raise InvalidInput("source", str(path), "is in UTF-16, and must be in UTF-8")
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        names = next(csv.reader(file, delimiter=delimiter), None)
    if names is None:
        raise InvalidInput("source", str(path), "is empty")
    if not names:
        raise InvalidInput("source", str(path), "must begin with the names of its columns, not with an empty line")
    return [name or f"(column {place})" for place, name in enumerate(names, 1)]  # such as an index that was written


def _each_once(path: Path, names: Sequence[str]) -> None:
    """The engine does not tell A from a."""
    seen: dict[str, str] = {}
    for name in names:
        key = name.translate(_LOWER)
        if key in seen:
            found = f"{name!r} twice" if seen[key] == name else f"{seen[key]!r} and {name!r}"
            raise InvalidInput("source", str(path), f"must name each column once, and its header has {found}")
        seen[key] = name


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _arrow(source: Any, used: Collection[str], numbers: Collection[str]) -> pa.Table:
    """The columns that are used, as an Arrow table."""
    import pyarrow as pa

    pandas = sys.modules.get("pandas")
    try:
        if pandas is not None and isinstance(source, pandas.DataFrame):
            _all_known(used, list(source.columns))
            return pa.table({name: _from_pandas(source[name], name in numbers) for name in used})
        if isinstance(source, dict):
            raise TypeError("its types would follow from its values; make it a data frame")
        found = pa.table(source)
        _all_known(used, found.column_names)
        return pa.table({name: _plain(found[name]) for name in used})
    except InvalidInput:
        raise
    except Exception as error:
        raise InvalidInput("source", type(source).__name__, f"is not a table: {error}") from None


def _plain(column: Any) -> Any:
    """Types that the engine does not have, as those that it has."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    return column.cast(pa.float32()) if pa.types.is_float16(kind) else column


def _from_pandas(series: Any, number: bool) -> Any:
    import pyarrow as pa

    pandas = sys.modules["pandas"]
    if series.dtype.kind == "O":  # objects, text, categories
        cells = series.astype(object).tolist()
        return pa.array([_text(cell, number, pandas) for cell in cells], type=pa.string())
    found = pa.array(series, from_pandas=True)
    return _plain(pa.chunked_array([found]) if isinstance(found, pa.Array) else found)


def _text(cell: Any, number: bool, pandas: Any) -> str | None:
    """A cell as text, such that reading the text gives what a column of the cell's own type would give."""
    try:
        if isinstance(cell, str):
            return cell.encode("utf8", "replace").decode("utf8")
        if pandas.api.types.is_scalar(cell) and pandas.isna(cell):
            return None
        if pandas.api.types.is_bool(cell):
            return str(int(cell)) if number else str(bool(cell)).lower()
        if pandas.api.types.is_integer(cell) and abs(int(cell)) > 10**_MOST_DIGITS:
            return "inf" if cell > 0 else "-inf"
        if pandas.api.types.is_float(cell) and abs(cell) <= 2**53 and cell == int(cell):
            return str(int(cell))
        return str(cell).encode("utf8", "replace").decode("utf8")
    except Exception:  # whatever a cell does when it is looked at, it is this cell alone that counts as missing
        return None
