"""CSV and Parquet files."""

from __future__ import annotations

import csv
import io
import string
from collections.abc import Collection, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.statistics.sources.lines import LONGEST, Records
from optcomp.statistics.sources.source import BATCH, Source, all_known

_READERS = {".csv": ",;\t|", ".tsv": "\t", ".parquet": "", ".pq": ""}
"""The delimiters that a header may have."""
_UTF16, _UTF8 = (b"\xff\xfe", b"\xfe\xff"), b"\xef\xbb\xbf"
"""With which files begin: those that are not UTF-8, and some that are."""
_NO_MARK = b"\n"
"""An empty line, which is no record: Arrow would take a byte order mark off the first cell of every block."""
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
"""Names that differ in case, of these letters only, are too alike."""


def opened_file(path: Path, used: Collection[str], multiline: bool) -> Source:
    """A file by how its name ends."""
    if path.is_dir():
        raise InvalidInput("source", str(path), "is a folder, and must be a CSV or Parquet file")
    delimiters = _READERS.get(path.suffix.lower())
    if delimiters is None:
        raise InvalidInput("source", str(path), f"must end in one of {', '.join(_READERS)}")
    if not path.is_file():
        raise InvalidInput("source", str(path), "is not a file")
    try:
        return CsvFile(path, used, delimiters, multiline) if delimiters else ParquetFile(path, used)
    except OSError as error:
        raise InvalidInput("source", str(path), f"cannot be read ({error.strerror or error})") from None


