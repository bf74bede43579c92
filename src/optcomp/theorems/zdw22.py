r"""ZDW22, composition of dominating pairs: the losses of the mechanisms' worst pairs add up as independent variables.

    δ(ε) = 1 - (1 - h(ε)) \prod(1 - δ_i),   h(ε) = E(1 - e^{ε-L})_+,   L the sum of all finite losses

An (ε, δ) pair counts as leaky randomized response, which dominates all that it allows.  Where adding and removing a
person differ, both sums are computed and the worse one counts.  Both sides are certified by the contour integral.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.instances import Laws, Mixture, leak, slack, with_leaks
from optcomp.numerics import (
    FLOAT_BITS,
    Exact,
    Side,
    ball,
    decimal_down,
    decimal_up,
    float_above,
    float_down,
    float_up,
    precision,
    side_of,
    told_down,
    told_root,
    told_up,
)
from optcomp.numerics.contour import (
    Bracket,
    Contour,
    Independent,
    excess_at,
    excess_plan,
    excess_root,
    root_plan,
    short,
)
from optcomp.numerics.grids import Found, Way, way_for
from optcomp.numerics.laws import GluedNormalLaw, Law, MixedNormalLaw, ReplacedNormalLaw
from optcomp.theorems import far_rounds, labels
from optcomp.theorems.bound import Bound
from optcomp.theorems.curves import ClosedForms
from optcomp.theorems.mv18_1_5 import LEAK
from optcomp.theorems.opt import CAPPED, Effort, exponential, goal_for
from optcomp.theorems.target import Quantity, Target

ID, METHOD, ON_GRID, ALONE = "ZDW22", "contour", "grid", "closed form"
_USUAL = Effort()
_NO_PLAN = Contour(True, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_GLANCE = 1e-2, 2e7
"""Width and work for a first look."""
_TILTS = np.exp(np.linspace(-12, 14, 53))
_ON_GRID = replace(_NO_PLAN)
"""In place of a contour's choices, where a grid was used."""
_FEW, _FIRST_WORK = 4, 1.5e8
"""Up to so many subsampled rounds the grid comes first, and where the contour would take more work than that."""
_SOME, _MORE_WORK, _MOST_WORK = 64, 1.2e9, 4e9
"""From so many rounds on the grid is less good, and the contour may take more: such guesses are twice too large or
more.  And the most for which it is tried after a grid that was not fine enough."""
_FIRST_REPLACED = 4.5e8
"""The work of a first contour where records are replaced: a value of the law takes longer, and so does a grid."""
_MOST_ON_GRID = 2000
"""More subsampled rounds are left to the contour: splitting a loss costs as much for each."""
_LOOSE, _LOOSE_ROUNDS, _LOOSE_WORK = 1e-7, 400, 2.5e7
"""A relative width and a number of rounds for which a grid of bearable size does, and the work that it may take before
anything else is tried."""
_ROUGH, _SOON = 1e-3, 2e3
"""The relative width of a first grid, which tells where the answer is; and how many times the wanted width it may be
wide for a finer one to be the quickest way."""
_WIDE, _NOTHING = 1e-7, 1e-12
"""A relative width at which another way is worth its time, and an ε that nobody can tell from 0."""
_CLEARLY = 1 - 1e-9
"""Below this part of the sum of all ε, that sum is of no use as a bound."""
_BEYOND_ALL = 1e30
"""An ε beyond the loss of 10¹⁵ copies of any mechanism."""
_LEAST_GRID_WIDTH = 1e-11
"""Grids are not made finer than that: their error falls with the square of their width only."""


