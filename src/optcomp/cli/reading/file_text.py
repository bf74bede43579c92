"""The text of a file, or of standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from optcomp.cli.failures import Complaint


def text_of(path: str, name: str) -> str:
    """The text of a file in UTF-8; `-` is standard input."""
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise Complaint(f"{name}: {getattr(error, 'strerror', None) or error}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Complaint(f"{name}: is not text in UTF-8") from None
