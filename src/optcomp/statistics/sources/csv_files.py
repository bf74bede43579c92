"""CSV files: everything about their format is declared, or fixed by the header, and all cells are text."""

from __future__ import annotations

import csv
import io
import string
from collections.abc import Collection, Generator, Sequence
from pathlib import Path
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.statistics.sources.decoding import Utf8Bytes, plain_suffix
from optcomp.statistics.sources.dialect import Dialect
from optcomp.statistics.sources.lines import LONGEST, Records
from optcomp.statistics.sources.reading import Reading
from optcomp.statistics.sources.source import Source, all_known

DELIMITERS = {".csv": ",;\t|", ".tsv": "\t"}
"""Those that a header may have, unless the owner says which, by how the name of the file ends."""
_UTF16, _UTF8 = (b"\xff\xfe", b"\xfe\xff"), b"\xef\xbb\xbf"
"""With which files begin: those that are not UTF-8, and some that are."""
_NO_MARK = b"\n"
"""An empty line, which is no record: Arrow would take a byte order mark off the first cell of every block."""
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
"""Names that differ in case, of these letters only, are too alike."""


class CsvFile(Source):
    """A file of lines."""

    def __init__(self, path: Path, used: Collection[str], reading: Reading) -> None:
        import pyarrow as pa

        super().__init__()
        reading.no_table("a file of lines")
        self.name, self.where, self._path = path.name.removesuffix(path.suffix), path.name, path
        self.size, self._form = path.stat().st_size, reading.in_lines
        self._first, lines = _first_line(path, self._form, reading.multiline)
        own = reading.own_names(used)
        self._delimiter, names = _header(path, self._first, self._form, set(own.values()))
        _each_once(path, names)
        self.columns = reading.new_names(names)
        all_known(own.values(), names)
        self._places = {name: names.index(own[name]) for name in used}
        self.kinds = dict.fromkeys(used, pa.large_binary())
        self._multiline, self._line = reading.multiline, lines + 1
        self.dialect = {**self._form.written, "delimiter": self._delimiter, "multiline": reading.multiline}
        self._records: Records | None = None
        self._taken = 0
        if not self._form.quote and len(names) == 1:
            raise InvalidInput("quote", "", "must be a mark where there is one column: empty cells are no lines")

    def in_numbers(self, column: Any) -> Any:
        """As the dialect writes them."""
        return self._form.with_points(column)

    def batches(self) -> Generator[Any]:
        """Block by block, each parsed by itself: nothing is read ahead, and no other thread looks at the file."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        used, form = list(self._places) or ["0"], self._form
        wanted = [str(place) for place in self._places.values()] or ["0"]
        names = [str(place) for place in range(len(self.columns))]
        parse = arrow_csv.ParseOptions(
            delimiter=self._delimiter, quote_char=form.quote or False, newlines_in_values=self._multiline
        )
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(wanted, pa.large_binary()),
            include_columns=wanted,
            strings_can_be_null=False,
            check_utf8=False,
        )
        with Utf8Bytes(self._path, form.encoding) as file:
            file.read(len(self._first))
            records = Records(
                file,
                self._delimiter,
                len(self.columns),
                multiline=self._multiline,
                line=self._line,
                quote=form.quote,
            )
            self._records, self.lines = records, records.lines
            for block in records.blocks():
                self._taken = file.place
                read = arrow_csv.ReadOptions(use_threads=False, block_size=len(block) + 2, column_names=names)
                table = arrow_csv.read_csv(pa.py_buffer(_NO_MARK + block), read, parse, convert)
                yield from table.rename_columns(used).select(used).to_batches()

    def share(self, rows: int) -> float:
        """By the bytes that were taken from it, which may be somewhat ahead."""
        return min(self._taken / max(self.size or 1, 1), 1.0)

    def number(self, row: int) -> int:
        """That of its line, if it is known."""
        return self._line_of(row) or row + 1

    def place(self, row: int) -> str:
        """The line."""
        line = self._line_of(row)
        return f"record {row + 1:,}" if line is None else f"line {line:,}"

    def _line_of(self, row: int) -> int | None:
        return None if self._records is None else self._records.line_of(row)


def _first_line(path: Path, form: Dialect, multiline: bool) -> tuple[bytes, int]:
    """The bytes of the header in UTF-8, and how many lines they are."""
    quote = form.quote.encode()
    with Utf8Bytes(path, form.encoding) as file:
        start = file.readline(LONGEST)
        if form.encoding == "utf-8" and start[:2] in _UTF16:
            problem = "is in UTF-16, and is read as UTF-8: say encoding: utf-16 in its dialect, or convert it"
            raise InvalidInput("source", str(path), problem)
        if len(start) >= LONGEST or b"\r" in start.rstrip(b"\r\n"):
            raise InvalidInput("source", str(path), "must have lines that end in a line feed, with or without a return")
        while quote and multiline and start.count(quote) % 2:
            more = file.readline(LONGEST)
            if not more or len(start) > LONGEST:
                break
            start += more
    if quote and start.count(quote) % 2:
        raise InvalidInput("source", str(path), "has a header with a quotation mark that is not closed")
    return start, start.count(b"\n")


def _header(path: Path, first: bytes, form: Dialect, used: set[str]) -> tuple[str, list[str]]:
    """The delimiter, and the names of the columns."""
    known = form.delimiter or DELIMITERS[plain_suffix(path)]
    headers = {delimiter: names_in(path, first, delimiter, form.quote) for delimiter in known}
    found = {each: used & set(names) for each, names in headers.items()} if used else headers
    delimiter = max(known, key=lambda each: len(found[each]))
    return delimiter, headers[delimiter]


def names_in(path: Path, first: bytes, delimiter: str, quote: str = '"') -> list[str]:
    """The names that a header holds, parted by this delimiter."""
    text = first.removeprefix(_UTF8).decode("utf8", "replace")
    if not text:
        raise InvalidInput("source", str(path), "is empty")
    how: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **how), [])
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
