r"""Rounds of subsampled Gaussian noise labelled none, middle or giant by how far out x is, each part with its own tilt.

    F(y) = E[(1 - e^{y-L})_+; all none] + E[...; some middle, no giant] + E[...; some giant]

The first two are contour integrals.  With G the event of some giant, and L_i >= l_i for a round i that is one,

    P(G) - e^y Q(G) <= third part <= P(G) - e^y Q(G) + e^y Q(G, L < y),
    Q(G, L < y) <= sum n_i Q(x_i giant) min(1, e^{-a(l_i - y)} \prod E_Q[e^{-aL_j}]^{n_j}) for every a > 0,

because the other losses must then add up to less than y - l_i.  Proved in `docs/losses.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from flint import arb

from optcomp.instances import Laws
from optcomp.numerics import FLOAT_BITS, U, ball, float_down, float_up, precision
from optcomp.numerics.contour import (
    Anchor,
    Bracket,
    Contour,
    Goal,
    Independent,
    Integral,
    Saddle,
    Sides,
    SomeMiddle,
    log_reach,
    make_contour,
    saddle_at,
    short,
)
from optcomp.numerics.contour import root as root_of
from optcomp.numerics.laws import MixedNormalLaw, PartNormalLaw, tails
from optcomp.theorems.label_guess import Ends, bound_at, ends_at, place_of
from optcomp.theorems.opt import Effort

_MOST_MU = 20.0
"""Panels are as narrow as the noise: with less noise there would be too many."""
_PASSES = 5
"""Labels and contours that are tried: the first ones tell where the root is."""
_MOST_WORK = 4e8
"""Nanoseconds that a part may take: if nothing fades, another way is better."""
_LEAST_WORK = 1e6
"""With a smaller cap no labels are looked for: the search alone takes more."""
_FEW = 500
"""Rounds up to which the logs of exponential moments are computed in floats: some 1e-14 of each is 1e-11 of F."""
_NEGLIGIBLE = math.log(1e-13)
"""A part that is so little of the excess gets no contour."""
_SLACK = 1e-9
"""For the round-off of Chernoff's bound, relative to its terms: K of many rounds may be large."""
_AIM = 0.25
"""The share of the wanted width that a part may cost."""
_SMOOTHED = 0.3
"""The share of the wanted width that goes to smoothing."""
_LOOKS, _CLOSE, _MOST_SHARE = 2, 1.0, 25.0
"""Contours of a part, logs of sizes that are about the same, and by how much a part may be smaller than F to be planned
for."""
_CLEAR = 1e-3
"""A relative distance at which labels for one place are good for the other."""
_LOOSEST = 0.1
"""The largest relative error of a part that a plan is made for."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rounds with their labels."""

    rounds: list[tuple[MixedNormalLaw, int]]
    ends: Ends

    @cached_property
    def none(self) -> list[tuple[PartNormalLaw, int]]:
        """The rounds, as far as they have no label."""
        pairs = zip(self.rounds, self.ends.none, strict=True)
        return [(PartNormalLaw(law, -math.inf, end, quick=self._few), count) for (law, count), end in pairs]

    @cached_property
    def middle(self) -> list[PartNormalLaw | None]:
        """The same rounds in the middle, as far as there is one."""
        ends = zip(self.rounds, self.ends.none, self.ends.giant, strict=True)
        return [PartNormalLaw(law, low, high, quick=self._few) if low < high else None for (law, _), low, high in ends]

    @property
    def _few(self) -> bool:
        """Whether K in floats is good enough for all rounds together."""
        return sum(count for _, count in self.rounds) <= _FEW

    def parts(self) -> list[Independent]:
        """The sums that have contours."""
        found = [Independent(self.none, math.inf)]
        return [*found, SomeMiddle(self.none, math.inf, self.middle)] if any(self.middle) else found

    @cached_property
    def giant_masses(self) -> tuple[arb, arb]:
        """P(G) and Q(G)."""
        logs = [arb(0), arb(0)]
        for (law, count), end in zip(self.rounds, self.ends.giant, strict=True):
            sides = tails(ball(law.mu), ball(law.q), end)
            logs = [log + count * (-side).log1p() for log, side in zip(logs, sides, strict=True)]
        return -logs[0].expm1(), -logs[1].expm1()

    @cached_property
    def _others(self) -> tuple[arb, list[tuple[arb, arb]]]:
        r"""log \prod E_Q[e^{-aL_j}]^{n_j}, and for each kind n_i Q(x_i giant) and l_i."""
        power, kinds = arb(0), []
        for (law, count), end in zip(self.rounds, self.ends.giant, strict=True):
            mu, q = ball(law.mu), ball(law.q)
            power += count * MixedNormalLaw(law.mu, law.q, "away").log_mean(self.ends.power)
            loss = (q * (mu * arb(end) - mu * mu / 2).expm1()).log1p()
            kinds.append((count * tails(mu, q, end)[1], loss))
        return power, kinds

    def _taken_back(self, y: float) -> arb:
        """At least Q(G, L < y)."""
        power, kinds = self._others
        total = arb(0)
        for mass, loss in kinds:
            total += mass * (power - arb(self.ends.power) * (loss - arb(y))).min(arb(0)).exp()
        return total

    @cached_property
    def log_other(self) -> float:
        """About log Q(G)."""
        mass = float(self.giant_masses[1].mid())
        return math.log(mass) if mass > 0 else -math.inf

    def giants(self, y: float) -> tuple[float, float]:
        """The logs of two numbers with the third part between them."""
        with precision(FLOAT_BITS):
            own, other = self.giant_masses
            sure = own - arb(y).exp() * other
            most = (sure + arb(y).exp() * self._taken_back(y)).min(own)
            return float_down(sure.log()) if sure > 0 else -math.inf, float_up(most.log())


