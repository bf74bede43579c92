"""`--from`: mechanisms out of a file or standard input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from optcomp.cli.failures import Complaint
from optcomp.cli.reading import formats
from optcomp.cli.reading.entries import MechanismText
from optcomp.cli.reading.file_text import text_of
from optcomp.cli.reading.format_names import SUFFIXES, Format


def entries_from(path: str, format: Format | None) -> Iterator[MechanismText]:
    """Every mechanism of a file; `-` is standard input.  A file without any is refused as a likely mistake."""
    name = "standard input" if path == "-" else path
    text = text_of(path, name)
    if formats.blank(text):
        raise Complaint(f"{name}: holds no mechanisms")
    chosen = format or SUFFIXES.get(Path(path).suffix.lower()) or formats.sniff(text)
    empty = True
    for entry in formats.entries_of(text, chosen, name):
        empty = False
        yield entry
    if empty:
        raise Complaint(f"{name}: holds no mechanisms")
