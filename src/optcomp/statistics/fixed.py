"""A mapping that never changes: what is declared stays declared, whoever holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from optcomp.errors import shown

V = TypeVar("V")


class Fixed(Mapping[str, V]):
    """A copy of a mapping, in its order, that cannot be changed; it can be hashed, copied and pickled."""

    __slots__ = ("_entries",)
    _entries: dict[str, V]

    def __init__(self, entries: Mapping[str, V]) -> None:
        object.__setattr__(self, "_entries", dict(entries))

    def __getitem__(self, key: str) -> V:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: what is declared cannot be changed")

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __reduce__(self) -> tuple[type[Fixed[V]], tuple[dict[str, V]]]:
        return type(self), (self._entries,)

    def __repr__(self) -> str:
        return shown(self._entries)
