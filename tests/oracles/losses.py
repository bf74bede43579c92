"""Privacy losses from first principles: moments, hockey sticks, and what sums of independent losses come to.

Everything is a ball at the working precision, from the two distributions P and Q of an output: a moment is
E_P (P/Q)^s, a hockey stick is P(E) - e^y Q(E) for the event E on which P > e^y Q.  No quadrature of ours is used.

Sums of losses with atoms and Laplace parts are exact.  With f the law of the loss times e^{-l/2}, an atom p at a is the
weight p e^{-a/2}, and the Laplace loss is e^{-ε/2} times half an atom at either end and the constant 1/4 in between: a
difference of two steps.  Products of such things are sums of (a - l)_+^{m-1}/(m-1)!, which integrate in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Literal

from flint import acb, arb, ctx, fmpz

from tests.oracles.truth import Rational, Truth, real

Moment = Callable[[acb], acb]
"""s to E e^{sL}."""
Hockey = Callable[[arb], arb]
"""y, of any sign, to E(1 - e^{y-L})_+."""
Way = Literal["towards", "away"]
"""Whether the mixture is the law under which the loss is taken, or the other one."""

_REST = 256
"""Sums to infinity are cut where what is left is below 2^-256 of the whole."""


def gaussian_moment(mu: Rational) -> Moment:
    """Two normals of variance 1, μ apart: completing the square gives e^{μ²s(s+1)/2}."""
    return lambda s: (real(mu) ** 2 * s * (s + 1) / 2).exp()


def laplace_moment(eps: Rational) -> Moment:
    """Left of both centres, right of both, and ∫ (ε/2) e^{-εx} e^{sε(1-2x)} dx from 0 to 1."""

    def moment(s: acb) -> acb:
        x = real(eps)
        slope = 1 + 2 * s
        inner = x if slope == 0 else (1 - (-slope * x).exp()) / slope
        return ((s * x).exp() + (-(s + 1) * x).exp()) / 2 + (s * x).exp() * inner / 2

    return moment


def response_moment(eps: Rational, answers: int) -> Moment:
    """Randomized response: P puts e^ε on the first answer, Q on the second."""

    def moment(s: acb) -> acb:
        odds = real(eps).exp()
        return (odds * (s * real(eps)).exp() + (-s * real(eps)).exp() + (answers - 2)) / (odds + answers - 1)

    return moment


def discrete_laplace_atoms(scale: Rational, shift: int) -> list[tuple[Fraction, arb]]:
    """Loss and probability: everything up to 0, each whole number in between, everything from the shift on."""
    unit = 1 / Fraction(scale)
    r = real(-unit).exp()
    whole = (1 + r) / (1 - r)
    atoms = [(shift * unit, 1 / (1 - r) / whole)]
    atoms += [((shift - 2 * x) * unit, real(-x * unit).exp() / whole) for x in range(1, shift)]
    return [*atoms, (-shift * unit, real(-shift * unit).exp() / (1 - r) / whole)]


def response_atoms(eps: Rational, answers: int = 2) -> list[tuple[Fraction, arb]]:
    """Loss and probability of randomized response."""
    odds, place = real(eps).exp(), Fraction(eps)
    whole = odds + answers - 1
    atoms = [(place, odds / whole), (-place, 1 / whole)]
    return atoms if answers == 2 else [*atoms, (Fraction(0), (answers - 2) / whole)]


def atoms_moment(atoms: Callable[[], Iterable[tuple[Fraction, arb]]]) -> Moment:
    """The sum itself."""
    return lambda s: sum((p * (s * real(place)).exp() for place, p in atoms()), acb(0))


def discrete_gaussian_sum(sigma: Rational, term: Callable[[int, arb], acb], centre: int, scale: arb) -> acb:
    """The sum of terms over whole x, given e^{-x²/2σ²}; far away they are below `scale` e^{-(x-centre)²/2σ²}."""
    reach = math.ceil(float(sigma) * math.sqrt(2 * _REST * math.log(2))) + 2
    square = 2 * real(Fraction(sigma) ** 2)
    near = (term(x, (arb(-(x * x)) / square).exp()) for x in range(centre - reach, centre + reach + 1))
    rest = 2 * scale * (-((arb(reach) + 0.5) ** 2) / square).exp() / (1 - (arb(-reach) / square).exp())
    return sum(near, acb(0)) + acb(arb(0, 1), arb(0, 1)) * rest


def discrete_gaussian_whole(sigma: Rational) -> arb:
    """All weights together."""
    return discrete_gaussian_sum(sigma, lambda _, weight: acb(weight), 0, arb(1)).real


def discrete_gaussian_moment(sigma: Rational, shift: int) -> Moment:
    """x of weight e^{-x²/2σ²} has the loss ((x-Δ)² - x²)/2σ²; tilted by c it is about -cΔ."""

    def moment(s: acb) -> acb:
        square, c = 2 * real(Fraction(sigma) ** 2), arb(s.real.mid())
        scale = (c * (c + 1) * shift * shift / square).exp()
        centre = -round(float(c) * shift)

        def term(x: int, weight: arb) -> acb:
            return weight * (s * (shift * shift - 2 * shift * x) / square).exp()

        return discrete_gaussian_sum(sigma, term, centre, scale) / discrete_gaussian_whole(sigma)

    return moment


def discrete_gaussian_hockey(sigma: Rational, shift: int) -> Hockey:
    """The sum of all (P - e^y Q)_+."""

    def hockey(y: arb) -> arb:
        square = 2 * real(Fraction(sigma) ** 2)

        def term(x: int, weight: arb) -> acb:
            return acb(weight * (1 - (y - (shift * shift - 2 * shift * x) / square).exp()).max(arb(0)))

        centre = min(round(float((shift * shift - y * square) / (2 * shift))), 0)
        scale = (arb(-(centre * centre)) / square).exp()
        return discrete_gaussian_sum(sigma, term, centre, scale).real / discrete_gaussian_whole(sigma)

    return hockey


def normal_above(x: arb) -> arb:
    """P(N(0, 1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def gaussian_hockey(mu: Rational) -> Hockey:
    """P = N(μ, 1) beats e^y Q, Q = N(0, 1), right of y/μ + μ/2."""

    def hockey(y: arb) -> arb:
        m = real(mu)
        edge = y / m + m / 2
        return normal_above(edge - m) - y.exp() * normal_above(edge)

    return hockey


def variance_hockey(square: Rational) -> Hockey:
    """The same for μ² given, which may have no rational root."""

    def hockey(y: arb) -> arb:
        m = real(square).sqrt()
        return normal_above(y / m - m / 2) - y.exp() * normal_above(y / m + m / 2)

    return hockey


def laplace_hockey(eps: Rational) -> Hockey:
    """P beats e^y Q left of a point between the centres, everywhere, or nowhere."""

    def hockey(y: arb) -> arb:
        x = real(eps)
        if y >= x:
            return arb(0)
        if y <= -x:
            return 1 - y.exp()
        edge = (x - y) / 2  # ε times the place, from the centre of P
        return 1 - (-edge).exp() / 2 - y.exp() * (edge - x).exp() / 2

    return hockey


def subsampled_gaussian_moment(mu: Rational, q: Rational, way: Way) -> Moment:
    """By rigorous integration of a normal density times (1 - q + q e^{μx - μ²/2}) to a power."""

    def moment(s: acb) -> acb:
        m, rate = real(mu), real(q)
        power = s + 1 if way == "towards" else -s
        tilt = float(power.real.mid())
        reach = 20 + math.sqrt(2 * max(-tilt, 0) * -math.log1p(-float(q)))

        def density(x: acb, analytic: bool) -> acb:
            ratio = 1 - rate + rate * (m * x - m * m / 2).exp()
            return (power * ratio.log(analytic=analytic) - x * x / 2).exp()

        inner = acb.integral(density, -reach, reach + max(tilt, 0) * float(mu), eval_limit=10**7)
        return inner / (2 * arb.pi()).sqrt()

    return moment


def far_subsampled_gaussian_moment(mu: Rational, q: Rational, way: Way) -> Moment:
    """The same for a large μ, without integration: the ratio is 1 - q left of x0, q e^{μx-μ²/2} right of it, about.

    x0 is where the two are equal.  |(1+v)^z - 1| <= |z| v max(1, 2^{γ-1}) for 0 <= v <= 1, γ = Re z; v = e^{-μ|x-x0|}.
    """

    def moment(s: acb) -> acb:
        m, rate = real(mu), real(q)
        z = s + 1 if way == "towards" else -s
        g = z.real
        x0 = m / 2 + ((1 - rate) / rate).log() / m
        loose = abs(z) * arb(2) ** (g - 1).max(arb(0))
        left = normal_above(x0) + loose * (m * m / 2 - m * x0).exp() * normal_above(m - x0)
        value, error = (z * (1 - rate).log()).exp(), (g * (1 - rate).log()).exp() * left
        size = (g * rate.log() + g * (g - 1) * m * m / 2).exp()
        if g * m > x0:
            value += (z * rate.log() + z * (z - 1) * m * m / 2).exp()
            shrunk = (g * rate.log() - g * m * m / 2 + m * x0 + (g - 1) ** 2 * m * m / 2).exp()
            error += size * normal_above(g * m - x0) + loose * shrunk * normal_above(x0 - (g - 1) * m)
        else:
            error += arb(2) ** g.max(arb(0)) * size * normal_above(x0 - g * m)
        return value + acb(arb(0, 1), arb(0, 1)) * error

    return moment


def subsampled_laplace_moment(eps: Rational, q: Rational, way: Way) -> Moment:
    """The same for Laplace densities: constant ratios outside, rigorous integration in between."""

    def moment(s: acb) -> acb:
        x, rate = real(eps), real(q)
        power = s + 1 if way == "towards" else -s

        def ratio(loss: acb, analytic: bool = False) -> acb:
            return (power * (1 - rate + rate * loss.exp()).log(analytic=analytic)).exp()

        def density(t: acb, analytic: bool) -> acb:  # t the place between the centres, 0 to 1
            return (-x * t).exp() * ratio(x * (2 * t - 1), analytic)

        inner = x / 2 * acb.integral(density, 0, 1, eval_limit=10**7)
        return ratio(acb(-x)) / 2 + inner + (-x).exp() / 2 * ratio(acb(x))

    return moment


def subsampled_gaussian_hockey(mu: Rational, q: Rational, way: Way) -> Hockey:
    """The two laws are N(0, 1) and its mixture with N(μ, 1); their ratio grows along the line."""

    def hockey(y: arb) -> arb:
        m, rate = real(mu), real(q)
        level = ((y if way == "towards" else -y).exp() - 1 + rate) / rate
        if level <= 0:
            return 1 - y.exp() if way == "towards" else arb(0)
        edge = level.log() / m + m / 2
        if way == "towards":
            plain, shifted = normal_above(edge), normal_above(edge - m)
            return (1 - rate) * plain + rate * shifted - y.exp() * plain
        plain, shifted = normal_above(-edge), normal_above(m - edge)
        return plain - y.exp() * ((1 - rate) * plain + rate * shifted)

    return hockey


def subsampled_laplace_hockey(eps: Rational, q: Rational, way: Way) -> Hockey:
    """The same: the mixture's hockey stick at y is q times the plain one at another place (amplification)."""

    def hockey(y: arb) -> arb:
        rate = real(q)
        level = ((y if way == "towards" else -y).exp() - 1 + rate) / rate
        if level <= 0:
            return 1 - y.exp() if way == "towards" else arb(0)
        plain = laplace_hockey(eps)(level.log())  # sup P - level Q
        if way == "towards":
            return rate * plain
        # sup Q - e^y((1-q)Q + qP) = q e^y sup(level Q - P) = q e^y (level - 1 + sup(P - level Q))
        return rate * y.exp() * (level - 1 + plain)

    return hockey


_ORDER_BITS = 16
"""For m, which is at most the number of losses in a sum."""


class Pieces:
    """A finite measure on the line, times e^{-l/2}: coefficients of (a - l)_+^{m-1}/(m-1)!, or of an atom for m = 0."""

    def __init__(self, terms: dict[tuple[Fraction, int], arb]) -> None:
        self.terms = terms

    @classmethod
    def of_atoms(cls, atoms: Iterable[tuple[Fraction, arb]]) -> Pieces:
        terms: dict[tuple[Fraction, int], arb] = {}
        for place, p in atoms:
            terms[place, 0] = terms.get((place, 0), arb(0)) + p * real(-place / 2).exp()
        return cls(terms)

    @classmethod
    def of_laplace(cls, eps: Rational) -> Pieces:
        place = Fraction(eps)
        scale = real(-place / 2).exp()
        ends: dict[tuple[Fraction, int], arb] = {(place, 0): scale / 2, (-place, 0): scale / 2}
        return cls(ends | {(place, 1): scale / 4, (-place, 1): -scale / 4})

    def __mul__(self, other: Pieces) -> Pieces:
        grid = math.lcm(1, *(place.denominator for place, _ in (*self.terms, *other.terms)))
        mine, others, terms = self._coded(grid), other._coded(grid), dict[int, arb]()
        for a, x in mine:
            for b, y in others:
                known = terms.get(a + b)
                terms[a + b] = x * y if known is None else known + x * y
        return Pieces({(Fraction(code >> _ORDER_BITS, grid), code % 2**_ORDER_BITS): x for code, x in terms.items()})

    def _coded(self, grid: int) -> list[tuple[int, arb]]:
        """Place and m as one integer, because adding and hashing fractions takes long; codes of products add up."""
        return [((int(place * grid) << _ORDER_BITS) + m, weight) for (place, m), weight in self.terms.items()]

    def __pow__(self, copies: int) -> Pieces:
        whole, square = Pieces({(Fraction(0), 0): arb(1)}), self
        while copies:
            if copies % 2:
                whole = whole * square
            square, copies = square * square, copies // 2
        return whole

    def excess(self, y: Fraction) -> arb:
        """E(1 - e^{y-L})_+: the sum of ∫ (e^{l/2} - e^{y-l/2}) over l > y."""
        place, total = real(y), arb(0)
        for (a, m), weight in self.terms.items():
            if a > y:
                end, length = real(a / 2), real(a - y)
                down, up = _partial(length, m, -1), _partial(length, m, +1)
                total += weight * (end.exp() * down - (place - end).exp() * up)
        return total


def _partial(x: arb, m: int, sign: int) -> arb:
    """∫ e^{±u/2} u^{m-1}/(m-1)! du from 0 to x; 1 for an atom."""
    if m == 0:
        return arb(1)
    rate, grown = arb(sign) / 2, (x * sign / 2).exp()
    value = (grown - 1) / rate
    for order in range(1, m):
        value = (x**order / arb(fmpz(math.factorial(order))) * grown - value) / rate
    return value


Part = tuple[Callable[[], Pieces], Fraction, int]
"""How to make the pieces at the working precision, the largest loss, and how many copies."""


def atoms_part(atoms: Callable[[], list[tuple[Fraction, arb]]], copies: int = 1) -> Part:
    """So many copies of a loss with finitely many values."""
    return lambda: Pieces.of_atoms(atoms()), max(place for place, _ in atoms()), copies


def laplace_part(eps: Rational, copies: int = 1) -> Part:
    """So many Laplace mechanisms."""
    return lambda: Pieces.of_laplace(eps), Fraction(eps), copies


class Sum(Truth):
    """The sum of atoms and Laplace losses, beside leaks (δ, copies), exactly."""

    def __init__(self, parts: Iterable[Part], leaks: Iterable[tuple[Rational, int]] = ()) -> None:
        super().__init__((0, delta, copies) for delta, copies in leaks)
        self._parts = list(parts)
        self.total = sum((most * copies for _, most, copies in self._parts), Fraction(0))
        self._known: dict[int, Pieces] = {}

    def pieces(self, bits: int) -> Pieces:
        """The law of the sum, at the precision already set."""
        if bits not in self._known:
            whole = Pieces({(Fraction(0), 0): arb(1)})
            for make, _, copies in self._parts:
                whole = whole * make() ** copies
            self._known[bits] = whole
        return self._known[bits]

    def excess(self, y: Fraction, bits: int) -> arb:
        return self.pieces(bits).excess(y)


class Beside(Truth):
    """One loss without end, known by its hockey stick, beside atoms: one hockey stick for each atom."""

    def __init__(
        self,
        hockeys: Iterable[Hockey],
        atoms: Callable[[], Iterable[tuple[Fraction, arb]]] | None = None,
        leaks: Iterable[tuple[Rational, int]] = (),
        most: Fraction | None = None,
    ) -> None:
        super().__init__((0, delta, copies) for delta, copies in leaks)
        self._hockeys, self._atoms = list(hockeys), atoms or (lambda: [(Fraction(0), arb(1))])
        self.total = Fraction(10**30) if most is None else most
        self._known: dict[int, list[tuple[Fraction, arb]]] = {}

    def excess(self, y: Fraction, bits: int) -> arb:
        """In the worse direction, if several are given."""
        if ctx.prec not in self._known:
            self._known[ctx.prec] = list(self._atoms())
        atoms = self._known[ctx.prec]
        found = [sum((p * hockey(real(y - a)) for a, p in atoms), arb(0)) for hockey in self._hockeys]
        most = found[0]
        for value in found[1:]:
            most = most.max(value)
        return most


def sums_of(parts: Iterable[tuple[list[tuple[Fraction, arb]], int]]) -> list[tuple[Fraction, arb]]:
    """All sums of atoms with their probabilities, by multiplying out."""
    sums: dict[Fraction, arb] = {Fraction(0): arb(1)}
    for atoms, copies in parts:
        for _ in range(copies):
            more: dict[Fraction, arb] = {}
            for place, p in sums.items():
                for step, weight in atoms:
                    more[place + step] = more.get(place + step, arb(0)) + p * weight
            sums = more
    return list(sums.items())
