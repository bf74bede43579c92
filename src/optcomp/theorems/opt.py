r"""OPT, the certified enclosure of optimal composition for any list: a smoothed contour integral.

    lower <= OptComp <= upper,   both sides proved, rounding included; `docs/engine.md` has the proof

The engine works on coins that are floats.  Where an ε_i is not one (or a count is beyond 2^53), the upper side is that
of coins rounded up and the lower side that of coins rounded down: sound, because OptComp grows with every ε_i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from optcomp.instances import Parts, coins_of, slack, with_leaks
from optcomp.numerics import (
    FLOAT_BITS,
    Exact,
    ball,
    decimal_down,
    decimal_up,
    float_down,
    float_up,
    precision,
    told_down,
    told_up,
)
from optcomp.numerics.contour import Anchor, BandSource, Bracket, Coins, Goal, excess_at, excess_root
from optcomp.theorems import mv18_1_5
from optcomp.theorems.bound import Bound
from optcomp.theorems.target import Quantity, Target

ID = "OPT"
METHOD = "contour"
RTOL = 1e-9
"""The relative width aimed at when none is demanded."""
WORK = 2e9
"""The work cap when no width is demanded, in elementary steps of about a nanosecond each."""
FIRST_WORK = 1e8
"""What a first look may cost, before a table on a lattice is tried: on an atom itself the integral converges slowly."""
PATIENT_WORK = 1e10
"""The work cap for a demanded width."""
CAPPED = "wider than aimed at: the cap on the work, or round-off, ended the computation"
_LONG = 1000
"""From so many different ε on a third of the default width costs next to nothing."""


@dataclass(frozen=True)
class Effort:
    """The relative width to aim at, and how much work it may cost."""

    rtol: float = RTOL
    work: float = WORK

    @classmethod
    def of(cls, rtol: float | None) -> Effort:
        """For a demanded width, or for none."""
        return cls() if rtol is None else cls(max(rtol, 1e-14), PATIENT_WORK)

    def on(self, coins: Coins) -> Effort:
        """Three times finer than the default where long lists make that almost free."""
        return replace(self, rtol=RTOL / 3) if self.rtol == RTOL and coins.x.size >= _LONG else self


def contour_epsilon(parts: Parts, delta: Exact, effort: Effort) -> tuple[Bound, Anchor]:
    """OptComp by the contour integral, and the quadrature."""
    goal = goal_for(slack(parts, delta, FLOAT_BITS))
    coins = coins_of(parts, +1)
    effort = effort.on(coins)
    with np.errstate(all="ignore"):
        up, anchor = excess_root(BandSource(coins), goal, effort.rtol, effort.work)
        down = (
            up if parts.exact_sizes else excess_root(BandSource(coins_of(parts, -1)), goal, effort.rtol, effort.work)[0]
        )
    return epsilon_bound(parts, delta, replace(up, lower=down.lower)), anchor


def contour_delta(parts: Parts, epsilon: Exact, effort: Effort) -> tuple[Bound, Anchor]:
    """The optimal δ by the contour integral, and the quadrature."""
    with precision(FLOAT_BITS):
        y = float_down(ball(epsilon)), float_up(ball(epsilon))
    coins = coins_of(parts, +1)
    effort = effort.on(coins)
    with np.errstate(all="ignore"):
        up, anchor = excess_at(BandSource(coins), y[0], effort.rtol, effort.work)
        same = parts.exact_sizes and y[0] == y[1]
        down = up if same else excess_at(BandSource(coins_of(parts, -1)), y[1], effort.rtol, effort.work)[0]
    return delta_bound(parts, epsilon, replace(up, lower=down.lower)), anchor


def goal_for(t: arb) -> Goal:
    """log t and log(1 - t) between floats; refuses a t that may be negative."""
    if not t > 0:
        raise mv18_1_5.undecided()
    with precision(FLOAT_BITS):
        log_t, log_rest = t.log(), (-t).log1p() if t < 1 else arb.neg_inf()
        return Goal(
            (float_down(log_t), float_up(log_t)),
            (float_down(log_rest), float_up(log_rest)) if log_rest.is_finite() else (-math.inf, -math.inf),
        )


def epsilon_bound(parts: Parts, delta: Exact, found: Bracket) -> Bound:
    """A bracket for ε as a Bound, kept between zero and what basic composition proves."""
    most = mv18_1_5.most(Target("epsilon", delta), parts)
    return bound("epsilon", delta, found, decimal_down(found.lower), min(decimal_up(found.upper), most), parts.count)


def delta_bound(parts: Parts, epsilon: Exact, found: Bracket) -> Bound:
    """A bracket for the log of the excess as a Bound on δ."""
    with precision(FLOAT_BITS):
        most = exponential(found.upper).min(mv18_1_5.distance(parts))
        lower, upper = told_down(with_leaks(parts, exponential(found.lower))), told_up(with_leaks(parts, most))
    upper = min(upper, mv18_1_5.most(Target("delta", epsilon), parts))
    return bound("delta", epsilon, found, lower, upper, parts.count)


def exponential(log: float) -> arb:
    """e^log as a ball, 0 for minus infinity."""
    return arb(0) if log == -math.inf else arb(log).exp()


def bound(quantity: Quantity, given: Exact, found: Bracket, lower: float, upper: float, count: int) -> Bound:
    """A bracket as a Bound, with the choices that led to it."""
    plan = found.plan
    return Bound(
        quantity=quantity,
        lower=max(lower, 0.0),
        upper=upper,
        given=given,
        theorem=ID,
        method=METHOD,
        count=count,
        notes=(CAPPED,) if found.capped else (),
        choices={"tilt": plan.tilt, "step": plan.step, "band": plan.band * plan.step},
    )
