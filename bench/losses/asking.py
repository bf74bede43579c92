"""Ask once, remember the answer, and leave the slow alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rich.status import Status

from bench.answers import Answer, Outcome
from bench.engine.asking import cpu_cell
from bench.losses.ours import AUTO
from bench.losses.questions import Entrant, Question
from bench.losses.references import SLACK, confirmed
from bench.worker import Worker

MODULE = "bench.losses.contenders"
_SLOW = 10.0
"""Seconds of processor time after which one is not asked about the same mechanisms at another δ."""


@dataclass
class Asker:
    """Every answer of this run, and whether ours were confirmed."""

    worker: Worker
    status: Status
    quick: bool
    known: dict[tuple[str, Question], Outcome] = field(default_factory=dict)
    slow: dict[tuple[str, str], str] = field(default_factory=dict)
    checks: dict[Question, bool] = field(default_factory=dict)
    checkable: Callable[[Question], bool] = lambda question: True
    """Questions that the independent computation can answer in time."""

    def ask(self, entrant: Entrant, question: Question) -> Outcome:
        key, place = (entrant.name, question), (entrant.name, question.group)
        if key not in self.known and place in self.slow:
            self.known[key] = Outcome(None, None, self.slow[place])
        if key not in self.known:
            self.status.update(f"{question.group}, δ = {question.delta:g}: {entrant.name}")
            outcome = self.known[key] = self.worker.ask(entrant.name, question)
            if outcome.hopeless or (outcome.cpu or 0.0) > _SLOW:
                told = outcome.failure or cpu_cell(outcome)
                self.slow[place] = f"not run again: {told} at δ = {question.delta:g}"
        return self.known[key]

    def ours(self, question: Question) -> Outcome:
        """Our default; its bracket is compared with the independent computation when it is first asked for."""
        outcome = self.ask(AUTO, question)
        if question not in self.checks and self.checkable(question):
            self.status.update(f"{question.group}, δ = {question.delta:g}: the independent computation")
            self.checks[question] = confirmed(question, outcome.answer)
        return outcome

    def bracket(self, question: Question) -> Answer | None:
        """Ours, as the truth."""
        answer = self.ours(question).answer
        return None if answer is None or answer.lower is None else answer

    def verdict(self, questions: list[Question]) -> str:
        """How many of our brackets the independent computation confirms."""
        checks = [self.checks[question] for question in questions if question in self.checks]
        return (
            f"An independent computation in floats (to {SLACK:g}) confirms {checks.count(True)} of our brackets and "
            f"contradicts {checks.count(False)}"
        )


def first_call(entrant: Entrant, question: Question, limit: float) -> Outcome:
    """In a process of its own, where `first` is the first call of all."""
    with Worker(limit, best=True, contenders=MODULE) as worker:
        return worker.ask(entrant.name, question)