class Joint(Integral):
    """All parts at once, as a function of y."""

    def __init__(self, labelled: Labelled, parts: list[Callable[[float], Sides]], plan: Contour) -> None:
        self.labelled, self.parts, self.plan = labelled, parts, plan

    def sides(self, y: float) -> Sides:
        """log F(y) between two numbers."""
        known = [part(y) for part in self.parts]
        giants = self.labelled.giants(y)
        least = _log_sum([part.least for part in known] + [giants[0]], -1)
        most = _log_sum([part.most for part in known] + [giants[1]], +1)
        middle = _log_sum([part.middle for part in known] + [giants[0]], 0)
        slopes = [part.slope * math.exp(part.middle - middle) for part in known if math.isfinite(part.middle)]
        slope = math.fsum(slopes) - math.exp(min(y + self.labelled.log_other - middle, 600.0))
        return Sides(least, most, middle, slope)

    def middle(self, y: float, first: int) -> tuple[float, float]:
        """About log F(y) and its slope."""
        here = self.sides(y)
        return here.middle, here.slope


def _log_sum(logs: list[float], direction: int) -> float:
    """log of the sum of e^log, rounded outwards."""
    top = max(logs)
    if not math.isfinite(top):
        return top
    total = top + math.log(math.fsum(math.exp(log - top) for log in logs))
    return total + direction * 32 * U * (4 + abs(top))


def root(laws: Laws, goal: Goal, known: Bracket, effort: Effort) -> Bracket:
    """The root of the excess, better than it is known if that helps."""
    rounds = _labelled_rounds(laws) if effort.work >= _LEAST_WORK else None
    if rounds is None or not 0 < known.upper < math.inf or goal.log_t[1] >= math.log(0.5):
        return known
    best, log_t = known, sum(goal.log_t) / 2
    y = place_of(rounds, best.lower, best.upper, log_t)
    for _ in range(_PASSES):
        made = _joint(Labelled(rounds, ends_at(rounds, y, log_t)), y, log_t, lambda _: effort.rtol * y, effort.work)  # noqa: B023
        if made is None:
            break
        after = _newton(made, y, log_t, known)
        if abs(after - y) * abs(made.integral.sides(y).slope) > _CLOSE:
            y = after
            continue
        found = root_of(replace(made, total=known.upper), goal)
        before, best = best.upper - best.lower, found.meet(best)
        width = best.upper - best.lower
        after = 0.5 * (best.lower + best.upper) if width < _CLEAR * best.upper else max(after, best.lower)
        if width <= effort.rtol * best.upper or not (width < 0.5 * before or abs(after - y) > _CLEAR * y):
            break
        y = after
    return replace(best, capped=known.capped and not best.upper - best.lower <= effort.rtol * best.upper)


def _newton(made: Anchor, y: float, log_t: float, known: Bracket) -> float:
    """About where the excess is t, as seen from y; no farther than a half of what is known lies there."""
    here = made.integral.sides(y)
    if not (math.isfinite(here.middle) and here.slope < 0):
        return y
    after = y + (log_t - here.middle) / here.slope
    return min(max(after, 0.5 * (y + known.lower)), 0.5 * (y + known.upper))


