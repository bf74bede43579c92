r"""How a file of lines is written: what parts its cells, what quotes them, how numbers and letters are written.

Nothing of it is guessed while a table is prepared.  The owner declares it, or the fixed defaults hold; a look at a file
(`looking.py`) proposes, and the owner confirms.  Text is a number in a dialect if, without the spaces around it, it is

    [+-]? ( digits | three digits at a time with the mark of thousands between ) [ decimal mark digits ] [ exponent ]

and what is a number only in another dialect, such as 1.5 where the decimal mark is a comma, is none.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from optcomp.errors import InvalidInput

ENCODINGS = (
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "latin-1",
    "iso8859-2",
    "iso8859-15",
    "cp1250",
    "cp1252",
    "cp437",
    "cp850",
    "mac-roman",
)
"""Those that keep lines, delimiters and digits what they are, each letter by itself."""
_CODECS = {codecs.lookup(name).name: name for name in ENCODINGS}
"""By the names that Python gives them, whatever people call them."""
QUOTES = ('"', "'", "")
"""What may stand around a cell; nothing means that no mark is special."""
DECIMALS = (".", ",")
"""Between the whole part of a number and the rest."""
THOUSANDS = ("", ",", ".", "'", "\u2019", " ", "_")
"""Between groups of three digits; nothing means that digits stand together."""
BLANKS = "[ \u00a0\u202f]"
"""The blanks that people and programs put between thousands."""
_PLAIN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?$"
"""A number without any dialect."""


@dataclass(frozen=True)
class Dialect:
    """How a file of lines is written; what is not said is as programs write CSV.

    `delimiter` is one character; without it the header decides, as docs/snapshots.md says.  `quote` is a quotation
    mark, an apostrophe, or nothing.  `decimal` and `thousands` say how numbers are written, `encoding` how letters are.
    """

    delimiter: str | None = None
    quote: str = '"'
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            delimiter = self.delimiter
            one = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
            if not one or delimiter.isalnum() or delimiter in "\"'\r\n\x00.+-":
                raise InvalidInput("delimiter", delimiter, "must be one character such as , ; | or a tab")
        for name, known in (("quote", QUOTES), ("decimal", DECIMALS), ("thousands", THOUSANDS)):
            if getattr(self, name) not in known:
                shown = ", ".join(map(repr, known))
                raise InvalidInput(name, getattr(self, name), f"must be one of {shown}")
        if self.decimal == self.thousands:
            raise InvalidInput("thousands", self.thousands, "must not be the decimal mark")
        if self.quote == self.thousands != "":
            raise InvalidInput("thousands", self.thousands, "must not be the quotation mark")
        object.__setattr__(self, "encoding", _encoding(self.encoding))

    @property
    def written(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)

    @cached_property
    def _pattern(self) -> str:
        mark = BLANKS if self.thousands == " " else re.escape(self.thousands)
        grouped = f"[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|" if self.thousands else ""
        point = re.escape(self.decimal)
        return f"^[+-]?(?:(?:{grouped}[0-9]+)(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]{{1,9}})?$"

    def with_points(self, column: Any) -> Any:
        """Text in which every number is written with a decimal point and without thousands; all else stays text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        if (self.decimal, self.thousands) == (".", "") or not (
            pa.types.is_string(kind) or pa.types.is_large_string(kind)
        ):
            return column
        words = pc.utf8_trim(column, " ")
        here = pc.match_substring_regex(words, self._pattern)
        bare = words
        if self.thousands:
            mark = BLANKS if self.thousands == " " else re.escape(self.thousands)
            bare = pc.replace_substring_regex(bare, mark, "")
        bare = pc.replace_substring(bare, self.decimal, ".")
        elsewhere = pc.match_substring_regex(words, _PLAIN)
        no_number = pc.binary_join_element_wise(pa.scalar("?", kind), words, pa.scalar("", kind))
        return pc.if_else(here, bare, pc.if_else(elsewhere, no_number, words))


def read_dialect(written: object) -> Dialect:
    """A dialect from a document: a mapping of what is not as usual."""
    if isinstance(written, Dialect):
        return written
    if not isinstance(written, Mapping):
        raise InvalidInput("dialect", type(written).__name__, "must be a mapping, such as {delimiter: ';'}")
    known = [each.name for each in fields(Dialect)]
    for name in written:
        if name not in known:
            raise InvalidInput("dialect", name, f"is not known; known are {', '.join(known)}")
    return Dialect(**written)


def _encoding(name: object) -> str:
    try:
        found = _CODECS.get(codecs.lookup(str(name)).name)
    except LookupError:
        found = None
    if found is None or not isinstance(name, str):
        raise InvalidInput("encoding", name, f"must be one of {', '.join(ENCODINGS)}")
    return found
