"""What every theorem takes: a multiset of (ε, δ) guarantees, grouped.

Order is forgotten and repetition is a count, so `compose` cannot depend on either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from optcomp.numerics.exact import Exact

Floats = npt.NDArray[np.float64]


class Group(NamedTuple):
    """`copies` mechanisms, each (eps, delta)-differentially private."""

    eps: Exact
    delta: Exact
    copies: int


@dataclass(frozen=True)
class Parts:
    """Distinct groups in a canonical order."""

    groups: tuple[Group, ...]

    @classmethod
    def of(cls, counts: Mapping[tuple[Exact, Exact], int]) -> Parts:
        """From a count for each (eps, delta); zero counts vanish."""
        kept = sorted(((eps, delta, count) for (eps, delta), count in counts.items() if count), reverse=True)
        return cls(tuple(map(Group._make, kept)))

    @cached_property
    def count(self) -> int:
        """How many mechanisms there are."""
        return sum(group.copies for group in self.groups)

    @cached_property
    def coins(self) -> tuple[tuple[Exact, int], ...]:
        """Distinct positive ε with their counts: the randomized responses, largest first."""
        return _grouped((eps, copies) for eps, _, copies in self.groups if eps > 0)

    @cached_property
    def leaks(self) -> tuple[tuple[Exact, int], ...]:
        """Distinct positive δ with their counts: the chances of a full leak, largest first."""
        return _grouped(sorted(((delta, copies) for _, delta, copies in self.groups if delta > 0), reverse=True))

    @cached_property
    def sizes(self) -> tuple[Floats, Floats]:
        """The coins as float arrays (ε, count), rounded to nearest: for guesses, never for claims."""
        sizes = np.array([float(eps) for eps, _ in self.coins])
        return sizes, np.array([float(count) for _, count in self.coins])

    @property
    def all_equal(self) -> bool:
        """Whether all mechanisms promise the same (ε, δ)."""
        return len(self.groups) <= 1


def _grouped(pairs: Iterable[tuple[Exact, int]]) -> tuple[tuple[Exact, int], ...]:
    """Add up the counts of equal values, which stand next to each other; their order stays."""
    counts: dict[Exact, int] = {}
    for value, count in pairs:
        counts[value] = counts.get(value, 0) + count
    return tuple(counts.items())
