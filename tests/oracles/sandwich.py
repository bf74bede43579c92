r"""Sums of any losses between two sums on a grid, each a pair of its own: one dominates, the other is dominated.

A loss is given by P(L > y) and Q(L > y).  Between two neighbouring multiples of a step, masses p under P and q under Q:

- *above*, the mass goes to the two ends of the cell, so that both p and q stay what they are: an answer of any loss in
  between is a random choice between answers of the two ends, told as one;
- *below*, the whole cell is told as one answer, whose loss is log(p/q).  It is then moved down to the same place in all
  cells, or a step further where that is not low enough.

Both are off by the square of the step in each round.  Masses are whole numbers of 2^-bits, rounded up above and down
below; products of polynomials of whole numbers are exact, and rounded again in the same direction.  What is cut off at
the top counts as an infinite loss above and as nothing below; at the bottom it is moved up, or left out.

Losses on a lattice stay where they are: there only masses are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
from flint import arb, fmpz, fmpz_poly

from tests.oracles.replaced_losses import Sides
from tests.oracles.truth import working

Side = Literal["above", "below"]
Floats = npt.NDArray[np.float64]
Atoms = Callable[[], list[tuple[Fraction, arb]]]
"""Values of a loss with their probabilities."""
_SPARE = 70
"""Bits of masses beyond those of what is asked for."""
_CUT = 1e-11
"""The share of what is asked for that may be cut off in all."""
_SHARES = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1)
"""Shares of the mass that may be moved down by a whole step, where that serves the others."""
_HEAVY, _LITTLE = 3, 1e-9
"""Heaviest cells, whose points may be the place for all; and what is taken off a place, relatively."""
_FIRST = 1200
"""Cells of the single losses in a first pass, which tells how long sums are."""
_SLACK = 1e-11
"""Relative: the last sum is in doubles, and adds up positive numbers."""


@dataclass(frozen=True)
class Spread:
    """So many copies of a loss by its two tails, hardly ever outside of two places."""

    sides: Sides
    low: float
    high: float
    copies: int


@dataclass(frozen=True)
class _Masses:
    """Whole numbers at base + k·step, from k = first on, and what is infinite."""

    first: int
    column: list[int]
    infinite: int = 0


class Sandwich:
    """Sums of spread losses; `least` is about the smallest excess that is asked for, `cells` the length of the sums."""

    def __init__(self, parts: Sequence[Spread], least: float, cells: int = 5000) -> None:
        self.bits = math.ceil(-math.log2(least)) + _SPARE + math.ceil(math.log2(sum(part.copies for part in parts)))
        self.step = sum(part.high - part.low for part in parts) / _FIRST
        self._make(parts, least)
        longest = max(len(law.column) for law, _ in (self._above, self._below))
        finest = max(part.high - part.low for part in parts) / (4 * cells)  # a single loss may be longer than sums are
        self.step = max(self.step * max(longest, _FIRST // 20) / cells, finest)
        self._make(parts, least)

    def _make(self, parts: Sequence[Spread], least: float) -> None:
        with working(self.bits + 40):
            laws = [_laws(part, self.step, self.bits) for part in parts]
        cut, copies = int(Fraction(_CUT * least) * (1 << self.bits)), [part.copies for part in parts]
        self._above = _sum([above for above, _, _ in laws], copies, "above", self.bits, cut), Fraction(0)
        shift = sum((count * place for count, (_, _, place) in zip(copies, laws, strict=True)), Fraction(0))
        self._below = _sum([below for _, below, _ in laws], copies, "below", self.bits, cut), shift

    def excess(self, y: float) -> tuple[float, float]:
        """At least, and at most, E(1 - e^{y-L})_+."""
        low, high = (_excess(*law, Fraction(self.step), self.bits, y) for law in (self._below, self._above))
        return low * (1 - _SLACK), min(high * (1 + _SLACK), 1.0)


class Lattice:
    """Sums of losses that are multiples of a unit: nothing is rounded but masses, far beyond doubles."""

    def __init__(self, parts: Sequence[tuple[Atoms, int]], least: float) -> None:
        self.bits = math.ceil(-math.log2(least)) + _SPARE + math.ceil(math.log2(sum(copies for _, copies in parts)))
        with working(self.bits + 40):
            atoms = [law() for law, _ in parts]
            places = [place for law in atoms for place, _ in law]
            base = [law[0][0] for law in atoms]
            gaps = [place - law[0][0] for law in atoms for place, _ in law if place != law[0][0]]
            self.step = Fraction(
                math.gcd(
                    *(
                        gap.numerator * (math.lcm(*(each.denominator for each in gaps)) // gap.denominator)
                        for gap in gaps
                    )
                ),
                math.lcm(*(gap.denominator for gap in gaps)),
            )
            assert places
            copies = [count for _, count in parts]
            self._shift = sum((start * count for start, count in zip(base, copies, strict=True)), Fraction(0))
            self._sums = []
            for side in ("below", "above"):
                laws = [_on_lattice(law, self.step, side, self.bits) for law in atoms]
                self._sums.append(_sum(laws, copies, side, self.bits, 0))

    def excess(self, y: float) -> tuple[float, float]:
        """At least, and at most, E(1 - e^{y-L})_+."""
        low, high = (_excess(law, self._shift, self.step, self.bits, y) for law in self._sums)
        return low * (1 - _SLACK), min(high * (1 + _SLACK), 1.0)


def _whole(mass: arb, side: Side, bits: int) -> int:
    scaled = mass * arb(2) ** bits
    end = scaled.upper().ceil() if side == "above" else scaled.lower().floor()
    return max(int(end.unique_fmpz()), 0)


def _on_lattice(atoms: list[tuple[Fraction, arb]], step: Fraction, side: Side, bits: int) -> _Masses:
    found: dict[int, int] = {}
    for place, mass in atoms:
        at = (place - atoms[0][0]) / step
        assert at.denominator == 1
        found[int(at)] = found.get(int(at), 0) + _whole(mass, side, bits)
    missing = _whole(1 - sum((mass for _, mass in atoms), arb(0)), side, bits) if side == "above" else 0
    first = min(found)
    return _Masses(first, [found.get(first + k, 0) for k in range(max(found) - first + 1)], missing)


def _laws(part: Spread, step: float, bits: int) -> tuple[_Masses, _Masses, Fraction]:
    """Above, below, and where in its cell what is below stands."""
    first, last = math.floor(part.low / step), math.ceil(part.high / step)
    h, growth = arb(step), arb(step).exp()
    tails = [part.sides(k * h) for k in range(first, last + 1)]
    own, other = [1 - tails[0][0]], [1 - tails[0][1]]
    own += [one[0] - two[0] for one, two in pairwise(tails)]
    other += [one[1] - two[1] for one, two in pairwise(tails)]
    above = [0] * (last - first + 1)
    above[0] = _whole(own[0], "above", bits)
    for k in range(1, len(own)):  # the cell from first + k - 1 to first + k
        level = ((first + k - 1) * h).exp()
        end = (own[k] - other[k] * level) / (1 - 1 / growth)
        above[k] += _whole(end, "above", bits)
        above[k - 1] += _whole(own[k] - end, "above", bits)
    infinite = _whole(tails[-1][0], "above", bits)
    return (_Masses(first, above, infinite), *_lowered(own, other, first, step, bits))


def _lowered(own: list[arb], other: list[arb], first: int, step: float, bits: int) -> tuple[_Masses, Fraction]:
    """Cells as points, each moved down to a place that is the same in all cells, or to that in the cell before."""
    points = []
    for k in range(1, len(own)):
        mass = _whole(own[k], "below", bits)
        if mass:
            loss = (own[k].lower() / other[k].upper()).log()
            points.append((k - 1, mass, float((loss / arb(step)).lower()) - (first + k - 1)))
    place = _place(np.array([at for _, _, at in points]), np.array([mass / (1 << bits) for _, mass, _ in points]))
    column = [0] * (len(own) + 2)
    for k, mass, at in points:
        column[k + 2 - (0 if at >= place else 1 if at + 1 >= place else 2)] += mass
    return _Masses(first - 2, column), Fraction(place) * Fraction(step)


def _place(points: Floats, masses: Floats) -> float:
    """Where points are moved to, in steps from the lower end of a cell: where they move least, on average."""
    tried = [np.quantile(points, _SHARES, weights=masses, method="inverted_cdf"), points[np.argsort(-masses)[:_HEAVY]]]
    places = np.concatenate(tried) * (1 - _LITTLE)  # a little lower: points are rounded to doubles
    moved = [float(masses @ np.where(points >= place, points - place, points - place + 1)) for place in places]
    return float(places[int(np.argmin(moved))])


def _sum(laws: Sequence[_Masses], copies: Sequence[int], side: Side, bits: int, cut: int) -> _Masses:
    whole, total = sum(copies), None
    for law, count in zip(laws, copies, strict=True):
        power, so_far = None, 0
        for digit in bin(count)[2:]:
            if power is not None:
                power, so_far = _product(power, power, side, bits), 2 * so_far
            if digit == "1":
                power = law if power is None else _product(power, law, side, bits)
                so_far += 1
            assert power is not None
            power = _trimmed(power, side, cut * so_far // (8 * whole))
        assert power is not None
        total = power if total is None else _trimmed(_product(total, power, side, bits), side, cut // 8)
    assert total is not None
    return total


def _product(one: _Masses, two: _Masses, side: Side, bits: int) -> _Masses:
    """Rounded to the side; an infinite loss beside any other one is infinite."""
    up = fmpz((1 << bits) - 1 if side == "above" else 0)
    product = fmpz_poly(one.column) * fmpz_poly(two.column)
    column = [int((mass + up) >> bits) for mass in product.coeffs()]
    ones, twos = sum(one.column), sum(two.column)
    infinite = one.infinite * (twos + two.infinite) + two.infinite * ones
    return _Masses(one.first + two.first, column or [0], (infinite + int(up)) >> bits)


def _trimmed(law: _Masses, side: Side, cut: int) -> _Masses:
    """Without what is rare at either end."""
    column = law.column
    top = sum(1 for mass in accumulate(reversed(column)) if mass <= cut)
    kept = column[: len(column) - top] or column[:1]
    bottom = min(sum(1 for mass in accumulate(kept) if mass <= cut), len(kept) - 1)
    lost, moved = sum(column[len(kept) :]), sum(kept[:bottom])
    kept = kept[bottom:]
    if side == "above":
        kept[0] += moved
        return _Masses(law.first + bottom, kept, law.infinite + lost)
    return _Masses(law.first + bottom, kept)


def _excess(law: _Masses, shift: Fraction, step: Fraction, bits: int, y: float) -> float:
    start, whole = step * law.first + shift - Fraction(y), 1 << bits
    skipped = max(math.floor(-start / step), 0)
    masses = np.array([mass / whole for mass in law.column[skipped:]])
    if not masses.size:
        return law.infinite / whole
    places = float(start + skipped * step) + float(step) * np.arange(masses.size)
    return float((masses * -np.expm1(-np.maximum(places, 0.0))).sum()) + law.infinite / whole
