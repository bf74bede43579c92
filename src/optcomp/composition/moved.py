"""Totals of (ε, δ) pairs after a few changes, from a quadrature that is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb

from optcomp.composition.reading import read_parts
from optcomp.instances import Parts
from optcomp.numerics import (
    DEEP_BITS,
    Exact,
    ball,
    decimal_down,
    decimal_up,
    float_down,
    precision,
    told_down,
    told_up,
)
from optcomp.numerics.contour import Anchor, Coins, excess, root, shifted
from optcomp.theorems import Bound, Target, opt

Pair = tuple[Exact, Exact]
_MOST_CHANGES = 24
"""After more changes than this a fresh quadrature is quicker."""


@dataclass(frozen=True, eq=False)
class KeptTotal:
    """A total with its quadrature, for the mechanisms as they were then."""

    parts: Parts
    bound: Bound
    anchor: Anchor
    total: Fraction
    log_kept: arb
    moment: int


def moved(kept: KeptTotal, target: Target, rtol: float | None, changes: Counter[Pair]) -> Bound | None:
    """The total after a few changes, from the quadrature that is kept; None where that cannot be had well enough."""
    if not changes:
        return kept.bound
    if len(changes) > _MOST_CHANGES or not all(isinstance(eps, float) for eps, _ in changes):
        return None
    count = kept.parts.count + sum(changes.values())
    anchor = shifted(kept.anchor, _coins(changes, +1), _coins(changes, -1))
    with precision(DEEP_BITS), np.errstate(all="ignore"):
        total = ball(kept.total + sum((Fraction(eps) * copies for (eps, _), copies in changes.items()), Fraction(0)))
        logs = kept.log_kept + sum(((-ball(delta)).log1p() * n for (_, delta), n in changes.items() if delta), arb(0))
        if target.quantity == "epsilon":
            t = -((-ball(target.given)).log1p() - logs).expm1()
            if not t > 0:
                return None
            found = root(anchor, opt.goal_for(t))
            lower, upper = decimal_down(found.lower), min(decimal_up(found.upper), told_up(total))
        else:
            y = float_down(ball(target.given))
            if y != target.given or not total > target.given:
                return None
            found = excess(anchor, y)
            leaked = -logs.expm1()
            lower = told_down(leaked + (1 - leaked) * opt.exponential(found.lower))
            upper = min(told_up(leaked + (1 - leaked) * opt.exponential(found.upper)), 1.0)
    if not lower <= upper:
        return None
    bound = opt.bound(target.quantity, target.given, found, lower, upper, count)
    return replace(bound, about=partial(_merged, kept.parts, changes)) if bound.width <= (rtol or opt.RTOL) else None


def _coins(changes: Mapping[Pair, int], sign: int) -> Coins:
    counts: Counter[float] = Counter()
    for (eps, _), copies in changes.items():
        if eps > 0 and copies * sign > 0:
            counts[float(eps)] += abs(copies)
    return Coins(np.array(sorted(counts)), np.array([float(counts[x]) for x in sorted(counts)]))


def _merged(parts: Parts, changes: Counter[Pair]) -> Parts:
    counts = Counter({(eps, delta): copies for eps, delta, copies in parts.groups})
    counts.update(changes)
    return read_parts({pair: copies for pair, copies in counts.items() if copies})
