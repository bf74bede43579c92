"""A plan worked out: what every statistic gets, how accurate it will be, and what optimal composition gains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from optcomp.errors import HypothesisNotMet
from optcomp.guarantees import ZCDP, ApproxDP, PureDP
from optcomp.planner.budgets import PairBudget, Spending
from optcomp.planner.choosing import Choosing
from optcomp.planner.document import Document, Wish
from optcomp.planner.risk import Release, Risk, risk_of
from optcomp.planner.warm_start import WarmStart
from optcomp.statistics import Question
from optcomp.statistics.noise import Noise, noise_named
from optcomp.theorems import Bound, bbg18

_NOTHING = 1.005
"""A gain below this is not worth a sentence."""


@dataclass(frozen=True)
class Line:
    """One statistic of a plan that is worked out."""

    wish: Wish
    spending: Spending
    error: float
    """In units of the variable, at the plan's confidence."""
    relative: float
    held: bool

    @property
    def noise(self) -> Noise:
        """What it is answered with."""
        return self.spending.model.noise

    @property
    def mechanism(self) -> str:
        """The name of the noise."""
        return self.noise.name

    @property
    def question(self) -> Question:
        """What will be asked of the data."""
        return self.spending.model.question(self.spending.budget)


@dataclass(frozen=True)
class Plan:
    """What to ask with which noise, within the budget by a certified total."""

    document: Document
    lines: tuple[Line, ...]
    inside: ApproxDP | ZCDP
    """The budget for the data at hand: larger than the one asked for if they are a secret sample."""
    total: float
    """What it costs: the upper side of ε at the inner δ, or ρ."""
    reserve: PureDP | None
    choosing: Choosing = field(repr=False, compare=False)
    """How it was found: a start for the next one."""
    recorded: Bound | None = field(default=None, repr=False, compare=False)
    """The total as it was proved before, where the engine need not be asked again."""

    @cached_property
    def bound(self) -> Bound | None:
        """The certified total, if the budget is (ε, δ)."""
        if self.recorded is not None or not isinstance(self.inside, ApproxDP):
            return self.recorded
        extra = () if self.reserve is None else (self.reserve,)
        budget = PairBudget(self.inside.epsilon, self.inside.delta)
        return budget.bound([line.spending for line in self.lines], extra, self.total)

    @cached_property
    def risk(self) -> Risk:
        """How sure a reader may become about one person, and with what probability."""
        spendings = [line.spending for line in self.lines]
        return risk_of(Release(self.document, self.inside, spendings, self.reserve, self.total))

    @property
    def fits(self) -> bool:
        """Whether the total is within the budget; wanted errors may cost more."""
        return self.total <= (self.inside.rho if isinstance(self.inside, ZCDP) else self.inside.epsilon)

    @cached_property
    def naive(self) -> dict[str, float]:
        """The errors with Laplace noise and sums of ε, with the same holds; empty where there is no such split."""
        return self.choosing.naive()

    @cached_property
    def by_rho(self) -> dict[str, float]:
        """The errors with the noise of this plan and sums of ρ, with the same holds; empty if there is no such split.

        ρ of zCDP add up (BS16); CKS20 says which ρ the (ε, δ) of the budget allows.
        """
        return self.choosing.by_rho({line.wish.name: line.noise for line in self.lines})

    @property
    def gain(self) -> float | None:
        """How many times smaller errors are than with Laplace noise and sums of ε: noise and composition together.

        The geometric mean over what is not held.
        """
        return self._gain(self.naive)

    @property
    def gain_over_rho(self) -> float | None:
        """How many times smaller errors are than with the same noise and sums of ρ: composition alone."""
        return self._gain(self.by_rho)

    def _gain(self, others: dict[str, float]) -> float | None:
        pairs = [(others.get(line.wish.name), line.error) for line in self.lines if not line.held]
        logs = [math.log(other / error) for other, error in pairs if other and error]
        return math.exp(sum(logs) / len(logs)) if logs else None

    def warm_start(self) -> WarmStart:
        """What the search found: a start for the next one, in this process or in another."""
        amounts = {line.wish.name: line.spending.amount for line in self.lines}
        return WarmStart(amounts, dict(self.choosing.values))

    def verdict(self) -> str:
        """What this plan gains, and over what, in a sentence or two."""
        gain, over_rho = self.gain, self.gain_over_rho
        if gain is not None and gain < _NOTHING:
            return self._no_gain(gain)
        same = "with the same noise and sums of ρ"
        by_rho = None if over_rho is None else f"{over_rho:.2f} times smaller than {same}"
        if over_rho is not None and over_rho < _NOTHING:
            by_rho = f"no smaller than {same}: optimal composition adds nothing"
        if gain is None:
            return "There is no split by sums to compare this plan with." if by_rho is None else f"Errors are {by_rho}."
        sums = f"Errors are {gain:.2f} times smaller than with Laplace noise and sums of ε"
        if over_rho is None:
            return f"{sums}."
        if over_rho < _NOTHING:
            return f"{sums}, but {by_rho}."
        return f"{sums}, and {by_rho}; the second factor is what optimal composition adds."

    def _no_gain(self, gain: float) -> str:
        if gain < 1 / _NOTHING and any(_asks_for_rho(line.wish) for line in self.lines):
            better = f"With Laplace noise and sums of ε errors would be {1 / gain:.2f} times smaller"
            return f"{better}; `mechanism: auto` would choose that."
        why = "with so few statistics" if isinstance(self.inside, ApproxDP) and self.inside.delta else "at δ = 0"
        return f"Optimal composition gains nothing on this plan: {why} sums of ε are as good."

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        compared = {"naive_error": self.naive, "rho_error": self.by_rho}
        lines = [
            self._line(line) | {name: errors.get(line.wish.name) for name, errors in compared.items()}
            for line in self.lines
        ]
        return self.first_dict() | {
            "theorem": self.bound.theorem if self.bound is not None else "BS16",
            "lower": self.bound.lower if self.bound is not None else None,
            "gain": self.gain,
            "gain_over_rho": self.gain_over_rho,
            "risk": self.risk.as_dict(),
            "statistics": lines,
        }

    def first_dict(self) -> dict[str, Any]:
        """What is known without further work: errors, budgets and the certified total; no risk and no comparison."""
        return {
            "budget": budget_dict(self.document.budget),
            "inside": budget_dict(self.inside),
            "total": self.total,
            "fits": self.fits,
            "confidence": self.document.confidence,
            "objective": self.document.objective,
            "reserve": None if self.reserve is None else float(self.reserve.epsilon),
            "statistics": [self._line(line) for line in self.lines],
        }

    def _line(self, line: Line) -> dict[str, Any]:
        return {
            "name": line.wish.name,
            "statistic": str(line.wish.statistic),
            "mechanism": line.mechanism,
            line.noise.currency.name: str(line.spending.budget),
            "scales": list(line.spending.scales),
            "error": line.error,
            "relative": line.relative,
            "held": line.held,
        }


