r"""How sure a reader of a release may become about one person, and with what probability.

Every (ε, rδ) that the release satisfies bounds the loss that is exceeded with probability δ (KS14).  The ε come from
the certified total at smaller δ.  With k = -d log δ/dε the best r is about 1/(1 + k); any r gives a true bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from optcomp.guarantees import ZCDP, ApproxDP, PureDP
from optcomp.numerics import Exact
from optcomp.planner.budgets import PairBudget, Spending
from optcomp.planner.document import Document
from optcomp.theorems import bbg18, ks14

SELDOM = Fraction(1, 10**6)
"""The probability where the budget is a ρ, which has no δ."""
_FIRST = Fraction(1, 16)
"""Of δ: where the slope of ε is looked at, and a good choice by itself."""
_LEAST_GAP = 1e-12
"""An ε that does not grow as δ shrinks would divide by 0."""


@dataclass(frozen=True)
class Risk:
    """With at most `probability` a reader who gave both sides 1/2 believes more than `posterior` in the true one."""

    posterior: float
    probability: float

    def as_dict(self) -> dict[str, float | str]:
        """For programs."""
        return {"prior": 0.5, "posterior": self.posterior, "probability": self.probability, "theorem": ks14.ID}


@dataclass(frozen=True)
class Release:
    """What risk depends on: what is spent on whom."""

    document: Document
    inside: ApproxDP | ZCDP
    spendings: Sequence[Spending]
    reserve: PureDP | None
    total: float
    """Of all that is spent: ε at the δ inside, or ρ."""


def risk_of(release: Release) -> Risk:
    """Of all that is spent, whether that fits the budget or not; for a sample, to the population."""
    delta = Fraction(release.inside.delta if isinstance(release.inside, ApproxDP) else SELDOM)
    probability = _outside(release, ApproxDP(0, delta)).delta
    pure = all(spending.pure and not spending.leak for spending in release.spendings)
    always = ks14.loss_at(_outside(release, _at(release, 0)), 0) if pure else math.inf
    seldom = [ks14.loss_at(_outside(release, each), probability) for each in _below(release, delta)]
    if always <= min(seldom, default=math.inf):
        return Risk(ks14.posterior(always), 0.0)
    return Risk(ks14.posterior(min(seldom)), float(probability))


def _below(release: Release, delta: Fraction) -> list[ApproxDP]:
    """What the release satisfies at a few δ below this one."""
    if not delta:
        return []
    leak = sum((spending.leak for spending in release.spendings), Fraction(0))
    if delta * _FIRST <= leak:  # no ε holds below what thresholds leak
        return [_at(release, (delta + leak) / 2)]
    whole, first = _at(release, delta), _at(release, delta * _FIRST)
    slope = -math.log(_FIRST) / max(float(first.epsilon - whole.epsilon), _LEAST_GAP)
    best = delta / max(2, round(1 + slope))
    return [first, *([_at(release, best)] if best > leak else [])]


def _at(release: Release, delta: Exact) -> ApproxDP:
    """What is spent, as an ε at this δ."""
    if isinstance(release.inside, ApproxDP) and delta == release.inside.delta:
        return ApproxDP(Fraction(release.total), delta)
    extra = () if release.reserve is None else (release.reserve,)
    return ApproxDP(Fraction(PairBudget(0, delta).total(release.spendings, extra)), delta)


def _outside(release: Release, cost: ApproxDP) -> ApproxDP:
    document = release.document
    return cost if document.population is None else bbg18.outside(cost, document.rows or 0, document.population)