class ParquetFile(Source):
    """A Parquet file; of its columns none is read but those that are used."""

    def __init__(self, path: Path, used: Collection[str]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__()
        self.name, self.where, self._path, self.size = path.stem, path.name, path, path.stat().st_size
        try:
            self._file = pq.ParquetFile(path)
            schema = self._file.schema_arrow
        except (pa.ArrowException, OSError) as error:
            raise InvalidInput("source", str(path), f"cannot be read as Parquet ({_brief(error)})") from None
        self.columns = tuple(schema.names)
        all_known(used, self.columns)
        twice = [name for name in used if self.columns.count(name) > 1]
        if twice:
            raise InvalidInput("source", str(path), f"must name each column once, and has {twice[0]!r} twice")
        self._used = list(used)
        self.kinds = {name: schema.field(name).type for name in used}

    def batches(self) -> Generator[Any]:
        """Row group by row group."""
        import pyarrow as pa

        if not self._used:  # nothing but the number of rows is asked for
            yield from _empty_batches(self._file.metadata.num_rows)
            return
        try:
            for batch in self._file.iter_batches(BATCH, columns=self._used):
                yield batch.select(self._used)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise UnreadableData(self.where, f"cannot be read as Parquet ({type(error).__name__})") from None

    def share(self, rows: int) -> float:
        """By the rows."""
        return rows / max(int(self._file.metadata.num_rows), 1)


def _empty_batches(rows: int) -> Iterator[Any]:
    import pyarrow as pa

    for start in range(0, rows, BATCH):
        yield pa.RecordBatch.from_struct_array(pa.array([{}] * min(BATCH, rows - start), pa.struct([])))


class CsvFile(Source):
    """A file of lines; everything about its format is fixed by its header, and all cells are text."""

    def __init__(self, path: Path, used: Collection[str], delimiters: str, multiline: bool) -> None:
        import pyarrow as pa

        super().__init__()
        self.name, self.where, self._path, self.size = path.stem, path.name, path, path.stat().st_size
        self._first, lines = _first_line(path, multiline)
        headers = {delimiter: _header(path, self._first, delimiter) for delimiter in delimiters}
        known = {each: set(used) & set(names) for each, names in headers.items()} if used else headers
        self._delimiter = max(delimiters, key=lambda each: len(known[each]))
        names = headers[self._delimiter]
        _each_once(path, names)
        all_known(used, names)
        self.columns, self._used = tuple(names), list(used)
        self.kinds = dict.fromkeys(used, pa.large_binary())
        self._multiline, self._line = multiline, lines + 1
        self.dialect = {"delimiter": self._delimiter, "quote": '"', "multiline": multiline, "encoding": "utf-8"}
        self._records: Records | None = None

    def batches(self) -> Generator[Any]:
        """Block by block, each parsed by itself: nothing is read ahead, and no other thread looks at the file."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        places = {name: str(self.columns.index(name)) for name in self._used}
        wanted = list(places.values()) or ["0"]
        names = [str(place) for place in range(len(self.columns))]
        parse = arrow_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=self._multiline)
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(wanted, pa.large_binary()),
            include_columns=wanted,
            strings_can_be_null=False,
            check_utf8=False,
        )
        with self._path.open("rb") as file:
            file.seek(len(self._first))
            records = Records(file, self._delimiter, len(self.columns), multiline=self._multiline, line=self._line)
            self._records, self.lines = records, records.lines
            for block in records.blocks():
                read = arrow_csv.ReadOptions(use_threads=False, block_size=len(block) + 2, column_names=names)
                table = arrow_csv.read_csv(pa.py_buffer(_NO_MARK + block), read, parse, convert)
                yield from table.rename_columns(self._used or ["0"]).select(self._used or ["0"]).to_batches()

    def share(self, rows: int) -> float:
        """By the bytes that were taken from it, which may be somewhat ahead."""
        taken = len(self._first) + (0 if self._records is None else self._records.taken)
        return min(taken / max(self.size or 1, 1), 1.0)

    def number(self, row: int) -> int:
        """That of its line, if it is known."""
        return self._line_of(row) or row + 1

    def place(self, row: int) -> str:
        """The line."""
        line = self._line_of(row)
        return f"record {row + 1:,}" if line is None else f"line {line:,}"

    def _line_of(self, row: int) -> int | None:
        return None if self._records is None else self._records.line_of(row)


def _first_line(path: Path, multiline: bool) -> tuple[bytes, int]:
    """The bytes of the header, and how many lines they are."""
    with path.open("rb") as file:
        start = file.readline(LONGEST)
        if start[:2] in _UTF16:
            raise InvalidInput("source", str(path), "is in UTF-16, and must be in UTF-8")
        if len(start) >= LONGEST or b"\r" in start.rstrip(b"\r\n"):
            raise InvalidInput("source", str(path), "must have lines that end in a line feed, with or without a return")
        while multiline and start.count(b'"') % 2:
            more = file.readline(LONGEST)
            if not more or len(start) > LONGEST:
                break
            start += more
    if start.count(b'"') % 2:
        raise InvalidInput("source", str(path), "has a header with a quotation mark that is not closed")
    return start, start.count(b"\n")


def _header(path: Path, first: bytes, delimiter: str) -> list[str]:
    text = first.removeprefix(_UTF8).decode("utf8", "replace")
    if not text:
        raise InvalidInput("source", str(path), "is empty")
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise InvalidInput("source", str(path), f"has a header that cannot be read ({error})") from None
    if not names:
        raise InvalidInput("source", str(path), "must begin with the names of its columns, not with an empty line")
    return [name or f"(column {place})" for place, name in enumerate(names, 1)]  # such as an index that was written


def _each_once(path: Path, names: Sequence[str]) -> None:
    """Two names that differ in case only are too alike."""
    seen: dict[str, str] = {}
    for name in names:
        key = name.translate(_LOWER)
        if key in seen:
            found = f"{name!r} twice" if seen[key] == name else f"{seen[key]!r} and {name!r}"
            raise InvalidInput("source", str(path), f"must name each column once, and its header has {found}")
        seen[key] = name


def _brief(error: BaseException) -> str:
    """The first line of what a library says about a file that it could not even open: no cell has been read."""
    return str(error).split("\n", 1)[0][:200]
