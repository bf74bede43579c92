"""`--from`: mechanisms out of a file or standard input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from optcomp.cli.failures import Complaint
from optcomp.cli.reading.file_text import text_of
from optcomp.reading import SUFFIXES, Format, MechanismText, blank, entries_of, sniff


def entries_from(path: str, format: Format | None) -> Iterator[MechanismText]:
    """Every mechanism of a file; `-` is standard input.  A file without any is refused as a likely mistake."""
    name = "standard input" if path == "-" else path
    text = text_of(path, name)
    if blank(text):
        raise Complaint(f"{name}: holds no mechanisms")
    chosen = format or SUFFIXES.get(Path(path).suffix.lower()) or sniff(text)
    empty = True
    for entry in entries_of(text, chosen, name):
        empty = False
        yield entry
    if empty:
        raise Complaint(f"{name}: holds no mechanisms")
