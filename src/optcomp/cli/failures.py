"""What is wrong with what a person gave, in one line."""

from __future__ import annotations

from optcomp.reading import Complaint

__all__ = ["Complaint", "one_line"]

_LONGEST = 400
"""Letters of a line that people still read; what is quoted may be much longer."""


def one_line(text: str) -> str:
    """The text without line breaks and control characters, cut where it is absurdly long."""
    line = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
