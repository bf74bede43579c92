r"""The lines of a CSV file: every line is a record, and a line that cannot be told apart into cells spoils no other.

What is a record is declared.  Unless quoted cells may hold line breaks (`multiline`), a record is a line: a quotation
mark that is never closed makes that line unreadable, and does not swallow the people after it.  A record is good if

    it has as many cells as the header,
    quotation marks open at the beginning of a cell and close at its end, and inside are doubled,
    no carriage return stands inside it, and it is not too long.

`Records` reads a file and gives the same bytes, with every bad record replaced by one whose cells are all empty.  Empty
lines are no records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from optcomp.statistics.sources.source import Lines

LONGEST = 1 << 22
"""Bytes of a record."""
_CHUNK = 1 << 22
"""Bytes read at a time."""
_MOST_MOVES = 100_000
"""Places that are remembered at which lines and records come apart: some megabytes."""
_NEWLINE, _RETURN = 10, 13
"""As bytes."""
Places = npt.NDArray[np.int64]
"""Of bytes, or numbers of lines."""
Marks = npt.NDArray[np.bool_]
"""One for each byte."""


class Bytes(Protocol):
    """What is read from its beginning to its end."""

    def read(self, size: int, /) -> bytes:
        """The next bytes."""


class Records:
    """The good records of a file; in place of a bad one stands one whose cells are all empty."""

    def __init__(
        self, file: Bytes, delimiter: str, cells: int, *, multiline: bool, line: int, quote: str = '"'
    ) -> None:
        self._file, self._delimiter, self._cells = file, ord(delimiter), cells
        self._multiline, self._line, self._record = multiline and bool(quote), line, 0
        self._quote = quote.encode()
        self._empty = 2 * self._quote + delimiter.encode() * (cells - 1) + b"\n"
        self._rest, self._ended = b"", False
        self._moved: list[tuple[int, int]] = [(0, line)]
        self.lines, self.taken = Lines(), 0

    def blocks(self) -> Iterator[bytes]:
        """Good records, some megabytes at a time."""
        while not self._ended:
            if block := self._next():
                yield block

    def line_of(self, record: int) -> int | None:
        """In which line a record begins, counted from 1; records are counted from 0.

        None in files with so many empty lines and line breaks in cells that they are not remembered.
        """
        if len(self._moved) >= _MOST_MOVES:
            return None
        place = bisect_right(self._moved, (record, 1 << 62)) - 1
        first, line = self._moved[place]
        return line + record - first

    def _next(self) -> bytes:
        """Whole records; what is left over begins the next ones."""
        chunk = self._taken()
        whole = self._rest + chunk
        if not chunk:
            self._ended, self._rest = True, b""
            if not whole:
                return b""
            return self._checked(whole if whole.endswith(b"\n") else whole + b"\n")
        end = self._last_end(whole)
        if end or len(whole) <= LONGEST:
            self._rest = whole[end:]
            return self._checked(whole[:end]) if end else b""
        return self._skipped(whole)

    def _taken(self) -> bytes:
        chunk = self._file.read(_CHUNK)
        self.taken += len(chunk)
        return chunk

    def _last_end(self, whole: bytes) -> int:
        """After the last line break that ends a record."""
        if not self._multiline or self._quote not in whole:
            return whole.rfind(b"\n") + 1
        bytes_of = np.frombuffer(whole, np.uint8)
        outside = ~_inside(bytes_of, self._quote)
        found = np.flatnonzero((bytes_of == _NEWLINE) & outside)
        return int(found[-1]) + 1 if len(found) else 0

    def _skipped(self, whole: bytes) -> bytes:
        """A record that is too long: up to its end nothing is kept but whether a quotation mark is open."""
        begun, quotes = self._line, whole.count(self._quote)
        self._line += whole.count(b"\n")
        while chunk := self._taken():
            end = _first_end(chunk, self._quote, open_before=bool(quotes % 2)) if self._multiline else chunk.find(b"\n")
            quotes += chunk.count(self._quote) if end < 0 else 0
            self._line += chunk.count(b"\n", 0, end + 1 if end >= 0 else len(chunk))
            if end >= 0:
                self._rest = chunk[end + 1 :]
                break
        else:
            self._rest, self._ended = b"", True
        self.lines.note("too long", begun)
        self._record += 1
        self._moved.append((self._record, self._line))
        return self._empty

    def _checked(self, block: bytes) -> bytes:
        """The block with bad records replaced and empty lines left out."""
        found = _Block(block, self._delimiter, self._cells, self._multiline, self._quote)
        records = len(found.ends)
        if found.empty.any() or found.bad.any() or found.breaks is not None:
            return self._rebuilt(block, found)
        self._record += records
        self._line += records
        return block

    def _rebuilt(self, block: bytes, found: _Block) -> bytes:
        pieces, done = list[bytes](), 0
        lines = self._line + found.lines_before
        notable = np.flatnonzero(found.empty | found.bad)
        if found.breaks is not None:
            self.lines.longest = max(
                self.lines.longest, int(np.diff(lines, append=self._line + block.count(b"\n")).max())
            )
        record = self._record
        kept = record + np.arange(len(found.ends)) - np.concatenate([[0], np.cumsum(found.empty)[:-1]])
        for place in notable:
            start, end = int(found.starts[place]), int(found.ends[place]) + 1
            pieces.append(block[done:start])
            if found.bad[place]:
                self.lines.note(found.why(int(place)), int(lines[place]))
                pieces.append(self._empty)
            done = end
        pieces.append(block[done:])
        self._remember(kept[~found.empty], lines[~found.empty])
        self._record = record + int(len(found.ends) - found.empty.sum())
        self._line += block.count(b"\n")
        if len(self._moved) < _MOST_MOVES:
            self._moved.append((self._record, self._line))
        return b"".join(pieces)

    def _remember(self, records: Places, lines: Places) -> None:
        """Where the distance between records and lines changes."""
        if not len(records):
            return
        first, line = self._moved[-1]
        away = lines - records
        before = np.concatenate([[line - first], away[:-1]])
        room = max(_MOST_MOVES - len(self._moved), 0)
        for place in np.flatnonzero(away != before)[:room]:
            self._moved.append((int(records[place]), int(lines[place])))


class _Block:
    """Whole records, each with what is wrong with it."""

    def __init__(self, block: bytes, delimiter: int, cells: int, multiline: bool, quote: bytes) -> None:
        data = np.frombuffer(block, np.uint8)
        newline, quoted = data == _NEWLINE, bool(quote) and quote in block
        splits, self.breaks = data == delimiter, None
        ends = np.flatnonzero(newline)
        self._broken = np.zeros(0, np.int64)
        if quoted:
            inside = _inside(data, quote) if multiline else _inside_lines(data, ends, quote)
            splits &= ~inside
            if multiline and (newline & inside).any():
                self.breaks = newline & inside
                ends = np.flatnonzero(newline & ~inside)
                if not len(ends) or ends[-1] != len(block) - 1:  # the file ends inside a quoted cell
                    ends = np.append(ends, len(block) - 1)
            self._broken = np.flatnonzero(_misplaced(data, inside, delimiter, quote))
            self._open = inside[ends]
        else:
            self._open = np.zeros(len(ends), np.bool_)
        self.ends = ends
        self.starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
        if b"\r" in block:
            alone = (data[:-1] == _RETURN) & (data[1:] != _NEWLINE)
            alone = alone & ~inside[:-1] if quoted and multiline else alone
            returns = np.flatnonzero(alone)
        else:
            returns = np.zeros(0, np.int64)
        self._returned = self._hit(returns)
        self._cells = self._hit(np.flatnonzero(splits)) + 1
        length = ends - self.starts
        bare = length - ((length > 0) & (data[np.maximum(ends - 1, 0)] == _RETURN))
        self.empty = bare == 0
        self._wanted, self._long = cells, length > LONGEST
        misplaced = self._hit(self._broken) > 0
        self._misplaced = misplaced
        wrong = misplaced | self._open | (self._returned > 0) | self._long | (self._cells != cells)
        self.bad: Marks = wrong & ~self.empty

    @property
    def lines_before(self) -> Places:
        """How many lines begin before each record."""
        if self.breaks is None:
            return np.arange(len(self.ends), dtype=np.int64)
        inner = self._hit(np.flatnonzero(self.breaks))
        return np.concatenate([[0], np.cumsum(inner + 1)[:-1]]).astype(np.int64)

    def _hit(self, places: Places) -> Places:
        """How many of these places are in each record."""
        if not len(places):
            return np.zeros(len(self.ends), np.int64)
        upto = np.searchsorted(places, self.ends, side="right")
        return np.diff(upto, prepend=0).astype(np.int64)

    def why(self, place: int) -> str:
        """What is wrong with a record."""
        if self._long[place]:
            return "too long"
        if self._open[place]:
            return "a quotation mark that is not closed"
        if self._misplaced[place]:
            return "a quotation mark in the middle of a cell"
        if self._returned[place]:
            return "a carriage return inside it"
        return "too few cells" if self._cells[place] < self._wanted else "too many cells"


def _inside(data: npt.NDArray[np.uint8], quote: bytes) -> Marks:
    """Whether a quotation mark is open after each byte."""
    found: Marks = np.bitwise_xor.accumulate((data == ord(quote)).view(np.uint8)).view(np.bool_)
    return found


def _first_end(chunk: bytes, quote: bytes, *, open_before: bool) -> int:
    """The first line break that ends a record of several lines; -1 if there is none."""
    data = np.frombuffer(chunk, np.uint8)
    found = np.flatnonzero((data == _NEWLINE) & (_inside(data, quote) == open_before))
    return int(found[0]) if len(found) else -1


def _inside_lines(data: npt.NDArray[np.uint8], ends: Places, quote: bytes) -> Marks:
    """The same, where every line begins anew."""
    found = _inside(data, quote)
    before = np.concatenate([[False], found[ends[:-1]]])
    if before.any():
        sizes = np.diff(ends, prepend=-1)
        found = found ^ np.repeat(before, sizes)
    return found


def _misplaced(data: npt.NDArray[np.uint8], inside: Marks, delimiter: int, mark: bytes) -> Marks:
    """Quotation marks that open after something else than the beginning of a cell, or close before its end.

    One that opens just after one that closes is the second half of a doubled one.
    """
    quote = data == ord(mark)
    before = np.concatenate([[_NEWLINE], data[:-1]])
    after = np.concatenate([data[1:], [_NEWLINE]])
    opens, closes = quote & inside, quote & ~inside
    starts = (before == delimiter) | (before == _NEWLINE) | (before == ord(mark))
    stops = (after == delimiter) | (after == _NEWLINE) | (after == _RETURN) | (after == ord(mark))
    found: Marks = (opens & ~starts) | (closes & ~stops)
    return found
