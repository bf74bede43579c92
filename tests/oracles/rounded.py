"""Sums of any losses between two numbers: every loss rounded up, and rounded down, to whole multiples of a step.

E(1 - e^{y-L})_+ grows with every loss, so losses rounded up give more and losses rounded down less.  Masses come from
tails P(L > l) as balls; sums of rounded losses are plain convolutions of positive numbers (no FFT), whose relative
error is below their length times 2^-52.  What is beyond a cut counts as infinite on the one side, as nothing (or as
the cut itself) on the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb

from tests.oracles.losses import Way, discrete_gaussian_whole, normal_above
from tests.oracles.truth import Rational, real, working

Floats = npt.NDArray[np.float64]
Tail = Callable[[arb], arb]
_BITS = 160
_CELLS = 3000
_SLACK = 1e-9
_FAR = 12.0
"""Normal tails beyond this are below 1e-32."""


@dataclass(frozen=True)
class Spread:
    """A loss by its tail, between two places beyond which next to nothing is."""

    tail: Tail
    low: float
    high: float
    copies: int = 1


@dataclass(frozen=True)
class Points:
    """A loss by its values."""

    atoms: Callable[[], list[tuple[Fraction, arb]]]
    copies: int = 1


def gaussian(square: Rational) -> Spread:
    """N(μ²/2, μ²)."""
    mu = math.sqrt(float(square))

    def tail(place: arb) -> arb:
        m = real(square).sqrt()
        return normal_above(place / m - m / 2)

    return Spread(tail, mu * mu / 2 - _FAR * mu, mu * mu / 2 + _FAR * mu)


def laplace(eps: Rational, copies: int) -> Spread:
    """Half at ε, the rest below."""
    return Spread(lambda place: _towards(place, real(eps)), -1.001 * float(eps), 1.001 * float(eps), copies)


def _towards(place: arb, eps: arb) -> arb:
    """P(l > place) for the loss l of Laplace noise."""
    return arb(0) if place >= eps else arb(1) if place < -eps else 1 - ((place - eps) / 2).exp() / 2


def _against(place: arb, eps: arb) -> arb:
    """The same under the other law: there -l is such a loss."""
    return arb(0) if place >= eps else arb(1) if place < -eps else (-(place + eps) / 2).exp() / 2


def subsampled_gaussian(mu: Rational, q: Rational, way: Way, copies: int) -> Spread:
    """log A under the mixture, or -log A under the plain normal."""
    m, rate = float(mu), float(q)
    far = math.log1p(rate * math.expm1(min(m * (m + _FAR) - m * m / 2, 600.0)))
    least, most = (math.log1p(-rate), far) if way == "towards" else (-far, -math.log1p(-rate))

    def tail(place: arb) -> arb:
        level = ((place if way == "towards" else -place).exp() - 1 + real(q)) / real(q)
        if level <= 0:
            return arb(1) if way == "towards" else arb(0)
        edge = level.log() / real(mu) + real(mu) / 2
        if way == "away":
            return normal_above(-edge)
        return (1 - real(q)) * normal_above(edge) + real(q) * normal_above(edge - real(mu))

    return Spread(tail, least - 0.01, most + 0.01, copies)


def subsampled_laplace(eps: Rational, q: Rational, way: Way, copies: int) -> Spread:
    """The same for Laplace densities."""
    rate, ends = float(q), [math.log1p(float(q) * math.expm1(sign * float(eps))) for sign in (-1, 1)]
    least, most = ends if way == "towards" else (-ends[1], -ends[0])
    room = 0.001 * rate * (most - least)

    def tail(place: arb) -> arb:
        level = ((place if way == "towards" else -place).exp() - 1 + real(q)) / real(q)
        if level <= 0:
            return arb(1) if way == "towards" else arb(0)
        plain = level.log()
        if way == "towards":
            return (1 - real(q)) * _against(plain, real(eps)) + real(q) * _towards(plain, real(eps))
        return 1 - _against(plain, real(eps))  # but for an atom, which no multiple of the step meets

    return Spread(tail, least - room, most + room, copies)


def discrete_gaussian(sigma: Rational, shift: int, copies: int) -> Points:
    """All values that matter; what is missing is found by adding up."""
    reach = math.ceil(_FAR * float(sigma)) + shift + 2

    def atoms() -> list[tuple[Fraction, arb]]:
        square, whole = 2 * Fraction(sigma) ** 2, discrete_gaussian_whole(sigma)
        places = range(-reach, reach + 1)
        return [(Fraction(shift * (shift - 2 * x)) / square, real(-(x * x) / square).exp() / whole) for x in places]

    return Points(atoms, copies)


class Rounded:
    """The sum of such losses: its excess between two numbers."""

    def __init__(self, parts: Sequence[Spread | Points]) -> None:
        with working(_BITS):
            self.step = _step(parts)
            laws = [_laws(part, self.step) for part in parts]
            sides = _summed([up for up, _ in laws]), _summed([down for _, down in laws])
        (self._up, self._infinite), (self._down, _) = sides

    def excess(self, y: float) -> tuple[float, float]:
        """At most, and at least, E(1 - e^{y-L})_+."""
        low, high = (_excess(law, self.step, y) for law in (self._down, self._up))
        return low * (1 - _SLACK), min(high * (1 + _SLACK) + self._infinite * (1 + _SLACK), 1.0)


_Law = tuple[int, Floats]


def _step(parts: Iterable[Spread | Points]) -> float:
    """Of about so many cells in all; an odd number, so that no atom lies on a multiple."""
    width = 0.0
    for part in parts:
        places = [float(place) for place, _ in part.atoms()] if isinstance(part, Points) else [part.low, part.high]
        width += part.copies * (max(places) - min(places))
    return width / _CELLS * 1.000000123456789


_Side = tuple[_Law, float, int]


def _laws(part: Spread | Points, step: float) -> tuple[_Side, _Side]:
    """First multiple, masses, infinite mass and copies, rounded up and rounded down."""
    up: dict[int, arb] = {}
    down: dict[int, arb] = {}
    if isinstance(part, Points):
        for place, p in part.atoms():
            for masses, rounding in ((up, math.ceil), (down, math.floor)):
                at = rounding(place / Fraction(step))
                masses[at] = masses.get(at, arb(0)) + p
        lost = 1 - sum(up.values(), arb(0))
    else:
        first, last = math.floor(part.low / step), math.ceil(part.high / step)
        tails = [part.tail(arb(k) * arb(step)) for k in range(first, last + 1)]
        for k in range(first + 1, last + 1):
            up[k] = down[k - 1] = tails[k - 1 - first] - tails[k - first]
        up[first], down[last], lost = 1 - tails[0], tails[-1], tails[-1]
    return (_column(up, True), _float(lost, True), part.copies), (_column(down, False), 0.0, part.copies)


def _column(masses: dict[int, arb], up: bool) -> _Law:
    first = min(masses)
    column = np.zeros(max(masses) - first + 1)
    for at, mass in masses.items():
        column[at - first] = _float(mass, up)
    return first, column


def _float(mass: arb, up: bool) -> float:
    end = mass.upper() if up else mass.lower()
    return max(math.nextafter(float(end), math.inf if up else -math.inf), 0.0)


def _summed(laws: Iterable[_Side]) -> tuple[_Law, float]:
    first, column, infinite = 0, np.ones(1), 0.0
    for (start, masses), lost, copies in laws:
        for _ in range(copies):
            first, column, infinite = first + start, np.convolve(column, masses), infinite + lost
    return (first, column), infinite


def _excess(law: _Law, step: float, y: float) -> float:
    first, column = law
    place = step * (first + np.arange(column.size))
    return float((column * -np.expm1(np.minimum(y - place, 0.0))).sum())
