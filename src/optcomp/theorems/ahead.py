"""Lists that grow evenly: by how much, and the totals that are computed before they are asked for.

A table is never changed, only replaced: whoever reads one, also from another thread or in a copy, has all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optcomp.guarantees import KnownLoss
from optcomp.instances import Mixture
from optcomp.numerics import MOST_COUNTED, Floats, Ints, decimal_up
from optcomp.numerics.contour import Bracket

Kinds = tuple[KnownLoss, ...]
Numbers = tuple[int, ...]
FIRST_ROWS, MOST_ROWS = 80, 640
"""Totals that are computed together, first and at most: each time a table was used up, the next is twice as long."""
_FEWEST = 4
"""The fewest totals that are worth a table."""
_PAUSE = 16
"""Answers before the next attempt, after one that hardly proved anything."""


@dataclass(frozen=True, eq=False)
class Table:
    """ε of lists of some mechanisms and nothing else, for numbers of them that grow evenly; each proved by itself.

    `plain` says that no sum of all ε is below any of them.
    """

    kinds: Kinds
    steps: Numbers
    found: Mapping[Numbers, Bracket]
    plain: bool

    def at(self, mixture: Mixture) -> Bracket | None:
        """The bracket of a list, if it is here."""
        kinds, numbers = _read(mixture)
        return self.found.get(numbers) if kinds == self.kinds and not mixture.pairs.count else None

    def upper(self, counts: Mapping[KnownLoss, int]) -> float | None:
        """The upper side for just these mechanisms, as a total says it, if it is here."""
        if not self.plain or len(counts) != len(self.kinds):
            return None
        found = self.found.get(tuple([counts.get(kind, 0) for kind in self.kinds]))
        return None if found is None else decimal_up(found.upper)


class Pace:
    """How a list grew, as far as it was asked about, and its table."""

    def __init__(self) -> None:
        self.table: Table | None = None
        self._asked: tuple[tuple[Kinds, Numbers], ...] = ()
        self._pause = 0

    def copy(self) -> Pace:
        """The same, from now on independent; the table is shared."""
        other = Pace()
        other.__dict__.update(self.__dict__)
        return other

    def asked(self, mixture: Mixture) -> tuple[Ints, int] | None:
        """After an answer: by how much the list grows and how many totals are worth a table, if it grows evenly."""
        now, table = _read(mixture), self.table
        if self._asked[-1:] != (now,):
            self._asked = (*self._asked[-2:], now)
        self._pause -= 1
        if mixture.pairs.count or self._pause > 0:
            return None
        kinds, numbers = now
        steps, rows = _even_steps(self._asked), FIRST_ROWS
        if table is not None and table.kinds == kinds:
            before = tuple(number - step for number, step in zip(numbers, table.steps, strict=True))
            if before in table.found:
                steps, rows = np.array(table.steps), min(2 * len(table.found), MOST_ROWS)
        if steps is None or max(numbers) + MOST_ROWS * steps.max() >= MOST_COUNTED:
            return None
        return steps, max(rows, FIRST_ROWS)

    def keep(self, mixture: Mixture, steps: Ints, rows: Floats, found: Sequence[Bracket | None], most: float) -> None:
        """A table of what was proved; `most` is about the sum of all ε of the list as it is now."""
        proved = {
            tuple(map(int, row)): bracket
            for row, bracket in zip(rows.tolist(), found, strict=True)
            if bracket is not None
        }
        self._pause = 0 if len(proved) >= _FEWEST else _PAUSE
        plain = all(bracket.upper < most for bracket in proved.values())
        self.table = Table(_read(mixture)[0], tuple(steps.tolist()), proved, plain)


def _read(mixture: Mixture) -> tuple[Kinds, Numbers]:
    return tuple([value for value, _ in mixture.losses]), tuple([copies for _, copies in mixture.losses])


def _even_steps(asked: Sequence[tuple[Kinds, Numbers]]) -> Ints | None:
    """By how much each count grows from one list to the next, if that is the same twice."""
    if len(asked) < 3 or any(kinds != asked[-1][0] for kinds, _ in asked):
        return None
    first, second, third = (np.array(numbers) for _, numbers in asked)
    steps = third - second
    return steps if bool((second - first == steps).all() and (steps >= 0).all() and steps.any()) else None
