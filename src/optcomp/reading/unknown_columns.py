"""Columns and keys of a file that are none of epsilon, delta, count.

Text such as a name or a comment is welcome.  Numbers under an unknown name are refused: a misspelled `detla` that was
passed over would make the privacy loss too small.
"""

from __future__ import annotations

import difflib
import re
from functools import lru_cache

from optcomp.reading.complaints import Complaint

_CLOSE = 0.7
"""How alike a name must be to be taken for a misspelled one: `detla` is, `data` is not."""
_NUMBER = re.compile(r"\s*[+-]?(\d[\d_]*[.,]?\d*|[.,]\d+)(e[+-]?\d+)?(\s*/\s*\d+)?\s*%?\s*", re.IGNORECASE)
_START = re.compile(r"\s*[+-]?(\.?\d|nan\b|inf\b)", re.IGNORECASE)
_NOTHING = ("", "-", "–", "na", "n/a", "nan", "none", "null")
"""How people write that there is no value."""


class UnknownColumns:
    """Unknown names met in one file, each with what it holds; `kind` is what the format calls a name."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._numbers: dict[str, bool] = {}
        self._first: dict[str, str] = {}

    def meet(self, name: str, value: object, where: str) -> None:
        """Refuse a number under a name that looks misspelled; remember everything else."""
        if value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING):
            return
        meant = _meant(name)
        if meant and _holds(value, _START):
            raise Complaint(f"{where}: {self._kind} {name!r} is unknown; did you mean {meant}?")
        self._numbers[name] = self._numbers.get(name, True) and _holds(value, _NUMBER, whole=True)
        self._first.setdefault(name, where)

    def dismiss(self) -> None:
        """Refuse a name under which nothing but numbers was found."""
        for name, only_numbers in self._numbers.items():
            if only_numbers:
                raise Complaint(
                    f"{self._first[name]}: {self._kind} {name!r} holds numbers but is none of epsilon, delta, count; "
                    "rename or remove it"
                )


@lru_cache(maxsize=1000)
def _meant(name: str) -> str:
    """The known name that this one resembles, if any."""
    found = difflib.get_close_matches(name.strip().lower(), ("epsilon", "eps", "delta", "count"), 1, _CLOSE)
    return "epsilon" if found == ["eps"] else "".join(found)


def _holds(value: object, number: re.Pattern[str], *, whole: bool = False) -> bool:
    """Whether text is a number, or whether a list or an object has one somewhere inside."""
    if isinstance(value, str):
        return bool(number.fullmatch(value) if whole else number.match(value))
    if isinstance(value, list | tuple):
        return any(_holds(inner, number, whole=whole) for inner in value)
    return False
