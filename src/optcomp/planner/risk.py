r"""How sure a reader of a release may become about one person, and with what probability.

Every (ε, rδ) that the release satisfies bounds the loss that is exceeded with probability δ (KS14).  The ε come from
the certified total at smaller δ.  With k = -d log δ/dε the best r is about 1/(1 + k); any r gives a true bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from optcomp.guarantees import ApproxDP
from optcomp.numerics.exact import Exact
from optcomp.planner.budgets import PairBudget
from optcomp.theorems import bbg18, ks14

if TYPE_CHECKING:
    from optcomp.planner.plan import Plan

SELDOM = Fraction(1, 10**6)
"""The probability where the budget is a ρ, which has no δ."""
_FIRST = Fraction(1, 16)
_LEAST_GAP = 1e-12


@dataclass(frozen=True)
class Risk:
    """With at most `probability` a reader who gave both sides 1/2 believes more than `posterior` in the true one."""

    posterior: float
    probability: float

    def as_dict(self) -> dict[str, float | str]:
        """For programs."""
        return {"prior": 0.5, "posterior": self.posterior, "probability": self.probability, "theorem": ks14.ID}


def risk_of(plan: Plan) -> Risk:
    """Of all that the plan spends, whether that fits its budget or not; for a sample, to the population."""
    delta = Fraction(plan.inside.delta if isinstance(plan.inside, ApproxDP) else SELDOM)
    probability = _outside(plan, ApproxDP(0, delta)).delta
    pure = not any(line.spending.gaussian for line in plan.lines)
    always = ks14.loss_at(_outside(plan, _at(plan, 0)), 0) if pure else math.inf
    seldom = [ks14.loss_at(_outside(plan, each), probability) for each in _below(plan, delta)]
    if always <= min(seldom, default=math.inf):
        return Risk(ks14.posterior(always), 0.0)
    return Risk(ks14.posterior(min(seldom)), float(probability))


def _below(plan: Plan, delta: Fraction) -> list[ApproxDP]:
    """What the release satisfies at a few δ below this one."""
    if not delta:
        return []
    whole, first = _at(plan, delta), _at(plan, delta * _FIRST)
    slope = -math.log(_FIRST) / max(float(first.epsilon - whole.epsilon), _LEAST_GAP)
    return [first, _at(plan, delta / max(2, round(1 + slope)))]


def _at(plan: Plan, delta: Exact) -> ApproxDP:
    extra = () if plan.reserve is None else (plan.reserve,)
    epsilon = PairBudget(0, delta).total([line.spending for line in plan.lines], extra)
    return ApproxDP(Fraction(epsilon), delta)


def _outside(plan: Plan, cost: ApproxDP) -> ApproxDP:
    document = plan.document
    return cost if document.population is None else bbg18.outside(cost, document.rows or 0, document.population)