def epsilon_at(mixture: Mixture, delta: Exact, effort: Effort = _USUAL) -> Bound:
    """ε between floats, for any mechanisms but notions."""
    t = slack(mixture.leaky, delta, FLOAT_BITS)
    if t < 0:
        return bound("epsilon", mixture, delta, math.inf, math.inf, notes=(LEAK,))
    if t == 0:
        return _without_slack(mixture, delta)
    goal = goal_for(t)

    def root(laws: Laws, _: int, known: float) -> Bracket | None:
        return _either(
            laws,
            effort,
            lambda work: by_contour(laws, known, work),
            lambda: math.inf if known else about(laws),
            lambda way, rtol, work: way.root(goal.log_t, rtol, work, known),
            lambda found: (found.upper - found.lower - _NOTHING) / found.upper if found.upper > known else 0.0,
            lambda found: labels.root(laws, goal, found or _unknown(0.0, _end(laws, goal.log_t[0])), effort),
        )

    def about(laws: Laws) -> float:
        source = Independent(laws, _end(laws, goal.log_t[0]))
        return source.about_work(root_plan(source, goal, effort.rtol))

    def by_contour(laws: Laws, known: float, work: float) -> Bracket | None:
        source = Independent(laws, _end(laws, goal.log_t[0]))
        if known > 0 and excess_at(source, known, *_GLANCE)[0].upper < goal.log_t[0]:
            return None  # nothing beyond what the other direction costs anyway
        least, most = _top_lower(laws, goal.log_t[1]), support(laws)
        if math.isfinite(most) and most - least <= effort.rtol * most:
            return Bracket(least, most, _NO_PLAN, 0, False)
        found = excess_root(source, goal, effort.rtol, work)[0]
        if found.capped:
            found = labels.root(laws, goal, found, replace(effort, work=work))
        if found.capped:
            found = far_rounds.root(laws, goal, found, lambda log_t: _end(laws, log_t), replace(effort, work=work))
        return replace(found, lower=max(found.lower, min(least, found.upper)))

    if alone(mixture):
        ends = [_single_root(law, t) for law in mixture.losses[0][0].laws]
        most = min(max(high for _, high in ends), basic(mixture))
        return bound("epsilon", mixture, delta, max(low for low, _ in ends), most, method=ALONE)
    lower, upper, found = _worst(mixture, root)
    return epsilon_bound(mixture, delta, lower, upper, found)


def delta_at(mixture: Mixture, epsilon: Exact, effort: Effort = _USUAL) -> Bound:
    """δ between floats, for any mechanisms but notions."""
    with precision(FLOAT_BITS):
        ends = float_down(ball(epsilon)), float_up(ball(epsilon))
    if epsilon > _BEYOND_ALL:  # at a smaller ε δ is larger, and beside its leaks 0 as a float
        ends = _BEYOND_ALL, math.inf

    if alone(mixture):
        with precision(FLOAT_BITS):
            values = [with_leaks(mixture.leaky, law.excess(ends[0]).max(arb(0))) for law in mixture.losses[0][0].laws]
            others = [with_leaks(mixture.leaky, law.excess(ends[1]).max(arb(0))) for law in mixture.losses[0][0].laws]
            low, high = max(map(told_down, others)), max(map(told_up, values))
        return bound("delta", mixture, epsilon, max(low, 0.0), min(high, 1.0), method=ALONE)

    def excess(laws: Laws, rounding: int, _: float) -> Bracket | None:
        source, y = Independent(laws, support(laws)), ends[0] if rounding > 0 else ends[1]
        if not y < source.total:
            return None

        def by_contour(work: float) -> Bracket:
            found = excess_at(source, y, effort.rtol, work)[0]
            if found.capped:
                found = labels.excess(laws, y, found, replace(effort, work=work))
            return far_rounds.excess(laws, y, found, replace(effort, work=work)) if found.capped else found

        return _either(
            laws,
            effort,
            by_contour,
            lambda: source.about_work(excess_plan(source, y, effort.rtol)),
            lambda way, rtol, work: way.excess(y, rtol, work),
            lambda found: found.upper - found.lower,
            lambda found: labels.excess(laws, y, found or _unknown(-math.inf, 0.0), effort),
        )

    low, high, found = _worst(mixture, excess, ends[0] == ends[1])
    return delta_bound(mixture, epsilon, low, high, found)


def epsilon_bound(mixture: Mixture, delta: Exact, lower: float, upper: float, found: Sequence[Bracket]) -> Bound:
    """The place between two floats as a Bound on ε, never beyond the sum of all ε."""
    most = decimal_up(upper)
    if not most < clearly_less(mixture):
        most = min(most, basic(mixture))
    return bound("epsilon", mixture, delta, max(decimal_down(lower), 0.0), most, found)


