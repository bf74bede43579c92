"""A look at the beginning of a file of lines: how it seems to be written, for the owner to confirm.

It reads rows, so what it says is for whoever holds the data.  Nothing is prepared by it: a table is read in the dialect
that its owner declares.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.statistics.sources.csv_files import DELIMITERS
from optcomp.statistics.sources.decoding import Utf8Bytes, plain_suffix
from optcomp.statistics.sources.dialect import BLANKS, ENCODINGS, Dialect

_LOOKED_AT = 1 << 20
"""Bytes of the beginning."""
_LINES = 2000
"""Lines of the beginning."""
_DELIMITERS = ";\t|,"
"""Those that are tried; of two that fit as well the first, for a comma may be a decimal mark."""
_COMMA = re.compile(r"^[+-]?[0-9]{1,3}([. '\u2019\u00a0\u202f][0-9]{3})*,[0-9]+$|^[+-]?[0-9]+,[0-9]+$")
"""A number with a decimal comma, or a whole one with a comma between thousands."""
_POINT = re.compile(r"^[+-]?[0-9]{1,3}([, '\u2019\u00a0\u202f][0-9]{3})*\.[0-9]+$|^[+-]?[0-9]+\.[0-9]+$")
"""The other way round."""
_THOUSANDS = re.compile(rf"^[+-]?[0-9]{{1,3}}(?:([.,'\u2019]|{BLANKS})[0-9]{{3}})(?:\1[0-9]{{3}})*(?:([.,])([0-9]+))?$")
"""Digits in groups of three."""
_MARK = "\ufeff"
"""A byte order mark as a letter."""


@dataclass(frozen=True)
class Proposal:
    """How a file seems to be written, its header, and its first records: not private."""

    dialect: Dialect
    header: tuple[str, ...]
    records: tuple[tuple[str, ...], ...]
    """Of the first lines; those with another number of cells are left out."""


def has_dialect(path: Path) -> bool:
    """Whether a file is one of lines, by its name."""
    return plain_suffix(path) in DELIMITERS


def propose(path: str | Path) -> Proposal:
    """Look at the beginning of a CSV file, packed or not."""
    found = Path(path)
    if not has_dialect(found):
        raise InvalidInput("source", str(found), f"must be a file of lines, and end in one of {', '.join(DELIMITERS)}")
    try:
        with Utf8Bytes(found, "utf-8") as file:
            raw = file.read(_LOOKED_AT).removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise InvalidInput("source", str(found), f"cannot be read ({error.strerror or error})") from None
    if not raw:
        raise InvalidInput("source", str(found), "is empty")
    encoding = _encoding(raw)
    text = raw.decode("utf-16" if encoding == "utf-16" else encoding, "replace").removeprefix(_MARK)
    lines = [line for line in text.replace("\r\n", "\n").split("\n")[:_LINES] if line]
    lines = lines[:-1] if len(raw) >= _LOOKED_AT - len(codecs.BOM_UTF8) and len(lines) > 1 else lines
    quote = _quote(lines)
    delimiter = "\t" if plain_suffix(found) == ".tsv" else _delimiter(lines, quote)
    records = _split(lines, delimiter, quote)
    cells = [cell.strip() for record in records[1:] for cell in record]
    decimal, thousands = _marks(cells)
    header = tuple(records[0])
    kept = tuple(tuple(record) for record in records[1:] if len(record) == len(header))
    if thousands == quote:
        thousands = ""
    return Proposal(Dialect(delimiter, quote, decimal, thousands, encoding), header, kept)


def _encoding(raw: bytes) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    start = raw[:4096]
    if start.count(0) > len(start) // 4:
        return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        special = any(0x80 <= byte < 0xA0 for byte in raw)
        found = "cp1252" if special else "latin-1"
        assert found in ENCODINGS
        return found
    return "utf-8"


def _quote(lines: Sequence[str]) -> str:
    """Apostrophes only where cells stand between them, and none between quotation marks."""
    ends = Counter[str]()
    for line in lines:
        for cell in re.split(r"[,;|\t]", line):
            if len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "\"'":
                ends[cell[0]] += 1
    return "'" if ends["'"] > 0 and not ends['"'] else '"'


def _split(lines: Sequence[str], delimiter: str, quote: str) -> list[list[str]]:
    try:
        return [
            record for line in lines for record in csv.reader(io.StringIO(line), delimiter=delimiter, quotechar=quote)
        ]
    except csv.Error:
        return [line.split(delimiter) for line in lines]


def _delimiter(lines: Sequence[str], quote: str) -> str:
    """The one by which most lines have as many cells as the header; of several the one with most cells."""

    def fit(delimiter: str) -> tuple[Any, ...]:
        records = _split(lines, delimiter, quote)
        wanted = len(records[0])
        same = sum(len(record) == wanted for record in records)
        return wanted > 1, same * 10 // max(len(records), 1), wanted, -_DELIMITERS.index(delimiter)

    return max(_DELIMITERS, key=fit)


def _marks(cells: Sequence[str]) -> tuple[str, str]:
    """The decimal mark, and that of thousands if some number has both or more than one group."""
    comma = sum(_COMMA.match(cell) is not None for cell in cells)
    point = sum(_POINT.match(cell) is not None for cell in cells)
    decimal = "," if comma > point else "."
    found = Counter[str]()
    for cell in cells:
        match = _THOUSANDS.match(cell)
        if match is None or match[1] == decimal or (match[2] is not None and match[2] != decimal):
            continue
        certain = match[2] is not None or cell.count(match[1]) > 1 or match[1] not in ".,"
        found[" " if re.match(BLANKS, match[1]) else match[1]] += 1 if certain else 0
    ((mark, count),) = found.most_common(1) or [("", 0)]
    return decimal, mark if count else ""
