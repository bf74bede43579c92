"""Thousands of mechanisms whose ε are whole multiples of one unit: the law of the loss as a polynomial.

With z^{a_i} for a coin of size a_i units that lands high, \\prod(q_i + p_i z^{a_i}) has the probabilities of all losses
as its coefficients, and sums over the losses above y are values of what is left of it.  Coefficients are whole
multiples of 2^-bits.  If two polynomials whose coefficients are probabilities are known within e and f, their product
is known within (e + f)(1 + a little), and rounding it down adds one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from flint import arb, arb_poly, fmpz, fmpz_poly

from tests.oracles.truth import Mechanism, Truth, real, working

Law = tuple[fmpz_poly, int]
"""Probabilities as multiples of 2^-bits, and how many such units each may be off."""


class Multiples(Truth):
    """For a total of up to some 10^4 units."""

    def __init__(self, mechanisms: Iterable[Mechanism]) -> None:
        super().__init__(mechanisms)
        counts: dict[Fraction, int] = {}
        for eps, _, count in self.mechanisms:
            if eps:
                counts[eps] = counts.get(eps, 0) + count
        grid = math.lcm(1, *(eps.denominator for eps in counts))
        self._unit = Fraction(math.gcd(0, *(int(eps * grid) for eps in counts)) or 1, grid)
        self._coins = [(eps, int(eps / self._unit), count) for eps, count in counts.items()]
        self.units = sum(size * count for _, size, count in self._coins)
        """The degree of the polynomial."""
        self._tables: dict[int, tuple[list[fmpz], int]] = {}

    def _table(self, bits: int) -> tuple[list[fmpz], int]:
        """The probability of each loss (2j - units) * unit, in units of 2^-bits, and its error in such units."""
        if bits not in self._tables:
            laws: list[Law] = [(fmpz_poly([fmpz(1) << bits]), 0)]
            laws += [(_binomial(eps, size, count, bits), 3) for eps, size, count in self._coins]
            while len(laws) > 1:
                laws.sort(key=lambda law: law[0].degree())
                laws = [*laws[2:], _product(laws[0], laws[1], bits)]
            coefficients = laws[0][0].coeffs()
            self._tables[bits] = coefficients + [fmpz(0)] * (self.units + 1 - len(coefficients)), laws[0][1]
        return self._tables[bits]

    def excess(self, y: Fraction, bits: int) -> arb:
        """P - e^{y-l} Q over the losses l above y, relative to the first of them."""
        law, error = self._table(bits)
        first = max(math.floor((y / self._unit + self.units) / 2) + 1, 0)
        loss = (2 * first - self.units) * self._unit
        rest = arb_poly(fmpz_poly(law[first:]))
        least = rest(arb(1)) - real(y - loss).exp() * rest((-2 * real(self._unit)).exp())
        return (least + arb(0, error * (len(law) - first))) * arb(2) ** -bits


def _binomial(eps: Fraction, size: int, count: int, bits: int) -> fmpz_poly:
    """(q + p z^size)^count within 3 units."""
    with working(bits + 64):
        odds = real(eps).exp()
        law = [arb(2) ** bits / (1 + odds) ** count]
        for high in range(1, count + 1):
            law.append(law[-1] * odds * (count - high + 1) / high)
        assert max(value.rad() for value in law) < 1
        spread: list[fmpz | int] = [0] * (size * count + 1)
        spread[::size] = [value.mid().floor().unique_fmpz() for value in law]
    return fmpz_poly(spread)


def _product(one: Law, other: Law, bits: int) -> Law:
    assert max(one[1], other[1]) * (one[0].degree() + other[0].degree() + 2) < 2 ** (bits - 20)
    product = [value >> bits for value in (one[0] * other[0]).coeffs()]
    return fmpz_poly(product), one[1] + other[1] + 2
