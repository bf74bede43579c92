"""What every theorem takes: a multiset of (ε, δ) guarantees, grouped.

Order is forgotten and repetition is a count, so `compose` cannot depend on either.

Parts are kept as tuples of exact numbers, or as sorted arrays where every ε and δ is a float: then a million different
mechanisms are read, counted and summed without a million tuples, which are made only for those who ask for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from optcomp.errors import shown
from optcomp.numerics import MOST_COUNTED, Exact, Floats, Ints, Pair, Tally

_Key = TypeVar("_Key")


class Group(NamedTuple):
    """`copies` mechanisms, each (eps, delta)-differentially private."""

    eps: Exact
    delta: Exact
    copies: int


class _Columns(NamedTuple):
    """Groups as arrays, in their order."""

    eps: Floats
    delta: Floats
    copies: Ints


class Parts:
    """Distinct groups in a canonical order: largest ε first, then largest δ.  They never change."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self.__dict__["groups"] = tuple(groups)

    @classmethod
    def of(cls, counts: Mapping[tuple[Exact, Exact], int]) -> Parts:
        """From a count for each (eps, delta); zero counts vanish."""
        kept = sorted(((eps, delta, count) for (eps, delta), count in counts.items() if count), reverse=True)
        return cls(map(Group._make, kept))

    @classmethod
    def of_arrays(cls, eps: Floats, delta: Floats, copies: Ints | None = None) -> Parts:
        """From the ε, the δ and the counts (one each if left out) of groups in any order, equal ones or not.

        Counts are at least zero and below 2^53.
        """
        if copies is not None and float(copies.sum(dtype=np.float64)) > MOST_COUNTED / 2:
            pairs = zip((eps + 0.0).tolist(), (delta + 0.0).tolist(), strict=True)
            return cls.of(_counted(zip(pairs, copies.tolist(), strict=True)))
        parts = cls.__new__(cls)
        parts.__dict__["_columns"] = _merged(eps + 0.0, delta, copies)  # -0.0 becomes 0.0
        return parts

    @cached_property
    def _columns(self) -> _Columns | None:
        return None

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """All groups as tuples of exact numbers."""
        if self._columns is None:
            return ()
        return tuple(map(Group._make, zip(*(column.tolist() for column in self._columns), strict=True)))

    @cached_property
    def count(self) -> int:
        """How many mechanisms there are."""
        return sum(group.copies for group in self.groups) if self._columns is None else int(self._columns.copies.sum())

    @cached_property
    def coin_tally(self) -> Tally:
        """Distinct positive ε with their counts: the randomized responses, largest first."""
        if self._columns is None:
            return Tally(_counted((eps, copies) for eps, _, copies in self.groups if eps > 0).items())
        eps, _, copies = self._columns
        positive = np.count_nonzero(eps)  # the zeros are last
        return Tally.of_arrays(*_runs(eps[:positive], copies[:positive]))

    @cached_property
    def leak_tally(self) -> Tally:
        """Distinct positive δ with their counts: the chances of a full leak, largest first."""
        if self._columns is None:
            pairs = sorted(((delta, copies) for _, delta, copies in self.groups if delta > 0), reverse=True)
            return Tally(_counted(pairs).items())
        _, delta, copies = self._columns
        if not delta.any():
            return Tally(())
        order = np.argsort(delta)[: -np.count_nonzero(delta) - 1 : -1]
        return Tally.of_arrays(*_runs(delta[order], copies[order]))

    @property
    def coins(self) -> tuple[Pair, ...]:
        """`coin_tally` as tuples, for whoever goes through few coins one by one."""
        return self.coin_tally.pairs

    @property
    def leaks(self) -> tuple[Pair, ...]:
        """`leak_tally` as tuples, for whoever goes through few leaks one by one."""
        return self.leak_tally.pairs

    @property
    def sizes(self) -> tuple[Floats, Floats]:
        """The coins as float arrays (ε, count), rounded to nearest: for guesses, or for claims if `exact_sizes`."""
        return self.coin_tally.floats

    @property
    def exact_sizes(self) -> bool:
        """Whether every coin's ε and count is a float, so that `sizes` are exact."""
        return self.coin_tally.exact

    @property
    def kinds(self) -> int:
        """How many different positive ε there are."""
        return len(self.coin_tally)

    @property
    def largest(self) -> Exact:
        """The largest positive ε; there must be one."""
        return self.coin_tally[0][0]

    @property
    def smallest(self) -> Exact:
        """The smallest positive ε; there must be one."""
        return self.coin_tally[-1][0]

    @property
    def heaviest(self) -> Pair:
        """The coins of equal ε whose squares (about) add up to the most; there must be some."""
        sizes, counts = self.sizes
        return self.coin_tally[int(np.argmax(sizes * sizes * counts))]

    @property
    def all_equal(self) -> bool:
        """Whether all mechanisms promise the same (ε, δ)."""
        return self._distinct <= 1

    @property
    def _distinct(self) -> int:
        return len(self.groups) if self._columns is None else self._columns.eps.size

    def _group(self, index: int) -> Group:
        if self._columns is None:
            return self.groups[index]
        eps, delta, copies = self._columns
        return Group(float(eps[index]), float(delta[index]), int(copies[index]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parts):
            return NotImplemented
        if self._columns is None or other._columns is None:
            return self._distinct == other._distinct and self.groups == other.groups
        return all(map(np.array_equal, self._columns, other._columns))

    def __hash__(self) -> int:
        ends = (self._group(0), self._group(-1)) if self._distinct else ()
        return hash((self._distinct, self.count, ends))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"parts never change: {name}")

    def __repr__(self) -> str:
        return f"Parts(groups={shown(self.groups)})"


