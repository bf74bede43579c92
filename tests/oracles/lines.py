"""The lines of a CSV file, told apart into cells byte by byte."""

from __future__ import annotations

Line = list[bytes] | None
"""Its cells, or None if they cannot be told apart."""
QUOTE, RETURN = b'"', b"\r"
LONGEST = 1 << 22


def read_lines(body: bytes, delimiter: bytes, cells: int) -> list[tuple[int, Line]]:
    """What comes after the header: the number of each line, counted from the header as 1, and its cells."""
    found: list[tuple[int, Line]] = []
    for number, line in enumerate(body.split(b"\n"), 2):
        bare = line[:-1] if line.endswith(RETURN) else line
        if bare:
            found.append((number, _cells(bare, delimiter, cells) if len(line) <= LONGEST else None))
    return found


def _cells(line: bytes, delimiter: bytes, wanted: int) -> Line:
    if RETURN in line:
        return None
    found, place = list[bytes](), 0
    while True:
        cell, place = _quoted(line, place + 1) if line[place : place + 1] == QUOTE else _bare(line, place, delimiter)
        if cell is None:
            return None
        found.append(cell)
        if place == len(line):
            return found if len(found) == wanted else None
        if line[place : place + 1] != delimiter:
            return None
        place += 1


def _quoted(line: bytes, place: int) -> tuple[bytes | None, int]:
    """Up to the quotation mark that closes, with doubled ones made single."""
    cell = b""
    while True:
        end = line.find(QUOTE, place)
        if end < 0:
            return None, place
        cell += line[place:end]
        if line[end + 1 : end + 2] != QUOTE:
            return cell, end + 1
        cell, place = cell + QUOTE, end + 2


def _bare(line: bytes, place: int, delimiter: bytes) -> tuple[bytes | None, int]:
    end = line.find(delimiter, place)
    end = len(line) if end < 0 else end
    cell = line[place:end]
    return (None if QUOTE in cell else cell), end
