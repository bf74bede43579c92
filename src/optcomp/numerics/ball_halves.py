"""Meeting in the middle in ball arithmetic: the exact answer to as many bits as wanted.

Places are integers, the sizes rounded to a fixed point of `bits` bits below the largest sum, so that comparing and
sorting is exact and an atom is off by at most half a unit a coin.  Probabilities are balls.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from operator import itemgetter

from flint import arb, fmpz

from optcomp.numerics.balls import ball, precision
from optcomp.numerics.halves import split
from optcomp.numerics.tally import Pair

_Atom = tuple[int, arb, arb]  # place, p, p e^{-place}


class BallHalves:
    """An `Enumeration` of all sums of the coins; about 1 kB an atom."""

    def __init__(self, coins: Sequence[Pair], bits: int, one_half: bool = False) -> None:
        self.bits = bits
        top = sum(Fraction(x) * m for x, m in coins)
        self._shift = bits - (top.numerator.bit_length() - top.denominator.bit_length())
        copies = sum(m for _, m in coins)
        with precision(bits):
            self.slack = arb(copies + 2) * arb(2) ** (-self._shift)
            self.dropped = arb(0)
            first, second = (list(coins), []) if one_half else split(coins)
            self._a, b = self._atoms(first), self._atoms(second)
            self._place_b = [place for place, _, _ in b]
            self._tail, self._damped_tail = [arb(0)], [arb(0)]
            for _, p, q in reversed(b):
                self._tail.append(self._tail[-1] + p)
                self._damped_tail.append(self._damped_tail[-1] + q)

    def _atoms(self, coins: Sequence[Pair]) -> list[_Atom]:
        atoms: list[_Atom] = [(0, arb(1), arb(1))]
        for x, m in coins:
            law = self._law(x, m)
            atoms = [(s + place, p * up, q * down) for s, p, q in atoms for place, up, down in law]
        atoms.sort(key=itemgetter(0))
        return atoms

    def _law(self, x: Fraction | float, m: int) -> list[_Atom]:
        """The m + 1 atoms of m copies of one coin, n of them landing low."""
        size, unit = ball(x), round(Fraction(x) * Fraction(2) ** self._shift)
        odds = (-size).exp()
        p = (1 + odds) ** -m
        law: list[_Atom] = []
        for n in range(m + 1):
            law.append((unit * (m - 2 * n), p, p * (size * (2 * n - m)).exp()))
            p = p * odds * (m - n) / (n + 1)
        return law

    def lines(self, z: arb) -> tuple[arb, arb]:
        """P_S and Q_S, S chosen by comparing integers."""
        place = int((z * arb(fmpz(2)) ** self._shift).mid().floor().unique_fmpz())
        above = damped = arb(0)
        size = len(self._place_b)
        for s, p, q in self._a:
            rest = size - bisect_right(self._place_b, place - s)
            if rest:
                above += p * self._tail[rest]
                damped += q * self._damped_tail[rest]
        return above, damped
