r"""φ at many neighbouring nodes at once, as products of real matrices.

A few coins together have atoms (±l_p, q_p^±) under the tilted law, and θ = α + β with α the first node of a block:

    Re φ = Σ_p (q_p^+ + q_p^-) (cos αl_p cos βl_p - sin αl_p sin βl_p),
    Im φ = Σ_p (q_p^+ - q_p^-) (sin αl_p cos βl_p + cos αl_p sin βl_p).

For all blocks and all β these are two products of matrices; the groups' values are then multiplied node by node.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flint import acb, arb, arb_mat

from optcomp.checker.effort import looked

LENGTH = 128
"""Nodes in a block."""
MOST_COPIES = 15  # more copies of a coin have too many atoms for a group
_ATOMS = 64  # of a group: products of matrices are then of even shape
_ROWS = 64  # blocks in one product of matrices
_LOOK = 2  # groups between two looks at whether a block can be dropped
_PROBE = 9  # every ninth value tells whether the rest is worth a look

Factor = tuple[arb, arb, int]
"""A coin's size, tanh(ε(c+½)) and copies."""


class _Atoms(NamedTuple):
    """Places l of a group's atoms, one of each pair l and -l, with the sum and the difference of their weights."""

    places: list[arb]
    sums: list[arb]
    differences: list[arb]


class Blocks:
    """The coins in groups of few atoms, for nodes `step` apart."""

    def __init__(self, factors: Sequence[Factor], step: arb) -> None:
        self._step = step
        self._groups = [_atoms(group) for group in _grouped(factors)]
        self._columns = [self._turns(group) for group in self._groups]
        self.work = 2.2e-8 * sum(len(group.places) for group in self._groups) + 6e-7 * len(self._groups)
        """Seconds for each node, roughly."""

    def _turns(self, group: _Atoms) -> arb_mat:
        """cos βl above sin βl for every atom and every β of a block."""
        cosines, sines = [], []
        for place in looked(group.places):
            pairs = [(self._step * number * place).sin_cos() for number in range(LENGTH)]
            cosines.append([cosine for _, cosine in pairs])
            sines.append([sine for sine, _ in pairs])
        return arb_mat(cosines + sines)

    def values(self, starts: Sequence[int], limits: Sequence[float]) -> Iterator[list[acb] | arb]:
        """φ at the nodes of each block that starts at one of these; or a bound on |φ| there, if it is that small."""
        for first in range(0, len(starts), _ROWS):
            yield from self._batch(starts[first : first + _ROWS], limits[first : first + _ROWS])

    def _batch(self, starts: Sequence[int], limits: Sequence[float]) -> list[list[acb] | arb]:
        found: list[list[acb] | arb] = [[] for _ in starts]
        left = list(range(len(starts)))
        for number, (group, columns) in enumerate(zip(self._groups, self._columns, strict=True), 1):
            if not left:
                break
            entries = (self._rows(group, [starts[place] for place in left]) * columns).entries()
            half = len(entries) // 2
            for row, place in enumerate(left):
                begin, end = row * LENGTH, (row + 1) * LENGTH
                values = map(acb, entries[begin:end], entries[half + begin : half + end])
                before = found[place]
                found[place] = [a * b for a, b in zip(before, values, strict=True)] if before else list(values)
            if number % _LOOK == 0 and number < len(self._groups):
                left = [place for place in left if not self._dropped(found, place, limits[place])]
        return found

    def _dropped(self, found: list[list[acb] | arb], place: int, limit: float) -> bool:
        """Replace a block by a bound, because the coins so far make it small enough."""
        most = max(abs(complex(value)) for value in found[place][::_PROBE])
        if most > limit:
            return False
        bound = arb(0)
        for value in found[place]:
            bound = bound.max(value.abs_upper())
        if not bound <= limit:
            return False
        found[place] = bound
        return True

    def _rows(self, group: _Atoms, starts: Sequence[int]) -> arb_mat:
        """The rows for the real parts, then those for the imaginary parts."""
        reals, imaginaries = [], []
        for start in looked(starts):
            pairs = [(self._step * start * place).sin_cos() for place in group.places]
            cosines = [cosine for _, cosine in pairs]
            sines = [sine for sine, _ in pairs]
            reals.append(_scaled(cosines, group.sums) + _scaled(sines, [-weight for weight in group.sums]))
            imaginaries.append(_scaled(sines, group.differences) + _scaled(cosines, group.differences))
        return arb_mat(reals + imaginaries)


def _scaled(values: Sequence[arb], weights: Sequence[arb]) -> list[arb]:
    return [value * weight for value, weight in zip(values, weights, strict=True)]


def _grouped(factors: Sequence[Factor]) -> Iterator[list[Factor]]:
    """Consecutive coins with few atoms together."""
    group: list[Factor] = []
    for factor in factors:
        if group and math.prod(copies + 1 for _, _, copies in [*group, factor]) > _ATOMS:
            yield group
            group = []
        group.append(factor)
    yield group


def _atoms(group: Sequence[Factor]) -> _Atoms:
    """The tilted law of a group: of each pattern and its mirror image, at l and -l, one is listed with both weights.

    It is the one whose first coin shows no more low sides than high ones.
    """
    atoms = [(arb(0), arb(1), arb(1))]
    for number, (size, tanh, copies) in enumerate(group):
        high, low = (1 + tanh) / 2, (1 - tanh) / 2
        grown = []
        for up in range((copies + 1) // 2 if number == 0 else 0, copies + 1):
            ways = math.comb(copies, up)
            plain, mirrored = high**up * low ** (copies - up) * ways, low**up * high ** (copies - up) * ways
            if number == 0 and 2 * up == copies:  # its own mirror image
                plain, mirrored = plain / 2, mirrored / 2
            grown += [(place + size * (2 * up - copies), p * plain, q * mirrored) for place, p, q in atoms]
        atoms = grown
    places = [place for place, _, _ in atoms]
    return _Atoms(places, [p + q for _, p, q in atoms], [p - q for _, p, q in atoms])
