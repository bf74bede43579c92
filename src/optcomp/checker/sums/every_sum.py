r"""Few rounds on countably many losses: every sum of losses, in whole numbers.

Each round has outcomes with masses under P and under Q.  Take of each law finitely many outcomes; let p <= P and q <= Q
be their masses rounded down, in units of 2^-K, and l their losses within two units.  Rounds are put into two halves.
Of each half all sums of losses are listed, order aside, with products of the p and of the q, rounded down; what is next
to nothing is dropped.  So all that is listed has at least the p and the q that are told.  Let D and D' be what is
missing: 1 less the sum of all products of p, and of q.  With E the pairs of a sum of one half and a sum of the other
that come out above y,

    p(E) - e^y (q(E) + D')  <=  F(y)  <=  p(E) + D - e^y q(E) + (e^s - 1),

s the most that a + b - y may be off.  *Left:* F(y) is the largest P(E) - e^y Q(E) over all events, so every E will do.
*Right:* F(y) is attained where the loss is above y.  Outcomes on the wrong side have a loss within s of y, and each
adds at most (e^s - 1) P; P of what is in E or not listed is at most p(E) + D.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from optcomp.checker.balls import ball, near, working
from optcomp.checker.effort import look, looked
from optcomp.checker.instance import Range
from optcomp.checker.laws import Spotted, TooMuch
from optcomp.checker.sums.total import Total

_DIGITS = 160
"""K: sums of a hundred thousand products that were rounded down are then known to 2^-140."""
_UNIT = 1 << _DIGITS  # 1 in these units
_MOST = 400_000
"""Sums of a half: about a second."""
_MOST_ROUNDS = 24  # more have too many sums, and are not tried

Outcome = tuple[int, int, int]
"""Loss, mass under P, mass under Q."""


class _Half(NamedTuple):
    """Sums of losses in ascending order, and the masses of each and all above it."""

    losses: list[int]
    above: list[tuple[int, int]]


def suits(total: Total) -> bool:
    """Whether all laws have atoms, and there are few rounds."""
    rounds = sum(copies for _, copies in total.laws)
    return not total.gaussians and rounds <= _MOST_ROUNDS and all(isinstance(law, Spotted) for law, _ in total.laws)


class EverySum:
    """F of few rounds; `faint` is a mass that may be lost in all."""

    def __init__(self, total: Total, faint: float) -> None:
        rounds = sum(copies for _, copies in total.laws)
        self._slack = 2 * rounds + 1
        least = int(Fraction(faint) * _UNIT / (4 * _MOST))
        first: list[Outcome] = [(0, _UNIT, _UNIT)]
        second = list(first)
        for law, copies in total.laws:
            assert isinstance(law, Spotted)
            outcomes = _outcomes(law, faint / (8 * rounds))
            first = _joined(first, _powers(outcomes, (copies + 1) // 2, least), least)
            second = _joined(second, _powers(outcomes, copies // 2, least), least)
        self._first, self._second = sorted(first), _half(second)
        told = [sum(each[side] for each in self._first) for side in (1, 2)]
        whole = [told[side] * self._second.above[0][side] >> _DIGITS for side in (0, 1)]
        self._missing = _UNIT - whole[0] + 1, _UNIT - whole[1] + 1

    def excess(self, y: Fraction) -> Range:
        """F(y)."""
        place = math.floor(y * _UNIT)
        own = other = 0
        for loss, p, q in looked(self._first):
            number = bisect_right(self._second.losses, place - loss)
            above = self._second.above[number]
            own += p * above[0]
            other += q * above[1]
        grown = ball(y).exp()
        low = _mass(own) - grown * (_mass(other) + _missed(self._missing[1]))
        slip = (arb(self._slack) / _UNIT).expm1()
        high = _mass(own) + _missed(self._missing[0]) - grown * _mass(other) + slip
        return Range(low.max(arb(0)), high.min(arb(1)))


def _mass(value: int) -> arb:
    return arb(value) / _UNIT / _UNIT


def _missed(value: int) -> arb:
    return arb(value) / _UNIT


def _outcomes(law: Spotted, faint: float) -> list[Outcome]:
    """The listed losses of one round; those of next to no mass are left out.

    Tilted by 0 the weights are masses under P, tilted by -1 under Q: P e^{-L}.
    """
    spots = law.spots(arb(0))
    found = []
    for mass, loss in looked(zip(spots.weights, spots.losses, strict=True)):
        other = mass * (-loss).exp()
        if near(mass) > faint / 1000 or near(other) > faint / 1000:
            if not (loss.upper() - loss.lower()) * _UNIT < 1:
                raise TooMuch  # the loss would not be known within two units
            found.append((_down(loss), max(_down(mass), 0), max(_down(other), 0)))
    return found


def _down(value: arb) -> int:
    """The largest whole number of units that is surely not above the value."""
    scaled = (value.lower() * _UNIT).floor().unique_fmpz()
    if scaled is None:
        raise TooMuch
    return int(scaled)


def _powers(outcomes: Sequence[Outcome], copies: int, least: int) -> list[Outcome]:
    """All sums of so many rounds, order aside: outcome by outcome, how often it comes."""
    if not copies:
        return [(0, _UNIT, _UNIT)]
    found: dict[int, list[Outcome]] = {copies: [(0, _UNIT, _UNIT)]}  # by the rounds that are left
    for loss, p, q in outcomes:
        powers = [(0, _UNIT, _UNIT)]
        for _ in range(copies):
            last = powers[-1]
            powers.append((last[0] + loss, last[1] * p >> _DIGITS, last[2] * q >> _DIGITS))
        grown: dict[int, list[Outcome]] = {}
        for left, sums in found.items():
            for times in range(left + 1):
                look()
                ways = math.comb(left, times)
                add, more, again = powers[times][0], powers[times][1] * ways, powers[times][2] * ways
                part = _times(sums, add, more, again, least)
                grown.setdefault(left - times, []).extend(part)
        found = grown
        if sum(map(len, found.values())) > _MOST:
            raise TooMuch
    return found[0]


def _times(sums: Sequence[Outcome], loss: int, p: int, q: int, least: int) -> list[Outcome]:
    """Sums with one more loss; what is next to nothing under both laws is dropped."""
    found = []
    for place, own, other in sums:
        more, again = own * p >> _DIGITS, other * q >> _DIGITS
        if more > least or again > least:
            found.append((place + loss, more, again))
    return found


def _joined(left: Sequence[Outcome], right: Sequence[Outcome], least: int) -> list[Outcome]:
    """Sums of one of these and one of those."""
    if len(left) * len(right) > _MOST:
        raise TooMuch
    return [each for loss, p, q in looked(right) for each in _times(left, loss, p, q, least)]


def _half(sums: Sequence[Outcome]) -> _Half:
    ordered = sorted(sums)
    above, own, other = [(0, 0)], 0, 0
    for _, p, q in reversed(ordered):
        own, other = own + p, other + q
        above.append((own, other))
    return _Half([loss for loss, _, _ in ordered], above[::-1])


def every_sum(total: Total, ys: Sequence[Fraction], faint: float) -> dict[Fraction, Range]:
    """F at some places."""
    with working(2 * _DIGITS):
        found = EverySum(total, faint)
        return {y: found.excess(y) for y in ys}
