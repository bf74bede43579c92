"""The certified answers: the root of the excess, and the excess at a place, each between two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from optcomp.numerics.blocked import U
from optcomp.numerics.contour.anchor import Anchor, Source
from optcomp.numerics.contour.integral import Sides
from optcomp.numerics.contour.plan import Contour, Outline, Saddle, make_contour, saddle_at, saddle_for
from optcomp.numerics.roots import Side, certified_root

_ROUNDS = 4  # quadratures at most: the second is placed well, and two more make up for a bad guess
_FEW = 300  # with fewer variables the saddle point is not to be trusted
_ROUGH, _ROUGH_ROUNDS, _ROUGH_WORK = 1e-3, 40, 2e7
"""Relative width, number and nanoseconds of the rough quadratures that look for a start."""
_CLOSE = 0.1  # of 1/tilt: a step of Newton's method that is shorter ends well enough
_SHORT = 0.05  # of 1/tilt: so far the rough smoothing may move y
_FIRST, _PART = 2048, 8  # nodes, or one in so many, that tell the place well enough for Newton's first steps
_MOST_STEPS, _LONG = 60, 1e-9
"""Looks in one direction before an end is given up; and the part of a place to which a proved end is moved back."""
_NOTHING = 1e-14  # ends closer than this are not moved: halving towards 0 would take a thousand looks
_MOST_LOST = 12  # places that prove nothing at all
_AIM, _FINE, _FINE_AIM = 0.75, 1e-11, 0.6
"""The share of the wanted width that goes to the smoothing; of widths below 1e-11 round-off needs more."""


@dataclass(frozen=True)
class Bracket:
    """lower <= the answer <= upper, the free choices that gave it; `capped` if it ended before the aim was reached."""

    lower: float
    upper: float
    plan: Contour
    nodes: int
    capped: bool

    def meet(self, other: Bracket) -> Bracket:
        """Both brackets hold, so their intersection does."""
        return replace(self, lower=max(self.lower, other.lower), upper=min(self.upper, other.upper))


@dataclass(frozen=True)
class Goal:
    """t and 1 - t as logs between two floats."""

    log_t: tuple[float, float]
    log_rest: tuple[float, float]


def excess_root(source: Source, target: Goal, rtol: float, work: float) -> tuple[Bracket, Anchor]:
    """The y >= 0 with E(1 - e^{y-L})_+ = t, or 0 if the excess is at most t everywhere."""
    saddle = saddle_for(source, sum(target.log_t) / 2, sum(target.log_rest) / 2)
    if source.count < _FEW or saddle.y < 1e-2 * source.total:
        saddle = _settled(source, saddle, target)
    best: Bracket | None = None
    aim = rtol if saddle.y else _ROUGH
    for _ in range(_ROUNDS):
        made = source.anchor(_root_plan(source, saddle, aim), work)
        found = root(made, target)
        before, best = best, found if best is None else found.meet(best)
        width = best.upper - best.lower
        work -= made.work
        if width <= rtol * best.upper or made.capped or work < made.work:
            break
        if before is not None and saddle.y and width > 0.6 * (before.upper - before.lower):
            break  # what is left is round-off
        y = 0.5 * (found.lower + found.upper)
        if width < 0.5 * best.upper and abs(y - saddle.y) > 0.02 * (saddle.y + 1 / abs(saddle.tilt)):
            saddle = _aimed(source, y, target)
        else:
            aim *= min(max(0.5 * rtol * best.upper / width, 0.01), 0.5)
    assert best is not None
    return replace(best, capped=not best.upper - best.lower <= rtol * best.upper), made


def _root_plan(source: Outline, saddle: Saddle, aim: float) -> Contour:
    """A contour for a root of this relative width."""
    scale = saddle.y or 1e-3 * source.total
    share = _AIM if aim > _FINE else _FINE_AIM
    return make_contour(source, saddle, share * aim * scale / (1 + saddle.tilt), aim * scale * abs(saddle.tilt))


def root_plan(source: Outline, target: Goal, rtol: float) -> Contour:
    """About the contour that `excess_root` begins with."""
    return _root_plan(source, saddle_for(source, sum(target.log_t) / 2, sum(target.log_rest) / 2), rtol)


def excess_plan(source: Outline, y: float, rtol: float) -> Contour:
    """The contour that `excess_at` begins with."""
    saddle = saddle_at(source, y)
    return make_contour(source, saddle, *_excess_aim(saddle, rtol))


def _aimed(source: Source, y: float, target: Goal) -> Saddle:
    """The saddle at y, where H is known to be about what is wanted."""
    saddle = saddle_at(source, y)
    return replace(saddle, log_h=sum(target.log_t if saddle.excess else target.log_rest) / 2)


def _settled(source: Source, saddle: Saddle, target: Goal) -> Saddle:
    """A better start where the saddle point is not to be trusted: rough quadratures, each centred at the last guess."""
    low, high, y = 0.0, source.total, saddle.y
    for _ in range(_ROUGH_ROUNDS):
        here = saddle_at(source, y)
        smoothing = min(_ROUGH * max(y, 1e-3 * source.total), _SHORT / abs(here.tilt)) / (1 + here.tilt)
        made = source.anchor(make_contour(source, here, smoothing, _ROUGH), _ROUGH_WORK)
        sides = made.integral.sides(y)
        if not math.isfinite(sides.middle) or not sides.slope:
            break
        missing = sum(target.log_t if here.excess else target.log_rest) / 2 - sides.middle
        low, high = (y, high) if (missing < 0) == here.excess else (low, y)
        after = y + missing / sides.slope
        if not low < after < high:
            after = 0.5 * (low + high) if high - low > 1e-9 * source.total else low
        close = abs(after - y) <= _CLOSE * min(y, 1 / abs(here.tilt)) or after < 1e-8 * source.total
        y = after
        if close:
            break
    return _aimed(source, y if y > 1e-8 * source.total else 0.0, target)


def root(made: Anchor, target: Goal) -> Bracket:
    """Newton to about the root, with the first nodes and then with all; then each end outwards until it is proved."""
    integral, plan = made.integral, made.integral.plan
    goal = sum(target.log_t if plan.excess else target.log_rest) / 2
    y = plan.y
    size = made.nodes.theta.size
    if size > 2 * _FIRST:
        first = max(_FIRST, size // _PART)
        y = _newton(lambda place: integral.middle(place, first), y, goal, made.total, plan)
    known: dict[float, Sides] = {}

    def look(place: float) -> Sides:
        known[place] = known.get(place) or integral.sides(place)
        return known[place]

    y = _newton(lambda place: (look(place).middle, look(place).slope), y, goal, made.total, plan)
    above, below = _above(plan, target), _below(plan, target)

    def side(place: float) -> Side:
        sides = look(place)
        if above(sides) >= 0:
            return Side.LEFT
        return Side.RIGHT if below(sides) >= 0 else Side.UNDECIDED

    def places() -> Iterator[float]:
        for direction, margin in ((-1, below), (1, above)):
            yield from _outwards(y, direction, look, margin, made)
        if y <= _LONG * made.total:
            yield 0.0

    low, high = certified_root(side, 0.0, made.total, places(), _halfway)
    return Bracket(low, high, plan, made.nodes.theta.size, made.capped)


def _newton(look: Callable[[float], tuple[float, float]], y: float, goal: float, total: float, plan: Contour) -> float:
    """About where log H reaches the goal; kept between the last two signs."""
    low, high = 0.0, total
    for _ in range(80):
        middle, slope = look(y)
        low, high = (y, high) if (middle > goal) == plan.excess else (low, y)
        after = y + (goal - middle) / slope if math.isfinite(middle) and slope else math.nan
        if not low <= after <= high:
            after = 0.5 * (low + high)
        close = abs(after - y) <= 1e-14 * y + 1e-3 * plan.smoothing
        y = after
        if close:
            break
    return y


def _above(plan: Contour, target: Goal) -> Callable[[Sides], float]:
    """By how much (in log H) F(y) <= t is proved: negative if it is not."""
    if plan.excess:
        return lambda sides: target.log_t[0] - sides.most
    return lambda sides: sides.least - target.log_rest[1]


def _below(plan: Contour, target: Goal) -> Callable[[Sides], float]:
    """By how much F(y) >= t is proved."""
    if plan.excess:
        return lambda sides: sides.least - target.log_t[1]
    return lambda sides: target.log_rest[0] - sides.most


def _outwards(
    y: float, direction: int, look: Callable[[float], Sides], margin: Callable[[Sides], float], made: Anchor
) -> Iterator[float]:
    """Places further and further in a direction, until the margin is proved or nothing more is to be expected."""
    step, lost, end = 0.0, 0, made.total if direction > 0 else 0.0
    least = max(4e-16 * abs(y), 0.1 * made.integral.plan.smoothing)
    for _ in range(_MOST_STEPS):
        yield y
        sides = look(y)
        missing = -margin(sides)
        lost += not math.isfinite(missing)
        room = (end - y) * direction
        if missing <= 0 or lost > _MOST_LOST or room <= least:
            return
        newton = missing / abs(sides.slope) if sides.slope and math.isfinite(missing) else 0.0
        step = max(1.05 * newton, 8 * step if newton == 0 else 0.25 * step, least)
        y += direction * min(step, 0.5 * room)  # a flat stretch before a corner tells nothing of the end


def _halfway(low: float, high: float) -> float | None:
    """After a long step back to nearly the first place that is proved."""
    middle = 0.5 * (low + high)
    return middle if high - low > max(_LONG * high, _NOTHING) and low < middle < high else None


def excess_at(source: Source, y: float, rtol: float, work: float) -> tuple[Bracket, Anchor]:
    """log E(1 - e^{y-L})_+ between two floats."""
    saddle = saddle_at(source, y)
    best: Bracket | None = None
    aim = rtol
    for _ in range(_ROUNDS):
        made = source.anchor(make_contour(source, saddle, *_excess_aim(saddle, aim)), work)
        found = excess(made, y)
        best = found if best is None else found.meet(best)
        width = -math.expm1(best.lower - best.upper)
        work -= made.work
        if width <= rtol or made.capped or work < made.work:
            break
        middle = made.integral.sides(y).middle
        if math.isfinite(middle):
            saddle = replace(saddle, log_h=min(middle, -1e-300))
        aim *= min(max(0.5 * rtol / width, 0.01), 0.5)
    assert best is not None
    return replace(best, capped=not -math.expm1(best.lower - best.upper) <= rtol), made


def excess(made: Anchor, y: float) -> Bracket:
    """log E(1 - e^{y-L})_+ between two floats, from one quadrature."""
    sides, plan = made.integral.sides(y), made.integral.plan
    low, high = (sides.least, sides.most) if plan.excess else (_log_rest(sides.most), _log_rest(sides.least))
    slack = 8 * U * (1 + abs(low)), 8 * U * (1 + abs(high))
    return Bracket(low - slack[0], min(high + slack[1], 0.0), plan, made.nodes.theta.size, made.capped)


def _excess_aim(saddle: Saddle, rtol: float) -> tuple[float, float]:
    """Smoothing and relative error of H for a relative error of F."""
    ratio = 1.0 if saddle.excess else -math.expm1(saddle.log_h) / math.exp(max(saddle.log_h, -600.0))
    c = abs(saddle.tilt)
    return _AIM * rtol * ratio / (c * (1 + saddle.tilt)), rtol * ratio


def _log_rest(log_h: float) -> float:
    """log(1 - e^log_h), within a few u of 1 + itself; -inf if nothing is left."""
    return math.log(-math.expm1(log_h)) if log_h < 0 else -math.inf