def delta_bound(mixture: Mixture, epsilon: Exact, low: float, high: float, found: Sequence[Bracket]) -> Bound:
    """The log of the excess between two floats as a Bound on δ; beyond the sum of all ε only leaks are left."""
    with precision(FLOAT_BITS):
        lower = told_down(with_leaks(mixture.leaky, exponential(low)))
        upper = told_up(with_leaks(mixture.leaky, exponential(high)))
        total = exact_basic(mixture)
        if total is not None and total <= epsilon:
            upper = min(upper, told_up(leak(mixture.leaky)))
    return bound("delta", mixture, epsilon, max(min(lower, upper), 0.0), min(upper, 1.0), found)


def in_closed_form(mixture: Mixture, target: Target, closed: ClosedForms, wanted: float = 0.0) -> Bound:
    """What closed forms prove by themselves, where δ leaves room beside the leaks; little if that is too wide."""
    given = target.given
    ends = closed.delta(given) if target.quantity == "delta" else closed.epsilon(given, 0.0, basic(mixture), wanted)
    return bound(target.quantity, mixture, given, *ends, method=ALONE)


def _worst(
    mixture: Mixture, ask: Callable[[Laws, int, float], Bracket | None], exact: bool = True
) -> tuple[float, float, list[Bracket]]:
    """The larger answer of the directions; what is not a float is rounded up for one side and down for the other.

    Each direction is told the lower side known so far, and answers nothing if it is no larger.
    """
    found: list[tuple[float, Bracket]] = []
    with np.errstate(all="ignore"):
        for way in mixture.directions:
            known = max((lower for lower, _ in found), default=0.0)
            up = ask(mixture.laws(way, +1), +1, known)
            if up is None:
                continue
            down = up if exact and mixture.pairs.exact_sizes else ask(mixture.laws(way, -1), -1, 0.0)
            found.append((down.lower if down is not None else -math.inf, up))
    nothing = -math.inf
    lower, upper = (
        max(column, default=nothing) for column in ((low for low, _ in found), (up.upper for _, up in found))
    )
    return lower, upper, [up for _, up in found]


def alone(mixture: Mixture) -> bool:
    """Whether there is one mechanism only, whose curve is known in closed form."""
    return mixture.count - mixture.pairs.count == 1 and not mixture.pairs.kinds and len(mixture.losses) == 1


def _single_root(law: Law, t: arb) -> tuple[float, float]:
    """The least y >= 0 with E(1 - e^{y-L})_+ <= t, between neighbouring floats (or further apart where undecided)."""

    def side(y: Exact) -> Side:
        with precision(2 * FLOAT_BITS):
            return side_of(law.excess_over(ball(y), t))

    return told_root(side)


def _either(
    laws: Laws,
    effort: Effort,
    contour: Callable[[float], Bracket | None],
    about: Callable[[], float],
    grid: Callable[[Way, float, float], Found | None],
    width: Callable[[Bracket], float],
    labelled: Callable[[Bracket | None], Bracket],
) -> Bracket | None:
    """By the contour or on a grid: the one that promises more first, and the other where that is wide.

    `about` guesses the work of the contour; `width` is what counts of that of a bracket, relatively.
    """
    sampled = isinstance(laws[0][0], MixedNormalLaw | ReplacedNormalLaw | GluedNormalLaw)
    rounds = sum(count for _, count in laws) if sampled else 0
    way = way_for(laws) if effort.rtol >= _LEAST_GRID_WIDTH and rounds <= _MOST_ON_GRID else None
    if way is None:
        return contour(effort.work)
    if effort.rtol >= _LOOSE and _FEW < rounds <= _LOOSE_ROUNDS:
        quick = grid(way, effort.rtol, min(effort.work, _LOOSE_WORK))
        if quick is not None and not quick.capped:
            return bracket_of(quick)
    replaced = rounds > _FEW and not isinstance(laws[0][0], MixedNormalLaw)
    dear = about() if rounds > _FEW and not replaced else math.inf
    first: Bracket | None = None
    if asked := replaced or dear < (_MORE_WORK if rounds >= _SOME else _FIRST_WORK):
        first = contour(min(effort.work, _FIRST_REPLACED) if replaced else effort.work)
        if first is None or not first.capped:
            return first
    elif rounds > _FEW:
        rough = grid(way, max(_ROUGH, effort.rtol), effort.work)
        known = None if rough is None else replace(bracket_of(rough), capped=True)
        off = 1.0 if known is None else width(known)
        if rough is not None and off <= effort.rtol:
            return bracket_of(rough)
        if off > _SOON * effort.rtol and not (by_labels := labelled(known)).capped:
            return by_labels
    on_grid = grid(way, effort.rtol, effort.work)
    if on_grid is None:
        return first if asked and not replaced else contour(effort.work)
    found = bracket_of(on_grid) if first is None else bracket_of(on_grid).meet(first)
    if found.capped and rounds > _FEW and not (by_labels := labelled(found)).capped:
        return by_labels
    if (asked and not replaced) or not (width(found) > max(_WIDE, effort.rtol) or (found.capped and dear < _MOST_WORK)):
        return found
    other = contour(effort.work)
    if other is None:
        return other
    return found.meet(other) if other.capped else other.meet(found)


