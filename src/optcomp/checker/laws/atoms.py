r"""Laws on equidistant atoms: randomized response, the discrete Laplace and the discrete Gaussian mechanism.

Randomized response among n answers: e^ε/(e^ε+n-1) at ε, 1/(e^ε+n-1) at -ε, the rest at 0.
Discrete Laplace, weight r^{|x|} with r = e^{-1/b} and shift Δ: the loss (|x-Δ| - |x|)/b is Δ/b for x <= 0, with
probability 1/(1+r); (Δ-2x)/b for 0 < x < Δ, with probability r^x (1-r)/(1+r); -Δ/b for x >= Δ, with r^Δ/(1+r).
Discrete Gaussian, weight e^{-j²/2σ²} and shift Δ: the loss is Δ²/2σ² + jΔ/σ².  Tilted by c the weights are a
constant times e^{-(j-m)²/2σ²}, m = cΔ.  The ratio of a weight to the one before decreases in j, so all weights after
number J add up to at most w_J r/(1-r), r = e^{-(2(J-m)+1)/2σ²} < 1; the same on the other side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb, ctx

from optcomp.checker.balls import Exact, ball, near, spread
from optcomp.checker.effort import looked
from optcomp.checker.laws.law import Atomic, Cloud, Spots, Tilted, TooMuch
from optcomp.checker.laws.waves import waves

_MOST_ATOMS = 1 << 17  # of a discrete Gaussian law that are written out
_WIDE = 40.0  # standard deviations that a sketch covers on either side, before any tilt
_DENSE = 1500  # points of a sketch


class _OnPlaces:
    """What every law on equidistant places has in common: sums over its tilted atoms, with a bound on the rest."""

    def log_moment(self: Atomic, x: arb) -> arb:
        """log Σ p_j e^{xl_j}."""
        found = self.tilted(x)
        return (sum(found.weights, arb(0)) + arb(0).union(found.rest)).log()

    def waves(self: Atomic, c: arb, step: arb, last: int) -> list[acb]:
        """Sums over the atoms; what is left out adds at most its weight."""
        return atom_waves(self.first, self.span, self.tilted(c), step, last)

    def spots(self: Atomic, c: arb) -> Spots:
        """The tilted atoms."""
        found = self.tilted(c)
        losses = [ball(self.first + self.span * (found.start + place)) for place in range(len(found.weights))]
        return Spots(found.weights, losses, found.rest)

    def fade(self, c: arb, theta: arb) -> arb:
        """Atoms do not fade."""
        return arb(1)

    def fade_guess(self, c: float, theta: float) -> float:
        """1."""
        return 1.0


@dataclass(frozen=True)
class Finite(_OnPlaces):
    """Finitely many atoms at first, first + span, ...; `masses` gives their probabilities at the working precision."""

    first: Fraction
    span: Fraction
    masses: Callable[[], list[arb]]
    atoms: int

    def top(self) -> tuple[Exact, Exact]:
        """The last place."""
        return self.place(self.atoms - 1), self.place(self.atoms - 1)

    def place(self, number: int) -> Fraction:
        """l_j."""
        return self.first + number * self.span

    def cloud(self) -> Cloud:
        """The law itself, in floats."""
        logs = [near(mass.log()) for mass in self.masses()]
        numbers = np.arange(self.atoms, dtype=np.float64)
        return Cloud(float(self.first) + float(self.span) * numbers, np.array(logs))

    def tilted(self, c: arb) -> Tilted:
        """All atoms."""
        grow, factor = (c * ball(self.span)).exp(), (c * ball(self.first)).exp()
        weights = []
        for mass in self.masses():
            weights.append(mass * factor)
            factor *= grow
        return Tilted(0, weights, arb(0))

    def excess(self, y: Fraction) -> arb:
        """A finite sum of positive terms."""
        total = arb(0)
        for number, mass in enumerate(self.masses()):
            place = self.place(number)
            if place > y:
                total -= mass * ball(y - place).expm1()
        return total


def atom_waves(first: Fraction, span: Fraction, tilted: Tilted, step: arb, last: int) -> list[acb]:
    """φ of equidistant atoms; what is left out adds at most its weight."""
    total = sum(tilted.weights, arb(0))
    share = spread(tilted.rest / total)
    turns = [step * ball(first + span * (tilted.start + place)) for place in range(len(tilted.weights))]
    found = waves([weight / total for weight in tilted.weights], turns, last)
    if tilted.rest.is_zero():
        return found
    scale = 1 / (1 + arb(0).union(tilted.rest / total))
    return [(value + acb(share, share)) * scale for value in found]


def response(eps: Exact, answers: int) -> Finite:
    """Randomized response among n answers."""
    size = Fraction(eps)

    def masses() -> list[arb]:
        rise = ball(eps).exp()
        whole = rise + (answers - 1)
        between = [(answers - 2) / whole] if answers > 2 else []
        return [1 / whole, *between, rise / whole]

    return Finite(-size, size if answers > 2 else 2 * size, masses, min(answers, 3))


def discrete_laplace(scale: Exact, shift: int) -> Finite:
    """Two-sided geometric noise."""
    b = Fraction(scale)

    def masses() -> list[arb]:
        r = (-1 / ball(scale)).exp()
        end, inner = 1 / (1 + r), (1 - r) / (1 + r)
        return [end * r**shift, *(inner * r**x for x in range(shift - 1, 0, -1)), end]

    return Finite(-shift / b, 2 / b, masses, shift + 1)


@dataclass(frozen=True)
class DiscreteGaussian(_OnPlaces):
    """Weight e^{-x²/2σ²} on whole numbers, of which one person shifts the middle by a whole number."""

    sigma: Exact
    shift: int
    atoms: None = None

    @property
    def first(self) -> Fraction:
        """Δ²/2σ²."""
        return Fraction(self.shift) ** 2 / (2 * Fraction(self.sigma) ** 2)

    @property
    def span(self) -> Fraction:
        """Δ/σ²."""
        return Fraction(self.shift) / Fraction(self.sigma) ** 2

    def top(self) -> tuple[Exact, Exact]:
        """There is none."""
        return math.inf, math.inf

    def cloud(self) -> Cloud:
        """Some of the atoms; of many, with weights that make up for those between them."""
        sigma = float(self.sigma)
        reach = max(_WIDE * sigma, 30.0)
        stride = max(1, int(2 * reach / _DENSE))
        numbers = np.arange(-int(reach), int(reach) + 1, stride, dtype=np.float64)
        logs = -(numbers**2) / (2 * sigma**2)
        return Cloud(float(self.first) + float(self.span) * numbers, logs - np.logaddexp.reduce(logs))

    def tilted(self, c: arb) -> Tilted:
        """The atoms around cΔ, relative to all of them at c = 0."""
        middle, scale = round(near(c) * self.shift), (c * ball(self.first)).exp()
        reach = self._reach()
        exact, square = c * self.shift, 2 * ball(self.sigma) ** 2
        weights = _bells(middle - reach, middle + reach, exact, square)
        above, below = (2 * (middle + reach - exact) + 1) / square, (2 * (exact - middle + reach) + 1) / square
        rest = weights[-1] * _geometric(above) + weights[0] * _geometric(below)
        grow = scale * (exact * exact / square).exp() / self.norm()
        return Tilted(middle - reach, [weight * grow for weight in weights], rest * grow)

    def _reach(self) -> int:
        sigma = float(self.sigma)
        reach = int(sigma * math.sqrt(2 * math.log(2) * (ctx.prec + 8)) + 2)
        if reach > _MOST_ATOMS:
            raise TooMuch
        return reach

    def norm(self) -> arb:
        """Σ e^{-j²/2σ²}."""
        reach, square = self._reach(), 2 * ball(self.sigma) ** 2
        weights = _bells(0, reach, arb(0), square)
        tail = weights[-1] * _geometric((2 * arb(reach) + 1) / square)
        return 2 * (sum(weights[1:], arb(0)) + arb(0).union(tail)) + 1

    def excess(self, y: Fraction) -> arb:
        """Atoms above y from the lowest on, as far as they count, and a bound on the rest."""
        start = math.floor((y - self.first) / self.span) + 1
        square = 2 * ball(self.sigma) ** 2
        end = max(start, 0) + self._reach()
        start = max(start, -self._reach())
        if end - start > 4 * _MOST_ATOMS:
            raise TooMuch
        total, weights = arb(0), _bells(start, end, arb(0), square)
        for number, weight in enumerate(looked(weights), start):
            total -= weight * ball(y - self.first - number * self.span).expm1()
        rest = weights[-1] * _geometric((2 * arb(end) + 1) / square)
        below = weights[0] * _geometric((1 - 2 * arb(start)) / square) if start == -self._reach() else arb(0)
        return (total + arb(0).union(rest + below)) / self.norm()


def _bells(start: int, end: int, middle: arb, square: arb) -> list[arb]:
    """e^{-(j-m)²/square} for j from start to end: from one to the next by a factor that itself shrinks by a factor."""
    weight = (-((start - middle) ** 2) / square).exp()
    factor, shrink = ((2 * (middle - start) - 1) / square).exp(), (-2 / square).exp()
    weights = []
    for _ in looked(range(start, end + 1)):
        weights.append(weight)
        weight, factor = weight * factor, factor * shrink
    return weights


def _geometric(fall: arb) -> arb:
    """r + r² + ... for r = e^{-fall}; infinite unless that is below 1."""
    return 1 / fall.expm1() if fall > 0 else arb.pos_inf()
