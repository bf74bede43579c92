"""The bytes of a file as UTF-8: unpacked if it is packed, and in another encoding if the owner says so.

A letter that an encoding does not have becomes bytes that are no UTF-8, so that its cell cannot be read and no other.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from optcomp.errors import InvalidInput, UnreadableData

PACKED = ".gz"
"""How the name of a packed file ends."""
_MOST_TIMES = 200
"""A packed file that becomes longer than so many times its size is taken for a bomb; tables become 5 to 50 times."""
_FREE = 1 << 26
"""Bytes that every packed file may become."""
_BLOCK = 1 << 20
"""Bytes that are decoded at a time."""
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""With which files of UTF-16 begin."""
_BROKEN = b"\xff"
"""No UTF-8."""


def plain_suffix(path: Path) -> str:
    """How the name of a file ends, packed or not."""
    name = path.name.lower()
    return Path(name.removesuffix(PACKED)).suffix


class Utf8Bytes:
    """A file that is read from its beginning to its end."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._where, self._raw = path.name, path.open("rb")
        self._packed = path.name.lower().endswith(PACKED)
        self._file: Any = gzip.GzipFile(fileobj=self._raw) if self._packed else self._raw
        self._most = max(_FREE, _MOST_TIMES * path.stat().st_size)
        self._unpacked, self._rest, self._ended = 0, b"", False
        try:
            self._decoder = self._decoding(path, encoding)
        except BaseException:
            self.close()
            raise

    def _decoding(self, path: Path, encoding: str) -> Any:
        if encoding == "utf-8":
            return None
        if encoding == "utf-16":
            mark = self._taken(2)
            if mark not in _MARKS:
                problem = "has no byte order mark: say utf-16-le or utf-16-be for its encoding"
                raise InvalidInput("source", str(path), problem)
            encoding = _MARKS[mark]
        if encoding.startswith("utf-16"):
            return codecs.getincrementaldecoder(encoding)("surrogatepass")
        start = self._taken(len(codecs.BOM_UTF8))
        decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
        if start != codecs.BOM_UTF8:  # some programs put the mark of UTF-8 before other letters
            self._rest = decoder.decode(start).encode("utf-8", "surrogatepass")
        return decoder

    @property
    def place(self) -> int:
        """How many bytes of the file itself were taken."""
        return self._raw.tell()

    def read(self, size: int) -> bytes:
        """The next bytes, as many as this unless the file ends."""
        while len(self._rest) < size and not self._ended:
            self._rest += self._decoded(self._taken(max(_BLOCK, size - len(self._rest))))
        found, self._rest = self._rest[:size], self._rest[size:]
        return found

    def readline(self, most: int) -> bytes:
        """Up to a line feed, or so many bytes."""
        while (end := self._rest.find(b"\n", 0, most)) < 0 and len(self._rest) < most and not self._ended:
            self._rest += self._decoded(self._taken(_BLOCK))
        return self.read(min(end + 1 if end >= 0 else most, most))

    def _taken(self, size: int) -> bytes:
        try:
            found: bytes = self._file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise UnreadableData(self._where, "is not a packed file as gzip writes it, or is cut off") from None
        self._unpacked += len(found)
        if self._packed and self._unpacked > self._most:
            reason = (
                f"becomes more than {_MOST_TIMES} times as long when it is unpacked, as bombs do: unpack it yourself"
            )
            raise UnreadableData(self._where, reason)
        self._ended = not found
        return found

    def _decoded(self, found: bytes) -> bytes:
        if self._decoder is None:
            return found
        with suppress(UnicodeDecodeError):
            text: str = self._decoder.decode(found, final=not found)
            return text.encode("utf-8", "surrogatepass")
        return _BROKEN  # half a letter at the end of the file

    def close(self) -> None:
        """No more."""
        self._file.close()
        self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
