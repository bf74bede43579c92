r"""MV18-1.7, the Murtagh–Vadhan approximation: round every ε_i to a lattice, compose that exactly.

Rounding up to multiples of a unit u gives ε'_i with ε_i <= ε'_i < ε_i + u, and by the paper's Lemma 5.3

    OptComp(ε, δ) <= OptComp(ε', δ) <= OptComp(ε, e^{-ku/2} δ) + ku

so u = η/(k+1) keeps the paper's promise with room for floats.  (The paper's unit ln(1+β) makes e^u rational, which
exact rational arithmetic needs and counted rounding does not; it is smaller by the factor 1 + mean ε, and so slower.)
Within the lattice the answer is not rounded up to the next multiple but solved in its cell.  Rounding down gives the
lower side.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.errors import InvalidInput, NotAffordable
from optcomp.instances.leaks import slack, with_leaks
from optcomp.instances.moments import epsilon_sum
from optcomp.instances.parts import Parts
from optcomp.numerics.balls import QUICK_BITS, SUM_BITS, OutOfRange, ball, precision
from optcomp.numerics.blocked import Floats
from optcomp.numerics.enclosure import Enclosure
from optcomp.numerics.exact import Exact, exact
from optcomp.numerics.knapsack import Knapsack, Step, rounded_steps
from optcomp.numerics.lattice import common_unit, finest_unit, table_cost
from optcomp.numerics.lines import BelowFloor, enumerated_excess, root_above_floor
from optcomp.theorems import mv18_1_5
from optcomp.theorems.bound import Bound
from optcomp.theorems.target import Quantity, Target

__all__ = [
    "DEFAULT_ETA",
    "MOST_WORK",
    "delta_at",
    "delta_on",
    "epsilon_at",
    "epsilon_on",
    "on_lattice",
    "quick",
    "quick_unit",
    "shared_unit",
    "table_cost",
]

ID, METHOD = "MV18-1.7", "murtagh-vadhan"
DEFAULT_ETA = 0.01
"""A second for a thousand mechanisms; a smaller η costs in proportion."""
MOST_WORK = 6e10
"""Additions at most, about a minute a side."""
QUICK_WORK = 4e8
"""Additions that `auto` is willing to spend on one side, about a second."""
COMMON_WORK = 6e9
"""Additions it will spend when every ε_i is a multiple of one number, for the answer is then nearly exact."""
_MOST_MULTIPLES = 6000  # a table for the multiples 1, 2, ..., 6000 of one number already costs more than COMMON_WORK
_HAIR = 2.0**-44  # a size this close (relatively) to a multiple of the unit counts as the multiple


def epsilon_at(parts: Parts, delta: Exact, eta: object = None) -> Bound:
    """OptComp(δ) <= upper <= OptComp(e^{-η/2} δ) + η, and a lower side from rounding down."""
    return epsilon_on(parts, delta, _unit(parts, eta))


def delta_at(parts: Parts, epsilon: Exact, eta: object = None) -> Bound:
    """The same for δ at ε: rounded up for the upper side, down for the lower."""
    return delta_on(parts, epsilon, _unit(parts, eta))


def checked_eta(eta: object) -> Fraction:
    """η in (0, 1), as the theorem wants it."""
    value = Fraction(exact(eta, "eta"))
    if not 0 < value < 1:
        raise InvalidInput("eta", eta, "must be more than 0 and less than 1")
    return value


def _unit(parts: Parts, eta: object) -> float:
    unit = float(checked_eta(DEFAULT_ETA if eta is None else eta) / (parts.count + 1)) * (1 - 2.0**-40)
    if parts.kinds and table_cost(*parts.sizes, unit) > MOST_WORK:
        raise NotAffordable(
            "the Murtagh–Vadhan table", table_cost(*parts.sizes, unit), MOST_WORK, "use a larger eta, or method='auto'"
        )
    return unit


def quick(parts: Parts) -> bool:
    """Whether the default η costs no more than `auto` would spend."""
    return not parts.kinds or table_cost(*parts.sizes, DEFAULT_ETA / (parts.count + 1)) <= QUICK_WORK


def shared_unit(parts: Parts, work: float = COMMON_WORK) -> float | None:
    """A number that divides every ε_i as written, if its table costs at most `work` additions."""
    if parts.kinds > _MOST_MULTIPLES:
        return None
    common = common_unit([eps for eps, _ in parts.coins])
    return common if common is not None and table_cost(*parts.sizes, common) <= work else None


def quick_unit(parts: Parts) -> tuple[float, str | None]:
    """The unit `auto` takes: one that divides every ε_i if that is cheap, else the finest that is."""
    common = shared_unit(parts)
    if common is not None:
        return common, f"every ε_i is a multiple of {common:.6g}"
    unit = finest_unit(*parts.sizes, QUICK_WORK)
    return unit, None


def on_lattice(parts: Parts, target: Target) -> Bound | None:
    """On the lattice that `quick_unit` takes; None where one table cannot hold numbers so far apart."""
    unit, note = quick_unit(parts)
    try:
        return target.pick(epsilon_on, delta_on)(parts, target.given, unit, note)
    except (BelowFloor, OutOfRange):
        return None


def epsilon_on(parts: Parts, delta: Exact, unit: float, note: str | None = None) -> Bound:
    """ε on the lattice of multiples of `unit`."""
    t = slack(parts, delta, QUICK_BITS)
    if not parts.kinds or not t > 0:
        return mv18_1_5.epsilon_at(parts, delta)  # nothing to round: no pure loss, or none possible
    upper = Enclosure.of(_root(parts, t, unit, up=True)).upper
    lower = Enclosure.of(_root(parts, t, unit, up=False)).lower
    return _bound("epsilon", Enclosure(lower, upper).clamp(0.0, epsilon_sum(parts).upper), parts, delta, unit, note)


def _root(parts: Parts, t: arb, unit: float, *, up: bool) -> arb:
    steps, unit, sizes, counts = _rounded(parts, unit, up=up)
    if not steps:
        return arb(0)
    with precision(SUM_BITS):
        top = arb(unit) * sum(a * m for a, m in steps)
    return root_above_floor(lambda floor: Knapsack(steps, unit, floor), sizes, counts, t, top)


def delta_on(parts: Parts, epsilon: Exact, unit: float, note: str | None = None) -> Bound:
    """δ on the lattice of multiples of `unit`."""
    if not parts.kinds:
        return mv18_1_5.delta_at(parts, epsilon)
    upper = Enclosure.of(_delta(parts, epsilon, unit, up=True)).upper
    lower = Enclosure.of(_delta(parts, epsilon, unit, up=False)).lower
    return _bound("delta", Enclosure(lower, upper).clamp(0.0, 1.0), parts, epsilon, unit, note)


def _delta(parts: Parts, epsilon: Exact, unit: float, *, up: bool) -> arb:
    steps, unit, _, _ = _rounded(parts, unit, up=up)
    with precision(SUM_BITS):
        excess = arb(0)
        if ball(epsilon) < arb(unit) * sum(a * m for a, m in steps):
            excess = enumerated_excess(Knapsack(steps, unit, max(0.0, float(epsilon) - 2 * unit)), ball(epsilon))
        if up:
            excess = excess.min(mv18_1_5.distance(parts))
        return with_leaks(parts, excess)


def _rounded(parts: Parts, unit: float, *, up: bool) -> tuple[list[Step], float, Floats, Floats]:
    """The lattice instance, and its sizes for guesses; the unit is moved a hair so that near-multiples stay put."""
    unit = unit * (1 + _HAIR if up else 1 - _HAIR)
    steps = rounded_steps(parts.coin_tally, unit, up=up)
    sizes = np.array([float(a) for a, _ in reversed(steps)]) * unit
    return steps, unit, sizes, np.array([float(m) for _, m in reversed(steps)])


def _bound(quantity: Quantity, value: Enclosure, parts: Parts, given: Exact, unit: float, note: str | None) -> Bound:
    return Bound(
        quantity=quantity,
        lower=value.lower,
        upper=value.upper,
        given=given,
        theorem=ID,
        method=METHOD,
        count=parts.count,
        notes=(note or f"ε_i rounded to multiples of {unit:.3g}, up for the upper side and down for the lower",),
    )