def excess(laws: Laws, y: float, known: Bracket, effort: Effort) -> Bracket:
    """log F(y), better than it is known if that helps."""
    rounds = _labelled_rounds(laws) if effort.work >= _LEAST_WORK else None
    if rounds is None or not y > 0:
        return known
    best = known
    for _ in range(_PASSES):
        close = best.upper - best.lower < _CLOSE
        log_f = 0.5 * (best.lower + best.upper) if close else bound_at(rounds, y, best.upper)
        made = _joint(Labelled(rounds, ends_at(rounds, y, log_f)), y, log_f, lambda c: effort.rtol / c, effort.work)
        if made is None:
            break
        sides = made.integral.sides(y)
        before, width = best.upper - best.lower, min(best.upper, sides.most) - max(best.lower, sides.least)
        plan, nodes = made.integral.plan, made.nodes.theta.size
        best = Bracket(max(best.lower, sides.least), min(best.upper, sides.most), plan, nodes, known.capped)
        if -math.expm1(-width) <= effort.rtol or (close and not width < 0.5 * before):
            break
    return replace(best, capped=known.capped and not -math.expm1(best.lower - best.upper) <= effort.rtol)


def _labelled_rounds(laws: Laws) -> list[tuple[MixedNormalLaw, int]] | None:
    """The rounds, if all of them can be labelled."""
    rounds = []
    for law, count in laws:
        if not (type(law) is MixedNormalLaw and law.direction == "towards" and float(law.mu) <= _MOST_MU):
            return None
        rounds.append((law, count))
    return rounds


def _joint(labelled: Labelled, y: float, log_f: float, width: Callable[[float], float], work: float) -> Anchor | None:
    """Contours for all parts about y, F being about e^log_f; `width(c)` is the error of y that does not matter.

    Nothing if all parts but the giants are negligible, if one would take too long, or if most of one lies above y.
    """
    parts: list[Callable[[float], Sides]] = []
    made: Anchor | None = None
    for source in labelled.parts():
        saddle = saddle_at(source, y)
        if not saddle.excess:  # most of this part lies above y: there is no contour, and no bound by a tilt below 0
            return None
        tilt, log_most = _chernoff(source, saddle.tilt)
        if log_most - tilt * y < log_f + _NEGLIGIBLE:
            parts.append(_negligible(tilt, log_most))
            continue
        anchor = _contour(source, saddle, log_f, width(saddle.tilt), work)
        if anchor is None:
            return None
        parts.append(anchor.integral.sides)
        if made is None or anchor.nodes.theta.size > made.nodes.theta.size:
            made = anchor
    if made is None:
        return None
    return replace(made, integral=Joint(labelled, parts, made.integral.plan))


def _contour(source: Independent, saddle: Saddle, log_f: float, width: float, work: float) -> Anchor | None:
    """A contour for one part, unless it is too much work; the second time it is known how large the part is."""
    for _ in range(_LOOKS):
        share = math.exp(min(log_f - saddle.log_h, _MOST_SHARE))
        relative = min(_AIM * width * saddle.tilt * share, _LOOSEST)
        if not relative > 0:  # what is sought is so little that doubles have no share for it
            return None
        plan = make_contour(source, saddle, _SMOOTHED * width * min(share, 1.0) / (1 + saddle.tilt), relative)
        if not source.about_work(plan) < _MOST_WORK:
            return None
        anchor = source.anchor(plan, work)
        size = anchor.integral.sides(saddle.y).middle
        if not size < saddle.log_h - _CLOSE:
            break
        saddle = replace(saddle, log_h=size if math.isfinite(size) else saddle.log_h - _MOST_SHARE)
    return anchor


def _chernoff(source: Independent, tilt: float) -> tuple[float, float]:
    """A tilt c > 0 and at least log κ(c)M(c), for a tilt above 0."""
    c = float(short(np.array([tilt]))[0])
    value, error = source._mean(c)
    return c, value + error + float(log_reach(True, np.array([c]))[0]) + _SLACK * (1 + abs(value))


def _negligible(tilt: float, log_most: float) -> Callable[[float], Sides]:
    """What is known of a part by Chernoff's bound alone."""
    return lambda y: Sides(-math.inf, log_most - tilt * y + _SLACK * (1 + abs(log_most) + tilt * y), -math.inf, 0.0)
