"""The snapshot of a table by hand: who keeps which rows, by SHA-256 as preparation documents it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import sha256

from optcomp.statistics import Categories, Declared, Domain, Text
from tests.oracles.cells import coded_text

Codes = tuple[int | None, ...]
"""Of a row; None where nothing is there."""
Owned = tuple[str | None, Codes]
"""Whose row it is, and its codes."""


def snapshot(declared: Declared, key: bytes, rows: Sequence[Owned]) -> Counter[Codes]:
    """How often each stored row is there: id of the person, codes, places in groups."""
    if declared.person is None:
        return Counter(codes or (None,) for _, codes in rows)
    people: dict[str, list[Codes]] = defaultdict(list)
    for owner, codes in rows:
        if owner is not None:
            people[owner].append(codes)
    return Counter(row for owner, mine in people.items() for row in kept(declared, key, owner, mine))


def kept(declared: Declared, key: bytes, owner: str, rows: Sequence[Codes]) -> list[Codes]:
    """The stored rows of one person."""
    drawn = sorted(
        (_lot(declared, key, owner, codes, number), _last(codes), number, codes) for codes, number in _numbered(rows)
    )
    mine = [codes for *_, codes in drawn[: declared.contribution.rows]]
    grouped = [_grouped(declared, key, owner, mine, rank) for rank in range(len(declared.grouped_by))]
    return [(identity(key, owner), *codes, *sum((each[i] for each in grouped), ())) for i, codes in enumerate(mine)]


def identity(key: bytes, owner: str) -> int:
    """The id of a person, which says nothing without the key."""
    return int(_hash(key, "id", owner)[:15], 16)


def _hash(key: bytes, *words: str) -> str:
    return sha256("/".join([key.hex(), *words]).encode()).hexdigest()


def _word(domain: Domain, code: int | None) -> str:
    """Of a text that nobody declared its hash, which has no slash."""
    if code is None:
        return ""
    return sha256(coded_text(code).encode()).hexdigest() if isinstance(domain, Text) else str(code)


def _lot(declared: Declared, key: bytes, owner: str, codes: Codes, number: int) -> str:
    words = map(_word, declared.columns.values(), codes)
    return _hash(key, "lot", owner, *words, str(number))


def _last(codes: Codes) -> tuple[float, ...]:
    """What is missing comes last."""
    return tuple(float("inf") if code is None else code for code in codes)


def _numbered(rows: Sequence[Codes]) -> list[tuple[Codes, int]]:
    """Equal rows are counted from 1."""
    seen: Counter[Codes] = Counter()
    found = []
    for codes in rows:
        seen[codes] += 1
        found.append((codes, seen[codes]))
    return found


def _grouped(declared: Declared, key: bytes, owner: str, rows: Sequence[Codes], rank: int) -> list[tuple[int, int]]:
    """For each row, in the order of the lot, the place of its group and its place in the group."""
    name = declared.grouped_by[rank]
    column, domain = list(declared.columns).index(name), declared.columns[name]
    other = len(domain.values) if isinstance(domain, Categories) else None  # missing counts as not declared
    cells = [other if codes[column] is None else codes[column] for codes in rows]
    order = sorted(set(cells), key=lambda cell: _hash(key, f"group {rank}", owner, _word(domain, cell)))
    seen: Counter[int | None] = Counter()
    found = []
    for cell in cells:
        found.append((order.index(cell), seen[cell]))
        seen[cell] += 1
    return found
