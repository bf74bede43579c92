"""What every session can do, wherever its budget is kept: ask, say what is left, and explain why it is private."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from optcomp.composition import compose
from optcomp.errors import InvalidInput
from optcomp.guarantees import ZCDP, ApproxDP
from optcomp.interactive.answers import Answer
from optcomp.interactive.filters import Filter, Offer, Remaining, Request
from optcomp.interactive.filters.requests import pair
from optcomp.numerics import Number
from optcomp.statistics import Declared, Question, Statistic, Table
from optcomp.statistics.noise import Noise
from optcomp.theorems import Bound, theorem

Outcome = Literal["paid", "answered", "refused", "failed"]
"""See `Entry.outcome`."""


@dataclass(frozen=True)
class Entry:
    """One line of a transcript."""

    number: int
    what: str
    costs: tuple[Request, ...] = field(repr=False)
    outcome: Outcome
    """paid: debited, and running or open; answered; refused: nothing was spent; failed: debited, but no answer."""
    note: str = ""


class Asking(ABC):
    """Questions about one table, within one budget."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Of the session."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """The table it is about."""

    @property
    @abstractmethod
    def budget(self) -> Filter:
        """The filter as it stands now: an immutable value."""

    @property
    @abstractmethod
    def quota(self) -> Filter:
        """The filter as it was at the start."""

    @property
    @abstractmethod
    def transcript(self) -> tuple[Entry, ...]:
        """Everything that was asked, with its outcome; no answers."""

    @abstractmethod
    def ask(
        self,
        statistic: Statistic | Question,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mechanism: str | Noise | None = None,
    ) -> Answer:
        """Answer a statistic with noise for ε, (ε, δ) or ρ; BudgetExceeded if that does not fit."""

    def remaining(self, like: Request | None = None) -> Remaining:
        """What is left; with `like`, how many more such requests fit."""
        return self.budget.remaining(like)

    async def ask_async(self, statistic: Statistic | Question, **spending: Any) -> Answer:
        """The same from an asynchronous task: the engine runs in a thread."""
        return await asyncio.to_thread(self.ask, statistic, **spending)

    def explain(self) -> str:
        """Why what this session told is private, in words."""
        budget, proof = self.budget, theorem(self.budget.theorem)
        lines = [
            f"{self.name} asks about {self.table.name}; neighbours differ in one person ({self.table.neighbours}).",
            f"All of it together is {_words(self.quota)}, by {proof.id} ({proof.name}): {proof.statement}",
            "It covers interactive mechanisms in any order of questions, by HSTVVXZ23.",
            f"Left: {budget.remaining()}",
            "",
        ]
        for entry in self.transcript:
            note = f" ({entry.note})" if entry.note else ""
            lines.append(f"{entry.number + 1:4}. {entry.outcome:9} {entry.what}{note}")
        return "\n".join(lines)


def checked_question(
    statistic: Statistic | Question,
    table: Table,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mechanism: str | Noise | None = None,
) -> Question:
    """What is asked, refused before anything is paid if the table does not declare it or no noise can be drawn."""
    question = question_of(statistic, epsilon, delta, rho, mechanism)
    question.statistic.check(table)
    question.scales(table)
    return question


def question_offers(question: Question, table: Declared) -> list[Offer]:
    """Every guarantee that is proved of an answer: what its noise costs, and the ρ of Gaussian noise for (ε, δ)."""
    found: list[Offer] = [question.costs(table)]
    if question.delta is not None:
        found.append((ZCDP(question.allowance.whole_rho), *question.leaks(table)))
    return found


def committed_offers(questions: Sequence[Question], table: Table, delta: Number) -> tuple[Bound, list[Offer]]:
    """The optimal composition of questions that are fixed before the first answer, and what they may be charged as."""
    if not questions or any(not isinstance(question, Question) for question in questions):
        raise InvalidInput("questions", questions, "must be Questions, at least one")
    checked = [checked_question(question, table) for question in questions]
    costs = [cost for question in checked for cost in question.costs(table)]
    bound = compose(costs, delta=delta)
    if not bound.epsilon < float("inf"):
        raise InvalidInput("delta", delta, "is too small for this plan: no ε holds at it")
    return bound, [tuple(costs), (_price(costs, bound, delta),)]


def question_of(
    statistic: Statistic | Question,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mechanism: str | Noise | None = None,
) -> Question:
    """What is asked, with its budget, which a Question has already."""
    if not isinstance(statistic, Question):
        return Question(statistic, epsilon=epsilon, delta=delta, rho=rho, mechanism=mechanism)
    if any(given is not None for given in (epsilon, delta, rho, mechanism)):
        raise InvalidInput("statistic", statistic, "is a Question, which has its budget already")
    return statistic


def _price(costs: Sequence[Request], bound: Bound, delta: Number) -> ApproxDP:
    """The optimal composition, which is rounded up; or the sum, which is exact, where that is less."""
    pairs = [pair(cost) for cost in costs]
    pure = [eps for eps, slip in filter(None, pairs) if not slip]
    eps = Fraction(bound.epsilon)
    return ApproxDP(min(eps, sum(pure, Fraction(0))) if len(pure) == len(costs) else eps, delta)


def _words(quota: Filter) -> str:
    total = quota.total
    if isinstance(total, ApproxDP):
        return f"({float(total.epsilon):g}, {float(total.delta):g})-differentially private"
    return f"{total}"
