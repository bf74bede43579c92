"""Random histories of sessions, delegates, plans and mechanisms, against a model that adds up fractions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pyarrow
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from optcomp import ZCDP, ApproxDP, BudgetExceeded, HypothesisNotMet, MechanismClosed, MechanismFailed, PureDP
from optcomp.interactive import (
    AdaptiveFilter,
    BestFilter,
    CommittedPlan,
    Filter,
    Session,
    SparseVector,
    SumFilter,
    ZCDPFilter,
)
from optcomp.interactive.filters import Request
from optcomp.interactive.sparse_vector import SparseVectorRun
from optcomp.statistics import Count, Integers, Mean, Question, Table

TABLE = Table(pyarrow.table({"age": list(range(20))}), {"age": Integers(0, 99)})
FAR = 10**9
ZERO = Fraction(0)


def fractions(most: int) -> st.SearchStrategy[Fraction]:
    return st.builds(Fraction, st.integers(1, 12 * most), st.sampled_from((12, 24, 49)))


pure = st.builds(PureDP, fractions(1))
requests: st.SearchStrategy[Any] = st.one_of(
    pure, pure, st.builds(ApproxDP, fractions(1), st.sampled_from(("1/64", "1/32"))), st.builds(ZCDP, fractions(1))
)
budgets: st.SearchStrategy[Filter] = st.one_of(
    st.builds(SumFilter, fractions(3), st.sampled_from(("0", "1/16"))),
    st.builds(ZCDPFilter, fractions(3), st.sampled_from(("0", "1/16"))),
    st.builds(BestFilter, fractions(3), st.just("1/8"), st.sampled_from(("0", "1/16"))),
    st.builds(AdaptiveFilter, fractions(3), st.just("1/8"), st.sampled_from(("0", "1/16"))),
)


def amounts(request: Any) -> tuple[Any, Fraction, Fraction]:
    """ε (infinite if it has none), ρ and δ."""
    if isinstance(request, ZCDP):
        return math.inf, Fraction(request.rho), ZERO
    eps = Fraction(request.epsilon)
    return eps, eps**2 / 2, Fraction(getattr(request, "delta", 0))


@dataclass
class Model:
    """A budget as three sums."""

    budget: Filter
    eps: Any = ZERO
    rho: Fraction = ZERO
    delta: Fraction = ZERO
    outcomes: Counter[str] = field(default_factory=Counter)

    def after(self, costs: list[Any]) -> tuple[Any, Fraction, Fraction] | None:
        """The sums with these costs, if they fit; HypothesisNotMet if the filter has no price for one of them."""
        if isinstance(self.budget, SumFilter) and any(isinstance(cost, ZCDP) for cost in costs):
            raise HypothesisNotMet("model", "no ε")
        eps, rho, delta = self.eps, self.rho, self.delta
        for cost in costs:
            eps, rho, delta = (one + two for one, two in zip((eps, rho, delta), amounts(cost), strict=True))
            if not self.fits(eps, rho, delta):
                return None
        return eps, rho, delta

    def fits(self, eps: Any, rho: Fraction, delta: Fraction) -> bool:
        budget = self.budget
        if isinstance(budget, SumFilter):
            return bool(eps <= budget.epsilon and delta <= budget.delta)
        if isinstance(budget, ZCDPFilter):
            return rho <= budget.rho and delta <= budget.delta
        assert isinstance(budget, BestFilter | AdaptiveFilter)
        within = bool(eps <= budget.epsilon) if isinstance(budget, BestFilter) else False
        whole = rho if isinstance(budget, BestFilter) else 2 * rho
        return (within or whole <= budget.cap) and delta <= budget.delta_parts

    def check(self, session: Session) -> None:
        """The filter holds exactly these sums, in the currencies that it counts."""
        spent = session.budget.spent
        shown = {"epsilon": self.eps, "rho": self.rho, "squares": 2 * self.rho}
        for name in set(session.budget.currencies()) - {"delta"}:
            found = spent.get(name)
            assert (math.inf if found is None else found) == shown[name]
        assert spent.delta == self.delta
        assert self.fits(self.eps, self.rho, self.delta)
        assert session.quota is self.budget
        assert Counter(entry.outcome for entry in session.transcript) == self.outcomes


def _fails() -> None:
    raise ZeroDivisionError


class Sessions(RuleBasedStateMachine):
    """Anything an analyst, or several who share delegates, may do."""

    sessions: Bundle[Session] = Bundle("sessions")
    runs: Bundle[SparseVectorRun] = Bundle("runs")
    plans: Bundle[CommittedPlan] = Bundle("plans")

    def __init__(self) -> None:
        super().__init__()
        self.models: dict[int, tuple[Session, Model]] = {}
        self.told: dict[tuple[int, int], Any] = {}

    def known(self, session: Session) -> Session:
        self.models[id(session)] = (session, Model(session.quota))
        return session

    def spend(self, session: Session, costs: list[Any], call: Callable[[], Any], outcome: str = "answered") -> Any:
        """Run the call, and see that it does what the model says."""
        model = self.models[id(session)][1]
        try:
            after = model.after(costs)
        except HypothesisNotMet:
            with pytest.raises(HypothesisNotMet):
                call()
            return None
        if after is None:
            with pytest.raises(BudgetExceeded):
                call()
            model.outcomes["refused"] += 1
            return None
        model.eps, model.rho, model.delta = after
        model.outcomes[outcome] += 1
        if outcome == "failed":
            with pytest.raises(MechanismFailed):
                call()
            return None
        return call()

    @initialize(target=sessions, budget=budgets)
    def first(self, budget: Filter) -> Session:
        return self.known(Session(TABLE, budget))

    @rule(session=sessions, costs=st.lists(requests, min_size=1, max_size=3), fails=st.booleans())
    def pay(self, session: Session, costs: list[Request], fails: bool) -> None:
        run = _fails if fails else lambda: "told"
        found = self.spend(session, costs, lambda: session.pay("x", costs, run), "failed" if fails else "answered")
        assert found in (None, "told")

    @rule(session=sessions, eps=fractions(1), mean=st.booleans())
    def ask(self, session: Session, eps: Fraction, mean: bool) -> None:
        costs = [PureDP(eps / 4), PureDP(eps * 3 / 4)] if mean else [PureDP(eps)]
        self.spend(session, costs, lambda: session.ask(Mean("age") if mean else Count(), epsilon=eps))

    @rule(session=sessions, rho=fractions(1))
    def ask_concentrated(self, session: Session, rho: Fraction) -> None:
        self.spend(session, [ZCDP(rho)], lambda: session.ask(Count(), rho=rho))

    @rule(target=sessions, session=sessions, budget=budgets)
    def delegate(self, session: Session, budget: Filter) -> Any:
        total: Any = budget.total
        if not isinstance(total, ApproxDP | ZCDP):  # approximate zCDP, which the model does not know
            return session
        child = self.spend(session, [total], lambda: session.delegate(budget))
        return session if child is None else self.known(child)

    @rule(target=plans, session=sessions, eps=fractions(1), number=st.integers(1, 4))
    def commit(self, session: Session, eps: Fraction, number: int) -> Any:
        questions = [Question(Count(), epsilon=eps / number)] * number
        parts = [PureDP(eps / number)] * number  # in every currency no more than ε for the whole
        return self.spend(session, parts, lambda: session.commit(questions)) or self.small_plan()

    def small_plan(self) -> CommittedPlan:
        return Session(TABLE, SumFilter(1)).commit([Question(Count(), epsilon=1)])

    @rule(plan=plans, place=st.integers(0, 9))
    def look(self, plan: CommittedPlan, place: int) -> None:
        index = place % len(plan.questions)
        answer = plan.answer(index)
        assert self.told.setdefault((id(plan), index), answer) is answer

    @rule(target=runs, session=sessions, eps=fractions(1), positives=st.integers(1, 3))
    def open(self, session: Session, eps: Fraction, positives: int) -> Any:
        spec = SparseVector(0, epsilon=eps, positives=positives)
        found = self.spend(session, [PureDP(eps)], lambda: session.open(spec))
        return found or spec.start(TABLE)

    @rule(run=runs, high=st.booleans())
    def compare(self, run: SparseVectorRun, high: bool) -> None:
        left = run.positives_left
        if left:
            assert run.above(FAR if high else -FAR) is high
            assert run.positives_left == left - high

    @rule(run=consumes(runs))
    def exhaust(self, run: SparseVectorRun) -> None:
        for _ in range(run.positives_left):
            assert run.above(FAR)
        with pytest.raises(MechanismClosed):
            run.above(-FAR)

    @rule(session=sessions, like=pure)
    def foresee(self, session: Session, like: PureDP) -> None:
        """As many more as the session says would fit, and not one more."""
        model, count = self.models[id(session)][1], session.remaining(like).count
        assert count is not None
        assert model.after([like] * count) is not None
        assert model.after([like] * (count + 1)) is None

    @invariant()
    def accounts(self) -> None:
        for session, model in self.models.values():
            model.check(session)


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=60, stateful_step_count=12)


class ManySessions(Sessions):
    """The same, much longer."""


TestManySessions = pytest.mark.slow(ManySessions.TestCase)
TestManySessions.settings = settings(max_examples=1000, stateful_step_count=12)
