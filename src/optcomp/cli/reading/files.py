"""`--from`: mechanisms out of a file or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from optcomp.cli.failures import Refused
from optcomp.cli.reading import formats
from optcomp.cli.reading.entries import Entry
from optcomp.cli.reading.formats import Format


def entries_from(path: str, format: Format | None) -> Iterator[Entry]:
    """Every mechanism of a file; `-` is standard input.  A file without any is refused as a likely mistake."""
    name = "standard input" if path == "-" else path
    text = text_of(path, name)
    if formats.blank(text):
        raise Refused(f"{name}: holds no mechanisms")
    chosen = format or formats.SUFFIXES.get(Path(path).suffix.lower()) or formats.sniff(text)
    empty = True
    for entry in formats.entries_of(text, chosen, name):
        empty = False
        yield entry
    if empty:
        raise Refused(f"{name}: holds no mechanisms")


def text_of(path: str, name: str) -> str:
    """The text of a file in UTF-8; `-` is standard input."""
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise Refused(f"{name}: {getattr(error, 'strerror', None) or error}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(f"{name}: is not text in UTF-8") from None
