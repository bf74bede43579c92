"""Which cells of a table of counts satisfy a condition; decided by what is declared, without any data.

A cell stands for a range of the integers that its column becomes: a category, a whole number, or a bin.  A condition
must be the same for everything that falls into a cell, otherwise it is refused.  Comparisons that a bin leaves open may
still be decided by the others, as in "region == 'north' and age > 70": that is false in the south, whatever the age.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optcomp.errors import InvalidInput
from optcomp.statistics.count_tables import Axis, Counts
from optcomp.statistics.declared import Declared
from optcomp.statistics.predicates import columns_of, condition

Truths = npt.NDArray[np.bool_]
"""A truth value for each cell, or for each cell of one column."""


def cells_where(counts: Counts, where: str, table: Declared) -> Truths:
    """Whether each cell satisfies the condition, in the order of the cells."""
    axes = counts.axes(table)
    for name in columns_of(where, table.columns):
        if name not in axes:
            raise InvalidInput("where", name, f"is not a column of the cells ({', '.join(axes)})")
    size = len(axes)
    columns = {
        name: (table.columns[name], _ranges(axis, table.columns[name].top, place, size))
        for place, (name, axis) in enumerate(axes.items())
    }
    found: _Answer = condition(where, columns)
    if bool(np.any(found.always != found.ever)):
        raise InvalidInput("where", where, "must be the same for everything in a cell: bins are not cut apart")
    shape = tuple(len(axis.labels) for axis in axes.values())
    return np.broadcast_to(found.always, shape).reshape(-1)


def _ranges(axis: Axis, top: int, place: int, size: int) -> _Ranges:
    """The first and last integer of each cell of a column, along its own dimension; no integer where it is missing."""
    first = np.array(axis.starts, dtype=np.int64)
    first, last = np.maximum(first, 0), np.minimum(np.append(first[1:] - 1, top), top)
    if len(axis.labels) > len(first):  # the last cell is that of missing values
        first, last = np.append(first, 0), np.append(last, -1)
    shape = [1] * size
    shape[place] = len(first)
    return _Ranges(first.reshape(shape), last.reshape(shape))


@dataclass(frozen=True, eq=False)
class _Answer:
    """Whether a condition always holds in a cell, and whether it ever does."""

    always: Truths
    ever: Truths

    def fill_null(self, value: bool) -> _Answer:
        """Missing values satisfy no comparison already."""
        assert not value
        return self

    def __and__(self, other: _Answer) -> _Answer:
        return _Answer(self.always & other.always, self.ever & other.ever)

    def __or__(self, other: _Answer) -> _Answer:
        return _Answer(self.always | other.always, self.ever | other.ever)

    def __invert__(self) -> _Answer:
        return _Answer(~self.ever, ~self.always)


@dataclass(frozen=True, eq=False)
class _Ranges:
    """The integers of a column, a range for each cell; it is asked like the column of an engine."""

    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]

    @property
    def _sizes(self) -> npt.NDArray[np.int64]:
        sizes: npt.NDArray[np.int64] = np.maximum(self.last - self.first + 1, 0)
        return sizes

    def _counted(self, inside: npt.NDArray[np.int64]) -> _Answer:
        """So many integers of each range satisfy a comparison; where there is no integer none does."""
        return _Answer((inside == self._sizes) & (inside > 0), inside > 0)

    def isin(self, codes: Sequence[int]) -> _Answer:
        """One of these integers, which ascend."""
        known = np.array(codes, dtype=np.int64)
        inside = np.searchsorted(known, self.last, "right") - np.searchsorted(known, self.first, "left")
        return self._counted(np.where(self._sizes > 0, inside, 0))

    def notnull(self) -> _Answer:
        """Not missing."""
        return self._counted(self._sizes)

    def __lt__(self, bound: int) -> _Answer:
        return self._counted(np.clip(bound - self.first, 0, self._sizes))

    def __ge__(self, bound: int) -> _Answer:
        return self._counted(np.clip(self.last - bound + 1, 0, self._sizes))
