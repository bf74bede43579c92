"""Workbooks of spreadsheets: the first row of a sheet has the names of its columns, and cells have their own types.

A workbook is a packed folder.  What it becomes is counted before it is opened, whatever it says of itself.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Collection, Generator
from pathlib import Path
from typing import Any, BinaryIO

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.extras import needed
from optcomp.statistics.sources.frame_cells import as_text
from optcomp.statistics.sources.reading import Reading
from optcomp.statistics.sources.source import BATCH, Source, all_known

_MOST_BYTES = 1 << 29
"""That a workbook may become when it is unpacked: a million rows of fifty cells, about."""
_LOCAL, _NAMES = 30, 26
"""Bytes of the head of a packed file, and where the lengths of its name and its extra field stand."""
_BLOCK = 1 << 16
"""Bytes that are unpacked at a time."""


def sheets_of(path: Path) -> list[str]:
    """The sheets of a workbook."""
    raw = path.read_bytes()
    _check_size(path, raw)
    return list(_opened(path, raw).sheet_names)


class Workbook(Source):
    """One sheet of a workbook."""

    def __init__(self, path: Path, used: Collection[str], numbers: Collection[str], reading: Reading) -> None:
        import pyarrow as pa

        super().__init__()
        reading.only_lines("a workbook")
        self.name, self.where, self.size = path.stem, path.name, path.stat().st_size
        raw = path.read_bytes()
        _check_size(path, raw)
        sheets = _opened(path, raw)
        name = _sheet(sheets.sheet_names, reading.table, path)
        try:
            self._rows = sheets.get_sheet_by_name(name).to_python(skip_empty_area=False)
        except Exception as error:
            raise InvalidInput(
                "source", str(path), f"has a sheet that cannot be read ({type(error).__name__})"
            ) from None
        names = _header(path, self._rows)
        self.columns, own = reading.new_names(names), reading.own_names(used)
        all_known(own.values(), names)
        self._places = {new: names.index(old) for new, old in own.items()}
        self._numbers = set(numbers)
        self.kinds = dict.fromkeys(used, pa.large_binary())  # nothing is known of them
        self.dialect = {"sheet": name}

    def batches(self) -> Generator[Any]:
        """Rows that are not empty, as text cell by cell."""
        import pyarrow as pa

        self._kept = [place for place, row in enumerate(self._rows) if place and any(cell != "" for cell in row)]
        for start in range(0, len(self._kept), BATCH):
            rows = [self._rows[place] for place in self._kept[start : start + BATCH]]
            if not self._places:
                yield pa.record_batch([pa.nulls(len(rows))], ["0"])
                continue
            arrays = [
                pa.array([_text(row, place, name in self._numbers) for row in rows], pa.large_string())
                for name, place in self._places.items()
            ]
            yield pa.record_batch(arrays, list(self._places))

    def number(self, row: int) -> int:
        """As the spreadsheet counts them."""
        return self._kept[row] + 1


def _text(row: list[Any], place: int, number: bool) -> str | None:
    cell = row[place] if place < len(row) else None
    return None if cell == "" else as_text(cell, number)


def _opened(path: Path, raw: bytes) -> Any:
    reader = needed("python_calamine", "excel")
    try:
        return reader.CalamineWorkbook.from_filelike(io.BytesIO(raw))
    except Exception as error:
        raise InvalidInput("source", str(path), f"cannot be read as a workbook ({type(error).__name__})") from None


def _sheet(sheets: list[str], wanted: str | None, path: Path) -> str:
    """The sheet that is named, or the only one."""
    if wanted is None and len(sheets) == 1:
        return sheets[0]
    if wanted is None:
        raise InvalidInput("table", None, f"must name a sheet of {path.name}: {', '.join(sheets)}")
    if wanted not in sheets:
        raise InvalidInput("table", wanted, f"is not a sheet of {path.name}, which has {', '.join(sheets)}")
    return wanted


def _header(path: Path, rows: list[list[Any]]) -> list[str]:
    if not rows or not any(cell != "" for cell in rows[0]):
        raise InvalidInput("source", str(path), "must have the names of its columns in the first row of the sheet")
    names = [as_text(cell, False) or f"(column {place})" for place, cell in enumerate(rows[0], 1)]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput("source", str(path), f"must name each column once, and has {name!r} twice")
    return names


def _check_size(path: Path, raw: bytes) -> None:
    """Unpacks everything and keeps nothing: what the list of contents says may be false."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            entries = packed.infolist()
        left = _MOST_BYTES
        for each in entries:
            left -= _unpacked(io.BytesIO(raw), each, left)
            if left < 0:
                megabytes = _MOST_BYTES >> 20
                reason = f"becomes more than {megabytes} MiB when it is unpacked, as bombs do: write the sheet as CSV"
                raise UnreadableData(path.name, reason)
    except (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, EOFError):
        raise InvalidInput("source", str(path), "is not a workbook, or is damaged or encrypted") from None


def _unpacked(file: BinaryIO, entry: zipfile.ZipInfo, most: int) -> int:
    """How long one entry becomes, counted up to just beyond `most`."""
    if entry.compress_type == zipfile.ZIP_STORED:
        return entry.compress_size
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        raise zipfile.BadZipFile("packed in a way that workbooks are not")
    file.seek(entry.header_offset)
    name, extra = struct.unpack_from("<HH", file.read(_LOCAL), _NAMES)
    file.seek(name + extra, io.SEEK_CUR)
    unpacking, length = zlib.decompressobj(-zlib.MAX_WBITS), 0
    while length <= most and not unpacking.eof:
        block = unpacking.unconsumed_tail or file.read(_BLOCK)
        if not block:
            break
        length += len(unpacking.decompress(block, _BLOCK))
    return length
