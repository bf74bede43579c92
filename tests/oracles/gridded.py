r"""Sums of losses from first principles: exact convolutions of polynomials, and two subsampled rounds as an integral.

Nothing of the engine is used.  F(y) = E(1 - e^{y-L})_+ throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb, fmpq, fmpq_poly

from tests.oracles.truth import Rational, real, working

Masses = Sequence[Rational]
_FAR = 16
"""Deviations beyond which a normal law has a mass of 6e-58."""


def convolved(laws: Iterable[tuple[Masses, int]]) -> list[Fraction]:
    """The masses of a sum of laws on the whole numbers, without any rounding."""
    total = fmpq_poly([1])
    for masses, copies in laws:
        law = fmpq_poly([fmpq(*Fraction(mass).as_integer_ratio()) for mass in masses])
        total *= law**copies
    return [Fraction(int(c.p), int(c.q)) for c in total.coeffs()]


def excess_of(masses: Sequence[Fraction | arb], base: Rational, h: Rational, y: Rational) -> arb:
    """F(y) for masses, exact or balls, at base + kh."""
    total, start, step = arb(0), Fraction(base) - Fraction(y), Fraction(h)
    first = max(-start // step + 1, 0)  # from here on they are right of y
    place = start + first * step
    for mass in masses[first:]:
        if mass != 0:
            total -= (real(mass) if type(mass) is Fraction else mass) * (-real(place)).expm1()
        place += step
    return total


def tail(x: arb) -> arb:
    """P(N(0, 1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def _below(x: acb) -> acb:
    """P(N(0, 1) < x), continued."""
    return (-x / acb(2).sqrt()).erfc() / 2


@dataclass(frozen=True)
class TwoRounds:
    r"""F of two rounds of subsampled Gaussian noise: E F_1(y - L) over the first one.

    F_1 is analytic up to the place x* from which on the second round lies above y, or below it, whatever it is.
    Shortly before x*, where all but Φ(-16) of the second round does, the integral ends; what is left has a closed form
    but for at most Φ(-16).
    """

    mu: Rational
    q: Rational
    towards: bool

    def excess(self, y: Rational, bits: int = 160) -> arb:
        """F(y), y >= 0; more bits than wanted, because A at -16 is hardly larger than 1 - q."""
        with working(bits + int(1.5 * float(self.mu) * (_FAR + float(self.mu) / 2))):
            return self._excess(y)

    def _excess(self, y: Rational) -> arb:
        mu, q, at = real(self.mu), real(self.q), real(y)
        near = (1 - q) + q * (-_FAR * mu - mu * mu / 2).exp()  # A at -16
        ratio = (at.exp() if self.towards else (-at).exp()) / near  # A in the first round, if it is that in the second
        if not ratio > 1 - q + q * (-(_FAR + 1) * mu - mu * mu / 2).exp():
            return tail(arb(_FAR)) * arb(1, 1)  # the first round is as far left itself
        end = (((ratio - (1 - q)) / q).log() + mu * mu / 2) / mu
        low = arb(-_FAR - 4)
        end = arb(end.mid())
        whole = acb.integral(lambda x, analytic: self._integrand(x, analytic, at), acb(low), acb(end)).real
        rest = tail(arb(_FAR)) * 4 * (1 + at.exp()) * arb(0, 1) + tail(-low) * arb(0, 1)
        if not self.towards:
            return whole + rest
        plain, shifted = tail(end), tail(end - mu)
        return whole + (1 - q) * plain + q * shifted - at.exp() * plain + rest

    def _integrand(self, x: acb, analytic: bool, y: arb) -> acb:
        mu, q = real(self.mu), real(self.q)
        first = 1 - q + q * (mu * x - mu * mu / 2).exp()
        density = (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
        other = ((y if self.towards else -y) + acb(0)).exp() / first  # A of the second round at which the sum is y
        place = (((other - (1 - q)) / q).log(analytic=analytic) + mu * mu / 2) / mu
        if self.towards:
            plain, shifted = _below(-place), _below(mu - place)
            return first * density * ((1 - q) * plain + q * shifted - other * plain)
        plain, shifted = _below(place), _below(place - mu)
        return density * (plain - ((1 - q) * plain + q * shifted) / other)


class OnGrid:
    """F of masses at base + kh for many y: sums from the right, in balls of the working precision."""

    def __init__(self, masses: Masses, base: Rational, h: Rational) -> None:
        self.base, self.h, self.size = Fraction(base), Fraction(h), len(masses)
        step, own, other = (-real(h)).exp(), arb(0), arb(0)
        self._own, self._other = [own], [other]
        for k in reversed(range(self.size)):
            own, other = own + real(masses[k]), other + real(masses[k]) * step**k
            self._own.append(own)
            self._other.append(other)

    def excess(self, y: Rational) -> arb:
        """F(y)."""
        first = min(max((Fraction(y) - self.base) // self.h + 1, 0), self.size)
        above = self.size - int(first)
        return self._own[above] - real(Fraction(y) - self.base).exp() * self._other[above]

    def masses(self) -> tuple[arb, arb]:
        """All of it under the law and under the other one."""
        return self._own[-1], self._other[-1] * (-real(self.base)).exp()
