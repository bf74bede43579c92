"""All sums of the losses, listed: subsets one by one, or the coefficients of an exact product of polynomials.

A pattern of signs with sum l has probability e^{l/2}/Z, Z = ∏(e^{ε_i/2} + e^{-ε_i/2}); there are n_l of them.  So

    h(y) = (1/Z) \\sum_{l > y} n_l (e^{l/2} - e^{y - l/2})
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from fractions import Fraction

from flint import arb, fmpq, fmpz, fmpz_poly

from tests.oracles.truth import Mechanism, Rational, Truth, real


class _Listed(Truth):
    """From a list of the sums, as multiples of 1/denominator, and how often each occurs."""

    def __init__(self, mechanisms: Iterable[Mechanism]) -> None:
        super().__init__(mechanisms)
        self._coins = [(eps, count) for eps, _, count in self.mechanisms if eps]
        self._grid = math.lcm(1, *(eps.denominator for eps, _ in self._coins))
        patterns = self._patterns([(int(eps * self._grid), count) for eps, count in self._coins])
        self._places = sorted(-place for place in patterns)  # the largest sum first, negated
        self._ways = [patterns[-place] for place in self._places]
        self._tables: dict[int, tuple[arb, list[arb], list[arb]]] = {}

    @abstractmethod
    def _patterns(self, coins: list[tuple[int, int]]) -> Mapping[int, int]:
        """How often each sum of the coins (size, count) occurs."""

    def _table(self, bits: int, least: int) -> tuple[arb, list[arb], list[arb]]:
        """1/Z and the running sums of n_l e^{l/2} and n_l e^{-l/2} from the top, of as many places as are needed."""
        if bits not in self._tables:
            norm = arb(1)
            for eps, count in self._coins:
                half = real(eps / 2)
                norm *= (half.exp() + (-half).exp()) ** count
            self._tables[bits] = (1 / norm, [arb(0)], [arb(0)])
        scale, up, down = self._tables[bits]
        for number in range(len(up) - 1, least):
            height, ways = arb(fmpq(-self._places[number], 2 * self._grid)).exp(), arb(fmpz(self._ways[number]))
            up.append(up[-1] + height * ways)
            down.append(down[-1] + ways / height)
        return scale, up, down

    def excess(self, y: Fraction, bits: int) -> arb:
        """The sum over all patterns above y."""
        above = bisect_left(self._places, -y * self._grid)
        scale, up, down = self._table(bits, above)
        return (up[above] - real(y).exp() * down[above]) * scale


class Subsets(_Listed):
    """Every pattern of signs, equal sums merged: for up to about 2^14 different sums."""

    def _patterns(self, coins: list[tuple[int, int]]) -> Mapping[int, int]:
        patterns = {0: 1}
        for size, count in coins:
            for _ in range(count):
                grown: dict[int, int] = {}
                for place, ways in patterns.items():
                    grown[place + size] = grown.get(place + size, 0) + ways
                    grown[place - size] = grown.get(place - size, 0) + ways
                patterns = grown
        return patterns


class Lattice(_Listed):
    """Sizes that are small multiples of one unit: ∏(1 + z^{a_i}) over the integers, for thousands of mechanisms."""

    def _patterns(self, coins: list[tuple[int, int]]) -> Mapping[int, int]:
        unit = math.gcd(0, *(size for size, _ in coins)) or 1
        product = fmpz_poly([1])
        for size, count in coins:
            product *= fmpz_poly([1] + [0] * (size // unit - 1) + [1]) ** count
        top = sum(size * count for size, count in coins)
        return {top - 2 * unit * low: int(ways) for low, ways in enumerate(product.coeffs()) if ways}


def subsets(parts: Iterable[tuple[Rational, Rational]]) -> Subsets:
    """The oracle for a plain list of (ε, δ)."""
    return Subsets((eps, delta, 1) for eps, delta in parts)
