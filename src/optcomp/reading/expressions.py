"""Mechanisms as expressions, taken apart: `gaussian(sigma=4)x100`, `subsampled(laplace(10), rate=0.01)`.

expression = call [ "x" count ]
call       = name "(" [ argument { "," argument } ] ")"
argument   = [ name "=" ] ( number | call )

What names and numbers mean is the business of `mechanism_syntax`.  In names, case does not matter and - stands for _.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"\s*([^\W\d][\w-]*)\s*")
_NAMED = re.compile(r"\s*([^\W\d][\w-]*)\s*=")
_NUMBER = re.compile(r"[^,()]*")
_COUNT = re.compile(r"\s*(?:[xX×](.*))?", re.DOTALL)
_DEEPEST = 5
"""No mechanism holds one that holds one; more is a slip, and must not exhaust the stack."""


class Malformed(ValueError):
    """A text that is no expression; the message says why."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A value, as text or as a call, and the name it was given, if any."""

    name: str
    value: str | Call


@dataclass(frozen=True, slots=True)
class Call:
    """A name with its arguments in the order written."""

    name: str
    arguments: tuple[Argument, ...]


def is_expression(text: str) -> bool:
    """Whether the text is meant as an expression: numbers have no parentheses."""
    return "(" in text or ")" in text


def parse(text: str) -> tuple[Call, str]:
    """The call and the text of its count, which is empty where there is none."""
    reader = _Reader(text)
    call = reader.call(_DEEPEST)
    return call, reader.count()


def uniform(name: str) -> str:
    """A name as tables hold it: small letters, and _ for -."""
    return name.strip().casefold().replace("-", "_")


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0

    def call(self, depth: int) -> Call:
        """A name and what stands in its parentheses."""
        if not depth:
            raise Malformed("the parentheses are nested too deeply")
        name = self._take(_NAME)
        if name is None:
            raise Malformed(f"a name must stand before '(', as in gaussian(sigma=4), got {self._rest()!r}")
        if not self._skip("("):
            raise Malformed(f"'(' must follow {name[1]!r}, as in gaussian(sigma=4)")
        return Call(uniform(name[1]), self._arguments(depth))

    def count(self) -> str:
        """The text after x, to the end."""
        found = _COUNT.fullmatch(self._text, self._place)
        if self._rest().startswith(")"):
            raise Malformed("there is a ')' too many")
        if found is None:
            raise Malformed(f"only xN for N of them may follow the last ')', got {self._rest()!r}")
        count = found[1]
        if count is not None and not count.strip():
            raise Malformed("the count after 'x' is missing")
        return (count or "").strip()

    def _arguments(self, depth: int) -> tuple[Argument, ...]:
        arguments: list[Argument] = []
        if self._skip(")"):
            return ()
        while True:
            arguments.append(self._argument(depth))
            if self._skip(")"):
                return tuple(arguments)
            if not self._skip(","):
                raise Malformed(
                    f"a comma or ')' must come before {self._rest()!r}" if self._rest() else "a ')' is missing"
                )

    def _argument(self, depth: int) -> Argument:
        named = self._take(_NAMED)
        name = uniform(named[1]) if named else ""
        start = self._place
        if self._take(_NAME) and self._rest().startswith("("):
            self._place = start
            return Argument(name, self.call(depth - 1))
        self._place = start
        found = self._take(_NUMBER)
        value = found[0].strip() if found else ""
        if not value:
            raise Malformed(f"{name}: its value is missing" if name else "a parameter is missing between commas")
        return Argument(name, value)

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._place)
        self._place = found.end() if found else self._place
        return found

    def _skip(self, mark: str) -> bool:
        found = self._rest().startswith(mark)
        if found:
            self._place = len(self._text) - len(self._rest()) + len(mark)
        return found

    def _rest(self) -> str:
        return self._text[self._place :].lstrip()