def _asks_for_rho(wish: Wish) -> bool:
    """Whether it asks for noise that has no ε of its own."""
    return wish.noise is not None and not wish.noise.currency.pure


def make_plan(document: Document, previous: Plan | None = None, *, start: WarmStart | None = None) -> Plan:
    """Work a document out; a plan for nearly the same document, or what its search found, makes that quicker."""
    inside = inside_of(document)
    begin = start if previous is None else previous.warm_start()
    choosing = Choosing(document, inside, begin, previous.choosing if previous else None)
    found = choosing.best()
    lines = []
    for wish, item, spending in zip(document.wishes, found.items, found.spendings, strict=True):
        error = spending.error
        lines.append(Line(wish, spending, error, error / item.size, item.held is not None))
    return Plan(document, tuple(lines), inside, found.total, choosing.reserve, choosing)


def plan_again(document: Document, budgets: Sequence[tuple[str, Fraction]], start: WarmStart | None = None) -> Plan:
    """A plan that was worked out before, from the noise and the budget of each statistic: nothing is searched.

    Its total is certified anew.  With `start` what it is compared with is found more quickly.
    """
    inside = inside_of(document)
    choosing = Choosing(document, inside, start)
    lines = []
    for wish, (mechanism, budget) in zip(document.wishes, budgets, strict=True):
        item = choosing.item(wish, noise_named(mechanism, wish.statistic.noises()))
        spending = Spending(item.model, budget)
        held = wish.hold or item.held is not None
        lines.append(Line(wish, spending, spending.error, spending.error / item.size, held))
    total = choosing.budget().total([line.spending for line in lines], choosing.extra)
    return Plan(document, tuple(lines), inside, total, choosing.reserve, choosing)


def inside_of(document: Document) -> ApproxDP | ZCDP:
    """The budget for the sample, by amplification if the sample is secret."""
    if document.population is None:
        return document.budget
    if not isinstance(document.budget, ApproxDP):
        raise HypothesisNotMet("BBG18", "the secrecy of a sample amplifies (ε, δ), not ρ")
    return bbg18.inside(document.budget, document.rows or 0, document.population)


def budget_dict(budget: ApproxDP | ZCDP) -> dict[str, float]:
    """A budget for programs."""
    if isinstance(budget, ZCDP):
        return {"rho": float(budget.rho)}
    return {"epsilon": float(budget.epsilon), "delta": float(budget.delta)}
