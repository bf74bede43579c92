"""A mapping of a document that is taken apart strictly: every entry is known or refused, and errors name its place."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from optcomp.errors import InvalidInput
from optcomp.numerics import Exact, Number, exact, ratio

MOST_NUMBER = 10**100
"""Numbers that floats can compute with, squared too."""
_MOST_DIGITS = 4000
"""Of the numerator or denominator of a number that is written: more than `exact` reads nobody could read back."""
TOP = "plan"
"""The place of a whole document, which is not said of its entries."""
_IN_WORDS: dict[Any, str] = {
    int: "a whole number",
    str: "text",
    bool: "true or false",
    Sequence: "a list",
    Mapping: "a mapping",
}
"""What an entry must be, for people."""


class Entries:
    """A mapping of a document that is taken apart; what is left over was misspelled."""

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, Mapping):
            shown = kind_of(value) if place == TOP else value  # a whole document may be a file of data
            raise InvalidInput(place, shown, "must be a mapping")
        self._left, self._place, self._known = dict(value), place, list[str]()

    def path(self, name: str) -> str:
        """The place of an entry in the document."""
        return name if self._place == TOP else f"{self._place}.{name}"

    def names(self) -> list[str]:
        """The entries that are left."""
        return [str(name) for name in self._left]

    def has(self, name: str) -> bool:
        """Whether this entry is there, and not taken yet."""
        return name in self._left

    def expect(self, *names: str) -> None:
        """These are known too, if somebody asks what is."""
        self._known += names

    def take(self, name: str, kind: Any, *default: Any) -> Any:
        """An entry of a kind, or its default."""
        self._known.append(name)
        if name not in self._left:
            if not default:
                near = difflib.get_close_matches(name, self.names(), 1)
                raise InvalidInput(self.path(name), None, f"is missing (is it {near[0]}?)" if near else "is missing")
            return default[0]
        value = self._left.pop(name)
        truth, text = isinstance(value, bool) and kind is not bool, isinstance(value, str) and kind is Sequence
        if not isinstance(value, kind) or (kind is not object and (truth or text)):
            raise InvalidInput(self.path(name), value, f"must be {_IN_WORDS.get(kind, 'a number')}")
        return value

    def those(self, names: Sequence[str]) -> dict[str, Any]:
        """The entries of these names that there are, of any kind."""
        self._known += names
        return {name: self._left.pop(name) for name in names if name in self._left}

    def number(self, name: str, *default: Any) -> Exact:
        """A number, exactly: decimals are what they say."""
        value = self.take(name, int | float | str, *default)
        found = exact(as_written(value), self.path(name))
        if abs(Fraction(found)) > MOST_NUMBER:
            raise InvalidInput(self.path(name), value, f"must lie within {float(MOST_NUMBER):g} of zero")
        return found

    def condition(self) -> str | None:
        """The condition on rows, if there is one."""
        return cast("str | None", self.take("where", str, None))

    def by(self) -> tuple[str, ...]:
        """The columns that a statistic is grouped by: a name, or several in a list."""
        given = self.has("by")
        found = self.take("by", object, ())
        if not isinstance(found, Sequence) or (given and not found):
            raise InvalidInput(self.path("by"), found, "must be a column, or a list of columns")
        return (found,) if isinstance(found, str) else tuple(found)

    def edges(self) -> tuple[Any, ...] | None:
        """The edges of bins, if there are any."""
        found = self.take("edges", Sequence, None)
        return None if found is None else tuple(map(as_written, found))

    def done(self) -> None:
        """Refuse what nobody asked for."""
        for name in self._left:
            raise InvalidInput(
                self.path(str(name)), self._left[name], f"is not known; known are {', '.join(self._known)}"
            )


def as_written(value: Any) -> Any:
    """A float as text, which is taken exactly as people write it."""
    return repr(value) if isinstance(value, float) else value


def number_text(value: Number, argument: str) -> str:
    """A number as a rational in text, such as 1/10, exactly; `Entries.number` reads it back."""
    found = ratio(Fraction(exact(value, argument)))
    if max(map(len, found.split("/"))) > _MOST_DIGITS:
        raise InvalidInput(argument, value, f"has more than {_MOST_DIGITS} digits: it cannot be written exactly")
    return found


def kind_of(value: object) -> str:
    """What a value is, for errors that must not show it."""
    return {str: "text", list: "a list", type(None): "nothing"}.get(type(value), type(value).__name__)
