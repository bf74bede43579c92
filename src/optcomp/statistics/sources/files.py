"""Files by how their names end, one or several by a pattern; and Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator
from pathlib import Path
from typing import Any

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.statistics.sources.csv_files import DELIMITERS, CsvFile
from optcomp.statistics.sources.database_files import DuckdbFile, SqliteFile, duckdb_tables, sqlite_tables
from optcomp.statistics.sources.decoding import PACKED, plain_suffix
from optcomp.statistics.sources.json_lines import JsonLines
from optcomp.statistics.sources.reading import Reading
from optcomp.statistics.sources.several import Several
from optcomp.statistics.sources.source import BATCH, Source, all_known
from optcomp.statistics.sources.workbooks import Workbook, sheets_of

Opening = Callable[[Path, Collection[str], Collection[str], Reading], Source]
"""A file, the columns that are used, those among them that hold numbers, and how it is read."""
_PATTERN = "*?["
"""Letters by which a path means several files."""
_MOST_FILES = 10_000
"""Of a pattern."""


def _csv(path: Path, used: Collection[str], numbers: Collection[str], reading: Reading) -> Source:
    return CsvFile(path, used, reading)


def _parquet(path: Path, used: Collection[str], numbers: Collection[str], reading: Reading) -> Source:
    return ParquetFile(path, used, reading)


_PACKABLE: dict[str, Opening] = {**dict.fromkeys(DELIMITERS, _csv), ".jsonl": JsonLines, ".ndjson": JsonLines}
"""Files of lines, which may be packed."""
_OTHERS: dict[str, Opening] = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".xlsx": Workbook,
    ".xlsm": Workbook,
    ".ods": Workbook,
    ".duckdb": DuckdbFile,
    ".sqlite": SqliteFile,
    ".sqlite3": SqliteFile,
    ".db": SqliteFile,
}
"""All others."""
FILE_ENDINGS = (*_PACKABLE, *(ending + PACKED for ending in _PACKABLE), *_OTHERS)
"""How the names of files end that can be read."""


def tables_of(path: Path) -> list[str]:
    """The tables or sheets that a file has, if it has any of its own; none of a file that cannot be opened."""
    listing = _LISTINGS.get(path.suffix.lower())
    try:
        return [] if listing is None else listing(path)
    except Exception:  # whoever opens it will say what is wrong
        return []


_LISTINGS: dict[str, Callable[[Path], list[str]]] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".ods"), sheets_of),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), sqlite_tables),
    ".duckdb": duckdb_tables,
}
"""Of files that hold several tables."""


def opened_file(path: Path, used: Collection[str], numbers: Collection[str], reading: Reading) -> Source:
    """A file by how its name ends; several files by a pattern, such as part-*.csv."""
    if is_pattern(path) and not path.exists():
        return Several([_opened(each, used, numbers, reading) for each in files_of(path)], path.name)
    return _opened(path, used, numbers, reading)


def is_pattern(path: str | Path) -> bool:
    """Whether a path may mean several files, by its letters: a file may have such a name, too."""
    return any(letter in str(path) for letter in _PATTERN)


def files_of(path: Path) -> list[Path]:
    """The files that a pattern means, by their names; one file is itself."""
    if path.exists() or not is_pattern(path):
        return [path]
    folder, names = path.parent, path.name
    if is_pattern(folder):
        raise InvalidInput("source", str(path), "may have a pattern in the name of files only, not in that of a folder")
    found = sorted(each for each in folder.glob(names) if each.is_file())
    if not found:
        raise InvalidInput("source", str(path), "is the pattern of no file")
    if len(found) > _MOST_FILES:
        raise InvalidInput("source", str(path), f"is the pattern of more than {_MOST_FILES} files")
    return found


def _opened(path: Path, used: Collection[str], numbers: Collection[str], reading: Reading) -> Source:
    if path.is_dir():
        raise InvalidInput("source", str(path), "is a folder, and must be a file, such as one of CSV or Parquet")
    packed = path.name.lower().endswith(PACKED)
    opening = _PACKABLE.get(plain_suffix(path)) or (None if packed else _OTHERS.get(path.suffix.lower()))
    if opening is None:
        raise InvalidInput("source", str(path), f"must end in one of {', '.join(FILE_ENDINGS)}")
    if not path.is_file():
        raise InvalidInput("source", str(path), "is not a file")
    try:
        return opening(path, used, numbers, reading)
    except OSError as error:
        raise InvalidInput("source", str(path), f"cannot be read ({error.strerror or error})") from None


class ParquetFile(Source):
    """A Parquet file; of its columns none is read but those that are used."""

    def __init__(self, path: Path, used: Collection[str], reading: Reading) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__()
        reading.only_lines("a Parquet file")
        reading.no_table("a Parquet file")
        self.name, self.where, self._path, self.size = path.stem, path.name, path, path.stat().st_size
        try:
            self._file = pq.ParquetFile(path)
            schema = self._file.schema_arrow
        except (pa.ArrowException, OSError) as error:
            raise InvalidInput("source", str(path), f"cannot be read as Parquet ({_brief(error)})") from None
        self.columns, own = reading.new_names(schema.names), reading.own_names(used)
        all_known(own.values(), schema.names)
        twice = [name for name in own.values() if schema.names.count(name) > 1]
        if twice:
            raise InvalidInput("source", str(path), f"must name each column once, and has {twice[0]!r} twice")
        self._own = own
        self.kinds = {name: schema.field(own[name]).type for name in used}

    def batches(self) -> Generator[Any]:
        """Row group by row group."""
        import pyarrow as pa

        own = list(self._own.values())
        if not own:  # nothing but the number of rows is asked for
            yield from _empty_batches(self._file.metadata.num_rows)
            return
        try:
            for batch in self._file.iter_batches(BATCH, columns=own):
                yield batch.select(own).rename_columns(list(self._own))
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise UnreadableData(self.where, f"cannot be read as Parquet ({type(error).__name__})") from None

    def share(self, rows: int) -> float:
        """By the rows."""
        return rows / max(int(self._file.metadata.num_rows), 1)


def _empty_batches(rows: int) -> Iterator[Any]:
    import pyarrow as pa

    for start in range(0, rows, BATCH):
        yield pa.RecordBatch.from_struct_array(pa.array([{}] * min(BATCH, rows - start), pa.struct([])))


def _brief(error: BaseException) -> str:
    """The first line of what a library says about a file that it could not even open: no cell has been read."""
    return str(error).split("\n", 1)[0][:200]
