"""Files of JSON lines: every line is a record, an object whose keys are the columns.

A key that a line does not have is a missing cell.  Which columns there are is not written anywhere, so those that are
declared are taken to be there; a line that is no object spoils no other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Generator, Iterator
from pathlib import Path
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.statistics.cells import LONG, mark
from optcomp.statistics.sources.decoding import Utf8Bytes
from optcomp.statistics.sources.frame_cells import as_text, float_text
from optcomp.statistics.sources.lines import LONGEST
from optcomp.statistics.sources.reading import Reading
from optcomp.statistics.sources.source import BATCH, Source

_MOST_DIGITS = 4096
"""Of a number, as of text."""


class _Twice(ValueError):
    """A key that an object has twice."""


class JsonLines(Source):
    """A file of objects, one on a line, in UTF-8."""

    def __init__(self, path: Path, used: Collection[str], numbers: Collection[str], reading: Reading) -> None:
        import pyarrow as pa

        super().__init__()
        reading.only_lines("a file of JSON lines")
        reading.no_table("a file of JSON lines")
        self.name, self.where, self._path = path.name.removesuffix(path.suffix), path.name, path
        self.size, self._numbers = path.stat().st_size, set(numbers)
        self._own = reading.own_names(used)
        known = dict.fromkeys((*_first_keys(path), *self._own.values()))
        self.columns = reading.new_names([*known, *(name for name in reading.rename if name not in known)])
        self.kinds = dict.fromkeys(used, pa.large_binary())  # nothing is known of them
        self.dialect = {"lines": "json"}
        self._taken, self._lines = 0, list[int]()

    def batches(self) -> Generator[Any]:
        """As text, each cell by itself."""
        import pyarrow as pa

        rows = list[dict[str, Any]]()
        for number, line in self._records():
            found = _object(line)
            if isinstance(found, str):
                self.lines.note(found, number)
                found = {}
            rows.append(found)
            if len(rows) == BATCH:
                yield self._batch(rows)
                rows = []
        if rows:
            yield self._batch(rows)
        pa.default_memory_pool().release_unused()

    def _records(self) -> Iterator[tuple[int, bytes]]:
        """Lines that are not empty, with their numbers."""
        number, self._lines = 0, []
        with Utf8Bytes(self._path, "utf-8") as file:
            while line := file.readline(LONGEST):
                number += 1
                whole = line
                while len(line) == LONGEST and not line.endswith(b"\n"):  # the rest of one that is too long
                    line = file.readline(LONGEST)
                    whole = b"x"
                self._taken = file.place
                if whole.strip():
                    self._lines.append(number)
                    yield number, whole

    def _batch(self, rows: list[dict[str, Any]]) -> Any:
        import pyarrow as pa

        if not self._own:
            return pa.record_batch([pa.nulls(len(rows))], ["0"])
        arrays = [
            pa.array([_cell(row.get(own), name in self._numbers) for row in rows], pa.large_string())
            for name, own in self._own.items()
        ]
        return pa.record_batch(arrays, list(self._own))

    def share(self, rows: int) -> float:
        """By the bytes that were taken."""
        return min(self._taken / max(self.size or 1, 1), 1.0)

    def number(self, row: int) -> int:
        """That of its line."""
        return self._lines[row]

    def place(self, row: int) -> str:
        """The line."""
        return f"line {self.number(row):,}"


def _object(line: bytes) -> dict[str, Any] | str:
    """What a line says, or what is wrong with it."""
    try:
        text = line.removeprefix(b"\xef\xbb\xbf").decode()
        found = json.loads(text, object_pairs_hook=_once, parse_int=_Digits, parse_float=_Digits, parse_constant=float)
    except _Twice:
        return "a key that is given twice"
    except UnicodeDecodeError:
        return "text that is not UTF-8"
    except (ValueError, RecursionError):
        return "not an object of JSON"
    return found if isinstance(found, dict) else "not an object of JSON"


class _Digits(str):
    """A number as it is written."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice
    return found


def _cell(cell: Any, number: bool) -> str | None:
    """A number as a column of its type would have it; all else as in data frames."""
    if not isinstance(cell, _Digits):
        return as_text(cell, number)
    if len(cell) > _MOST_DIGITS:
        return mark(LONG)
    if cell.lstrip("-").isdigit():
        return str(int(cell))
    value = float(cell)
    return str(cell) if number or math.isinf(value) else float_text(value)


def _first_keys(path: Path) -> list[str]:
    """The keys of the first line: for people who are asked which columns there are."""
    with Utf8Bytes(path, "utf-8") as file:
        while line := file.readline(LONGEST):
            if line.strip():
                found = _object(line)
                return [] if isinstance(found, str) else list(found)
    raise InvalidInput("source", str(path), "is empty")
