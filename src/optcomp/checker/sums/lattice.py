r"""F of a sum of laws on one lattice: the law of the sum itself, by a discrete Fourier transform in balls.

All losses are first_i + (a multiple of h), so L lives on Σ n_i first_i + hZ.  Tilt every law by c >= 0, wrap it around
N places, transform, raise to the powers n_i, multiply and transform back.  The result a_j is the tilted law of L
wrapped around N places: exactly the sum of p~_l over l of the same number modulo N.  Take for each number the place l
in a window of N places that ends at l1.  With p~_l = p_l e^{cl}/M(c) and S = M(c) Σ_{y<l<=l1} a_l e^{-cl}(1 - e^{y-l}),

    S - U (b + d)  <=  F(y)  <=  S + U d,      U = M(c) e^{-cy},

b and d the tilted masses below and above the window: what was wrapped into the window weighs at most e^{-cy} there, and
losses above the window have probability at most U d.  For any x > c, d <= e^{-(x-c)l2} M(x)/M(c) (Chernoff), l2 the
next place above the window, and with some x < c and the next place below it the same bounds b.

Laws off the lattice, if they have few values a together, are taken apart: F(y) = Σ_a p_a F'(y-a), F' of the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb, ctx

from optcomp.checker.balls import LEAST_BITS, ball, spread, working
from optcomp.checker.effort import look, looked, room
from optcomp.checker.instance import Range
from optcomp.checker.laws import Atomic, TooMuch
from optcomp.checker.sums.listed import Listed
from optcomp.checker.sums.plan import Plan, Sketch
from optcomp.checker.sums.total import Total

_MOST = 1 << 18
"""Places of a transform."""
_MOST_MULTIPLE = 1 << 16  # of the lattice's span that a law's own may be
_FEW = 200  # values of what does not lie on the lattice
_SPARE = 30  # bits for what the transforms lose
_PLACE = 5e-6  # seconds for a place of a transform, about
_LOOK = 63  # a mask: the time that is left is looked at every 64 places


@dataclass(frozen=True)
class Split:
    """Laws on one lattice of span h, and others with few values, of which each is taken by itself."""

    main: Total
    h: Fraction
    others: Total


def split(total: Total) -> Split | None:
    """The laws on a lattice, if there is one that is not too fine and holds all but a few values."""
    if total.gaussians or total.smooth or not total.atomic:
        return None
    ordered = sorted(total.atomic, key=_values, reverse=True)
    main, others, h = [ordered[0]], [], ordered[0][0].span
    for law, copies in ordered[1:]:
        finer = _common(h, law.span)
        if max(each.span for each, _ in [*main, (law, copies)]) > _MOST_MULTIPLE * finer:
            others.append((law, copies))
        else:
            main.append((law, copies))
            h = finer
    if math.prod(map(_values, others)) > _FEW:
        return None
    return Split(Total(tuple(main)), h, Total(tuple(others)))


def _values(law: tuple[Atomic, int]) -> float:
    """How many values a sum has."""
    atoms = law[0].atoms
    return math.inf if atoms is None else (atoms - 1) * law[1] + 1


def _common(left: Fraction, right: Fraction) -> Fraction:
    """The greatest number of which both are multiples."""
    top = math.gcd(left.numerator * right.denominator, right.numerator * left.denominator)
    return Fraction(top, left.denominator * right.denominator)


def on_lattice(found: Split, sketch: Sketch, ys: Sequence[Fraction], bits: float) -> dict[Fraction, Range]:
    """F at neighbouring y, to about so many bits; `sketch` is that of the laws on the lattice."""
    with working(LEAST_BITS):
        moves = list(Listed(found.others).values)
    plan = sketch.plan(float(max(ys)), bits, right=True)
    lowest, highest = min(ys) - max(moves), max(ys) - min(moves)
    reach = Fraction(plan.period)
    places = 1 << max(4, math.ceil((2 * reach + highest - lowest) / found.h).bit_length())
    if places > _MOST:
        raise TooMuch
    copies = max(copies for _, copies in found.main.atomic)
    extra = math.log2(places * copies * (1 + plan.size)) + 2 * plan.c * float(max(moves) - min(moves))
    with working(int(_SPARE - plan.log_tolerance / math.log(2) + extra)):
        shares = Listed(found.others).values
        wrapped = _Wrapped(found.main, found.h, arb(plan.c), places, highest + reach)
        inner = wrapped.excesses(sorted({y - move for y in ys for move in shares}), plan)
        return {y: _mixed(shares, inner, y) for y in ys}


def _mixed(shares: Mapping[Fraction, arb], inner: Mapping[Fraction, Range], y: Fraction) -> Range:
    """Σ_a p_a F(y - a)."""
    low = sum((share * inner[y - move].low for move, share in shares.items()), arb(0))
    high = sum((share * inner[y - move].high for move, share in shares.items()), arb(0))
    return Range(low, high)


class _Wrapped:
    """The tilted law of the sum in a window of the lattice that ends at or below a place."""

    def __init__(self, total: Total, h: Fraction, c: arb, places: int, end: Fraction) -> None:
        self._total, self._h, self._c, self._places = total, h, c, places
        self._first = sum((law.first * copies for law, copies in total.atomic), Fraction(0))
        self._last = math.floor((end - self._first) / h)
        self._log_moment = total.log_moment(c)
        product = [acb(1)] * places
        for law, copies in total.atomic:
            product = [a * wave**copies for a, wave in looked(zip(product, self._transform(law), strict=True))]
        self._interruptible()
        self._masses = [value.real for value in acb.dft(product, inverse=True)]

    def _transform(self, law: Atomic) -> list[acb]:
        """φ at the N nodes; what is left out of the law adds at most its share to each."""
        tilted, multiple = law.tilted(self._c), int(law.span / self._h)
        wrapped = [arb(0)] * self._places
        for number, weight in enumerate(tilted.weights, tilted.start):
            wrapped[number * multiple % self._places] += weight
        known = sum(tilted.weights, arb(0))
        share = tilted.rest / known
        self._interruptible()
        found = acb.dft([acb(weight / known) for weight in wrapped])
        if share.is_zero():
            return list(found)
        off, scale = spread(share), 1 / (1 + arb(0).union(share))
        return [(value + acb(off, off)) * scale for value in found]

    def _interruptible(self) -> None:
        """A transform, once begun, goes on to its end."""
        room(_PLACE * self._places * (1 + ctx.prec / LEAST_BITS))

    def excesses(self, ys: Sequence[Fraction], plan: Plan) -> dict[Fraction, Range]:
        """F at each y."""
        next_above = self._first + (self._last + 1) * self._h
        next_below = next_above - (self._places + 1) * self._h
        above, below = self._outside(plan.above, next_above), self._outside(plan.below, next_below)
        found = {}
        for y in ys:
            unit, inner = (self._log_moment - self._c * ball(y)).exp(), self._inside(y)
            low, high = inner - below - above, inner + above
            found[y] = Range((unit * low).max(arb(0)), (unit * high).min(arb(1)))
        return found

    def _outside(self, exponent: float, end: Fraction) -> arb:
        """Chernoff's bound on the tilted mass from the first place outside of the window on."""
        x = arb(exponent)
        return (self._total.log_moment(x) - self._log_moment - (x - self._c) * ball(end)).exp()

    def _inside(self, y: Fraction) -> arb:
        """Σ a_l e^{-c(l-y)} (1 - e^{y-l}) over the window above y."""
        start = math.floor((y - self._first) / self._h) + 1
        gap, h = ball(self._first + start * self._h - y), ball(self._h)
        total, weight, fall = arb(0), (-self._c * gap).exp(), (-gap).exp()
        weight_step, fall_step = (-self._c * h).exp(), (-h).exp()
        least = arb(2) ** (-2 * ctx.prec)
        for number in range(start, self._last + 1):
            if not number & _LOOK:
                look()
            total += self._masses[number % self._places] * weight * (1 - fall)
            weight, fall = weight * weight_step, fall * fall_step
            if weight < least:  # later terms are positive and add at most that much: all masses together are 1
                return total + arb(0).union(weight)
        return total
