r"""Nodes of a sum whose laws never fade: most are proved to hold next to nothing, and the few others are evaluated.

A law on countably many values has |φ| near 1 again and again, but mostly it is much smaller, and its n-th power tiny.
Take some of its atoms, those with the largest tilted weights w_j, and let ρ be the weight of all others.  For any m,

    |φ(θ')|  <=  |Σ w_j e^{iθ(l_j - m)}| + r Σ w_j |l_j - m| + ρ        for |θ' - θ| <= r,

and |φ|^n is no more than the n-th power of that, whatever other laws there are.  Places θ are laid out in rows and
columns; e^{i(α+β)x} is a product, so all sums are two products of matrices of whole numbers, which FLINT multiplies
exactly.  Cosines, sines and weights are within 1 of 2^30 times the truth, and products with a weight, rounded down,
within 3.01.  As |cos| + |sin| <= √2 and Σ w_j <= 1, the real and the imaginary part of a sum of J atoms are each off by
at most 2^-30 (4.3 J + 1.5), and its modulus by less than 2^-30 (7 J + 3).
Ranges that are not proved small are split, down to single nodes, which are evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from flint import acb, arb, fmpz, fmpz_mat

from optcomp.checker.balls import GUESS_BITS, near, working
from optcomp.checker.contour import Sums, add
from optcomp.checker.effort import look, looked
from optcomp.checker.kernels import Smoothed, WithDensity
from optcomp.checker.laws import Laplace, Spots, Spotted, TooMuch
from optcomp.checker.sums.total import Total

_DIGITS = 30
"""Binary digits of an entry."""
_FAINT = 1e-3  # weight of the atoms that are left out of a bound: next to nothing beside 1 - |φ|
_DRIFT = 0.1  # what a range's length may add to |φ|
_LOOKED = 1 << 12  # ranges looked at together: the matrices stay small
_LONGEST = 1 << 12  # nodes of a range
_SPLIT = 4  # parts of a range that was not proved small
_FEWEST = 3000  # nodes up to which all are evaluated
_LEAST = 0.02  # least |φ| that a bound is asked to prove: below, a range would have to be short
_MOST_KEPT = 60_000  # nodes that are evaluated: about fifteen seconds
_SHARE = 0.2  # of all nodes: where more are kept, evaluating every node is cheaper
_SINE, _NODE = 2e-6, 5e-5  # seconds for a cosine and a sine, and for a node besides

Range = tuple[int, int]
"""The first and the last node."""


def suits(total: Total, last: int) -> bool:
    """Whether nodes are many, and a single one is cheap: all laws have atoms or a closed form, and one has atoms."""
    spotted = [isinstance(law, Spotted) for law, _ in total.laws]
    return last > _FEWEST and any(spotted) and all(isinstance(law, Spotted | Laplace) for law, _ in total.laws)


@dataclass(frozen=True)
class Bound:
    """The bound above for one law."""

    places: list[arb]
    """l - m."""
    weights: list[arb]
    slope: arb
    rest: arb
    copies: int

    @classmethod
    def of(cls, spots: Spots, copies: int) -> Bound:
        """The largest weights; m is about their mean."""
        whole = sum(spots.weights, arb(0))
        order = sorted(range(len(spots.weights)), key=lambda place: near(spots.weights[place]), reverse=True)
        kept, sofar, scale = [], 0.0, near(whole)
        for place in order:
            if sofar >= (1 - _FAINT) * scale:
                break
            kept.append(place)
            sofar += near(spots.weights[place])
        weights = [spots.weights[place] / whole for place in kept]
        middle = arb(sum(near(w) * near(spots.losses[place]) for w, place in zip(weights, kept, strict=True)))
        places = [spots.losses[place] - middle for place in kept]
        slope = sum((w * abs(x) for w, x in zip(weights, places, strict=True)), arb(0))
        return cls(places, weights, slope, 1 - sum(weights, arb(0)) + spots.rest / whole, copies)

    def usual(self) -> float:
        """About log|φ|^n where the atoms are out of step; a guess."""
        return self.copies * math.log(sum(near(weight) ** 2 for weight in self.weights)) / 2

    @property
    def rounding(self) -> arb:
        """How far the modulus of a sum is off in matrices."""
        return arb(3 + 7 * len(self.places)) / 2**_DIGITS

    def level(self, limit: float, radius: arb) -> arb:
        """Where |Σ| in the middle is at most this, |φ|^n is at most the limit within the radius."""
        return (arb(limit).log() / self.copies).exp() - self.slope * radius - self.rest

    def stride(self, limit: float, step: float) -> int:
        """How many nodes a look may serve; 0 if none will do."""
        spare = math.exp(math.log(limit) / self.copies) - near(self.rest) - _LEAST
        room = min(_DRIFT, spare / 2)
        return min(_LONGEST, 1 + int(2 * room / (near(self.slope) * step))) if room > 0 else 0

    def size(self, theta: arb) -> arb:
        """|Σ| at one place."""
        real = imaginary = arb(0)
        for weight, place in looked(zip(self.weights, self.places, strict=True)):
            sine, cosine = (theta * place).sin_cos()
            real, imaginary = real + weight * cosine, imaginary + weight * sine
        return (real * real + imaginary * imaginary).sqrt()

    def squares(self, start: arb, gap: arb, rows: int, columns: int) -> Iterator[list[fmpz]]:
        """|Σ|² at start, start + gap, ..., in units of 2^-120, a row at a time."""
        sines = [self._turned(start + gap * (columns * row)) for row in looked(range(rows))]
        scale = [_whole(weight) for weight in self.weights]
        left, under = [], []
        for row in sines:
            weighed = [(w * c, w * s) for w, (c, s) in zip(scale, row, strict=True)]
            left.append([entry >> _DIGITS for c, s in weighed for entry in (c, -s)])
            under.append([entry >> _DIGITS for c, s in weighed for entry in (s, c)])
        right = fmpz_mat(
            [[entry for pair in self._turned(gap * column) for entry in pair] for column in range(columns)]
        ).transpose()
        real, imaginary = (fmpz_mat(left) * right).entries(), (fmpz_mat(under) * right).entries()
        for first in range(0, rows * columns, columns):
            pairs = zip(real[first : first + columns], imaginary[first : first + columns], strict=True)
            yield [a * a + b * b for a, b in pairs]

    def _turned(self, theta: arb) -> list[tuple[int, int]]:
        """cos and sin of θx for every atom."""
        found = []
        for place in self.places:
            sine, cosine = (theta * place).sin_cos()
            found.append((_whole(cosine), _whole(sine)))
        return found


class Sweep:
    """The nodes of one rule, each accounted for."""

    def __init__(self, total: Total, kernel: Smoothed, c: arb, effort: float) -> None:
        self._total, self._kernel, self._c, self._effort = total, kernel, c, effort
        self._spots = [(law.spots(c), copies) for law, copies in total.laws if isinstance(law, Spotted)]
        self._others = [(law, copies) for law, copies in total.laws if not isinstance(law, Spotted)]
        with working(GUESS_BITS + 2 * _DIGITS):
            bounds = [Bound.of(spots, copies) for spots, copies in self._spots]
        self._bounds = sorted(bounds, key=Bound.usual)
        self._step = near(kernel.step)
        self._work = 0.0
        """Seconds, about."""

    def sums(self) -> Sums:
        """The sum over all nodes, and a bound on those that were left out."""
        begin = self._beginning()
        ys = self._kernel.ys
        sums = Sums([arb(0) for _ in ys], [arb(0) for _ in ys], self._kernel.remainder())
        add(sums, self._kernel, 0, [acb(1), *self._first(begin)])
        for node in self._still(begin + 1, sums):
            self._spend(_NODE + _SINE * sum(len(spots.weights) for spots, _ in self._spots))
            add(sums, self._kernel, node, [self._phi(self._kernel.step * node)])
        return sums

    def _spend(self, seconds: float) -> None:
        look()
        self._work += seconds
        if self._work > self._effort:
            raise TooMuch

    def _beginning(self) -> int:
        """The last of the nodes that are all evaluated: up to where the power looks small for the first time."""
        bound = self._bounds[0]
        with working(GUESS_BITS):
            for node in (int(1.3**power) for power in range(8, 200)):
                if node >= self._kernel.last:
                    return self._kernel.last
                size = near(bound.size(self._kernel.step * node) + bound.rest)
                if bound.copies * math.log(max(size, 1e-9)) < math.log(self._limit(node)):
                    return node
        return self._kernel.last

    def _limit(self, node: int) -> float:
        return min(max(self._kernel.limit(node * self._step), 1e-250), 1.0)

    def _first(self, last: int) -> list[acb]:
        """φ at the nodes 1, ..., last."""
        if last > _MOST_KEPT:
            raise TooMuch
        values = [acb(1)] * last
        for law, copies in self._total.laws:
            waves = law.waves(self._c, self._kernel.step, last)
            values = [value * wave**copies for value, wave in looked(zip(values, waves[1:], strict=True))]
        return values

    def _phi(self, theta: arb) -> acb:
        """φ at one place."""
        found = acb(1)
        for spots, copies in self._spots:
            found *= spots.phi(theta) ** copies
        for law, copies in self._others:
            found *= law.waves(self._c, theta, 1)[1] ** copies
        return found

    def _still(self, first: int, sums: Sums) -> list[int]:
        """The nodes that must be evaluated; all others are counted as left out."""
        kept: list[int] = []
        with working(GUESS_BITS + 2 * _DIGITS):
            while first <= self._kernel.last:
                end, opened = self._looked(self._bounds[0], first, sums)
                for each in opened:
                    kept += self._split(each, sums)
                if len(kept) > _MOST_KEPT or len(kept) > _FEWEST + _SHARE * end:
                    raise TooMuch
                first = end + 1
        return kept

    def _looked(self, bound: Bound, first: int, sums: Sums) -> tuple[int, list[Range]]:
        """A block of ranges from a node on: the last node looked at, and the ranges that are not proved small."""
        last, step = self._kernel.last, self._kernel.step
        stride = bound.stride(self._limit(first), self._step)
        if not stride:
            end = min(first + _LOOKED, last)
            return end, [(first, end)]
        ranges = min(_LOOKED, -(-first // stride), -(-(last + 1 - first) // stride))
        columns = math.isqrt(ranges - 1) + 1
        rows = -(-ranges // columns)
        self._spend((rows + columns) * len(bound.places) * _SINE)
        opened: list[Range] = []
        start, gap = step * (first + arb(stride - 1) / 2), step * stride
        for row, squares in enumerate(bound.squares(start, gap, rows, columns)):
            begin = first + row * columns * stride
            end = min(begin + columns * stride - 1, last)
            if begin > last:
                break
            limit = min(self._limit(begin), self._limit(end))
            level = bound.level(limit, step * (stride - 1) / 2) - bound.rounding
            most = _square_below(level)
            still = [number for number, square in enumerate(squares) if square > most] if limit < 1 else []
            still = [number for number in still if begin + number * stride <= end]
            opened += [(begin + n * stride, min(begin + (n + 1) * stride - 1, end)) for n in still]
            count = end - begin + 1 - sum(stop - start + 1 for start, stop in opened if start >= begin)
            self._leave(sums, begin, count, limit)
        return min(first + rows * columns * stride - 1, last), opened

    def _leave(self, sums: Sums, first: int, count: int, limit: float) -> None:
        """Count nodes as left out, each with |φ| at most the limit."""
        ceiling: WithDensity = self._kernel.ceiling(self._kernel.step * first, count)
        sums.left_out = sums.left_out.more(ceiling, arb(limit))

    def _split(self, opened: Range, sums: Sums) -> list[int]:
        """The nodes of a range that no law proves to be small, looked at in ever shorter parts."""
        pending, kept = [opened], []
        while pending:
            look()
            first, last = pending.pop()
            if self._small(first, last):
                self._leave(sums, first, last - first + 1, min(self._limit(first), self._limit(last)))
            elif first == last:
                kept.append(first)
            else:
                part = -(-(last - first + 1) // _SPLIT)
                pending += [(begin, min(begin + part - 1, last)) for begin in range(first, last + 1, part)]
        return kept

    def _small(self, first: int, last: int) -> bool:
        """Whether the power of one law is proved to be at most the limit in a range."""
        limit, step = min(self._limit(first), self._limit(last)), self._kernel.step
        if limit >= 1:
            return True
        for bound in self._bounds:
            level = bound.level(limit, step * (last - first) / 2)
            if level > 0:
                self._spend(_SINE * len(bound.places))
                if bound.size(step * (first + last) / 2) <= level:
                    return True
        return False


def swept(total: Total, kernel: Smoothed, c: arb, effort: float) -> Sums:
    """The sum over all nodes of a rule; TooMuch if too many of them would have to be evaluated."""
    return Sweep(total, kernel, c, effort).sums()


def _whole(value: arb) -> int:
    """A whole number within 1 of 2^30 times the value; refuses a ball that is too wide for that."""
    scaled = value * 2**_DIGITS
    if not float(scaled.rad()) < 0.1:
        raise ArithmeticError("a ball is too wide to be rounded")
    return round(float(scaled.mid()))


def _square_below(level: arb) -> int:
    """At most the square of the level in units of 2^-120; -1 if that is not positive."""
    scaled = (level.lower() * 2 ** (2 * _DIGITS)).floor().unique_fmpz()
    return int(scaled) ** 2 if scaled is not None and scaled > 0 else -1
