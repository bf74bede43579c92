"""The map of the documentation: the sections of its first page, and the paths of its four readers.

A numbered list of links is a path, which is walked from its first page to its last.  Any other list is a shelf.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^(\d+\.|-) \[([^\]]+)\]\(([^)\s]+)\)", re.MULTILINE)
"""An entry of a list that begins with a link: its mark, words and target."""


@dataclass(frozen=True)
class Entry:
    """A page on the map."""

    title: str
    target: str


@dataclass(frozen=True)
class Shelf:
    """A section of the map."""

    title: str
    entries: tuple[Entry, ...]
    is_path: bool


@dataclass(frozen=True)
class Step:
    """A page as a step of a path."""

    path: str
    number: int
    of: int
    before: Entry | None
    after: Entry | None


def read_map(text: str) -> tuple[Shelf, ...]:
    """The map, from the Markdown of the first page."""
    _, *parts = _SECTION.split(text)
    shelves = []
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        found = _ENTRY.findall(body)
        entries = tuple(Entry(" ".join(words.split()), target) for _, words, target in found)
        if entries:
            shelves.append(Shelf(title, entries, any(mark != "-" for mark, _, _ in found)))
    return tuple(shelves)


def steps(shelves: tuple[Shelf, ...], target: str) -> tuple[Step, ...]:
    """Where a page stands on the paths."""
    found = []
    for shelf in shelves:
        targets = [entry.target.partition("#")[0] for entry in shelf.entries]
        if shelf.is_path and target in targets:
            place = targets.index(target)
            around = (None, *shelf.entries, None)
            found.append(Step(shelf.title, place + 1, len(targets), around[place], around[place + 2]))
    return tuple(found)
