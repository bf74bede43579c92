"""Which rows of a person stay, in plain Python: SHA-256 by hashlib of words with slashes between them.

lot     key / lot / person / each cell as a decimal number, or nothing if it is missing / number among equal rows
id      the first 60 bits of  key / id / person
groups  of a person are ranked by  key / group i / person / cell,  among the rows that stay
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256

Cells = tuple[int | None, ...]
Kept = Counter[tuple[int | None, ...]]
"""Rows of a snapshot, with how often they occur: id, cells, and two places for each grouping column."""


def digest(*words: str) -> str:
    """In hexadecimal digits."""
    return sha256("/".join(words).encode()).hexdigest()


def word(cell: int | None) -> str:
    """Nothing for what is missing."""
    return "" if cell is None else str(cell)


def drawn(key: bytes, person: str, rows: Iterable[Cells]) -> list[Cells]:
    """The rows of a person in the order of their lots."""
    seen: Counter[Cells] = Counter()
    lots = []
    for cells in rows:
        seen[cells] += 1
        lots.append((digest(key.hex(), "lot", person, *map(word, cells), str(seen[cells])), cells))
    return [cells for _, cells in sorted(lots, key=lambda lot: lot[0])]


def snapshot(key: bytes, rows: Iterable[tuple[str | None, Cells]], most: int, grouped: Sequence[int] = ()) -> Kept:
    """What stays of these rows; `grouped` are the places of the grouping columns."""
    people = defaultdict[str, list[Cells]](list)
    for person, cells in rows:
        if person:
            people[person].append(cells)
    found: Kept = Counter()
    for person, own in people.items():
        number, kept = int(digest(key.hex(), "id", person)[:15], 16), drawn(key, person, own)[:most]
        places = [_places(key, person, [cells[column] for cells in kept], rank) for rank, column in enumerate(grouped)]
        for i, cells in enumerate(kept):
            found[number, *cells, *(place for each in places for place in each[i])] += 1
    return found


def _places(key: bytes, person: str, groups: list[int | None], rank: int) -> list[tuple[int, int]]:
    """Of each row: the place of its group among the groups, and of the row within it."""
    ordered = sorted(set(groups), key=lambda group: digest(key.hex(), f"group {rank}", person, word(group)))
    return [(ordered.index(group), groups[:i].count(group)) for i, group in enumerate(groups)]