def _unknown(lower: float, upper: float) -> Bracket:
    """What is known before anything was asked."""
    return Bracket(lower, upper, _NO_PLAN, 0, True)


def bracket_of(found: Found) -> Bracket:
    """An answer of a way as one of the contour."""
    return Bracket(found.lower, found.upper, _ON_GRID if found.gridded else _NO_PLAN, found.places, found.capped)


def support(laws: Laws) -> float:
    """At least the largest loss."""
    return math.fsum(count * law.most for law, count in laws) * (1 + 1e-14)


def _end(laws: Laws, log_t: float) -> float:
    """A place at which the excess is at most t: the largest loss, or one that Chernoff's bound gives."""
    guess = Independent(laws, math.inf).log_mean_guess(_TILTS)
    places = (guess - log_t) / _TILTS
    c = float(short(_TILTS[[int(np.argmin(np.where(np.isfinite(places), places, math.inf)))]])[0])
    with precision(FLOAT_BITS):
        value = sum((count * law.log_mean(c) for law, count in laws), arb(0))
        chernoff = float_up((value - arb(log_t)) / arb(c))
    return min(max(chernoff, 1e-300), support(laws))


def _top_lower(laws: Laws, log_t: float) -> float:
    """From the top atom alone: its mass A and place give F(y) >= A (1 - e^{y - top})."""
    tops = [count * law.log_top for law, count in laws]
    share = log_t - math.fsum(tops) + 1e-14 * (abs(log_t) + sum(map(abs, tops)))  # at least log(t/A)
    if not share < 0:
        return 0.0
    room = math.log(-math.expm1(share))
    return max(support(laws) * (1 - 1e-13) + room - 1e-14 * abs(room), 0.0)


def _without_slack(mixture: Mixture, delta: Exact) -> Bound:
    """δ is spent on leaks to the last bit: only the largest possible loss is left."""
    most = max(support(mixture.laws(way, +1)) for way in mixture.directions)
    lower = most * (1 - 1e-13) if math.isfinite(most) else most
    return bound("epsilon", mixture, delta, lower, min(most, basic(mixture)))


def basic(mixture: Mixture) -> float:
    """The sum of all ε, rounded up, if every mechanism has one."""
    total = exact_basic(mixture)
    if total is None:
        return math.inf
    return float_above(total)


def clearly_less(mixture: Mixture) -> float:
    """Clearly less than the same, at once; 0 if that takes arithmetic of its own."""
    if mixture.pairs.kinds:
        return 0.0
    return _CLEARLY * math.fsum(
        count * float(math.inf if value.pure is None else value.pure) for value, count in mixture.others
    )


def exact_basic(mixture: Mixture) -> Fraction | None:
    """The sum of all ε, if every mechanism has one."""
    total = sum((count * Fraction(eps) for eps, count in mixture.pairs.coins), Fraction(0))
    for value, count in mixture.others:
        if value.pure is None:
            return None
        total += count * Fraction(value.pure)
    return total


def bound(
    quantity: Quantity,
    mixture: Mixture,
    given: Exact,
    lower: float,
    upper: float,
    found: Sequence[Bracket] = (),
    notes: tuple[str, ...] = (),
    method: str = METHOD,
) -> Bound:
    """A bracket as a Bound."""
    capped = (CAPPED,) if any(bracket.capped for bracket in found) else ()
    if found and max(found, key=lambda bracket: bracket.upper).plan is _ON_GRID:
        method = ON_GRID
    return Bound(
        quantity=quantity,
        lower=min(lower, upper),
        upper=upper,
        given=given,
        theorem=ID,
        method=method,
        count=mixture.count,
        notes=(*notes, *capped),
    )
