r"""Rounds of Gaussian or discrete Gaussian noise on a sample, so far out that they are far below δ: counted apart.

With N the event that no x is beyond its end, F(y) = E(1 - e^{y-L})_+ lies between

    E[(1 - e^{y-L})_+; N] + max(0, P(not N) - e^y Q(not N))   and   E[(1 - e^{y-L})_+; N] + P(not N).

The first part has no far hump, so its contour may be tilted as much as F asks for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from optcomp.instances import Laws
from optcomp.numerics import FLOAT_BITS, float_down, float_up, precision
from optcomp.numerics.contour import Bracket, Goal, Independent, excess_at, excess_root, saddle_at, saddle_for, short
from optcomp.numerics.laws import CutNormalLaw, CutWholeLaw, MixedNormalLaw, MixedWholeLaw
from optcomp.theorems.opt import Effort, exponential

_SHARE = math.log(1e-12)
"""What the far rounds may be of the excess: it widens the bracket by as much."""
_DEEP = 1e-9
"""What the cut may cost at the tilt in all rounds: where G is larger at the end, φ would not fade."""
_LOOKS, _LEAST, _MOST = 40, 3.0, 38.0
"""Halvings of the search for an end, and where it may lie: beyond 38 deviations no float counts."""
_TRIES = 2
"""For an excess that is hardly known the first try tells where to cut in the second."""


@dataclass(frozen=True, eq=False)
class Near:
    """Losses without their far rounds, and the probabilities of those."""

    laws: Laws
    cut: Sequence[tuple[CutNormalLaw | CutWholeLaw, int]]

    @classmethod
    def of(cls, laws: Laws, log_t: float) -> Near | None:
        """Cut where the far rounds are negligible beside t; none if there is nothing to cut."""
        known: Laws = []
        cut: list[tuple[CutNormalLaw | CutWholeLaw, int]] = []
        for law, count in laws:
            if isinstance(law, MixedNormalLaw | MixedWholeLaw) and law.direction == "towards":
                part = _cut(law, log_t + _SHARE - math.log(count * len(laws)))
                cut.append((part, count))
                known.append((part, count))
            else:
                known.append((law, count))
        return cls(known, cut) if cut else None

    def far(self) -> tuple[arb, arb]:
        """P(not N) and Q(not N)."""
        none = [arb(0), arb(0)]
        for law, count in self.cut:
            none = [log + count * (-side).log1p() for log, side in zip(none, law.beyond(), strict=True)]
        return -none[0].expm1(), -none[1].expm1()

    def least(self, y: arb) -> arb:
        """At most what the far rounds add to the excess at y, and at no place before it."""
        own, other = self.far()
        return (own - y.exp() * other).max(arb(0))

    def deep(self, tilt: float) -> bool:
        """Whether the laws are negligible at their ends."""
        c = float(short(np.array([tilt]))[0])
        return all(count * law.loss_of_cut(c) < _DEEP for law, count in self.cut)


def root(laws: Laws, goal: Goal, known: Bracket, end: Callable[[float], float], effort: Effort) -> Bracket:
    """The root of the excess, better than it is known if that helps; `end` is a place where it is at most e^argument.

    Where the first part is at most t - P(not N), F is at most t. Where it is more than t less what the far rounds add
    up to the known end, F is more than t. So the roots of the first part for these two enclose that of F.
    """
    near = Near.of(laws, goal.log_t[0]) if known.upper > 0 and sum(goal.log_t) / 2 < math.log(0.5) else None
    if near is None:
        return known
    with precision(FLOAT_BITS):
        low = arb(goal.log_t[0]).exp() - near.far()[0]
        high = arb(goal.log_t[1]).exp() - near.least(arb(known.upper))
        if not (low > 0 and high < 1):
            return known
        log_t = float_down(low.log()), float_up(high.log())
        rest = float_down((-high).log1p()), float_up((-low).log1p())
    source = Independent(near.laws, end(log_t[0]))
    if not near.deep(saddle_for(source, sum(log_t) / 2, sum(rest) / 2).tilt):
        return known
    found = excess_root(source, Goal(log_t, rest), effort.rtol, effort.work)[0]
    return _narrower(known, found)


def excess(laws: Laws, y: float, known: Bracket, effort: Effort) -> Bracket:
    """log F(y), better than it is known if that helps."""
    for _ in range(_TRIES):
        near = Near.of(laws, known.lower if math.isfinite(known.lower) else known.upper)
        if near is None:
            break
        source = Independent(near.laws, math.inf)
        saddle = saddle_at(source, y)
        if not (saddle.excess and near.deep(saddle.tilt)):
            break
        first = excess_at(source, y, effort.rtol, effort.work)[0]
        with precision(FLOAT_BITS):
            low = exponential(first.lower) + near.least(arb(y))
            high = exponential(first.upper) + near.far()[0]
            lower = float_down(low.log()) if low > 0 else -math.inf
            known = _narrower(known, replace(first, lower=lower, upper=min(float_up(high.log()), 0.0)))
        if not known.capped or (math.isfinite(first.lower) and known.upper - known.lower < 1):
            break
    return known


def _narrower(known: Bracket, found: Bracket) -> Bracket:
    """Both hold; the aim is reached if one of them reached it."""
    return replace(found.meet(known), capped=known.capped and found.capped)


def _cut(law: MixedNormalLaw | MixedWholeLaw, log_p: float) -> CutNormalLaw | CutWholeLaw:
    """The law up to about the x beyond which the mixture has probability e^log_p."""
    if isinstance(law, MixedNormalLaw):
        return CutNormalLaw(law, float(short(np.array([_end(lambda x: CutNormalLaw(law, x).beyond()[0], log_p)]))[0]))
    sigma, shift = float(law.sigma), law.shift
    end = _end(lambda x: law.from_on(math.ceil(x * sigma) + shift + 1)[0], log_p)
    return CutWholeLaw(law, math.ceil(end * sigma) + shift)


def _end(tail: Callable[[float], arb], log_p: float) -> float:
    """About the place from which on a tail is e^log_p."""
    low, high = _LEAST, _MOST
    with precision(FLOAT_BITS):
        for _ in range(_LOOKS):
            middle = 0.5 * (low + high)
            mass = tail(middle)
            above = bool(mass.log() > arb(log_p)) if mass > 0 else False
            low, high = (middle, high) if above else (low, middle)
    return high
