"""Numbers with their counts: float arrays for whoever sums them, exact pairs for whoever lists them.

A tally never changes.  It is made from one of the two forms; the other is made when somebody first asks for it, so
that a million numbers can be summed without a million Python objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import overload

import numpy as np

from optcomp.numerics.blocked import MOST_COUNTED, MOST_EXACT_COPIES, MOST_EXACT_SIZE, Floats, Ints, exact_sum
from optcomp.numerics.exact_numbers import Exact

Pair = tuple[Exact, int]

FEW = 4000
"""Up to this many numbers that are no floats are added up as fractions."""


class Tally(Sequence[Pair]):
    """Pairs (number, count) in a fixed order; no number is negative."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self.__dict__["pairs"] = tuple(pairs)

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> Tally:
        """The tally itself, or a tally of these pairs."""
        return pairs if isinstance(pairs, Tally) else cls(pairs)

    @classmethod
    def of_arrays(cls, values: Floats, counts: Ints) -> Tally:
        """From arrays that nobody changes afterwards; counts are at most 2^53."""
        tally = cls.__new__(cls)
        tally.__dict__["_arrays"] = values, counts
        return tally

    @cached_property
    def _arrays(self) -> tuple[Floats, Ints] | None:
        return None

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs, numbers and counts as given."""
        if self._arrays is None:
            return ()
        values, counts = self._arrays
        return tuple(zip(values.tolist(), counts.tolist(), strict=True))

    @cached_property
    def floats(self) -> tuple[Floats, Floats]:
        """Numbers and counts, each rounded to the nearest float; see `exact`."""
        if self._arrays is not None:
            values, counts = self._arrays[0], self._arrays[1].astype(np.float64)
        else:
            values = np.array([float(value) for value, _ in self.pairs])
            counts = np.array([float(count) for _, count in self.pairs])
        values.setflags(write=False)
        counts.setflags(write=False)
        return values, counts

    @cached_property
    def exact(self) -> bool:
        """Whether `floats` are the very numbers and counts."""
        return self._arrays is not None or all(_is_float(value) and n <= MOST_COUNTED for value, n in self.pairs)

    @cached_property
    def copies(self) -> int:
        """The sum of the counts."""
        if self._arrays is not None:
            return int(self._arrays[1].sum())
        return sum(count for _, count in self.pairs)

    @cached_property
    def total(self) -> Fraction | None:
        """The sum of number times count, exactly; none where that would take a common denominator of many fractions."""
        if self.exact and self.copies <= MOST_EXACT_COPIES and self.floats[0].max(initial=0.0) <= MOST_EXACT_SIZE:
            return exact_sum(*self.floats)
        if len(self) <= FEW:
            return sum((Fraction(value) * count for value, count in self.pairs), Fraction(0))
        return None

    def __len__(self) -> int:
        return len(self.pairs) if self._arrays is None else self._arrays[0].size

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Pair, ...]: ...

    def __getitem__(self, index: int | slice) -> Pair | tuple[Pair, ...]:
        if self._arrays is None or isinstance(index, slice):
            return self.pairs[index]
        return float(self._arrays[0][index]), int(self._arrays[1][index])


def _is_float(value: Exact) -> bool:
    if isinstance(value, float):
        return True
    try:
        return float(value) == value
    except OverflowError:
        return False
