"""A plan that was proved to fit a table and its budget, before anything is asked.

Everything about the plan is fixed before the data are looked at, so the questions compose as mechanisms with fixed
parameters do.  The total is proved again for the table at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from optcomp.errors import BudgetExceeded, InvalidInput
from optcomp.guarantees import ZCDP, ApproxDP
from optcomp.interactive import Answer, Filter, Offer, SumFilter, ZCDPFilter, answer, paid_session
from optcomp.numerics import Exact
from optcomp.planner import PairBudget, Plan, RhoBudget, Spending
from optcomp.release.ledger_entry import plan_offers
from optcomp.release.told import Released
from optcomp.statistics import Count, Table
from optcomp.theorems import Bound

Tell = Callable[[str, float], None]
"""Is told what is done, and which share of it is behind."""


@dataclass(frozen=True)
class Prepared:
    """A plan that fits a table and its budget; nothing has been asked yet."""

    plan: Plan
    table: Table
    bound: Bound | None
    cost: ApproxDP | ZCDP

    @property
    def offers(self) -> list[Offer]:
        """Every guarantee that is proved of this release: its certified total, and those of its questions.

        What the plan keeps for later is part of the total, and beside the questions it stands by itself.
        """
        parts = tuple(cost for line in self.plan.lines for cost in line.question.costs(self.table))
        return plan_offers(self.cost, parts, self.plan.reserve)

    def run(self, tell: Tell = lambda what, share: None) -> Released:
        """Pay for the whole plan from its own budget, then ask; an error after the debit refunds nothing.

        The ledger was debited before.
        """
        session = paid_session(self.table, _quota(self.plan), name="release")
        questions = [line.question for line in self.plan.lines]

        def ask() -> tuple[Answer, ...]:
            found = []
            for place, question in enumerate(questions):
                tell(f"asking {question.statistic}", place / len(questions))
                found.append(answer(question, self.table))
            return tuple(found)

        answers = session.pay(f"a plan of {len(questions)} statistics", [self.cost], ask)
        return Released(self.plan, answers, self.bound, session)


def prepare(plan: Plan, table: Table) -> Prepared:
    """Prove the total for this table, and refuse what cannot be released; no question is asked."""
    for line in plan.lines:
        line.wish.statistic.check(table)
        line.question.scales(table)
    spendings = _spendings(plan, table)
    if isinstance(plan.inside, ApproxDP):
        bound = _proved(plan, plan.inside, spendings)
        _affordable(bound.upper, plan.inside.epsilon, "ε")
        _check_sample(plan, table)
        return Prepared(plan, table, bound, ApproxDP(Fraction(bound.upper), plan.inside.delta))
    total = RhoBudget(plan.inside.rho).total(spendings)
    _affordable(total, plan.inside.rho, "ρ")
    return Prepared(plan, table, None, ZCDP(total))


def _proved(plan: Plan, inside: ApproxDP, spendings: Sequence[Spending]) -> Bound:
    """The total for this table: that of the plan, if the same guarantees are spent."""
    extra = () if plan.reserve is None else (plan.reserve,)
    budget = PairBudget(inside.epsilon, inside.delta)
    planned = budget.counted([line.spending for line in plan.lines], extra)
    if plan.bound is not None and planned == budget.counted(spendings, extra):
        return plan.bound
    return budget.bound(spendings, extra)


def _quota(plan: Plan) -> Filter:
    """Exactly what may be spent on the table."""
    if isinstance(plan.inside, ZCDP):
        return ZCDPFilter(plan.inside.rho)
    return SumFilter(plan.inside.epsilon, plan.inside.delta)


def _spendings(plan: Plan, table: Table) -> list[Spending]:
    """What each statistic spends on the very table that is asked."""
    models = [replace(line.spending.model, table=table) for line in plan.lines]
    return [Spending(model, line.spending.budget) for model, line in zip(models, plan.lines, strict=True)]


def _affordable(total: float, limit: Exact, symbol: str) -> None:
    if not total <= limit:
        reason = f"the plan costs {symbol} = {total:.10g}, more than its budget of {float(limit):g}; nothing was spent"
        raise BudgetExceeded(total, limit, reason)


def _check_sample(plan: Plan, table: Table) -> None:
    """A sample that is larger than declared is less secret than the plan says; its size is public by declaration."""
    if plan.document.population is None:
        return
    ((rows,),) = Count().measure(table)
    if rows != plan.document.rows:
        raise InvalidInput("data.rows", plan.document.rows, "is not the number of rows of the table")
