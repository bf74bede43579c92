"""Sessions as a whole: a plan that is committed, and questions that go on until the budget refuses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from optcomp.errors import BudgetExceeded
from optcomp.interactive.audit.auditable import Auditable
from optcomp.interactive.audit.conversed import GROWS, SOUTH, conversed, nearest
from optcomp.interactive.audit.tables import neighbouring
from optcomp.interactive.filters import SumFilter
from optcomp.interactive.session import CommittedPlan, Session
from optcomp.statistics import Histogram, Question, Table

MV16 = "Murtagh, Vadhan, The complexity of computing the optimal composition of differential privacy, 2016"
RRUV16 = "Rogers, Roth, Ullman, Vadhan, Privacy odometers and filters: pay-as-you-go composition, 2016"
"""Where they come from."""
_DELTA = 0.01
"""Large, so that a few thousand runs show something."""


def committed_plan() -> Auditable:
    """A batch at the price of its optimal composition at δ."""
    questions, tables = [Question(GROWS, epsilon=1), Question(Histogram("region"), epsilon=1)], neighbouring("added")

    def commit(table: Table) -> CommittedPlan:
        return Session(table, SumFilter(9, _DELTA)).commit(questions, delta=_DELTA)

    def south(table: Table) -> tuple[int, ...]:
        count, cells = (answer.value for answer in commit(table).answers())
        return nearest(count), nearest(cells["south"])

    return conversed(
        "committed-plan",
        south,
        commit(tables[0]).bound.epsilon,
        how="added",
        description=f"{questions[0]} and {questions[1]}, committed together; a person is added",
        source=MV16,
        trials=3_000,
        delta=_DELTA,
    )


def session() -> Auditable:
    """Questions whose price depends on the answers, until one is refused."""
    quota = SumFilter(2)

    def ask(table: Table) -> tuple[int, ...]:
        analyst, price = Session(table, quota), Fraction(1)
        told: list[int] = []
        while True:
            try:
                found = analyst.ask(GROWS, epsilon=price)
            except BudgetExceeded:
                return tuple(told)
            told.append(nearest(found.value))
            price = Fraction(1, 2) if found.value < SOUTH + 1 else Fraction(1)

    return conversed(
        "session",
        ask,
        float(quota.epsilon),
        how="added",
        description=f"{GROWS} at ε = 1 or 1/2, whichever the last answer suggests, until one does not fit into 2; "
        "a person is added",
        source=RRUV16,
        trials=2_400,
    )


SESSIONS: dict[str, Callable[[], Auditable]] = {"committed-plan": committed_plan, "session": session}
"""By name."""