def _counted(pairs: Iterable[tuple[_Key, int]]) -> dict[_Key, int]:
    """Add up the counts of what is equal; the order stays."""
    counts: dict[_Key, int] = {}
    for value, count in pairs:
        counts[value] = counts.get(value, 0) + count
    return counts


def _merged(eps: Floats, delta: Floats, copies: Ints | None) -> _Columns:
    """Sort by ε, then δ, largest first, and add up the counts of equal rows; rows without copies vanish."""
    if copies is not None and not copies.all():
        eps, delta, copies = eps[copies > 0], delta[copies > 0], copies[copies > 0]
    if copies is None and not delta.any():  # sorting one array is several times as fast as ordering three
        sizes, counts = _runs(np.sort(eps)[::-1], np.ones(eps.size, dtype=np.int64))
        return _frozen(sizes, np.broadcast_to(0.0, sizes.size), counts)
    delta = delta + 0.0
    order = np.argsort(eps)[::-1]
    sizes = eps[order]
    if (sizes[1:] == sizes[:-1]).any():
        order = np.argsort(delta)
        order = order[np.argsort(eps[order], kind="stable")][::-1]
    ordered = eps[order], delta[order]
    counts = np.ones(eps.size, dtype=np.int64) if copies is None else copies[order]
    starts = np.flatnonzero(_first(ordered[0]) | _first(ordered[1]))
    return _frozen(ordered[0][starts], ordered[1][starts], _sums(counts, starts))


def _runs(values: Floats, counts: Ints) -> tuple[Floats, Ints]:
    """Add up the counts of equal values, which stand next to each other."""
    if (values[1:] != values[:-1]).all():
        return values, counts
    starts = np.flatnonzero(_first(values))
    return values[starts], _sums(counts, starts)


def _first(values: Floats) -> npt.NDArray[np.bool_]:
    """Whether a value differs from the one before it."""
    return np.concatenate((np.ones(min(values.size, 1), dtype=np.bool_), values[1:] != values[:-1]))


def _sums(counts: Ints, starts: npt.NDArray[np.intp]) -> Ints:
    """The sums of the runs of counts that begin at `starts`."""
    return np.add.reduceat(counts, starts) if starts.size else counts


def _frozen(eps: Floats, delta: Floats, copies: Ints) -> _Columns:
    columns = _Columns(eps, delta, copies)
    for column in columns:
        column.setflags(write=False)
    return columns
