"""Meeting in the middle in ball arithmetic: sums as exact integers, probabilities as balls.

With A and B the losses of the two halves, P the probability of an atom and Q = e^{-loss} P,

    h(y) = \\sum_a P_a P(B > y - a) - e^y Q_a Q(B > y - a)

which costs one pass over both sorted lists: for up to about 26 different ε, or a few types with thousands of copies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from flint import arb, fmpz

from tests.oracles.truth import Mechanism, Truth, real

Coin = tuple[int, int]
"""Size as a multiple of the grid, and copies."""
Atoms = tuple[list[int], list[arb], list[arb]]
"""Places, largest first, with P and Q of each."""


class Halves(Truth):
    """Any list of coins that splits into two halves with few atoms each."""

    def __init__(self, mechanisms: Iterable[Mechanism]) -> None:
        super().__init__(mechanisms)
        counts: dict[Fraction, int] = {}
        for eps, _, count in self.mechanisms:
            if eps:
                counts[eps] = counts.get(eps, 0) + count
        self._grid = math.lcm(1, *(eps.denominator for eps in counts))
        self._halves: tuple[list[Coin], list[Coin]] = ([], [])
        atoms = [1, 1]
        for eps, count in sorted(counts.items(), key=lambda coin: -coin[1]):
            smaller = int(atoms[1] < atoms[0])
            self._halves[smaller].append((int(eps * self._grid), count))
            atoms[smaller] *= count + 1
        self.atoms = sum(atoms)
        """What one evaluation costs."""
        self._tables: dict[int, tuple[Atoms, Atoms]] = {}

    def _table(self, bits: int) -> tuple[Atoms, Atoms]:
        if bits not in self._tables:
            first, second = (self._listed(half) for half in self._halves)
            self._tables[bits] = first, (second[0], _running(second[1]), _running(second[2]))
        return self._tables[bits]

    def _listed(self, coins: list[Coin]) -> Atoms:
        atoms: list[tuple[int, arb, arb]] = [(0, arb(1), arb(1))]
        for size, count in coins:
            odds = real(Fraction(size, self._grid)).exp()
            high, low = odds / (1 + odds), 1 / (1 + odds)
            ups, downs = _powers(high, count), _powers(low, count)
            ways = _binomials(count)
            steps = [
                (
                    size * (count - 2 * lows),
                    ways[lows] * ups[count - lows] * downs[lows],
                    ways[lows] * downs[count - lows] * ups[lows],
                )
                for lows in range(count + 1)
            ]
            atoms = [(place + step, p * up, q * down) for place, p, q in atoms for step, up, down in steps]
        atoms.sort(key=lambda atom: -atom[0])
        return [atom[0] for atom in atoms], [atom[1] for atom in atoms], [atom[2] for atom in atoms]

    def excess(self, y: Fraction, bits: int) -> arb:
        """One pass over both lists, the first upwards while the second comes down."""
        (places, p, q), (others, up, down) = self._table(bits)
        bar = math.floor(y * self._grid)  # places are whole, so that place > y just if place > bar
        last = 0
        total_p = total_q = arb(0)
        for i in range(len(places) - 1, -1, -1):  # smallest first: fewest of the others reach above y
            while last < len(others) and places[i] + others[last] > bar:
                last += 1
            if last:
                total_p += p[i] * up[last]
                total_q += q[i] * down[last]
        return total_p - real(y).exp() * total_q


def _powers(base: arb, most: int) -> list[arb]:
    powers = [arb(1)]
    for _ in range(most):
        powers.append(powers[-1] * base)
    return powers


def _binomials(count: int) -> list[arb]:
    value, found = 1, []
    for lows in range(count + 1):
        found.append(arb(fmpz(value)))
        value = value * (count - lows) // (lows + 1)
    return found


def _running(values: list[arb]) -> list[arb]:
    """Sums of the first 0, 1, 2, ... values."""
    sums = [arb(0)]
    for value in values:
        sums.append(sums[-1] + value)
    return sums
